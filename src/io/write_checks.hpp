#pragma once
#include <string>

#include "core/fail.hpp"
#include "io/text.hpp"
#include "kqd/core/sample.hpp"

namespace kqd {

/// What every writer asks of a sample: that it can be read back, and that nothing of it is silently left out.
inline void validate_for_writing(const std::string& path, const Sample& sample) {
  validate(sample, printable(path));
  if (!sample.weights.empty()) {
    fail(ErrorCode::invalid_option, "{}: the sample has weights, which this format does not keep", printable(path));
  }
}

}  // namespace kqd
