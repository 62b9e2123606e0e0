#include "kqd/two_sample/row_plan.hpp"

#include <algorithm>
#include <cmath>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/random.hpp"
#include "kqd/two_sample/two_sample_test.hpp"
#include "two_sample/column_shift.hpp"

namespace kqd {
namespace {

constexpr std::size_t kFirstRows = 50;
constexpr std::size_t kPilotRowsDrawn = 20'000;
constexpr std::size_t kFewestPilot = 20;

void validate_plan(const RowPlanOptions& options) {
  const auto require = [](bool holds, std::string_view name, double value, std::string_view expected) {
    if (!holds) {
      fail(ErrorCode::invalid_option,
           {.subject = std::string(name), .value = fmt::format("{:g}", value), .expected = std::string(expected)});
    }
  };
  require(options.effect > 0.0 && std::isfinite(options.effect), "effect", options.effect, "a number > 0");
  require(options.power > 0.0 && options.power < 1.0, "power", options.power, "a number between 0 and 1");
  require(options.alpha > 0.0 && options.alpha < 1.0, "alpha", options.alpha, "a number between 0 and 1");
  require(options.runs >= 10, "runs", static_cast<double>(options.runs), "at least 10");
}

// A column that can have the effect, and how its values are moved.
struct ShiftedColumn {
  std::size_t column;
  ColumnShift shift;
};

std::vector<ShiftedColumn> shifted_columns(const SampleView& pilot, double effect) {
  std::vector<ShiftedColumn> found;
  std::vector<double> column(pilot.size());
  for (std::size_t j = 0; j < pilot.dim(); ++j) {
    for (std::size_t i = 0; i < pilot.size(); ++i) column[i] = pilot.points(i, j);
    if (auto shift = ColumnShift::of(column, effect)) found.push_back({j, *std::move(shift)});
  }
  return found;
}

Matrix<double> draw_rows(const SampleView& pilot, std::size_t rows, RandomStream& stream) {
  Matrix<double> drawn(rows, pilot.dim());
  for (std::size_t i = 0; i < rows; ++i) {
    std::ranges::copy(pilot.points.row(stream.below(pilot.size())), drawn.row(i).begin());
  }
  return drawn;
}

RowPlanPoint simulate(const SampleView& pilot, std::span<const ShiftedColumn> columns, std::size_t rows,
                      const RowPlanOptions& options) {
  std::vector<char> rejected(options.runs);
  std::vector<char> alike(options.runs);
  parallel_for_blocks(options.runs, 1, options.threads, [&](std::size_t run, std::size_t) {
    RandomStream stream(options.seed, Purpose::row_subsample, rows * options.runs + run);
    const Matrix<double> x = draw_rows(pilot, rows, stream);
    Matrix<double> y = draw_rows(pilot, rows, stream);
    const DifferenceSize size = difference_size({.points = x}, {.points = y},
                                                {.separation = false, .seed = Seed{run}, .threads = ThreadCount{1}});
    alike[run] =
        judge(size, MarginKind::equivalent, options.effect, options.alpha).verdict == Verdict::equivalent ? 1 : 0;
    const auto& [column, shift] = columns[run % columns.size()];
    for (std::size_t i = 0; i < rows; ++i) y(i, column) = shift(y(i, column), stream);
    TwoSampleOptions test;
    test.test.num_permutations = options.num_permutations;
    test.test.alpha = options.alpha;
    test.statistic.threads = ThreadCount{1};
    rejected[run] = two_sample_test({.points = x}, {.points = y}, test).test.reject ? 1 : 0;
  });
  const auto share = [&](const std::vector<char>& hits) {
    return static_cast<double>(std::ranges::count(hits, 1)) / static_cast<double>(options.runs);
  };
  return {rows, share(rejected), share(alike)};
}

// The number of rows at which a share reaches the power, linear between points in the logarithm of the rows and in
// normal deviates.
std::optional<std::size_t> rows_for(const std::vector<RowPlanPoint>& points, double power, double RowPlanPoint::*share,
                                    std::size_t runs) {
  const double least = 0.5 / static_cast<double>(runs);
  const auto deviate = [&](double p) { return normal_quantile(std::clamp(p, least, 1.0 - least)); };
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (points[k].*share < power) continue;
    if (k == 0) return points[0].rows;
    const double below = deviate(points[k - 1].*share);
    const double above = deviate(points[k].*share);
    const double part = above > below ? (deviate(power) - below) / (above - below) : 1.0;
    const double low = std::log(static_cast<double>(points[k - 1].rows));
    const double high = std::log(static_cast<double>(points[k].rows));
    return static_cast<std::size_t>(std::ceil(std::exp(low + std::clamp(part, 0.0, 1.0) * (high - low))));
  }
  return std::nullopt;
}

}  // namespace

RowPlan plan_rows(const SampleView& pilot, const RowPlanOptions& options, const RunControl* control) {
  const StopScope stoppable(control);
  validate_plan(options);
  validate(pilot, "the pilot", options.threads);
  if (pilot.size() < kFewestPilot) {
    fail(ErrorCode::empty_sample, "a plan needs a pilot of at least {} rows, got {}", kFewestPilot, pilot.size());
  }
  const std::vector<ShiftedColumn> columns = shifted_columns(pilot, options.effect);
  if (columns.empty()) {
    fail(ErrorCode::invalid_option,
         "no column of the pilot can have an effect of {:g}: all are constant, or have too few values", options.effect);
  }
  RowPlan plan;
  for (std::size_t rows = kFirstRows;; rows *= 2) {
    rows = std::min(rows, options.most_rows);
    const ProgressScope progress(control, "simulating");
    plan.points.push_back(simulate(pilot, columns, rows, options));
    plan.test = rows_for(plan.points, options.power, &RowPlanPoint::test, options.runs);
    plan.equivalence = rows_for(plan.points, options.power, &RowPlanPoint::equivalence, options.runs);
    if ((plan.test && plan.equivalence) || rows >= options.most_rows) return plan;
  }
}

Sample normal_pilot(std::size_t dim, Seed seed) {
  RandomStream stream(seed, Purpose::synthetic_x);
  Sample pilot{Matrix<double>(kPilotRowsDrawn, dim), {}, {}};
  for (double& value : pilot.points.values()) value = stream.normal();
  return pilot;
}

}  // namespace kqd
