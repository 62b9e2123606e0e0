// The C++ side of bench_python.py: the median time of the same calls in microseconds, on one thread. Both sides compute
// the same rows.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "kqd/kqd.hpp"
#include "side_by_side.hpp"

namespace {

kqd::Sample waves(std::size_t rows, double shift) {
  kqd::Sample sample{kqd::Matrix<double>(rows, 10), {}, {}};
  double phase = shift;
  for (double& value : sample.points.values()) value = std::sin(phase += 1.7);
  return sample;
}

double median_us(int repetitions, const auto& call) {
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call();
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  std::ranges::nth_element(times, times.begin() + repetitions / 2);
  return times[static_cast<std::size_t>(repetitions / 2)];
}

}  // namespace

int main(int argc, char** argv) {
  return kqd::bench::run([&] {
    const int repetitions = argc > 1 ? std::atoi(argv[1]) : 1000;
    const kqd::Sample x = waves(200, 0.0);
    const kqd::Sample y = waves(200, 0.5);
    kqd::MethodOptions options;
    options.kernel = kqd::parse_kernel("gaussian@2");
    options.threads = kqd::ThreadCount{1};
    options.directions.num_directions = 8;
    kqd::TwoSampleOptions test{.method = "ekqd", .statistic = options};
    test.test.num_permutations = 19;
    fmt::print("{:.1f} {:.1f}\n",
               median_us(repetitions, [&] { static_cast<void>(kqd::distance("ekqd", x, y, options)); }),
               median_us(repetitions, [&] { static_cast<void>(kqd::two_sample_test(x, y, test)); }));
  });
}
