#include "kqd/report/monitor_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "io/text.hpp"
#include "report/fields.hpp"
#include "report/page_json.hpp"

namespace kqd {
namespace {

Source source_of(const MonitorReport& report) {
  const TwoSampleOptions& test = report.monitor.options().test;
  Warnings warnings = report.warnings;
  for (Warning& warning : report.monitor.warnings()) warnings.push_back(std::move(warning));
  return {.monitor = &report,
          .seed = test.statistic.seed,
          .threads = test.statistic.threads,
          .elapsed_s = report.elapsed_s,
          .warnings = std::move(warnings),
          .option_names = report.option_names,
          .settings = report.settings};
}

const Monitor& monitor_of(const Source& s) {
  return s.monitor->monitor;
}

Json interval_json(const std::optional<Interval>& interval) {
  return interval ? Json{interval->lower, interval->upper} : Json();
}

Json entry_json(const MonitorEntry& entry, In s) {
  Json columns = Json::array();
  for (const MonitoredColumn& column : entry.columns) {
    columns.push_back({{"name", column.name},
                       {"effect", column.effect},
                       {"shift", column.shift},
                       {"adjusted_pvalue", column.pvalue_adjusted}});
  }
  return {{"name", entry.name},
          {"n", entry.num_rows},
          {"statistic", entry.statistic},
          {"pvalue", entry.pvalue},
          {"adjusted_pvalue", entry.pvalue_adjusted},
          {"reject", entry.reject},
          {"effect_size", entry.effect_size},
          {"effect_size_ci", interval_json(entry.effect_interval)},
          {"changed", entry.changed.empty() ? Json() : Json(entry.changed)},
          {"columns", std::move(columns)},
          {"alarm_pvalue", entry.alarm_pvalue ? Json(*entry.alarm_pvalue) : Json()},
          {"evidence", entry.evidence},
          {"warnings", warnings_json(entry.warnings, s)}};
}

Json name_of(const Monitor& monitor, std::optional<std::size_t> entry) {
  return entry ? Json(monitor.entries()[*entry].name) : Json();
}

Json change_json(const Monitor& monitor) {
  const auto change = monitor.change_point();
  if (!change) return nullptr;
  Json likely = Json::array();
  for (const std::size_t entry : change->likely) likely.push_back(monitor.entries()[entry].name);
  return {{"start", monitor.entries()[change->start].name},
          {"likely", std::move(likely)},
          {"confidence_level", change->confidence}};
}

Fields own_fields() {
  using enum Block;
  return {
      {{"baseline", "source of the baseline; null if a state file was continued"},
       [](In s) { return s.monitor->baseline_name.empty() ? Json() : Json(s.monitor->baseline_name); }},
      {{"n_baseline", "number of rows of the baseline"},
       [](In s) { return Json(monitor_of(s).baseline().num_rows()); }},
      {{"dim", "number of columns"}, [](In s) { return Json(monitor_of(s).baseline().num_columns()); }},
      {{"baseline_rule", "what each batch is compared with: fixed, first:N, previous or rolling:N", setting,
        "baseline"},
       [](In s) { return Json(to_string(monitor_of(s).options().baseline)); }},
      {{"adjustment", "rule by which p-values are adjusted for the number of batches", setting},
       [](In s) { return Json(to_string(monitor_of(s).options().adjustment)); }},
      {{"alpha", "significance level"}, [](In s) { return Json(monitor_of(s).options().test.test.alpha); }},
      {{"batches",
        "for each batch: name, n (rows), statistic, pvalue, adjusted_pvalue (for all batches so far), reject, "
        "effect_size, effect_size_ci, changed (the column or direction that differs most), columns (name, effect, "
        "shift, adjusted_pvalue), alarm_pvalue (null: too few rows for the alarm), evidence (of the alarm after it), "
        "warnings"},
       [](In s) {
         Json batches = Json::array();
         for (const MonitorEntry& entry : monitor_of(s).entries()) batches.push_back(entry_json(entry, s));
         return batches;
       }},
      {{"n_rejected", "number of batches that differ"},
       [](In s) { return Json(std::ranges::count_if(monitor_of(s).entries(), &MonitorEntry::reject)); }},
      {{"average_run_length",
        "mean number of batches between false alarms; null: a false alarm has probability alpha, ever"},
       [](In s) {
         const auto& length = monitor_of(s).options().alarm.average_run_length;
         return length ? Json(*length) : Json();
       }},
      {{"threshold", "evidence at which the alarm is raised"},
       [](In s) { return Json(monitor_of(s).alarm().threshold()); }},
      {{"alarm", "name of the batch at which the alarm was raised; null: it was not"},
       [](In s) { return name_of(monitor_of(s), monitor_of(s).raised_at()); }},
      {{"change",
        "since when, once the alarm is raised: start, likely (all starts in the confidence set), "
        "confidence_level; else null"},
       [](In s) { return change_json(monitor_of(s)); }},
  };
}

std::string batches_in_words(std::size_t number) {
  return fmt::format("{} batch{}", number, number == 1 ? "" : "es");
}

std::string effect_text(const MonitorEntry& entry) {
  if (!entry.effect_interval) return rounded(entry.effect_size, 2);
  return fmt::format("{} ({} to {})", rounded(entry.effect_size, 2), rounded(entry.effect_interval->lower, 2),
                     rounded(entry.effect_interval->upper, 2));
}

std::vector<std::vector<std::string>> batch_lines(const Monitor& monitor) {
  std::vector<std::vector<std::string>> lines = {
      {"batch", "rows", "p-value", "adjusted", "effect size", "evidence", "changed"}};
  for (const MonitorEntry& entry : monitor.entries()) {
    lines.push_back({printable(entry.name), fmt::format("{}", entry.num_rows), rounded(entry.pvalue, 2),
                     rounded(entry.pvalue_adjusted, 2) + (entry.reject ? " *" : "  "), effect_text(entry),
                     rounded(entry.evidence, 3), printable(entry.changed)});
  }
  return lines;
}

std::string alarm_text(const Monitor& monitor) {
  const auto raised = monitor.raised_at();
  if (!raised) return "The alarm is not raised.";
  const auto change = monitor.change_point();
  std::string text =
      fmt::format("The alarm was raised at {}; the change began with {}", printable(monitor.entries()[*raised].name),
                  printable(monitor.entries()[change->start].name));
  if (change->likely.size() > 1) {
    text += fmt::format(" ({:g}% confidence: {} to {})", 100.0 * change->confidence,
                        printable(monitor.entries()[change->likely.front()].name),
                        printable(monitor.entries()[change->likely.back()].name));
  }
  return text + ".";
}

}  // namespace

const Fields& monitor_field_list() {
  static const Fields kFields =
      joined({{schema_field([](In) { return Json("kqd.monitor/1"); }), version_field()}, own_fields(), run_fields()});
  return kFields;
}

std::string monitor_verdict(const Monitor& monitor) {
  const auto& entries = monitor.entries();
  const auto rejected = static_cast<std::size_t>(std::ranges::count_if(entries, &MonitorEntry::reject));
  if (entries.empty()) return "No batch yet.";
  std::string text;
  if (rejected == 0) {
    text = fmt::format("{} from the baseline.", entries.size() == 1
                                                    ? std::string("The batch does not differ")
                                                    : fmt::format("None of {} batches differs", entries.size()));
  } else {
    const auto first = std::ranges::find_if(entries, &MonitorEntry::reject);
    text = fmt::format("{} of {} differ{} from the baseline, first {}.", rejected, batches_in_words(entries.size()),
                       rejected == 1 ? "s" : "", printable(first->name));
  }
  return text + " " + alarm_text(monitor);
}

std::string monitor_text(const MonitorReport& report, const TextStyle& style) {
  const Monitor& monitor = report.monitor;
  const std::string of =
      report.baseline_name.empty() ? "the baseline" : fmt::format("{}", printable(report.baseline_name));
  const std::string title = fmt::format("monitor: {} against {} ({} rows)", batches_in_words(monitor.entries().size()),
                                        of, monitor.baseline().num_rows());
  const bool alert = std::ranges::any_of(monitor.entries(), &MonitorEntry::reject) || monitor.raised_at();
  return title_text(title, style) + verdict_text(monitor_verdict(monitor), alert, style) +
         (monitor.entries().empty() ? "" : "\n" + text_table(batch_lines(monitor)) + "\n") +
         text_of(closing_rows(monitor_field_list(), source_of(report)), style) + "\n";
}

std::string monitor_markdown(const MonitorReport& report) {
  return monitor_verdict(report.monitor) + "\n\n" + markdown_table(batch_lines(report.monitor));
}

std::string monitor_csv(const MonitorReport& report) {
  std::string text = csv_line({"name", "n", "statistic", "pvalue", "adjusted_pvalue", "reject", "effect_size",
                               "effect_size_lower", "effect_size_upper", "changed", "alarm_pvalue", "evidence"});
  const auto number = [](double value) { return fmt::format("{}", value); };
  for (const MonitorEntry& entry : report.monitor.entries()) {
    const auto& interval = entry.effect_interval;
    text += csv_line({entry.name, fmt::format("{}", entry.num_rows), number(entry.statistic), number(entry.pvalue),
                      number(entry.pvalue_adjusted), entry.reject ? "true" : "false", number(entry.effect_size),
                      interval ? number(interval->lower) : "", interval ? number(interval->upper) : "", entry.changed,
                      entry.alarm_pvalue ? number(*entry.alarm_pvalue) : "", number(entry.evidence)});
  }
  return text;
}

std::string monitor_names(const MonitorReport& report) {
  std::string text;
  for (const MonitorEntry& entry : report.monitor.entries()) {
    if (entry.reject) text += printable(entry.name) + "\n";
  }
  return text;
}

std::string monitor_json(const MonitorReport& report) {
  return dump(object_of(monitor_field_list(), source_of(report)));
}

std::string monitor_json_lines(const MonitorReport& report) {
  const Source source = source_of(report);
  std::string text;
  for (const MonitorEntry& entry : report.monitor.entries()) {
    text += compact(entry_json(entry, source)) + "\n";
  }
  return text;
}

std::string monitor_page(const MonitorReport& report, const PageInfo& info) {
  RunInfo run;
  run.option_names = report.option_names;
  return page_of("monitor", object_of(monitor_field_list(), source_of(report)), nullptr, monitor_field_list(), info,
                 run);
}

}  // namespace kqd
