#include "profile.hpp"

#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arrays.hpp"
#include "watch.hpp"

namespace py = pybind11;

namespace kqd {
namespace {

constexpr std::uint64_t kMostRows = 4'000'000'000;  // 2^32 rows of a group have counts of 32 bits

using Callback = std::optional<py::function>;

std::unique_ptr<ArrayProfile> wrapped(Profile profile) {
  return std::make_unique<ArrayProfile>(std::move(profile));
}

// Runs `work` without the GIL, so that it can be interrupted, and returns its profile.
template <class Work>
std::unique_ptr<ArrayProfile> profile_of(const Work& work, const Callback& progress) {
  std::unique_ptr<ArrayProfile> made;
  while_watching([&](const RunControl* control) { made = wrapped(work(control)); }, progress);
  return made;
}

Sample named_sample(MatrixView<const double> points, std::vector<std::string> names) {
  return {Matrix<double>(points), {}, std::move(names)};
}

using Numbers = py::array_t<std::uint64_t, py::array::c_style | py::array::forcecast>;

std::span<const std::uint64_t> span_of(const Numbers& numbers) {
  return {numbers.data(), static_cast<std::size_t>(numbers.size())};
}

std::unique_ptr<ArrayProfile> make(const Array& points, const std::vector<std::string>& names,
                                   const std::string& groups, const Numbers& keys, const std::string& rows_per_group,
                                   const std::string& seed, unsigned threads, const Callback& progress) {
  ProfileOptions options;
  options.groups = parse_group_rule(groups);
  options.keys = span_of(keys);
  options.rows_per_group = whole_number("rows_per_group", rows_per_group, 0, kMostRows);
  options.statistic.seed.value = whole_number("seed", seed, 0, find_option("seed")->highest);
  options.statistic.threads = ThreadCount{threads};
  const auto rows = matrix_view(points);
  return profile_of(
      [&](const RunControl* control) { return make_profile(named_sample(rows, names), options, control); }, progress);
}

// `points` have the columns of `like`, in its order.
std::unique_ptr<ArrayProfile> make_like(const Array& points, const ArrayProfile& like, const Numbers& keys,
                                        unsigned threads, const Callback& progress) {
  const auto rows = matrix_view(points);
  const auto spec = like.get();
  return profile_of(
      [&](const RunControl* control) {
        return make_profile(named_sample(rows, spec->column_names()), *spec, ThreadCount{threads}, control,
                            span_of(keys));
      },
      progress);
}

void update(ArrayProfile& profile, const Array& points, const SampleExtent& sample, std::uint64_t first_row,
            std::uint64_t num_read, const Numbers& numbers, const Numbers& keys, unsigned threads) {
  const RowBlock block{.rows = matrix_view(points),
                       .first_row = first_row,
                       .num_read = num_read,
                       .numbers = span_of(numbers),
                       .keys = span_of(keys)};
  while_watching([&](const RunControl* control) {
    run_stoppable(*control, [&] {
      profile.change([&](Profile& changed) { changed.update(sample, block, ThreadCount{threads}); });
    });
  });
}

Numbers to_numbers(const std::vector<std::uint64_t>& values) {
  return Numbers(static_cast<py::ssize_t>(values.size()), values.data());
}

Numbers keys_of(const std::vector<std::string>& values) {
  std::vector<std::uint64_t> keys;
  for (const std::string& value : values) keys.push_back(key_of(value));
  return to_numbers(keys);
}

template <class Change>
void change(ArrayProfile& profile, const Change& made) {
  const py::gil_scoped_release other_threads_may_run;
  profile.change(made);
}

py::dict info(const ArrayProfile& profile) {
  const auto p = profile.get();
  py::list samples;
  for (const SampleExtent& sample : p->samples()) samples.append(py::make_tuple(sample.id, sample.num_rows));
  py::dict found;
  found["n_rows"] = p->num_rows();
  found["n_counted"] = p->num_counted();
  found["n_groups"] = p->num_groups();
  found["rows_per_group"] = p->rows_per_group();
  found["groups"] = to_string(p->group_rule());
  found["dim"] = p->num_columns();
  found["columns"] = p->column_names();
  found["samples"] = samples;
  found["spec"] = p->spec_id();
  return found;
}

py::bytes to_bytes(const ArrayProfile& profile) {
  std::string bytes;
  {
    const py::gil_scoped_release other_threads_may_run;
    bytes = profile.get()->serialize();
  }
  return py::bytes(bytes);
}

std::unique_ptr<ArrayProfile> from_bytes(const py::bytes& bytes) {
  const auto text = static_cast<std::string_view>(bytes);
  const py::gil_scoped_release other_threads_may_run;
  return wrapped(Profile::deserialize(text));
}

}  // namespace

py::class_<ArrayProfile> bind_profile(py::module_& m) {
  m.def("keys_of", &keys_of, py::arg("values"));
  m.def(
      "ranks_of", [](const std::vector<double>& values) { return to_numbers(ranks_of(values)); }, py::arg("values"));
  py::class_<ArrayProfile> bound(m, "Profile");
  bound
      .def_static("make", &make, py::arg("points").noconvert(), py::arg("columns"), py::arg("groups"), py::arg("keys"),
                  py::arg("rows_per_group"), py::arg("seed"), py::arg("threads"), py::arg("progress"))
      .def_static("make_like", &make_like, py::arg("points").noconvert(), py::arg("like"), py::arg("keys"),
                  py::arg("threads"), py::arg("progress"))
      .def("without_rows", [](const ArrayProfile& p) { return wrapped(p.get()->without_rows()); })
      .def("copy", [](const ArrayProfile& p) { return wrapped(Profile(*p.get())); })
      .def(
          "update",
          [](ArrayProfile& p, const Array& points, std::uint64_t sample, std::uint64_t n_rows, std::uint64_t first_row,
             std::uint64_t n_read, const Numbers& numbers, const Numbers& keys, unsigned threads) {
            update(p, points, {sample, n_rows}, first_row, n_read, numbers, keys, threads);
          },
          py::arg("points").noconvert(), py::arg("sample"), py::arg("n_rows"), py::arg("first_row"), py::arg("n_read"),
          py::arg("numbers"), py::arg("keys"), py::arg("threads"))
      .def(
          "merge",
          [](ArrayProfile& p, const ArrayProfile& other) {
            change(p, [added = other.get()](Profile& changed) { changed.merge(*added); });
          },
          py::arg("other"))
      .def(
          "subtract",
          [](ArrayProfile& p, const ArrayProfile& other) {
            change(p, [taken = other.get()](Profile& changed) { changed.subtract(*taken); });
          },
          py::arg("other"))
      .def(
          "coarsen",
          [](ArrayProfile& p, std::uint64_t factor) { change(p, [=](Profile& changed) { changed.coarsen(factor); }); },
          py::arg("factor"))
      .def("to_bytes", &to_bytes)
      .def_static("from_bytes", &from_bytes, py::arg("bytes"))
      .def(
          "save",
          [](const ArrayProfile& p, const std::string& path) {
            const py::gil_scoped_release other_threads_may_run;
            p.get()->save(path);
          },
          py::arg("path"))
      .def("info", &info);
  return bound;
}

}  // namespace kqd
