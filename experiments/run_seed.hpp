#pragma once
#include <cstddef>
#include <string_view>

#include "kqd/core/types.hpp"

namespace kqd {

/// The seed of run number `run` of the experiment of this name. It does not depend on what else is run.
[[nodiscard]] Seed run_seed(std::string_view name, Seed seed, std::size_t run);

}  // namespace kqd
