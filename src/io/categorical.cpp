#include "io/categorical.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "io/cell_checks.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

// More columns of 0 and 1 than this make distances of noise, and rows that fill the memory.
constexpr std::size_t kMostCategories = 1000;

std::uint32_t hashed_place(std::uint64_t hash) {
  // The 48 bits that a cell can keep are the ones that count, so that a text goes to the same place either way.
  return static_cast<std::uint32_t>((hash & ~kTagMask) % kHashedColumns);
}

[[noreturn]] void fail_too_many(const Table& table, std::size_t j) {
  const Column& column = table.columns[j];
  const bool no_room = column.has_text() && column.texts->overfull();
  fail_at(ErrorCode::invalid_option, table.source,
          fmt::format("column {} has more than {} different texts", table.label_of(j),
                      no_room ? std::min(column.texts->size(), kMostCategories) : kMostCategories),
          "fewer with " KQD_OPTION("categorical=onehot"),
          fmt::format("{}To turn texts into numbers: " KQD_OPTION("categorical=hash") "; to exclude the column: {}",
                      column.has_text() && all_are_dates(*column.texts)
                          ? "To read dates as numbers: " KQD_OPTION("dates=yes") ". "
                          : "",
                      option_reference("drop", item_of(table, j))));
}

// The level that rare texts share.
constexpr std::string_view kOtherLevel = "(other)";

bool has_missing(std::vector<Input>& inputs, std::size_t place, const RowPlan& rows) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::size_t j = inputs[i].roles.points[place];
    if (inputs[i].table.columns[j].num_missing == 0) continue;
    std::size_t row = 0;
    for (std::size_t b = 0; b < inputs[i].table.cells.num_blocks(); ++b) {
      const MatrixView<double> block = inputs[i].table.cells.block(b);
      for (std::size_t k = 0; k < block.rows(); ++k, ++row) {
        if (rows.sample_of_row[i][row] != RowPlan::kNowhere && is_missing(block(k, j))) return true;
      }
    }
  }
  return false;
}

// Rows with a text that is not among the `most` most frequent ones.
bool rare_texts_prevail(const LevelCounts& counts, std::size_t most) {
  if (!counts.complete()) return true;
  std::vector<std::size_t> sizes;
  for (const auto& [text, count] : counts.by_text) sizes.push_back(count);
  if (sizes.size() <= most) return false;
  std::ranges::sort(sizes, std::greater{});
  std::size_t frequent = 0;
  for (std::size_t k = 0; k + 1 < most; ++k) frequent += sizes[k];
  return 2 * frequent < counts.total;
}

}  // namespace

ColumnEncoder::ColumnEncoder(std::vector<Input>& inputs, std::size_t place, const RowPlan& rows,
                             const ReadOptions& options) {
  marks_missing_ = options.na == NaPolicy::indicator && has_missing(inputs, place, rows);
  if (!is_text_column(inputs, place)) return;
  const auto declared = inputs.front().table.columns[inputs.front().roles.points[place]].declared;
  const LevelCounts counts(inputs, place, rows);
  num_texts_ = counts.num_levels();
  kind_ = options.categorical == Categorical::hash || declared == ColumnType::text ? Kind::hash : Kind::onehot;
  if (kind_ == Kind::onehot && options.categorical == Categorical::onehot) {
    for (const Input& input : inputs) {
      const std::size_t j = input.roles.points[place];
      const bool overfull = input.table.columns[j].has_text() && input.table.columns[j].texts->overfull();
      if (overfull || counts.num_levels() > kMostCategories) fail_too_many(input.table, j);
    }
    choose_levels(counts, kMostCategories);
  } else if (kind_ == Kind::onehot) {
    const bool spread = declared == ColumnType::category ? !counts.complete() : rare_texts_prevail(counts, kMostLevels);
    if (spread) kind_ = Kind::hash;
    if (!spread) choose_levels(counts, kMostLevels);
  }
  if (options.categorical == Categorical::hash) find_collisions(counts);
  place_texts(inputs, place, counts);
}

