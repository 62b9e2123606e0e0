#include "kqd/report/monitor_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "io/text.hpp"
#include "report/fields.hpp"
#include "report/page_json.hpp"

namespace kqd {
namespace {

// Options that the monitor was begun with; those that only one run has, such as the alarm's exit code, are added.
NamedSettings settings_of(const MonitorReport& report) {
  NamedSettings settings = report.monitor.source().settings;
  for (const auto& own : report.settings) {
    if (std::ranges::none_of(settings, [&](const auto& known) { return known.first == own.first; })) {
      settings.push_back(own);
    }
  }
  return settings;
}

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
          .settings = settings_of(report)};
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
                       {"level", column.level.empty() ? Json() : Json(column.level)},
                       {"effect", column.effect},
                       {"shift", column.shift},
                       {"adjusted_pvalue", column.pvalue_adjusted}});
  }
  Json relations = Json::array();
  for (const MonitoredRelation& relation : entry.relations) {
    relations.push_back({{"first", relation.first},
                         {"second", relation.second},
                         {"score", relation.score},
                         {"adjusted_pvalue", relation.pvalue_adjusted}});
  }
  return {{"name", entry.name},
          {"n", entry.num_rows},
          {"statistic", entry.statistic},
          {"pvalue", entry.pvalue},
          {"adjusted_pvalue", entry.pvalue_adjusted},
          {"reject", entry.reject},
          {"effect_size", entry.effect_size},
          {"effect_size_ci", interval_json(entry.effect_interval)},
          {"verdict", entry.margin ? Json(to_string(entry.margin->verdict)) : Json()},
          {"adjusted_pvalue_beyond", entry.margin ? Json(entry.margin->adjusted_beyond) : Json()},
          {"adjusted_pvalue_within", entry.margin ? Json(entry.margin->adjusted_within) : Json()},
          {"changed", entry.changed.empty() ? Json() : Json(entry.changed)},
          {"columns", std::move(columns)},
          {"relations", std::move(relations)},
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
          {"confidence_level", change->confidence},
          {"pvalue", change->pvalue},
          {"after_alarm", monitor.raised_at().has_value()}};
}

