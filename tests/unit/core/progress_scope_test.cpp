#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/executor.hpp"

namespace kqd {
namespace {

TEST(ProgressScope, reports_the_blocks_of_a_loop_on_the_calling_thread) {
  for (const unsigned threads : {1U, 4U}) {
    std::vector<double> done;
    const auto caller = std::this_thread::get_id();
    const RunControl control{.progress = [&](const ProgressReport& at) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      EXPECT_EQ(at.what, "work");
      EXPECT_EQ(at.total, 100.0);
      EXPECT_FALSE(at.counted);
      done.push_back(at.done);
    }};
    const ProgressScope scope(&control, "work");
    parallel_for_blocks(1000, 10, ThreadCount{threads}, [](std::size_t, std::size_t) {});
    ASSERT_FALSE(done.empty());
    EXPECT_EQ(done.front(), 0.0);
    EXPECT_TRUE(std::ranges::is_sorted(done));
    EXPECT_LE(done.back(), 100.0);
  }
}

TEST(ProgressScope, loops_inside_a_block_are_parts_of_it) {
  int loops = 0;
  const RunControl control{.progress = [&](const ProgressReport& at) { loops += at.done == 0.0 ? 1 : 0; }};
  const ProgressScope scope(&control, "work");
  parallel_for_blocks(4, 1, ThreadCount{2}, [](std::size_t, std::size_t) {
    parallel_for_blocks(8, 1, ThreadCount{1}, [](std::size_t, std::size_t) {});
  });
  EXPECT_EQ(loops, 1);
}

TEST(ProgressScope, a_stop_point_outside_loops_is_a_sign_of_life) {
  int signs = 0;
  const RunControl control{.progress = [&](const ProgressReport& at) {
    EXPECT_EQ(at.total, 0.0);
    EXPECT_EQ(at.fraction(), 0.0);
    ++signs;
  }};
  stop_point();
  {
    const ProgressScope scope(&control, "work");
    stop_point();
  }
  stop_point();
  EXPECT_EQ(signs, 1);
}

TEST(ProgressScope, what_the_callback_throws_ends_the_work) {
  const RunControl control{.progress = [](const ProgressReport&) { throw std::logic_error("enough"); }};
  const ProgressScope scope(&control, "work");
  EXPECT_THROW(parallel_for_blocks(10, 1, ThreadCount{2}, [](std::size_t, std::size_t) {}), std::logic_error);
}

TEST(ProgressScope, without_control_reports_nothing) {
  const ProgressScope scope(nullptr, "work");
  parallel_for_blocks(10, 1, ThreadCount{2}, [](std::size_t, std::size_t) {});
  stop_point();
}

}  // namespace
}  // namespace kqd
