#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "io/roles.hpp"
#include "io/rows.hpp"

namespace kqd {

/// How often each text of a column of points occurs in the rows of all samples together. A number is a text like any
/// other, by its shortest spelling.
struct LevelCounts {
  /// For the `place`-th column of points.
  LevelCounts(std::vector<Input>& inputs, std::size_t place, const RowPlan& rows);

  std::unordered_map<std::string, std::size_t> by_text;
  /// By hash, of all texts, when there are more than a dictionary holds; `by_text` is then not complete.
  std::unordered_map<std::uint64_t, std::size_t> by_hash;
  std::unordered_map<double, std::size_t> by_number;  ///< the numbers among them
  std::size_t total = 0;

  [[nodiscard]] bool complete() const { return by_hash.empty(); }
  [[nodiscard]] std::size_t num_levels() const { return complete() ? by_text.size() : by_hash.size(); }
  /// Rows whose text occurs at most `most` times.
  [[nodiscard]] std::size_t rows_of_rare(std::size_t most) const;
};

}  // namespace kqd
