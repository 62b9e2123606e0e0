#include "core/blas.hpp"

#include <cblas.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <type_traits>
#include <vector>

#include "core/fail.hpp"
#include "core/pages.hpp"

// Of OpenBLAS, in none of its headers.
extern "C" {
void* blas_memory_alloc(int position);
void blas_memory_free(void* buffer);
}

namespace kqd {
namespace {

// Our copy of OpenBLAS is private to the library (cmake/FindOpenBLASPrivate.cmake), so its thread count is ours to set.
// Returns how many threads it started when it was loaded: they get no work, but take a buffer each.
std::size_t use_one_blas_thread() {
  static const std::size_t idle = [] {
    const int started = openblas_get_num_threads();
    openblas_set_num_threads(1);
    return static_cast<std::size_t>(std::max(1, started) - 1);
  }();
  return idle;
}

// OpenBLAS needs a buffer for each product under way at a time, keeps those it has, and tries for ever where the system
// gives no more. So a product waits here until there are as many buffers as idle threads and products under way, each
// of them made after memory for it was seen to be there.
class ProductUnderWay {
 public:
  ProductUnderWay() {
    const std::size_t idle_threads = use_one_blas_thread();
    const std::size_t needed = ++under_way() + idle_threads;
    if (needed <= num_buffers()) return;
    try {
      make_buffers(needed);
    } catch (...) {
      --under_way();
      throw;
    }
  }
  ~ProductUnderWay() { --under_way(); }
  ProductUnderWay(const ProductUnderWay&) = delete;
  ProductUnderWay& operator=(const ProductUnderWay&) = delete;

 private:
  static std::atomic<std::size_t>& under_way() {
    static std::atomic<std::size_t> number = 0;
    return number;
  }
  static std::atomic<std::size_t>& num_buffers() {
    static std::atomic<std::size_t> number = 0;
    return number;
  }

  // Holds so many at once that OpenBLAS has made them all. Throws std::bad_alloc.
  static void make_buffers(std::size_t number) {
    constexpr std::size_t kBufferBytes = (std::size_t{128} << 20U) + (std::size_t{1} << 20U);
    static std::mutex one_at_a_time;
    const std::scoped_lock lock(one_at_a_time);
    if (number <= num_buffers()) return;
    struct Held {
      std::vector<void*> buffers;
      ~Held() { std::ranges::for_each(buffers, blas_memory_free); }
    } held;
    held.buffers.reserve(number);
    while (held.buffers.size() < number) {
      unmap_pages(map_pages(kBufferBytes), kBufferBytes);
      held.buffers.push_back(blas_memory_alloc(0));
    }
    num_buffers() = number;
  }
};

template <class T>
void gemm_any(T alpha, MatrixView<const T> a, Op op_a, MatrixView<const T> b, Op op_b, T beta, MatrixView<T> c) {
  const std::size_t inner = op_a == Op::none ? a.cols() : a.rows();
  KQD_ASSERT((op_a == Op::none ? a.rows() : a.cols()) == c.rows());
  KQD_ASSERT((op_b == Op::none ? b.cols() : b.rows()) == c.cols());
  KQD_ASSERT((op_b == Op::none ? b.rows() : b.cols()) == inner);
  if (c.empty()) return;
  const ProductUnderWay product;
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
  const ProductUnderWay product;
  const auto size = [](std::size_t n) { return static_cast<blasint>(n); };
  cblas_dgemv(CblasRowMajor, op == Op::none ? CblasNoTrans : CblasTrans, size(a.rows()), size(a.cols()), alpha,
              a.data(), size(a.row_stride()), x.data(), 1, beta, y.data(), 1);
}

const char* blas_core_name() {
  return openblas_get_corename();
}

}  // namespace kqd
