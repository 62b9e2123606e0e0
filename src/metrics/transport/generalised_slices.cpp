#include "metrics/transport/generalised_slices.hpp"
#include "metrics/numerics.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "kernel/kernel_traits.hpp"

namespace kqd {
namespace {

constexpr std::size_t kMaxMonomials = 20000;
constexpr std::size_t kRowsPerTask = 4096;
constexpr std::size_t kBlockNumbers = std::size_t{1} << 18U;  // of monomials made at a time: 2 MB

// C(d + q - 1, q) as a double: exact where it is small enough to be used.
double count_monomials(std::size_t dim, std::size_t degree) {
  double count = 1.0;
  for (std::size_t j = 1; j <= degree; ++j) {
    count = count * static_cast<double>(dim + j - 1) / static_cast<double>(j);
  }
  return std::round(count);
}

double distance_to(std::span<const double> x, double radius, std::span<const double> theta) {
  double squares = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double difference = x[k] - radius * theta[k];
    squares += difference * difference;
  }
  return std::sqrt(squares);
}

}  // namespace

PolynomialMap::PolynomialMap(std::size_t dim, std::size_t degree) : dim_(dim), degree_(degree) {
  const double count = count_monomials(dim, degree);
  if (count > static_cast<double>(kMaxMonomials)) {
    fail(ErrorCode::invalid_option,
         "K too large: homogeneous polynomials of degree {} in {} columns have K = {:.6g} coefficients, at most {} can "
         "be used; lower the degree, or compare fewer columns",
         degree, dim, count, kMaxMonomials);
  }
  num_monomials_ = static_cast<std::size_t>(count);
  std::vector<std::size_t> last(dim);
  for (std::size_t k = 0; k < dim; ++k) last[k] = k;
  for (std::size_t j = 1; j < degree; ++j) {
    std::vector<std::size_t> next;
    for (const std::size_t factor : last) {
      for (std::size_t k = factor; k < dim; ++k) next.push_back(k);
    }
    last_factor_.push_back(std::move(last));
    last = std::move(next);
  }
}

void PolynomialMap::evaluate(MatrixView<const double> points, MatrixView<double> monomials) const {
  std::vector<double> known;
  std::vector<double> longer;
  for (std::size_t i = 0; i < points.rows(); ++i) {
    const auto x = points.row(i);
    known.assign(x.begin(), x.end());
    // A monomial of degree j + 1 is one of degree j times a coordinate that does not come before its last factor.
    for (const std::vector<std::size_t>& last : last_factor_) {
      longer.clear();
      for (std::size_t m = 0; m < known.size(); ++m) {
        for (std::size_t k = last[m]; k < dim_; ++k) longer.push_back(known[m] * x[k]);
      }
      std::swap(known, longer);
    }
    std::ranges::copy(known, monomials.row(i).begin());
  }
}

PolynomialDirections::PolynomialDirections(PolynomialMap map, LinearDirections theta)
    : map_(std::move(map)), theta_(std::move(theta)) {
  if (theta_.dim() != map_.num_monomials()) {
    fail(ErrorCode::shape_mismatch, "theta has {} entries for {} monomials, expected one each", theta_.dim(),
         map_.num_monomials());
  }
}

void PolynomialDirections::evaluate(MatrixView<const double> points, std::size_t first, MatrixView<double> values,
                                    ThreadCount threads) const {
  const std::size_t step = std::clamp<std::size_t>(kBlockNumbers / map_.num_monomials(), 8, 256);
  parallel_for_blocks(points.rows(), kRowsPerTask, threads, [&](std::size_t begin, std::size_t end) {
    Matrix<double> monomials(std::min(step, end - begin), map_.num_monomials());
    for (std::size_t i = begin; i < end; i += step) {
      const std::size_t rows = std::min(step, end - i);
      const auto block = monomials.view().row_range(0, rows);
      map_.evaluate(points.row_range(i, rows), block);
      theta_.evaluate(block, first, values.column_range(i, rows), ThreadCount{1});
    }
  });
}

double PolynomialDirections::inner_product(std::size_t i, const Directions& v, std::size_t j) const {
  const auto* other = dynamic_cast<const PolynomialDirections*>(&v);
  if (other == nullptr || other->dim() != dim() || other->map_.degree() != map_.degree()) {
    fail(ErrorCode::shape_mismatch, "polynomials of degree {} in {} columns, and directions of another space",
         map_.degree(), dim());
  }
  return theta_.inner_product(i, other->theta_, j);
}

CircularDirections::CircularDirections(double radius, LinearDirections theta)
    : radius_(radius), theta_(std::move(theta)) {}

void CircularDirections::evaluate(MatrixView<const double> points, std::size_t first, MatrixView<double> values,
                                  ThreadCount threads) const {
  parallel_for_blocks(points.rows(), kRowsPerTask, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = 0; i < values.rows(); ++i) {
      const auto theta = theta_.weights().row(first + i);
      for (std::size_t j = begin; j < end; ++j) {
        values(i, j) = distance_to(points.row(j), radius_, theta);
        if (!std::isfinite(values(i, j))) require_finite(values(i, j), fmt::format("direction {}", first + i + 1));
      }
    }
  });
}

double CircularDirections::inner_product(std::size_t /*i*/, const Directions& /*v*/, std::size_t /*j*/) const {
  fail(ErrorCode::invalid_option, "circular slices have no inner product");
}

MatrixView<const double> PolynomialSlices::features(std::size_t begin, std::size_t end, Matrix<double>& scratch) const {
  if (scratch.rows() < end - begin) scratch = Matrix<double>(end - begin, map_.num_monomials());
  const auto block = scratch.view().row_range(0, end - begin);
  map_.evaluate(points_.view().row_range(begin, end - begin), block);
  return block;
}

void CircularSlices::evaluate(std::span<const double> w, std::span<double> values) const {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = distance_to(points_.row(i), radius_, w);
}

// d |x - r w| / d w = -r (x - r w) / |x - r w|; at the point itself 0 is one of the subgradients.
void CircularSlices::pull_back(std::span<const double> w, std::span<const double> values,
                               std::span<const double> slopes, std::span<double> gradient) const {
  std::ranges::fill(gradient, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (slopes[i] == 0.0 || values[i] == 0.0) continue;
    const auto x = points_.row(i);
    const double factor = -radius_ * slopes[i] / values[i];
    for (std::size_t k = 0; k < w.size(); ++k) gradient[k] += factor * (x[k] - radius_ * w[k]);
  }
}

}  // namespace kqd
