#pragma once
#include <functional>
#include <span>

#include "core/random.hpp"
#include "synthetic/settings.hpp"

namespace kqd {

/// Draws one row from a stream of its own.
using RowLaw = std::function<void(RandomStream&, std::span<double> row)>;

struct LawPair {
  RowLaw x;
  RowLaw y;
};

// One function per problem: from the settings to the laws of a row of X and of Y. What is drawn once per run is drawn
// here; a drawn parameter replaces the one that asked for it. The formulas are in docs/guide/synthetic-problems.md.
[[nodiscard]] LawPair power_decay(ProblemSettings& settings);
[[nodiscard]] LawPair laplace_gaussian(ProblemSettings& settings);
[[nodiscard]] LawPair mixture(ProblemSettings& settings);
[[nodiscard]] LawPair perturbed_uniform(ProblemSettings& settings);
[[nodiscard]] LawPair blobs(ProblemSettings& settings);
[[nodiscard]] LawPair mean_shift(ProblemSettings& settings);
[[nodiscard]] LawPair same_law(ProblemSettings& settings);
[[nodiscard]] LawPair spiked_covariance(ProblemSettings& settings);
[[nodiscard]] LawPair equicorrelation(ProblemSettings& settings);
[[nodiscard]] LawPair ar_correlation(ProblemSettings& settings);
[[nodiscard]] LawPair spheres(ProblemSettings& settings);
[[nodiscard]] LawPair thin_cube(ProblemSettings& settings);
[[nodiscard]] LawPair two_clusters(ProblemSettings& settings);
[[nodiscard]] LawPair normal_scale(ProblemSettings& settings);
[[nodiscard]] LawPair scaled_t(ProblemSettings& settings);
[[nodiscard]] LawPair hdgm(ProblemSettings& settings);
[[nodiscard]] LawPair mixed_table(ProblemSettings& settings);

}  // namespace kqd
