#include "kqd/monitor/change_point.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/source.hpp"

namespace kqd {
namespace {

Matrix<double> with_change(std::size_t rows, std::size_t start, double shift, test::Source& source) {
  Matrix<double> found = test::normal_matrix({rows, 3}, source);
  for (std::size_t i = start; i < rows; ++i) found(i, 1) += shift;
  return found;
}

TEST(ChangePoint, a_large_change_is_found_where_it_is) {
  test::Source source(11);
  const ChangePoint found = change_point(with_change(40, 25, 8.0, source).view());
  EXPECT_EQ(found.start, 25U);
  EXPECT_TRUE(std::ranges::find(found.likely, 25U) != found.likely.end());
  EXPECT_LE(found.likely.size(), 3U);
  EXPECT_TRUE(std::ranges::is_sorted(found.likely));
}

// Exact: the set holds the true start with probability 0.95. Of 200 sequences fewer than 172 with probability below
// 1e-6.
TEST(ChangePoint, the_confidence_set_holds_the_true_start) {
  test::Source source(12);
  int covered = 0;
  std::size_t total = 0;
  for (int run = 0; run < 200; ++run) {
    const std::size_t start = 3 + source.below(24);
    const ChangePoint found = change_point(with_change(30, start, 1.5, source).view());
    if (std::ranges::find(found.likely, start) != found.likely.end()) ++covered;
    total += found.likely.size();
  }
  EXPECT_GE(covered, 172);
  EXPECT_LT(total, 200U * 20U);  // it excludes starts
}

TEST(ChangePoint, threads_change_nothing) {
  test::Source source(13);
  const Matrix<double> rows = with_change(30, 12, 1.0, source);
  const ChangePoint one = change_point(rows.view(), 0.95, ThreadCount{1});
  const ChangePoint three = change_point(rows.view(), 0.95, ThreadCount{3});
  EXPECT_EQ(one.start, three.start);
  EXPECT_EQ(one.likely, three.likely);
}

// p-values of independent rows are uniform: of 300 at most 0.05 + 5 standard errors are at most 0.05.
TEST(NeighbourPvalue, independent_rows_keep_the_level_and_trends_are_found) {
  test::Source source(14);
  int rejected = 0;
  for (int run = 0; run < 300; ++run) {
    if (neighbour_pvalue(test::normal_matrix({20, 2}, source).view()) <= 0.05) ++rejected;
  }
  EXPECT_LE(rejected, 34);
  Matrix<double> walk(40, 2, 0.0);
  for (std::size_t i = 1; i < walk.rows(); ++i) {
    for (std::size_t k = 0; k < 2; ++k) walk(i, k) = 0.8 * walk(i - 1, k) + source.normal();
  }
  EXPECT_LE(neighbour_pvalue(walk.view()), 0.01);
}

}  // namespace
}  // namespace kqd
