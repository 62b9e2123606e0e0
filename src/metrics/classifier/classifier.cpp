#include <algorithm>
#include <array>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <iterator>
#include <numbers>
#include <utility>

#include "core/fail.hpp"
#include "core/parameter_values.hpp"
#include "core/random.hpp"
#include "metrics/all_methods.hpp"
#include "metrics/checked_samples.hpp"
#include "metrics/classifier/auc_plan.hpp"
#include "metrics/classifier/forward_fit.hpp"
#include "metrics/split.hpp"

namespace kqd {
namespace {

constexpr std::string_view kId = "classifier";
constexpr std::size_t kFewestForNormal = 100;  // rows of each sample in the scored parts

constexpr std::array<ParameterInfo, 1> kParameters = {{
    {"folds", 8, 2, 100, true,
     "parts of the rows; each part after the first is scored by a learner of the parts before"},
}};

// Rows in the order in which they are learned from and scored, with the ends of the parts.
struct Sequence {
  std::vector<std::size_t> rows;  // of (X, Y)
  std::vector<std::size_t> cuts;  // part k is [cuts[k], cuts[k + 1])
};

// The label-blind order of the pool is random, so its parts are random parts.
Sequence parts_of_pool(const TestPool& pool, std::size_t folds) {
  Sequence sequence{pool.order, {}};
  for (std::size_t k = 0; k <= folds; ++k) sequence.cuts.push_back(pool.order.size() * k / folds);
  return sequence;
}

// Where labels of some rows move together, ranks of several parts have no common distribution: one half is learned
// from, the other one is tested given what was learned.
Sequence two_halves(const TestPool& pool, const PlanRequest& request, Seed seed) {
  const Split split = split_for_training(pool, 0.5, request, seed);
  Sequence sequence{split.train_rows, {0, split.train_rows.size(), pool.order.size()}};
  std::ranges::copy(split.test_rows, std::back_inserter(sequence.rows));
  return sequence;
}

// A learner's ranking of the rows after the first part.
struct Ranking {
  std::unique_ptr<const AucPlan> plan;
  std::vector<std::size_t> rows;  // position of the plan -> row of (X, Y)
  std::vector<char> is_x;         // observed labels of these rows
  std::vector<Detail> details;
};

Ranking rank_rows(const TestPool& pool, const Sequence& sequence, const MethodOptions& options) {
  const FeatureDictionary dictionary({pool.x.points, pool.y.points, sequence.rows}, options.seed, options.threads);
  std::vector<char> is_x(sequence.rows.size());
  std::ranges::transform(sequence.rows, is_x.begin(),
                         [&](std::size_t row) { return row < pool.x.size() ? char{1} : char{0}; });
  const ForwardFit fitted = fit_forward(dictionary, is_x, sequence.cuts, options.threads);
  const auto first = static_cast<std::ptrdiff_t>(sequence.cuts[1]);
  std::vector<std::size_t> ends;
  for (std::size_t k = 2; k < sequence.cuts.size(); ++k) ends.push_back(sequence.cuts[k] - sequence.cuts[1]);
  return {.plan = std::make_unique<AucPlan>(fitted.scores, std::move(ends), dictionary.constant()),
          .rows = {sequence.rows.begin() + first, sequence.rows.end()},
          .is_x = {is_x.begin() + first, is_x.end()},
          .details = {{"features", static_cast<double>(dictionary.size())},
                      {"features_used", static_cast<double>(fitted.num_features)}}};
}

void refuse_weights(const TestPool& pool) {
  if (!pool.weighted()) return;
  fail(ErrorCode::invalid_weights,
       "classifier takes no weights: its ranks count rows, all alike; adaptive and ekqd take them");
}

std::size_t folds_of(const MethodOptions& options) {
  return ParameterValues(kId, kParameters, options.parameters).count("folds");
}

PreparedPlan prepare(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) {
  refuse_weights(pool);
  const bool bound = request.bound_rows || request.swaps_only;
  Ranking ranking = rank_rows(
      pool, bound ? two_halves(pool, request, options.seed) : parts_of_pool(pool, folds_of(options)), options);
  PreparedPlan prepared;
  prepared.frozen = options;
  prepared.num_set_aside = pool.order.size() - ranking.rows.size();
  prepared.rows = std::move(ranking.rows);
  prepared.pooled_scale = 1.0;
  prepared.details = std::move(ranking.details);
  // The standard error takes rows as independent.
  if (const double error = bound ? std::nan("") : ranking.plan->standard_error(ranking.is_x); std::isfinite(error)) {
    prepared.effect_interval = [auc = ranking.plan->value(ranking.is_x), error](double confidence) {
      const double reach = normal_quantile(0.5 + 0.5 * confidence) * error;
      return std::array{std::max(0.0, auc - reach), std::min(1.0, auc + reach)};
    };
  }
  prepared.no_interval =
      bound ? "rows of this design are not independent" : "a scored part has a single row of a sample";
  prepared.plan = std::move(ranking.plan);
  return prepared;
}

AsymptoticResult asymptotic(const SampleView& x_given, const SampleView& y_given, const MethodOptions& options) {
  AsymptoticResult found;
  const CheckedSamples samples(x_given, y_given, options, found.result.warnings);
  const TestPool pool = make_test_pool(samples.x, samples.y, options.threads);
  refuse_weights(pool);
  Ranking ranking = rank_rows(pool, parts_of_pool(pool, folds_of(options)), options);
  const auto num_x = static_cast<std::size_t>(std::ranges::count(ranking.is_x, 1));
  const std::size_t num_y = ranking.is_x.size() - num_x;
  if (std::min(num_x, num_y) < kFewestForNormal) {
    fail(ErrorCode::invalid_option,
         "{}: " KQD_OPTION("calibration=asymptotic") " needs {} rows of each sample in the scored parts, got {} and {}; use "
         KQD_OPTION("calibration=permutation") ", which is exact",
         kId, kFewestForNormal, num_x, num_y);
  }
  found.result.statistic = found.result.statistic_power = ranking.plan->value(ranking.is_x);
  const double deviation = ranking.plan->null_deviation(ranking.is_x);
  const double score = (found.result.statistic - 0.5) / deviation;
  found.pvalue = 0.5 * boost::math::erfc(score / std::numbers::sqrt2);
  found.limiting_distribution = fmt::format("normal with mean 0.5 and standard deviation {:.3g}", deviation);
  found.result.details = std::move(ranking.details);
  return found;
}

}  // namespace

Method classifier_method() {
  return {
      .info =
          {.id = kId,
           .family = "learners",
           .summary = "area under the ROC curve of a learner on rows it has not seen",
           .reports = "AUC: the probability that a row of X scores above a row of Y; 0.5 without a difference",
           .cost = "N F, F features: about d^2 + 300",
           .permutation = "N",
           .calibrations = "permutation, asymptotic",
           .details =
               "The rows are cut into parts (folds). Each part after the first is scored by a learner that was "
               "fitted on the parts before it; the rows of the first part are held out. The statistic is the "
               "share of pairs (x, y) within a part in which x has the larger score. Its permutation distribution does "
               "not depend on the scores, so the test is exact without fitting again. The learner adds up a few "
               "features, chosen one at a time (componentwise boosting): normal scores of columns, principal "
               "components, products of two columns, these times the first component, Gaussian bumps. So it "
               "finds interactions: a relation of two columns that changed. In paired, blocked and clustered "
               "designs one half is learned from and the other one tested.",
           .reference = "Lopez-Paz and Oquab: Revisiting Classifier Two-Sample Tests (ICLR 2017); learner: Buehlmann "
                        "and Yu: Boosting with the L2 Loss (JASA 2003)",
           .parameters = kParameters,
           .effect_method = "ekqd",
           .effect_words = "AUC: 0.5 without a difference, 1 if a learner separates the samples"},
      .prepare = prepare,
      .asymptotic = asymptotic};
}

}  // namespace kqd
