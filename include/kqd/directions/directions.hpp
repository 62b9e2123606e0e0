#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/core/matrix.hpp"
#include "kqd/core/sample.hpp"
#include "kqd/core/types.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd KQD_PUBLIC {

/// The numbers that define directions, so that another program can compute them again.
struct DirectionTerms {
  Matrix<double> reference;     ///< z, m x d; empty for directions that are functions of the columns
  Matrix<double> coefficients;  ///< c, m x l: u_i = sum_j c_ji k(z_j, .); without z, column i has the weights of u_i
};

/// Directions u_1..u_l of a feature space: functions on R^d of norm 1, along which quantiles are taken.
///
/// A family is a class derived from this one and a branch of draw_directions().
class Directions {
 public:
  virtual ~Directions() = default;

  [[nodiscard]] virtual std::size_t count() const = 0;
  [[nodiscard]] virtual std::size_t dim() const = 0;
  /// The kernel whose space the directions live in.
  [[nodiscard]] virtual const Kernel& kernel() const = 0;

  /// values(i, j) = u_{first + i}(point j), for as many directions as `values` has rows.
  /// Cost: O(points * (m dim + m l)) for m reference points. Same bits for any thread count.
  virtual void evaluate(MatrixView<const double> points, std::size_t first, MatrixView<double> values,
                        ThreadCount threads) const = 0;

  /// True when u(x) - u(o) = u(x - o): then values may be measured from any origin.
  [[nodiscard]] virtual bool linear() const { return false; }

  /// The same up to one constant per direction, which differences of quantiles do not see: linear families measure from
  /// `origin`, so that data far from 0 keep their digits; others ignore it.
  virtual void evaluate_from(std::span<const double> origin, MatrixView<const double> points, std::size_t first,
                             MatrixView<double> values, ThreadCount threads) const;

  /// <u_i, v_j> in the feature space. Throws Error{shape_mismatch} when v lives in another one.
  [[nodiscard]] virtual double inner_product(std::size_t i, const Directions& v, std::size_t j) const = 0;
  /// <u_i, v_j> for all i and j. Throws likewise.
  [[nodiscard]] virtual Matrix<double> inner_products(const Directions& v) const;

  [[nodiscard]] virtual DirectionTerms terms() const = 0;
};

/// u_i = f_i / ||f_i||, f_i = sum_j c_ji k(z_j, .).
class KernelDirections : public Directions {
 public:
  /// reference: m x d; coefficients: m x l. Norms are divided out unless `normalise` is false; `jitter` is added to
  /// ||f||^2 first, as the authors' code does. Throws Error{shape_mismatch, non_finite_value, degenerate_directions}.
  KernelDirections(Kernel kernel, Matrix<double> reference, Matrix<double> coefficients, bool normalise = true,
                   double jitter = 0.0);
  ~KernelDirections() override;

  [[nodiscard]] std::size_t count() const override { return coefficients_.cols(); }
  [[nodiscard]] std::size_t dim() const override { return reference_.cols(); }
  [[nodiscard]] const Kernel& kernel() const override { return kernel_; }
  void evaluate(MatrixView<const double> points, std::size_t first, MatrixView<double> values,
                ThreadCount threads) const override;
  [[nodiscard]] double inner_product(std::size_t i, const Directions& v, std::size_t j) const override;
  /// Cost: O(m^2 (d + l) + m l^2).
  [[nodiscard]] Matrix<double> inner_products(const Directions& v) const override;
  [[nodiscard]] DirectionTerms terms() const override { return {reference_, coefficients_}; }

  [[nodiscard]] MatrixView<const double> reference() const { return reference_; }
  /// Of u_i in column i: divided by the norm when normalised.
  [[nodiscard]] MatrixView<const double> coefficients() const { return coefficients_; }
  /// ||f_i||, before it was divided out.
  [[nodiscard]] std::span<const double> norms() const { return norms_; }

 private:
  struct Prepared;
  [[nodiscard]] const KernelDirections& in_same_space(const Directions& v) const;

  Kernel kernel_;
  Matrix<double> reference_;
  Matrix<double> coefficients_;  // divided by the norms when normalised
  std::vector<double> norms_;
  std::unique_ptr<const Prepared> prepared_;
};

/// u_i(x) = w_i . x with |w_i| = 1: coordinate axes, uniform directions, and every direction of the linear kernel.
class LinearDirections : public Directions {
 public:
  /// weights: l x d; rows are scaled to length 1 unless `normalise` is false.
  explicit LinearDirections(Matrix<double> weights, bool normalise = true, double jitter = 0.0);

