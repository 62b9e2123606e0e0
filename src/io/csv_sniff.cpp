#include "io/csv_sniff.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace kqd {
namespace {

constexpr std::string_view kCandidates = "\t;|,";
constexpr std::size_t kRowsLookedAt = 32;

using Counts = std::array<std::size_t, kCandidates.size()>;

// How often each candidate stands outside quotes, in each of the first rows that are neither blank nor a comment.
std::vector<Counts> count_candidates(std::string_view text, bool complete) {
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
  for (const char c : text) {
    if (!in_quotes && (c == '\n' || c == '\r')) {
      end_row();
      if (rows.size() == kRowsLookedAt) return rows;
      continue;
    }
    if (c == '"' && !comment) in_quotes = !in_quotes;
    if (c == '#' && blank) comment = true;
    if (c != ' ' && c != '\t') blank = false;
    const auto candidate = kCandidates.find(c);
    if (!in_quotes && candidate != std::string_view::npos) ++counts[candidate];
  }
  if (complete || rows.empty()) end_row();
  return rows;
}

}  // namespace

char sniff_delimiter(std::string_view beginning, bool complete) {
  const std::vector<Counts> rows = count_candidates(beginning, complete);
  if (rows.empty()) return ',';
  const Counts& first = rows.front();
  for (std::size_t c = 0; c < kCandidates.size(); ++c) {
    const bool regular = std::ranges::all_of(rows, [&](const Counts& row) { return row[c] == first[c]; });
    if (regular && first[c] > 0) return kCandidates[c];
  }
  const auto most = std::ranges::max_element(first);
  return *most > 0 ? kCandidates[static_cast<std::size_t>(most - first.begin())] : ',';
}

}  // namespace kqd
