#include "monitor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "interrupt.hpp"
#include "output.hpp"
#include "profile.hpp"
#include "progress.hpp"
#include "run_parts.hpp"

namespace kqd::app {
namespace {

// A batch by name: its rows, or a profile.
struct Batch {
  std::string name;
  Sample rows;
  std::optional<Profile> profile;
  std::vector<std::uint64_t> keys = {};  // of the rows, unless they are assigned to groups at random

  [[nodiscard]] std::uint64_t num_rows() const { return profile ? profile->num_rows() : rows.points.rows(); }
};

struct Batches {
  std::vector<Batch> list;
  Warnings warnings = {};                      // of reading
  std::optional<TableEncoding> encoding = {};  // of tables that were read together
};

// How batches are read, and which of them are known already.
struct Reading {
  ReadOptions options;
  GroupRule groups;
  std::string time_column;
  std::string every;
};

// With a column of keys or of times, which may be the same.
Reading reading_of(const Settings& settings, const GroupRule& groups) {
  Reading reading{settings.read, groups, settings.monitor.time_column, settings.monitor.every};
  if (!groups.column.empty() && !reading.time_column.empty() && groups.column != reading.time_column) {
    throw Error(ErrorCode::invalid_option,
                {.subject = "groups",
                 .value = printable(to_string(groups)),
                 .expected = fmt::format("the column of --time, {}, or batches in files of their own",
                                         printable(reading.time_column))});
  }
  reading.options.unit_column = reading.time_column.empty() ? groups.column : reading.time_column;
  reading.options.keep_encoding = true;
  // Dates of periods are read as they are written, not as numbers of days. A number names a column without a name.
  const std::string& time = reading.time_column;
  if (time.find_first_not_of("0123456789") != std::string::npos) {
    reading.options.types += fmt::format("{}\"{}\"=category", reading.options.types.empty() ? "" : ",", time);
  }
  return reading;
}

// The Monday of the week of a date, as days since 1970-01-01, which was a Thursday.
std::int64_t monday_of(std::int64_t days) {
  constexpr std::int64_t kWeek = 7;
  constexpr std::int64_t kThursday = 3;
  return days - ((days + kThursday) % kWeek + kWeek) % kWeek;
}

std::string iso_date(std::int64_t days) {
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{days}}};
  return fmt::format("{:04d}-{:02d}-{:02d}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

// "2024-03-05", the date of the Monday, or "2024-03". Dates begin with year, month and day.
std::string period_of(const std::string& time, const std::string& every, const std::string& column) {
  constexpr std::size_t kDay = 10;
  constexpr std::size_t kMonth = 7;
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  const auto part = [&](std::size_t from, std::size_t length, auto& number) {
    const auto [end, error] = std::from_chars(time.data() + from, time.data() + from + length, number);
    return error == std::errc() && end == time.data() + from + length;
  };
  const bool parsed = time.size() >= kDay && time[4] == '-' && time[kMonth] == '-' && part(0, 4, year) &&
                      part(5, 2, month) && part(8, 2, day);
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{month}, std::chrono::day{day}};
  if (!parsed || !date.ok()) {
    throw Error(ErrorCode::invalid_option, {.subject = "time_column",
                                            .value = printable(column),
                                            .expected = fmt::format("a column of dates such as 2024-03-05, got \"{}\"; "
                                                                    "for batches of N rows: --every N",
                                                                    printable(time))});
  }
  if (every == "day") return time.substr(0, kDay);
  if (every == "month") return time.substr(0, kMonth);
  return iso_date(monday_of(std::chrono::sys_days{date}.time_since_epoch().count()));
}

Sample rows_of(const Sample& all, const std::vector<std::size_t>& rows) {
  Sample part{.points = Matrix<double>(rows.size(), all.points.cols()),
              .weights = {},
              .column_names = all.column_names,
              .roles = all.roles};
  for (std::size_t i = 0; i < rows.size(); ++i) std::ranges::copy(all.points.row(rows[i]), part.points.row(i).begin());
  return part;
}

// Numbers of the rows of each period, in the order of time.
using Periods = std::vector<std::pair<std::string, std::vector<std::size_t>>>;

Periods periods_of(const Reading& reading, const SampleList& data) {
  const std::size_t num_rows = data.samples.front().points.rows();
  const auto time_of = [&](std::size_t row) {
    const auto unit = data.units[row];
    if (data.unit_names.empty()) return fmt::format("{}", unit);
    const std::string& name = data.unit_names[static_cast<std::size_t>(unit)];
    const bool quoted = name.size() >= 2 && name.front() == '"' && name.back() == '"';  // as messages write texts
    return quoted ? name.substr(1, name.size() - 2) : name;
  };
  if (reading.every == "day" || reading.every == "week" || reading.every == "month") {
    std::map<std::string, std::vector<std::size_t>> periods;
    for (std::size_t i = 0; i < num_rows; ++i) {
      periods[period_of(time_of(i), reading.every, reading.time_column)].push_back(i);
    }
    return {periods.begin(), periods.end()};
  }
  const std::uint64_t length = whole_number("every", reading.every, 1, num_rows);
  std::vector<std::size_t> order(num_rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const GroupRule by_time{GroupAssignment::blocks, reading.time_column};
  const std::vector<std::uint64_t> ranks = group_keys(by_time, data.units, data.unit_names);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return ranks[i]; });
  Periods periods;
  for (std::size_t from = 0; from + length <= order.size(); from += length) {
    std::vector<std::size_t> rows(order.begin() + static_cast<std::ptrdiff_t>(from),
                                  order.begin() + static_cast<std::ptrdiff_t>(from + length));
    periods.emplace_back(fmt::format("rows {}-{}", from + 1, from + length), std::move(rows));
  }
  return periods;
}