ColumnEncoder::ColumnEncoder(const ColumnEncoding& like, std::vector<Input>& inputs, std::size_t place,
                             const RowPlan& rows)
    : marks_missing_(like.marks_missing), levels_(like.levels), num_rare_(like.has_other ? 1 : 0) {
  if (!like.text) return;
  kind_ = like.hashed ? Kind::hash : Kind::onehot;
  place_texts(inputs, place, LevelCounts(inputs, place, rows));
}

void ColumnEncoder::place_texts(const std::vector<Input>& inputs, std::size_t place, const LevelCounts& counts) {
  for (const Input& input : inputs) {
    const Column& column = input.table.columns[input.roles.points[place]];
    std::vector<std::uint32_t>& places = place_of_code_.emplace_back();
    for (std::size_t code = 0; column.has_text() && code < column.texts->size(); ++code) {
      places.push_back(place_of_text((*column.texts)[code].text));
    }
  }
  for (const auto& [number, count] : counts.by_number) place_of_number_[number] = place_of_text(shortest(number));
}

void ColumnEncoder::find_collisions(const LevelCounts& counts) {
  std::set<std::string_view> texts;
  for (const auto& [text, count] : counts.by_text) texts.insert(text);
  std::vector<const std::string_view*> first_of(kHashedColumns, nullptr);
  std::vector<bool> is_shared(kHashedColumns, false);
  for (const std::string_view& text : texts) {
    const std::uint32_t bucket = hashed_place(hash_of_text(text));
    if (first_of[bucket] == nullptr) {
      first_of[bucket] = &text;
    } else if (!is_shared[bucket]) {
      is_shared[bucket] = true;
      collisions_.push_back(fmt::format("{} and {}", in_quotes(*first_of[bucket]), in_quotes(text)));
    }
  }
}

// The most frequent texts, sorted; of equally frequent ones the first in the alphabet.
void ColumnEncoder::choose_levels(const LevelCounts& counts, std::size_t most) {
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const auto& [text, count] : counts.by_text) found.emplace_back(count, text);
  if (found.size() > most) {
    std::ranges::sort(found, [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    num_rare_ = found.size() - (most - 1);
    found.resize(most - 1);
  }
  for (auto& [count, text] : found) levels_.push_back(std::move(text));
  std::ranges::sort(levels_);
  if (num_rare_ > 0) levels_.emplace_back(kOtherLevel);
}

std::vector<std::string> ColumnEncoder::names(const std::string& name) const {
  std::vector<std::string> names;
  if (kind_ == Kind::number) names.push_back(name);
  for (std::size_t k = 0; kind_ != Kind::number && k < width_of_value(); ++k) {
    names.push_back(kind_ == Kind::hash ? fmt::format("{}#{}", name, k + 1) : fmt::format("{}={}", name, levels_[k]));
  }
  if (marks_missing_) names.push_back(name + " missing");
  return names;
}

std::uint32_t ColumnEncoder::place_of_text(std::string_view text) const {
  if (kind_ == Kind::hash) return hashed_place(hash_of_text(text));
  const auto end = levels_.end() - (num_rare_ > 0 ? 1 : 0);
  const auto found = std::lower_bound(levels_.begin(), end, text);
  return static_cast<std::uint32_t>((found != end && *found == text ? found : end) - levels_.begin());
}

std::size_t ColumnEncoder::place_of(std::size_t input, double cell) const {
  if (is_dictionary_text(cell)) return place_of_code_[input][text_payload(cell)];
  if (is_hashed_text(cell)) {
    return kind_ == Kind::hash ? hashed_place(text_payload(cell)) : levels_.size() - (num_rare_ > 0 ? 1 : 0);
  }
  return place_of_number_.at(cell + 0.0);
}

void ColumnEncoder::encode_text(std::size_t input, double cell, std::span<double> out) const {
  std::ranges::fill(out, is_missing(cell) && !marks_missing_ ? missing_cell() : 0.0);
  if (is_missing(cell)) return;
  // A text that an earlier encoder did not know has no place.
  if (const std::size_t place = place_of(input, cell); place < out.size()) out[place] = 1.0;
}

}  // namespace kqd
