#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "kqd/core/sample.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd {

/// Adds a sentence for a sample of one row and one for constant columns.
void warn_about_data(const SampleView& x, const SampleView& y, std::vector<std::string>& warnings);

/// The sentence on directions that carry no information (methods A7).
[[nodiscard]] std::string flat_directions_warning(std::size_t num_flat, std::size_t num_directions,
                                                  const KernelSpec& kernel);

}  // namespace kqd