// The rows of one file, cut by time.
Batches batches_by_time(const Reading& reading, const Settings& settings, const std::string& file) {
  SampleList data = read_samples({file}, reading.options);
  Batches batches{.list = {}, .warnings = data.warnings, .encoding = std::move(data.encoding)};
  const Periods periods = periods_of(reading, data);
  const std::vector<std::string> names = given_names(settings, periods.size());
  for (const auto& [name, rows] : periods) {
    const std::string& own = names.empty() ? name : names[batches.list.size()];
    Batch& batch = batches.list.emplace_back(Batch{own, rows_of(data.samples.front(), rows), {}});
    std::vector<std::int64_t> units;
    for (const std::size_t i : rows) units.push_back(data.units[i]);
    batch.keys = group_keys(reading.groups, units, data.unit_names);
  }
  return batches;
}

// All files at a time, so that they have the same columns.
Batches read_batches(const Reading& reading, const std::vector<std::string>& files,
                     const std::vector<std::string>& names, const Settings& settings) {
  const auto profiles = std::ranges::count_if(files, names_a_profile);
  if (profiles > 0 && profiles < static_cast<std::ptrdiff_t>(files.size())) {
    throw Error(
        ErrorCode::invalid_option,
        "profiles and files of rows cannot be mixed here; count the files like the profiles by kqd profile --like");
  }
  Batches batches;
  if (profiles > 0) {
    for (std::size_t k = 0; k < files.size(); ++k) batches.list.push_back({names[k], {}, Profile::load(files[k])});
    return batches;
  }
  if (!reading.time_column.empty()) {
    if (files.size() == 1) return batches_by_time(reading, settings, files.front());
    throw Error(ErrorCode::invalid_option,
                {.subject = "time_column",
                 .value = printable(reading.time_column),
                 .expected = fmt::format("one file with all batches, got {}", files.size())});
  }
  SampleList data = read_samples(files, reading.options);
  print_warnings(data.notes, settings.output);
  batches.warnings = data.warnings;
  batches.encoding = std::move(data.encoding);
  std::size_t next = 0;
  for (std::size_t k = 0; k < files.size(); ++k) {
    Batch& batch = batches.list.emplace_back(Batch{names[k], std::move(data.samples[k]), {}});
    const std::size_t rows = batch.rows.points.rows();
    if (reading.groups.column.empty()) continue;
    batch.keys = group_keys(reading.groups, std::span(data.units).subspan(next, rows), data.unit_names);
    next += rows;
  }
  return batches;
}

