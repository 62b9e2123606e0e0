// Nanoseconds of processor time per row and direction to find the bin of a value and to count it, in blocks of rows as
// RowCounter takes them. The time of evaluating a direction is not part of it. Medians of many blocks.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <vector>

#include "core/feature_map.hpp"
#include "core/random.hpp"
#include "kqd/core/matrix.hpp"
#include "profile/line_grid.hpp"

namespace kqd {
namespace {

constexpr std::size_t kDirections = 14;
constexpr std::size_t kTurns = 200;
constexpr std::size_t kBlocks = 64;

using Draw = double (*)(RandomStream& stream);

double normal(RandomStream& stream) {
  return stream.normal();
}
double heavy_tailed(RandomStream& stream) {
  return stream.normal() / std::max(0.01, std::abs(stream.normal()));
}
double few_values(RandomStream& stream) {
  return static_cast<double>(stream.below(20));
}

void measure(const char* name, Draw draw) {
  RandomStream stream(Seed{1}, Purpose::test_data, 0);
  std::vector<double> pilot(20'000);
  for (double& value : pilot) value = draw(stream);
  const LineGrid grid = make_line_grid(pilot);
  const BinFinder finder(grid);
  Matrix<double> values(kFeatureRows * kBlocks, kDirections);
  for (double& value : values.values()) value = draw(stream);
  Matrix<std::uint32_t> counts(kDirections, grid.num_bins(), 0);
  std::array<std::uint8_t, kFeatureRows> bins{};
  std::vector<double> times;
  for (std::size_t turn = 0; turn < kTurns; ++turn) {
    const std::clock_t start = std::clock();
    for (std::size_t block = 0; block < kBlocks; ++block) {
      const auto some = values.view().row_range(block * kFeatureRows, kFeatureRows);
      for (std::size_t k = 0; k < kDirections; ++k) {
        finder.find(some, k, bins);
        for (const std::uint8_t bin : bins) ++counts(k, bin);
      }
    }
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    times.push_back(1e9 * seconds / static_cast<double>(values.rows() * kDirections));
  }
  std::ranges::sort(times);
  fmt::print("| {} | {} | {:.2f} | {:.2f} |\n", name, grid.num_bins(), times[kTurns / 2], times[kTurns / 20]);
}

}  // namespace
}  // namespace kqd

int main() {
  fmt::print("| values | bins | median ns per row and direction | 5% of the blocks are below |\n|---|---|---|---|\n");
  kqd::measure("normal", kqd::normal);
  kqd::measure("heavy tails", kqd::heavy_tailed);
  kqd::measure("20 different values", kqd::few_values);
}
