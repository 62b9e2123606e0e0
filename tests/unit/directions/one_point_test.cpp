#include <gtest/gtest.h>

#include "kqd/kqd.hpp"
#include "support/warnings.hpp"

namespace kqd {
namespace {

// At 0 the linear kernel vanishes on the point itself, as the energy kernel does everywhere on a pool of one point.
TEST(Directions, exist_for_a_pool_of_one_repeated_point) {
  for (const double value : {0.0, 0.1, -3.0}) {
    const Sample x{Matrix<double>(20, 2, value), {}, {}};
    const Sample y{Matrix<double>(9, 2, value), {}, {}};
    for (const char* kernel : {"linear", "energy", "gaussian", "polynomial"}) {
      for (const auto reference : {ReferenceMeasure::gaussian, ReferenceMeasure::uniform, ReferenceMeasure::pooled}) {
        TwoSampleOptions options{.method = "ekqd"};
        options.statistic.kernel = parse_kernel(kernel);
        options.statistic.directions.reference = reference;
        options.test.num_permutations = 99;
        const TwoSampleResult result = two_sample_test(x, y, options);
        EXPECT_EQ(result.test.pvalue, 1.0) << kernel;
        EXPECT_EQ(result.warnings.front(), make_warning(WarningId::identical_points, 29));
        EXPECT_NEAR(ekqd(x, y, options.statistic).statistic, 0.0, 1e-12) << kernel;
      }
    }
  }
}

}  // namespace
}  // namespace kqd
