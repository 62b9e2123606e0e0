#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kqd/core/message.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/io/preparation.hpp"
#include "kqd/metrics/discrepancy.hpp"
#include "kqd/metrics/distance_matrix.hpp"
#include "kqd/metrics/embedding_table.hpp"
#include "kqd/testing/pvalue.hpp"
#include "kqd/two_sample/pairwise_tests.hpp"
#include "kqd/two_sample/two_sample_test.hpp"

namespace kqd KQD_PUBLIC {

/// Options by their names in C++ and their values as text.
using NamedSettings = std::vector<std::pair<std::string, std::string>>;

/// Describes a run: method, data and time.
struct RunInfo {
  std::string method;  ///< id in the registry
  std::string x_name;  ///< source of X
  std::string y_name;
  std::size_t n_x = 0;  ///< rows of the input
  std::size_t n_y = 0;
  std::size_t dim = 0;
  Preparation preparation = {};  ///< how the data were prepared
  double elapsed_s = 0.0;
  OptionNames option_names = library_names;  ///< how warnings write options
  NamedSettings settings = {};               ///< options that were set
  std::string x_label = "X";                 ///< how texts call the sample X, such as "march"
  std::string y_label = "Y";
  std::string explain_call = {};  ///< what a test that rejects points to: "kqd explain"; empty: nothing
  /// Of a distance between profiles: holds the distance of their rows for certain.
  std::optional<Interval> interval = {};
};

/// Names of two samples in texts: the values of the group column, or the names of the files without folders, suffixes
/// and what both have in common ("customers-march.csv" and "customers-april.csv": "march" and "april"); "X" and "Y"
/// where that does not distinguish them.
[[nodiscard]] std::pair<std::string, std::string> sample_labels(const std::string& x_name, const std::string& y_name,
                                                                const Preparation& preparation = {});

/// Properties of the reader's screen. The default is plain text of any width, as for a file.
struct TextStyle {
  bool colour = false;    ///< escape sequences for colours
  std::size_t width = 0;  ///< columns of the screen: longer lines are folded; 0: no limit
};

/// Text for a terminal.
[[nodiscard]] std::string distance_text(const DistanceResult& result, const MethodOptions& options, const RunInfo& run,
                                        const TextStyle& style = {});

/// The same lines as a table in Markdown.
[[nodiscard]] std::string distance_markdown(const DistanceResult& result, const MethodOptions& options,
                                            const RunInfo& run);

/// One line of names and one of values, as in RFC 4180; the same columns for every method. Lists that do not fit a
/// cell (values per direction) are excluded; several words share a cell, separated by "; ".
[[nodiscard]] std::string distance_csv(const DistanceResult& result, const MethodOptions& options, const RunInfo& run);

/// One JSON object with everything: schema "kqd.distance/2".
[[nodiscard]] std::string distance_json(const DistanceResult& result, const MethodOptions& options, const RunInfo& run);

/// Text for a terminal: verdict, statistic, p-value with interval, effect size, data, settings.
[[nodiscard]] std::string test_text(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run,
                                    const TextStyle& style = {});
[[nodiscard]] std::string test_markdown(const TwoSampleResult& result, const TwoSampleOptions& options,
                                        const RunInfo& run);
[[nodiscard]] std::string test_csv(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run);

/// One JSON object with everything: schema "kqd.test/2".
[[nodiscard]] std::string test_json(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run);

/// A distance matrix and, if not null, the tests of its pairs.
struct MatrixReport {
  const DistanceMatrix& matrix;
  const PairwiseTests* tests = nullptr;
  const MethodOptions& options;  ///< as requested
  double elapsed_s = 0.0;
  Preparation preparation = {};              ///< how the columns were prepared
  std::vector<RowCounts> rows = {};          ///< rows of each data set; empty: not reported
  OptionNames option_names = library_names;  ///< how warnings write options
  NamedSettings settings = {};               ///< options that were set
};

/// A table of distances, shaded by size on a colour screen, without numbers on a narrow one; with tests also a table
/// of p-values, unadjusted above the diagonal and adjusted below it.
[[nodiscard]] std::string matrix_text(const MatrixReport& report, const TextStyle& style = {});
[[nodiscard]] std::string matrix_markdown(const MatrixReport& report);
/// A square table with names on both sides; with tests a line per pair instead: x, y, distance, pvalue,
/// adjusted_pvalue.
[[nodiscard]] std::string matrix_csv(const MatrixReport& report);
/// Only the numbers, a line per row: distances, or adjusted p-values if there are tests.
[[nodiscard]] std::string matrix_numbers(const MatrixReport& report);
/// One JSON object with everything: schema "kqd.matrix/2".
[[nodiscard]] std::string matrix_json(const MatrixReport& report);

/// Embeddings of data sets and, if not null, the kernel between them, and values and inner products. All forms but JSON
/// show one table: inner products if there are any, else values, else the kernel, else quantiles.
struct EmbeddingReport {
  const EmbeddingTable& table;
  const DistributionKernel* gram = nullptr;
  const EmbeddingFunctions* functions = nullptr;  ///< values and inner products, where asked for
  const MethodOptions& options;                   ///< as requested
  double elapsed_s = 0.0;
  Preparation preparation = {};              ///< how the columns were prepared
  std::vector<RowCounts> rows = {};          ///< rows of each data set; empty: not reported
  OptionNames option_names = library_names;  ///< how warnings write options
  NamedSettings settings = {};               ///< options that were set
};

/// A summary for a terminal: medians along the first directions, the kernel between data sets, or the first values.
[[nodiscard]] std::string embedding_text(const EmbeddingReport& report, const TextStyle& style = {});
/// A line per data set: its name and its quantiles, in columns u1_q0.05, ...; or the kernel, a square table with names
/// on both sides; or a line per element, with its data set, direction (from 1) and level in front of its numbers.
[[nodiscard]] std::string embedding_csv(const EmbeddingReport& report);
/// Only the numbers, a line per data set.
[[nodiscard]] std::string embedding_numbers(const EmbeddingReport& report);
/// One JSON object with everything: schema "kqd.embedding/1".
[[nodiscard]] std::string embedding_json(const EmbeddingReport& report);
/// The numbers as a sample that write_sample() takes, a row per data set.
[[nodiscard]] Sample embedding_sample(const EmbeddingReport& report);

/// The registry, or one method of it (empty id: all): id, family, summary, reports, cost, permutation, calibrations,
/// details, reference, and in JSON the parameters.
[[nodiscard]] std::string methods_json(std::string_view id = {});
[[nodiscard]] std::string methods_csv(std::string_view id = {});
[[nodiscard]] std::string methods_markdown(std::string_view id = {});

/// The vector instruction set in use, such as "avx2".
[[nodiscard]] std::string simd_name();
/// "fma" if the instruction set in use has fused multiply-add (all such CPUs give the same bits), else "no-fma".
[[nodiscard]] std::string bits_name();

}  // namespace kqd
