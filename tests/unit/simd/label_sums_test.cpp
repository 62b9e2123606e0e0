#include "simd/label_sums.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "each_target.hpp"

namespace kqd {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

std::vector<LabelBatch> random_labels(std::size_t rows, std::size_t permutations, std::mt19937_64& random) {
  std::vector<LabelBatch> batches((permutations + 63) / 64);
  for (std::size_t b = 0; b < batches.size(); ++b) {
    batches[b].count = static_cast<unsigned>(std::min<std::size_t>(64, permutations - 64 * b));
    const std::uint64_t used = batches[b].count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << batches[b].count) - 1;
    for (std::size_t i = 0; i < rows; ++i) batches[b].words.push_back(random() & used);
  }
  return batches;
}

Matrix<double> random_values(std::size_t rows, std::size_t cols, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  Matrix<double> values(rows, cols);
  for (double& value : values.values()) value = normal(random);
  return values;
}

bool is_x(const std::vector<LabelBatch>& batches, std::size_t row, std::size_t permutation) {
  return batches[permutation / 64].is_x(row, permutation % 64);
}

struct Case {
  std::size_t rows, cols, permutations;
};
// Whole and broken groups of 16 rows, 8 columns and 192 permutations.
const std::vector<Case> kCases = {{1, 1, 1}, {16, 8, 64}, {37, 5, 65}, {256, 24, 192}, {300, 19, 413}, {15, 33, 200}};

TEST(RowGroupLabels, hold_the_labels_of_16_rows_in_each_word) {
  std::mt19937_64 random(1);
  for (const auto& [rows, cols, permutations] : kCases) {
    const auto batches = random_labels(rows, permutations, random);
    const simd::RowGroupLabels labels(batches, permutations);
    ASSERT_EQ(labels.permutation_count(), permutations);
    for (std::size_t b = 0; b < permutations; ++b) {
      for (std::size_t i = 0; i < rows; ++i) {
        ASSERT_EQ(((labels.at(i / 16 * 16)[b] >> (i % 16)) & 1) != 0, is_x(batches, i, b)) << i << ' ' << b;
      }
      if (rows % 16 != 0) {
        EXPECT_EQ(labels.at(rows / 16 * 16)[b] >> (rows % 16), 0) << "rows beyond the last";
      }
    }
  }
}

TEST(AddLabelledRows, adds_the_rows_that_a_permutation_calls_x) {
  test::on_each_target([&] {
    std::mt19937_64 random(2);
    for (const auto& [rows, cols, permutations] : kCases) {
      const std::size_t first_row = 32;
      const auto batches = random_labels(first_row + rows, permutations, random);
      const Matrix<double> values = random_values(rows, cols, random);
      Matrix<double> sums(permutations, cols, 0.25);
      simd::add_labelled_rows(values, simd::RowGroupLabels(batches, permutations), first_row, sums);
      for (std::size_t b = 0; b < permutations; ++b) {
        for (std::size_t k = 0; k < cols; ++k) {
          long double sum = 0.25L, magnitude = 0.25L;
          for (std::size_t i = 0; i < rows; ++i) {
            if (!is_x(batches, first_row + i, b)) continue;
            sum += values(i, k);
            magnitude += std::abs(values(i, k));
          }
          // No order of n additions rounds by more than n eps of the sum of magnitudes.
          ASSERT_NEAR(sums(b, k), static_cast<double>(sum),
                      static_cast<double>(rows + 1) * kEps * static_cast<double>(magnitude));
        }
      }
    }
  });
}

TEST(AddQuadraticForms, add_the_cells_whose_row_and_column_are_both_x) {
  test::on_each_target([&] {
    std::mt19937_64 random(3);
    for (const auto& [rows, cols, permutations] : kCases) {
      const std::size_t first_row = 16;
      const std::size_t first_column = 48;
      const auto batches = random_labels(first_column + std::max(rows, cols), permutations, random);
      const Matrix<double> values = random_values(rows, cols, random);
      std::vector<double> forms(permutations, 1.0);
      simd::add_quadratic_forms(2.0, values, simd::RowGroupLabels(batches, permutations), first_row, first_column,
                                forms);
      for (std::size_t b = 0; b < permutations; ++b) {
        long double form = 1.0L, magnitude = 1.0L;
        for (std::size_t i = 0; i < rows; ++i) {
          for (std::size_t k = 0; k < cols; ++k) {
            if (!is_x(batches, first_row + i, b) || !is_x(batches, first_column + k, b)) continue;
            form += 2.0L * values(i, k);
            magnitude += 2.0L * std::abs(values(i, k));
          }
        }
        const auto additions = static_cast<double>(rows + cols + 1);
        ASSERT_NEAR(forms[b], static_cast<double>(form), additions * kEps * static_cast<double>(magnitude));
      }
    }
  });
}

TEST(LabelSums, have_the_same_bits_on_every_instruction_set_and_beside_any_other_permutations) {
  std::mt19937_64 random(4);
  const std::size_t rows = 77, cols = 21, permutations = 300;
  const auto batches = random_labels(rows, permutations, random);
  const Matrix<double> values = random_values(rows, cols, random);
  const auto sums_of = [&](std::size_t count) {
    Matrix<double> sums(count, cols, 0.0);
    simd::add_labelled_rows(values, simd::RowGroupLabels(batches, count), 0, sums);
    std::vector<double> forms(count, 0.0);
    simd::add_quadratic_forms(1.0, values, simd::RowGroupLabels(batches, count), 0, 0, forms);
    std::vector<std::uint64_t> bits;
    for (std::size_t b = 0; b < 10; ++b) {
      for (const double sum : sums.row(b)) bits.push_back(std::bit_cast<std::uint64_t>(sum));
      bits.push_back(std::bit_cast<std::uint64_t>(forms[b]));
    }
    return bits;
  };
  const auto expected = sums_of(permutations);
  EXPECT_EQ(sums_of(10), expected);
  test::on_each_target([&] { EXPECT_EQ(sums_of(permutations), expected); });
}

}  // namespace
}  // namespace kqd
