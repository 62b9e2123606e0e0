#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/core/run_control.hpp"
#include "kqd/core/sample.hpp"
#include "kqd/core/types.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/kernel/bandwidth.hpp"
#include "kqd/kernel/kernel.hpp"
#include "kqd/testing/design.hpp"

namespace kqd KQD_PUBLIC {

/// Where along its quantile levels one distribution leaves the other: in the lowest quarter of the pool (lower tail),
/// the middle half (centre), the highest quarter (upper tail), or several of them.
enum class Where { nowhere, centre, lower_tail, upper_tail, both_tails, everywhere };

/// "nowhere", "centre", "lower tail", "upper tail", "both tails", "everywhere".
[[nodiscard]] std::string to_string(Where where);

/// A row of the samples as a picture: height x width points of one or more numbers each, row by row, the numbers of a
/// point side by side.
struct ImageShape {
  std::size_t height = 0;
  std::size_t width = 0;
  std::size_t channels = 1;

  [[nodiscard]] std::size_t size() const { return height * width * channels; }
};

/// Reads "28x28" or "32x32x3". Throws Error{invalid_option}.
[[nodiscard]] ImageShape parse_image_shape(std::string_view text);

/// The picture that rows of an array are: height x width, or height x width x 1, 3 or 4 numbers; none for other shapes.
[[nodiscard]] std::optional<ImageShape> image_shape(const std::vector<std::size_t>& row_shape);

/// What a caller may choose. All defaults are usable as they stand.
struct ExplainOptions {
  KernelSpec kernel = {};                                ///< of the principal directions and of the witness
  BandwidthRule bandwidth_rule = BandwidthRule::median;  ///< for bandwidths that the kernel leaves open
  /// Random permutations; 0: 999, or as many as p-values adjusted for all directions need, 20 for each or 1/alpha,
  /// within a bound on the work. A direction that has reached 100 exceedances is left at that.
  std::int64_t num_permutations = 0;
  double alpha = 0.05;  ///< level of the decisions
  Design design = {};
  WeightsAs weights_as = WeightsAs::checked;  ///< as for a test; precision is refused
  Seed seed = {};
  ThreadCount threads = {};    ///< changes the speed, not one bit of the result
  std::size_t max_memory = 0;  ///< bytes held next to the samples, 0: 512 MB. Changes the speed, not the result
  std::optional<ImageShape> image = {};               ///< rows are pictures of this shape
  std::vector<std::string> column_names = {};         ///< empty: "column 1", ..., or "pixel 1,1", ... of pictures
  std::vector<std::size_t> rows_x = {}, rows_y = {};  ///< the number of each row in its file; empty: 1, 2, 3, ...
};

/// Quantiles of Y less those of X, level by level.
struct QuantileProfile {
  std::vector<double> levels;      ///< 0.01 .. 0.99
  std::vector<double> difference;  ///< in the units of the column or direction
};

/// Of a column that has two values, what share of each sample has the larger one: there are no levels to speak of.
struct TwoValueShares {
  double value = 0.0;  ///< the larger one
  double x = 0.0;
  double y = 0.0;
};

/// What is known of one column.
struct ColumnExplanation {
  std::string name;
  std::size_t index = 0;         ///< from 0
  double wasserstein = 0.0;      ///< Wasserstein distance of order 1, in the units of the column
  double effect = 0.0;           ///< the same over the pooled standard deviation
  double shift = 0.0;            ///< median of Y less median of X
  double pvalue = 1.0;           ///< for itself
  double pvalue_adjusted = 1.0;  ///< for all columns, by the rule of Benjamini and Hochberg
  bool reject = false;           ///< pvalue_adjusted <= alpha
  Where where = Where::nowhere;
  std::optional<TwoValueShares> shares;
  double sensitivity = 0.0;  ///< averaged gradient of the witness, per pooled standard deviation; > 0: larger is Y-like
  std::optional<QuantileProfile> profile;  ///< of the 200 that stand out most
};

/// How much a column has to say along a direction.
struct ColumnSensitivity {
  std::string name;
  std::size_t index = 0;
  double sensitivity = 0.0;  ///< averaged gradient, per pooled standard deviation; > 0: larger is Y-like
  double magnitude = 0.0;    ///< root mean square of the same gradient: what the order is by
};

/// Estimates of the two densities along a direction, with one bandwidth that knows no labels.
struct ProjectedDensity {
  std::vector<double> at;
  std::vector<double> x;
  std::vector<double> y;
};

/// One of the directions that stand out most.
struct DirectionExplanation {
  std::string name;    ///< "principal 3", "column age"
  std::string family;  ///< "principal" or "column"
  double statistic = 0.0;
  double effect = 0.0;
  double pvalue = 1.0;
  double pvalue_adjusted = 1.0;  ///< for all directions that were examined, by Holm's rule
  bool reject = false;
  Where where = Where::nowhere;
  std::optional<TwoValueShares> shares;
  QuantileProfile profile;
  ProjectedDensity density;
  std::vector<ColumnSensitivity> columns;  ///< at most 12, most telling first
};

/// A row, and how it looks to the witness.
struct ExtremeRow {
  bool in_y = false;
  std::size_t index = 0;       ///< in its sample, from 0
  std::size_t row = 0;         ///< in its file, from 1
  double score = 0.0;          ///< of the witness: > 0 is Y-like
  std::vector<double> values;  ///< of Explanation::row_columns
  std::vector<double> pixels;  ///< the whole row, when rows are pictures
};

/// Points along the two strongest directions.
struct Scatter {
  std::vector<std::string> names;         ///< two, or none when there are no two directions
  std::vector<double> x_first, x_second;  ///< rows of X that are shown
  std::vector<double> y_first, y_second;  ///< rows of Y that are shown
  std::size_t of_x = 0;                   ///< out of so many
  std::size_t of_y = 0;
};

/// The witness seen as a picture.
struct ImageExplanation {
  ImageShape shape;
  std::vector<double> witness;  ///< sensitivity per pixel
  double low = 0.0;             ///< of all values: limits of the grey scale
  double high = 1.0;
};

/// Where two samples differ: which columns, levels, directions and rows carry the difference.
struct Explanation {
  std::size_t n_x = 0;
  std::size_t n_y = 0;
  std::size_t dim = 0;
  Seed seed = {};
  ThreadCount threads = {};  ///< as asked for
  double alpha = 0.05;
  std::uint64_t n_resamples = 0;     ///< permutations that p-values are counted among
  bool enumerated = false;           ///< all permutations were evaluated
  KernelSpec kernel;                 ///< with the bandwidth that was used
  std::size_t n_principal_rows = 0;  ///< pooled rows that the principal directions were made from, chosen at random
  KernelSpec witness_kernel;         ///< the kernel of the witness, whose bandwidth is chosen by leaving rows out
  std::size_t n_witness_rows = 0;    ///< pooled rows that the witness was fitted to, chosen at random; it scores all
  double witness_share = 0.0;        ///< share of the labels' variance that the witness predicts of rows left out; <= 1

