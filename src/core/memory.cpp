#include "kqd/core/memory.hpp"

#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace kqd {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20U;
constexpr std::size_t kSmallestHuge = 2 * kHugePage;
// A larger block is often touched in strides, and its first touches would clear all of it at once: seconds in which
// nobody looks at the stop flag.
constexpr std::size_t kLargestHuge = 128 * kHugePage;

bool takes_huge_pages(std::size_t bytes) {
  return bytes >= kSmallestHuge && bytes <= kLargestHuge;
}

std::align_val_t alignment_of(std::size_t bytes) {
  return std::align_val_t{takes_huge_pages(bytes) ? kHugePage : 64};
}

}  // namespace

void* allocate_aligned(std::size_t bytes) {
  void* const memory = ::operator new[](bytes, alignment_of(bytes));
#ifdef __linux__
  // A hint: where it is not taken, pages are small and nothing else changes.
  if (takes_huge_pages(bytes)) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return memory;
}

void free_aligned(void* memory, std::size_t bytes) noexcept {
  ::operator delete[](memory, alignment_of(bytes));
}

}  // namespace kqd
