#include "kqd/quantiles/level_weights.hpp"

#include <algorithm>
#include <array>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>

#include "core/names.hpp"
#include "core/summation.hpp"

namespace kqd {
namespace {

constexpr std::array<Name<LevelShape>, 8> kShapes = {{
    {LevelShape::uniform, "uniform"},
    {LevelShape::triangle, "triangle"},
    {LevelShape::reverse_triangle, "reverse-triangle"},
    {LevelShape::slope_up, "slope-up"},
    {LevelShape::slope_down, "slope-down"},
    {LevelShape::interval, "interval"},
    {LevelShape::beta, "beta"},
    {LevelShape::atom, "atom"},
}};

bool is_sloped(LevelShape shape) {
  return shape == LevelShape::triangle || shape == LevelShape::reverse_triangle || shape == LevelShape::slope_up ||
         shape == LevelShape::slope_down;
}

// `text` is the weighting as a user writes it.
void require(bool holds, std::string_view text, std::string_view expected) {
  require_option(holds, "weighting", text, expected);
}

}  // namespace

LevelWeights LevelWeights::sloped(LevelShape shape, double ratio) {
  const std::string text = fmt::format("{}:{}", name_of(kShapes, shape), ratio);
  require(is_sloped(shape), text, "a shape that takes a ratio");
  require(ratio >= 0.0 && ratio <= 1.0, text, "a ratio in [0, 1]");
  LevelWeights weights;
  weights.shape_ = shape;
  weights.first_ = ratio;
  return weights;
}

LevelWeights LevelWeights::interval(double low, double high) {
  require(low >= 0.0 && low < high && high <= 1.0, fmt::format("interval:{}:{}", low, high), "0 <= low < high <= 1");
  LevelWeights weights;
  weights.shape_ = LevelShape::interval;
  weights.first_ = low;
  weights.second_ = high;
  return weights;
}

LevelWeights LevelWeights::beta(double a, double b) {
  const bool positive = a > 0.0 && std::isfinite(a) && b > 0.0 && std::isfinite(b);
  require(positive, fmt::format("beta:{}:{}", a, b), "a > 0 and b > 0");
  LevelWeights weights;
  weights.shape_ = LevelShape::beta;
  weights.first_ = a;
  weights.second_ = b;
  return weights;
}

LevelWeights LevelWeights::atom(double level) {
  require(level >= 0.0 && level <= 1.0, fmt::format("atom:{}", level), "a level in [0, 1]");
  LevelWeights weights;
  weights.shape_ = LevelShape::atom;
  weights.first_ = level;
  return weights;
}

double LevelWeights::cdf(double t) const {
  if (t <= 0.0) return 0.0;
  if (t >= 1.0) return 1.0;
  const double r = first_;
  switch (shape_) {
    case LevelShape::uniform:
      return t;
    case LevelShape::slope_up:
      return (2.0 * r * t + (1.0 - r) * t * t) / (1.0 + r);
    case LevelShape::slope_down:
      return (2.0 * t - (1.0 - r) * t * t) / (1.0 + r);
    case LevelShape::triangle:
      if (t > 0.5) return 1.0 - cdf(1.0 - t);
      return 2.0 * (r * t + (1.0 - r) * t * t) / (1.0 + r);
    case LevelShape::reverse_triangle:
      if (t > 0.5) return 1.0 - cdf(1.0 - t);
      return 2.0 * (t - (1.0 - r) * t * t) / (1.0 + r);
    case LevelShape::interval:
      return std::clamp((t - first_) / (second_ - first_), 0.0, 1.0);
    case LevelShape::beta:
      return boost::math::ibeta(first_, second_, t);
    case LevelShape::atom:
      return t >= first_ ? 1.0 : 0.0;
  }
  return 0.0;
}

double LevelWeights::density(double t) const {
  const double r = first_;
  switch (shape_) {
    case LevelShape::uniform:
      return 1.0;
    case LevelShape::slope_up:
      return 2.0 * (r + (1.0 - r) * t) / (1.0 + r);
    case LevelShape::slope_down:
      return 2.0 * (1.0 - (1.0 - r) * t) / (1.0 + r);
    case LevelShape::triangle:
      return 2.0 * (r + 2.0 * (1.0 - r) * std::min(t, 1.0 - t)) / (1.0 + r);
    case LevelShape::reverse_triangle:
      return 2.0 * (1.0 - 2.0 * (1.0 - r) * std::min(t, 1.0 - t)) / (1.0 + r);
    case LevelShape::interval:
      return t >= first_ && t <= second_ ? 1.0 / (second_ - first_) : 0.0;
    case LevelShape::beta:
      if ((t <= 0.0 && first_ < 1.0) || (t >= 1.0 && second_ < 1.0)) {
        fail_option("weighting", to_string(*this),
                    fmt::format("a finite density at level {} for point-evaluated levels", t));
      }
      return boost::math::ibeta_derivative(first_, second_, t);
    case LevelShape::atom:
      break;
  }
  fail_option("weighting", to_string(*this), "a density for point-evaluated levels, which an atom does not have");
}

LevelWeights parse_level_weights(std::string_view text) {
  const auto fields = split(text, ':');
  const LevelShape shape = value_of(kShapes, trim(fields[0]), "weighting");
  std::vector<double> numbers;
  for (std::size_t i = 1; i < fields.size(); ++i) {
    const auto value = parse_number(trim(fields[i]));
    if (!value) fail_option("weighting", text, fmt::format("a number in place of \"{}\"", no_references(fields[i])));
    numbers.push_back(*value);
  }
  const auto expect = [&](std::size_t least, std::size_t most, std::string_view form) {
    require(numbers.size() >= least && numbers.size() <= most, text, form);
  };
  switch (shape) {
    case LevelShape::uniform:
      expect(0, 0, "uniform");
      return {};
    case LevelShape::interval:
      expect(2, 2, "interval:low:high");
      return LevelWeights::interval(numbers[0], numbers[1]);
    case LevelShape::beta:
      expect(2, 2, "beta:a:b");
      return LevelWeights::beta(numbers[0], numbers[1]);
    case LevelShape::atom:
      expect(1, 1, "atom:level");
      return LevelWeights::atom(numbers[0]);
    default:
      expect(0, 1, fmt::format("{}[:ratio]", name_of(kShapes, shape)));
      return LevelWeights::sloped(shape, numbers.empty() ? 0.0 : numbers[0]);
  }
}

std::string to_string(const LevelWeights& weights) {
  const std::string_view name = name_of(kShapes, weights.shape_);
  if (weights.is_uniform()) return std::string(name);
  if (is_sloped(weights.shape_) || weights.shape_ == LevelShape::atom)
    return fmt::format("{}:{}", name, weights.first_);
  return fmt::format("{}:{}:{}", name, weights.first_, weights.second_);
}

std::vector<double> level_masses(const LevelWeights& weights, std::size_t n) {
  std::vector<double> masses(n);
  double below = 0.0;
  for (std::size_t j = 0; j < n; ++j) {
    const double up_to = j + 1 == n ? 1.0 : weights.cdf(static_cast<double>(j + 1) / static_cast<double>(n));
    masses[j] = up_to - below;
    below = up_to;
  }
  return masses;
}

std::vector<double> point_evaluated_masses(const LevelWeights& weights, std::size_t n) {
  if (n == 1) return {1.0};
  std::vector<double> masses(n);
  for (std::size_t j = 0; j < n; ++j) masses[j] = weights.density(static_cast<double>(j) / static_cast<double>(n - 1));
  const double total = sum(masses);
  // Two points of a triangle of ratio 0 both fall where its density is 0: the authors' code then weighs them equally.
  if (!(total > 0.0)) return std::vector<double>(n, 1.0 / static_cast<double>(n));
  for (double& mass : masses) mass /= total;
  return masses;
}

}  // namespace kqd
