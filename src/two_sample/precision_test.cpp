#include "two_sample/precision_test.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/random.hpp"
#include "core/warning.hpp"
#include "metrics/feasible.hpp"
#include "testing/aggregated_test.hpp"
#include "testing/comparison.hpp"

namespace kqd {
namespace {

// Positions among which rows are exchanged.
std::vector<std::vector<std::size_t>> strata_of(const Design& design, SampleSizes sizes,
                                                std::span<const std::size_t> positions) {
  std::map<std::int64_t, std::vector<std::size_t>> strata;
  for (const std::size_t i : positions) {
    const bool paired = design.kind == DesignKind::paired;
    const auto pair = static_cast<std::int64_t>(i < sizes.x ? i : i - sizes.x);
    strata[paired ? pair : design.kind == DesignKind::blocks ? design.group_ids[i] : 0].push_back(i);
  }
  std::vector<std::vector<std::size_t>> list;
  for (auto& [id, members] : strata) list.push_back(std::move(members));
  return list;
}

// One arrangement of the rows over the positions of (X, Y), and its statistics.
class Arrangements {
 public:
  Arrangements(const Method& method, const TestPool& pool, const MethodOptions& options, const PlanRequest& request,
               const Design& design, std::span<const std::size_t> positions)
      : method_(method),
        pool_(pool),
        options_(options),
        request_(request),
        strata_(strata_of(design, {pool.x.size(), pool.y.size()}, positions)) {
    options_.threads = ThreadCount{1};
  }

  /// values[0] of the plan, then those of the bundles of an aggregate. Arrangement 0 is the observed one.
  void evaluate(std::uint64_t number, std::span<double> values) const {
    const std::vector<std::size_t> row_at = arrangement(number);
    const std::size_t nx = pool_.x.size();
    const Pool rows{pool_.x.points, pool_.y.points, row_at};
    Matrix<double> points(rows.size(), rows.dim());
    copy_rows(rows, 0, points);
    std::vector<std::size_t> position_of(row_at.size());
    for (std::size_t i = 0; i < row_at.size(); ++i) position_of[row_at[i]] = i;
    const auto all = points.view();
    TestPool pool{
        {all.row_range(0, nx), pool_.x.weights}, {all.row_range(nx, rows.size() - nx), pool_.y.weights}, {}, {}};
    for (const std::size_t row : pool_.order) pool.order.push_back(position_of[row]);
    const PreparedPlan prepared = method_.prepare(pool, options_, request_);
    LabelBatch labels{std::vector<std::uint64_t>(prepared.rows.size()), 1, {}};
    for (std::size_t i = 0; i < prepared.rows.size(); ++i) labels.words[i] = prepared.rows[i] < nx ? 1 : 0;
    labels.num_x[0] = static_cast<std::size_t>(std::ranges::count(labels.words, std::uint64_t{1}));
    prepared.plan->evaluate(std::span(&labels, 1), values.first(1), ThreadCount{1});
    std::size_t next = 1;
    for (const auto& bundle : prepared.aggregate.bundles) {
      const std::size_t count = bundle->names().size();
      if (next + count > values.size()) break;
      bundle->evaluate(std::span(&labels, 1), {values.subspan(next, count).data(), count, 1}, ThreadCount{1});
      next += count;
    }
    if (next != values.size())
      fail(ErrorCode::internal, "arrangements of the rows have different numbers of statistics");
  }

 private:
  [[nodiscard]] std::vector<std::size_t> arrangement(std::uint64_t number) const {
    std::vector<std::size_t> row_at(pool_.order.size());
    std::iota(row_at.begin(), row_at.end(), std::size_t{0});
    if (number == 0) return row_at;
    RandomStream stream(pool_.permutation_seed, Purpose::permutations, number);
    for (const auto& stratum : strata_) {
      const auto places = sample_without_replacement(stratum.size(), stratum.size(), stream);
      for (std::size_t k = 0; k < stratum.size(); ++k) row_at[stratum[k]] = stratum[places[k]];
    }
    return row_at;
  }

