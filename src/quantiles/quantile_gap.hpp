#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kqd/quantiles/level_weights.hpp"

namespace kqd {

/// The order of a discrepancy: p >= 1, infinity included.
struct Power {
  double value = 1.0;
};

/// The quantile function of one direction: ascending values and, for a weighted sample, the cumulative weight up to and
/// including each of them (last one exactly 1); no cumulative weights means steps of 1/n.
struct QuantileFunction {
  std::span<const double> values;
  std::span<const double> cumulative = {};

  /// The smallest value with cumulative weight >= level; the minimum at level 0.
  [[nodiscard]] double at(double level) const;
};

/// Throws Error{invalid_option} where levels are asked for that samples with row weights do not have.
void require_levels_known(bool point_evaluated_levels, bool weighted);

/// How the levels of samples of nx and ny equally weighted points interleave, with the mass that nu gives each piece:
/// made once for a pair of samples, used for every direction.
///
/// The breakpoints i/nx and j/ny are compared as integers, so coinciding ones are found exactly.
class LevelGrid {
 public:
  LevelGrid(std::size_t nx, std::size_t ny, const LevelWeights& weights, bool point_evaluated = false);

  [[nodiscard]] std::size_t nx() const { return nx_; }
  [[nodiscard]] std::size_t ny() const { return ny_; }
  /// Equal sizes: piece j pairs x_(j) with y_(j).
  [[nodiscard]] bool aligned() const { return nx_ == ny_; }
  /// Mass per piece; empty when every piece has mass 1/num_pieces.
  [[nodiscard]] std::span<const double> masses() const { return masses_; }
  /// The values that advance after each piece: bit 0 the x value, bit 1 the y value. Empty when aligned.
  [[nodiscard]] std::span<const std::uint8_t> steps() const { return steps_; }
  [[nodiscard]] std::size_t num_pieces() const { return num_pieces_; }

 private:
  std::size_t nx_;
  std::size_t ny_;
  std::size_t num_pieces_ = 0;
  std::vector<double> masses_;
  std::vector<std::uint8_t> steps_;
};

/// The function of a gap between quantiles that is summed. The centered form replaces |D| by sqrt(max(0, D^2 + shift))
/// with shift = MMD^2 - <u, mu_P - mu_Q>^2 [KQE Prop. 2].
struct GapForm {
  bool centered = false;
  double shift = 0.0;
};

/// tau_p = (integral |q_x - q_y|^p d nu)^(1/p) between equally weighted samples, exactly on the merged grid
/// [KQE sec. 3.2].
[[nodiscard]] double quantile_gap(std::span<const double> x_sorted, std::span<const double> y_sorted,
                                  const LevelGrid& grid, Power power, GapForm form = {});

/// The same for quantile functions of which at least one is weighted; breakpoints are the cumulative weights.
[[nodiscard]] double quantile_gap(const QuantileFunction& x, const QuantileFunction& y, const LevelWeights& weights,
                                  Power power, GapForm form = {});

/// tau and how it follows the shift of a centered form.
struct GapValue {
  double tau = 0.0;
  double shift_slope = 0.0;  ///< d tau / d shift; 0 for the plain form
};

/// How tau_p follows its arguments: x_slopes[i] = d tau / d x_i, y_slopes[j] = d tau / d y_j; returns tau.
///
/// The values are paired by the grid in the order given: ascending they are quantiles; in another order they are values
/// under a coupling found elsewhere. Where tau has no derivative (equal values, p = 1 at a gap of 0, p = infinity) one
/// element of its subdifferential is taken; all slopes are 0 where tau is.
GapValue gap_slopes(std::span<const double> x, std::span<const double> y, const LevelGrid& grid, Power power,
                    std::span<double> x_slopes, std::span<double> y_slopes, GapForm form = {});

/// The same on the levels of quantile functions of which at least one is weighted.
GapValue gap_slopes(const QuantileFunction& x, const QuantileFunction& y, const LevelWeights& weights, Power power,
                    std::span<double> x_slopes, std::span<double> y_slopes, GapForm form = {});

}  // namespace kqd
