#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "io/roles.hpp"

namespace kqd {

/// How the cells of one column of points become numbers, the same in all inputs.
///
/// A column of numbers passes as it is. A column with text in any input becomes columns of 0 and 1, by category of the
/// pool; a number in it is a category like any other, by its shortest text. A missing cell is missing in all of them.
class ColumnEncoder {
 public:
  /// For the `place`-th column of points. Throws Error{invalid_option} for more categories than onehot can take.
  ColumnEncoder(std::vector<Input>& inputs, std::size_t place, Categorical categorical);

  /// The number of columns that come out.
  [[nodiscard]] std::size_t width() const {
    return kind_ == Kind::number ? 1 : kind_ == Kind::hash ? kHashedColumns : categories_.size();
  }
  [[nodiscard]] bool encodes_text() const { return kind_ != Kind::number; }

  /// The names of the columns that come out: `name` itself, `name=text` by category, or `name#1`, `name#2`, ...
  [[nodiscard]] std::vector<std::string> names(const std::string& name) const;

  /// Texts that hashing does not distinguish, as `"male" and "yes"`: a pair for each column that several texts share,
  /// the first of them in order of the alphabet.
  [[nodiscard]] const std::vector<std::string>& collisions() const { return collisions_; }

  /// The numbers for a cell of the `input`-th input, into width() places.
  void encode(std::size_t input, double cell, std::span<double> out) const {
    if (kind_ == Kind::number) {
      out[0] = cell;
    } else {
      encode_text(input, cell, out);
    }
  }

 private:
  enum class Kind { number, onehot, hash };

  void find_collisions(std::vector<Input>& inputs, std::size_t place);
  void find_categories(std::vector<Input>& inputs, std::size_t place);
  void encode_text(std::size_t input, double cell, std::span<double> out) const;
  [[nodiscard]] std::size_t place_of(std::size_t input, double cell) const;

  Kind kind_ = Kind::number;
  std::vector<std::string> categories_;                    // sorted
  std::vector<std::vector<std::uint32_t>> place_of_code_;  // per input: where the text of a code goes
  std::unordered_map<double, std::uint32_t> place_of_number_;
  std::vector<std::string> collisions_;
};

}  // namespace kqd
