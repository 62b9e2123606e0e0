#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "kqd/kqd.hpp"

namespace kqd {
namespace {

struct Conflict {
  std::function<void(DirectionOptions&)> make;
  std::string sentence;
};

TEST(DirectionOptions, that_would_be_ignored_are_refused) {
  const Matrix<double> matrix(3, 2, 1.0);
  const std::vector<Conflict> conflicts = {
      {[&](DirectionOptions& o) {
         o.family = DirectionFamily::linear;
         o.coefficients = matrix;
       },
       "coefficients are given, but linear directions have no reference points; use them with the linear kernel "
       "and gaussian directions"},
      {[&](DirectionOptions& o) {
         o.family = DirectionFamily::axis;
         o.reference = ReferenceMeasure::points;
         o.reference_points = matrix;
       },
       "reference points are given, but axis directions have no reference points; use them with the linear kernel "
       "and gaussian directions"},
      {[&](DirectionOptions& o) { o.reference_points = matrix; },
       "reference = gaussian: expected points, because reference points are given"},
      {[&](DirectionOptions& o) {
         o.reference = ReferenceMeasure::points;
         o.reference_points = matrix;
         o.num_reference = 4;
       },
       "num_reference = 4: expected 3, the number of given reference points"},
      {[&](DirectionOptions& o) {
         o.coefficients = matrix;
         o.num_reference = 4;
       },
       "num_reference = 4: expected 3, the number of rows of coefficients"},
  };
  for (const Conflict& conflict : conflicts) {
    DirectionOptions options;
    conflict.make(options);
    try {
      validate(options, 2);
      ADD_FAILURE() << "accepted: " << conflict.sentence;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_option);
      EXPECT_EQ(error.what(), conflict.sentence);
    }
  }
}

TEST(DirectionOptions, may_give_the_number_of_reference_points_twice) {
  DirectionOptions options;
  options.reference = ReferenceMeasure::points;
  options.reference_points = Matrix<double>(3, 2, 1.0);
  options.coefficients = Matrix<double>(3, 5, 1.0);
  options.num_reference = 3;
  EXPECT_NO_THROW(validate(options, 2));
}

// The effect size's interval draws nothing again: it takes the test's own directions, whatever was asked for.
TEST(DirectionOptions, with_a_number_of_reference_points_allow_an_effect_interval) {
  TwoSampleOptions options;
  options.statistic.directions.num_reference = 5;
  options.test.num_permutations = 9;
  options.effect_interval = true;
  const Sample x{Matrix<double>(4, 1, {0.0, 1.0, 2.0, 3.0}), {}, {}};
  const Sample y{Matrix<double>(4, 1, {5.0, 6.0, 7.0, 9.0}), {}, {}};
  EXPECT_TRUE(two_sample_test(x, y, options).effect_interval.has_value());
}

}  // namespace
}  // namespace kqd
