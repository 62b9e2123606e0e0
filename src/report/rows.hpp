#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kqd/report/report.hpp"

namespace kqd {

/// The colour of a line on a screen that has colours.
enum class Tone { plain, alert, caution };

/// A line "label: text" of a report, before it is text or Markdown.
struct Row {
  std::string label;
  std::string text;
  Tone tone = Tone::plain;
};
using Rows = std::vector<Row>;

[[nodiscard]] Rows operator+(Rows first, const Rows& second);

/// "  label        text" per row; a text that is too wide for the screen continues on the next line, indented.
[[nodiscard]] std::string text_of(const Rows& rows, const TextStyle& style);

/// The first line of a report.
[[nodiscard]] std::string title_text(std::string_view title, const TextStyle& style);

/// The sentence below the title that says what was found.
[[nodiscard]] std::string verdict_text(std::string_view sentence, bool is_alert, const TextStyle& style);

/// A table of two columns.
[[nodiscard]] std::string markdown_of(const Rows& rows);

/// A Markdown table of cells, head first. Characters that would end a cell are escaped.
[[nodiscard]] std::string markdown_table(const std::vector<std::vector<std::string>>& lines);

/// A text table of cells, head first: indented by two, numbers aligned to the right.
[[nodiscard]] std::string text_table(const std::vector<std::vector<std::string>>& lines);

/// A line of CSV as in RFC 4180, with its newline.
[[nodiscard]] std::string csv_line(const std::vector<std::string>& cells);

/// `text` in a tone, by an escape sequence.
[[nodiscard]] std::string coloured(std::string_view text, Tone tone);

/// Width of a text on a screen: its number of UTF-8 characters, not of bytes.
[[nodiscard]] std::size_t display_width(std::string_view text);

}  // namespace kqd
