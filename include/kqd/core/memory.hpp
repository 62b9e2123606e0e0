#pragma once
#include <cstddef>

namespace kqd {

/// Memory aligned for vector loads. Large blocks ask for huge pages: the first touch of a gigabyte then costs hundreds
/// of page faults instead of hundreds of thousands. Throws std::bad_alloc.
[[nodiscard]] void* allocate_aligned(std::size_t bytes);

/// Gives a block of this size back.
void free_aligned(void* memory, std::size_t bytes) noexcept;

}  // namespace kqd
