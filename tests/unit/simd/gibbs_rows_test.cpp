#include "simd/gibbs_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/random.hpp"
#include "each_target.hpp"
#include "kqd/core/matrix.hpp"

namespace kqd::simd {
namespace {

constexpr std::size_t kLengths[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 19, 35, 67};
// An exponent of size up to 30 rounds by 4e-15, so its exponential by as much relatively; sums keep that.
constexpr double kRelative = 1e-13;

std::vector<double> numbers(std::size_t n, RandomStream& stream, double scale) {
  std::vector<double> values(n);
  for (double& v : values) v = scale * stream.uniform();
  return values;
}

TEST(GibbsRows, are_exponentials) {
  test::on_each_target([] {
    for (const std::size_t n : kLengths) {
      RandomStream stream(Seed{1}, Purpose::test_data, n);
      const auto costs = numbers(n, stream, 3.0);
      const auto terms = numbers(n, stream, 10.0);
      std::vector<double> values(n);
      gibbs_row(costs, terms, -2.0, 5.0, values);
      for (std::size_t j = 0; j < n; ++j) {
        EXPECT_NEAR(values[j] / std::exp(-2.0 + terms[j] - 5.0 * costs[j]), 1.0, kRelative);
      }
      gibbs_row(costs, terms, -1000.0, 5.0, values);
      EXPECT_EQ(values, std::vector<double>(n, 0.0));
    }
  });
}

TEST(GibbsRows, log_sums_neither_overflow_nor_vanish) {
  test::on_each_target([] {
    for (const std::size_t n : kLengths) {
      RandomStream stream(Seed{2}, Purpose::test_data, n);
      const auto costs = numbers(n, stream, 3.0);
      auto terms = numbers(n, stream, 10.0);
      double total = 0.0;
      for (std::size_t j = 0; j < n; ++j) total += std::exp(terms[j] - 5.0 * costs[j]);
      EXPECT_NEAR(log_sum_exp(costs, terms, 5.0), std::log(total), kRelative);
      for (const double shift : {-5000.0, 5000.0}) {
        auto moved = terms;
        for (double& t : moved) t += shift;
        EXPECT_NEAR(log_sum_exp(costs, moved, 5.0), std::log(total) + shift, 1e-11);
      }
    }
  });
}

TEST(GibbsRows, column_passes_add_up_to_log_sums) {
  test::on_each_target([] {
    for (const std::size_t n : kLengths) {
      RandomStream stream(Seed{3}, Purpose::test_data, n);
      std::vector<std::vector<double>> rows;
      for (int i = 0; i < 6; ++i) rows.push_back(numbers(n, stream, 3.0));
      const auto terms = numbers(6, stream, 10.0);
      std::vector<double> maxima(n, -std::numeric_limits<double>::infinity());
      std::vector<double> sums(n, 0.0);
      for (std::size_t i = 0; i < 6; ++i) raise_maxima(rows[i], terms[i], 5.0, maxima);
      for (std::size_t i = 0; i < 6; ++i) add_exponentials(rows[i], terms[i], 5.0, maxima, sums);
      for (std::size_t j = 0; j < n; ++j) {
        double total = 0.0;
        for (std::size_t i = 0; i < 6; ++i) total += std::exp(terms[i] - 5.0 * rows[i][j]);
        EXPECT_NEAR(maxima[j] + std::log(sums[j]), std::log(total), kRelative);
      }
    }
  });
}

TEST(GibbsRows, sweeps_are_two_products) {
  test::on_each_target([] {
    for (const std::size_t n : kLengths) {
      for (const std::size_t rows : {1U, 3U, 4U, 9U}) {
        RandomStream stream(Seed{4}, Purpose::test_data, 100 * n + rows);
        Matrix<double> kernel(rows, n);
        for (double& v : kernel.values()) v = stream.uniform();
        const auto factors = numbers(n, stream, 1.0);
        const auto masses = numbers(rows, stream, 1.0);
        std::vector<double> row_sums(rows);
        std::vector<double> products(rows);
        std::vector<double> column_sums(n, 0.25);
        sweep_rows(kernel, factors, masses, row_sums, column_sums);
        multiply_rows(kernel, factors, products);
        EXPECT_EQ(products, row_sums);
        for (std::size_t i = 0; i < rows; ++i) {
          double expected = 0.0;
          for (std::size_t j = 0; j < n; ++j) expected += kernel(i, j) * factors[j];
          EXPECT_NEAR(row_sums[i], expected, kRelative * expected);
        }
        for (std::size_t j = 0; j < n; ++j) {
          double expected = 0.25;
          for (std::size_t i = 0; i < rows; ++i) expected += masses[i] / row_sums[i] * kernel(i, j);
          EXPECT_NEAR(column_sums[j], expected, kRelative * expected);
        }
      }
    }
  });
}

}  // namespace
}  // namespace kqd::simd
