#pragma once
#include <string>
#include <vector>

#include "kqd/core/sample.hpp"
#include "kqd/core/types.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/testing/design.hpp"

namespace kqd {

/// Two samples and a design as their permutations need them.
struct TestSamples {
  SampleView x;  ///< no rows of weight 0, no sampling weights
  SampleView y;
  Design design;
  std::vector<std::size_t> x_rows;  ///< of the samples as they were given; empty: all
  std::vector<std::size_t> y_rows;
  Warnings notes;  ///< what was done
  Warnings warnings;
  Sample x_storage;
  Sample y_storage;
};

/// Throws Error{invalid_option} when a kind of weights is named and there are none.
void require_weights(const SampleView& x, const SampleView& y, WeightsAs weights_as);

/// Drops rows of weight 0; keeps rows with sampling weights with a probability proportional to their weight, and drops
/// these weights; refuses weights that look too different to be exchanged, and drops those that are the same for all
/// rows of a sample; makes cluster sizes comparable
/// (common_cluster_sizes). All draws follow from the seed and the data. Throws Error{invalid_weights, invalid_option,
/// empty_sample}.
[[nodiscard]] TestSamples make_test_samples(const SampleView& x, const SampleView& y, const Design& design,
                                            WeightsAs weights_as, Seed seed, ThreadCount threads);

}  // namespace kqd
