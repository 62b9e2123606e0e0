#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/pool.hpp"
#include "explain/labelled_cells.hpp"
#include "explain/table_columns.hpp"
#include "kqd/explain/explain.hpp"

namespace kqd {

/// A column of the table as relations see it.
struct RelationVariable {
  std::string name;
  std::size_t source = 0;  // number of the table's column
  ColumnType type = ColumnType::number;
  std::vector<double> scores = {};        // of a number: normal scores; empty: levels
  std::vector<double> values = {};        // of a number, in its units
  std::vector<std::uint16_t> cells = {};  // level, or 0 for a number; kSkipped: no value
  std::vector<std::string> names = {};    // of the levels
  bool has_missing = false;               // some rows of a number have no value

  [[nodiscard]] bool is_number() const { return !scores.empty(); }
};

/// The columns that can be related: numbers, categories of at most 11 levels and one for the others, and missing values
/// of numbers. A number of two values is a category.
[[nodiscard]] std::vector<RelationVariable> variables_of(std::span<const TableColumn> columns, const Pool& pool,
                                                         const Marks& marks);

/// The sums over the rows of X that a pair needs, per permutation of a batch.
struct RelationPair {
  const RelationVariable* a = nullptr;  // the number, of a number and a category
  const RelationVariable* b = nullptr;
  RowCells counts = {};  // of rows, per cell
  RowCells first = {};   // of a's scores, per cell
  RowCells first_squared = {};
  RowCells second = {};  // of two numbers
  RowCells second_squared = {};
  RowCells product = {};
  std::vector<std::vector<double>> totals = {};  // of each of these
  std::size_t freedom = 1;

  [[nodiscard]] RelationForm kind() const {
    return !a->is_number()  ? RelationForm::levels
           : b->is_number() ? RelationForm::numbers
                            : RelationForm::number_by_level;
  }
  [[nodiscard]] std::vector<const RowCells*> parts() const {
    switch (kind()) {
      case RelationForm::numbers:
        return {&counts, &first, &second, &first_squared, &second_squared, &product};
      case RelationForm::number_by_level:
        return {&counts, &first, &first_squared};
      case RelationForm::levels:
        break;
    }
    return {&counts};
  }
};

[[nodiscard]] RelationPair pair_of(const RelationVariable& a, const RelationVariable& b,
                                   std::span<const double> weights);

/// The moments of one sample: sums per cell of each part of a pair.
using RelationMoments = std::vector<std::vector<double>>;

/// The covariances of one sample, one per cell, with numbers scaled to variance 1; empty if the sample has no rows.
[[nodiscard]] std::vector<double> relation_of(const RelationPair& pair, const RelationMoments& of);

/// The divisors of squared differences of covariances: shares of the pool.
[[nodiscard]] std::vector<double> cell_variances(const RelationPair& pair);

[[nodiscard]] double statistic_of(const RelationPair& pair, std::span<const double> variances, const RelationMoments& x,
                                  const RelationMoments& y);

/// The sums over the rows that the permutations of a batch label X, of each part of the pair.
[[nodiscard]] std::vector<Matrix<double>> sums_of(const RelationPair& pair, const LabelBatch& batch);

/// The moments of X, and of Y as what is left of the totals, in permutation `b`.
[[nodiscard]] std::pair<RelationMoments, RelationMoments> moments_of(const RelationPair& pair,
                                                                     const std::vector<Matrix<double>>& of_x,
                                                                     unsigned b);

}  // namespace kqd
