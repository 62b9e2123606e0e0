#include "core/executor.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "core/fail.hpp"
#include "core/fork_join.hpp"

namespace kqd {

constexpr std::size_t kMaxThreads = 1024;

unsigned resolve(ThreadCount threads) {
  if (threads.value > 0) return threads.value;
  return std::max(1U, std::thread::hardware_concurrency());
}

void parallel_for_blocks(std::size_t num_items, std::size_t block_size, ThreadCount threads,
                         FunctionRef<void(std::size_t, std::size_t)> body) {
  KQD_ASSERT(block_size > 0);
  const std::size_t num_blocks = (num_items + block_size - 1) / block_size;
  const auto run_block = [&](std::size_t block) {
    body(block * block_size, std::min(num_items, (block + 1) * block_size));
  };
  const std::size_t num_threads = std::min({std::size_t{resolve(threads)}, num_blocks, kMaxThreads});
  if (num_threads <= 1) {
    for (std::size_t block = 0; block < num_blocks; ++block) run_block(block);
    return;
  }
  // TBB keeps to the number of cores, and says so on stderr, unless it is told to go beyond.
  using tbb::global_control;
  std::optional<global_control> beyond_cores;
  if (num_threads > global_control::active_value(global_control::max_allowed_parallelism)) {
    beyond_cores.emplace(global_control::max_allowed_parallelism, num_threads);
  }
  ForkJoin loop;
  tbb::task_arena arena(static_cast<int>(num_threads));
  arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, num_blocks, 1),
        [&](const tbb::blocked_range<std::size_t>& blocks) {
          const ForkJoin::Block block_of_loop(loop);
          for (std::size_t block = blocks.begin(); block != blocks.end(); ++block) run_block(block);
        },
        tbb::simple_partitioner());
  });
}

}  // namespace kqd