Fields own_fields() {
  using enum Block;
  return {
      {{"baseline", "source of the baseline; null if it has no name"},
       [](In s) {
         const std::string& name = monitor_of(s).source().baseline_name;
         return name.empty() ? Json() : Json(name);
       }},
      {{"n_baseline", "number of rows of the baseline"},
       [](In s) { return Json(monitor_of(s).baseline().num_rows()); }},
      {{"dim", "number of columns"}, [](In s) { return Json(monitor_of(s).baseline().num_columns()); }},
      {{"baseline_rule", "what each batch is compared with: fixed, first:N, previous or rolling:N", setting,
        "baseline"},
       [](In s) { return Json(to_string(monitor_of(s).options().baseline)); }},
      {{"adjustment", "rule by which p-values are adjusted for the number of batches", setting},
       [](In s) { return Json(to_string(monitor_of(s).options().adjustment)); }},
      {{"alpha", "significance level"}, [](In s) { return Json(monitor_of(s).options().test.test.alpha); }},
      {{"margin", "margin of the effect; null: none is given", setting},
       [](In s) {
         const MarginOptions& margin = monitor_of(s).options().test.margin;
         return margin.given() ? Json(margin.margin) : Json();
       }},
      {{"batches",
        "for each batch: name, n (rows), statistic, pvalue, adjusted_pvalue (for all batches so far), reject, "
        "effect_size, effect_size_ci, verdict (with a margin: different, equivalent or undecided), "
        "adjusted_pvalue_beyond and adjusted_pvalue_within (of H0: effect <= margin, and >= margin), changed (the "
        "column, relation or direction that differs most), columns (name, level: of a category the one whose share "
        "differs most, effect, shift: of the median or the share, adjusted_pvalue), relations (first, second, score, "
        "adjusted_pvalue: columns whose relation differs), alarm_pvalue (null: too few rows for the alarm), evidence "
        "(of the alarm after it), "
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
        "since when, once the alarm is raised or if a permutation test of equal batches finds a change: start, likely "
        "(all starts in the confidence set), confidence_level, pvalue (of no change, for one look at all batches), "
        "after_alarm; else null"},
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

// "city (A: +0.45)" for a category, whose level has that much more of the rows.
std::string changed_text(const MonitorEntry& entry) {
  const auto column = std::ranges::find(entry.columns, entry.changed, &MonitoredColumn::name);
  if (column == entry.columns.end() || column->level.empty()) return entry.changed;
  return fmt::format("{} ({}: {}{})", entry.changed, column->level, column->shift < 0.0 ? "" : "+",
                     rounded(column->shift, 2));
}

std::vector<std::vector<std::string>> batch_lines(const Monitor& monitor) {
  std::vector<std::vector<std::string>> lines = {
      {"batch", "rows", "p-value", "adjusted", "effect size", "evidence", "changed"}};
  for (const MonitorEntry& entry : monitor.entries()) {
    lines.push_back({printable(entry.name), fmt::format("{}", entry.num_rows), rounded(entry.pvalue, 2),
                     rounded(entry.pvalue_adjusted, 2) + (entry.reject ? " *" : "  "),
                     effect_text(entry) + (entry.margin ? " " + to_string(entry.margin->verdict) : ""),
                     rounded(entry.evidence, 3), printable(changed_text(entry))});
  }
  return lines;
}

// "feb (95% confidence: jan to mar)".
std::string start_text(const Monitor& monitor, const ChangePoint& change) {
  std::string text = printable(monitor.entries()[change.start].name);
  if (change.likely.size() > 1) {
    text += fmt::format(" ({:g}% confidence: {} to {})", 100.0 * change.confidence,
                        printable(monitor.entries()[change.likely.front()].name),
                        printable(monitor.entries()[change.likely.back()].name));
  }
  return text;
}

std::string alarm_text(const Monitor& monitor) {
  const auto raised = monitor.raised_at();
  const auto change = monitor.change_point();
  if (!raised) {
    std::string text = "The alarm is not raised.";
    if (!change) return text;
    return text +
           fmt::format(" By a test of all batches together, for one look at them, a change began with {} (p = {}).",
                       start_text(monitor, *change), rounded(change->pvalue, 2));
  }
  std::string text = fmt::format("The alarm was raised at {}", printable(monitor.entries()[*raised].name));
  return text + (change ? "; the change began with " + start_text(monitor, *change) : "") + ".";
}

std::string margin_text(const Monitor& monitor) {
  const MarginOptions& margin = monitor.options().test.margin;
  if (!margin.given()) return "";
  const auto with = [&](Verdict verdict) {
    return std::ranges::count_if(monitor.entries(),
                                 [&](const MonitorEntry& e) { return e.margin && e.margin->verdict == verdict; });
  };
  return fmt::format(" Margin {}: {} different, {} equivalent, {} undecided.", rounded(margin.margin, 3),
                     with(Verdict::different), with(Verdict::equivalent), with(Verdict::undecided));
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
  return text + margin_text(monitor) + " " + alarm_text(monitor);
}

std::string monitor_text(const MonitorReport& report, const TextStyle& style) {
  const Monitor& monitor = report.monitor;
  const std::string& name = monitor.source().baseline_name;
  const std::string of = name.empty() ? "the baseline" : printable(name);
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
  std::string text =
      csv_line({"name", "n", "statistic", "pvalue", "adjusted_pvalue", "reject", "effect_size", "effect_size_lower",
                "effect_size_upper", "verdict", "changed", "alarm_pvalue", "evidence"});
  const auto number = [](double value) { return fmt::format("{}", value); };
  for (const MonitorEntry& entry : report.monitor.entries()) {
    const auto& interval = entry.effect_interval;
    text += csv_line({entry.name, fmt::format("{}", entry.num_rows), number(entry.statistic), number(entry.pvalue),
                      number(entry.pvalue_adjusted), entry.reject ? "true" : "false", number(entry.effect_size),
                      interval ? number(interval->lower) : "", interval ? number(interval->upper) : "",
                      entry.margin ? to_string(entry.margin->verdict) : "", entry.changed,
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
