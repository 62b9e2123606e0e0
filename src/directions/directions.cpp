#include "kqd/directions/directions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "directions/squared_norms.hpp"
#include "kernel/kernel_block.hpp"
#include "kernel/kernel_traits.hpp"
#include "simd/kernel_maps.hpp"
#include "simd/matrix_product.hpp"

namespace kqd {
namespace {

constexpr std::size_t kRowsPerTask = 4096;  // sixteen blocks of 256 share their scratch memory
constexpr std::size_t kRowsAtATime = 256;

// ||f||^2 this small next to sum c_j^2 k(z_j, z_j) is 0 up to rounding.
constexpr double kNullNorm = 1e-12;

void require_finite(MatrixView<const double> matrix, std::string_view name) {
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    for (std::size_t j = 0; j < matrix.cols(); ++j) {
      if (!std::isfinite(matrix(i, j))) {
        fail(ErrorCode::non_finite_value, "{}: row {}, column {} is {}, expected a finite number", name, i + 1, j + 1,
             matrix(i, j));
      }
    }
  }
}

void require_shape(const Directions& directions, MatrixView<const double> points, std::size_t first,
                   MatrixView<double> values) {
  if (points.cols() != directions.dim()) {
    fail(ErrorCode::shape_mismatch, "points have {} column{} and the directions {}, expected the same number",
         points.cols(), points.cols() == 1 ? "" : "s", directions.dim());
  }
  if (values.cols() != points.rows() || first + values.rows() > directions.count()) {
    fail(ErrorCode::shape_mismatch, "values are {} x {} from direction {}, expected at most {} x {}", values.rows(),
         values.cols(), first, directions.count(), points.rows());
  }
}

// Kernels without a bound may overflow at huge arguments; a sort must never see that. Row 0 holds direction `first`.
void require_finite_values(MatrixView<const double> values, std::size_t first) {
  for (std::size_t i = 0; i < values.rows(); ++i) {
    bool finite = true;
    for (const double v : values.row(i)) finite &= std::abs(v) <= std::numeric_limits<double>::max();
    if (!finite) {
      fail(ErrorCode::non_finite_value, "direction {} overflows on this data; {}", first + i + 1, kOverflowAdvice);
    }
  }
}

Kernel linear_kernel() {
  KernelSpec spec;
  spec.family = KernelFamily::linear;
  spec.offset = 0.0;
  return Kernel(spec);
}

}  // namespace

bool SquaredNorms::is_null(std::size_t i, double jitter) const {
  return norms[i] + jitter <= kNullNorm * terms[i] || !(terms[i] > 0.0);
}

void require_directions(const SquaredNorms& squared, double jitter) {
  for (std::size_t i = 0; i < squared.norms.size(); ++i) {
    if (!std::isfinite(squared.norms[i])) {
      fail(ErrorCode::non_finite_value, "the norm of direction {} overflows; {}", i + 1, kOverflowAdvice);
    }
    if (squared.is_null(i, jitter)) {
      fail(ErrorCode::degenerate_directions,
           "degenerate reference points: direction {} has norm 0 to rounding (||f||^2 = {:.3g})", i + 1,
           squared.norms[i]);
    }
  }
}

SquaredNorms squared_norms(const Kernel& kernel, MatrixView<const double> reference,
                           MatrixView<const double> coefficients) {
  const std::size_t m = reference.rows();
  const std::size_t l = coefficients.cols();
  Matrix<double> gram(m, m);
  kernel.evaluate(reference, reference, gram);
  std::vector<double> diagonal(m);
  kernel.diagonal(reference, diagonal);
  for (std::size_t j = 0; j < m; ++j) gram(j, j) = diagonal[j];
  Matrix<double> products(m, l);
  simd::multiply(gram, simd::Op::none, coefficients, simd::Op::none, products);
  SquaredNorms result{std::vector<double>(l, 0.0), std::vector<double>(l, 0.0)};
  for (std::size_t j = 0; j < m; ++j) {
    for (std::size_t i = 0; i < l; ++i) {
      result.norms[i] += coefficients(j, i) * products(j, i);
      result.terms[i] += coefficients(j, i) * coefficients(j, i) * diagonal[j];
    }
  }
  return result;
}

