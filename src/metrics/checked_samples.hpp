#pragma once
#include <string>
#include <vector>

#include "kqd/core/sample.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/metrics/discrepancy.hpp"

namespace kqd {

/// The start of every distance: validated samples and options, without rows of weight 0. Adds warnings about the data.
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
