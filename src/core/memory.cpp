#include "kqd/core/memory.hpp"

#include <cstdint>
#include <new>

// AddressSanitizer watches what comes from operator new alone.
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
#define KQD_MAPS_MEMORY
#include <sys/mman.h>
#endif

namespace kqd {
namespace {

constexpr std::align_val_t kAlignment{64};

#ifdef KQD_MAPS_MEMORY
constexpr std::size_t kHugePage = std::size_t{2} << 20U;
constexpr std::size_t kSmallestMapped = 2 * kHugePage;
// A larger block is often touched in strides, and its first touches would clear all of it at once: seconds in which
// nobody looks at the stop flag.
constexpr std::size_t kLargestHuge = 128 * kHugePage;

constexpr std::size_t whole_pages(std::size_t bytes) {
  return (bytes + kHugePage - 1) / kHugePage * kHugePage;
}

// Whole huge pages from the system, at their boundary.
void* map(std::size_t bytes) {
  const std::size_t size = whole_pages(bytes);
  if (size < bytes || size + kHugePage < size) throw std::bad_alloc();
  void* const found = mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (found == MAP_FAILED) throw std::bad_alloc();
  char* const first = static_cast<char*>(found);
  const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(first) % kHugePage) % kHugePage;
  if (before > 0) munmap(first, before);
  munmap(first + before + size, kHugePage - before);
  // A hint: where it is not taken, pages are small and nothing else changes.
  if (bytes <= kLargestHuge) madvise(first + before, size, MADV_HUGEPAGE);
  return first + before;
}
#endif

}  // namespace

void* allocate_aligned(std::size_t bytes) {
#ifdef KQD_MAPS_MEMORY
  if (bytes >= kSmallestMapped) return map(bytes);
#endif
  return ::operator new[](bytes, kAlignment);
}

void free_aligned(void* memory, std::size_t bytes) noexcept {
#ifdef KQD_MAPS_MEMORY
  // Back to the system at once: large blocks of many sizes, one after the other, would tear holes into the heap.
  if (memory != nullptr && bytes >= kSmallestMapped) {
    munmap(memory, whole_pages(bytes));
    return;
  }
#endif
  ::operator delete[](memory, kAlignment);
}

}  // namespace kqd
