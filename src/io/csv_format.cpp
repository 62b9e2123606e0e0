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
    fail_option("delimiter", shown, "a character that is not part of numbers or names");
  }
  if (format.delimiter == ',' && format.decimal_comma) {
    fail_option("delimiter", shown, "another character with " KQD_OPTION("decimal_comma=yes"));
  }
}

}  // namespace kqd
