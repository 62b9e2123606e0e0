#include "profile/row_groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "support/errors.hpp"

namespace kqd {
namespace {

std::vector<std::size_t> all_rows(std::size_t n) {
  std::vector<std::size_t> rows(n);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

// 500 mixed columns are some 1800 columns of numbers.
TEST(RowGroups, are_permuted_of_many_rows_and_of_many_numbers) {
  EXPECT_FALSE(are_many(100'000, 10));
  EXPECT_TRUE(are_many(100'001, 10));
  EXPECT_FALSE(are_many(70'000, 784));
  EXPECT_TRUE(are_many(100'000, 1800));
}

TEST(GroupSizes, are_equal_for_both_samples_and_at_least_128_where_rows_allow) {
  const auto expect = [](std::size_t nx, std::size_t ny, std::size_t g, std::size_t kx, std::size_t ky) {
    const GroupSizes sizes = group_sizes(nx, ny);
    EXPECT_EQ(sizes.rows_per_group, g) << nx << " + " << ny;
    EXPECT_EQ(sizes.num_x, kx) << nx << " + " << ny;
    EXPECT_EQ(sizes.num_y, ky) << nx << " + " << ny;
  };
  expect(1, 1, 1, 1, 1);
  expect(100, 90, 1, 100, 90);
  expect(128'000, 128'000, 1000, 128, 128);
  expect(128'999, 128'000, 1000, 128, 128);
  expect(1'000'000, 1'000'000, 7812, 128, 128);
  expect(400'000, 100'000, 781, 512, 128);
  expect(100'000, 400'000, 781, 128, 512);
  expect(1'000'000, 100'000, 1954, 511, 51);  // groups grow, so that the larger sample takes part
  expect(10'000'000, 1'600, 100, 512, 16);    // down to 16 groups of the smaller one
}

TEST(RowGroups, have_each_row_once_and_rows_of_one_sample_only) {
  const std::size_t nx = 1300;
  const std::size_t ny = 2700;
  const RowGroups groups = make_row_groups(all_rows(nx + ny), nx, Seed{2});
  EXPECT_EQ(groups.sizes.rows_per_group, 10U);
  EXPECT_EQ(groups.num_units(), 130U + 270U);
  std::set<std::size_t> seen;
  std::set<std::size_t> numbers;
  for (std::size_t unit = 0; unit < groups.num_units(); ++unit) {
    const bool is_x = groups.order[unit] < groups.sizes.num_x;
    numbers.insert(groups.order[unit]);
    for (const std::size_t row : groups.rows_of(unit)) {
      EXPECT_EQ(row < nx, is_x);
      seen.insert(row);
    }
  }
  EXPECT_EQ(seen.size(), nx + ny);
  EXPECT_EQ(numbers.size(), groups.num_units());
}

TEST(RowGroups, leave_out_rows_beyond_the_last_group_at_random) {
  std::vector<double> omitted(261, 0.0);
  constexpr std::size_t kSeeds = 2000;
  for (std::size_t seed = 0; seed < kSeeds; ++seed) {
    const RowGroups groups = make_row_groups(all_rows(261 + 256), 261, Seed{seed});
    ASSERT_EQ(groups.sizes.rows_per_group, 2U);
    const std::set<std::size_t> kept(groups.rows.begin(), groups.rows.end());
    for (std::size_t i = 0; i < 261; ++i) omitted[i] += kept.contains(i) ? 0.0 : 1.0;
  }
  EXPECT_EQ(std::accumulate(omitted.begin(), omitted.end(), 0.0), static_cast<double>(kSeeds));
  // Poisson with mean 2000/261 = 7.7: above 30 with probability below 1e-8 for each of 261 rows.
  EXPECT_LT(*std::ranges::max_element(omitted), 31.0);
}

TEST(RowGroups, of_x_and_y_exchanged_hold_the_same_rows) {
  const std::size_t n = 640;
  const RowGroups groups = make_row_groups(all_rows(2 * n), n, Seed{5});
  // The same rows with X and Y exchanged: row i of X is now row n + i, listed at the same place.
  std::vector<std::size_t> exchanged(2 * n);
  for (std::size_t i = 0; i < 2 * n; ++i) exchanged[i] = (i + n) % (2 * n);
  const RowGroups other = make_row_groups(exchanged, n, Seed{5});
  const auto parts = [&](const RowGroups& g, std::size_t shift) {
    std::set<std::set<std::size_t>> sets;
    for (std::size_t unit = 0; unit < g.num_units(); ++unit) {
      std::set<std::size_t> rows;
      for (const std::size_t row : g.rows_of(unit)) rows.insert((row + shift) % (2 * n));
      sets.insert(rows);
    }
    return sets;
  };
  EXPECT_EQ(parts(groups, 0), parts(other, n));
}

// Every key is in one group, and groups have equally many keys.
TEST(RowGroups, by_keys_keep_the_rows_of_a_key_together) {
  const std::size_t nx = 2000;
  const std::size_t ny = 1500;
  std::vector<std::uint64_t> keys;
  for (std::size_t i = 0; i < nx + ny; ++i) keys.push_back(i < nx ? (i * i) % 401 : i % 270);
  const RowGroups groups = make_row_groups(all_rows(nx + ny), nx, Seed{3}, GroupAssignment::key, keys);
  std::map<std::pair<bool, std::uint64_t>, std::size_t> group_of_key;
  std::vector<std::set<std::uint64_t>> keys_of(groups.num_units());
  for (std::size_t unit = 0; unit < groups.num_units(); ++unit) {
    const bool is_x = groups.order[unit] < groups.sizes.num_x;
    for (const std::size_t row : groups.rows_of(unit)) {
      EXPECT_EQ(row < nx, is_x);
      const auto [found, is_new] = group_of_key.try_emplace({is_x, keys[row]}, unit);
      EXPECT_EQ(found->second, unit);
      keys_of[unit].insert(keys[row]);
    }
  }
  for (const auto& own : keys_of) EXPECT_EQ(own.size(), keys_of.front().size());
  EXPECT_EQ(groups.sizes.num_y * keys_of.front().size(), 270U);
}

TEST(RowGroups, in_blocks_are_contiguous_and_have_all_rows) {
  const std::size_t n = 1000;
  std::vector<std::uint64_t> ranks;
  for (std::size_t i = 0; i < 2 * n; ++i) ranks.push_back((i * 377) % n);
  const RowGroups groups = make_row_groups(all_rows(2 * n), n, Seed{3}, GroupAssignment::blocks, ranks);
  EXPECT_EQ(groups.sizes.num_x, 32U);
  EXPECT_EQ(groups.rows.size(), 2 * n);
  for (std::size_t unit = 0; unit < groups.num_units(); ++unit) {
    std::vector<std::uint64_t> own;
    for (const std::size_t row : groups.rows_of(unit)) own.push_back(ranks[row]);
    std::ranges::sort(own);
    EXPECT_EQ(own.back() - own.front() + 1, own.size());
    EXPECT_NEAR(static_cast<double>(own.size()), 1000.0 / 32.0, 1.0);
  }
}

TEST(RowGroups, of_an_empty_sample_are_an_error) {
  test::expect_error(ErrorCode::empty_sample, "a sample has no rows", [] { static_cast<void>(group_sizes(0, 5)); });
}

}  // namespace
}  // namespace kqd
