#include "io/booleans.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "io/cell.hpp"

namespace kqd {
namespace {

// The value of a word, if it has one: true and false, or also yes and no.
std::optional<double> boolean_of(std::string_view text) {
  constexpr std::array<std::string_view, 4> kWords = {"false", "true", "no", "yes"};
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  for (std::size_t word = 0; word < kWords.size(); ++word) {
    if (std::ranges::equal(text, kWords[word], {}, lower)) return static_cast<double>(word % 2);
  }
  return std::nullopt;
}

bool is_true_or_false(std::string_view text) {
  return boolean_of(text) && text.size() > 3;
}

std::vector<std::optional<double>> meanings_of(const TextDictionary& texts) {
  std::vector<std::optional<double>> meanings;
  for (std::size_t code = 0; code < texts.size(); ++code) meanings.push_back(boolean_of(texts[code].text));
  return meanings;
}

void turn_into_numbers(Table& table, std::size_t j) {
  turn_cells_into_numbers(table, j);
  table.columns[j].texts.reset();
  table.columns[j].num_texts = 0;
}

}  // namespace

bool is_boolean_word(std::string_view text) {
  return boolean_of(text).has_value();
}

// No number may be among them: a number is not a boolean.
bool holds_booleans(const Table& table, std::size_t j) {
  const Column& column = table.columns[j];
  if (!column.has_text() || column.texts->overfull()) return false;
  if (column.num_texts + column.num_missing != table.rows_read()) return false;
  for (std::size_t code = 0; code < column.texts->size(); ++code) {
    if (!is_true_or_false((*column.texts)[code].text)) return false;
  }
  return true;
}

// Also yes and no, and the numbers 0 and 1.
bool holds_yes_or_no(Table& table, std::size_t j) {
  const Column& column = table.columns[j];
  if (column.declared.value_or(ColumnType::boolean) != ColumnType::boolean || column.num_dates > 0) return false;
  if (column.has_text() && column.texts->overfull()) return false;
  if (column.has_text() &&
      !std::ranges::all_of(meanings_of(*column.texts), [](const auto& meaning) { return meaning.has_value(); })) {
    return false;
  }
  for (std::size_t b = 0; b < table.cells.num_blocks(); ++b) {
    const MatrixView<double> block = table.cells.block(b);
    for (std::size_t i = 0; i < block.rows(); ++i) {
      const double cell = block(i, j);
      if (!is_text(cell) && !is_missing(cell) && cell != 0.0 && cell != 1.0) return false;
    }
  }
  return true;
}

void turn_cells_into_numbers(Table& table, std::size_t j) {
  const auto meanings = meanings_of(*table.columns[j].texts);
  for (std::size_t b = 0; b < table.cells.num_blocks(); ++b) {
    const MatrixView<double> block = table.cells.block(b);
    for (std::size_t i = 0; i < block.rows(); ++i) {
      double& cell = block(i, j);
      if (is_text(cell)) cell = *meanings[text_payload(cell)];
    }
  }
}

std::vector<std::size_t> turn_booleans_into_numbers(std::vector<Input>& inputs, bool automatic) {
  std::vector<std::size_t> places;
  for (std::size_t k = 0; k < inputs.front().roles.points.size(); ++k) {
    const auto has_text = [&](const Input& input) { return input.table.columns[input.roles.points[k]].has_text(); };
    const auto fits = [&](Input& input) {
      if (automatic) return holds_yes_or_no(input.table, input.roles.points[k]);
      return !has_text(input) || holds_booleans(input.table, input.roles.points[k]);
    };
    if (std::ranges::none_of(inputs, has_text) || !std::ranges::all_of(inputs, fits)) continue;
    places.push_back(k);
    for (Input& input : inputs) {
      if (has_text(input)) turn_into_numbers(input.table, input.roles.points[k]);
    }
  }
  return places;
}

}  // namespace kqd
