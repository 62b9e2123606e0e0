#include "io/level_counts.hpp"

#include "core/text.hpp"
#include "io/cell.hpp"

namespace kqd {

LevelCounts::LevelCounts(std::vector<Input>& inputs, std::size_t place, const RowPlan& rows) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Input& input = inputs[i];
    const std::size_t j = input.roles.points[place];
    const Column& column = input.table.columns[j];
    std::vector<std::size_t> by_code(column.has_text() ? column.texts->size() : 0);
    std::size_t row = 0;
    for (std::size_t b = 0; b < input.table.cells.num_blocks(); ++b) {
      const MatrixView<double> block = input.table.cells.block(b);
      for (std::size_t k = 0; k < block.rows(); ++k, ++row) {
        const double cell = block(k, j);
        if (is_missing(cell) || rows.sample_of_row[i][row] == RowPlan::kNowhere) continue;
        ++total;
        if (is_dictionary_text(cell)) {
          ++by_code[text_payload(cell)];
        } else if (is_hashed_text(cell)) {
          ++by_hash[text_payload(cell)];
        } else {
          ++by_number[cell + 0.0];  // one zero, whatever its sign
        }
      }
    }
    for (std::size_t code = 0; code < by_code.size(); ++code) {
      if (by_code[code] > 0) by_text[std::string((*column.texts)[code].text)] += by_code[code];
    }
  }
  for (const auto& [number, count] : by_number) by_text[shortest(number)] += count;
  if (by_hash.empty()) return;
  for (const auto& [text, count] : by_text) by_hash[hash_of_text(text) & ~kTagMask] += count;
}

std::size_t LevelCounts::rows_of_rare(std::size_t most) const {
  const auto sum = [most](const auto& counts) {
    std::size_t rows = 0;
    for (const auto& [level, count] : counts) rows += count <= most ? count : 0;
    return rows;
  };
  return complete() ? sum(by_text) : sum(by_hash);
}

}  // namespace kqd
