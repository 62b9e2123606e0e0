#pragma once
#include <span>

#include "kqd/core/matrix_view.hpp"

namespace kqd {

enum class Op { none, transpose };

/// c = alpha op_a(a) op_b(b) + beta c by OpenBLAS, on the calling thread alone.
///
/// Callers cut their work into blocks whose shape follows from the problem and hand the blocks to our own threads: as
/// fast as OpenBLAS's threads and bit-stable for any thread count, which OpenBLAS's own are not.
void gemm(double alpha, MatrixView<const double> a, Op op_a, MatrixView<const double> b, Op op_b, double beta,
          MatrixView<double> c);
void gemm(float alpha, MatrixView<const float> a, Op op_a, MatrixView<const float> b, Op op_b, float beta,
          MatrixView<float> c);

/// y = alpha op(a) x + beta y, on the calling thread. A product with one vector reads `a` once, where gemm() would
/// first copy it into tiles.
void gemv(double alpha, MatrixView<const double> a, Op op, std::span<const double> x, double beta, std::span<double> y);

/// The kernel set OpenBLAS chose for this CPU, such as "Zen".
[[nodiscard]] const char* blas_core_name();

}  // namespace kqd
