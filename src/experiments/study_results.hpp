#pragma once
#include <string>
#include <vector>

#include "experiments/study.hpp"

namespace kqd::lab {

/// What is known of a cell: a character for each run, '1' rejected, '0' not, '.' not run; and the time it took.
struct Cell {
  std::string decisions;
  double seconds = 0.0;

  [[nodiscard]] bool has(std::size_t run) const { return run < decisions.size() && decisions[run] != '.'; }
  void set(std::size_t run, bool rejected);
  /// Runs that the other one has and this one has not.
  void add(const Cell& other);
  [[nodiscard]] Count count() const;
};

/// The cells of a study, kept in a file from which an interrupted run goes on.
class StudyResults {
 public:
  explicit StudyResults(const Study& study);

  /// Adds what an earlier run has left in the file; does nothing when there is none.
  /// Throws Error{unreadable_input} for a file that holds something else, or results of other settings.
  void resume(const std::string& path, const Study& study, Seed seed);

  /// Writes everything, whole or not at all: schema "kqd.experiment/1". What another process has written there since
  /// is kept, here too.
  void save(const std::string& path, const Study& study, Seed seed);

  [[nodiscard]] Cell& cell(std::size_t row, std::size_t column) { return cells_[row][column]; }
  [[nodiscard]] const Cell& cell(std::size_t row, std::size_t column) const { return cells_[row][column]; }
  /// True when the row has a finished run in some column.
  [[nodiscard]] bool has_row(std::size_t row) const;

 private:
  std::vector<std::vector<Cell>> cells_;
};

/// The cells that have published counterparts, paired with them.
[[nodiscard]] std::vector<CountPair> published_pairs(const Study& study, const StudyResults& results);

}  // namespace kqd::lab
