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

/// The quantile levels at which two distributions differ: the lowest quarter of the pool (lower tail), the middle half
/// (centre), the highest quarter (upper tail), or several of them.
enum class Where { nowhere, centre, lower_tail, upper_tail, both_tails, everywhere };

/// "nowhere", "centre", "lower tail", "upper tail", "both tails", "everywhere".
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
  std::optional<ImageShape> image = {};               ///< rows are images of this shape
  std::vector<std::string> column_names = {};         ///< empty: "column 1", ..., or "pixel 1,1", ... for images
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

/// How one column differs.
struct ColumnExplanation {
  std::string name;
  std::size_t index = 0;         ///< from 0
  double wasserstein = 0.0;      ///< Wasserstein distance of order 1, in the units of the column
  double effect = 0.0;           ///< wasserstein / pooled standard deviation
  double shift = 0.0;            ///< median of Y minus median of X
  double pvalue = 1.0;           ///< not adjusted
  double pvalue_adjusted = 1.0;  ///< for all columns, by the method of Benjamini and Hochberg
  bool reject = false;           ///< pvalue_adjusted <= alpha
  Where where = Where::nowhere;
  std::optional<TwoValueShares> shares;
  double sensitivity = 0.0;  ///< mean gradient of the witness, per pooled standard deviation; > 0: larger is Y-like
  std::optional<QuantileProfile> profile;  ///< of the 200 strongest columns
};

/// Contribution of a column to a direction.
struct ColumnSensitivity {
  std::string name;
  std::size_t index = 0;
  double sensitivity = 0.0;  ///< mean gradient, per pooled standard deviation; > 0: larger is Y-like
  double magnitude = 0.0;    ///< root mean square of the same gradient; columns are sorted by it
};

/// Density estimates of both samples along a direction, with one bandwidth that does not depend on the labels.
struct ProjectedDensity {
  std::vector<double> at;
  std::vector<double> x;
  std::vector<double> y;
};

/// How the samples differ along one direction.
struct DirectionExplanation {
  std::string name;    ///< "principal 3", "column age"
  std::string family;  ///< "principal" or "column"
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
  std::size_t index = 0;       ///< in its sample, from 0
  std::size_t row = 0;         ///< in its file, from 1
  double score = 0.0;          ///< by the witness: > 0 is Y-like
  std::vector<double> values;  ///< in the order of Explanation::row_columns
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
  std::size_t n_principal_rows = 0;  ///< pooled rows behind the principal directions, chosen at random
  KernelSpec witness_kernel;         ///< the kernel of the witness; its bandwidth is chosen by leave-one-out scores
  std::size_t n_witness_rows =
      0;                       ///< pooled rows to which the witness was fitted, chosen at random; it scores all rows
  double witness_share = 0.0;  ///< share of the variance of the labels that leave-one-out scores explain; <= 1

  std::vector<ColumnExplanation> columns;        ///< all of them, strongest first
  std::string columns_note;                      ///< why no column can be significant; empty: columns can
  std::vector<DirectionExplanation> directions;  ///< at most 8, strongest first
  std::size_t n_directions_examined = 0;
  std::string directions_note;           ///< the same for directions
  std::vector<ExtremeRow> most_x;        ///< at most 10, the most X-like first
  std::vector<ExtremeRow> most_y;        ///< at most 10, the most Y-like first
  std::vector<std::string> row_columns;  ///< columns of ExtremeRow::values, at most 20
  Scatter scatter;
  std::optional<ImageExplanation> image;
  Warnings notes;  ///< how weights and cluster sizes were handled
  Warnings warnings;
};

/// Throws Error{invalid_option} with field, value and bound.
void validate(const ExplainOptions& options, std::size_t dim);

/// Explains where two samples differ.
///
/// Columns and the principal directions of a kernel are tested one by one. All are functions of the unlabelled pool,
/// and all are tested with the same random permutations, so each p-value is exact (with the sequential method of Besag
/// and Clifford) and the adjusted p-values hold family-wise (directions) or control the false discovery rate (columns).
/// The statistic of a direction is the Wasserstein distance along it, or its part in the lowest or highest tenth of the
/// pool, whichever is largest relative to its mean under permutation.
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
