#include "kqd/core/memory.hpp"

#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace kqd {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20U;
constexpr std::size_t kWorthHugePages = 2 * kHugePage;

std::align_val_t alignment_of(std::size_t bytes) {
  return std::align_val_t{bytes >= kWorthHugePages ? kHugePage : 64};
}

}  // namespace

void* allocate_aligned(std::size_t bytes) {
  void* const memory = ::operator new[](bytes, alignment_of(bytes));
#ifdef __linux__
  // A hint: where it is not taken, pages are small and nothing else changes.
  if (bytes >= kWorthHugePages) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return memory;
}

void free_aligned(void* memory, std::size_t bytes) noexcept {
  ::operator delete[](memory, alignment_of(bytes));
}

}  // namespace kqd
