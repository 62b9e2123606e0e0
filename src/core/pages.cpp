#include "core/pages.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace kqd {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20U;
// A larger block is often touched in strides, and its first touches would clear all of it at once: seconds in which
// the stop flag is not checked.
constexpr std::size_t kLargestHuge = 128 * kHugePage;

bool takes_huge_pages(std::size_t bytes) {
  return bytes >= kHugePage && bytes <= kLargestHuge;
}

std::size_t mapped_bytes(std::size_t bytes) {
  return takes_huge_pages(bytes) ? (bytes + kHugePage - 1) / kHugePage * kHugePage : bytes;
}

char* map(std::size_t bytes) {
  void* const pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();  // NOLINT(cppcoreguidelines-pro-type-cstyle-cast): a POSIX macro
  return static_cast<char*>(pages);
}

}  // namespace

void* map_pages(std::size_t bytes) {
  if (!takes_huge_pages(bytes)) return map(bytes);
  // Huge pages start at their own multiples: the rest on either side is returned.
  const std::size_t size = mapped_bytes(bytes);
  char* const wide = map(size + kHugePage);
  const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(wide) % kHugePage) % kHugePage;
  if (before > 0) ::munmap(wide, before);
  if (before < kHugePage) ::munmap(wide + before + size, kHugePage - before);
  ::madvise(wide + before, size, MADV_HUGEPAGE);  // a hint: where it is not taken, nothing else changes
  return wide + before;
}

void unmap_pages(void* pages, std::size_t bytes) noexcept {
  ::munmap(pages, mapped_bytes(bytes));
}

}  // namespace kqd
