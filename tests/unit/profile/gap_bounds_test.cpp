// The interval of a gap contains the gap of the rows, whatever the rows are.
#include "profile/gap_bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/random.hpp"
#include "quantiles/sort.hpp"

namespace kqd {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

using Draw = double (*)(RandomStream& stream);

double normal_value(RandomStream& stream) {
  return std::clamp(stream.normal(), -50.0, 50.0);
}
double shifted_value(RandomStream& stream) {
  return std::clamp(0.4 + 1.3 * stream.normal(), -50.0, 50.0);
}
double tied_value(RandomStream& stream) {
  return static_cast<double>(stream.below(7)) - 3.0;
}
// Half of the rows in one value, a few far out.
double mixed_value(RandomStream& stream) {
  const double u = stream.uniform();
  return u < 0.5 ? 0.25 : u < 0.97 ? stream.normal() : std::copysign(40.0 * stream.uniform(), stream.normal());
}
double one_value(RandomStream& /*stream*/) {
  return 1.5;
}

std::vector<double> draw_values(Draw draw, std::size_t n, std::uint64_t index) {
  RandomStream stream(Seed{77}, Purpose::test_data, index);
  std::vector<double> values(n);
  for (double& v : values) v = draw(stream);
  sort_ascending(values);
  return values;
}

BinnedSample binned(const LineGrid& grid, const std::vector<double>& values) {
  BinnedSample sample{std::vector<std::uint64_t>(grid.num_bins(), 0), std::vector<double>(grid.num_bins(), 0.0), 0.0,
                      values.size()};
  constexpr double kUnit = 1.0 / 1048576.0;  // sums of rounded values, as profiles have them
  const BinFinder bin(grid);
  for (const double v : values) {
    ++sample.counts[bin(v)];
    sample.sums[bin(v)] += std::nearbyint(v / kUnit) * kUnit;
  }
  sample.rounding = 0.5 * kUnit;
  return sample;
}

struct Widths {
  double total = 0.0;
  std::size_t count = 0;
};

TEST(GapBounds, contain_the_gap_of_the_rows) {
  const std::vector<Draw> draws = {normal_value, shifted_value, tied_value, mixed_value, one_value};
  const std::vector<std::size_t> sizes = {1, 2, 17, 400, 1001};
  const std::vector<std::string> levels = {"uniform", "triangle", "beta:0.5:2", "interval:0.1:0.4", "atom:0.5"};
  std::uint64_t index = 0;
  std::size_t checked = 0;
  for (const Draw pilot_of : draws) {
    for (const Draw x_of : draws) {
      for (const Draw y_of : draws) {
        std::vector<double> pilot = draw_values(pilot_of, 600, ++index);
        const LineGrid grid = make_line_grid(pilot);
        const std::vector<double> x = draw_values(x_of, sizes[index % sizes.size()], 2 * index + 10'000);
        const std::vector<double> y = draw_values(y_of, sizes[index / 2 % sizes.size()], 2 * index + 10'001);
        double bound = 0.0;
        for (const double v : x) bound = std::max(bound, std::abs(v));
        for (const double v : y) bound = std::max(bound, std::abs(v));
        const BinnedSample of_x = binned(grid, x);
        const BinnedSample of_y = binned(grid, y);
        for (const std::string& name : levels) {
          const LevelWeights weights = parse_level_weights(name);
          for (const double power : {1.0, 1.5, 2.0, 5.0, kInfinite}) {
            const double exact = quantile_gap(x, y, LevelGrid(x.size(), y.size(), weights), Power{power});
            const GapBounds found = bounded_gap(grid, of_x, of_y, bound, Power{power}, weights);
            EXPECT_LE(found.lower, exact) << name << " " << power << " " << index;
            EXPECT_GE(found.upper, exact) << name << " " << power << " " << index;
            EXPECT_LE(found.lower, found.value);
            EXPECT_LE(found.value, found.upper);
            ++checked;
          }
        }
      }
    }
  }
  EXPECT_EQ(checked, 125U * 25U);
}

// Far apart, the sign never changes inside a bin, and the sums give the distance itself.
TEST(GapBounds, are_the_gap_itself_where_samples_are_far_apart) {
  std::vector<double> pilot = draw_values(normal_value, 5000, 1);
  const LineGrid grid = make_line_grid(pilot);
  const std::vector<double> x = draw_values(normal_value, 3000, 2);
  std::vector<double> y = x;
  for (double& v : y) v += 1.0;
  const GapBounds found = bounded_gap(grid, binned(grid, x), binned(grid, y), 10.0, Power{1.0}, LevelWeights());
  EXPECT_NEAR(found.value, 1.0, 2e-6);
  EXPECT_LT(found.upper - found.lower, 5e-3);
}

// Of equal distributions the interval is as wide as the bins: 1/200 of the range or so.
TEST(GapBounds, are_narrow_for_samples_that_are_alike) {
  std::vector<double> pilot = draw_values(normal_value, 20'000, 1);
  const LineGrid grid = make_line_grid(pilot);
  const std::vector<double> x = draw_values(normal_value, 20'000, 2);
  const std::vector<double> y = draw_values(normal_value, 20'000, 3);
  const GapBounds found = bounded_gap(grid, binned(grid, x), binned(grid, y), 10.0, Power{1.0}, LevelWeights());
  EXPECT_LT(found.upper - found.lower, 0.05);
}

}  // namespace
}  // namespace kqd
