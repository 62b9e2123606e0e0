#include "io/booleans.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "io/cell.hpp"

namespace kqd {
namespace {

// The value of a word, if it has one.
std::optional<double> boolean_of(std::string_view text) {
  constexpr std::array<std::string_view, 2> kWords = {"false", "true"};
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  for (std::size_t value = 0; value < kWords.size(); ++value) {
    if (std::ranges::equal(text, kWords[value], {}, lower)) return static_cast<double>(value);
  }
  return std::nullopt;
}

std::vector<std::optional<double>> meanings_of(const TextDictionary& texts) {
  std::vector<std::optional<double>> meanings;
  for (std::size_t code = 0; code < texts.size(); ++code) meanings.push_back(boolean_of(texts[code].text));
  return meanings;
}

// True when no number is among them: a number is not a boolean.
bool holds_booleans(const Input& input, std::size_t j) {
  const Column& column = input.table.columns[j];
  return column.has_text() && !column.texts->overfull() &&
         column.num_texts + column.num_missing == input.table.rows_read() &&
         std::ranges::all_of(meanings_of(*column.texts), [](const auto& meaning) { return meaning.has_value(); });
}

void turn_into_numbers(Table& table, std::size_t j) {
  Column& column = table.columns[j];
  const auto meanings = meanings_of(*column.texts);
  for (std::size_t b = 0; b < table.cells.num_blocks(); ++b) {
    const MatrixView<double> block = table.cells.block(b);
    for (std::size_t i = 0; i < block.rows(); ++i) {
      double& cell = block(i, j);
      if (is_text(cell)) cell = *meanings[text_payload(cell)];
    }
  }
  column.texts.reset();
  column.num_texts = 0;
}

}  // namespace

std::vector<std::size_t> turn_booleans_into_numbers(std::vector<Input>& inputs) {
  std::vector<std::size_t> places;
  for (std::size_t k = 0; k < inputs.front().roles.points.size(); ++k) {
    const auto has_text = [&](const Input& input) { return input.table.columns[input.roles.points[k]].has_text(); };
    const auto fits = [&](const Input& input) {
      return !has_text(input) || holds_booleans(input, input.roles.points[k]);
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
