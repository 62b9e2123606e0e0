#include "kqd/metrics/embedding_table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kqd/metrics/distance_matrix.hpp"
#include "kqd/metrics/embedding.hpp"
#include "support/errors.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

using test::expect_error;

class EmbeddingTables : public testing::Test {
 protected:
  EmbeddingTables()
      : samples_{test::normal_sample({30, 2}, source_), test::normal_sample({20, 2}, source_, 0.5),
                 test::normal_sample({25, 2}, source_, 0.0, 2.0)},
        views_(samples_.begin(), samples_.end()) {
    options_.directions.num_directions = 5;
  }
  test::Source source_{31};
  std::vector<Sample> samples_;
  std::vector<SampleView> views_;
  std::vector<std::string> names_ = {"a", "b", "c"};
  MethodOptions options_;
};

TEST_F(EmbeddingTables, have_the_quantiles_of_every_sample_along_shared_directions) {
  const std::vector<double> levels = {0.1, 0.5, 0.9};
  const EmbeddingTable table = embedding_table(views_, names_, levels, options_);
  ASSERT_EQ(table.quantiles.rows(), 3);
  ASSERT_EQ(table.quantiles.cols(), 15);
  for (std::size_t k = 0; k < 3; ++k) {
    const KernelQuantileEmbedding embedding(views_[k], table.directions);
    for (std::size_t i = 0; i < 5; ++i) {
      for (std::size_t a = 0; a < 3; ++a) {
        EXPECT_EQ(table.quantiles(k, i * 3 + a), embedding.quantile({levels[a], i}));
      }
    }
  }
  EXPECT_EQ(table.sizes, (std::vector<std::size_t>{30, 20, 25}));
}

TEST_F(EmbeddingTables, have_the_directions_of_a_distance_matrix) {
  options_.power = 2.0;
  const EmbeddingTable table = embedding_table(views_, names_, even_levels(9), options_);
  const DistanceMatrix matrix = distance_matrix(views_, names_, {"ekqd", options_});
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const KernelQuantileEmbedding p(views_[i], table.directions);
      const KernelQuantileEmbedding q(views_[j], table.directions);
      EXPECT_NEAR(ekqd(p, q, options_).statistic, matrix.values(i, j), 1e-12);
    }
  }
}

TEST_F(EmbeddingTables, refuse_levels_and_measures_that_they_cannot_have) {
  expect_error(ErrorCode::invalid_option, "levels = 1.5: expected numbers in [0, 1]",
               [&] { static_cast<void>(embedding_table(views_, names_, std::vector<double>{1.5}, options_)); });
  expect_error(ErrorCode::shape_mismatch, "2 names for 3 samples, expected one each", [&] {
    static_cast<void>(embedding_table(views_, std::vector<std::string>{"a", "b"}, even_levels(3), options_));
  });
  expect_error(ErrorCode::shape_mismatch, "no samples, expected at least one",
               [&] { static_cast<void>(embedding_table({}, {}, even_levels(3), options_)); });
}

TEST(DistributionKernel, is_the_exponential_of_squared_distances_over_their_median) {
  const Matrix<double> distances(3, 3, {0, 1, 2, 1, 0, 3, 2, 3, 0});
  const DistributionKernel kernel = distribution_kernel(distances);
  EXPECT_EQ(kernel.scale, 4.0);
  EXPECT_EQ(kernel.values(0, 1), std::exp(-0.25));
  EXPECT_EQ(kernel.values(2, 1), std::exp(-2.25));
  EXPECT_EQ(kernel.values(1, 1), 1.0);
  EXPECT_EQ(distribution_kernel(distances, 2.0).values(0, 2), std::exp(-2.0));
  EXPECT_EQ(distribution_kernel(Matrix<double>(2, 2, 0.0)).scale, 1.0);
  expect_error(ErrorCode::invalid_option, "gram_scale = 0: expected a number > 0",
               [&] { static_cast<void>(distribution_kernel(distances, 0.0)); });
}

TEST(EvenLevels, are_equally_spaced_inside_the_interval) {
  EXPECT_EQ(even_levels(3), (std::vector<double>{0.25, 0.5, 0.75}));
  EXPECT_EQ(even_levels(19).at(2), 0.15);
}

}  // namespace
}  // namespace kqd
