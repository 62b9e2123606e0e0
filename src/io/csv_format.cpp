#include "kqd/io/csv_format.hpp"

#include <string_view>

#include "core/fail.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

bool may_delimit(char c) {
  constexpr std::string_view kOfNumbers = "+-.";
  constexpr std::string_view kOfTexts = "\"'\n\r#_";
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  const bool digit = c >= '0' && c <= '9';
  const bool plain = c == '\t' || (c >= ' ' && c <= '~');
  return plain && !letter && !digit && kOfNumbers.find(c) == std::string_view::npos &&
         kOfTexts.find(c) == std::string_view::npos;
}

}  // namespace

void validate(const CsvFormat& format) {
  if (format.delimiter == 0) return;
  const std::string shown = in_quotes({&format.delimiter, 1});
  if (!may_delimit(format.delimiter)) {
    fail(ErrorCode::invalid_option, "delimiter = {}, expected a character that no number or name holds", shown);
  }
  if (format.delimiter == ',' && format.decimal_comma) {
    fail(ErrorCode::invalid_option, "delimiter = {} with decimal commas, expected another delimiter", shown);
  }
}

}  // namespace kqd
