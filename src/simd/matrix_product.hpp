#pragma once
#include <cstddef>
#include <span>

#include "kqd/core/matrix.hpp"
#include "kqd/core/matrix_view.hpp"

namespace kqd::simd {

enum class Op { none, transpose };
enum class Into { overwrite, add };

/// The right factor of a product, copied once into the order in which the product reads it.
///
/// The layout is the same for every instruction set. Cost: one pass over the matrix.
template <class T>
class PackedFactor {
 public:
  /// Columns of one panel: a panel holds them side by side, one row of the factor after the other.
  static constexpr std::size_t kPanel = 256 / sizeof(T);
  /// Rows of the factor that are used together: a panel of them, 36 KB, is about as large as a first-level cache.
  static constexpr std::size_t kDepth = 144;

  PackedFactor() = default;
  PackedFactor(MatrixView<const T> b, Op op) { assign(b, op); }
  /// Replaces the factor and reuses the memory.
  void assign(MatrixView<const T> b, Op op);

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t cols() const { return cols_; }
  /// Rows [row, row + kDepth) of panel `panel`; `row` is a multiple of kDepth. The last panel is padded with zeros.
  [[nodiscard]] const T* panel(std::size_t row, std::size_t panel) const;
  [[nodiscard]] std::size_t num_panels() const { return (cols_ + kPanel - 1) / kPanel; }

 private:
  Matrix<T> values_;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
};

/// c = op(a) b, or c += op(a) b, on the calling thread.
///
/// Each element of c is the sum over the inner dimension in ascending order, one fused multiply-add per term, starting
/// from 0 or from its old value. So its bits depend on one row of op(a) and one column of b only: not on the shape of
/// the block, on the number of rows or columns multiplied at a time, on threads or on the vector width. Two products
/// over adjacent parts of the inner dimension, the second with Into::add, equal one product over both. (Instruction
/// sets without fused multiply-add, see has_fma(), round each product first.)
void multiply(MatrixView<const double> a, Op op, const PackedFactor<double>& b, MatrixView<double> c,
              Into into = Into::overwrite);
void multiply(MatrixView<const float> a, Op op, const PackedFactor<float>& b, MatrixView<float> c,
              Into into = Into::overwrite);

/// The same with a right factor that is used only once.
void multiply(MatrixView<const double> a, Op op_a, MatrixView<const double> b, Op op_b, MatrixView<double> c,
              Into into = Into::overwrite);
void multiply(MatrixView<const float> a, Op op_a, MatrixView<const float> b, Op op_b, MatrixView<float> c,
              Into into = Into::overwrite);

/// y = op(a) x, or y += op(a) x, on the calling thread; reads `a` once.
///
/// With Op::none each element is dot() of a row, added to the old value by one rounding; with Op::transpose
/// it is the sum over the rows in ascending order, as in a matrix product.
void multiply(MatrixView<const double> a, Op op, std::span<const double> x, std::span<double> y,
              Into into = Into::overwrite);

/// The sum of a[k] b[k] over eight running sums, term k in sum k % 8, added up in one fixed tree: the same bits for any
/// vector width.
[[nodiscard]] double dot(std::span<const double> a, std::span<const double> b);

}  // namespace kqd::simd