  std::vector<ColumnExplanation> columns;        ///< all of them, most telling first
  std::string columns_note;                      ///< why no column may be called different; empty: it may
  std::vector<DirectionExplanation> directions;  ///< at most 8, most telling first
  std::size_t n_directions_examined = 0;
  std::string directions_note;           ///< the same for directions
  std::vector<ExtremeRow> most_x;        ///< at most 10, the most X-like first
  std::vector<ExtremeRow> most_y;        ///< at most 10, the most Y-like first
  std::vector<std::string> row_columns;  ///< the columns whose values rows show, at most 20
  Scatter scatter;
  std::optional<ImageExplanation> image;
  Warnings notes;  ///< how weights and cluster sizes were dealt with
  Warnings warnings;
};

/// Throws Error{invalid_option} with field, value and bound.
void validate(const ExplainOptions& options, std::size_t dim);

/// Says where two samples differ.
///
/// Columns and the principal directions of a kernel are examined one by one: all are functions of the unlabelled pool,
/// in an order that knows nothing of labels, and all see the same random permutations, so each p-value is exact (with
/// the sequential rule of Besag and Clifford) and the adjusted ones hold for all together. What a direction is tested
/// by is the Wasserstein distance along it, or that part of it which lies in the lowest or highest tenth of the pool,
/// whichever stands out most next to what chance makes of it.
///
/// The witness is a kernel discriminant of the labels; the score of a row is what it says there, and of a
/// row that stands only what it says when that row is left out. It makes no claim that needs a p-value.
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
