#pragma once
#include <string>

#include "kqd/io/preparation.hpp"
#include "kqd/metrics/discrepancy.hpp"
#include "kqd/two_sample/two_sample_test.hpp"

namespace kqd {

/// What was run, beside its result: enough to repeat it.
struct RunInfo {
  std::string method;  ///< id in the registry
  std::string x_name;  ///< where X came from
  std::string y_name;
  std::size_t n_x = 0;  ///< rows of the input
  std::size_t n_y = 0;
  std::size_t dim = 0;
  Preparation preparation = {};  ///< what was done to the data before
  double elapsed_s = 0.0;
};

/// How a person reads it: a block of lines, without colour.
[[nodiscard]] std::string distance_text(const KqdResult& result, const KqdOptions& options, const RunInfo& run);

/// One JSON object with everything: schema "kqd.distance/1".
[[nodiscard]] std::string distance_json(const KqdResult& result, const KqdOptions& options, const RunInfo& run);

/// How a statistician reads a test: method, data, statistic, p-value with interval, decision, effect size, settings.
[[nodiscard]] std::string test_text(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run);

/// One JSON object with everything: schema "kqd.test/1".
[[nodiscard]] std::string test_json(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run);

/// The vector instruction set in use, such as "avx2".
[[nodiscard]] std::string simd_name();
/// The BLAS in use and the kernels it chose for this CPU, such as "OpenBLAS (Zen)".
[[nodiscard]] std::string blas_name();

}  // namespace kqd
