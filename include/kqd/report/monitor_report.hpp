#pragma once
#include <string>

#include "kqd/core/visibility.hpp"
#include "kqd/monitor/monitor.hpp"
#include "kqd/report/page.hpp"
#include "kqd/report/report.hpp"

namespace kqd KQD_PUBLIC {

/// A monitor and how it was run.
struct MonitorReport {
  const Monitor& monitor;
  double elapsed_s = 0.0;
  OptionNames option_names = library_names;  ///< how warnings write options
  NamedSettings settings = {};               ///< options that were set
  Warnings warnings = {};                    ///< of reading
};

/// "2 of 12 batches differ from the baseline, first 2024-10." and what the alarm says, as sentences.
[[nodiscard]] std::string monitor_verdict(const Monitor& monitor);

/// A line per batch: rows, p-value, adjusted p-value, effect size with interval, what changed, evidence of the alarm.
[[nodiscard]] std::string monitor_text(const MonitorReport& report, const TextStyle& style = {});
[[nodiscard]] std::string monitor_markdown(const MonitorReport& report);
[[nodiscard]] std::string monitor_csv(const MonitorReport& report);
/// The names of batches that differ, a line each.
[[nodiscard]] std::string monitor_names(const MonitorReport& report);
/// One JSON object with everything: schema "kqd.monitor/1".
[[nodiscard]] std::string monitor_json(const MonitorReport& report);
/// An object per batch, each on a line: the elements of "batches".
[[nodiscard]] std::string monitor_json_lines(const MonitorReport& report);
/// With a timeline of effect sizes, a map of the columns over time, and what changed in each batch.
[[nodiscard]] std::string monitor_page(const MonitorReport& report, const PageInfo& info = {});

}  // namespace kqd
