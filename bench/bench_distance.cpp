// One evaluation of e-KQD and the straightforward version, the projection step and the plain matrix product, and growth
// of time and memory with n. Usage: bench_distance [ratio|projection|growth] [largest exponent of 10]
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "kqd/kqd.hpp"
#include "side_by_side.hpp"
#include "simd/matrix_product.hpp"
#include "straightforward.hpp"

namespace kqd::bench {
namespace {

MethodOptions fixed_options(std::size_t dim, std::size_t l, std::size_t m) {
  MethodOptions options;
  options.kernel.bandwidth = std::sqrt(static_cast<double>(dim));
  options.directions.reference = ReferenceMeasure::points;
  options.directions.reference_points = noise(m, dim, 7);
  options.directions.coefficients = noise(m, l, 8);
  options.threads = ThreadCount{1};
  return options;
}

void ratio() {
  constexpr std::size_t kRows = 1'000'000;
  constexpr std::size_t kDim = 10;
  constexpr std::size_t kCount = 14;
  const Matrix<double> x = noise(kRows, kDim, 1);
  const Matrix<double> y = noise(kRows, kDim, 2);
  const MethodOptions options = fixed_options(kDim, kCount, kCount);
  const KernelDirections directions(Kernel(options.kernel), options.directions.reference_points,
                                    options.directions.coefficients);
  Matrix<double> scaled(options.directions.coefficients);
  for (std::size_t j = 0; j < kCount; ++j) {
    for (std::size_t i = 0; i < kCount; ++i) scaled(j, i) /= directions.norms()[i];
  }
  const StraightforwardDirections plain{options.directions.reference_points, scaled, *options.kernel.bandwidth};
  double ours = 0.0;
  double theirs = 0.0;
  const auto times = take_turns({{"kqd", [&] { ours = ekqd(SampleView{x}, SampleView{y}, options).statistic; }},
                                 {"straightforward", [&] { theirs = straightforward_ekqd(x, y, plain, 1.0); }}},
                                5);
  fmt::print("e-KQD_1, n = 10^6 + 10^6, d = 10, l = m = 14, one thread, {}\n", simd_name());
  fmt::print("  kqd {:.3f} s   straightforward {:.3f} s   ratio {:.2f}   relative difference {:.1e}\n", times[0],
             times[1], times[1] / times[0], std::abs(ours / theirs - 1.0));
}

void projection() {
  constexpr std::size_t kRows = 4000;
  constexpr std::size_t kDim = 3072;
  constexpr std::size_t kCount = 64;
  const Matrix<double> points = noise(kRows, kDim, 1);
  const MethodOptions options = fixed_options(kDim, kCount, kCount);
  const KernelDirections directions(Kernel(options.kernel), options.directions.reference_points,
                                    options.directions.coefficients);
  Matrix<double> values(kCount, kRows);
  Matrix<double> product(kRows, kCount);
  const auto times = take_turns({{"project", [&] { directions.evaluate(points, 0, values, ThreadCount{1}); }},
                                 {"product",
                                  [&] {
                                    simd::multiply(points, simd::Op::none, options.directions.reference_points,
                                                   simd::Op::transpose, product);
                                  }}},
                                15);
  fmt::print("projection step, d = 3072, n = 2000 + 2000, m = l = 64, one thread, {}\n", simd_name());
  fmt::print("  kqd {:.4f} s   bare product {:.4f} s   ratio {:.2f}\n", times[0], times[1], times[0] / times[1]);
}

void growth_at(std::size_t n) {
  const Matrix<double> x = noise(n, 10, 1);
  const Matrix<double> y = noise(n, 10, 2);
  const double before = peak_memory_mb();
  MethodOptions options = fixed_options(10, 14, 14);
  std::vector<double> times;
  for (int repetition = 0; repetition < (n >= 1'000'000 ? 3 : 7); ++repetition) {
    times.push_back(seconds_of([&] { static_cast<void>(ekqd(SampleView{x}, SampleView{y}, options)); }));
  }
  const double input_mb = 2.0 * static_cast<double>(n) * 10.0 * 8.0 / 1048576.0;
  fmt::print("| {} | {:.4f} | {:.1f} | {:.0f} | {:.0f} | {:.2f} |\n", n, median(times),
             1e9 * median(times) / (2.0 * static_cast<double>(n) * 14.0), input_mb, peak_memory_mb(),
             peak_memory_mb() / std::max(input_mb, before));
}

// One size per process, so that each size has its own memory peak.
void growth(int largest) {
  fmt::print("| n per sample | seconds | ns per row and direction | input MB | peak MB | peak / input |\n");
  fmt::print("|---|---|---|---|---|---|\n");
  std::fflush(stdout);
  const std::string self = "/proc/self/exe";
  char path[4096] = {};
  if (realpath(self.c_str(), path) == nullptr) return;
  for (int exponent = 3; exponent <= largest; ++exponent) {
    const int code =
        std::system(fmt::format("'{}' at {}", path, static_cast<std::size_t>(std::pow(10.0, exponent))).c_str());
    if (code != 0) return;
  }
}

}  // namespace
}  // namespace kqd::bench

int main(int argc, char** argv) {
  return kqd::bench::run([&] {
    const std::string what = argc > 1 ? argv[1] : "all";
    if (what == "at" && argc > 2) {
      kqd::bench::growth_at(std::strtoull(argv[2], nullptr, 10));
      return;
    }
    if (what == "all" || what == "ratio") kqd::bench::ratio();
    if (what == "all" || what == "projection") kqd::bench::projection();
    if (what == "all" || what == "growth") kqd::bench::growth(argc > 2 ? std::atoi(argv[2]) : 7);
  });
}