void Directions::evaluate_from(std::span<const double> /*origin*/, MatrixView<const double> points, std::size_t first,
                               MatrixView<double> values, ThreadCount threads) const {
  evaluate(points, first, values, threads);
}

Matrix<double> Directions::inner_products(const Directions& v) const {
  Matrix<double> products(count(), v.count());
  for (std::size_t i = 0; i < products.rows(); ++i) {
    for (std::size_t j = 0; j < products.cols(); ++j) products(i, j) = inner_product(i, v, j);
  }
  return products;
}

struct KernelDirections::Prepared {
  KernelBlock block;
};

KernelDirections::~KernelDirections() = default;

KernelDirections::KernelDirections(Kernel kernel, Matrix<double> reference, Matrix<double> coefficients, bool normalise,
                                   double jitter)
    : kernel_(std::move(kernel)), reference_(std::move(reference)), coefficients_(std::move(coefficients)) {
  const std::size_t m = reference_.rows();
  if (m == 0 || coefficients_.rows() != m || coefficients_.cols() == 0) {
    fail(ErrorCode::shape_mismatch, "coefficients are {} x {} for {} reference points, expected one row per point",
         coefficients_.rows(), coefficients_.cols(), m);
  }
  require_finite(reference_, "reference points");
  require_finite(coefficients_, "coefficients");
  prepared_ = std::make_unique<const Prepared>(Prepared{KernelBlock(kernel_, reference_)});
  const SquaredNorms squared = squared_norms(kernel_, reference_, coefficients_);
  norms_.resize(count());
  require_directions(squared, jitter);
  for (std::size_t i = 0; i < count(); ++i) {
    norms_[i] = std::sqrt(squared.norms[i] + jitter);
    if (!normalise) continue;
    for (std::size_t j = 0; j < m; ++j) coefficients_(j, i) /= norms_[i];
  }
}

void KernelDirections::evaluate(MatrixView<const double> points, std::size_t first, MatrixView<double> values,
                                ThreadCount threads) const {
  require_shape(*this, points, first, values);
  const auto coefficients = coefficients_.view().column_range(first, values.rows());
  const bool bounded = kernel_.shift_invariant();  // by k(x, x): finite coefficients then give finite values
  parallel_for_blocks(points.rows(), kRowsPerTask, threads, [&](std::size_t begin, std::size_t end) {
    Matrix<double> kernel_values(std::min(kRowsAtATime, end - begin), reference_.rows());
    simd::PackedFactor<double> right;
    for (std::size_t i = begin; i < end; i += kRowsAtATime) {
      const std::size_t rows = std::min(kRowsAtATime, end - i);
      const auto block = kernel_values.view().row_range(0, rows);
      prepared_->block.evaluate(points.row_range(i, rows), block);
      const auto out = values.column_range(i, rows);
      right.assign(block, simd::Op::transpose);
      simd::multiply(coefficients, simd::Op::transpose, right, out);
      if (!bounded) require_finite_values(out, first);
    }
  });
}

const KernelDirections& KernelDirections::in_same_space(const Directions& v) const {
  const auto* other = dynamic_cast<const KernelDirections*>(&v);
  if (other == nullptr || !same_kernel(other->kernel_.spec(), kernel_.spec()) || v.dim() != dim()) {
    fail(ErrorCode::shape_mismatch, "directions of {} and {} live in different spaces", to_string(kernel_.spec()),
         to_string(v.kernel().spec()));
  }
  return *other;
}

double KernelDirections::inner_product(std::size_t i, const Directions& v, std::size_t j) const {
  const KernelDirections& other = in_same_space(v);
  Matrix<double> gram(reference_.rows(), other.reference_.rows());
  kernel_.evaluate(reference_, other.reference_, gram);
  double total = 0.0;
  for (std::size_t a = 0; a < gram.rows(); ++a) {
    for (std::size_t b = 0; b < gram.cols(); ++b) {
      total += coefficients_(a, i) * gram(a, b) * other.coefficients_(b, j);
    }
  }
  return total;
}

