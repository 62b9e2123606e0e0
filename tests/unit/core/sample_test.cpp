#include "kqd/core/sample.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "support/errors.hpp"
#include "support/rounding.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

using test::expect_error;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using test::kInfinity;

Sample two_by_three() {
  return {Matrix<double>(2, 3, {1, 2, 3, 4, 5, 6}), {}, {}};
}

TEST(SampleValidation, good_samples_pass) {
  EXPECT_NO_THROW(validate(two_by_three(), "X"));
  Sample weighted = two_by_three();
  weighted.weights = {0.0, 1e-300};
  EXPECT_NO_THROW(validate(weighted, "X"));
  Sample extreme = two_by_three();
  extreme.points(0, 0) = std::numeric_limits<double>::max();
  extreme.points(1, 2) = -std::numeric_limits<double>::denorm_min();
  EXPECT_NO_THROW(validate(extreme, "X"));
}

TEST(SampleValidation, no_rows_or_columns_are_refused) {
  expect_error(ErrorCode::empty_sample, "X: no rows, expected at least one", [] {
    validate(Sample{Matrix<double>(0, 3), {}, {}}, "X");
  });
  expect_error(ErrorCode::empty_sample, "file.csv: no columns, expected at least one", [] {
    validate(Sample{Matrix<double>(4, 0), {}, {}}, "file.csv");
  });
}

TEST(SampleValidation, numbers_that_are_not_finite_are_named_by_row_and_column_counted_from_1) {
  const auto with = [](std::size_t row, std::size_t col, double value) {
    Sample sample = two_by_three();
    sample.points(row, col) = value;
    validate(sample, "X");
  };
  expect_error(ErrorCode::non_finite_value, "X: row 1, column 1 is nan, expected a finite number",
               [&] { with(0, 0, kNan); });
  expect_error(ErrorCode::non_finite_value, "X: row 2, column 3 is inf, expected a finite number",
               [&] { with(1, 2, kInfinity); });
  expect_error(ErrorCode::non_finite_value, "X: row 1, column 2 is -inf, expected a finite number",
               [&] { with(0, 1, -kInfinity); });
}

