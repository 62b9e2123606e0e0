#pragma once
#ifdef KQD_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace kqd {

/// Tells ThreadSanitizer what a parallel loop promises: everything before the loop happens before each block, and each
/// block happens before everything after the loop. TBB keeps that promise, but the system's libtbb is not built with
/// the sanitizer, which would report every shared variable as a race. Does nothing in other builds.
class ForkJoin {
 public:
  ForkJoin() { release(&fork_); }
  ~ForkJoin() { acquire(&join_); }
  ForkJoin(const ForkJoin&) = delete;
  ForkJoin& operator=(const ForkJoin&) = delete;

  /// Lives as long as one block runs, on the thread that runs it.
  class Block {
   public:
    explicit Block(ForkJoin& loop) : loop_(loop) { acquire(&loop_.fork_); }
    ~Block() { release(&loop_.join_); }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

   private:
    ForkJoin& loop_;
  };

 private:
#ifdef KQD_TSAN
  static void acquire(void* edge) {
    __tsan_acquire(edge);
  }
  static void release(void* edge) {
    __tsan_release(edge);
  }
#else
  static void acquire(void* /*edge*/) {}
  static void release(void* /*edge*/) {}
#endif

  char fork_ = 0;
  char join_ = 0;
};

}  // namespace kqd
