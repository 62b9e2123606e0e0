#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/core/run_control.hpp"
#include "kqd/core/sample.hpp"
#include "kqd/core/types.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/directions/directions.hpp"
#include "kqd/io/preparation.hpp"
#include "kqd/kernel/bandwidth.hpp"
#include "kqd/kernel/kernel.hpp"
#include "kqd/testing/design.hpp"

namespace kqd KQD_PUBLIC {

/// The quantile levels at which two distributions differ: the lowest quarter of the pool (lower tail), the middle half
/// (centre), the highest quarter (upper tail), or several of them. A category has no quantiles: its shares differ.
enum class Where { nowhere, centre, lower_tail, upper_tail, both_tails, everywhere, shares };

/// "nowhere", "centre", "lower tail", "upper tail", "both tails", "everywhere", "shares".
[[nodiscard]] std::string to_string(Where where);

/// The shape of rows that are images: height x width pixels in row-major order, the channels of a pixel adjacent.
struct ImageShape {
  std::size_t height = 0;
  std::size_t width = 0;
  std::size_t channels = 1;

  [[nodiscard]] std::size_t size() const { return height * width * channels; }
};

/// Reads "28x28" or "32x32x3". Throws Error{invalid_option}.
[[nodiscard]] ImageShape parse_image_shape(std::string_view text);

/// The image shape of array rows of this shape: height x width, or height x width x 1, 3 or 4; none for other shapes.
[[nodiscard]] std::optional<ImageShape> image_shape(const std::vector<std::size_t>& row_shape);

/// Options of explain(). The defaults suit most data.
struct ExplainOptions {
  KernelSpec kernel = {};                                ///< for the principal directions and the witness
  BandwidthRule bandwidth_rule = BandwidthRule::median;  ///< for bandwidths that the kernel does not set
  /// Random permutations. 0 chooses the largest of 999, 20 per direction and (number of directions)/alpha, within a
  /// bound on the work. A direction stops after 100 exceedances.
  std::int64_t num_permutations = 0;
  double alpha = 0.05;  ///< significance level
  Design design = {};
  WeightsAs weights_as = WeightsAs::checked;  ///< as for a test, except precision
  Seed seed = {};
  ThreadCount threads = {};    ///< changes the speed, not the result
  std::size_t max_memory = 0;  ///< bytes in addition to the samples, 0: 512 MB. Changes the speed, not the result
  /// A method whose statistic is the largest gap over directions (MethodInfo::supremum), such as "supkqd-opt": the
  /// direction of its largest gap is explained as well. Empty: none.
  std::string maximiser = {};
  /// That direction, where it is known: direction `maximiser_index` of these. Null: it is computed.
  std::shared_ptr<const Directions> maximiser_directions = {};
  std::size_t maximiser_index = 0;
  std::optional<ImageShape> image = {};        ///< rows are images of this shape
  std::vector<std::string> column_names = {};  ///< empty: "column 1", ..., or "pixel 1,1", ... for images
  std::vector<ColumnSource> sources = {};  ///< the columns of the table, by ColumnRole::source; empty: from the names
  bool relations_of_profiles = false;      ///< also examine pairs of columns whose products profiles have the means of
  /// How the columns of the samples were standardised (Preparation::units): results are in the units they had before.
  std::vector<ColumnUnits> units = {};
  /// The kernel sees every column from its pooled median in units of its pooled scale, and a category as one column, as
  /// in the adaptive test. Rows that are images, objects, and kernels that measure columns themselves are as they are.
  bool own_scales = true;
  std::vector<std::size_t> rows_x = {}, rows_y = {};  ///< the number of each row in its file; empty: 1, 2, 3, ...
};

/// Quantiles of Y minus quantiles of X.
struct QuantileProfile {
  std::vector<double> levels;      ///< 0.01 .. 0.99
  std::vector<double> difference;  ///< in the units of the column or direction
};

/// For a column with two values: the share of each sample that has the larger one. Quantile levels say little there.
struct TwoValueShares {
  double value = 0.0;  ///< the larger one
  double x = 0.0;
  double y = 0.0;
};

/// Density estimates of both samples along a direction, with one bandwidth that does not depend on the labels.
struct ProjectedDensity {
  std::vector<double> at;
  std::vector<double> x;
  std::vector<double> y;
};

/// The share of the rows of each sample that have one level of a category.
struct LevelShares {
  std::string name;
  double x = 0.0;  ///< 0: the level is new in Y
  double y = 0.0;  ///< 0: the level has vanished
};

/// The share of the rows of each sample that have no value in a column, and its test.
struct MissingShares {
  double x = 0.0;
  double y = 0.0;
  double pvalue = 1.0;           ///< not adjusted
  double pvalue_adjusted = 1.0;  ///< with those of all columns
  bool reject = false;
};

/// The least and the greatest value.
struct ValueRange {
  double low = 0.0;
  double high = 0.0;
};

/// How one column of the table differs. A column of numbers is compared along its quantiles, in the rows that have a
/// value; a category by the shares of its levels.
struct ColumnExplanation {
  std::string name;
  ColumnType type = ColumnType::number;
  std::size_t index = 0;  ///< from 0, among the columns of the table that are compared
  /// Wasserstein distance of order 1, in the units of the column. Of a category: the share of rows that would have to
  /// change their level, the total variation distance.
  double wasserstein = 0.0;
  /// wasserstein / pooled standard deviation. Of a category: Cohen's w, which is the same for two levels.
  double effect = 0.0;
  double shift = 0.0;   ///< median of Y minus median of X; 0 for a category
  double pvalue = 1.0;  ///< not adjusted
  /// For all columns and all tests of missing values, by the method of Benjamini and Hochberg.
  double pvalue_adjusted = 1.0;
  bool reject = false;  ///< pvalue_adjusted <= alpha
  Where where = Where::nowhere;
  std::optional<TwoValueShares> shares;
  /// Mean gradient of the witness, per pooled standard deviation; > 0: larger is Y-like. NaN for a category.
  double sensitivity = 0.0;
  std::optional<QuantileProfile> profile;  ///< of the 200 strongest columns of numbers
  std::vector<LevelShares> levels;         ///< of a category, largest change first
  std::optional<MissingShares> missing;    ///< unset: all rows have a value
  std::optional<ValueRange> range_x;       ///< of numbers and dates; unset: no row of X has a value
  std::optional<ValueRange> range_y;
  std::optional<ProjectedDensity> density;  ///< of the first 100 columns, and of strong ones
};

/// One part of a relation: a level, two levels, or a stretch of the first column.
struct RelationCell {
  std::string first;   ///< level of the first column, or stretch of its values; empty: all rows
  std::string second;  ///< level of the second column; empty: all rows
  double x = 0.0;      ///< in the rows of X: mean of the number, or the share of rows that have both levels
  double y = 0.0;
  /// Second sample minus first, beyond what the two columns by themselves explain: in standard deviations of the
  /// number, or in shares of the rows.
  double change = 0.0;
  std::size_t n_x = 0;  ///< rows of X
  std::size_t n_y = 0;
};

/// The kinds of a relation.
enum class RelationForm { numbers, number_by_level, levels };
/// "numbers", "number by level", "levels".
[[nodiscard]] std::string to_string(RelationForm kind);

/// How the relation of two columns of the table differs, apart from changes of either column by itself.
struct RelationExplanation {
  std::string first;   ///< of a number and a category: the number
  std::string second;  ///< "income is missing" where the missing values of a column are related to another column
  RelationForm kind = RelationForm::numbers;
  double score = 0.0;            ///< standard normal under the null hypothesis, nearly
  double pvalue = 1.0;           ///< not adjusted
  double pvalue_adjusted = 1.0;  ///< for all pairs that were examined, by the maximum over pairs in each permutation
  bool reject = false;
  double correlation_x = 0.0;  ///< of two numbers: the correlation of their normal scores
  double correlation_y = 0.0;
  /// Largest change first. Of two numbers: the mean of the second in stretches of the first, in their order.
  std::vector<RelationCell> cells;
};

/// Contribution of a column to a direction.
struct ColumnSensitivity {
  std::string name;
  std::size_t index = 0;
  double sensitivity = 0.0;  ///< mean gradient, per pooled standard deviation; > 0: larger is Y-like
  double magnitude = 0.0;    ///< root mean square of the same gradient; columns are sorted by it
};

/// How the samples differ along one direction.
struct DirectionExplanation {
  std::string name;    ///< "principal 3", "column age"
  std::string family;  ///< "principal", "column", or the id of the method whose largest gap it has
  double statistic = 0.0;
  double effect = 0.0;
  double pvalue = 1.0;
  double pvalue_adjusted = 1.0;  ///< for all tested directions, by Holm's method
  bool reject = false;
  Where where = Where::nowhere;
  std::optional<TwoValueShares> shares;
  QuantileProfile profile;
  ProjectedDensity density;
  std::vector<ColumnSensitivity> columns;  ///< at most 12, strongest first
};

/// A row and its score.
struct ExtremeRow {
  bool in_y = false;
  std::size_t index = 0;  ///< in its sample, from 0
  std::size_t row = 0;    ///< in its file, from 1
  double score = 0.0;     ///< by the witness: > 0 is Y-like
  /// In the order of Explanation::row_columns, as the table has them: numbers, texts of categories, dates; empty:
  /// missing.
  std::vector<std::string> cells;
  std::vector<double> pixels;  ///< the whole row, if rows are images
};

/// Points along the two strongest directions.
struct Scatter {
  std::vector<std::string> names;         ///< two, or none if there are fewer than two directions
  std::vector<double> x_first, x_second;  ///< rows of X that are shown
  std::vector<double> y_first, y_second;  ///< rows of Y that are shown
  std::size_t of_x = 0;                   ///< rows of X in total
  std::size_t of_y = 0;
};

/// The witness as an image.
struct ImageExplanation {
  ImageShape shape;
  std::vector<double> witness;  ///< sensitivity per pixel
  double low = 0.0;             ///< limits of the grey scale, from the values of the shown rows
  double high = 1.0;
};

/// Where two samples differ: in which columns, at which quantile levels, along which directions, in which rows.
struct Explanation {
  std::size_t n_x = 0;
  std::size_t n_y = 0;
  std::size_t dim = 0;
  Seed seed = {};
  ThreadCount threads = {};  ///< as requested
  double alpha = 0.05;
  std::uint64_t n_resamples = 0;     ///< number of permutations behind the p-values, at most
  bool enumerated = false;           ///< all permutations were evaluated
  KernelSpec kernel;                 ///< with the bandwidth that was used
  bool own_scales = false;           ///< the kernel saw every column in its own scale
  std::size_t n_principal_rows = 0;  ///< pooled rows behind the principal directions, chosen at random
  KernelSpec witness_kernel;         ///< the kernel of the witness; its bandwidth is chosen by leave-one-out scores
  std::size_t n_witness_rows =
      0;                       ///< pooled rows to which the witness was fitted, chosen at random; it scores all rows
  double witness_share = 0.0;  ///< share of the variance of the labels that leave-one-out scores explain; <= 1

