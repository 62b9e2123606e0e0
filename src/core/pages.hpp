#pragma once
#include <cstddef>

namespace kqd {

/// Zeros straight from the system, in huge pages where it has them and the block is not too large for them; unlike
/// memory of the heap they go back at once. Pages that are not written take no memory. Throws std::bad_alloc.
[[nodiscard]] void* map_pages(std::size_t bytes);

/// Gives back what map_pages(bytes) gave.
void unmap_pages(void* pages, std::size_t bytes) noexcept;

}  // namespace kqd
