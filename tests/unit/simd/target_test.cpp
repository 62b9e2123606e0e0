#include "simd/target.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "kqd/core/error.hpp"
#include "unit/simd/each_target.hpp"

namespace kqd {
namespace {

// The variable is read once per process, so each of these needs a process of its own.
class Environment : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

void exit_with_target_of(const char* variable) {
  ::setenv("KQD_SIMD", variable, 1);
  try {
    std::fprintf(stderr, "target %s", simd::target_name());
    std::exit(0);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s", error.what());
    std::exit(error.code() == ErrorCode::invalid_option ? 2 : 3);
  }
}

TEST_F(Environment, KQD_SIMD_is_obeyed_for_every_available_target) {
  for (const std::string& name : simd::available_targets()) {
    EXPECT_EXIT(exit_with_target_of(name.c_str()), ::testing::ExitedWithCode(0), "target " + name + "$");
  }
}

TEST_F(Environment, an_empty_KQD_SIMD_chooses_the_best_target) {
  EXPECT_EXIT(exit_with_target_of(""), ::testing::ExitedWithCode(0),
              "target " + simd::available_targets().front() + "$");
}

TEST_F(Environment, an_unknown_KQD_SIMD_is_refused_with_the_list) {
  EXPECT_EXIT(exit_with_target_of("mmx"), ::testing::ExitedWithCode(2), "KQD_SIMD = \"mmx\", this CPU has .*scalar");
}

TEST(Target, every_cpu_has_scalar_as_the_last_choice) {
  EXPECT_EQ(simd::available_targets().back(), "scalar");
}

TEST(Target, each_available_target_can_be_used) {
  test::on_each_target([] {});
}

}  // namespace
}  // namespace kqd
