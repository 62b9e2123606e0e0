// The whole test and one straightforward evaluation, the MMD plan and the plain matrix product, and the memory of a
// large MMD test. Usage: bench_test [ekqd|mmd|memory]
#include <fmt/format.h>

#include <string>
#include <thread>

#include "core/executor.hpp"
#include "kqd/kqd.hpp"
#include "kqd/testing/permutations.hpp"
#include "metrics/mean/mmd_plan.hpp"
#include "metrics/method.hpp"
#include "side_by_side.hpp"
#include "simd/matrix_product.hpp"
#include "straightforward.hpp"

namespace kqd::bench {
namespace {

// One straightforward evaluation with rows and sorts divided among two threads.
double straightforward_on_two_threads(MatrixView<const double> x, MatrixView<const double> y,
                                      const StraightforwardDirections& directions) {
  const std::size_t l = directions.coefficients.cols();
  std::vector<std::vector<double>> px(l, std::vector<double>(x.rows()));
  std::vector<std::vector<double>> py(l, std::vector<double>(y.rows()));
  const auto both = [](const auto& work) {
    std::thread other([&] { work(1); });
    work(0);
    other.join();
  };
  both([&](std::size_t half) {
    const std::size_t begin = half * x.rows() / 2;
    const std::size_t end = (half + 1) * x.rows() / 2;
    straightforward_project(x, directions, begin, end, px);
    straightforward_project(y, directions, begin, end, py);
  });
  std::vector<double> gaps(l);
  both([&](std::size_t half) {
    for (std::size_t i = half; i < l; i += 2) gaps[i] = straightforward_gap(px[i], py[i], 1.0);
  });
  double total = 0.0;
  for (const double gap : gaps) total += gap;
  return total / static_cast<double>(l);
}

void whole_test() {
  constexpr std::size_t kRows = 1'000'000;
  constexpr std::size_t kDim = 10;
  constexpr std::size_t kCount = 14;
  const Matrix<double> x = noise(kRows, kDim, 1);
  const Matrix<double> y = noise(kRows, kDim, 2);
  TwoSampleOptions options{.method = "ekqd"};
  options.statistic.directions.num_directions = kCount;
  options.statistic.directions.num_reference = kCount;
  options.statistic.threads = ThreadCount{2};
  options.test.num_permutations = 300;
  const Matrix<double> reference = noise(kCount, kDim, 7);
  const Matrix<double> coefficients = noise(kCount, kCount, 8);
  const StraightforwardDirections plain{reference, coefficients, 3.0};
  double pvalue = 0.0;
  double value = 0.0;
  const auto times =
      take_turns({{"test", [&] { pvalue = two_sample_test(SampleView{x}, SampleView{y}, options).test.pvalue; }},
                  {"one evaluation", [&] { value = straightforward_on_two_threads(x, y, plain); }}},
                 5);
  fmt::print("whole e-KQD_1 test, n = 10^6 + 10^6, d = 10, l = m = 14, B = 300, two threads, {}\n", simd_name());
  fmt::print(
      "  test {:.3f} s (p = {:.3f})   one straightforward evaluation {:.3f} s ({:.4f})   ratio {:.2f}   peak {:.0f} "
      "MB\n",
      times[0], pvalue, times[1], value, times[0] / times[1], peak_memory_mb());
}

void mmd_rate() {
  constexpr std::size_t kRows = 2000;
  constexpr std::size_t kDim = 50;
  constexpr std::size_t kPermutations = 1000;  // B = 999 and the observed labels
  const Matrix<double> x = noise(kRows, kDim, 1);
  const Matrix<double> y = noise(kRows, kDim, 2);
  const TestPool pool = make_test_pool(SampleView{x}, SampleView{y}, ThreadCount{1});
  KernelSpec kernel;
  kernel.bandwidth = 7.0;
  const MmdPlan plan(Kernel(kernel), pool, pool.order, MmdEstimate::u, ThreadCount{1});
  const PermutationSource source(Design::independent(), {kRows, kRows}, pool.order, Seed{0});
  std::vector<LabelBatch> batches((kPermutations + 63) / 64);
  for (std::size_t k = 0; k < batches.size(); ++k) {
    source.fill(PermutationMode::random, k, static_cast<unsigned>(std::min<std::size_t>(64, kPermutations - 64 * k)),
                batches[k]);
  }
  std::vector<double> values(kPermutations);
  const Matrix<double> a(kRows * 2, kRows * 2, 0.5);
  const Matrix<double> b(kRows * 2, kPermutations, 0.25);
  Matrix<double> c(kRows * 2, kPermutations);
  const auto times = take_turns({{"plan", [&] { plan.evaluate(batches, values, ThreadCount{1}); }},
                                 {"product", [&] { simd::multiply(a, simd::Op::none, b, simd::Op::none, c); }}},
                                7);
  const double flops = 2.0 * 4000.0 * 4000.0 * static_cast<double>(kPermutations);
  fmt::print("MMD U, n = 2000 + 2000, d = 50, B = 999, one thread, double, counting 2 N^2 B flops, {}\n", simd_name());
  fmt::print("  plan {:.3f} s, {:.1f} GFLOP/s   bare product {:.3f} s, {:.1f} GFLOP/s   rate {:.0f} %\n", times[0],
             1e-9 * flops / times[0], times[1], 1e-9 * flops / times[1], 100.0 * times[1] / times[0]);
}

void mmd_memory() {
  const Matrix<double> x = noise(20'000, 50, 1);
  const Matrix<double> y = noise(20'000, 50, 2);
  TwoSampleOptions options;
  options.method = "mmd";
  options.test.num_permutations = 199;
  options.statistic.allow_quadratic = true;
  double pvalue = 0.0;
  const double seconds =
      seconds_of([&] { pvalue = two_sample_test(SampleView{x}, SampleView{y}, options).test.pvalue; });
  fmt::print("MMD U test, n = 20,000 + 20,000, d = 50, B = 199: {:.1f} s (p = {:.3f}), peak {:.0f} MB\n", seconds,
             pvalue, peak_memory_mb());
}

}  // namespace
}  // namespace kqd::bench

int main(int argc, char** argv) {
  return kqd::bench::run([&] {
    const std::string what = argc > 1 ? argv[1] : "all";
    if (what == "all" || what == "memory") kqd::bench::mmd_memory();  // first: the peak is then its own
    if (what == "all" || what == "mmd") kqd::bench::mmd_rate();
    if (what == "all" || what == "ekqd") kqd::bench::whole_test();
  });
}
