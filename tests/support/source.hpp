#pragma once
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "kqd/core/matrix.hpp"
#include "kqd/core/sample.hpp"
#include "kqd/core/types.hpp"

namespace kqd::test {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Random numbers for tests that share no code with the library: mt19937_64, whose output the standard fixes, with our
/// own transforms, because those of <random> differ between standard libraries.
class Source {
 public:
  explicit Source(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t bits() { return engine_(); }
  /// In (0, 1).
  double uniform() { return (static_cast<double>(engine_() >> 11U) + 0.5) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(engine_() % bound); }
  /// Standard normal (Box and Muller).
  double normal() { return std::sqrt(-2.0 * std::log(uniform())) * std::cos(2.0 * std::numbers::pi * uniform()); }
  /// Laplace with density exp(-|x|)/2.
  double laplace() {
    const double u = uniform() - 0.5;
    return u < 0.0 ? std::log(1.0 + 2.0 * u) : -std::log(1.0 - 2.0 * u);
  }

 private:
  std::mt19937_64 engine_;
};

struct Shape {
  std::size_t rows = 0;
  std::size_t cols = 1;
};

/// Independent entries location + scale N(0, 1).
inline Matrix<double> normal_matrix(Shape shape, Source& source, double location = 0.0, double scale = 1.0) {
  Matrix<double> matrix(shape.rows, shape.cols);
  for (double& value : matrix.values()) value = location + scale * source.normal();
  return matrix;
}

inline Sample normal_sample(Shape shape, Source& source, double location = 0.0, double scale = 1.0) {
  return {normal_matrix(shape, source, location, scale), {}, {}};
}

/// Normal values, or integers among which many are equal; with weights or without.
inline Sample varied_sample(Shape shape, Source& source, bool ties, bool weighted) {
  Sample sample = normal_sample(shape, source);
  for (double& v : sample.points.values()) v = ties ? std::floor(2.0 * v) : v;
  if (weighted) {
    for (std::size_t i = 0; i < shape.rows; ++i) sample.weights.push_back(source.uniform(0.2, 2.0));
  }
  return sample;
}

/// A sample of numbers: one column.
inline Sample column(const std::vector<double>& values) {
  Sample sample{Matrix<double>(values.size(), 1), {}, {}};
  std::copy(values.begin(), values.end(), sample.points.data());
  return sample;
}

/// `order[i]` becomes row i.
inline Sample rows_in_order(const Sample& sample, const std::vector<std::size_t>& order) {
  Sample result{Matrix<double>(order.size(), sample.points.cols()), {}, sample.column_names};
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::ranges::copy(sample.points.row(order[i]), result.points.row(i).begin());
    if (!sample.weights.empty()) result.weights.push_back(sample.weights[order[i]]);
  }
  return result;
}

inline std::vector<std::size_t> shuffled(std::size_t n, Source& source) {
  std::vector<std::size_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = i;
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[source.below(i)]);
  return order;
}

/// Seeds to repeat a test over: `count` of them, or as many as KQD_TEST_SEEDS asks for (a few at the desk, many at
/// night).
inline std::vector<std::uint64_t> seeds(std::size_t count) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  if (const char* wanted = std::getenv("KQD_TEST_SEEDS")) count = std::strtoul(wanted, nullptr, 10);
  std::vector<std::uint64_t> list(count);
  for (std::size_t i = 0; i < count; ++i) list[i] = 1000 + i;
  return list;
}

}  // namespace kqd::test