// One sample of the first batches.
Sample joined(const std::vector<Batch>& batches, std::size_t count) {
  std::size_t num_rows = 0;
  for (std::size_t k = 0; k < count; ++k) num_rows += batches[k].rows.points.rows();
  Sample all{.points = Matrix<double>(num_rows, batches.front().rows.points.cols()),
             .weights = {},
             .column_names = batches.front().rows.column_names,
             .roles = batches.front().rows.roles};
  std::size_t next = 0;
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t i = 0; i < batches[k].rows.points.rows(); ++i) {
      std::ranges::copy(batches[k].rows.points.row(i), all.points.row(next++).begin());
    }
  }
  return all;
}

// Keys of joined rows. Ranks of blocks continue from one batch to the next.
std::vector<std::uint64_t> joined_keys(const std::vector<Batch>& batches, std::size_t count, const GroupRule& rule) {
  std::vector<std::uint64_t> keys;
  for (std::size_t k = 0; k < count; ++k) {
    const std::uint64_t before = rule.assignment == GroupAssignment::blocks ? keys.size() : 0;
    for (const std::uint64_t key : batches[k].keys) keys.push_back(before + key);
  }
  return keys;
}

Profile baseline_of(const Settings& settings, const std::vector<Batch>& batches, std::size_t count,
                    const RunControl& control) {
  if (batches.front().profile) {
    Profile baseline = *batches.front().profile;
    for (std::size_t k = 1; k < count; ++k) baseline.merge(*batches[k].profile);
    return baseline;
  }
  const Sample rows = joined(batches, count);
  ProfileOptions options;
  options.method = "adaptive";  // its spec has the columns, which are watched whatever the method of the tests
  options.statistic = settings.test.statistic;
  options.own_scales = settings.test.own_scales;
  options.every_column = true;
  options.groups = settings.test.groups;
  const std::vector<std::uint64_t> keys = joined_keys(batches, count, options.groups);
  options.keys = keys;
  std::uint64_t smallest = rows.points.rows();
  for (std::size_t k = count; k < batches.size(); ++k) smallest = std::min(smallest, batches[k].num_rows());
  options.rows_per_group = monitored_group_rows(rows.points.rows(), smallest);
  return make_profile(rows, options, &control);
}

MonitorOptions options_of(const Request& request, bool of_profiles) {
  const Settings& settings = request.settings;
  MonitorOptions options;
  options.test = settings.test;
  // A profile knows which test it was made for.
  const auto is_method = [](const auto& given) { return given.first == "method"; };
  if (of_profiles && std::ranges::none_of(request.given, is_method)) options.test.method.clear();
  options.adjustment = settings.monitor.adjustment;
  options.baseline = settings.monitor.baseline;
  options.alarm = {settings.test.test.alpha, settings.monitor.average_run_length};
  return options;
}

void require_batches(const Batches& batches, std::size_t of_baseline) {
  if (batches.list.size() > of_baseline) return;
  throw Error(ErrorCode::invalid_option,
              fmt::format("{} of {} inputs are the baseline, expected at least one batch more", of_baseline,
                          batches.list.size()));
}

std::vector<std::string> files_of(const Request& request) {
  std::vector<std::string> files;
  for (const std::string& file : request.files) {
    const std::vector<std::string> some = is_file_pattern(file) ? expand_files({file}) : std::vector<std::string>{file};
    files.insert(files.end(), some.begin(), some.end());
  }
  return files;
}

// Options that are about one run, not about the monitor.
bool of_one_run(const std::string& id) {
  return id == "state" || id == "show" || id == "alarm" || id == "names";
}

NamedSettings lasting(const NamedSettings& given) {
  NamedSettings kept;
  std::ranges::copy_if(given, std::back_inserter(kept), [](const auto& setting) { return !of_one_run(setting.first); });
  return kept;
}

