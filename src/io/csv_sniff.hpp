#pragma once
#include <string_view>

namespace kqd {

/// The beginning of a CSV text.
struct CsvText {
  std::string_view beginning;
  bool complete = false;  ///< its last row is not cut off
  char quote = '"';
};

/// The quote of cells: the double quote, or the single one where no cell starts with the double one and one is
/// wholly in single ones.
[[nodiscard]] char sniff_quote(std::string_view beginning);

/// The delimiter of a CSV text, judged by its beginning: tab, semicolon, bar or comma, the last unless decimals have
/// it.
///
/// A candidate that appears equally often (outside quotes) in each of the first rows wins; commas come last, because
/// next to another regular candidate they are decimal commas. Without a regular candidate the most frequent of the
/// first row wins.
[[nodiscard]] char sniff_delimiter(const CsvText& text, bool decimal_comma = false);

}  // namespace kqd
