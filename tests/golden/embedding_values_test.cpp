// Embeddings as functions and their inner products, against numbers that tests/golden/embedding/make.py wrote with
// NumPy.
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kqd/kqd.hpp"

namespace kqd {
namespace {

Matrix<double> matrix_of(const nlohmann::json& rows) {
  Matrix<double> matrix(rows.size(), rows.at(0).size());
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    for (std::size_t j = 0; j < matrix.cols(); ++j) matrix(i, j) = rows.at(i).at(j).get<double>();
  }
  return matrix;
}

// All numbers are sums of at most 20 terms of size up to 10: they are good to far more than 1e-12.
void expect_equal(const Matrix<double>& found, const Matrix<double>& expected, const std::string& what) {
  ASSERT_EQ(found.rows(), expected.rows()) << what;
  ASSERT_EQ(found.cols(), expected.cols()) << what;
  for (std::size_t i = 0; i < found.rows(); ++i) {
    for (std::size_t j = 0; j < found.cols(); ++j) {
      EXPECT_NEAR(found(i, j), expected(i, j), 1e-12) << what << ", row " << i << ", column " << j;
    }
  }
}

TEST(EmbeddingValues, agree_with_numbers_written_by_numpy) {
  std::ifstream file(std::string(KQD_TEST_DATA) + "/embedding/expected.json");
  const auto expected = nlohmann::json::parse(file);
  std::vector<Sample> samples;
  for (const auto& rows : expected["samples"]) samples.push_back({matrix_of(rows), {}, {}});
  const std::vector<SampleView> views(samples.begin(), samples.end());
  MethodOptions options;
  options.kernel = {.family = KernelFamily::gaussian, .bandwidth = expected["bandwidth"].get<double>()};
  options.directions.reference = ReferenceMeasure::points;
  options.directions.reference_points = matrix_of(expected["reference"]);
  options.directions.coefficients = matrix_of(expected["coefficients"]);
  const auto levels = expected["levels"].get<std::vector<double>>();
  const EmbeddingTable table = embedding_table(views, std::vector<std::string>{"x", "y"}, levels, options);
  const Matrix<double> points = matrix_of(expected["points"]);
  for (const bool centered : {false, true}) {
    const std::string name = centered ? "centered" : "plain";
    expect_equal(embedding_values(views, table, points, centered), matrix_of(expected[name]["values"]),
                 name + " values");
    expect_equal(embedding_products(views, table, centered), matrix_of(expected[name]["inner_products"]),
                 name + " inner products");
  }
}

}  // namespace
}  // namespace kqd
