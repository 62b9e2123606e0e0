#include "io/blocked_rows.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kqd {
namespace {

std::vector<double> drained(BlockedRows& rows) {
  std::vector<double> values;
  rows.drain([&](std::size_t first_row, MatrixView<const double> block) {
    EXPECT_EQ(first_row * block.cols(), values.size());
    for (std::size_t i = 0; i < block.rows(); ++i)
      values.insert(values.end(), block.row(i).begin(), block.row(i).end());
  });
  return values;
}

TEST(BlockedRows, give_back_what_was_appended_in_order) {
  for (const std::size_t num_rows : {0U, 1U, 2U, 3U, 4U, 7U}) {
    BlockedRows rows(2, 6 * sizeof(double));  // three rows per block
    std::vector<double> expected;
    for (std::size_t i = 0; i < num_rows; ++i) {
      double* row = rows.append_row();
      for (std::size_t j = 0; j < 2; ++j) expected.push_back(row[j] = static_cast<double>(10 * i + j));
    }
    EXPECT_EQ(rows.rows(), num_rows);
    EXPECT_EQ(rows.num_blocks(), (num_rows + 2) / 3);
    EXPECT_EQ(drained(rows), expected);
    EXPECT_EQ(rows.rows(), 0U);
  }
}

TEST(BlockedRows, appended_rows_are_zeros_and_mix_with_single_ones) {
  BlockedRows rows(1, 2 * sizeof(double));
  *rows.append_row() = 5.0;
  rows.append_rows(4);
  *rows.append_row() = 6.0;
  EXPECT_EQ(drained(rows), (std::vector<double>{5, 0, 0, 0, 0, 6}));
}

TEST(BlockedRows, a_row_larger_than_a_block_has_a_block_of_its_own) {
  BlockedRows rows(3, sizeof(double));
  rows.append_rows(2);
  EXPECT_EQ(rows.num_blocks(), 2U);
  EXPECT_EQ(rows.block(1).cols(), 3U);
}

TEST(BlockedRows, rows_that_are_not_kept_make_room_for_others) {
  for (const std::size_t rows_per_block : {1U, 3U, 100U}) {
    BlockedRows rows(2, rows_per_block * 2 * sizeof(double));
    std::vector<double> expected;
    for (int round = 0; round < 4; ++round) {
      for (int i = 0; i < 10; ++i) {
        double* const row = rows.append_row();
        row[0] = row[1] = 10.0 * round + i;
        expected.push_back(row[0]);
      }
      // All rows leave in the last round but one.
      const auto keep = [&](std::size_t row) { return round != 2 && row % 3 == 0; };
      rows.keep_rows(keep);
      std::vector<double> kept;
      for (std::size_t row = 0; row < expected.size(); ++row) {
        if (keep(row)) kept.push_back(expected[row]);
      }
      expected = kept;
      std::vector<double> found;
      for (std::size_t b = 0; b < rows.num_blocks(); ++b) {
        const MatrixView<double> block = rows.block(b);
        for (std::size_t i = 0; i < block.rows(); ++i) found.push_back(block(i, 1));
      }
      EXPECT_EQ(found, expected) << rows_per_block << " rows per block, round " << round;
    }
  }
}

}  // namespace
}  // namespace kqd
