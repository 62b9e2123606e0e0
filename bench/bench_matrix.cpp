// The distance matrix of k data sets against k (k - 1) / 2 calls of distance with the same settings.
// Usage: bench_matrix [data sets] [rows]
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "kqd/kqd.hpp"
#include "side_by_side.hpp"

namespace kqd::bench {
namespace {

void compare(const std::string& method, std::size_t count, std::size_t rows) {
  constexpr std::size_t kDim = 10;
  std::vector<Matrix<double>> data;
  for (unsigned i = 0; i < count; ++i) data.push_back(noise(rows, kDim, i + 1));
  std::vector<SampleView> samples;
  for (const auto& points : data) samples.push_back({points.view(), {}});
  const std::vector<std::string> names(count, "set");
  DistanceMatrixOptions options{.method = method, .statistic = {}};
  options.statistic.threads = ThreadCount{1};
  DistanceMatrix matrix = distance_matrix(samples, names, options);
  double worst = 0.0;
  const auto times = take_turns({{"matrix", [&] { matrix = distance_matrix(samples, names, options); }},
                                 {"pairs",
                                  [&] {
                                    for (std::size_t i = 0; i < count; ++i) {
                                      for (std::size_t j = i + 1; j < count; ++j) {
                                        const double only =
                                            distance(method, samples[i], samples[j], matrix.shared).statistic;
                                        worst = std::max(worst, std::abs(matrix.values(i, j) / only - 1.0));
                                      }
                                    }
                                  }}},
                                3);
  fmt::print(
      "{:<8} {} sets of {} x {}, one thread, {}: matrix {:.3f} s   pairs {:.3f} s   ratio {:.1f}   "
      "largest relative difference {:.1e}\n",
      method, count, rows, kDim, simd_name(), times[0], times[1], times[1] / times[0], worst);
}

}  // namespace
}  // namespace kqd::bench

int main(int argc, char** argv) {
  return kqd::bench::run([&] {
    const std::size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 20;
    const std::size_t rows = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 10'000;
    for (const char* method : {"ekqd", "supkqd", "sw"}) kqd::bench::compare(method, count, rows);
  });
}
