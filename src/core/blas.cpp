#include "core/blas.hpp"

#include <cblas.h>

#include <type_traits>

#include "core/fail.hpp"
#include "core/pages.hpp"

namespace kqd {
namespace {

// Our copy of OpenBLAS is private to the library (cmake/FindOpenBLASPrivate.cmake), so its thread count is ours to set.
void use_one_blas_thread() {
  [[maybe_unused]] static const bool done = [] {
    openblas_set_num_threads(1);
    return true;
  }();
}

// OpenBLAS takes a buffer for each thread that multiplies, once, and tries for ever where it gets none. So each thread
// tries first. Throws std::bad_alloc.
void require_room_for_buffer() {
  constexpr std::size_t kBufferBytes = (std::size_t{128} << 20U) + (std::size_t{1} << 20U);
  thread_local bool has_room = false;
  if (has_room) return;
  unmap_pages(map_pages(kBufferBytes), kBufferBytes);
  has_room = true;
}

void prepare_blas() {
  use_one_blas_thread();
  require_room_for_buffer();
}

template <class T>
void gemm_any(T alpha, MatrixView<const T> a, Op op_a, MatrixView<const T> b, Op op_b, T beta, MatrixView<T> c) {
  const std::size_t inner = op_a == Op::none ? a.cols() : a.rows();
  KQD_ASSERT((op_a == Op::none ? a.rows() : a.cols()) == c.rows());
  KQD_ASSERT((op_b == Op::none ? b.cols() : b.rows()) == c.cols());
  KQD_ASSERT((op_b == Op::none ? b.rows() : b.cols()) == inner);
  if (c.empty()) return;
  prepare_blas();
  const auto flag = [](Op op) { return op == Op::none ? CblasNoTrans : CblasTrans; };
  const auto size = [](std::size_t n) { return static_cast<blasint>(n); };
  const auto call = [&](auto function) {
    function(CblasRowMajor, flag(op_a), flag(op_b), size(c.rows()), size(c.cols()), size(inner), alpha, a.data(),
             size(a.row_stride()), b.data(), size(b.row_stride()), beta, c.data(), size(c.row_stride()));
  };
  if constexpr (std::is_same_v<T, double>) {
    call(cblas_dgemm);
  } else {
    call(cblas_sgemm);
  }
}

}  // namespace

void gemm(double alpha, MatrixView<const double> a, Op op_a, MatrixView<const double> b, Op op_b, double beta,
          MatrixView<double> c) {
  gemm_any<double>(alpha, a, op_a, b, op_b, beta, c);
}

void gemm(float alpha, MatrixView<const float> a, Op op_a, MatrixView<const float> b, Op op_b, float beta,
          MatrixView<float> c) {
  gemm_any<float>(alpha, a, op_a, b, op_b, beta, c);
}

void gemv(double alpha, MatrixView<const double> a, Op op, std::span<const double> x, double beta,
          std::span<double> y) {
  KQD_ASSERT((op == Op::none ? a.cols() : a.rows()) == x.size());
  KQD_ASSERT((op == Op::none ? a.rows() : a.cols()) == y.size());
  if (y.empty()) return;
  prepare_blas();
  const auto size = [](std::size_t n) { return static_cast<blasint>(n); };
  cblas_dgemv(CblasRowMajor, op == Op::none ? CblasNoTrans : CblasTrans, size(a.rows()), size(a.cols()), alpha,
              a.data(), size(a.row_stride()), x.data(), 1, beta, y.data(), 1);
}

const char* blas_core_name() {
  return openblas_get_corename();
}

}  // namespace kqd
