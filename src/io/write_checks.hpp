#pragma once
#include <string>

#include "core/fail.hpp"
#include "io/text.hpp"
#include "kqd/core/sample.hpp"

namespace kqd {

/// Checks that a sample can be written: that it can be read back, and that nothing of it is silently omitted.
inline void validate_for_writing(const std::string& path, const Sample& sample) {
  validate(sample, printable(path));
  if (!sample.weights.empty()) {
    fail_at(ErrorCode::invalid_option, printable(path), "the sample has weights, which this format does not keep");
  }
}

}  // namespace kqd
