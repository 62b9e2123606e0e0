#include "monitor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
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

  [[nodiscard]] std::uint64_t num_rows() const { return profile ? profile->num_rows() : rows.points.rows(); }
};

struct Batches {
  std::vector<Batch> list;
  Warnings warnings;  // of reading
};

std::vector<Batch> profiles_of(const Settings& settings, const std::vector<std::string>& files) {
  const std::vector<std::string> names = sample_names(settings, files);
  std::vector<Batch> batches;
  for (std::size_t k = 0; k < files.size(); ++k) batches.push_back({names[k], {}, Profile::load(files[k])});
  return batches;
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

// The rows of one file, cut by time.
Batches batches_by_time(const Settings& settings, const std::string& file) {
  const MonitorSettings& monitor = settings.monitor;
  ReadOptions read = settings.read;
  read.unit_column = monitor.time_column;
  const SampleList data = read_samples({file}, read);
  const Sample& all = data.samples.front();
  const auto time_of = [&](std::size_t row) {
    const auto unit = data.units[row];
    if (data.unit_names.empty()) return fmt::format("{}", unit);
    const std::string& name = data.unit_names[static_cast<std::size_t>(unit)];
    const bool quoted = name.size() >= 2 && name.front() == '"' && name.back() == '"';  // as messages write texts
    return quoted ? name.substr(1, name.size() - 2) : name;
  };
  std::vector<std::pair<std::string, std::vector<std::size_t>>> parts;
  if (monitor.every == "day" || monitor.every == "week" || monitor.every == "month") {
    std::map<std::string, std::vector<std::size_t>> periods;
    for (std::size_t i = 0; i < all.points.rows(); ++i) {
      periods[period_of(time_of(i), monitor.every, monitor.time_column)].push_back(i);
    }
    parts.assign(periods.begin(), periods.end());
  } else {
    const std::uint64_t length = whole_number("every", monitor.every, 1, all.points.rows());
    std::vector<std::size_t> order(all.points.rows());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const GroupRule by_time{GroupAssignment::blocks, monitor.time_column};
    const std::vector<std::uint64_t> ranks = group_keys(by_time, data.units, data.unit_names);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return ranks[i]; });
    for (std::size_t from = 0; from + length <= order.size(); from += length) {
      std::vector<std::size_t> rows(order.begin() + static_cast<std::ptrdiff_t>(from),
                                    order.begin() + static_cast<std::ptrdiff_t>(from + length));
      parts.emplace_back(fmt::format("rows {}-{}", from + 1, from + length), std::move(rows));
    }
  }
  Batches batches{.list = {}, .warnings = data.warnings};
  const std::vector<std::string> names = given_names(settings, parts.size());
  for (const auto& [name, rows] : parts) {
    batches.list.push_back({names.empty() ? name : names[batches.list.size()], rows_of(all, rows), {}});
  }
  return batches;
}

// All files at a time, so that they have the same columns.
Batches read_batches(const Request& request, const std::vector<std::string>& files) {
  const auto profiles = std::ranges::count_if(files, names_a_profile);
  if (profiles == static_cast<std::ptrdiff_t>(files.size())) return {profiles_of(request.settings, files), {}};
  if (profiles > 0) {
    throw Error(
        ErrorCode::invalid_option,
        "profiles and files of rows cannot be mixed here; count the files like the profiles by kqd profile --like");
  }
  if (!request.settings.monitor.time_column.empty()) {
    if (files.size() == 1) return batches_by_time(request.settings, files.front());
    throw Error(ErrorCode::invalid_option,
                {.subject = "time_column",
                 .value = printable(request.settings.monitor.time_column),
                 .expected = fmt::format("one file with all batches, got {}", files.size())});
  }
  SampleList data = read_samples(files, request.settings.read);
  print_warnings(data.notes, request.settings.output);
  const std::vector<std::string> names = sample_names(request.settings, files);
  Batches batches{.list = {}, .warnings = data.warnings};
  for (std::size_t k = 0; k < files.size(); ++k) batches.list.push_back({names[k], std::move(data.samples[k]), {}});
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

}  // namespace

int run_monitor(const Request& request) {
  const Stopwatch watch;
  const Settings& settings = request.settings;
  const OutputOptions& output = settings.output;
  refuse_objects(settings, "monitor");
  require_outputs(request);
  const std::string& state = settings.monitor.state_file;
  const bool continues = !state.empty() && std::filesystem::exists(state);
  std::optional<Monitor> monitor;
  if (continues) monitor = Monitor::load(state);
  Batches batches;
  std::string baseline_name;
  if (settings.monitor.show) {
    if (!continues) {
      throw Error(ErrorCode::invalid_option,
                  {.subject = "show", .value = "yes", .expected = "a state file that exists, given by --state"});
    }
  } else {
    batches = read_batches(request, files_of(request));
    const ProgressLine progress(!output.quiet);
    std::size_t first = 0;
    if (!monitor) {
      first = std::max<std::size_t>(
          1, settings.monitor.baseline.kind == BaselineKind::fixed ? settings.monitor.baseline.num_batches : 1);
      require_batches(batches, first);
      baseline_name = batches.list.front().name;
      if (first > 1) baseline_name += fmt::format(" to {}", batches.list[first - 1].name);
      monitor.emplace(baseline_of(settings, batches.list, first, progress.control()),
                      options_of(request, batches.list.front().profile.has_value()));
    }
    for (std::size_t k = first; k < batches.list.size(); ++k) {
      const Batch& batch = batches.list[k];
      if (batch.profile) {
        monitor->update(batch.name, *batch.profile, &progress.control());
      } else {
        monitor->update(batch.name, batch.rows, &progress.control());
      }
      if (state.empty()) continue;
      const StopRequest until_it_is_whole;
      monitor->save(state);
    }
  }
  const MonitorReport report{*monitor,      std::move(baseline_name), watch.seconds(), program_names,
                             request.given, batches.warnings};
  if (!output.report.empty()) {
    const StopRequest until_it_is_whole;
    write_text(output.report, monitor_page(report, {.command = request.command_line}));
  }
  if (output.json_lines) {
    print(monitor_json_lines(report));
  } else {
    show(output, {.json = [&] { return monitor_json(report); },
                  .csv = [&] { return monitor_csv(report); },
                  .markdown = [&] { return monitor_markdown(report); },
                  .number = [&] { return monitor_names(report); },
                  .text = [&](const TextStyle& style) { return monitor_text(report, style); }});
  }
  const bool found = settings.monitor.alarm ? monitor->raised_at().has_value()
                                            : std::ranges::any_of(monitor->entries(), &MonitorEntry::reject);
  return output.exit_code && found ? 1 : 0;
}

}  // namespace kqd::app
