// The matrix product of simd/ and OpenBLAS in one run, on one and two threads. Usage: bench_product
#include <cblas.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <type_traits>

#include "core/executor.hpp"
#include "kqd/kqd.hpp"
#include "side_by_side.hpp"
#include "simd/matrix_product.hpp"

namespace kqd::bench {
namespace {

constexpr int kTurns = 9;
constexpr std::size_t kRowBlock = 256;  // the row blocks of the stages of kqd

struct Shape {
  std::size_t rows, inner, outputs;
};

template <class T>
void openblas(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
  const auto size = [](std::size_t n) { return static_cast<blasint>(n); };
  const auto call = [&](auto product) {
    product(CblasRowMajor, CblasNoTrans, CblasNoTrans, size(c.rows()), size(c.cols()), size(a.cols()), T{1}, a.data(),
            size(a.row_stride()), b.data(), size(b.row_stride()), T{0}, c.data(), size(c.row_stride()));
  };
  if constexpr (std::is_same_v<T, double>) {
    call(cblas_dgemm);
  } else {
    call(cblas_sgemm);
  }
}

template <class T>
Matrix<T> numbers(std::size_t rows, std::size_t cols, unsigned seed) {
  Noise draw(seed);
  Matrix<T> matrix(rows, cols);
  for (T& v : matrix.values()) v = static_cast<T>(draw());
  return matrix;
}

template <class T>
void compare(const Shape& shape, unsigned threads) {
  const Matrix<T> a = numbers<T>(shape.rows, shape.inner, 1);
  const Matrix<T> b = numbers<T>(shape.inner, shape.outputs, 2);
  Matrix<T> c(shape.rows, shape.outputs, T{0});
  const auto over_blocks = [&](const auto& product) {
    parallel_for_blocks(shape.rows, kRowBlock, ThreadCount{threads}, [&](std::size_t begin, std::size_t end) {
      product(a.view().row_range(begin, end - begin), c.view().row_range(begin, end - begin));
    });
  };
  const auto times =
      take_turns({{"kqd",
                   [&] {
                     const simd::PackedFactor<T> right(b.view(), simd::Op::none);
                     over_blocks([&](MatrixView<const T> rows, MatrixView<T> out) {
                       simd::multiply(rows, simd::Op::none, right, out);
                     });
                   }},
                  {"OpenBLAS, a call per block",
                   [&] {
                     openblas_set_num_threads(1);
                     over_blocks([&](MatrixView<const T> rows, MatrixView<T> out) { openblas<T>(rows, b, out); });
                   }},
                  {"OpenBLAS, one call",
                   [&] {
                     openblas_set_num_threads(static_cast<int>(threads));
                     openblas<T>(a, b, c);
                   }}},
                 kTurns);
  const double operations = 2e-9 * static_cast<double>(shape.rows * shape.inner * shape.outputs);
  const double theirs = std::min(times[1], times[2]);
  fmt::print("  {:>6} x {:>4} x {:>4}  {:6}  {} thread{}  kqd {:6.1f} GFLOP/s   OpenBLAS {:6.1f}   ratio {:.2f}\n",
             shape.rows, shape.inner, shape.outputs, std::is_same_v<T, double> ? "double" : "float", threads,
             threads == 1 ? " " : "s", operations / times[0], operations / theirs, theirs / times[0]);
}

void compare_all() {
  fmt::print("rows x inner x outputs, medians of {} turns, {} against OpenBLAS ({})\n", kTurns, simd_name(),
             openblas_get_corename());
  for (const Shape& shape : {Shape{100'000, 10, 64}, Shape{100'000, 64, 64}, Shape{100'000, 128, 128},
                             Shape{20'000, 768, 128}, Shape{4'000, 3072, 64}, Shape{2'000, 50, 2'000}}) {
    for (const unsigned threads : {1U, 2U}) {
      compare<double>(shape, threads);
      compare<float>(shape, threads);
    }
  }
}

}  // namespace
}  // namespace kqd::bench

int main(int /*argc*/, char** argv) {
  // OpenBLAS falls back to its slowest kernels on a CPU that is newer than itself, and reads this when it is loaded.
  if (std::getenv("OPENBLAS_CORETYPE") == nullptr) {
    setenv("OPENBLAS_CORETYPE", kqd::simd_name().starts_with("avx3") ? "SkylakeX" : "Haswell", 1);
    execv("/proc/self/exe", argv);
  }
  return kqd::bench::run(kqd::bench::compare_all);
}