// A state has the options that it was begun with; others would make results that do not fit those before.
void require_settings_of(const Monitor& monitor, const Request& request) {
  const Settings defaults = default_settings(kMonitorCommand);
  for (const auto& [id, value] : lasting(request.given)) {
    const auto& known = monitor.source().settings;
    const auto found = std::ranges::find_if(known, [&id = id](const auto& setting) { return setting.first == id; });
    const OptionInfo* const option = find_option(id);
    const std::string expected = found != known.end() ? found->second : option->get(defaults);
    if (value == expected) continue;
    throw Error(ErrorCode::invalid_option,
                {.subject = id,
                 .value = printable(value),
                 .expected = expected.empty() ? "none, as the state was begun without it"
                                              : fmt::format("{}, as the state was begun with it", printable(expected)),
                 .remedy = "To change it, begin another state"});
  }
}

// The settings by which later batches are read: those of the state.
Settings settings_of(const Monitor& monitor, const Settings& now) {
  Settings settings = default_settings(kMonitorCommand);
  for (const auto& [id, value] : monitor.source().settings) set_option(settings, *find_option(id), value);
  settings.test.statistic.seed = monitor.options().test.statistic.seed;
  settings.test.statistic.threads = now.test.statistic.threads;
  settings.test.statistic.max_memory = now.test.statistic.max_memory;
  settings.read.map_files = now.read.map_files;
  complete(settings);
  return settings;
}

void require_state_options(const Settings& settings) {
  if (settings.monitor.state_file.empty() || settings.read.standardize == Standardize::automatic ||
      settings.read.standardize == Standardize::none) {
    return;
  }
  throw Error(ErrorCode::invalid_option,
              {.subject = "standardize",
               .value = to_string(settings.read.standardize),
               .expected = "auto or none with --state: a later run does not know the scales"});
}

// "2 batches are known already and were skipped: day-1.csv, day-2.csv".
void note_known(const std::vector<std::string>& names, const OutputOptions& output) {
  if (names.empty() || output.quiet) return;
  note(fmt::format("{} known already and skipped: {}",
                   names.size() == 1 ? "1 input is" : fmt::format("{} inputs are", names.size()),
                   fmt::join(names, ", ")));
}

// Batches that the monitor does not know yet.
Batches new_batches(const Monitor& monitor, const Request& request) {
  const Settings settings = settings_of(monitor, request.settings);
  Reading reading = reading_of(settings, monitor.baseline().group_rule());
  if (monitor.source().encoding) reading.options.like = std::make_shared<TableEncoding>(*monitor.source().encoding);
  reading.options.keep_encoding = false;
  const std::vector<std::string> files = files_of(request);
  const bool by_time = !reading.time_column.empty();
  const std::vector<std::string> names = by_time ? files : sample_names(request.settings, files);
  std::vector<std::string> new_files;
  std::vector<std::string> new_names;
  std::vector<std::string> known;
  for (std::size_t k = 0; k < files.size(); ++k) {
    if (!by_time && monitor.knows(names[k])) {
      known.push_back(printable(names[k]));
      continue;
    }
    new_files.push_back(files[k]);
    new_names.push_back(names[k]);
  }
  Batches batches;
  if (!new_files.empty()) batches = read_batches(reading, new_files, new_names, request.settings);
  std::erase_if(batches.list, [&](const Batch& batch) {
    if (!monitor.knows(batch.name)) return false;
    known.push_back(printable(batch.name));
    return true;
  });
  note_known(known, request.settings.output);
  return batches;
}

