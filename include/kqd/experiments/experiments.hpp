#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/core/run_control.hpp"
#include "kqd/core/types.hpp"
#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// A published experiment or figure, as `kqd experiment list` shows it.
struct ExperimentInfo {
  std::string_view id;
  std::string_view summary;                        ///< one line
  std::string_view shows;                          ///< figures and tables that it reproduces
  std::string_view data;                           ///< files that it needs, below the data folder; empty: none
  std::span<const std::string_view> schemes = {};  ///< ways to run it, the default first; empty: one only
  std::size_t runs = 0;                            ///< of each cell, as planned; 0: nothing is repeated
};

/// Every experiment, in the order in which they are listed.
[[nodiscard]] std::span<const ExperimentInfo> experiments();

/// The experiment with this id; throws Error{invalid_option} with a suggestion for a misspelt one.
[[nodiscard]] const ExperimentInfo& find_experiment(std::string_view id);

/// What a caller of an experiment may choose. All defaults are usable as they stand.
struct ExperimentOptions {
  std::string scheme = {};                ///< empty: the first of the experiment
  std::size_t runs = 0;                   ///< of each cell; 0: as planned
  bool quick = false;                     ///< few runs of few cells: to see that it works
  std::vector<std::string> methods = {};  ///< rows to run; empty: all
  std::string out = "experiments";        ///< folder for results, made when it is missing
  std::string data = "data";              ///< folder of data sets
  Seed seed = {};
  ThreadCount threads = {};  ///< changes the speed, not the numbers
};

/// What came out.
struct ExperimentReport {
  std::string table;               ///< Markdown, next to the published numbers; empty for illustrations
  std::vector<std::string> files;  ///< what was written: .json, .md, .svg
};

/// Runs an experiment and writes its results, table and figure to the folder `out`.
///
/// Results are kept as they come: a run that was interrupted goes on where it stopped, and more runs or rows are added
/// to those that are there. Same numbers for any thread count. Throws Error{invalid_option, unreadable_input,
/// unwritable_output, interrupted} and what the tests throw.
[[nodiscard]] ExperimentReport run_experiment(std::string_view id, const ExperimentOptions& options = {},
                                              const RunControl* control = nullptr);

}  // namespace kqd
