#pragma once
#include <string>
#include <vector>

#include "kqd/core/sample.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/metrics/discrepancy.hpp"

namespace kqd {

/// What every distance starts with: two samples and options that were looked at, without the rows of weight 0; warnings
/// about the data are added.
class CheckedSamples {
 public:
  CheckedSamples(const SampleView& x_given, const SampleView& y_given, const MethodOptions& options,
                 Warnings& warnings);
  CheckedSamples(const CheckedSamples&) = delete;
  CheckedSamples& operator=(const CheckedSamples&) = delete;

  SampleView x;
  SampleView y;

 private:
  Sample x_storage_;
  Sample y_storage_;
};

}  // namespace kqd
