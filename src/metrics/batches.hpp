#pragma once
#include <algorithm>
#include <cstddef>
#include <span>

#include "kqd/core/labels.hpp"

namespace kqd {

/// evaluate(batches, values) for `at_a_time` batches at a time, with their part of the values.
template <class Evaluate>
void evaluate_in_parts(std::span<const LabelBatch> batches, std::span<double> values, std::size_t at_a_time,
                       Evaluate evaluate) {
  for (std::size_t first = 0; first < batches.size(); first += at_a_time) {
    const auto some = batches.subspan(first, std::min(at_a_time, batches.size() - first));
    const std::size_t begin = first * LabelBatch::kCapacity;
    evaluate(some, values.subspan(begin, std::min(some.size() * LabelBatch::kCapacity, values.size() - begin)));
  }
}

}  // namespace kqd
