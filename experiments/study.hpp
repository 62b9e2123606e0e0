#pragma once
#include <cstddef>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiments/rates.hpp"
#include "kqd/core/run_control.hpp"
#include "kqd/core/sample.hpp"
#include "kqd/core/types.hpp"
#include "kqd/two_sample/two_sample_test.hpp"

namespace kqd::lab {

/// The data of one run, used by one thread.
struct Draw {
  Sample x;
  Sample y;

  /// The kernel with the bandwidth that the rule gives for the pool; computed once for all tests.
  [[nodiscard]] const KernelSpec& resolved(const KernelSpec& kernel, BandwidthRule rule, Seed seed) const;

  struct Resolved {
    std::string text;
    BandwidthRule rule;
    KernelSpec kernel;
  };
  mutable std::vector<Resolved> known = {};
};

/// The highest published rate for the data of a column.
struct BestPublished {
  double rate = 0.0;
  std::string test;
  std::string source;  ///< key in docs/references.md
};

/// One position on the horizontal axis of a figure, and the data of its runs.
struct Column {
  double x = 0.0;
  std::size_t n = 0;  ///< rows of X
  std::function<Draw(Seed)> draw;
  std::string name = {};    ///< instead of the number x
  bool equal_sizes = true;  ///< Y has n rows too
  double work = 1.0;        ///< of a run, relative to other columns; only for the estimate of the remaining time
  std::optional<BestPublished> best = {};
};

/// One method: a row of the table, a curve of the figure.
struct Row {
  std::string id;
  std::string label;
  std::vector<std::optional<Count>> published = {};  ///< for each column; empty: none
  bool quadratic = false;                            ///< cost of one evaluation; drawn dotted, as in the paper
  std::string curve = {};                            ///< its name in the legend; empty: the label
};

/// Tests that share computations and are run together.
struct Bundle {
  std::vector<std::size_t> rows;
  /// The decision of each test.
  std::function<std::vector<bool>(const Column& column, const Draw& data, Seed seed)> reject;
  std::size_t largest_n =
      std::numeric_limits<std::size_t>::max();  ///< columns with more rows are skipped: too expensive
};

/// A part of a figure: some rows under a title.
struct Panel {
  std::string title;
  std::vector<std::string> rows;
};

/// An experiment whose results are rejection rates: a table of tests (rows) and problems (columns), with the same runs
/// in each cell.
struct Study {  // NOLINT(bugprone-exception-escape): moving JSON does not throw
  std::string id;
  std::string scheme;  ///< empty: the experiment has only one
  std::string title;
  std::string axis;           ///< meaning of the columns
  double highest_rate = 1.0;  ///< of the figure's vertical axis
  bool log_axis = false;      ///< columns are drawn at log x
  bool columns_down = false;  ///< many columns: table and figure have a line for each, and times are reported
  std::string comparison;     ///< source of published rates
  bool replicates = false;    ///< rates should equal the published ones; otherwise they are for comparison
  std::vector<Column> columns;
  std::vector<Row> rows;
  std::vector<Bundle> bundles;
  std::vector<Panel> panels;
  std::size_t runs = 0;
  nlohmann::ordered_json settings;  ///< all other settings that determine the numbers
  std::string note = {};            ///< a sentence below the table
};

/// The decision of the library's test at level kLevel, on one thread because runs use all threads.
[[nodiscard]] bool rejects(const Draw& data, TwoSampleOptions options, Seed seed);

/// Adds a row for a test of the library; `options` gives its settings for a column.
void add_test_row(Study& study, Row row, std::function<TwoSampleOptions(const Column& column)> options,
                  std::size_t largest_n = std::numeric_limits<std::size_t>::max());

/// The stem of result files: "power-decay.reference", or without a scheme "type-one".
[[nodiscard]] std::string file_stem(const Study& study);

/// floor(log n), from which the paper derives its settings.
[[nodiscard]] std::size_t floor_log(std::size_t n);

/// The level of every test here.
inline constexpr double kLevel = 0.05;

}  // namespace kqd::lab
