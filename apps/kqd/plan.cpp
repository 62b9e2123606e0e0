#include "plan.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

#include "experiments/chart.hpp"
#include "flags.hpp"
#include "kqd/kqd.hpp"
#include "kqd/two_sample/row_plan.hpp"
#include "output.hpp"
#include "progress.hpp"

namespace kqd::app {
namespace {

constexpr std::uint64_t kMostColumns = 10'000;
constexpr std::uint64_t kMostPlannedRows = 10'000'000;
constexpr std::uint64_t kMostSimulatedPairs = 100'000;

double read_number(const std::string& name, const std::string& text) {
  try {
    std::size_t used = 0;
    const double value = std::stod(text, &used);
    if (used == text.size()) return value;
  } catch (const std::exception&) {  // the error below names the option
  }
  throw Error(ErrorCode::invalid_option, {.subject = name, .value = printable(text), .expected = "a number"});
}

RowPlanOptions options_of(const PlanFlags& flags) {
  return {.effect = read_number("effect", flags.effect),
          .power = read_number("power", flags.power),
          .alpha = read_number("alpha", flags.alpha),
          .runs = whole_number("runs", flags.runs, 10, kMostSimulatedPairs),
          .most_rows = whole_number("most_rows", flags.most_rows, 50, kMostPlannedRows),
          .seed = Seed{whole_number("seed", flags.seed, 0, std::numeric_limits<std::uint64_t>::max())},
          .threads = ThreadCount{static_cast<unsigned>(whole_number("threads", flags.threads, 0, 1024))}};
}

std::string rows_text(const std::optional<std::size_t>& rows, std::size_t most) {
  return rows ? fmt::format("{} rows in each sample", *rows) : fmt::format("more than {} rows in each sample", most);
}

std::string plan_text(const RowPlan& plan, const RowPlanOptions& options, std::size_t columns) {
  std::string text = fmt::format(
      "Rows for an effect of {:g} with power {:g} at level {:g}, in {} column{} ({} simulated pairs for each number of "
      "rows)\n\n",
      options.effect, options.power, options.alpha, columns, columns == 1 ? "" : "s", options.runs);
  text += fmt::format("  default test             {}\n", rows_text(plan.test, options.most_rows));
  text += fmt::format("  --equivalent {:<10g}  {}, if nothing differs\n\n", options.effect,
                      rows_text(plan.equivalence, options.most_rows));
  text += "  rows    power of the test  power of equivalence\n";
  for (const RowPlanPoint& point : plan.points) {
    text += fmt::format("  {:<6}  {:<17.2f}  {:.2f}\n", point.rows, point.test, point.equivalence);
  }
  return text;
}

std::string plan_json(const RowPlan& plan, const RowPlanOptions& options, std::size_t columns) {
  const auto count = [](const std::optional<std::size_t>& rows) { return rows ? fmt::format("{}", *rows) : "null"; };
  std::string points;
  for (const RowPlanPoint& point : plan.points) {
    points += fmt::format("{}{{\"rows\": {}, \"test\": {}, \"equivalence\": {}}}", points.empty() ? "" : ", ",
                          point.rows, point.test, point.equivalence);
  }
  return fmt::format(
      "{{\"schema\": \"kqd.plan/1\", \"effect\": {}, \"power\": {}, \"alpha\": {}, \"columns\": {}, \"runs\": {}, "
      "\"seed\": {}, \"test\": {}, \"equivalence\": {}, \"points\": [{}]}}\n",
      options.effect, options.power, options.alpha, columns, options.runs, options.seed.value, count(plan.test),
      count(plan.equivalence), points);
}

// Power against the number of rows.
std::string plan_figure(const RowPlan& plan, const RowPlanOptions& options) {
  lab::ChartPanel panel;
  panel.title = fmt::format("Effect {:g}, level {:g}", options.effect, options.alpha);
  panel.x = {.title = "rows in each sample",
             .low = static_cast<double>(plan.points.front().rows),
             .high = static_cast<double>(plan.points.back().rows) * 1.05,
             .log = true};
  for (const RowPlanPoint& point : plan.points) {
    panel.x.ticks.push_back({static_cast<double>(point.rows), fmt::format("{}", point.rows)});
  }
  panel.y = {.title = "power", .low = 0.0, .high = 1.0, .ticks = lab::even_ticks(0.0, 1.0, 5)};
  panel.guides = {options.power};
  lab::Series test{.label = "default test",
                   .points = {},
                   .colour = lab::palette_colour(0),
                   .marker = lab::Marker::circle,
                   .stroke = lab::Stroke::solid};
  lab::Series equivalence{.label = "equivalence, if nothing differs",
                          .points = {},
                          .colour = lab::palette_colour(1),
                          .marker = lab::Marker::square,
                          .stroke = lab::Stroke::dashed};
  for (const RowPlanPoint& point : plan.points) {
    test.points.push_back({static_cast<double>(point.rows), point.test});
    equivalence.points.push_back({static_cast<double>(point.rows), point.equivalence});
  }
  panel.series = {std::move(test), std::move(equivalence)};
  return lab::svg_chart({panel});
}

}  // namespace

void add_plan_flags(CLI::App& command, PlanFlags& flags) {
  command.add_option("PILOT", flags.pilot, "data like those to come: rows are drawn from it (default: normal columns)");
  add_value(command, "--effect", "D", flags.effect,
            "the effect, and the margin: as far apart as a shift of one column by D SDs");
  add_value(command, "--power", "P", flags.power, "the probability to reach");
  add_value(command, "--alpha", "A", flags.alpha, "significance level");
  add_value(command, "--columns", "N", flags.columns, "normal columns, without a pilot");
  add_value(command, "--runs", "R", flags.runs, "simulated pairs of samples for each number of rows");
  add_value(command, "--most-rows", "N", flags.most_rows, "give up beyond this number of rows in each sample");
  add_value(command, "--seed", "S", flags.seed, "every random draw follows from it");
  add_value(command, "--threads", "T", flags.threads, "0: as many as the system has");
  add_value(command, "--figure", "FILE", flags.figure, "write power against rows as .svg");
  command.add_flag("--json", flags.json, "print one JSON object");
}

int run_plan(const PlanFlags& flags) {
  const RowPlanOptions options = options_of(flags);
  const Sample pilot = flags.pilot.empty()
                           ? normal_pilot(whole_number("columns", flags.columns, 1, kMostColumns), options.seed)
                           : read_sample(flags.pilot);
  RowPlan plan;
  {
    const ProgressLine progress(true);
    plan = plan_rows(pilot, options, &progress.control());
  }
  if (!flags.figure.empty()) write_text(flags.figure, plan_figure(plan, options));
  const std::size_t columns = pilot.points.cols();
  print(flags.json ? plan_json(plan, options, columns) : plan_text(plan, options, columns));
  return 0;
}

}  // namespace kqd::app