Matrix<double> KernelDirections::inner_products(const Directions& v) const {
  const KernelDirections& other = in_same_space(v);
  Matrix<double> gram(reference_.rows(), other.reference_.rows());
  kernel_.evaluate(reference_, other.reference_, gram);
  Matrix<double> half(gram.rows(), v.count());
  simd::multiply(gram, simd::Op::none, other.coefficients_, simd::Op::none, half);
  Matrix<double> products(count(), v.count());
  simd::multiply(coefficients_, simd::Op::transpose, half, simd::Op::none, products);
  return products;
}

LinearDirections::LinearDirections(Matrix<double> weights, bool normalise, double jitter)
    : kernel_(linear_kernel()), weights_(std::move(weights)) {
  require_finite(weights_, "directions");
  for (std::size_t i = 0; i < weights_.rows(); ++i) {
    const auto row = weights_.row(i);
    // Scaled by the largest entry first: a row of huge or tiny numbers has a length all the same. The jitter counts as
    // one more entry. (std::hypot would have other bits with another version of the C library.)
    const double root = std::sqrt(jitter);
    double largest = root;
    for (const double w : row) largest = std::max(largest, std::abs(w));
    double squared = 0.0;
    for (const double w : row) squared += largest > 0.0 ? (w / largest) * (w / largest) : 0.0;
    if (root > 0.0) squared += (root / largest) * (root / largest);
    const double length = largest * std::sqrt(squared);
    if (!(length > 0.0) || !std::isfinite(length)) {
      fail(ErrorCode::degenerate_directions, "degenerate reference points: direction {} has length {}", i + 1, length);
    }
    if (!normalise) continue;
    for (double& w : row) w /= length;
  }
}

void LinearDirections::evaluate(MatrixView<const double> points, std::size_t first, MatrixView<double> values,
                                ThreadCount threads) const {
  require_shape(*this, points, first, values);
  const auto weights = weights_.view().row_range(first, values.rows());
  parallel_for_blocks(points.rows(), kRowsAtATime, threads, [&](std::size_t begin, std::size_t end) {
    const auto out = values.column_range(begin, end - begin);
    simd::multiply(weights, simd::Op::none, points.row_range(begin, end - begin), simd::Op::transpose, out);
    require_finite_values(out, first);
  });
}

void LinearDirections::evaluate_from(std::span<const double> origin, MatrixView<const double> points, std::size_t first,
                                     MatrixView<double> values, ThreadCount threads) const {
  require_shape(*this, points, first, values);
  const auto weights = weights_.view().row_range(first, values.rows());
  parallel_for_blocks(points.rows(), kRowsPerTask, threads, [&](std::size_t begin, std::size_t end) {
    Matrix<double> moved(std::min(kRowsAtATime, end - begin), dim());
    simd::PackedFactor<double> right;
    for (std::size_t i = begin; i < end; i += kRowsAtATime) {
      const std::size_t rows = std::min(kRowsAtATime, end - i);
      for (std::size_t r = 0; r < rows; ++r) simd::center(points.row(i + r), origin, moved.row(r));
      const auto out = values.column_range(i, rows);
      right.assign(moved.view().row_range(0, rows), simd::Op::transpose);
      simd::multiply(weights, simd::Op::none, right, out);
      require_finite_values(out, first);
    }
  });
}

DirectionTerms LinearDirections::terms() const {
  DirectionTerms terms;
  terms.coefficients = Matrix<double>(dim(), count());
  for (std::size_t i = 0; i < count(); ++i) {
    for (std::size_t k = 0; k < dim(); ++k) terms.coefficients(k, i) = weights_(i, k);
  }
  return terms;
}

double LinearDirections::inner_product(std::size_t i, const Directions& v, std::size_t j) const {
  const auto* other = dynamic_cast<const LinearDirections*>(&v);
  if (other == nullptr || other->dim() != dim()) {
    fail(ErrorCode::shape_mismatch, "directions of {} and {} live in different spaces", to_string(kernel_.spec()),
         to_string(v.kernel().spec()));
  }
  double total = 0.0;
  for (std::size_t k = 0; k < dim(); ++k) total += weights_(i, k) * other->weights_(j, k);
  return total;
}

}  // namespace kqd
