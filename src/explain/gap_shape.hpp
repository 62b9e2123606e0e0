#pragma once
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "kqd/core/labels.hpp"
#include "kqd/explain/explain.hpp"
#include "simd/sorted_pool.hpp"

namespace kqd {

/// The pooled rows along one direction, sorted, with their observed labels.
struct LabelledLine {
  simd::SortedPool pool;            ///< values in units of `unit`, from `origin`
  double origin = 0.0;              ///< the projection of a row of value 0
  double unit = 1.0;                ///< length of a step of 1
  std::span<const double> weights;  ///< per position, empty: equal
  std::span<const double> levels;   ///< pooled levels between neighbours
  const LabelBatch& observed;       ///< the observed labels are its first permutation
  double null_factor = 0.0;         ///< null_gap_factor() of them
};

/// sqrt(F (1 - F)) times this factor is the mean of |F_x - F_y| over permutations, if F_x - F_y is normal with the
/// variance that permutation gives it.
[[nodiscard]] double null_gap_factor(const LabelBatch& observed, std::span<const double> weights);

/// Where two samples differ, by the parts of the area between their distribution functions that belong to the lowest
/// quarter, the middle half and the highest quarter of the pooled levels, and the means of these under the null
/// hypothesis.
[[nodiscard]] Where where_of_zones(const std::array<double, 3>& observed, const std::array<double, 3>& expected);

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
