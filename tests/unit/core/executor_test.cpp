#include "core/executor.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <mutex>
#include <set>
#include <stdexcept>
#include <vector>

#include "kqd/core/error.hpp"

namespace kqd {
namespace {

using Block = std::pair<std::size_t, std::size_t>;

TEST(ParallelForBlocks, covers_every_item_exactly_once) {
  for (const std::size_t num_items : {0UL, 1UL, 2UL, 7UL, 64UL, 1000UL}) {
    for (const std::size_t block_size : {1UL, 3UL, 64UL, 999UL, 1000UL, 5000UL}) {
      for (unsigned threads = 1; threads <= 8; ++threads) {
        std::vector<std::atomic<int>> visits(num_items);
        parallel_for_blocks(num_items, block_size, ThreadCount{threads}, [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) ++visits[i];
        });
        for (std::size_t i = 0; i < num_items; ++i) {
          ASSERT_EQ(visits[i], 1) << "item " << i << " of " << num_items << " in blocks of " << block_size;
        }
      }
    }
  }
}

TEST(ParallelForBlocks, cuts_the_same_blocks_for_any_number_of_threads) {
  const std::set<Block> expected = {{0, 30}, {30, 60}, {60, 90}, {90, 100}};
  for (unsigned threads = 0; threads <= 8; ++threads) {
    std::mutex mutex;
    std::multiset<Block> blocks;
    parallel_for_blocks(100, 30, ThreadCount{threads}, [&](std::size_t begin, std::size_t end) {
      const std::lock_guard lock(mutex);
      blocks.insert({begin, end});
    });
    EXPECT_EQ(std::multiset<Block>(expected.begin(), expected.end()), blocks) << threads;
  }
}

TEST(ParallelForBlocks, no_items_mean_no_call) {
  for (unsigned threads = 0; threads <= 8; ++threads) {
    parallel_for_blocks(0, 10, ThreadCount{threads}, [](std::size_t, std::size_t) { FAIL(); });
  }
}

TEST(ParallelForBlocks, an_exception_of_a_block_reaches_the_caller_as_it_was_thrown) {
  for (unsigned threads = 1; threads <= 8; ++threads) {
    for (const std::size_t culprit : {0UL, 50UL, 99UL}) {
      try {
        parallel_for_blocks(100, 1, ThreadCount{threads}, [&](std::size_t begin, std::size_t) {
          if (begin == culprit) throw Error(ErrorCode::invalid_weights, "the culprit");
        });
        ADD_FAILURE() << "nothing was thrown with " << threads << " threads";
      } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "the culprit");
        EXPECT_EQ(error.code(), ErrorCode::invalid_weights);
      }
    }
  }
}

TEST(ParallelForBlocks, exceptions_of_other_types_come_through_too) {
  for (unsigned threads = 1; threads <= 8; ++threads) {
    EXPECT_THROW(parallel_for_blocks(64, 2, ThreadCount{threads},
                                     [](std::size_t, std::size_t) { throw std::length_error("all of them"); }),
                 std::length_error);
    std::atomic<std::size_t> covered{0};  // the executor is as good as before
    parallel_for_blocks(64, 2, ThreadCount{threads},
                        [&](std::size_t begin, std::size_t end) { covered += end - begin; });
    EXPECT_EQ(covered, 64U);
  }
}

TEST(ParallelForBlocks, sums_taken_per_block_have_the_same_bits_for_1_to_8_threads) {
  const auto total = [](unsigned threads) {
    std::vector<double> partial(40, 0.0);
    parallel_for_blocks(10'000, 250, ThreadCount{threads}, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) partial[begin / 250] += std::sin(static_cast<double>(i));
    });
    double sum = 0.0;
    for (const double p : partial) sum += p;
    return sum;
  };
  const double alone = total(1);
  for (unsigned threads = 2; threads <= 8; ++threads) EXPECT_EQ(total(threads), alone);
}

TEST(ParallelForBlocks, blocks_may_run_blocks_of_their_own) {
  for (unsigned threads = 1; threads <= 8; ++threads) {
    std::atomic<std::size_t> covered{0};
    parallel_for_blocks(12, 1, ThreadCount{threads}, [&](std::size_t, std::size_t) {
      parallel_for_blocks(100, 7, ThreadCount{threads},
                          [&](std::size_t begin, std::size_t end) { covered += end - begin; });
    });
    EXPECT_EQ(covered, 1200U);
  }
}

TEST(ThreadCount, zero_asks_the_system_and_any_other_number_stands_for_itself) {
  EXPECT_GE(resolve(ThreadCount{0}), 1U);
  EXPECT_EQ(resolve(ThreadCount{1}), 1U);
  EXPECT_EQ(resolve(ThreadCount{5}), 5U);
}

TEST(FunctionRef, calls_the_object_it_was_made_from) {
  int calls = 0;
  const auto count = [&](int by) { return calls += by; };
  const FunctionRef<int(int)> ref(count);
  EXPECT_EQ(ref(2), 2);
  EXPECT_EQ(ref(3), 5);
  EXPECT_EQ(calls, 5);
}

}  // namespace
}  // namespace kqd
