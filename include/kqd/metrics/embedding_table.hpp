#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kqd/core/matrix.hpp"
#include "kqd/core/run_control.hpp"
#include "kqd/core/sample.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/metrics/discrepancy.hpp"

namespace kqd KQD_PUBLIC {

/// The quantiles of several samples along the same directions: a feature vector of fixed length for each sample.
struct EmbeddingTable {
  std::vector<std::string> names;  ///< one per sample
  std::vector<std::size_t> sizes;  ///< rows of each
  std::size_t dim = 0;
  std::vector<double> levels;
  Matrix<double> quantiles;  ///< a row per sample; in it, for each direction, a number for each level
  std::shared_ptr<const Directions> directions;
  std::size_t num_reference = 0;
  KernelSpec kernel;  ///< with the bandwidths that were used
  Warnings warnings;
};

/// Levels k/(n+1), k = 1..n.
[[nodiscard]] std::vector<double> even_levels(std::size_t n);

/// Embeds the samples along directions that are drawn from the pool of all of them, as distance_matrix() draws them.
/// Reads the kernel and the directions of the options. Throws Error{invalid_option} for a level outside [0, 1], and
/// what ekqd() throws.
[[nodiscard]] EmbeddingTable embedding_table(std::span<const SampleView> samples, std::span<const std::string> names,
                                             std::span<const double> levels, const MethodOptions& options = {},
                                             const RunControl* control = nullptr);

/// The embeddings of the samples of a table themselves. Their elements are ordered by sample, direction and level.
struct EmbeddingFunctions {
  bool centered = false;          ///< the centered embeddings
  Matrix<double> points;          ///< where they were evaluated
  Matrix<double> values;          ///< a row for each element, a column for each point; empty without points
  Matrix<double> inner_products;  ///< a row and a column for each element; empty unless asked for
};

/// rho(x) at every point [KQE eq. 2], or the centered embeddings there: for each sample, direction and level of `table`
/// a row. `samples` are those of embedding_table(). Throws Error{shape_mismatch, non_finite_value} for the points.
[[nodiscard]] Matrix<double> embedding_values(std::span<const SampleView> samples, const EmbeddingTable& table,
                                              MatrixView<const double> points, bool centered, ThreadCount threads = {},
                                              const RunControl* control = nullptr);

/// Inner products of all elements, within samples and between them: symmetric, squared norms on the diagonal.
/// Throws Error{resource_limit} for more than 10,000 elements.
[[nodiscard]] Matrix<double> embedding_products(std::span<const SampleView> samples, const EmbeddingTable& table,
                                                bool centered, ThreadCount threads = {},
                                                const RunControl* control = nullptr);

/// A positive definite kernel between distributions.
struct DistributionKernel {
  Matrix<double> values;  ///< symmetric, 1 on the diagonal
  double scale = 1.0;     ///< s
};

/// exp(-d^2 / s) for distances d between samples. It is positive definite for e-KQD of power 2 along shared directions:
/// there d is the distance between functions in a Hilbert space. Without a scale, s is the median of d^2 over all pairs
/// of samples, 1 where that is 0. Throws Error{invalid_option} for a scale that is not a number > 0.
[[nodiscard]] DistributionKernel distribution_kernel(const Matrix<double>& distances, std::optional<double> scale = {});

}  // namespace kqd
