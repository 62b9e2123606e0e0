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

/// The data of one run, which one thread works on.
struct Draw {
  Sample x;
  Sample y;

  /// The kernel with the bandwidth that the rule finds in the pool: looked for once, whatever the number of tests.
  [[nodiscard]] const KernelSpec& resolved(const KernelSpec& kernel, BandwidthRule rule, Seed seed) const;

  struct Resolved {
    std::string text;
    BandwidthRule rule;
    KernelSpec kernel;
  };
  mutable std::vector<Resolved> known = {};
};

/// The highest rate that was published for the data of a column.
struct BestPublished {
  double rate = 0.0;
  std::string test;
  std::string source;  ///< key in docs/references.md
};

/// One place on the horizontal axis of a figure: where the data of its runs come from.
struct Column {
  double x = 0.0;
  std::size_t n = 0;  ///< rows of X
  std::function<Draw(Seed)> draw;
  std::string name = {};    ///< instead of the number x
  bool equal_sizes = true;  ///< Y has n rows too
  double work = 1.0;        ///< of a run, next to that of other columns; for the time left alone
  std::optional<BestPublished> best = {};
};

/// One method: a row of the table, a curve of the figure.
struct Row {
  std::string id;
  std::string label;
  std::vector<std::optional<Count>> published = {};  ///< for each column; empty: nothing was
  bool quadratic = false;                            ///< cost of one evaluation; drawn with dots, as in the paper
  std::string curve = {};                            ///< its name in the legend; empty: the label
};

/// Tests that share their work and are decided together.
struct Bundle {
  std::vector<std::size_t> rows;
  /// Does each of them reject?
  std::function<std::vector<bool>(const Column& column, const Draw& data, Seed seed)> reject;
  std::size_t largest_n = std::numeric_limits<std::size_t>::max();  ///< columns beyond are left out: too expensive
};

/// A part of a figure: some rows under a title.
struct Panel {
  std::string title;
  std::vector<std::string> rows;
};

/// An experiment whose outcome is how often tests reject: a table of rows and columns, the same runs in each cell.
struct Study {  // NOLINT(bugprone-exception-escape): moving JSON does not throw
  std::string id;
  std::string scheme;  ///< empty: the experiment has one only
  std::string title;
  std::string axis;           ///< what the columns are
  double highest_rate = 1.0;  ///< of the figure's vertical axis
  bool log_axis = false;      ///< columns are drawn at log x
  bool columns_down =
      false;                ///< many columns: table and figure have a line for each, and the time of a test is reported
  std::string comparison;   ///< where published rates come from
  bool replicates = false;  ///< rates should be the published ones; else they are for comparison
  std::vector<Column> columns;
  std::vector<Row> rows;
  std::vector<Bundle> bundles;
  std::vector<Panel> panels;
  std::size_t runs = 0;
  nlohmann::ordered_json settings;  ///< all else that the numbers follow from
  std::string note = {};            ///< a sentence below the table
};

/// The decision of the library's own test at level kLevel, on one thread because runs share the threads.
[[nodiscard]] bool rejects(const Draw& data, TwoSampleOptions options, Seed seed);

/// Adds a row that is decided by the library's own test; `options` gives its settings for a column.
void add_test_row(Study& study, Row row, std::function<TwoSampleOptions(const Column& column)> options,
                  std::size_t largest_n = std::numeric_limits<std::size_t>::max());

/// "power-decay.reference", as files of its results are called; without a scheme "type-one".
[[nodiscard]] std::string file_stem(const Study& study);

/// floor(log n), which the paper's settings follow from.
[[nodiscard]] std::size_t floor_log(std::size_t n);

/// The level of every test here.
inline constexpr double kLevel = 0.05;

}  // namespace kqd::lab
