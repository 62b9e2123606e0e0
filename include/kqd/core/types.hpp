#pragma once
#include <cstddef>
#include <cstdint>

#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// Every random draw of a run follows from this one number.
struct Seed {
  std::uint64_t value = 0;
};

/// How many threads may work; 0 asks the system. Changes the speed, not one bit of a result.
struct ThreadCount {
  unsigned value = 0;
};

}  // namespace kqd
