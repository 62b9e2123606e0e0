#include "core/executor.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "kqd/core/error.hpp"
#include "kqd/core/stoppable.hpp"

namespace kqd {
namespace {

ErrorCode code_of(FunctionRef<void()> work) {
  try {
    work();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::internal;
}

TEST(StopScope, a_set_flag_ends_the_work_between_blocks_on_any_number_of_threads) {
  for (const unsigned threads : {1U, 2U, 4U}) {
    std::atomic<bool> stop{false};
    std::atomic<int> blocks_run{0};
    const RunControl control{.stop = &stop};
    const StopScope scope(&control);
    EXPECT_EQ(code_of([&] {
                parallel_for_blocks(100'000, 1, ThreadCount{threads}, [&](std::size_t, std::size_t) {
                  if (++blocks_run >= 10) stop = true;
                });
              }),
              ErrorCode::interrupted);
    // From the tenth on every block sets the flag, so that its thread runs no further one.
    EXPECT_LT(blocks_run, 10 + static_cast<int>(threads));
  }
}

TEST(StopScope, reaches_stop_points_inside_nested_blocks) {
  for (const unsigned threads : {1U, 4U}) {
    std::atomic<bool> stop{false};
    const RunControl control{.stop = &stop};
    const StopScope scope(&control);
    EXPECT_EQ(code_of([&] {
                parallel_for_blocks(4, 1, ThreadCount{threads}, [&](std::size_t, std::size_t) {
                  parallel_for_blocks(4, 1, ThreadCount{threads}, [&](std::size_t, std::size_t) {
                    stop = true;
                    stop_point();
                    ADD_FAILURE() << "went on after the stop point";
                  });
                });
              }),
              ErrorCode::interrupted);
  }
}

TEST(StopScope, ends_with_its_scope_and_is_kept_by_a_control_without_a_flag) {
  std::atomic<bool> stop{true};
  const RunControl control{.stop = &stop};
  {
    const StopScope scope(&control);
    EXPECT_THROW(stop_point(), Error);
    const StopScope without_control(nullptr);
    EXPECT_THROW(stop_point(), Error);
    const RunControl without_flag;
    const StopScope inner(&without_flag);
    EXPECT_THROW(stop_point(), Error);
  }
  EXPECT_NO_THROW(stop_point());
  std::vector<int> seen(100);
  parallel_for_blocks(100, 7, ThreadCount{4}, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) ++seen[i];
  });
  EXPECT_EQ(seen, std::vector<int>(100, 1));
}

TEST(StopScope, run_stoppable_ends_what_takes_no_control) {
  std::atomic<bool> stop{false};
  const RunControl control{.stop = &stop};
  int calls = 0;
  run_stoppable(control, [&] { stop_point(), ++calls; });
  EXPECT_EQ(calls, 1);
  stop = true;
  EXPECT_EQ(code_of([&] { run_stoppable(control, [&] { stop_point(), ++calls; }); }), ErrorCode::interrupted);
  EXPECT_EQ(calls, 1);
  EXPECT_NO_THROW(stop_point());
}

}  // namespace
}  // namespace kqd
