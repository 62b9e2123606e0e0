#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/core/matrix_view.hpp"
#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// The kernels on R^d. r is the Euclidean distance, r1 the L1 distance, s the bandwidth.
enum class KernelFamily {
  gaussian,               ///< exp(-r^2 / (2 s^2))
  laplace,                ///< exp(-r1 / s)
  matern12,               ///< exp(-r / s), the Laplace kernel of the Euclidean distance
  matern32,               ///< (1 + a) exp(-a), a = sqrt3 r / s
  matern52,               ///< (1 + a + a^2/3) exp(-a), a = sqrt5 r / s
  rq,                     ///< (1 + r^2 / (2 alpha s^2))^-alpha, the rational quadratic
  imq,                    ///< (1 + r^2 / s^2)^-beta, the inverse multiquadric
  linear,                 ///< x.y + offset
  polynomial,             ///< (x.y + offset)^degree
  normalised_polynomial,  ///< the polynomial over sqrt(k(x,x) k(y,y))
  energy,                 ///< (|x-o|^beta + |y-o|^beta - |x-y|^beta) / 2, induced by a distance [Sej13]
  mixed,                  ///< product over the columns of a table: numbers, categories, missing values; see below
  sum,                    ///< sum of weight_i k_i
  product,                ///< product of k_i
  custom,                 ///< a function of the caller, see KernelSpec::custom()
};

// The kernel "mixed" is exp(-D / (2 s^2)), with the sum D over the columns of the table. A number adds (x - y)^2 / c^2
// with a robust scale c of the pool: a Gaussian kernel. A category of L levels adds 2 L / (L - 1) where the levels
// differ: the kernel of Aitchison and Aitken [AA76] with smoothing lambda = (L-1) r / (1 + (L-1) r), r = exp(-L /
// ((L-1) s^2)); a missing value is a level. A number of 2 to 10 different whole values adds |x - y| / c: the ordered
// kernel of Wang and van Ryzin. A number next to a missing value adds 2. So each column adds 2 on average, a category
// as much as a number: 50 columns of 0 and 1 do not hide 3 numbers.

/// A kernel function of the caller, by blocks: writes values(i, j) = k(x_i, z_j), with a row of `values` for every row
/// of x and a column for every row of z. Called from several threads at once. An exception that it throws ends the run
/// and reaches the caller unchanged.
using KernelFunction =
    std::function<void(MatrixView<const double> x, MatrixView<const double> z, MatrixView<double> values)>;

/// The specification of a kernel. Fields that a family does not use are ignored. The defaults here are the same for all
/// families; those of parse_kernel() are offset 0 for "linear" and beta 1 for "energy". A bandwidth is
/// in 1e-150 .. 1e150 where it is squared (gaussian, rq, imq) and in 1e-300 .. 1e300 elsewhere.
struct KernelSpec {
  KernelFamily family = KernelFamily::gaussian;
  std::optional<double> bandwidth = {};  ///< s; unset: chosen by the bandwidth rule
  double alpha = 1.0;                    ///< rq: 1e-6 .. 1e6
  double beta = 0.5;                     ///< imq: > 0; energy: in (0, 2]
  int degree = 3;                        ///< polynomials: 1..64
  double offset = 1.0;                   ///< linear, polynomials: >= 0
  std::vector<double> origin = {};       ///< energy: o; empty: the pooled mean
  /// mixed: differences of a column of the samples are divided by this; < 0: the column is ordered and adds
  /// |difference / scale| in place of the square; empty: from the pool and the roles of its columns.
  std::vector<double> column_scales = {};
  double weight = 1.0;                                  ///< as a part of a sum: >= 0
  std::vector<KernelSpec> parts = {};                   ///< of a sum or product
  std::string name = {};                                ///< custom: its name in results
  std::shared_ptr<const KernelFunction> function = {};  ///< custom: copies of a kernel share it

  /// A kernel function of the caller: symmetric, positive semidefinite and finite. Methods that need more than its
  /// values, such as random Fourier features, refuse it. parse_kernel() does not read its name back.
  [[nodiscard]] static KernelSpec custom(std::string name, KernelFunction function);
};

/// The names of the families that parse_kernel() reads, in the order of KernelFamily.
[[nodiscard]] std::span<const std::string_view> kernel_names();

/// Reads `family[:parameter...][@bandwidth]`, joined by + or * (a product binds tighter): "gaussian", "rq:2",
/// "polynomial:3:1", "energy:1", "gaussian@0.5+gaussian@2", "gaussian*linear". A part of a sum may start with a weight:
/// "0.3 gaussian+0.7 laplace". Throws Error{invalid_option} with a suggestion for a misspelt family.
[[nodiscard]] KernelSpec parse_kernel(std::string_view text);

/// The text that parse_kernel reads back.
[[nodiscard]] std::string to_string(const KernelSpec& spec);

/// Throws Error{invalid_option} for a parameter out of its range.
void validate(const KernelSpec& spec);

/// True when the family, or a part of it, has a bandwidth that is not set.
[[nodiscard]] bool needs_bandwidth(const KernelSpec& spec);

/// The kernel with this bandwidth in every part that leaves it open.
[[nodiscard]] KernelSpec with_bandwidth(KernelSpec spec, double bandwidth);

/// The bandwidth of the first part that has one; unset when the kernel has none.
[[nodiscard]] std::optional<double> first_bandwidth(const KernelSpec& spec);

/// A kernel ready to be evaluated: every bandwidth and origin is set.
class Kernel {
 public:
  /// Throws Error{invalid_option} when a parameter is missing or out of range.
  explicit Kernel(KernelSpec spec);

  [[nodiscard]] const KernelSpec& spec() const { return spec_; }

  /// values(i, j) = k(x_i, z_j), on the calling thread. Cost: O(rows of x * rows of z * dim).
  void evaluate(MatrixView<const double> x, MatrixView<const double> z, MatrixView<double> values) const;

  /// values[i] = k(x_i, x_i), from the formula and not from a distance of 0.
  void diagonal(MatrixView<const double> x, std::span<double> values) const;

  /// True when k(x, y) depends on x - y only.
  [[nodiscard]] bool shift_invariant() const;

 private:
  KernelSpec spec_;
};

}  // namespace kqd
