#include "experiments/reference_scheme.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/random.hpp"
#include "kqd/core/error.hpp"

namespace kqd::lab {
namespace {

using Kind = OrderedStatistic::Kind;

Order in_order(std::size_t rows) {
  Order order(rows);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

// Coefficients behind a constant of the authors' unit tests, whose reference points are all pooled points in order.
DirectionDraw unit_test_draw(const std::string& key) {
  std::ifstream file(std::string(KQD_PUBLISHED) + "/reference-stream.json");
  const auto rows = nlohmann::json::parse(file).at("unit_tests").at(key).get<std::vector<std::vector<double>>>();
  DirectionDraw draw{Matrix<double>(rows.size(), rows[0].size()), {}};
  for (std::size_t j = 0; j < rows.size(); ++j) {
    std::ranges::copy(rows[j], draw.coefficients.row(j).begin());
    draw.indices.push_back(j);
  }
  return draw;
}

double value(const Matrix<double>& pool, const std::string& kernel, const DirectionDraw& draw,
             OrderedStatistic wanted) {
  const auto gram = gram_kernel(Kernel(parse_kernel(kernel)), pool);
  return ordered_values(*gram, in_order(pool.rows()), draw, {&wanted, 1}).front();
}

// The authors use float32, hence 1e-6. Their e-KQD^p is a mean over directions and this one a sum; tests are the same.
TEST(OrderedValues, are_the_constants_of_the_authors_unit_tests) {
  const Matrix<double> six(6, 1, {1, 2, 3, 4, 5, 6});
  const auto sup = unit_test_draw("sup X={1,2,3} Y={4,5,6} sigma=1 l=5 p=2 -> tau^2 0.6356133819");
  EXPECT_NEAR(value(six, "gaussian@1", sup, {Kind::largest_gap, 2.0}), 0.6356133819, 1e-6);
  const Matrix<double> four(4, 1, {4, 5, 6, 7});
  const auto mean = unit_test_draw("e-KQD X={4,5} Y={6,7} sigma=2 l=3 p=2 -> 0.2308304459");
  EXPECT_NEAR(std::sqrt(value(four, "gaussian@2", mean, {Kind::mean_gap, 2.0}) / 4.0), 0.2308304459, 1e-6);
  const Matrix<double> crossed(4, 1, {7, 9, 8, 10});
  const auto centered = unit_test_draw("centered e-KQD X={7,9} Y={8,10} sigma=1 l=2 p=2 -> 0.5697478056");
  EXPECT_NEAR(std::sqrt(value(crossed, "gaussian@1", centered, {Kind::mean_gap, 2.0, true}) / 3.0), 0.5697478056, 1e-6);
}

// The statistic is a function of the ordered pool: an order applied to rows gives the value of the pool in that order.
// In particular the reference points change with the order.
TEST(OrderedValues, depend_on_the_order_of_the_pool) {
  Matrix<double> pool(12, 2);
  RandomStream stream(Seed{5}, Purpose::test_data);
  for (double& entry : pool.values()) entry = stream.normal();
  const Order order = {7, 2, 11, 0, 5, 9, 1, 3, 10, 4, 8, 6};
  Matrix<double> laid_out(12, 2);
  for (std::size_t i = 0; i < 12; ++i) std::ranges::copy(pool.row(order[i]), laid_out.row(i).begin());
  const DirectionDraw draw{Matrix<double>(2, 3, {1, -1, .5, .2, 2, -1}), {3, 8}};
  const std::vector<OrderedStatistic> all = {{Kind::mean_gap, 1.0},
                                             {Kind::largest_gap, 2.0},
                                             {Kind::mean_gap, 1.0, true},
                                             {Kind::mean_gap, 2.0, false, parse_level_weights("triangle")},
                                             {Kind::mmd},
                                             {Kind::mmd_multi},
                                             {Kind::mmd_lin}};
  const Kernel kernel(parse_kernel("gaussian@1.3"));
  const auto moved = ordered_values(*gram_kernel(kernel, pool), order, draw, all);
  const auto plain = ordered_values(*gram_kernel(kernel, laid_out), in_order(12), draw, all);
  for (std::size_t s = 0; s < all.size(); ++s) EXPECT_NEAR(moved[s], plain[s], 1e-12) << s;
}

// 400 true null hypotheses at 0.05 with 39 permutations (2 of 40): Binomial(400, 0.05) leaves [4, 44] with a
// probability below 1e-5 on either side.
TEST(ReferenceTests, keep_their_level) {
  const std::vector<OrderedStatistic> all = {{Kind::mean_gap, 1.0}, {Kind::largest_gap, 2.0}, {Kind::mmd_multi}};
  std::vector<int> rejections(all.size(), 0);
  for (std::uint64_t run = 0; run < 400; ++run) {
    Matrix<double> pool(40, 1);
    RandomStream stream(Seed{run}, Purpose::test_data);
    for (double& entry : pool.values()) entry = stream.normal();
    const auto kernel = feature_kernel(cubic_features(pool));
    const auto decisions = reference_tests(*kernel, 20, fresh_draw(20, Seed{run}), all, 39, Seed{run});
    for (std::size_t s = 0; s < all.size(); ++s) rejections[s] += decisions[s] ? 1 : 0;
  }
  for (const int count : rejections) {
    EXPECT_GE(count, 4);
    EXPECT_LE(count, 44);
  }
}

TEST(AuthorsDraw, has_one_direction_more_than_reference_points_and_refuses_other_sizes) {
  const DirectionDraw draw = authors_draw(200);
  EXPECT_EQ(draw.coefficients.rows(), 5U);
  EXPECT_EQ(draw.coefficients.cols(), 6U);
  EXPECT_EQ(draw.indices, (std::vector<std::size_t>{3, 175, 284, 54, 311}));
  EXPECT_THROW(static_cast<void>(authors_draw(201)), Error);
}

}  // namespace
}  // namespace kqd::lab
