#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "experiments/experiments.hpp"
#include "experiments/rates.hpp"
#include "kqd/core/sample.hpp"

namespace kqd::lab {

/// Rates of convergence: error of the embedding in n [KQE Theorem 3], of e-KQD_1 in n and in l [KQE Theorem 5].
[[nodiscard]] ExperimentReport convergence(const ExperimentOptions& options, const RunControl* control);

/// Centered e-KQD_2 between MMD and the kernel sliced Wasserstein distance [KQE Connection 3].
[[nodiscard]] ExperimentReport interpolation(const ExperimentOptions& options, const RunControl* control);

/// Distributions with equal moments: MMD of a polynomial kernel is 0, e-KQD is not [KQE Theorem 2].
[[nodiscard]] ExperimentReport same_moments(const ExperimentOptions& options, const RunControl* control);

/// Sizes of the experiment on rates.
struct RateSettings {
  std::vector<std::size_t> rows;        ///< n
  std::vector<std::size_t> directions;  ///< l
  std::size_t repeats = 0;
  std::size_t many_directions = 0;  ///< that stand for all of them
  Seed seed = {};
  ThreadCount threads = {};
};

/// Root mean square errors by size.
struct RateCurve {
  std::string label;
  std::vector<SizedError> errors;
  PowerLaw fit;
  std::optional<double> factor = {};  ///< errors are factor / sqrt(size) by theory, where that is known
};

/// |q - q_n| along one direction of the Gaussian kernel, at three levels.
[[nodiscard]] std::vector<RateCurve> embedding_rates(const RateSettings& settings);
/// |e-KQD_1(P_n, Q_n) - e-KQD_1(P, Q)| for fixed directions.
[[nodiscard]] std::vector<RateCurve> row_rates(const RateSettings& settings);
/// |e-KQD_1 of l directions - e-KQD_1 of many| for fixed rows.
[[nodiscard]] std::vector<RateCurve> direction_rates(const RateSettings& settings);

/// The three distances of order 2 between two samples, and the term that joins them.
struct Interpolants {
  double x = 0.0;  ///< the quantity that varies
  double mmd = 0.0;
  double ekqd = 0.0;
  double centered = 0.0;
  double mean_gap = 0.0;  ///< root of the mean over directions of (mean of u on X - mean of u on Y)^2
};

/// `count` reference points in one column: quantiles of N(0, 1) at the middle of equal steps.
[[nodiscard]] Matrix<double> normal_points(std::size_t count);

/// P = N(0, I) in three columns and Q = N(cos(a) e1, (1 + sin(a))^2 I), linear kernel; a in degrees, from 0 to 90.
[[nodiscard]] std::vector<Interpolants> from_shift_to_spread(std::size_t rows, std::size_t num_directions, Seed seed,
                                                             ThreadCount threads);
/// N(0, 1) and the Laplace distribution of variance 1 by their quantiles, Gaussian kernels of many bandwidths.
[[nodiscard]] std::vector<Interpolants> by_bandwidth(std::size_t rows, std::size_t num_directions, Seed seed,
                                                     ThreadCount threads);

/// The Gauss-Hermite rules of four and of three points: both have the moments of N(0, 1) up to the fifth; the sixth
/// moments are 15 and 9.
[[nodiscard]] Sample four_points();
[[nodiscard]] Sample three_points();

/// MMD and e-KQD_1 for the kernel (x y + 1)^degree.
struct MomentDistances {
  double mmd = 0.0;
  double ekqd = 0.0;
};
[[nodiscard]] MomentDistances polynomial_distances(const SampleView& x, const SampleView& y, std::size_t degree,
                                                   std::size_t num_directions, Seed seed);

}  // namespace kqd::lab
