#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "io/level_counts.hpp"
#include "io/roles.hpp"
#include "io/rows.hpp"
#include "kqd/core/sample.hpp"
#include "kqd/io/encoding.hpp"

namespace kqd {

/// How the cells of one column of points become numbers, the same in all inputs.
///
/// A column of numbers passes as it is. A column with text in any input becomes columns of 0 and 1, by category of the
/// pool; a number in it is a category like any other, by its shortest text. A missing cell is missing in all of them,
/// or 1 in a column that marks missing values.
class ColumnEncoder {
 public:
  /// For the `place`-th column of points. Throws Error{invalid_option} for more categories than onehot can take.
  ColumnEncoder(std::vector<Input>& inputs, std::size_t place, const RowPlan& rows, const ReadOptions& options);

  /// The same as an earlier encoder. A text without a place is 0 in all columns, a missing one as well.
  ColumnEncoder(const ColumnEncoding& like, std::vector<Input>& inputs, std::size_t place, const RowPlan& rows);

  /// The number of columns that come out.
  [[nodiscard]] std::size_t width() const { return width_of_value() + (marks_missing_ ? 1 : 0); }
  [[nodiscard]] bool encodes_text() const { return kind_ != Kind::number; }
  [[nodiscard]] bool passes() const { return kind_ == Kind::number && !marks_missing_; }
  [[nodiscard]] bool hashes() const { return kind_ == Kind::hash; }
  [[nodiscard]] bool marks_missing() const { return marks_missing_; }

  /// The names of the columns that come out: `name` itself, `name=text` by category, or `name#1`, `name#2`, ...; and
  /// `name missing`.
  [[nodiscard]] std::vector<std::string> names(const std::string& name) const;
  [[nodiscard]] ColumnKind kind_of(std::size_t column) const {
    if (column >= width_of_value()) return ColumnKind::missing;
    return kind_ == Kind::number ? ColumnKind::number : ColumnKind::level;
  }
  /// The texts of categories, in the order of their columns; none of numbers and hashed texts.
  [[nodiscard]] const std::vector<std::string>& levels() const { return levels_; }
  /// How many texts share the last level; 0: there are no rare ones.
  [[nodiscard]] std::size_t num_rare() const { return num_rare_; }
  [[nodiscard]] std::size_t num_texts() const { return num_texts_; }

  /// Texts that hashing does not distinguish, as `"male" and "yes"`: a pair for each column that several texts share,
  /// the first of them in order of the alphabet.
  [[nodiscard]] const std::vector<std::string>& collisions() const { return collisions_; }

  /// The numbers for a cell of the `input`-th input, into width() places. A missing number stays missing.
  void encode(std::size_t input, double cell, std::span<double> out) const {
    if (marks_missing_) out[width_of_value()] = is_missing(cell) ? 1.0 : 0.0;
    if (kind_ == Kind::number) {
      out[0] = cell;
    } else {
      encode_text(input, cell, out.first(width_of_value()));
    }
  }

 private:
  enum class Kind { number, onehot, hash };

  [[nodiscard]] std::size_t width_of_value() const {
    return kind_ == Kind::number ? 1 : kind_ == Kind::hash ? kHashedColumns : levels_.size();
  }
  void place_texts(const std::vector<Input>& inputs, std::size_t place, const LevelCounts& counts);
  void find_collisions(const LevelCounts& counts);
  void choose_levels(const LevelCounts& counts, std::size_t most);
  void encode_text(std::size_t input, double cell, std::span<double> out) const;
  [[nodiscard]] std::size_t place_of(std::size_t input, double cell) const;
  [[nodiscard]] std::uint32_t place_of_text(std::string_view text) const;

  Kind kind_ = Kind::number;
  bool marks_missing_ = false;
  std::vector<std::string> levels_;  // sorted, but for one that rare texts share
  std::size_t num_rare_ = 0;
  std::size_t num_texts_ = 0;
  std::vector<std::vector<std::uint32_t>> place_of_code_;  // per input: where the text of a code goes
  std::unordered_map<double, std::uint32_t> place_of_number_;
  std::vector<std::string> collisions_;
};

}  // namespace kqd
