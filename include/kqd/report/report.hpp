#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kqd/core/message.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/io/preparation.hpp"
#include "kqd/metrics/discrepancy.hpp"
#include "kqd/metrics/distance_matrix.hpp"
#include "kqd/two_sample/pairwise_tests.hpp"
#include "kqd/two_sample/two_sample_test.hpp"

namespace kqd KQD_PUBLIC {

/// What was run, next to its result: enough to repeat it.
struct RunInfo {
  std::string method;  ///< id in the registry
  std::string x_name;  ///< where X came from
  std::string y_name;
  std::size_t n_x = 0;  ///< rows of the input
  std::size_t n_y = 0;
  std::size_t dim = 0;
  Preparation preparation = {};  ///< what was done to the data before
  double elapsed_s = 0.0;
  OptionNames option_names = library_names;  ///< how warnings write options
};

/// What the reader's screen can show. The default is plain text of any width, as for a file.
struct TextStyle {
  bool colour = false;    ///< escape sequences for colours
  std::size_t width = 0;  ///< columns of the screen: longer lines are folded; 0: no limit
};

/// How a person reads it: a block of lines.
[[nodiscard]] std::string distance_text(const DistanceResult& result, const MethodOptions& options, const RunInfo& run,
                                        const TextStyle& style = {});

/// The same lines as a table in Markdown.
[[nodiscard]] std::string distance_markdown(const DistanceResult& result, const MethodOptions& options,
                                            const RunInfo& run);

/// One line of names and one of values, as in RFC 4180; the same columns for every method. What is not a single number
/// or word (values per direction) is left out; several words share a cell, parted by "; ".
[[nodiscard]] std::string distance_csv(const DistanceResult& result, const MethodOptions& options, const RunInfo& run);

/// One JSON object with everything: schema "kqd.distance/1".
[[nodiscard]] std::string distance_json(const DistanceResult& result, const MethodOptions& options, const RunInfo& run);

/// How a statistician reads a test: method, data, statistic, p-value with interval, decision, effect size, settings.
[[nodiscard]] std::string test_text(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run,
                                    const TextStyle& style = {});
[[nodiscard]] std::string test_markdown(const TwoSampleResult& result, const TwoSampleOptions& options,
                                        const RunInfo& run);
[[nodiscard]] std::string test_csv(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run);

/// One JSON object with everything: schema "kqd.test/1".
[[nodiscard]] std::string test_json(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run);

/// A distance matrix and, if not null, the tests of its pairs.
struct MatrixReport {
  const DistanceMatrix& matrix;
  const PairwiseTests* tests = nullptr;
  const MethodOptions& options;  ///< as they were asked for
  double elapsed_s = 0.0;
  Preparation preparation = {};              ///< what was done to the columns before
  std::vector<RowCounts> rows = {};          ///< and to the rows of each data set; none: nothing is told
  OptionNames option_names = library_names;  ///< how warnings write options
};

/// A table of distances, on a colour screen shaded by their size, in a narrow one without the numbers; with tests a
/// table of p-values, as they are above the diagonal and adjusted below it.
[[nodiscard]] std::string matrix_text(const MatrixReport& report, const TextStyle& style = {});
[[nodiscard]] std::string matrix_markdown(const MatrixReport& report);
/// A square table with names on both sides; with tests a line per pair instead: x, y, distance, pvalue,
/// adjusted_pvalue.
[[nodiscard]] std::string matrix_csv(const MatrixReport& report);
/// The numbers only, a line per row: distances, or adjusted p-values when there are tests.
[[nodiscard]] std::string matrix_numbers(const MatrixReport& report);
/// One JSON object with everything: schema "kqd.matrix/1".
[[nodiscard]] std::string matrix_json(const MatrixReport& report);

/// The registry, or one method of it (empty id: all): id, family, summary, reports, cost, permutation, calibrations,
/// details, reference, and in JSON the parameters.
[[nodiscard]] std::string methods_json(std::string_view id = {});
[[nodiscard]] std::string methods_csv(std::string_view id = {});
[[nodiscard]] std::string methods_markdown(std::string_view id = {});

/// The vector instruction set in use, such as "avx2".
[[nodiscard]] std::string simd_name();
/// Which of two sets of bits results have: "fma" where the instruction set in use has fused multiply-add (all such CPUs
/// give the same bits), "no-fma" elsewhere.
[[nodiscard]] std::string bits_name();

}  // namespace kqd
