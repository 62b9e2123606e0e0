#include "core/pool.hpp"

#include <gtest/gtest.h>

#include <set>

#include "support/rounding.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

using test::Real;

TEST(Pool, is_the_rows_of_x_then_the_rows_of_y) {
  const Matrix<double> x(2, 2, {1, 2, 3, 4});
  const Matrix<double> y(1, 2, {5, 6});
  const Pool pool{x, y};
  EXPECT_EQ(pool.size(), 3U);
  EXPECT_EQ(pool.dim(), 2U);
  EXPECT_EQ(pool.row(1)[1], 4);
  EXPECT_EQ(pool.row(2)[0], 5);
  const std::vector<std::size_t> indices = {2, 0, 2};
  const Matrix<double> rows = gather(pool, indices);
  EXPECT_EQ(rows(0, 1), 6);
  EXPECT_EQ(rows(1, 0), 1);
  EXPECT_EQ(rows(2, 0), 5);
}

// The deviations from the first row lose one rounding each, their sum two, then a division and an addition.
TEST(PooledMean, keeps_its_digits_far_from_the_origin) {
  for (const double location : {0.0, 1.0, 1e8, -1e12}) {
    test::Source source(2);
    const Matrix<double> x = test::normal_matrix({500, 3}, source, location);
    const Matrix<double> y = test::normal_matrix({1500, 3}, source, location);
    const auto mean = pooled_mean({x, y});
    for (std::size_t k = 0; k < 3; ++k) {
      Real exact = 0;
      Real spread = 0;
      for (std::size_t i = 0; i < 2000; ++i) {
        const Real v = i < 500 ? x(i, k) : y(i - 500, k);
        exact += v / 2000;
        spread += std::abs(v - x(0, k)) / 2000;
      }
      const Real bound = test::roundings(4) * spread + test::kUnit * std::abs(exact);
      EXPECT_TRUE(test::within(mean[k], exact, bound)) << location;
    }
  }
}

TEST(Subsample, is_the_whole_pool_in_order_when_that_is_small_enough) {
  test::Source source(3);
  const Matrix<double> x = test::normal_matrix({3, 2}, source);
  const Matrix<double> y = test::normal_matrix({4, 2}, source);
  const Matrix<double> rows = subsample({x, y}, 7, Seed{1}, Purpose::test_data);
  ASSERT_EQ(rows.rows(), 7U);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(rows(2, k), x(2, k));
    EXPECT_EQ(rows(3, k), y(0, k));
  }
}

TEST(Subsample, draws_different_rows_and_does_not_look_where_x_ends) {
  Matrix<double> all(50, 1);
  for (std::size_t i = 0; i < 50; ++i) all(i, 0) = static_cast<double>(i);
  const auto cut_at = [&](std::size_t nx, Seed seed) {
    const Matrix<double> rows =
        subsample({all.view().row_range(0, nx), all.view().row_range(nx, 50 - nx)}, 20, seed, Purpose::test_data);
    return std::vector<double>(rows.values().begin(), rows.values().end());
  };
  const auto chosen = cut_at(1, Seed{4});
  EXPECT_EQ(std::set<double>(chosen.begin(), chosen.end()).size(), 20U);
  for (const std::size_t nx : {0UL, 10UL, 25UL, 49UL}) EXPECT_EQ(cut_at(nx, Seed{4}), chosen);
  EXPECT_NE(cut_at(1, Seed{5}), chosen);
}

}  // namespace
}  // namespace kqd
