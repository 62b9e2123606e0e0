#include "engines.hpp"

#include <pybind11/stl.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "profile.hpp"

namespace py = pybind11;

namespace kqd {
namespace {

using Numbers = py::array_t<std::uint64_t, py::array::c_style | py::array::forcecast>;
using Wholes = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;

std::span<const std::uint64_t> span_of(const Numbers& numbers) {
  return {numbers.data(), static_cast<std::size_t>(numbers.size())};
}

Numbers to_numbers(const std::vector<std::uint64_t>& values) {
  return Numbers(static_cast<py::ssize_t>(values.size()), values.data());
}

// The rows that one task of an engine counts. It belongs to the task, so it is changed in place.
class PartialProfile {
 public:
  explicit PartialProfile(Profile profile) : profile_(std::move(profile)) {}

  void count(const Array& points, const SampleExtent& sample, std::uint64_t first_row, std::uint64_t num_read,
             const Numbers& numbers, const Numbers& keys, bool scattered) {
    const RowBlock block{.rows = matrix_view(points),
                         .first_row = first_row,
                         .num_read = num_read,
                         .numbers = span_of(numbers),
                         .keys = span_of(keys),
                         .scattered = scattered};
    const py::gil_scoped_release other_threads_may_run;
    profile_.update(sample, block, ThreadCount{1});
  }

  void add(const py::bytes& bytes, bool scattered) {
    const auto text = static_cast<std::string_view>(bytes);
    const py::gil_scoped_release other_threads_may_run;
    const Profile other = Profile::deserialize(text);
    if (scattered) {
      profile_.append(other);
    } else {
      profile_.merge(other);
    }
  }

  void name_sources(const SampleSources& sources) { profile_.name_sources(sources); }

  [[nodiscard]] py::bytes to_bytes() const {
    std::string bytes;
    {
      const py::gil_scoped_release other_threads_may_run;
      bytes = profile_.serialize();
    }
    return py::bytes(bytes);
  }

 private:
  Profile profile_;
};

SampleSources sources_of(const std::vector<std::tuple<std::string, std::uint64_t, std::uint64_t>>& parts) {
  std::vector<RowSource> list;
  for (const auto& [name, num_bytes, num_rows] : parts) list.push_back({name, num_bytes, num_rows});
  return SampleSources(std::move(list));
}

std::unique_ptr<ProfileDraft> draft_of(const Settings& settings, const std::string& groups,
                                       std::uint64_t rows_per_group,
                                       const std::vector<std::pair<std::uint64_t, std::uint64_t>>& samples) {
  ProfileOptions options;
  options.method = settings.test.method;
  options.rows_per_group = rows_per_group;
  options.groups = parse_group_rule(groups);
  options.statistic = settings.test.statistic;
  options.own_scales = settings.test.own_scales;
  std::vector<SampleExtent> extents;
  for (const auto& [id, num_rows] : samples) extents.push_back({id, num_rows});
  return std::make_unique<ProfileDraft>(options, std::move(extents));
}

// The key of a whole number is that of its decimal digits.
Numbers keys_of_wholes(const Wholes& values) {
  std::vector<std::uint64_t> keys;
  keys.reserve(static_cast<std::size_t>(values.size()));
  for (py::ssize_t i = 0; i < values.size(); ++i) keys.push_back(key_of(std::to_string(values.at(i))));
  return to_numbers(keys);
}

}  // namespace

void bind_engines(py::module_& m) {
  m.def("keys_of_wholes", &keys_of_wholes, py::arg("values"));
  m.def("source_names", &source_names, py::arg("paths"));
  py::class_<SampleSources>(m, "SampleSources")
      .def(py::init(&sources_of), py::arg("parts"))
      .def_property_readonly("id", [](const SampleSources& s) { return s.extent().id; })
      .def_property_readonly("n_rows", [](const SampleSources& s) { return s.extent().num_rows; })
      .def(
          "first_row", [](const SampleSources& s, const std::string& name) { return s.first_row(name); },
          py::arg("name"));
  py::class_<PartialProfile>(m, "PartialProfile")
      .def(py::init([](const py::bytes& bytes) {
             return std::make_unique<PartialProfile>(Profile::deserialize(static_cast<std::string_view>(bytes)));
           }),
           py::arg("bytes"))
      .def(
          "count",
          [](PartialProfile& p, const Array& points, std::uint64_t sample, std::uint64_t n_rows,
             std::uint64_t first_row, std::uint64_t n_read, const Numbers& numbers, const Numbers& keys,
             bool scattered) {
            p.count(points, {sample, n_rows}, first_row, n_read, numbers, keys, scattered);
          },
          py::arg("points").noconvert(), py::arg("sample"), py::arg("n_rows"), py::arg("first_row"), py::arg("n_read"),
          py::arg("numbers"), py::arg("keys"), py::arg("scattered"))
      .def("add", &PartialProfile::add, py::arg("bytes"), py::arg("scattered"))
      .def("name_sources", &PartialProfile::name_sources, py::arg("sources"))
      .def("to_bytes", &PartialProfile::to_bytes);
  py::class_<ProfileDraft>(m, "ProfileDraft")
      .def(py::init(&draft_of), py::arg("settings"), py::arg("groups"), py::arg("rows_per_group"), py::arg("samples"))
      .def(
          "held_out_rows",
          [](const ProfileDraft& d, std::uint64_t sample, std::uint64_t n_rows) {
            return to_numbers(d.held_out_rows({sample, n_rows}));
          },
          py::arg("sample"), py::arg("n_rows"))
      .def(
          "places",
          [](const ProfileDraft& d, std::uint64_t sample, std::uint64_t n_rows, const Numbers& keys) {
            return to_numbers(d.places({sample, n_rows}, span_of(keys)));
          },
          py::arg("sample"), py::arg("n_rows"), py::arg("keys"))
      .def(
          "n_held_out",
          [](const ProfileDraft& d, std::uint64_t sample, std::uint64_t n_rows) {
            return d.num_held_out({sample, n_rows});
          },
          py::arg("sample"), py::arg("n_rows"))
      .def(
          "finish",
          [](const ProfileDraft& d, const Array& points, const std::vector<std::string>& columns) {
            const auto rows = matrix_view(points);
            const py::gil_scoped_release other_threads_may_run;
            return std::make_unique<ArrayProfile>(d.finish(rows, columns));
          },
          py::arg("points").noconvert(), py::arg("columns"));
}

}  // namespace kqd
