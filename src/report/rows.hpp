#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kqd/report/report.hpp"

namespace kqd {

/// What a line is, for a screen with colours.
enum class Tone { plain, alert, caution };

/// A line "label: text" of a report, before it is text or Markdown.
struct Row {
  std::string label;
  std::string text;
  Tone tone = Tone::plain;
};
using Rows = std::vector<Row>;

[[nodiscard]] Rows operator+(Rows first, const Rows& second);

/// "  label        text" per row; on a screen longer texts go on below their beginning.
[[nodiscard]] std::string text_of(const Rows& rows, const TextStyle& style);

/// The first line of a report.
[[nodiscard]] std::string title_text(std::string_view title, const TextStyle& style);

/// A table of two columns.
[[nodiscard]] std::string markdown_of(const Rows& rows);

/// A table in Markdown from cells, the first line being its head. What would end a cell is escaped.
[[nodiscard]] std::string markdown_table(const std::vector<std::vector<std::string>>& lines);

/// A table on a screen from cells, the first line being its head: indented by two, numbers to the right.
[[nodiscard]] std::string text_table(const std::vector<std::vector<std::string>>& lines);

/// A line of CSV as in RFC 4180, with its newline.
[[nodiscard]] std::string csv_line(const std::vector<std::string>& cells);

/// `text` in a tone, by an escape sequence.
[[nodiscard]] std::string coloured(std::string_view text, Tone tone);

/// Columns that a text takes on a screen: its characters in UTF-8, not its bytes.
[[nodiscard]] std::size_t display_width(std::string_view text);

}  // namespace kqd
