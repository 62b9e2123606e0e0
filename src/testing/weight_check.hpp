#pragma once
#include <span>
#include <string>
#include <vector>

#include "kqd/core/sample.hpp"
#include "kqd/core/types.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/testing/design.hpp"

namespace kqd {

/// True when two rows of the sample have different weights.
[[nodiscard]] bool weights_vary(const SampleView& sample);

/// Permutations that exchange rows together with their weights are valid when (row, weight) pairs are exchangeable.
/// This compares the weights of X with those of Y under the permutations of the design, by the distance between their
/// distribution functions, the ratio of their means and the ratio of their effective sizes per row. Throws
/// Error{invalid_weights} when only one sample has weights that vary, or when none of 999 permutations is as
/// extreme; adds a warning when that would happen with a probability of 0.05 or less.
/// `order`: position -> row of (X, Y), for the positions that permutations label.
void check_weights(const SampleView& x, const SampleView& y, const Design& design, std::span<const std::size_t> order,
                   Seed seed, Warnings& warnings);

}  // namespace kqd
