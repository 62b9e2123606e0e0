#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/core/run_control.hpp"
#include "kqd/core/types.hpp"

namespace kqd {

/// A published experiment or figure, as shown by `kqd experiment list`.
struct ExperimentInfo {
  std::string_view id;
  std::string_view summary;                        ///< one line
  std::string_view shows;                          ///< reproduced figures and tables
  std::string_view data;                           ///< required files below the data folder; empty: none
  std::span<const std::string_view> schemes = {};  ///< ways to run it, the default first; empty: only one
  std::size_t runs = 0;                            ///< default number of runs per cell; 0: nothing is repeated
  std::size_t files = 0;                           ///< files of your own data that it draws instead; 0: it has its own
};

/// All experiments, in the order of the list.
[[nodiscard]] std::span<const ExperimentInfo> experiments();

/// The experiment with this id; throws Error{invalid_option} with a suggestion for a misspelt one.
[[nodiscard]] const ExperimentInfo& find_experiment(std::string_view id);

/// Options of run_experiment().
struct ExperimentOptions {
  std::string scheme = {};                ///< empty: the default
  std::size_t runs = 0;                   ///< per cell; 0: the default
  bool quick = false;                     ///< few runs of few cells, to see that it works
  std::vector<std::string> methods = {};  ///< rows to run; empty: all
  std::string out = "experiments";        ///< folder for results, created if it is missing
  std::string data = "data";              ///< folder of data sets
  std::vector<std::string> files = {};    ///< your own data, as many files as the experiment takes; empty: its own
  Seed seed = {};
  ThreadCount threads = {};  ///< changes the speed, not the numbers
};

/// Results of run_experiment().
struct ExperimentReport {
  std::string table;               ///< Markdown, with the published numbers; empty for illustrations
  std::vector<std::string> files;  ///< written files: .json, .md, .svg
};

/// Runs an experiment and writes its results, table and figure to the folder `out`.
///
/// Results are saved during the run: an interrupted run continues where it stopped, and further runs or rows are added
/// to existing results. Same numbers for any thread count. Throws Error{invalid_option, unreadable_input,
/// unwritable_output, interrupted} and what the tests throw.
[[nodiscard]] ExperimentReport run_experiment(std::string_view id, const ExperimentOptions& options = {},
                                              const RunControl* control = nullptr);

}  // namespace kqd
