#include "io/categorical.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

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

// The different numbers of a column that also has text, up to `most` of them and one more.
std::set<double> numbers_in(Table& table, std::size_t j, std::size_t most) {
  std::set<double> numbers;
  for (std::size_t b = 0; b < table.cells.num_blocks(); ++b) {
    const MatrixView<double> block = table.cells.block(b);
    for (std::size_t i = 0; i < block.rows(); ++i) {
      if (!std::isnan(block(i, j))) numbers.insert(block(i, j) + 0.0);  // one zero, whatever its sign
      if (numbers.size() > most) return numbers;
    }
  }
  return numbers;
}

}  // namespace

ColumnEncoder::ColumnEncoder(std::vector<Input>& inputs, std::size_t place, Categorical categorical) {
  if (!is_text_column(inputs, place)) return;
  kind_ = categorical == Categorical::hash ? Kind::hash : Kind::onehot;
  if (kind_ == Kind::onehot) find_categories(inputs, place);
  if (kind_ == Kind::hash) find_collisions(inputs, place);
  for (const Input& input : inputs) {
    const Column& column = input.table.columns[input.roles.points[place]];
    std::vector<std::uint32_t>& places = place_of_code_.emplace_back();
    for (std::size_t code = 0; column.has_text() && code < column.texts->size(); ++code) {
      const std::string_view text = (*column.texts)[code].text;
      places.push_back(kind_ == Kind::hash ? hashed_place(hash_of_text(text))
                                           : static_cast<std::uint32_t>(std::ranges::lower_bound(categories_, text) -
                                                                        categories_.begin()));
    }
  }
}

void ColumnEncoder::find_collisions(std::vector<Input>& inputs, std::size_t place) {
  std::set<std::string> texts;
  for (Input& input : inputs) {
    const std::size_t j = input.roles.points[place];
    const Column& column = input.table.columns[j];
    for (std::size_t code = 0; column.has_text() && code < column.texts->size(); ++code) {
      texts.emplace((*column.texts)[code].text);
    }
    for (const double number : numbers_in(input.table, j, TextDictionary::kMostTexts)) texts.insert(shortest(number));
  }
  std::vector<const std::string*> first_of(kHashedColumns, nullptr);
  std::vector<bool> is_shared(kHashedColumns, false);
  for (const std::string& text : texts) {
    const std::uint32_t bucket = hashed_place(hash_of_text(text));
    if (first_of[bucket] == nullptr) {
      first_of[bucket] = &text;
    } else if (!is_shared[bucket]) {
      is_shared[bucket] = true;
      collisions_.push_back(fmt::format("{} and {}", in_quotes(*first_of[bucket]), in_quotes(text)));
    }
  }
}

void ColumnEncoder::find_categories(std::vector<Input>& inputs, std::size_t place) {
  std::set<std::string, std::less<>> found;
  std::set<double> numbers;
  for (Input& input : inputs) {
    const std::size_t j = input.roles.points[place];
    const Column& column = input.table.columns[j];
    if (column.has_text() && column.texts->overfull()) fail_too_many(input.table, j);
    for (std::size_t code = 0; column.has_text() && code < column.texts->size(); ++code) {
      found.emplace((*column.texts)[code].text);
    }
    numbers.merge(numbers_in(input.table, j, kMostCategories));
    for (const double number : numbers) found.insert(shortest(number));
    if (found.size() > kMostCategories) fail_too_many(input.table, j);
  }
  categories_.assign(found.begin(), found.end());
  for (const double number : numbers) {
    const auto at = std::ranges::lower_bound(categories_, shortest(number));
    place_of_number_.emplace(number, static_cast<std::uint32_t>(at - categories_.begin()));
  }
}

std::vector<std::string> ColumnEncoder::names(const std::string& name) const {
  if (kind_ == Kind::number) return {name};
  std::vector<std::string> names;
  for (std::size_t k = 0; k < width(); ++k) {
    names.push_back(kind_ == Kind::hash ? fmt::format("{}#{}", name, k + 1)
                                        : fmt::format("{}={}", name, categories_[k]));
  }
  return names;
}

std::size_t ColumnEncoder::place_of(std::size_t input, double cell) const {
  if (is_dictionary_text(cell)) return place_of_code_[input][text_payload(cell)];
  if (is_hashed_text(cell)) return hashed_place(text_payload(cell));
  return kind_ == Kind::hash ? hashed_place(hash_of_text(shortest(cell + 0.0))) : place_of_number_.at(cell);
}

void ColumnEncoder::encode_text(std::size_t input, double cell, std::span<double> out) const {
  std::ranges::fill(out, is_missing(cell) ? missing_cell() : 0.0);
  if (!is_missing(cell)) out[place_of(input, cell)] = 1.0;
}

}  // namespace kqd
