#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "kqd/core/matrix.hpp"
#include "kqd/core/sample.hpp"
#include "kqd/core/types.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/directions/directions.hpp"

namespace kqd KQD_PUBLIC {

class SortedProjections;

/// One element of an embedding: a quantile level alpha in [0, 1] and the index of a direction u.
struct QuantileIndex {
  double level = 0.5;
  std::size_t direction = 0;
};

/// The kernel quantile embedding of a sample: rho^{alpha,u} = q_{u#P}(alpha) u, for the directions u it was made with
/// [KQE eq. 2]. The centered form is (q - <u, mu>) u + mu with mu the kernel mean embedding.
class KernelQuantileEmbedding {
 public:
  /// Copies the sample (its mean embedding needs the points; rows of weight zero are dropped) and sorts it along every
  /// direction.
  /// Cost: O(n m l + l n log n) time, O((l + d) n) memory.
  KernelQuantileEmbedding(const SampleView& sample, std::shared_ptr<const Directions> directions,
                          ThreadCount threads = {});
  ~KernelQuantileEmbedding();
  KernelQuantileEmbedding(KernelQuantileEmbedding&&) noexcept;
  KernelQuantileEmbedding& operator=(KernelQuantileEmbedding&&) noexcept;

  [[nodiscard]] const std::shared_ptr<const Directions>& directions() const { return directions_; }
  [[nodiscard]] const SortedProjections& projections() const { return *projections_; }
  [[nodiscard]] SampleView sample() const { return sample_; }

  /// q_{u#P}(alpha): order statistic of rank ceil(alpha n), the minimum at alpha = 0. Throws Error{invalid_option} for
  /// a level outside [0, 1] or a direction that does not exist.
  [[nodiscard]] double quantile(QuantileIndex at) const;
  /// <u, mu_P>, the mean along a direction.
  [[nodiscard]] double mean(std::size_t direction) const;
  /// mu_P(x) = sum_i a_i k(x_i, x). Cost: O(n d).
  [[nodiscard]] double mean_embedding(std::span<const double> x) const;
  /// mu_P at every row of `points`: the same numbers.
  [[nodiscard]] std::vector<double> mean_embeddings(MatrixView<const double> points, ThreadCount threads = {}) const;

  /// rho^{alpha,u}(x).
  [[nodiscard]] double evaluate(QuantileIndex at, std::span<const double> x) const;
  /// The centered embedding at x.
  [[nodiscard]] double evaluate_centered(QuantileIndex at, std::span<const double> x) const;

  /// A row per direction, a column per level.
  [[nodiscard]] Matrix<double> quantiles(std::span<const double> levels) const;
  /// The embedding or its centered form at many points: a row for each direction and, within it, each level; a column
  /// for each point.
  [[nodiscard]] Matrix<double> evaluate(std::span<const double> levels, MatrixView<const double> points,
                                        ThreadCount threads = {}) const;
  [[nodiscard]] Matrix<double> evaluate_centered(std::span<const double> levels, MatrixView<const double> points,
                                                 ThreadCount threads = {}) const;

 private:
  Sample sample_;
  std::shared_ptr<const Directions> directions_;
  std::unique_ptr<SortedProjections> projections_;
};

/// <rho_P^{alpha,u}, rho_Q^{beta,v}> = q_P(alpha) q_Q(beta) <u, v>.
[[nodiscard]] double inner_product(const KernelQuantileEmbedding& p, QuantileIndex at_p,
                                   const KernelQuantileEmbedding& q, QuantileIndex at_q);

/// ||rho_P^{alpha,u}|| = |q_P(alpha)|.
[[nodiscard]] double norm(const KernelQuantileEmbedding& p, QuantileIndex at);

/// The inner product of centered embeddings. Cost: O(n_P n_Q d), for <mu_P, mu_Q>.
[[nodiscard]] double inner_product_centered(const KernelQuantileEmbedding& p, QuantileIndex at_p,
                                            const KernelQuantileEmbedding& q, QuantileIndex at_q);

/// The norm of a centered embedding.
[[nodiscard]] double norm_centered(const KernelQuantileEmbedding& p, QuantileIndex at);

/// Inner products of all elements of two embeddings at some levels, plain or centered. A row for each direction and,
/// within it, each level of p; a column likewise for q.
[[nodiscard]] Matrix<double> inner_products(const KernelQuantileEmbedding& p, std::span<const double> levels_p,
                                            const KernelQuantileEmbedding& q, std::span<const double> levels_q);
[[nodiscard]] Matrix<double> inner_products_centered(const KernelQuantileEmbedding& p, std::span<const double> levels_p,
                                                     const KernelQuantileEmbedding& q, std::span<const double> levels_q,
                                                     ThreadCount threads = {});

/// Norms: a row per direction, a column per level.
[[nodiscard]] Matrix<double> norms(const KernelQuantileEmbedding& p, std::span<const double> levels);
[[nodiscard]] Matrix<double> norms_centered(const KernelQuantileEmbedding& p, std::span<const double> levels,
                                            ThreadCount threads = {});

}  // namespace kqd
