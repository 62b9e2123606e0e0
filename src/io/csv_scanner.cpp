#include "io/csv_scanner.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>

#include "core/fail.hpp"
#include "io/csv_sniff.hpp"
#include "io/number.hpp"

namespace kqd {
namespace {

// Spreadsheets write failed formulas like this; at the start of a line they look like comments, but are cells.
constexpr std::array<std::string_view, 7> kSpreadsheetErrors = {"#N/A",  "#DIV/0!", "#NAME?", "#NULL!",
                                                                "#NUM!", "#REF!",   "#VALUE!"};
constexpr std::ptrdiff_t kLongestSpreadsheetError = 7;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

std::size_t count_line_ends(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'))) ++count;
  }
  return count;
}

}  // namespace

CsvScanner::CsvScanner(ByteSource& source, const CsvFormat& format, std::size_t buffer_bytes)
    : source_(source),
      buffer_(buffer_bytes + 1),
      cursor_(buffer_.data()),
      end_(buffer_.data()),
      decimal_comma_(format.decimal_comma) {
  if (!refill()) return;
  skip_byte_order_mark();
  const std::string_view beginning(cursor_, static_cast<std::size_t>(end_ - cursor_));
  quote_ = sniff_quote(beginning);
  const CsvText text{beginning, exhausted_, quote_};
  delimiter_ = format.delimiter != 0 ? format.delimiter : sniff_delimiter(text, format.decimal_comma);
}

void CsvScanner::skip_byte_order_mark() {
  const std::string_view beginning(cursor_, static_cast<std::size_t>(end_ - cursor_));
  if (beginning.starts_with(std::string_view("\xff\xfe\0\0", 4)) ||
      beginning.starts_with(std::string_view("\0\0\xfe\xff", 4))) {
    fail_at(ErrorCode::unreadable_input, source_.name(), "text in UTF-32", "UTF-8");
  }
  if (beginning.starts_with("\xff\xfe") || beginning.starts_with("\xfe\xff")) {
    fail_at(ErrorCode::unreadable_input, source_.name(), "text in UTF-16", "UTF-8");
  }
  if (beginning.starts_with(kByteOrderMark)) cursor_ += kByteOrderMark.size();
}

// Moves what is left from the cursor on to the front and reads behind it. False when the source has no more bytes.
bool CsvScanner::refill() {
  const auto kept = static_cast<std::size_t>(end_ - cursor_);
  const std::size_t capacity = buffer_.size() - 1;
  if (kept == capacity) {
    fail_at(ErrorCode::unreadable_input, fmt::format("{}:{}", source_.name(), line_),
            fmt::format("column {} is longer than {} bytes", column_ + 1, capacity), "a number",
            "Look for a quote that is left open");
  }
  std::memmove(buffer_.data(), cursor_, kept);
  const std::size_t added = source_.read(std::span(buffer_).subspan(kept, capacity - kept));
  exhausted_ = kept + added < capacity;
  cursor_ = buffer_.data();
  end_ = cursor_ + kept + added;
  buffer_[kept + added] = '\0';
  return added > 0;
}

bool CsvScanner::at_end() {
  return cursor_ == end_ && (exhausted_ || !refill());
}

const char* CsvScanner::skip_blanks(const char* p) const {
  while (is_blank(*p)) ++p;  // stops at the 0 behind the text
  return p;
}