  std::vector<ColumnExplanation> columns;        ///< all of them, strongest first
  std::string columns_note;                      ///< why no column can be significant; empty: columns can
  std::vector<DirectionExplanation> directions;  ///< at most 8, strongest first
  std::size_t n_directions_examined = 0;
  std::string directions_note;  ///< the same for directions
  /// The direction of the largest gap of a method, if asked for. It is fitted to the labels, so its p-values are NaN.
  std::optional<DirectionExplanation> maximiser;
  std::vector<ExtremeRow> most_x;        ///< at most 10, the most X-like first
  std::vector<ExtremeRow> most_y;        ///< at most 10, the most Y-like first
  std::vector<std::string> row_columns;  ///< columns of ExtremeRow::cells, at most 20
  std::vector<double> scores_x;          ///< of all rows of X by the witness; NaN: the row has no weight
  std::vector<double> scores_y;
  std::vector<RelationExplanation> relations;  ///< at most 20, strongest first
  std::size_t n_relations_examined = 0;        ///< pairs that the p-values of relations are adjusted for
  std::size_t n_relation_rows = 0;             ///< pooled rows behind them, chosen at random
  Scatter scatter;
  std::optional<ImageExplanation> image;
  Warnings notes;  ///< how weights and cluster sizes were handled
  Warnings warnings;
};

/// Throws Error{invalid_option} with field, value and bound.
void validate(const ExplainOptions& options, std::size_t dim);

/// Explains where two samples differ.
///
/// The columns of the table, the principal directions of a kernel and the relations of pairs of columns are tested one
/// by one. All are functions of the unlabelled pool, and all are tested with the same random permutations, so each
/// p-value is exact (with the sequential method of Besag and Clifford) and the adjusted p-values hold family-wise
/// (directions) or control the false discovery rate (columns). The statistic of a direction is the Wasserstein distance
/// along it, or its part in the lowest or highest tenth of the pool, whichever is largest relative to its mean under
/// permutation.
///
/// Objects (kqd/kernel/objects.hpp) have no columns: there are directions and rows, without sensitivities.
///
/// The witness is a kernel discriminant of the labels. The score of a row is its value there; the score of an isolated
/// row is computed with that row left out. Scores are descriptive and have no p-values.
/// Cost: O(d N (log N + B)), with B about 500 for directions without a difference, and O(N m (d + m)) for m <= 256
/// landmarks, with 20000 rows at most in the part that is quadratic in m. Same result for any number of threads.
/// Throws Error{invalid_option, shape_mismatch, empty_sample, non_finite_value, invalid_weights, resource_limit,
/// interrupted}.
[[nodiscard]] Explanation explain(const SampleView& x, const SampleView& y, const ExplainOptions& options = {},
                                  const RunControl* control = nullptr);

/// The same with the column names of the samples, where the options give none.
[[nodiscard]] Explanation explain(const Sample& x, const Sample& y, const ExplainOptions& options = {},
                                  const RunControl* control = nullptr);

}  // namespace kqd
