#include <fmt/format.h>

#include <iterator>
#include <span>
#include <string_view>

#include "io/output_file.hpp"
#include "io/text.hpp"
#include "io/write_checks.hpp"
#include "kqd/io/write.hpp"

namespace kqd {
namespace {

constexpr std::size_t kFlushAt = std::size_t{1} << 16U;

// Quotes are needed where a reader would see the end of a cell, a comment (#), or blanks to trim.
bool needs_quotes(std::string_view name, char delimiter) {
  if (name.empty() || name.front() == '#' || name.front() == ' ' || name.back() == ' ') return true;
  return name.find_first_of("\"\r\n") != std::string_view::npos || name.find(delimiter) != std::string_view::npos;
}

// RFC 4180: between quotes, each quote doubled.
void append_name(fmt::memory_buffer& line, std::string_view name, char delimiter) {
  const auto out = std::back_inserter(line);
  if (!needs_quotes(name, delimiter)) {
    fmt::format_to(out, "{}", name);
    return;
  }
  line.push_back('"');
  for (const char c : name) fmt::format_to(out, "{}", c == '"' ? std::string_view("\"\"") : std::string_view(&c, 1));
  line.push_back('"');
}

void append_header(fmt::memory_buffer& line, const Sample& sample, char delimiter) {
  for (std::size_t j = 0; j < sample.points.cols(); ++j) {
    if (j > 0) line.push_back(delimiter);
    append_name(line, sample.column_names.empty() ? fmt::format("x{}", j + 1) : sample.column_names[j], delimiter);
  }
  line.push_back('\n');
}

void append_row(fmt::memory_buffer& line, std::span<const double> row, char delimiter) {
  for (std::size_t j = 0; j < row.size(); ++j) {
    if (j > 0) line.push_back(delimiter);
    fmt::format_to(std::back_inserter(line), "{}", row[j]);
  }
  line.push_back('\n');
}

void flush(fmt::memory_buffer& lines, OutputFile& file) {
  file.write({lines.data(), lines.size()});
  lines.clear();
}

}  // namespace

void write_csv(const std::string& path, const Sample& sample, char delimiter) {
  validate_for_writing(path, sample);
  if (!sample.column_names.empty() && sample.column_names.size() != sample.points.cols()) {
    fail_at(ErrorCode::shape_mismatch, printable(path),
            fmt::format("{} column names for {} columns", sample.column_names.size(), sample.points.cols()),
            "one per column");
  }
  OutputFile file(path);
  fmt::memory_buffer lines;
  append_header(lines, sample, delimiter);
  for (std::size_t i = 0; i < sample.points.rows(); ++i) {
    append_row(lines, sample.points.row(i), delimiter);
    if (lines.size() >= kFlushAt) flush(lines, file);
  }
  flush(lines, file);
  file.commit();
}

}  // namespace kqd
