#pragma once
#include <cstddef>
#include <stdexcept>
#include <string>

#include "kqd/core/message.hpp"
#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// The kind of an error; what() has the place, the value and what was expected.
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
  internal,               ///< an internal error (please report it)
};

/// The parts of an error message, each empty where it does not apply. Texts refer to options by id (render()).
struct ErrorParts {
  std::string subject = {};   ///< id of the option at fault
  std::string place = {};     ///< file, line, row and column, or sample
  std::size_t row = 0;        ///< of the place, from 1; 0: none
  std::size_t column = 0;     ///< likewise
  std::string value = {};     ///< the value at fault; without a subject, a clause that says what is wrong
  std::string expected = {};  ///< what would be accepted
  std::string remedy = {};    ///< what to do next
};

/// "place: subject value: expected ... Remedy" in the words of a front end.
[[nodiscard]] std::string render(const ErrorParts& parts, OptionNames names = library_names);

/// The one exception of the library. what() is rendered with the names of C++.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, ErrorParts parts);
  Error(ErrorCode code, const std::string& problem) : Error(code, ErrorParts{.value = problem}) {}
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }
  [[nodiscard]] const ErrorParts& parts() const noexcept { return parts_; }

 private:
  ErrorCode code_;
  ErrorParts parts_;
};

}  // namespace kqd
