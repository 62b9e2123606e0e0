#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kqd/core/labels.hpp"
#include "kqd/explain/explain.hpp"
#include "simd/sorted_pool.hpp"

namespace kqd {

/// The pooled rows along one direction, sorted, with what tells the samples apart.
struct LabelledLine {
  simd::SortedPool pool;            ///< values in units of `unit`
  double unit = 1.0;                ///< what a value of 1 stands for
  std::span<const double> weights;  ///< per position, empty: equal
  const LabelBatch& observed;       ///< the observed labelling is its first one
};

/// How two samples differ along one direction.
struct GapShape {
  double wasserstein = 0.0;  ///< of order 1
  double scale = 0.0;        ///< pooled standard deviation
  double shift = 0.0;        ///< median of Y less median of X
  double mean_shift = 0.0;   ///< mean of Y less mean of X
  Where where = Where::nowhere;
  QuantileProfile profile;
};

[[nodiscard]] GapShape gap_shape(const LabelledLine& line);

/// The share of the pooled weight up to and including each of the sorted rows but the last.
[[nodiscard]] std::vector<double> pooled_levels(std::span<const std::uint32_t> order, std::span<const double> weights);

}  // namespace kqd
