#pragma once
#include <stdexcept>
#include <string>

#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// What kind of thing went wrong; the sentence in what() names the field, the value and the bound.
enum class ErrorCode {
  invalid_option,         ///< a setting outside its range
  shape_mismatch,         ///< sizes that do not fit together
  empty_sample,           ///< no rows, no columns, or no weight
  non_finite_value,       ///< NaN or infinity where a number is needed
  invalid_weights,        ///< negative or all-zero weights
  degenerate_directions,  ///< reference points that span no direction
  unreadable_input,       ///< a file that is missing, malformed or of an unknown format
  unwritable_output,      ///< a file that cannot be written: its folder, its name, or no room
  resource_limit,         ///< would take more memory or time than allowed
  interrupted,            ///< stopped on request
  internal,               ///< a fault of ours
};

/// The one exception of the library.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace kqd