  [[nodiscard]] std::size_t count() const override { return weights_.rows(); }
  [[nodiscard]] std::size_t dim() const override { return weights_.cols(); }
  [[nodiscard]] const Kernel& kernel() const override { return kernel_; }
  [[nodiscard]] bool linear() const override { return true; }
  void evaluate(MatrixView<const double> points, std::size_t first, MatrixView<double> values,
                ThreadCount threads) const override;
  void evaluate_from(std::span<const double> origin, MatrixView<const double> points, std::size_t first,
                     MatrixView<double> values, ThreadCount threads) const override;
  [[nodiscard]] double inner_product(std::size_t i, const Directions& v, std::size_t j) const override;
  /// Column i of the coefficients is w_i.
  [[nodiscard]] DirectionTerms terms() const override;

  [[nodiscard]] MatrixView<const double> weights() const { return weights_; }

 private:
  Kernel kernel_;
  Matrix<double> weights_;
};

/// Where directions come from ("gamma" in [KQE]).
enum class DirectionFamily {
  gaussian,   ///< Gaussian measure on the feature space, seen through m reference points [KQE Prop. 1]
  linear,     ///< uniform on the sphere of R^d: sliced Wasserstein
  axis,       ///< the coordinate axes
  principal,  ///< leading eigenfunctions of the pooled covariance operator, through landmarks (Nystroem)
  mixed,      ///< half principal, half Gaussian: finds structure and keeps full support, hence the metric property
};

/// Where the reference points of the Gaussian family come from ("xi" in [KQE]).
enum class ReferenceMeasure {
  gaussian,  ///< pooled median + (IQR / 1.349) N(0, 1), per coordinate
  uniform,   ///< pooled median + IQR U[-1, 1], per coordinate
  pooled,    ///< rows of the pool, without replacement, label-blind
  balanced,  ///< half rows of X, half rows of Y: label-dependent, so for distances only
  points,    ///< the caller's own
};

struct DirectionOptions {
  DirectionFamily family = DirectionFamily::gaussian;
  /// l >= 1; unset: default_num_directions() of the Gaussian and linear families, 64 of the others. The axis family has
  /// one per column.
  std::optional<std::size_t> num_directions = {};
  /// m >= 1; unset: default_num_reference(), or landmarks of the principal and mixed families by their own rule.
  std::optional<std::size_t> num_reference = {};
  ReferenceMeasure reference = ReferenceMeasure::gaussian;
  Matrix<double> reference_points = {};  ///< m x d, for ReferenceMeasure::points
  Matrix<double> coefficients = {};      ///< m x l, instead of drawn ones; sets m and l
  bool normalise = true;                 ///< false: f instead of f / ||f||, as one version of the authors' code
  bool whiten = false;                   ///< principal functions count alike: divided by the pool's spread along them
  double jitter = 0.0;                   ///< added to ||f||^2; 1e-6 in the authors' code
  bool zero_centred = false;             ///< reference measures around 0 and not the median, as the authors' code
};

/// Directions where nothing asks for more of them.
inline constexpr std::size_t kFewestDirections = 64;

/// Directions for N pooled rows, the smaller of 8 N and 2^19 / N but 64 to 1024: where rows are few, many directions
/// cost little, and results depend less on which are drawn.
[[nodiscard]] std::size_t default_num_directions(std::size_t num_rows);

/// Reference points for N pooled rows: half as many as directions, at least 64. Rows of the pool are held out, so there
/// are no more than min(64, N/8) of them, at least 2.
[[nodiscard]] std::size_t default_num_reference(std::size_t num_rows, ReferenceMeasure measure);

/// Directions, and what a caller should know of how they came about.
struct DrawnDirections {
  std::shared_ptr<const Directions> directions;
  std::size_t num_reference = 0;         ///< m; 0 for families without reference points
  std::vector<std::size_t> pooled_rows;  ///< pooled reference measure: rows of (X, Y) used as reference points
  Warnings warnings;
};

/// True for linear and axis directions, which do not depend on the kernel and need no bandwidth.
[[nodiscard]] constexpr bool has_own_kernel(DirectionFamily family) {
  return family == DirectionFamily::linear || family == DirectionFamily::axis;
}

[[nodiscard]] std::string to_string(DirectionFamily family);
[[nodiscard]] std::string to_string(ReferenceMeasure measure);
[[nodiscard]] DirectionFamily parse_direction_family(std::string_view text);
[[nodiscard]] ReferenceMeasure parse_reference_measure(std::string_view text);

/// Throws Error{invalid_option, shape_mismatch} with field, value and bound.
void validate(const DirectionOptions& options, std::size_t dim);

/// Draws directions for the pool of x and y: a function of the unlabelled pool and the seed only, except for the
/// balanced reference measure. Direction i and reference point j have streams of their own, so asking for more of them
/// keeps the first ones. Directions of norm 0 to rounding are drawn again up to ten times. `threads` work on the
/// principal and mixed families.
[[nodiscard]] DrawnDirections draw_directions(const Kernel& kernel, const SampleView& x, const SampleView& y,
                                              const DirectionOptions& options, Seed seed, ThreadCount threads = {});

}  // namespace kqd
