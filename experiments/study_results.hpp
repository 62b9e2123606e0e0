#pragma once
#include <string>
#include <vector>

#include "experiments/study.hpp"

namespace kqd::lab {

/// The runs of a cell: one character per run, '1' rejected, '0' not rejected, '.' not run; and their total processor
/// time.
struct Cell {
  std::string decisions;
  double seconds = 0.0;

  [[nodiscard]] bool has(std::size_t run) const { return run < decisions.size() && decisions[run] != '.'; }
  void set(std::size_t run, bool rejected);
  /// Adds the runs that only the other cell has.
  void add(const Cell& other);
  [[nodiscard]] Count count() const;
};

/// The cells of a study, kept in a file from which an interrupted run continues.
class StudyResults {
 public:
  explicit StudyResults(const Study& study);

  /// Adds the results of an earlier run from a file, if it exists.
  /// Throws Error{unreadable_input} for a file with other content or results of other settings.
  void resume(const std::string& path, const Study& study, Seed seed);

  /// Replaces the file atomically (schema "kqd.experiment/1"). Results that another process has added to it are kept
  /// there, and added here.
  void save(const std::string& path, const Study& study, Seed seed);

  [[nodiscard]] Cell& cell(std::size_t row, std::size_t column) { return cells_[row][column]; }
  [[nodiscard]] const Cell& cell(std::size_t row, std::size_t column) const { return cells_[row][column]; }
  /// True if the row has a finished run in some column.
  [[nodiscard]] bool has_row(std::size_t row) const;

 private:
  std::vector<std::vector<Cell>> cells_;
};

/// The cells that have published counterparts, paired with them.
[[nodiscard]] std::vector<CountPair> published_pairs(const Study& study, const StudyResults& results);

}  // namespace kqd::lab
