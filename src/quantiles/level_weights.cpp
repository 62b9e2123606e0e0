#include "kqd/quantiles/level_weights.hpp"

#include <algorithm>
#include <array>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>

#include "core/names.hpp"
#include "core/summation.hpp"

namespace kqd {
namespace {

constexpr std::array<Name<LevelShape>, 9> kShapes = {{
    {LevelShape::uniform, "uniform"},
    {LevelShape::triangle, "triangle"},
    {LevelShape::reverse_triangle, "reverse-triangle"},
    {LevelShape::slope_up, "slope-up"},
    {LevelShape::slope_down, "slope-down"},
    {LevelShape::interval, "interval"},
    {LevelShape::beta, "beta"},
    {LevelShape::atom, "atom"},
    {LevelShape::table, "table"},
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

// Levels, densities of mass 1, and the mass up to each level.
struct LevelWeights::Table {
  std::vector<double> levels;
  std::vector<double> densities;
  std::vector<double> masses;

  // The interval of levels that t, in (0, 1), is in.
  [[nodiscard]] std::size_t interval_of(double t) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(levels, t) - levels.begin()) - 1;
  }
  [[nodiscard]] double density(double t) const {
    const std::size_t k = std::min(interval_of(t), levels.size() - 2);
    const double share = (t - levels[k]) / (levels[k + 1] - levels[k]);
    return densities[k] + share * (densities[k + 1] - densities[k]);
  }
  [[nodiscard]] double cdf(double t) const {
    const std::size_t k = interval_of(t);
    const double mass = masses[k] + (t - levels[k]) * 0.5 * (densities[k] + density(t));
    return std::clamp(mass, masses[k], masses[k + 1]);
  }
};

LevelWeights LevelWeights::table(std::span<const LevelDensity> densities) {
  const auto refuse = [&](std::string_view text, std::string_view expected) {
    fail_option("weighting", text, std::string(expected));
  };
  if (densities.size() < 2) refuse(fmt::format("table of {} levels", densities.size()), "at least two levels");
  auto table = std::make_shared<Table>();
  double mass = 0.0;
  for (std::size_t k = 0; k < densities.size(); ++k) {
    const auto [level, density] = densities[k];
    if (!(density >= 0.0) || !std::isfinite(density)) {
      refuse(fmt::format("table with density {} at level {}", density, level), "finite densities >= 0");
    }
    if (k > 0 && !(level > densities[k - 1].level)) {
      refuse(fmt::format("table with level {} after {}", level, densities[k - 1].level), "ascending levels");
    }
    table->levels.push_back(level);
    table->densities.push_back(density);
    if (k > 0) mass += 0.5 * (level - densities[k - 1].level) * (density + densities[k - 1].density);
    table->masses.push_back(mass);
  }
  if (table->levels.front() != 0.0 || table->levels.back() != 1.0) {
    refuse(fmt::format("table of levels from {} to {}", table->levels.front(), table->levels.back()),
           "levels from 0 to 1");
  }
  if (!(mass > 0.0) || !std::isfinite(mass)) refuse("table of mass 0", "a density that is above 0 somewhere");
  for (double& density : table->densities) density /= mass;
  for (double& up_to : table->masses) up_to = std::min(1.0, up_to / mass);
  table->masses.back() = 1.0;
  LevelWeights weights;
  weights.shape_ = LevelShape::table;
  weights.table_ = std::move(table);
  return weights;
}

LevelWeights LevelWeights::mixture(std::span<const WeightedLevels> parts) {
  double total = 0.0;
  for (const auto& part : parts) {
    const bool in_range = part.weight >= 0.0 && std::isfinite(part.weight);
    require(in_range, fmt::format("{} {}", part.weight, to_string(part.levels)), "a weight >= 0");
    total += part.weight;
  }
  require(total > 0.0, "mixture of weight 0", "weights that are not all 0");
  std::vector<WeightedLevels> scaled(parts.begin(), parts.end());
  for (auto& part : scaled) part.weight /= total;
  LevelWeights weights;
  weights.shape_ = LevelShape::mixture;
  weights.parts_ = std::make_shared<const std::vector<WeightedLevels>>(std::move(scaled));
  return weights;
}

bool LevelWeights::full_support() const {
  switch (shape_) {
    case LevelShape::interval:
    case LevelShape::atom:
      return false;
    case LevelShape::table: {
      const auto& densities = table_->densities;
      const auto empty = std::ranges::adjacent_find(densities, [](double a, double b) { return a + b == 0.0; });
      return empty == densities.end();
    }
    case LevelShape::mixture:
      return std::ranges::any_of(
          *parts_, [](const WeightedLevels& part) { return part.weight > 0.0 && part.levels.full_support(); });
    default:
      return true;
  }
}

std::string LevelWeights::summary() const {
  constexpr std::size_t kLongest = 60;
  if (shape_ == LevelShape::table) return fmt::format("{}-level table", table_->levels.size());
  const std::string text = to_string(*this);
  if (text.size() <= kLongest || shape_ != LevelShape::mixture) return text;
  return fmt::format("{}-part mixture", parts_->size());
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
    case LevelShape::table:
      return table_->cdf(t);
    case LevelShape::mixture: {
      double total = 0.0;
      for (const WeightedLevels& part : *parts_) total += part.weight * part.levels.cdf(t);
      return std::min(1.0, total);
    }
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
    case LevelShape::table:
      return table_->density(t);
    case LevelShape::mixture: {
      double total = 0.0;
      for (const WeightedLevels& part : *parts_) total += part.weight * part.levels.density(t);
      return total;
    }
    case LevelShape::atom:
      break;
  }
  fail_option("weighting", to_string(*this), "a density for point-evaluated levels, which an atom does not have");
}

namespace {

LevelWeights parse_table(std::string_view text, std::span<const double> numbers) {
  require(numbers.size() % 2 == 0, text, "table:level:density:level:density...");
  std::vector<LevelDensity> densities;
  for (std::size_t k = 0; k < numbers.size(); k += 2) densities.push_back({numbers[k], numbers[k + 1]});
  return LevelWeights::table(densities);
}

LevelWeights parse_measure(std::string_view text) {
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
    case LevelShape::table:
      return parse_table(text, numbers);
    default:
      expect(0, 1, fmt::format("{}[:ratio]", name_of(kShapes, shape)));
      return LevelWeights::sloped(shape, numbers.empty() ? 0.0 : numbers[0]);
  }
}

// "0.3 atom:0.5": a weight, 1 when left out, and a measure.
WeightedLevels parse_part(std::string_view text) {
  const std::string_view part = trim(text);
  const std::string_view first = part.substr(0, part.find(' '));
  const auto weight = first.size() < part.size() ? parse_number(first) : std::nullopt;
  if (!weight) return {1.0, parse_measure(part)};
  return {*weight, parse_measure(trim(part.substr(first.size())))};
}

}  // namespace

LevelWeights parse_level_weights(std::string_view text) {
  const auto texts = split_terms(trim(text), '+');
  std::vector<WeightedLevels> parts;
  for (const std::string_view part : texts) parts.push_back(parse_part(part));
  LevelWeights mixed = LevelWeights::mixture(parts);  // checks the weights
  return parts.size() == 1 ? parts.front().levels : mixed;
}

std::string to_string(const LevelWeights& weights) {
  if (weights.shape_ == LevelShape::mixture) {
    std::string text;
    for (const WeightedLevels& part : *weights.parts_) {
      text += fmt::format("{}{} {}", text.empty() ? "" : "+", part.weight, to_string(part.levels));
    }
    return text;
  }
  if (weights.shape_ == LevelShape::table) {
    std::string text = "table";
    for (std::size_t k = 0; k < weights.table_->levels.size(); ++k) {
      text += fmt::format(":{}:{}", weights.table_->levels[k], weights.table_->densities[k]);
    }
    return text;
  }
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
    masses[j] = std::max(0.0, up_to - below);
    below = std::max(below, up_to);
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
