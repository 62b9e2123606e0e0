#include "io/csv_sniff.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace kqd {
namespace {

constexpr std::string_view kCandidates = "\t;|,";
constexpr std::size_t kRowsLookedAt = 32;
constexpr std::size_t kBytesLookedAt = std::size_t{1} << 15U;

using Counts = std::array<std::size_t, kCandidates.size()>;

// How often each candidate appears outside quotes, in each of the first rows that are neither blank nor a comment.
std::vector<Counts> count_candidates(const CsvText& text) {
  std::vector<Counts> rows;
  Counts counts{};
  bool in_quotes = false;
  bool blank = true;
  bool comment = false;
  const auto end_row = [&] {
    if (!blank && !comment) rows.push_back(counts);
    counts = {};
    blank = true;
    comment = false;
  };
  for (const char c : text.beginning) {
    if (!in_quotes && (c == '\n' || c == '\r')) {
      end_row();
      if (rows.size() == kRowsLookedAt) return rows;
      continue;
    }
    if (c == text.quote && !comment) in_quotes = !in_quotes;
    if (c == '#' && blank) comment = true;
    if (c != ' ' && c != '\t') blank = false;
    const auto candidate = kCandidates.find(c);
    if (!in_quotes && candidate != std::string_view::npos) ++counts[candidate];
  }
  if (text.complete || rows.empty()) end_row();
  return rows;
}

// Whether the single quote at the text's front is closed at the end of its cell.
bool is_in_single_quotes(std::string_view text) {
  const auto close = text.find('\'', 1);
  if (close == std::string_view::npos) return false;
  const std::string_view rest = text.substr(close + 1);
  return rest.empty() || rest.front() == '\n' || rest.front() == '\r' ||
         kCandidates.find(rest.front()) != std::string_view::npos;
}

}  // namespace

char sniff_quote(std::string_view beginning) {
  bool single = false;
  bool at_start = true;
  for (std::size_t i = 0; i < std::min(beginning.size(), kBytesLookedAt); ++i) {
    const char c = beginning[i];
    if (at_start && c == '"') return '"';
    if (at_start && c == '\'' && !single) single = is_in_single_quotes(beginning.substr(i));
    at_start = c == '\n' || c == '\r' || kCandidates.find(c) != std::string_view::npos || (at_start && c == ' ');
  }
  return single ? '\'' : '"';
}

char sniff_delimiter(const CsvText& text, bool decimal_comma) {
  static_assert(kCandidates.back() == ',');
  const std::size_t num_candidates = kCandidates.size() - (decimal_comma ? 1 : 0);
  const char usual = decimal_comma ? ';' : ',';
  const std::vector<Counts> rows = count_candidates(text);
  if (rows.empty()) return usual;
  const Counts& first = rows.front();
  for (std::size_t c = 0; c < num_candidates; ++c) {
    const bool regular = std::ranges::all_of(rows, [&](const Counts& row) { return row[c] == first[c]; });
    if (regular && first[c] > 0) return kCandidates[c];
  }
  const auto most = std::max_element(first.begin(), first.begin() + num_candidates);
  return *most > 0 ? kCandidates[static_cast<std::size_t>(most - first.begin())] : usual;
}

}  // namespace kqd
