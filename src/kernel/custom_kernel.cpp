#include "kernel/custom_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "core/warning.hpp"
#include "kqd/kernel/objects.hpp"

namespace kqd {
namespace {

constexpr std::size_t kPairsAtATime = 32;  // k(x_i, z_i) costs as many values as a block has rows
constexpr std::size_t kTriedPoints = 32;   // enough to meet a kernel that has its arguments the wrong way round
constexpr double kSmallestValue = 1e-100;  // some products of squares of smaller ones are 0
constexpr double kSinglePrecision = 1e-5;  // what two orders of summation in float differ by, and some more

// A point as a person writes it; of many coordinates the first ones.
std::string point_text(std::span<const double> point) {
  constexpr std::size_t kShown = 4;
  const auto shown = point.first(std::min(kShown, point.size()));
  return fmt::format("({:.6g}{})", fmt::join(shown, ", "), point.size() > kShown ? ", ..." : "");
}

}  // namespace

void custom_values(const KernelSpec& kernel, MatrixView<const double> x, MatrixView<const double> z,
                   MatrixView<double> values) {
  (*kernel.function)(x, z, values);
  for (std::size_t i = 0; i < values.rows(); ++i) {
    const auto row = values.row(i);
    const auto bad = std::ranges::find_if(row, [](double value) { return !std::isfinite(value); });
    if (bad == row.end()) continue;
    fail(ErrorCode::non_finite_value, "kernel {} is {} for the points {} and {}, expected a finite number",
         no_references(kernel.name), *bad, point_text(x.row(i)),
         point_text(z.row(static_cast<std::size_t>(bad - row.begin()))));
  }
}

void custom_pairs(const KernelSpec& kernel, MatrixView<const double> x, MatrixView<const double> z,
                  std::span<double> values) {
  for (std::size_t begin = 0; begin < values.size(); begin += kPairsAtATime) {
    const std::size_t count = std::min(kPairsAtATime, values.size() - begin);
    Matrix<double> block(count, count);
    custom_values(kernel, x.row_range(begin, count), z.row_range(begin, count), block);
    for (std::size_t i = 0; i < count; ++i) values[begin + i] = block(i, i);
  }
}

void require_kernel(const KernelSpec& kernel, const Pool& pool, Seed seed, Warnings& warnings) {
  const Matrix<double> points = subsample(pool, kTriedPoints, seed, Purpose::bandwidth_subsample);
  const std::size_t n = points.rows();
  Matrix<double> gram(n, n);
  custom_values(kernel, points, points, gram);
  double largest = 0.0;
  for (const double value : gram.values()) largest = std::max(largest, std::abs(value));
  if (largest > 0.0 && largest < kSmallestValue) {
    warn(warnings, WarningId::tiny_kernel, kernel.name, largest);
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (gram(i, i) < -kSinglePrecision * largest) {
      fail(ErrorCode::invalid_option, "kernel {} is {:.6g} for the point {} with itself, needs >= 0",
           no_references(kernel.name), gram(i, i), point_text(points.row(i)));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (std::abs(gram(i, j) - gram(j, i)) > kSinglePrecision * largest) {
        fail(ErrorCode::invalid_option,
             "kernel {} is not symmetric: {:.6g} for the points {} and {}, {:.6g} the other way round",
             no_references(kernel.name), gram(i, j), point_text(points.row(i)), point_text(points.row(j)), gram(j, i));
      }
      // Cauchy-Schwarz, which a distance or a covariance of something else does not obey.
      const double bound = std::sqrt(std::max(0.0, gram(i, i))) * std::sqrt(std::max(0.0, gram(j, j)));
      if (std::abs(gram(i, j)) > bound + kSinglePrecision * largest) {
        fail(ErrorCode::invalid_option,
             "kernel {} is {:.6g} for the points {} and {}, needs at most {:.6g} in size, the root of k(a, a) k(b, b); "
             "a distance D is not a kernel, but exp(-D^2 / h^2) is",
             no_references(kernel.name), gram(i, j), point_text(points.row(i)), point_text(points.row(j)), bound);
      }
    }
  }
  try {
    require_gram(gram);
  } catch (const Error& error) {
    fail(ErrorCode::invalid_option, "kernel {}, tried on {} points: {}", no_references(kernel.name), n,
         error.parts().value);
  }
}

}  // namespace kqd
