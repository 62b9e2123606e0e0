#include "kqd/core/memory.hpp"

#include <new>

#include "core/pages.hpp"

namespace kqd {
namespace {

constexpr std::align_val_t kAlignment{64};

// Large blocks of many sizes, one after the other, would tear holes into the heap.
#ifdef __SANITIZE_ADDRESS__
constexpr bool is_mapped(std::size_t /*bytes*/) {
  return false;  // it watches the heap only
}
#else
constexpr bool is_mapped(std::size_t bytes) {
  return bytes >= std::size_t{4} << 20U;
}
#endif

}  // namespace

void* allocate_aligned(std::size_t bytes) {
  return is_mapped(bytes) ? map_pages(bytes) : ::operator new[](bytes, kAlignment);
}

void free_aligned(void* memory, std::size_t bytes) noexcept {
  if (memory != nullptr && is_mapped(bytes)) {
    unmap_pages(memory, bytes);
  } else {
    ::operator delete[](memory, kAlignment);
  }
}

}  // namespace kqd
