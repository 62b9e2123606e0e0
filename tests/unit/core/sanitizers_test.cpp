#include <gtest/gtest.h>

#include <vector>

#include "core/pool.hpp"

extern "C" void __asan_init() __attribute__((weak));  // NOLINT(bugprone-reserved-identifier): there with ASan only

namespace kqd {
namespace {

// Tests are compiled once and linked with the library as it ships and with one under sanitizers: does the second see?
TEST(Sanitizers, see_a_read_past_the_end_where_they_are_linked) {
  if (__asan_init == nullptr) GTEST_SKIP() << "no sanitizers here";
  const std::vector<double> values(6);
  const MatrixView<const double> too_long(values.data(), 4, 2);
  EXPECT_DEATH(static_cast<void>(pooled_mean({too_long, too_long})), "heap-buffer-overflow");
}

}  // namespace
}  // namespace kqd