TEST(SampleValidation, the_first_bad_number_in_reading_order_is_named_for_any_number_of_threads) {
  Sample sample{Matrix<double>(20'000, 2, 0.0), {}, {}};
  sample.points(19'999, 0) = kNan;
  sample.points(5000, 1) = kInfinity;
  sample.points(5001, 0) = kNan;
  for (unsigned threads = 1; threads <= 8; ++threads) {
    expect_error(ErrorCode::non_finite_value, "Y: row 5001, column 2 is inf, expected a finite number",
                 [&] { validate(sample, "Y", ThreadCount{threads}); });
  }
}

TEST(SampleValidation, a_view_with_a_stride_is_judged_by_its_own_columns) {
  Matrix<double> wide(3, 4, 1.0);
  for (std::size_t i = 0; i < 3; ++i) wide(i, 3) = kNan;  // beyond the view
  EXPECT_NO_THROW(validate(SampleView{wide.view().column_range(0, 3), {}}, "X"));
  wide(2, 1) = kNan;
  expect_error(ErrorCode::non_finite_value, "X: row 3, column 1 is nan, expected a finite number", [&] {
    validate(SampleView{wide.view().column_range(1, 2), {}}, "X");
  });
}

TEST(ValidatePair, refuses_roles_that_do_not_fit) {
  const Matrix<double> points(3, 2, 1.0);
  const std::vector<ColumnRole> one = {{ColumnKind::level, 0}};
  const std::vector<ColumnRole> other = {{ColumnKind::number, 0}, {ColumnKind::number, 1}};
  const std::vector<ColumnRole> both = {{ColumnKind::number, 0}, {ColumnKind::missing, 0}};
  expect_error(ErrorCode::shape_mismatch, "X: 1 roles for 2 columns, expected one role per column, or none", [&] {
    validate({points.view(), {}, one}, "X");
  });
  expect_error(ErrorCode::shape_mismatch, "the columns of X have other roles than those of Y, expected the same", [&] {
    validate_pair({points.view(), {}, both}, {points.view(), {}, other});
  });
  validate_pair({points.view(), {}, both}, {points.view(), {}, both});
  validate_pair({points.view(), {}, both}, {points.view(), {}, {}});
}

TEST(SampleValidation, bad_weights_are_refused) {
  const auto with = [](std::vector<double> weights) {
    Sample sample = two_by_three();
    sample.weights = std::move(weights);
    validate(sample, "X");
  };
  expect_error(ErrorCode::shape_mismatch, "X: 3 weights for 2 rows, expected one weight per row", [&] {
    with({1, 1, 1});
  });
  expect_error(ErrorCode::invalid_weights, "X: weight of row 2 is -0.5, expected a finite number >= 0", [&] {
    with({1, -0.5});
  });
  expect_error(ErrorCode::invalid_weights, "X: weight of row 1 is nan, expected a finite number >= 0", [&] {
    with({kNan, 1});
  });
  expect_error(ErrorCode::invalid_weights, "X: weight of row 2 is inf, expected a finite number >= 0", [&] {
    with({1, kInfinity});
  });
  expect_error(ErrorCode::invalid_weights, "X: all 2 weights are 0, expected at least one > 0", [&] { with({0, 0}); });
}

TEST(SampleValidation, a_pair_needs_the_same_number_of_columns_and_says_which_sample_is_bad) {
  const Sample x = two_by_three();
  const Sample narrow{Matrix<double>(5, 2, 0.0), {}, {}};
  Sample bad = two_by_three();
  bad.points(1, 1) = kNan;
  EXPECT_NO_THROW(validate_pair(x, x));
  expect_error(ErrorCode::shape_mismatch, "X has 3 columns and Y has 2, expected the same number",
               [&] { validate_pair(x, narrow); });
  expect_error(ErrorCode::non_finite_value, "X: row 2, column 2 is nan, expected a finite number",
               [&] { validate_pair(bad, x); });
  expect_error(ErrorCode::non_finite_value, "Y: row 2, column 2 is nan, expected a finite number",
               [&] { validate_pair(x, bad); });
  expect_error(ErrorCode::empty_sample, "Y: no rows, expected at least one", [&] {
    validate_pair(x, Sample{Matrix<double>(0, 3), {}, {}});
  });
}

TEST(NormalisedWeights, are_equal_for_a_sample_without_weights) {
  const Sample sample{Matrix<double>(4, 1, 0.0), {}, {}};
  EXPECT_EQ(normalised_weights(sample), std::vector<double>(4, 0.25));
}

// Each weight is divided twice and the total is off by about two roundings: five in all.
TEST(NormalisedWeights, are_the_given_ones_over_their_sum_at_any_scale) {
  const std::vector<double> given = {3, 0, 1, 4};
  for (const double scale : {1.0, 1e-300, 1e300, 0x1p-1060}) {
    Sample sample{Matrix<double>(4, 1, 0.0), {}, {}};
    for (const double w : given) sample.weights.push_back(w * scale);
    const auto weights = normalised_weights(sample);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(weights[i], given[i] / 8.0, test::roundings(5)) << scale;
  }
}

TEST(WithoutZeroWeights, drops_exactly_the_rows_of_weight_zero) {
  Sample sample{Matrix<double>(4, 2, {1, 2, 3, 4, 5, 6, 7, 8}), {0, 2, 0, 1e-320}, {}};
  Sample storage;
  const SampleView kept = without_zero_weights(sample, storage);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(std::vector<double>(kept.points.row(0).begin(), kept.points.row(0).end()), (std::vector<double>{3, 4}));
  EXPECT_EQ(std::vector<double>(kept.points.row(1).begin(), kept.points.row(1).end()), (std::vector<double>{7, 8}));
  EXPECT_EQ(std::vector<double>(kept.weights.begin(), kept.weights.end()), (std::vector<double>{2, 1e-320}));
}

TEST(WithoutZeroWeights, is_the_same_view_when_there_is_nothing_to_drop) {
  Sample storage;
  const Sample plain = two_by_three();
  EXPECT_EQ(without_zero_weights(plain, storage).points.data(), plain.points.data());
  Sample weighted = two_by_three();
  weighted.weights = {1, 2};
  EXPECT_EQ(without_zero_weights(weighted, storage).points.data(), weighted.points.data());
}

}  // namespace
}  // namespace kqd
