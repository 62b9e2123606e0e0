#pragma once
#include <optional>
#include <span>
#include <vector>

#include "kqd/core/labels.hpp"
#include "kqd/explain/explain.hpp"
#include "simd/sorted_pool.hpp"

namespace kqd {

/// The pooled rows along one direction, sorted, with what tells the samples apart.
struct LabelledLine {
  simd::SortedPool pool;            ///< values in units of `unit`, from `origin`
  double origin = 0.0;              ///< what a value of 0 stands for
  double unit = 1.0;                ///< what a step of 1 stands for
  std::span<const double> weights;  ///< per position, empty: equal
  std::span<const double> levels;   ///< pooled levels between neighbours
  const LabelBatch& observed;       ///< the observed permutation is its first one
  double chance = 0.0;              ///< chance_factor() of it
};

/// sqrt(F (1 - F)) times this is |F_x - F_y| on average over permutations: of a normal distribution with the variance
/// that a difference of two distribution functions then has.
[[nodiscard]] double chance_factor(const LabelBatch& observed, std::span<const double> weights);

/// How two samples differ along one direction.
struct GapShape {
  double wasserstein = 0.0;  ///< of order 1
  double scale = 0.0;        ///< pooled standard deviation
  double shift = 0.0;        ///< median of Y less median of X
  double mean_shift = 0.0;   ///< mean of Y less mean of X
  Where where = Where::nowhere;
  std::optional<TwoValueShares> shares;
  QuantileProfile profile;
};

/// The pooled standard deviation, in units of the line.
[[nodiscard]] double pooled_deviation(const LabelledLine& line);

[[nodiscard]] GapShape gap_shape(const LabelledLine& line);

}  // namespace kqd
