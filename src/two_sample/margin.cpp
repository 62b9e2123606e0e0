#include "kqd/two_sample/margin.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "core/fail.hpp"
#include "kqd/kernel/objects.hpp"
#include "two_sample/boundary.hpp"
#include "two_sample/size_parts.hpp"

namespace kqd {
namespace {

constexpr double kPower = 0.8;
constexpr double kMostTimesTheRows = 10'000.0;

// The probability of a verdict with `factor` times as many rows, where all effects are as estimated.
double power(const DifferenceSize& size, double margin, double alpha, double factor, bool beyond) {
  const auto count = static_cast<double>(size.aspects.size());
  double all = beyond ? 0.0 : 1.0;
  for (const EffectAspect& aspect : size.aspects) {
    const EffectMoments more = with_more_rows(aspect.moments, factor);
    const double effect = std::max(0.0, aspect.effect);
    const double critical = squared_quantile(more, beyond ? 1.0 - alpha / count : alpha, margin);
    const double below = squared_below(more, critical, effect);
    all = beyond ? std::max(all, 1.0 - below) : std::min(all, below);
  }
  return all;
}

std::optional<std::uint64_t> rows_needed(const DifferenceSize& size, double margin, double alpha) {
  const bool beyond = std::ranges::any_of(size.aspects, [&](const EffectAspect& a) { return a.effect > margin; });
  double low = 1.0;
  double high = 2.0;
  while (power(size, margin, alpha, high, beyond) < kPower) {
    low = high;
    high *= 2.0;
    if (high > kMostTimesTheRows) return std::nullopt;
  }
  for (int k = 0; k < 6; ++k) {
    const double middle = std::sqrt(low * high);
    (power(size, margin, alpha, middle, beyond) < kPower ? low : high) = middle;
  }
  return static_cast<std::uint64_t>(std::ceil(high * static_cast<double>(size.num_x + size.num_y)));
}

}  // namespace

std::string to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::different:
      return "different";
    case Verdict::equivalent:
      return "equivalent";
    case Verdict::undecided:
      return "undecided";
  }
  return "";
}

MarginResult judge(const DifferenceSize& size, MarginKind kind, double margin, double alpha) {
  if (!(margin > 0.0) || !std::isfinite(margin)) {
    fail_option(kind == MarginKind::equivalent ? "equivalent" : "tolerance", margin, "a number > 0");
  }
  MarginResult result{.kind = kind,
                      .margin = margin,
                      .rows_needed = {},
                      .batch_effects = {},
                      .basis = "asymptotic: the noise is estimated from groups of rows"};
  result.pvalue_within = 0.0;
  for (const EffectAspect& aspect : size.aspects) {
    const double below = squared_below(aspect.moments, aspect.moments.squared, margin);
    result.pvalue_beyond = std::min(result.pvalue_beyond, static_cast<double>(size.aspects.size()) * (1.0 - below));
    result.pvalue_within = std::max(result.pvalue_within, below);
  }
  // The integral that they come from is good to about this.
  constexpr double kSmallest = 1e-12;
  result.pvalue_beyond = std::max(result.pvalue_beyond, kSmallest);
  result.pvalue_within = std::max(result.pvalue_within, kSmallest);
  if (result.pvalue_beyond <= alpha) {
    result.verdict = Verdict::different;
  } else if (result.pvalue_within <= alpha) {
    result.verdict = Verdict::equivalent;
  } else {
    result.rows_needed = rows_needed(size, margin, alpha);
  }
  return result;
}

