#include "core/executor.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "kqd/core/error.hpp"

namespace kqd {
namespace {

TEST(ParallelForBlocks, visits_every_item_once_in_blocks_that_ignore_the_thread_count) {
  for (const std::size_t num_items : {0UL, 1UL, 99UL, 100UL, 101UL, 1234UL}) {
    for (const unsigned threads : {1U, 2U, 3U, 8U}) {
      std::mutex lock;
      std::multiset<std::pair<std::size_t, std::size_t>> seen;
      parallel_for_blocks(num_items, 100, ThreadCount{threads}, [&](std::size_t begin, std::size_t end) {
        const std::scoped_lock hold(lock);
        seen.emplace(begin, end);
      });
      std::multiset<std::pair<std::size_t, std::size_t>> expected;
      for (std::size_t i = 0; i < num_items; i += 100) expected.emplace(i, std::min(i + 100, num_items));
      EXPECT_EQ(seen, expected) << num_items << " items, " << threads << " threads";
    }
  }
}

// Four blocks that wait for each other end only if four threads run them, however few cores there are.
TEST(ParallelForBlocks, uses_as_many_threads_as_asked_for_beyond_the_number_of_cores) {
  constexpr int kThreads = 4;
  std::atomic<int> arrived{0};
  std::atomic<bool> met{true};
  parallel_for_blocks(kThreads, 1, ThreadCount{kThreads}, [&](std::size_t, std::size_t) {
    ++arrived;
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (arrived < kThreads) {
      if (std::chrono::steady_clock::now() > give_up) {
        met = false;
        return;
      }
      std::this_thread::yield();
    }
  });
  EXPECT_TRUE(met);
}

TEST(ParallelForBlocks, says_nothing_on_stderr_when_asked_for_more_threads_than_cores) {
  testing::internal::CaptureStderr();
  parallel_for_blocks(64, 1, ThreadCount{8}, [](std::size_t, std::size_t) {});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(ParallelForBlocks, rethrows_on_the_calling_thread_and_works_again_afterwards) {
  for (const unsigned threads : {1U, 4U}) {
    try {
      parallel_for_blocks(1000, 10, ThreadCount{threads}, [](std::size_t begin, std::size_t) {
        if (begin == 500) throw Error(ErrorCode::interrupted, "block 50");
      });
      ADD_FAILURE() << "no exception from " << threads << " threads";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::interrupted);
      EXPECT_STREQ(error.what(), "block 50");
    }
    std::vector<int> touched(1000, 0);
    parallel_for_blocks(1000, 10, ThreadCount{threads}, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) ++touched[i];
    });
    EXPECT_EQ(std::accumulate(touched.begin(), touched.end(), 0), 1000);
  }
}

TEST(ParallelForBlocks, nests) {
  std::vector<std::size_t> sums(40, 0);
  parallel_for_blocks(sums.size(), 1, ThreadCount{4}, [&](std::size_t outer, std::size_t) {
    std::vector<std::size_t> squares(100);
    parallel_for_blocks(squares.size(), 7, ThreadCount{4}, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) squares[i] = i * i;
    });
    sums[outer] = std::accumulate(squares.begin(), squares.end(), outer);
  });
  for (std::size_t outer = 0; outer < sums.size(); ++outer) EXPECT_EQ(sums[outer], 328350 + outer);
}

double resident_megabytes() {
  std::ifstream statm("/proc/self/statm");
  double all_pages = 0.0;
  double resident_pages = 0.0;
  statm >> all_pages >> resident_pages;
  return resident_pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

// A forked process has none of the threads of its parent: waiting for them would never end.
TEST(ParallelForBlocks, works_in_a_forked_process) {
  const auto sum = [] {
    std::atomic<std::size_t> total{0};
    parallel_for_blocks(100, 1, ThreadCount{4}, [&](std::size_t i, std::size_t) { total += i; });
    return total.load();
  };
  EXPECT_EQ(sum(), 4950U);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(sum() == 4950U ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

// Issue 22: each loop kept 21 kB.
TEST(ParallelForBlocks, twenty_thousand_loops_keep_no_memory) {
  const auto loops = [](int count) {
    for (int i = 0; i < count; ++i) {
      parallel_for_blocks(4, 1, ThreadCount{2}, [](std::size_t, std::size_t) {});
      parallel_for_blocks(4, 1, ThreadCount{3}, [](std::size_t, std::size_t) {});
    }
  };
  loops(500);
  const double before = resident_megabytes();
  loops(20'000);
  EXPECT_LT(resident_megabytes() - before, 20.0);
}

// Loops that run at the same time do not wait for each other's threads: each block waits until all callers are in one.
TEST(ParallelForBlocks, callers_at_the_same_time_do_not_wait_for_each_other) {
  constexpr int kCallers = 8;
  std::atomic<int> arrived{0};
  std::atomic<bool> met{true};
  std::vector<std::thread> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.emplace_back([&] {
      std::atomic<bool> counted{false};
      parallel_for_blocks(2, 1, ThreadCount{2}, [&](std::size_t, std::size_t) {
        if (!counted.exchange(true)) ++arrived;
        const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (arrived < kCallers) {
          if (std::chrono::steady_clock::now() > give_up) {
            met = false;
            return;
          }
          std::this_thread::yield();
        }
      });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_TRUE(met);
}

}  // namespace
}  // namespace kqd
