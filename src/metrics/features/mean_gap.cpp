#include "metrics/features/mean_gap.hpp"
#include "core/vectors.hpp"

#include <cmath>
#include <limits>

namespace kqd {
namespace {

double squared_gap(const GroupSums& x, const GroupSums& y) {
  double total = 0.0;
  for (std::size_t k = 0; k < x.features.size(); ++k) {
    const double gap = x.features[k] / x.weight - y.features[k] / y.weight;
    total += gap * gap;
  }
  return total;
}

// The mean of <psi_i, psi_j> over pairs i != j of a group, sum a_i a_j <.,.> / (1 - sum a_i^2). With
// unequal weights the estimate depends on the point c from which features are measured; the last term corrects for
// <., c>.
double mean_over_pairs(const GroupSums& group, const PooledFeatures& pooled) {
  const double squared_weight = group.weight * group.weight;
  const double shares = group.squared_shares();
  if (shares >= 1.0) return 0.0;  // one row has no pairs
  double pairs = (dot(group.features, group.features) - group.own) / squared_weight;
  if (pooled.weighted()) {
    pairs += 2.0 * (shares * dot(group.features, pooled.centre()) / group.weight - group.trace / squared_weight);
  }
  return pairs / (1.0 - shares);
}

}  // namespace

double MeanGap::value(const GroupSums& x, const GroupSums& y, const PooledFeatures& pooled) const {
  switch (form_) {
    case MeanGapForm::root:
      return std::sqrt(squared_gap(x, y));
    case MeanGapForm::mean_square:
      return squared_gap(x, y) / static_cast<double>(x.features.size());
    case MeanGapForm::unbiased:
      break;
  }
  const double across = dot(x.features, y.features) / (x.weight * y.weight);
  return (mean_over_pairs(x, pooled) - across) + (mean_over_pairs(y, pooled) - across);
}

double gap_error(double rounding, const PooledFeatures& pooled) {
  // The mean of |psi| over a group that has the share 1/q of the weight is at most sqrt(q variance) by Cauchy-Schwarz;
  // the sum of Y inherits the error of the sum of X and divides it by its own weight, another factor q at most.
  return 2.0 * rounding * imbalance(pooled) * std::sqrt(pooled.variance());
}

double MeanGap::slack(double value, double rounding, const PooledFeatures& pooled) const {
  const double eps = std::numeric_limits<double>::epsilon();
  const double error = gap_error(rounding, pooled);
  const auto features = static_cast<double>(pooled.num_features());
  const double of_the_norm = (features + 8.0) * eps;  // |gap| is a root of so many squares
  switch (form_) {
    case MeanGapForm::root:  // a norm changes by no more than its vector
      return error + of_the_norm * value;
    case MeanGapForm::mean_square:
      return (2.0 * std::sqrt(value * features) * error + error * error) / features + of_the_norm * value;
    case MeanGapForm::unbiased:
      break;
  }
  // Products of two means of size sqrt(q variance), and sums of |psi|^2 over a group, four of each.
  const double magnitude = imbalance(pooled) * pooled.variance();
  const double centre = pooled.weighted() ? std::sqrt(dot(pooled.centre(), pooled.centre()) * magnitude) : 0.0;
  return 8.0 * (rounding * imbalance(pooled) + of_the_norm) * (magnitude + centre) + 8.0 * eps * std::abs(value);
}

double MeanGap::pooled_scale(const PooledFeatures& pooled) const {
  switch (form_) {
    case MeanGapForm::root:
      return std::sqrt(pooled.variance());
    case MeanGapForm::mean_square:
      return pooled.variance() / static_cast<double>(pooled.num_features());
    case MeanGapForm::unbiased:
      break;
  }
  return pooled.variance();
}

}  // namespace kqd
