#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/feature_map.hpp"
#include "kqd/core/matrix.hpp"
#include "profile/grouped_rows.hpp"
#include "profile/line_grid.hpp"

namespace kqd {

/// Rows of each unit in each bin of a grid along one direction.
struct GroupedLine {
  LineGrid grid;
  Matrix<std::uint32_t> counts;  ///< (unit, bin)

  /// Rows of each unit that have a value.
  [[nodiscard]] std::vector<double> unit_rows() const;
};

/// Counts and means of units, from which statistics of permutations are computed.
struct GroupedData {
  std::vector<double> unit_rows;  ///< rows of each unit, at least one
  std::vector<GroupedLine> lines;
  std::vector<Matrix<double>> unit_means;  ///< of sets of functions: (unit, function), measured from their mean

  [[nodiscard]] std::size_t num_units() const { return unit_rows.size(); }
  [[nodiscard]] std::size_t num_rows() const;
  /// Units have equally many rows: exchanging them changes the size of no sample.
  [[nodiscard]] bool equal_units() const;
};

/// Replaces sums over the rows of units by their means, measured from the mean of all rows.
void centre_unit_means(Matrix<double>& sums, std::span<const double> unit_rows);

/// Counts along directions and means of features per group, the input of statistics of grouped rows. Collected in one
/// pass over the rows for all that was asked for. Functions that several statistics share are evaluated once.
class GroupedSummary {
 public:
  explicit GroupedSummary(std::shared_ptr<const GroupedRows> rows)
      : rows_(std::move(rows)), data_(std::make_shared<GroupedData>()) {
    for (std::size_t unit = 0; unit < rows_->num_units(); ++unit) {
      data_->unit_rows.push_back(static_cast<double>(rows_->groups().rows_of(unit).size()));
    }
  }

  [[nodiscard]] const GroupedRows& rows() const { return *rows_; }

  /// Counts along the first `count` functions; their grids come from the pilot rows. Returns the number of the first
  /// line.
  std::size_t add_lines(const RowFunctions& functions, std::size_t count, ThreadCount threads);
  /// Means of all functions; returns their number.
  std::size_t add_means(const RowFunctions& functions, ThreadCount threads);

  /// Reads the rows. Call once, after everything was added.
  void collect(ThreadCount threads);

  /// Complete after collect().
  [[nodiscard]] std::shared_ptr<const GroupedData> data() const { return data_; }

 private:
  struct Source {
    RowFunctions functions;
    std::size_t first_line = 0;
    std::size_t num_lines = 0;
    std::size_t means = kNone;
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  Source& source_of(const RowFunctions& functions);

  std::shared_ptr<const GroupedRows> rows_;
  std::vector<Source> sources_;
  std::shared_ptr<GroupedData> data_;
  std::vector<std::vector<double>> centres_;  // of the unit means, in the pilot
};

}  // namespace kqd
