#pragma once
#include <cstddef>

#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// Memory aligned for vector loads. Blocks of 4 to 256 MB ask for huge pages: their first touch then costs a hundred
/// page faults instead of tens of thousands. Throws std::bad_alloc.
[[nodiscard]] void* allocate_aligned(std::size_t bytes);

/// Gives a block of this size back.
void free_aligned(void* memory, std::size_t bytes) noexcept;

}  // namespace kqd
