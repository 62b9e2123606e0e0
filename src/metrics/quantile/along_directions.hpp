#pragma once
#include <string>
#include <vector>

#include "kqd/directions/directions.hpp"
#include "kqd/metrics/discrepancy.hpp"
#include "metrics/quantile/over_directions.hpp"

namespace kqd {

/// Two samples and options that were looked at, without the rows of weight 0; warnings about the data are added.
class CheckedSamples {
 public:
  CheckedSamples(const SampleView& x_given, const SampleView& y_given, const KqdOptions& options,
                 std::vector<std::string>& warnings);
  CheckedSamples(const CheckedSamples&) = delete;
  CheckedSamples& operator=(const CheckedSamples&) = delete;

  SampleView x;
  SampleView y;

 private:
  Sample x_storage_;
  Sample y_storage_;
};

/// The discrepancy of checked samples along directions that are there already; centered when result.mmd_squared is set.
void measure_along(KqdResult& result, const Directions& directions, const SampleView& x, const SampleView& y,
                   const KqdOptions& options, Over over);

}  // namespace kqd