std::string_view CsvScanner::trimmed(std::string_view text) const {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool CsvScanner::at_comment() {
  if (*cursor_ != '#') return false;
  if (end_ - cursor_ < kLongestSpreadsheetError && !exhausted_) static_cast<void>(refill());
  const std::string_view rest(cursor_, static_cast<std::size_t>(end_ - cursor_));
  return std::ranges::none_of(kSpreadsheetErrors, [&](std::string_view mark) { return rest.starts_with(mark); });
}

void CsvScanner::skip_line() {
  while (!at_end()) {
    cursor_ = std::find_if(cursor_, end_, [](char c) { return c == '\n' || c == '\r'; });
    if (cursor_ != end_) return skip_line_end();
  }
}

void CsvScanner::skip_line_end() {
  ++next_line_;
  after_carriage_return_ = *cursor_ == '\r';
  ++cursor_;
}

bool CsvScanner::next_row() {
  blank_lines_ = {};
  while (!at_end()) {
    if (after_carriage_return_ && *cursor_ == '\n') ++cursor_;
    after_carriage_return_ = false;
    cursor_ = skip_blanks(cursor_);
    if (cursor_ == end_) continue;
    line_ = next_line_;
    column_ = 0;
    if (*cursor_ == '\n' || *cursor_ == '\r') {
      if (blank_lines_.count++ == 0) blank_lines_.first_line = line_;
      skip_line_end();
    } else if (at_comment()) {
      skip_line();
    } else {
      return true;
    }
  }
  return false;
}

bool CsvScanner::read_number(double& value) {
  const char* const begin = skip_blanks(cursor_);
  const char* end = decimal_comma_ ? parse_finite_with_comma(begin, end_, value) : parse_finite(begin, end_, value);
  if (end == nullptr || std::abs(value) >= kLargestExactWhole) return false;
  const char* const next = skip_blanks(end);
  if (next == end_) return false;
  number_text_ = {begin, static_cast<std::size_t>(end - begin)};
  if (delimiter_ != ' ') end = next;
  if (!ends_cell(*end)) return false;
  finish_cell(end);
  return true;
}

std::string_view CsvScanner::read_text() {
  const char* end = find_cell_end();
  while (end == nullptr) {
    static_cast<void>(refill());
    end = find_cell_end();
  }
  const std::string_view cell = trimmed({cursor_, static_cast<std::size_t>(end - cursor_)});
  if (cell.find('\0') != std::string_view::npos) {
    fail_at(ErrorCode::unreadable_input, fmt::format("{}:{}", source_.name(), line_),
            fmt::format("column {} holds a NUL byte", column_ + 1), "text", "Look whether this is a binary file");
  }
  next_line_ += count_line_ends(cell);
  finish_cell(end);
  return unquoted(cell);
}

void CsvScanner::skip_row() {
  // Without a quote, the row ends with its line.
  const char* const end = std::find_if(cursor_, end_, [](char c) { return c == '\n' || c == '\r'; });
  if (end != end_ && std::find(cursor_, end, quote_) == end) {
    cursor_ = end;
    return skip_line_end();
  }
  do {
    static_cast<void>(read_text());
  } while (!at_row_end_);
}

// One past the quote that closes the cell whose text starts at p; nullptr when the buffer ends first.
const char* CsvScanner::find_closing_quote(const char* p) const {
  for (;;) {
    p = std::find(p, end_, quote_);
    if (p == end_) return nullptr;
    if (p + 1 == end_ && !exhausted_) return nullptr;
    if (p[1] != quote_) return p + 1;
    p += 2;
  }
}

// Where the cell at the cursor ends; nullptr when the buffer ends first and there is more to read.
const char* CsvScanner::find_cell_end() const {
  const char* p = skip_blanks(cursor_);
  if (*p == quote_) {
    p = find_closing_quote(p + 1);
    if (p == nullptr && exhausted_) {
      fail_at(ErrorCode::unreadable_input, fmt::format("{}:{}", source_.name(), line_),
              fmt::format("column {} opens a quote that is never closed", column_ + 1));
    }
    if (p == nullptr) return nullptr;
  }
  p = std::find_if(p, end_, [this](char c) { return ends_cell(c); });
  return skip_blanks(p) == end_ && !exhausted_ ? nullptr : p;
}

// A cell that is not wholly quoted, such as "a"b, is kept as written.
std::string_view CsvScanner::unquoted(std::string_view cell) {
  if (cell.size() < 2 || cell.front() != quote_ || cell.back() != quote_) return cell;
  const std::string_view inner = cell.substr(1, cell.size() - 2);
  text_.clear();
  for (std::size_t i = 0; i < inner.size(); ++i) {
    if (inner[i] == quote_ && (++i == inner.size() || inner[i] != quote_)) return cell;
    text_ += inner[i];
  }
  return trimmed(text_);
}

void CsvScanner::finish_cell(const char* end) {
  ++column_;
  if (delimiter_ == ' ') {  // blanks before the end of a line delimit nothing
    const char* const next = skip_blanks(end);
    if (next == end_ || *next == '\n' || *next == '\r') end = next;
  }
  cursor_ = end;
  at_row_end_ = end == end_ || *end != delimiter_;
  if (end == end_) return;
  if (at_row_end_) {
    skip_line_end();
  } else {
    ++cursor_;
  }
}

}  // namespace kqd
