#include "report/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "core/text.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

constexpr std::size_t kTextColumn = 15;
constexpr std::size_t kNarrowest = 20;  // of the texts: a screen of fewer columns folds lines by itself

// Lines of at most `width` columns; all but the first start with `indent` blanks.
std::string folded(const std::string& text, std::size_t width, std::size_t indent) {
  std::string result;
  std::size_t column = 0;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (column > 0 && column + 1 + display_width(word) > width) {
      result += fmt::format("\n{:{}}", "", indent);
      column = 0;
    }
    if (column > 0) result += ' ', ++column;
    result += word;
    column += display_width(word);
  }
  return result;
}

// Whether Markdown would parse the text after a "<" as HTML; "p < 0.05" is not HTML.
bool opens_tag(std::string_view after) {
  return !after.empty() && (std::isalpha(static_cast<unsigned char>(after.front())) != 0 ||
                            std::string_view("/!?").find(after.front()) != std::string_view::npos);
}

// Whether the first character is markup: the end of a cell, a link, an image or a tag. A backslash is markup only
// before punctuation.
bool is_markup(std::string_view text) {
  constexpr std::string_view kAlways = "|[]";
  const std::string_view after = text.substr(1);
  const bool before_mark = !after.empty() && std::ispunct(static_cast<unsigned char>(after.front())) != 0;
  return kAlways.find(text.front()) != std::string_view::npos ||
         (text.front() == '\\' && (before_mark || after.empty())) || (text.front() == '<' && opens_tag(after)) ||
         text.starts_with("://");
}

std::string in_cell(std::string_view text) {
  std::string safe;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_markup(text.substr(i))) safe += '\\';
    safe += c == '\n' || c == '\r' ? ' ' : c;
  }
  return in_one_direction(safe);
}

bool starts_like_number(std::string_view cell) {
  const auto first = cell.find_first_not_of("+-");
  return first != std::string_view::npos && cell[first] >= '0' && cell[first] <= '9';
}

// An apostrophe keeps spreadsheets from evaluating a text as a formula; numbers are unchanged.
std::string without_formula(const std::string& cell) {
  if (cell.empty() || std::string_view("=+-@\t\r").find(cell.front()) == std::string_view::npos) return cell;
  return parse_number(cell) || parse_number(std::string_view(cell).substr(1)) ? cell : "'" + cell;
}

std::string quoted(const std::string& text) {
  const std::string cell = in_one_direction(without_formula(text));
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string result = "\"";
  for (const char c : cell) result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"";
}

}  // namespace

Rows operator+(Rows first, const Rows& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::size_t display_width(std::string_view text) {
  const auto starts_character = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; };
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

std::string coloured(std::string_view text, Tone tone) {
  if (tone == Tone::plain) return std::string(text);
  return fmt::format("\033[{}m{}\033[0m", tone == Tone::alert ? "1;31" : "33", text);
}

std::string title_text(std::string_view title, const TextStyle& style) {
  const bool fits = style.width == 0 || display_width(title) <= style.width;
  const std::string text = fits ? std::string(title) : folded(std::string(title), std::max(style.width, kNarrowest), 0);
  return style.colour ? fmt::format("\n\033[1m{}\033[0m\n\n", text) : fmt::format("\n{}\n\n", text);
}

std::string verdict_text(std::string_view sentence, bool is_alert, const TextStyle& style) {
  const bool fits = style.width == 0 || 2 + display_width(sentence) <= style.width;
  const std::string text =
      fits ? std::string(sentence) : folded(std::string(sentence), std::max(style.width, kNarrowest) - 2, 2);
  return fmt::format("  {}\n", style.colour && is_alert ? coloured(text, Tone::alert) : text);
}

std::string text_of(const Rows& rows, const TextStyle& style) {
  std::string result;
  for (const Row& row : rows) {
    const bool fits = style.width == 0 || kTextColumn + display_width(row.text) <= style.width;
    const std::string text =
        fits ? row.text : folded(row.text, std::max(style.width, kTextColumn + kNarrowest) - kTextColumn, kTextColumn);
    result += fmt::format("  {:<12} {}\n", row.label, style.colour ? coloured(text, row.tone) : text);
  }
  return result;
}

std::string markdown_table(const std::vector<std::vector<std::string>>& lines) {
  std::string result;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (const std::string& cell : lines[i]) result += fmt::format("| {} ", in_cell(cell));
    result += "|\n";
    if (i > 0) continue;
    for (std::size_t k = 0; k < lines[i].size(); ++k) result += "|---";
    result += "|\n";
  }
  return result;
}

std::string text_table(const std::vector<std::vector<std::string>>& lines) {
  if (lines.empty()) return "";
  const std::size_t num_columns = lines.front().size();
  std::vector<std::size_t> widths(num_columns, 0);
  std::vector<bool> numbers(num_columns, lines.size() > 1);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (std::size_t k = 0; k < num_columns; ++k) {
      widths[k] = std::max(widths[k], display_width(lines[i][k]));
      if (i > 0 && !lines[i][k].empty() && !starts_like_number(lines[i][k])) numbers[k] = false;
    }
  }
  std::string result;
  for (const auto& line : lines) {
    std::string text = " ";
    for (std::size_t k = 0; k < num_columns; ++k) {
      const std::string blanks(widths[k] - display_width(line[k]), ' ');
      text += (k == 0 ? " " : "  ") + (numbers[k] ? blanks + line[k] : line[k] + blanks);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    result += text + "\n";
  }
  return result;
}

std::string markdown_of(const Rows& rows) {
  std::vector<std::vector<std::string>> lines = {{"", ""}};
  for (const Row& row : rows) lines.push_back({row.label, row.text});
  return markdown_table(lines);
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string result;
  for (const std::string& cell : cells) result += (result.empty() && &cell == cells.data() ? "" : ",") + quoted(cell);
  return result + "\n";
}

}  // namespace kqd
