#include "core/executor.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "core/blas.hpp"
#include "core/random.hpp"
#include "kqd/core/error.hpp"
#include "kqd/core/matrix.hpp"

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

// Integers of a few digits make every product and sum exact, so the plain triple loop must be met to the bit.
TEST(Gemm, blocks_on_eight_threads_give_the_bits_of_the_plain_product) {
  const std::size_t rows = 700, inner = 90, cols = 17;
  const auto small_integers = [](std::size_t r, std::size_t c, std::uint64_t index) {
    Matrix<double> matrix(r, c);
    RandomStream stream(Seed{2}, Purpose::test_data, index);
    for (double& value : matrix.values()) value = static_cast<double>(stream.below(201)) - 100.0;
    return matrix;
  };
  const Matrix<double> a = small_integers(rows, inner, 0);
  const Matrix<double> b = small_integers(inner, cols, 1);
  Matrix<double> expected(rows, cols, 0.0);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < inner; ++k) {
      for (std::size_t j = 0; j < cols; ++j) expected(i, j) += a(i, k) * b(k, j);
    }
  }
  for (const unsigned threads : {1U, 8U}) {
    Matrix<double> c(rows, cols);
    parallel_for_blocks(rows, 64, ThreadCount{threads}, [&](std::size_t begin, std::size_t end) {
      gemm(1.0, a.view().row_range(begin, end - begin), Op::none, b, Op::none, 0.0,
           c.view().row_range(begin, end - begin));
    });
    EXPECT_TRUE(std::ranges::equal(c.values(), expected.values())) << threads << " threads";
  }
}

}  // namespace
}  // namespace kqd
