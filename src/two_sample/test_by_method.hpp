#pragma once
#include "kqd/two_sample/two_sample_test.hpp"
#include "metrics/method.hpp"

namespace kqd {

/// two_sample_test() by a given method, which need not be in the registry; TwoSampleOptions::method is not read.
[[nodiscard]] TwoSampleResult two_sample_test(const Method& method, const SampleView& x, const SampleView& y,
                                              const TwoSampleOptions& options = {},
                                              const RunControl* control = nullptr);

}  // namespace kqd
