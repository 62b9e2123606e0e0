#include "testing/comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.hpp"

namespace kqd {
namespace {

// Two passes over all values, in long doubles.
TEST(RunningMoments, equal_those_of_all_values_at_once) {
  for (const double scale : {1.0, 1e-200, 1e200}) {
    for (const std::size_t count : {1UL, 2UL, 4095UL, 4096UL, 4097UL, 30'000UL}) {
      RandomStream stream(Seed{4}, Purpose::test_data, count);
      std::vector<double> values(count);
      RunningMoments moments;
      for (std::size_t i = 0; i < count; ++i) {
        values[i] = scale * (1000.0 + stream.normal()) * (i > 9000 ? 64.0 : 1.0);  // another unit later on
        moments.add(values[i]);
      }
      long double mean = 0.0L;
      for (const double v : values) mean += static_cast<long double>(v / scale) / static_cast<long double>(count);
      long double squares = 0.0L;
      for (const double v : values) squares += (v / scale - mean) * (v / scale - mean);
      EXPECT_NEAR(moments.mean() / scale / static_cast<double>(mean), 1.0, 1e-13);
      for (const double lost : {0.0, 1.0}) {
        const double expected =
            count > 1 ? std::sqrt(static_cast<double>(squares) / (static_cast<double>(count) - lost)) : 0.0;
        EXPECT_NEAR(moments.sd(lost) / scale, expected, 1e-10 * expected);
      }
    }
  }
}

// Issue 22: every value was kept, whether or not anybody asked for it.
TEST(Comparison, keeps_values_on_request_only) {
  for (const bool keep : {false, true}) {
    Comparison comparison([](double) { return 0.0; }, make_sequential_test(EarlyStop::none, 0.05, 9), false, keep);
    for (const double value : {5.0, 1.0, 5.0, 7.0}) static_cast<void>(comparison.add(value));
    EXPECT_EQ(comparison.observed(), 5.0);
    EXPECT_EQ(comparison.num_tied(), 1U);
    EXPECT_EQ(comparison.test().draws().num_exceed, 2U);
    EXPECT_EQ(comparison.values(), keep ? (std::vector<double>{1.0, 5.0, 7.0}) : std::vector<double>{});
  }
}

}  // namespace
}  // namespace kqd
