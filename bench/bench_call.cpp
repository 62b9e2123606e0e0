// The C++ side of bench_python.py: the median processor time of the same calls in microseconds, on one thread. Both
// sides compute the same rows.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <utility>
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

double median_us(int repetitions, const std::function<void()>& call) {
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) times.push_back(1e6 * kqd::bench::processor_seconds_of(call));
  return kqd::bench::median(std::move(times));
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
    options.directions.num_reference = 64;  // few, so that the library takes little of the time
    kqd::TwoSampleOptions test{.method = "ekqd", .statistic = options};
    test.test.num_permutations = 19;
    fmt::print("{:.1f} {:.1f}\n",
               median_us(repetitions, [&] { static_cast<void>(kqd::distance("ekqd", x, y, options)); }),
               median_us(repetitions, [&] { static_cast<void>(kqd::two_sample_test(x, y, test)); }));
  });
}
