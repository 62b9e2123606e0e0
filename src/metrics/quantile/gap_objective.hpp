#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kqd/metrics/discrepancy.hpp"
#include "metrics/quantile/slices.hpp"
#include "quantiles/quantile_gap.hpp"

namespace kqd {

/// The points of the slices that are X and that are Y; tau_p(w) is a function of them and of w.
struct GapProblem {
  /// `weights`: one per point, of any scale; empty for equal ones. All spans must outlive the problem.
  /// `centered`: gaps of centered embeddings, for slices that are linear.
  GapProblem(const Slices& slices, std::span<const std::size_t> x, std::span<const std::size_t> y,
             std::span<const double> weights, const MethodOptions& options, bool centered = false);

  const Slices& slices;
  std::span<const std::size_t> x;  ///< positions of the points labelled X
  std::span<const std::size_t> y;
  std::span<const double> weights;
  LevelWeights weighting;
  Power power;
  std::optional<LevelGrid> grid;       ///< for equal weights
  std::vector<double> signed_weights;  ///< h: the weights of X, and minus those of Y, each summing to 1
  std::optional<double> mmd_squared;   ///< |sum_i h_i phi_i|^2, if centered
};

/// tau_p along u_w, and how it changes with w. The gradient is that of the root tau, which is positive
/// wherever its power is and follows the unit of the data, so that no power leaves the range of doubles.
///
/// One object per thread: it keeps scratch, and the coupling that gradient() found.
class GapObjective {
 public:
  explicit GapObjective(const GapProblem& problem);

  [[nodiscard]] const GapProblem& problem() const { return problem_; }
  /// tau_p(w). Throws Error{non_finite_value} when values overflow.
  double value(std::span<const double> w);
  /// tau_p(w) and its gradient in w; one of its subgradients where it has none.
  double gradient(std::span<const double> w, std::span<double> gradient);
  /// The same with points paired as the last call of gradient() paired them: for p = 2 and linear slices the gradient
  /// is then V w / tau, V = sum_k m_k (phi_i - phi_j)(phi_i - phi_j)' over the pairs.
  double gradient_of_coupling(std::span<const double> w, std::span<double> gradient);

 private:
  struct Group {
    std::span<const std::size_t> positions;
    std::vector<double> values;
    std::vector<std::uint32_t> order;
    std::vector<double> cumulative;  // weighted samples
    std::vector<double> ordered;
    std::vector<double> slopes;
  };

  void evaluate(std::span<const double> w);
  void gather(Group& group) const;
  void find_order(Group& group) const;
  double slopes(std::span<const double> w, std::span<double> gradient);
  // Of the present values: plain, or centered with the difference of their means.
  [[nodiscard]] GapForm form() const;
  [[nodiscard]] double mean_gap() const;

  const GapProblem& problem_;
  std::vector<double> values_;
  std::vector<double> slopes_;
  Group x_;
  Group y_;
};

}  // namespace kqd