  const Method& method_;
  const TestPool& pool_;
  MethodOptions options_;
  PlanRequest request_;
  std::vector<std::vector<std::size_t>> strata_;
};

}  // namespace

PrecisionOutcome precision_test(const Method& method, const TestPool& pool, const MethodOptions& options,
                                const PlanRequest& request, const PreparedPlan& prepared,
                                std::span<const std::size_t> positions, const TestOptions& test,
                                const RunControl* control) {
  constexpr std::size_t kAtATime = 64;
  const bool aggregated = !prepared.aggregate.bundles.empty();
  if (aggregated && test.early_stop != EarlyStop::none) {
    fail(ErrorCode::invalid_option, "early stopping does not go with a test that aggregates several statistics");
  }
  const Arrangements arrangements(method, pool, options, request, test.design, positions);
  const std::uint64_t count = 1 + (aggregated ? permutations_of_aggregate(prepared.aggregate, test)
                                              : static_cast<std::uint64_t>(test.num_permutations));
  // All values of an aggregate, else those of the permutations under way.
  Matrix<double> values(1 + prepared.aggregate.weights.size(), aggregated ? count : kAtATime);
  Comparison comparison([&](double value) { return prepared.plan->tie_slack(value); },
                        make_sequential_test(test.early_stop, test.alpha, count - 1), false,
                        test.keep_null_distribution);
  if (control != nullptr && control->notice) {
    constexpr double kWorthSaying = 10.0;
    const auto start = std::chrono::steady_clock::now();
    std::vector<double> unused(values.rows());
    arrangements.evaluate(0, unused);
    const std::chrono::duration<double> one = std::chrono::steady_clock::now() - start;
    const double seconds = one.count() * static_cast<double>(count) / static_cast<double>(resolve(options.threads));
    if (seconds >= kWorthSaying) {
      control->notice(
          render(make_warning(WarningId::slow_precision_weights, method.info.id, count - 1, duration_text(seconds))));
    }
  }
  const auto place = [&](std::size_t number) { return aggregated ? number : number % kAtATime; };
  bool enough = false;
  double observed = 0.0;
  double sum = 0.0;
  std::size_t done = 0;
  for (; done < count && !enough;) {
    stop_point();
    if (control != nullptr && control->progress) {
      control->progress({.done = static_cast<double>(done),
                         .total = static_cast<double>(count),
                         .what = "permutations",
                         .counted = true});
    }
    const std::size_t first = done;
    const std::size_t number = std::min<std::size_t>(kAtATime, count - first);
    parallel_for_blocks(number, 1, options.threads, [&](std::size_t k, std::size_t) {
      std::vector<double> column(values.rows());
      arrangements.evaluate(first + k, column);
      for (std::size_t r = 0; r < column.size(); ++r) values(r, place(first + k)) = column[r];
    });
    if (first == 0) observed = values(0, 0);
    for (; done < first + number && !enough; ++done) {
      if (!aggregated) enough = comparison.add(values(0, place(done)));
      if (done > 0) sum += values(0, place(done));
    }
  }
  PrecisionOutcome outcome;
  outcome.effect = observed - sum / static_cast<double>(done - 1);
  if (aggregated) {
    Matrix<double> statistics(values.rows() - 1, count);
    for (std::size_t r = 1; r < values.rows(); ++r) std::ranges::copy(values.row(r), statistics.row(r - 1).begin());
    AggregatedOutcome found =
        aggregated_outcome(prepared.aggregate, std::move(statistics), false, test, pool.permutation_seed);
    outcome.test = std::move(found.test);
    outcome.statistics = std::move(found.statistics);
  } else {
    const PermutationSet permutations{count, false};
    outcome.test = summarise(permutations, test, test.early_stop, pool.permutation_seed, comparison);
    warn_about_resolution(permutations, test, test.early_stop, comparison, outcome.test.warnings);
  }
  return outcome;
}

}  // namespace kqd
