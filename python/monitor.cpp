#include "monitor.hpp"

#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "profile.hpp"
#include "watch.hpp"

namespace py = pybind11;

namespace kqd {
namespace {

using Callback = std::optional<py::function>;

// A monitor that Python may change, one batch at a time.
struct SharedMonitor {
  explicit SharedMonitor(Monitor made) : monitor(std::move(made)) {}
  Monitor monitor;
  std::mutex mutex;
};

std::unique_ptr<SharedMonitor> make(const ArrayProfile& baseline, const std::string& method, double alpha,
                                    std::int64_t num_permutations, const std::string& seed, const std::string& rule,
                                    const std::string& adjust, std::optional<double> average_run_length,
                                    const std::string& margin_kind, double margin, unsigned threads) {
  MonitorOptions options;
  if (margin_kind != "none") {
    options.test.margin.kind = margin_kind == "equivalent" ? MarginKind::equivalent : MarginKind::tolerance;
    options.test.margin.margin = margin;
  }
  options.test.method = method;
  options.test.test.alpha = alpha;
  options.test.test.num_permutations = num_permutations;
  options.test.statistic.seed.value = whole_number("seed", seed, 0, find_option("seed")->highest);
  options.test.statistic.threads = ThreadCount{threads};
  options.baseline = parse_baseline_rule(rule);
  options.adjustment = parse_adjustment(adjust);
  options.alarm = {alpha, average_run_length};
  return std::make_unique<SharedMonitor>(Monitor(*baseline.get(), options));
}

void update(SharedMonitor& shared, const std::string& name, const ArrayProfile& batch, const Callback& progress) {
  const auto profile = batch.get();
  while_watching(
      [&](const RunControl* control) {
        const std::lock_guard one_at_a_time(shared.mutex);
        shared.monitor.update(name, *profile, control);  // an interrupted update changes nothing
      },
      progress);
}

template <class Read>
auto reading(SharedMonitor& shared, const Read& read) {
  const py::gil_scoped_release other_threads_may_run;
  const std::lock_guard one_at_a_time(shared.mutex);
  return read(shared.monitor);
}

}  // namespace

void bind_monitor(py::module_& m) {
  m.def("monitored_group_rows", &monitored_group_rows, py::arg("baseline_rows"), py::arg("batch_rows"));
  py::class_<SharedMonitor>(m, "Monitor")
      .def_static("make", &make, py::arg("baseline"), py::arg("method"), py::arg("alpha"), py::arg("n_resamples"),
                  py::arg("seed"), py::arg("baseline_rule"), py::arg("adjust"), py::arg("average_run_length"),
                  py::arg("margin_kind"), py::arg("margin"), py::arg("threads"))
      .def("update", &update, py::arg("name"), py::arg("batch"), py::arg("progress"))
      .def("baseline",
           [](SharedMonitor& s) {
             return std::make_unique<ArrayProfile>(
                 reading(s, [](const Monitor& monitor) { return monitor.baseline(); }));
           })
      .def("json",
           [](SharedMonitor& s) {
             return reading(s, [](const Monitor& monitor) {
               return monitor_json({.monitor = monitor, .option_names = python_names});
             });
           })
      .def("text",
           [](SharedMonitor& s) {
             return reading(s, [](const Monitor& monitor) {
               return monitor_text({.monitor = monitor, .option_names = python_names});
             });
           })
      .def("page",
           [](SharedMonitor& s) {
             return reading(s, [](const Monitor& monitor) {
               return monitor_page({.monitor = monitor, .option_names = python_names});
             });
           })
      .def("to_bytes",
           [](SharedMonitor& s) {
             return py::bytes(reading(s, [](const Monitor& monitor) { return monitor.serialize(); }));
           })
      .def_static("from_bytes",
                  [](const py::bytes& bytes) {
                    const auto text = static_cast<std::string_view>(bytes);
                    const py::gil_scoped_release other_threads_may_run;
                    return std::make_unique<SharedMonitor>(Monitor::deserialize(text));
                  })
      .def("save",
           [](SharedMonitor& s, const std::string& path) {
             reading(s, [&](const Monitor& monitor) {
               monitor.save(path);
               return 0;
             });
           })
      .def_static("load", [](const std::string& path) {
        const py::gil_scoped_release other_threads_may_run;
        return std::make_unique<SharedMonitor>(Monitor::load(path));
      });
}

}  // namespace kqd