MarginResult judge_by_batches(const DifferenceSize& size, MarginKind kind, std::vector<double> batch_effects,
                              double alpha) {
  if (batch_effects.size() < 2) {
    fail(
        ErrorCode::invalid_option,
        KQD_OPTION("tolerance=auto") " needs at least 2 reference batches, got {}: name them by " KQD_OPTION("against"),
        batch_effects.size());
  }
  const auto count = static_cast<double>(batch_effects.size());
  std::vector<double> sorted = batch_effects;
  std::ranges::sort(sorted);
  MarginResult result{.kind = kind, .rows_needed = {}, .batch_effects = {}, .basis = {}};
  const double rank = std::ceil((count + 1.0) * (1.0 - alpha) - 1e-9);  // of an order statistic, from 1
  if (rank <= count) {
    result.margin = sorted[static_cast<std::size_t>(rank) - 1];
    const auto larger =
        static_cast<double>(std::ranges::count_if(batch_effects, [&](double effect) { return effect >= size.effect; }));
    result.pvalue_beyond = (1.0 + larger) / (count + 1.0);
    result.basis = "exact if the batch is exchangeable with the reference batches: the rank of its effect";
  } else {
    double mean = 0.0;
    double variance = 0.0;
    for (const double effect : sorted) mean += effect / count;
    for (const double effect : sorted) variance += (effect - mean) * (effect - mean) / (count - 1.0);
    const boost::math::students_t distribution(count - 1.0);
    const double spread = std::sqrt(variance * (1.0 + 1.0 / count));
    result.margin = mean + boost::math::quantile(distribution, 1.0 - alpha) * spread;
    result.pvalue_beyond = spread > 0.0
                               ? boost::math::cdf(boost::math::complement(distribution, (size.effect - mean) / spread))
                               : (size.effect > mean ? 0.0 : 1.0);
    result.basis = "prediction limit for normally distributed effects of batches; exact with more of them";
  }
  result.basis += "; \"equivalent\" is asymptotic and takes the margin as known";
  result.margin = std::max(0.0, result.margin);
  // No sample is within a margin of 0.
  result.pvalue_within = result.margin > 0.0 ? 0.0 : 1.0;
  for (const EffectAspect& aspect : size.aspects) {
    result.pvalue_within =
        std::max(result.pvalue_within, squared_below(aspect.moments, aspect.moments.squared, result.margin));
  }
  result.verdict = result.pvalue_beyond <= alpha   ? Verdict::different
                   : result.pvalue_within <= alpha ? Verdict::equivalent
                                                   : Verdict::undecided;
  result.batch_effects = std::move(batch_effects);
  return result;
}

void add_margin(DifferenceSize size, const TwoSampleOptions& options, TwoSampleResult& result) {
  const MarginOptions& margin = options.margin;
  result.margin = margin.from_batches ? judge_by_batches(size, margin.kind, margin.batch_effects, options.test.alpha)
                                      : judge(size, margin.kind, margin.margin, options.test.alpha);
  result.effect_size = size.effect;
  result.effect_interval = size.interval;
  result.difference = std::move(size);
}

void add_margin(const TestPool& pool, const TwoSampleOptions& options, std::span<const std::uint64_t> group_keys,
                const RunControl* control, TwoSampleResult& result) {
  const std::string option = options.margin.kind == MarginKind::equivalent ? "equivalent" : "tolerance";
  const std::string given = options.margin.from_batches ? "auto" : fmt::format("{:g}", options.margin.margin);
  if (options.test.design.kind != DesignKind::independent) {
    fail_option(
        option, given,
        fmt::format("none with a {} design, expected independent rows or groups", to_string(options.test.design.kind)));
  }
  if (is_of_objects(options.statistic.kernel)) {
    fail_option(option, given, "none for objects, because the size of a difference is that of columns");
  }
  if (std::min(pool.x.size(), pool.y.size()) < kFewestRowsOfSize) {
    fail(ErrorCode::empty_sample, "the size of a difference needs at least {} rows per sample, got {} and {}",
         kFewestRowsOfSize, pool.x.size(), pool.y.size());
  }
  const DifferenceSizeOptions size{.confidence = options.test.confidence,
                                   .seed = options.statistic.seed,
                                   .threads = options.statistic.threads,
                                   .assignment = options.groups.assignment,
                                   .group_keys = group_keys};
  const RowGroups groups = make_row_groups(pool.order, pool.x.size(), size.seed, size.assignment, group_keys);
  add_margin(size_of_groups(pool, groups, size, control), options, result);
}

}  // namespace kqd
