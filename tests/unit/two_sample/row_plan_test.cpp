// How many rows are needed: columns are moved by the effect that margins are about, and powers are those of known
// tests.
#include "kqd/two_sample/row_plan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "kqd/kqd.hpp"
#include "support/drawn_sample.hpp"
#include "two_sample/column_shift.hpp"

namespace kqd {
namespace {

constexpr std::size_t kShiftedRows = 40'000;

Sample column_of(double (*function)(double), std::uint64_t index) {
  Sample sample = test::drawn_sample(kShiftedRows, 1, {}, index, Seed{31});
  for (double& value : sample.points.values()) value = function(value);
  return sample;
}

// The standard deviation of an effect is about sqrt(2 / n).
TEST(ColumnShift, has_the_effect_in_columns_of_every_kind) {
  double (*const kinds[])(double) = {[](double z) { return z; },
                                     [](double z) { return 1e3 * z * z * z; },               // heavy tails
                                     [](double z) { return std::floor(2.0 * z); },           // whole numbers
                                     [](double z) { return z > 1.0 ? 1.0 : 0.0; },           // shares
                                     [](double z) { return z > 0.0 ? std::exp(z) : 0.0; }};  // half of them 0
  for (const double effect : {0.1, 0.4}) {
    std::uint64_t index = 0;
    for (const auto kind : kinds) {
      const Sample pilot = column_of(kind, index++);
      const auto shift = ColumnShift::of(pilot.points.values(), effect);
      ASSERT_TRUE(shift.has_value()) << index;
      const std::set<double> known(pilot.points.values().begin(), pilot.points.values().end());
      Sample moved{Matrix<double>(kShiftedRows, 1), {}, {}};
      RandomStream stream(Seed{5}, Purpose::row_subsample, index);
      for (std::size_t i = 0; i < kShiftedRows; ++i) {
        moved.points(i, 0) = (*shift)(pilot.points(stream.below(kShiftedRows), 0), stream);
        ASSERT_TRUE(known.contains(moved.points(i, 0)));
      }
      const DifferenceSize size = difference_size(pilot, moved, {.separation = false, .threads = ThreadCount{1}});
      EXPECT_NEAR(size.aspects.front().effect, effect, 5.0 * std::sqrt(2.0 / kShiftedRows)) << index;
    }
  }
}

// The spread of both samples together is larger than that of one, so that the shift is a little larger than the effect.
TEST(ColumnShift, of_normal_columns_is_the_effect_in_standard_deviations) {
  const Sample pilot = column_of([](double z) { return z; }, 9);
  EXPECT_NEAR(ColumnShift::of(pilot.points.values(), 0.1)->size(), 0.1, 0.001);
  EXPECT_NEAR(ColumnShift::of(pilot.points.values(), 0.3)->size(), 0.305, 0.005);
}

TEST(ColumnShift, is_empty_where_no_shift_has_the_effect) {
  EXPECT_FALSE(ColumnShift::of(std::vector<double>(10, 3.0), 0.1).has_value());
  EXPECT_FALSE(ColumnShift::of(std::vector<double>{0.0, 1.0, 0.0, 1.0}, 5.0).has_value());
}

// With n rows in each sample the z-test has power 0.9 from n = 2 (1.96 + 1.28)^2 / 0.5^2 = 84 on; no test of one
// column has more, and the default has at least half of its efficiency.
TEST(RowPlan, needs_about_as_many_rows_as_the_test_of_a_shift) {
  RowPlanOptions options{.effect = 0.5, .runs = 60, .most_rows = 800, .seed = Seed{1}};
  const RowPlan plan = plan_rows(normal_pilot(1, Seed{2}), options);
  ASSERT_TRUE(plan.test.has_value());
  EXPECT_GE(*plan.test, 60U);
  EXPECT_LE(*plan.test, 200U);
  ASSERT_TRUE(plan.equivalence.has_value());
  EXPECT_EQ(plan.points.front().rows, 50U);
  for (std::size_t k = 1; k < plan.points.size(); ++k) EXPECT_EQ(plan.points[k].rows, 2 * plan.points[k - 1].rows);
  options.threads = ThreadCount{1};
  EXPECT_EQ(plan_rows(normal_pilot(1, Seed{2}), options).test, plan.test);
}

TEST(RowPlan, gives_up_beyond_the_largest_number_of_rows) {
  const RowPlan plan = plan_rows(normal_pilot(1), {.effect = 0.05, .runs = 10, .most_rows = 70});
  EXPECT_FALSE(plan.test.has_value());
  EXPECT_FALSE(plan.equivalence.has_value());
  EXPECT_EQ(plan.points.back().rows, 70U);
}

TEST(RowPlan, refuses_what_cannot_be_planned) {
  EXPECT_THROW(static_cast<void>(plan_rows(normal_pilot(1), {.effect = 0.0})), Error);
  EXPECT_THROW(static_cast<void>(plan_rows(normal_pilot(1), {.power = 1.0})), Error);
  EXPECT_THROW(static_cast<void>(plan_rows(test::drawn_sample(19, 1, {}, 1, Seed{1}))), Error);
  EXPECT_THROW(static_cast<void>(plan_rows(Sample{Matrix<double>(50, 2, 1.0), {}, {}})), Error);
}

}  // namespace
}  // namespace kqd
