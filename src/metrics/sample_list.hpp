#pragma once
#include <span>
#include <string>
#include <vector>

#include "kqd/core/sample.hpp"
#include "kqd/core/types.hpp"

namespace kqd {

/// Several samples of one dimension, checked, without their rows of weight 0.
class CheckedList {
 public:
  CheckedList(std::span<const SampleView> given, std::span<const std::string> names, ThreadCount threads);
  [[nodiscard]] std::span<const SampleView> samples() const { return samples_; }

 private:
  std::vector<Sample> storage_;
  std::vector<SampleView> samples_;
};

/// All rows of the samples, one after the other.
[[nodiscard]] Sample gather_all(std::span<const SampleView> samples);

}  // namespace kqd
