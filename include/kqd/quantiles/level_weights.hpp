#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// The shapes of the measure nu over quantile levels.
enum class LevelShape {
  uniform,
  slope_up,          ///< density rises from `ratio` to 1 (before scaling)
  slope_down,        ///< density falls from 1 to `ratio`
  triangle,          ///< highest at the median
  reverse_triangle,  ///< highest at both ends
  interval,          ///< uniform on [low, high]: compares part of the range, so no metric
  beta,              ///< the Beta(a, b) density
  atom,              ///< all mass at one level: compares one quantile
  table,             ///< a density that is linear between given levels
  mixture,           ///< a weighted sum of the others
};

class LevelWeights;

/// A part of a mixture.
struct WeightedLevels;

/// A level and the density there, up to a common factor.
struct LevelDensity {
  double level = 0.0;
  double density = 0.0;
};

/// The measure nu over quantile levels ("nu" in [KQE]), as exact masses of intervals.
class LevelWeights {
 public:
  LevelWeights() = default;  ///< uniform

  /// `ratio` = lowest : highest density, in [0, 1]; 1 makes every one of the four shapes uniform.
  static LevelWeights sloped(LevelShape shape, double ratio);
  static LevelWeights interval(double low, double high);  ///< 0 <= low < high <= 1
  static LevelWeights beta(double a, double b);           ///< a, b > 0
  static LevelWeights atom(double level);                 ///< 0 <= level <= 1
  /// A density that is linear between the given levels and scaled to mass 1: levels ascend from 0 to 1, densities are
  /// >= 0 and not all 0. Masses of intervals are exact to rounding.
  static LevelWeights table(std::span<const LevelDensity> densities);
  /// Weights >= 0 that are scaled to sum 1, of at least one part.
  static LevelWeights mixture(std::span<const WeightedLevels> parts);

  [[nodiscard]] LevelShape shape() const { return shape_; }
  [[nodiscard]] bool is_uniform() const { return shape_ == LevelShape::uniform; }

  /// nu of (0, t], for t in [0, 1]: 0 at 0 and 1 at 1. An atom at 0 counts as just above 0.
  [[nodiscard]] double cdf(double t) const;
  /// The density at t. Throws Error{invalid_option} where there is none: for an atom, and at an end where a beta
  /// density is infinite.
  [[nodiscard]] double density(double t) const;
  /// True when every interval of levels has mass: needed for a metric.
  [[nodiscard]] bool full_support() const;
  /// A short text for people: to_string(), or "101-level table".
  [[nodiscard]] std::string summary() const;

 private:
  struct Table;
  LevelShape shape_ = LevelShape::uniform;
  double first_ = 1.0;   // ratio, low, a or level
  double second_ = 1.0;  // high or b
  std::shared_ptr<const Table> table_;
  std::shared_ptr<const std::vector<WeightedLevels>> parts_;
  friend std::string to_string(const LevelWeights& weights);
};

struct WeightedLevels {
  double weight = 1.0;
  LevelWeights levels = {};
};

/// Reads "uniform", "triangle[:ratio]", "reverse-triangle[:ratio]", "slope-up[:ratio]", "slope-down[:ratio]" (ratio 0
/// when left out), "interval:low:high", "beta:a:b", "atom:level", "table:level:density:level:density..." and mixtures
/// of these such as "0.7 uniform+0.3 atom:0.5". Throws Error{invalid_option}.
[[nodiscard]] LevelWeights parse_level_weights(std::string_view text);

/// The text that parse_level_weights reads back.
[[nodiscard]] std::string to_string(const LevelWeights& weights);

/// Masses of the n equal level bins ((j-1)/n, j/n]: w_j = F(j/n) - F((j-1)/n).
[[nodiscard]] std::vector<double> level_masses(const LevelWeights& weights, std::size_t n);

/// The weights of the authors' code: the density at (j-1)/(n-1), scaled to sum 1; 1 for n = 1.
[[nodiscard]] std::vector<double> point_evaluated_masses(const LevelWeights& weights, std::size_t n);

}  // namespace kqd