// A monitor of the first batches, which leave the list.
Monitor begun(const Request& request, Batches& batches, const RunControl& control) {
  const Settings& settings = request.settings;
  const BaselineRule& rule = settings.monitor.baseline;
  const std::size_t first = std::max<std::size_t>(1, rule.kind == BaselineKind::fixed ? rule.num_batches : 1);
  require_batches(batches, first);
  Monitor monitor(baseline_of(settings, batches.list, first, control),
                  options_of(request, batches.list.front().profile.has_value()));
  MonitorSource source{.baseline_name = batches.list.front().name,
                       .baseline_inputs = {},
                       .settings = lasting(request.given),
                       .encoding = std::move(batches.encoding)};
  if (first > 1) source.baseline_name += fmt::format(" to {}", batches.list[first - 1].name);
  for (std::size_t k = 0; k < first; ++k) source.baseline_inputs.push_back(batches.list[k].name);
  monitor.set_source(std::move(source));
  batches.list.erase(batches.list.begin(), batches.list.begin() + static_cast<std::ptrdiff_t>(first));
  return monitor;
}

// The file that --show prints may be given as an input.
std::string state_of(const Request& request) {
  const MonitorSettings& monitor = request.settings.monitor;
  const bool given = monitor.show && monitor.state_file.empty() && request.files.size() == 1;
  return given ? request.files.front() : monitor.state_file;
}

// As a gate of a test: with a tolerance different batches fail, for equivalence all that are not equivalent.
bool fails_gate(const Monitor& monitor, bool by_alarm) {
  if (by_alarm) return monitor.raised_at().has_value();
  const MarginKind kind = monitor.options().test.margin.kind;
  return std::ranges::any_of(monitor.entries(), [&](const MonitorEntry& entry) {
    if (!entry.margin) return entry.reject;
    return kind == MarginKind::equivalent ? entry.margin->verdict != Verdict::equivalent
                                          : entry.margin->verdict == Verdict::different;
  });
}

void show_monitor(const OutputOptions& output, const MonitorReport& report, const std::string& command_line) {
  if (!output.report.empty()) {
    const StopRequest until_it_is_whole;
    write_text(output.report, monitor_page(report, {.command = command_line}));
  }
  if (output.json_lines) return print(monitor_json_lines(report));
  show(output, {.json = [&] { return monitor_json(report); },
                .csv = [&] { return monitor_csv(report); },
                .markdown = [&] { return monitor_markdown(report); },
                .number = [&] { return monitor_names(report); },
                .text = [&](const TextStyle& style) { return monitor_text(report, style); }});
}

}  // namespace

int run_monitor(const Request& request) {
  const Stopwatch watch;
  const Settings& settings = request.settings;
  const OutputOptions& output = settings.output;
  refuse_objects(settings, "monitor");
  require_outputs(request);
  require_state_options(settings);
  const std::string state = state_of(request);
  std::optional<Monitor> monitor;
  if (!state.empty() && std::filesystem::exists(state)) monitor = Monitor::load(state);
  Batches batches;
  if (settings.monitor.show) {
    if (!monitor) {
      throw Error(ErrorCode::invalid_option,
                  {.subject = "show", .value = "yes", .expected = "a state file that exists: kqd monitor --show FILE"});
    }
  } else {
    const ProgressLine progress(!output.quiet);
    if (monitor) {
      require_settings_of(*monitor, request);
      monitor->set_threads(settings.test.statistic.threads);
      batches = new_batches(*monitor, request);
    } else {
      const std::vector<std::string> files = files_of(request);
      const bool by_time = !settings.monitor.time_column.empty();
      const auto names = by_time ? files : sample_names(settings, files);
      batches = read_batches(reading_of(settings, settings.test.groups), files, names, settings);
      monitor = begun(request, batches, progress.control());
    }
    for (const Batch& batch : batches.list) {
      if (batch.profile) {
        monitor->update(batch.name, *batch.profile, &progress.control());
      } else {
        monitor->update(batch.name, batch.rows, &progress.control(), batch.keys);
      }
      if (state.empty()) continue;
      const StopRequest until_it_is_whole;
      monitor->save(state);
    }
  }
  show_monitor(output, {*monitor, watch.seconds(), program_names, request.given, batches.warnings},
               request.command_line);
  return output.exit_code && fails_gate(*monitor, settings.monitor.alarm) ? 1 : 0;
}

}  // namespace kqd::app
