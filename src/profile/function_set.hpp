#pragma once
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "core/feature_map.hpp"
#include "kqd/core/matrix.hpp"
#include "kqd/kernel/kernel.hpp"
#include "profile/column_scales.hpp"

namespace kqd {

/// Which columns of a row have no value in it.
struct MissingMarks {
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  /// Of each column: another one that is above 0 in rows where the column has no value, or kNone. Empty: no value is
  /// missing.
  std::vector<std::size_t> of_columns;

  [[nodiscard]] bool any() const { return !of_columns.empty(); }
  [[nodiscard]] bool missing(std::span<const double> row, std::size_t column) const {
    return any() && of_columns[column] != kNone && row[of_columns[column]] > 0.0;
  }
};

/// Some columns of a row; not a number where the value is missing.
struct ColumnValues {
  std::vector<std::size_t> columns;
  MissingMarks marks = {};
};

/// f_j = sum_i c_ij k(z_i, .) for points z_i and coefficients c_ij.
struct KernelFunctions {
  KernelSpec kernel;
  Matrix<double> points;
  Matrix<double> coefficients;
};

/// Principal components of rows as explicit linear functions z = W' (x - mean).
struct LinearComponents {
  std::vector<double> mean;
  Matrix<double> weights;         ///< W, d x r, orthonormal columns
  std::vector<double> variances;  ///< of the components, descending
  double other_variance = 0.0;    ///< average over the d - r directions that no component covers; 0 when there is none
  double mean_variance = 0.0;     ///< average over all d directions

  /// Components of some rows, one row each; `rows` are centred in place.
  void project(MatrixView<double> rows, MatrixView<double> components) const;
};

/// One score per ridge: the cube root of the ridge leverage (x - mean)' (C + lambda I)^-1 (x - mean), with the
/// covariance C and lambda = ridge times its mean eigenvalue; an infinite ridge gives the squared distance to the mean.
struct LeverageScores {
  LinearComponents components;
  std::vector<double> ridges;
};

/// Legendre polynomials of degree 1 to `degree` of the rank of each column, which is read off ascending quantiles at
/// equal steps.
struct RankPolynomials {
  std::vector<std::size_t> columns;
  Matrix<double> knots;  ///< a row per column
  std::size_t degree = 0;
  MissingMarks marks = {};
  /// Of each polynomial: what rows without a value count as, the mean of the others. Empty: not a number.
  std::vector<double> centres = {};
};

/// Products of two columns, each measured from its mean in standard deviations and cut at four of them, then of two of
/// the leading components, squares included.
struct PairProducts {
  std::vector<double> mean;
  std::vector<double> deviation;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  LinearComponents components = {};
  std::size_t num_components = 0;  ///< that are multiplied
  MissingMarks marks = {};
  /// Of each pair: what rows count as in which a value is missing, the mean of the others. Empty: not a number.
  std::vector<double> centres = {};
};

/// Products of two columns and the leading component, each in standard deviations and cut at four: the first component
/// tells clusters apart, so these show relations of two columns that differ from cluster to cluster.
struct TripleProducts {
  PairProducts factors;  ///< of one component, whose variance is known
};

/// Neighbouring functions of a set whose means are compared together.
struct FunctionGroup {
  std::size_t size = 0;
  double degrees = 1.0;  ///< of freedom: the sum of their weighted squares varies about as chi-square with so many
};

/// Functions of a row that can be written to a file, unless they have marks of missing values.
struct FunctionSet {
  std::vector<ColumnScale> scales = {};  ///< rows are scaled first; empty: as they are
  std::variant<ColumnValues, KernelFunctions, LeverageScores, RankPolynomials, PairProducts, TripleProducts> functions;

  [[nodiscard]] std::size_t count() const;
};

/// Columns in standard deviations from their means, cut at four; 0 where all values are equal.
void standardise(std::span<const double> mean, std::span<const double> deviation, MatrixView<double> rows);

/// The functions of a set.
[[nodiscard]] RowFunctions make_functions(const FunctionSet& set);

/// A bound of the size of each function, whatever the row; empty where there is none that follows from the set: only
/// sums of a shift-invariant kernel have one.
[[nodiscard]] std::vector<double> largest_values(const FunctionSet& set);

/// A set with its functions, which several statistics share.
struct SharedFunctions {
  std::shared_ptr<const FunctionSet> set = {};
  RowFunctions map = {};

  SharedFunctions() = default;
  explicit SharedFunctions(FunctionSet from)
      : set(std::make_shared<const FunctionSet>(std::move(from))), map(make_functions(*set)) {}
};

}  // namespace kqd
