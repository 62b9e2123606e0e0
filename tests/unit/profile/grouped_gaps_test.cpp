// Gaps of permutations of units with different numbers of rows, against the rows themselves.
#include "profile/grouped_gaps.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.hpp"
#include "kqd/testing/permutations.hpp"
#include "quantiles/sort.hpp"

namespace kqd {
namespace {

struct DrawnUnits {
  GroupedLine line;
  std::vector<std::vector<double>> values;  // of each unit
  std::vector<double> rows;
};

// Whole numbers 0 .. 9, which have a bin each; unit u has 1 + u % 4 rows, or 3.
DrawnUnits draw_units(std::size_t num_units, bool equal) {
  RandomStream stream(Seed{4}, Purpose::test_data, equal ? 1 : 0);
  DrawnUnits units;
  std::vector<double> pilot;
  for (std::size_t i = 0; i < 200; ++i) pilot.push_back(static_cast<double>(i % 10));
  units.line.grid = make_line_grid(pilot);
  units.line.counts = Matrix<std::uint32_t>(num_units, units.line.grid.num_bins(), 0U);
  const BinFinder bin(units.line.grid);
  for (std::size_t u = 0; u < num_units; ++u) {
    auto& own = units.values.emplace_back();
    for (std::size_t i = 0; i < (equal ? 3 : 1 + u % 4); ++i) {
      own.push_back(static_cast<double>(stream.below(10)));
      ++units.line.counts(u, bin(own.back()));
    }
    units.rows.push_back(static_cast<double>(own.size()));
  }
  return units;
}

LabelBatch some_labels(std::size_t num_units, std::size_t num_x) {
  std::vector<std::size_t> order(num_units);
  for (std::size_t i = 0; i < num_units; ++i) order[i] = i;
  const PermutationSource source(Design::independent(), {num_x, num_units - num_x}, order, Seed{9});
  LabelBatch batch;
  source.fill(PermutationMode::random, 0, LabelBatch::kCapacity, batch);
  return batch;
}

std::vector<double> rows_of(const DrawnUnits& units, const LabelBatch& batch, unsigned k, bool is_x) {
  std::vector<double> values;
  for (std::size_t u = 0; u < units.values.size(); ++u) {
    if (batch.is_x(u, k) == is_x) values.insert(values.end(), units.values[u].begin(), units.values[u].end());
  }
  sort_ascending(values);
  return values;
}

TEST(GroupedGaps, are_those_of_the_rows_whether_units_are_equal_or_not) {
  for (const bool equal : {true, false}) {
    const DrawnUnits units = draw_units(37, equal);
    const LabelBatch batch = some_labels(37, 15);
    const UnitPermutations permutations({&batch, 1}, LabelBatch::kCapacity, units.rows);
    EXPECT_EQ(permutations.equal_units(), equal);
    std::vector<double> taus(LabelBatch::kCapacity);
    grouped_gaps(units.line, GapWeight::size, permutations, taus);
    std::vector<double> ranked(LabelBatch::kCapacity);
    grouped_gaps(units.line, GapWeight::anderson_darling, permutations, ranked);
    for (unsigned k = 0; k < LabelBatch::kCapacity; ++k) {
      const std::vector<double> x = rows_of(units, batch, k, true);
      const std::vector<double> y = rows_of(units, batch, k, false);
      const auto share_below = [](const std::vector<double>& values, double edge) {
        return static_cast<double>(std::ranges::lower_bound(values, edge) - values.begin()) /
               static_cast<double>(values.size());
      };
      double by_size = 0.0;
      double by_rank = 0.0;
      const std::vector<double> widths = units.line.grid.gap_weights(GapWeight::size);
      for (std::size_t b = 0; b < units.line.grid.edges.size(); ++b) {
        const double gap =
            std::abs(share_below(x, units.line.grid.edges[b]) - share_below(y, units.line.grid.edges[b]));
        by_size += widths[b] * gap;
        by_rank += units.line.grid.rank_weights[b] * gap;
      }
      EXPECT_NEAR(taus[k], by_size, grouped_gap_slack(by_size) + 1e-14);
      EXPECT_NEAR(ranked[k], by_rank, grouped_gap_slack(by_rank) + 1e-13);
    }
    for (const char* levels : {"uniform", "triangle"}) {
      for (const double power : {1.0, 2.0, std::numeric_limits<double>::infinity()}) {
        const LevelWeights weights = parse_level_weights(levels);
        grouped_quantile_gaps(units.line, Power{power}, weights, permutations, taus);
        for (unsigned k = 0; k < LabelBatch::kCapacity; ++k) {
          const std::vector<double> x = rows_of(units, batch, k, true);
          const std::vector<double> y = rows_of(units, batch, k, false);
          EXPECT_NEAR(taus[k], quantile_gap(x, y, LevelGrid(x.size(), y.size(), weights), Power{power}), 1e-12);
        }
      }
    }
  }
}

// Units of a billion rows: products of numbers of rows are beyond 2^53, their difference is not.
TEST(GroupedGaps, of_very_large_units_do_not_cancel) {
  GroupedLine line;
  line.grid = {.edges = {0.0}, .values = {0.0, 1.0}, .rank_weights = {1.0}};
  line.counts = Matrix<std::uint32_t>(2, 2);
  const std::uint32_t n = 3'000'000'001U;
  line.counts(0, 0) = n / 2;
  line.counts(0, 1) = n - n / 2;
  line.counts(1, 0) = n / 2;
  line.counts(1, 1) = n - n / 2 + 1;
  const std::vector<double> rows = {static_cast<double>(n), static_cast<double>(n) + 1.0};
  LabelBatch batch;
  batch.words = {1, 0};
  batch.count = 1;
  batch.num_x[0] = 1;
  std::vector<double> tau(1);
  grouped_gaps(line, GapWeight::size, UnitPermutations({&batch, 1}, 1, rows), tau);
  // a/n - a/(n + 1) = a / (n (n + 1)).
  const double expected = static_cast<double>(n / 2) / (rows[0] * rows[1]);
  EXPECT_NEAR(tau[0] / expected, 1.0, 1e-14);
}

}  // namespace
}  // namespace kqd
