#include "kqd/testing/pvalue.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/fail.hpp"
#include "testing/binomial.hpp"

namespace kqd {
namespace {

// Bisects between `inside`, where the condition holds, and `outside`, where it does not. Returns the number next to the
// boundary that is outside, so that an interval that ends there is never too short.
template <class Condition>
double bisect_outwards(double inside, double outside, const Condition& holds) {
  while (true) {
    const double middle = std::midpoint(inside, outside);
    if (middle == inside || middle == outside) return outside;
    (holds(middle) ? inside : outside) = middle;
  }
}

std::vector<std::size_t> ascending(std::span<const double> pvalues) {
  std::vector<std::size_t> order(pvalues.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return pvalues[i]; });
  return order;
}

}  // namespace

double permutation_pvalue(Exceedances draws) {
  return (1.0 + static_cast<double>(draws.num_exceed)) / (1.0 + static_cast<double>(draws.num_draws));
}

double randomised_pvalue(Exceedances draws, std::uint64_t num_tied, double u) {
  const auto num_greater = static_cast<double>(draws.num_exceed - num_tied);
  return (num_greater + u * (1.0 + static_cast<double>(num_tied))) / (1.0 + static_cast<double>(draws.num_draws));
}

Interval clopper_pearson(Exceedances draws, double confidence) {
  KQD_ASSERT(draws.num_draws > 0 && draws.num_exceed <= draws.num_draws);
  const auto exceed = static_cast<double>(draws.num_exceed);
  const auto others = static_cast<double>(draws.num_draws - draws.num_exceed);
  const double miss = (1.0 - confidence) / 2.0;
  return {exceed == 0.0 ? 0.0 : beta_quantile(miss, exceed, others + 1.0),
          others == 0.0 ? 1.0 : beta_quantile(1.0 - miss, exceed + 1.0, others)};
}

// Given the data, exceedances are independent with the same unknown probability q. The likelihood averaged over a
// uniform prior, divided by the likelihood at q, is a martingale with mean 1:
//   M_t(q) = int r^L (1-r)^(t-L) dr / (q^L (1-q)^(t-L)) = 1 / ((t+1) C(t,L) q^L (1-q)^(t-L)).
// By Ville's inequality it ever reaches 1/g with probability at most g, so all q with
//   (t+1) C(t,L) q^L (1-q)^(t-L) >= g,   g = 1 - confidence,
// form a set that covers the true q at all times together with probability 1 - g [Rob70]. The left side has its only
// maximum at L/t, where it is at least 1 (the wealth of a binomial bet [FR24]): the set is an interval around L/t.
Interval anytime_interval(Exceedances draws, double confidence) {
  KQD_ASSERT(draws.num_draws > 0 && draws.num_exceed <= draws.num_draws);
  const auto exceed = static_cast<double>(draws.num_exceed);
  const auto others = static_cast<double>(draws.num_draws - draws.num_exceed);
  const double log_constant = std::log1p(static_cast<double>(draws.num_draws)) +
                              log_binomial_coefficient(draws.num_draws, draws.num_exceed) - std::log1p(-confidence);
  const auto plausible = [&](double q) { return log_constant + exceed * std::log(q) + others * std::log1p(-q) >= 0.0; };
  const double peak = exceed / (exceed + others);
  return {exceed == 0.0 ? 0.0 : bisect_outwards(peak, 0.0, plausible),
          others == 0.0 ? 1.0 : bisect_outwards(peak, 1.0, plausible)};
}

std::vector<double> benjamini_hochberg_adjusted(std::span<const double> pvalues) {
  const std::vector<std::size_t> order = ascending(pvalues);
  std::vector<double> adjusted(pvalues.size());
  double smallest = 1.0;  // a test is rejected if one with a larger p-value is
  for (std::size_t rank = order.size(); rank-- > 0;) {
    const double share = static_cast<double>(order.size()) / static_cast<double>(rank + 1);
    smallest = std::min(smallest, share * pvalues[order[rank]]);
    adjusted[order[rank]] = smallest;
  }
  return adjusted;
}

std::vector<double> holm_adjusted(std::span<const double> pvalues) {
  const std::vector<std::size_t> order = ascending(pvalues);
  std::vector<double> adjusted(pvalues.size());
  double largest = 0.0;  // a test is rejected only if all with smaller p-values are
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const auto num_left = static_cast<double>(order.size() - rank);
    largest = std::max(largest, std::min(1.0, num_left * pvalues[order[rank]]));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

}  // namespace kqd
