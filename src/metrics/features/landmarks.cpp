#include "metrics/features/landmarks.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/eigenpairs.hpp"
#include "core/executor.hpp"
#include "core/random.hpp"
#include "kernel/kernel_block.hpp"

namespace kqd {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr std::size_t kRowsPerTask = 256;
constexpr double kRidgeFloor = 1e-10;  // of the trace: kernels of low rank have no tail that determines the ridge

// Positions with the square of their weights: drawn with probability p, a position represents 1/p of its kind.
struct WeightedLandmarks {
  std::vector<std::size_t> positions;
  std::vector<double> squared_weights;
};

Eigen::Map<const RowMajor> as_eigen(const Matrix<double>& matrix) {
  return {matrix.data(), static_cast<Eigen::Index>(matrix.rows()), static_cast<Eigen::Index>(matrix.cols())};
}

// (1/q) times the sum of all but the q largest eigenvalues of W K W.
double ridge(const Eigen::MatrixXd& gram, const Eigen::VectorXd& weights, std::size_t q) {
  const RowMajor weighted = weights.asDiagonal() * gram * weights.asDiagonal();
  const auto r = static_cast<std::size_t>(weighted.rows());
  const std::vector<double> values = symmetric_eigenvalues({weighted.data(), r, r});
  const Eigen::Map<const Eigen::VectorXd> ascending(values.data(), weighted.rows());
  const Eigen::Index tail = std::max<Eigen::Index>(0, ascending.size() - static_cast<Eigen::Index>(q));
  const double floor = kRidgeFloor * std::max(weighted.trace(), std::numeric_limits<double>::min());
  return std::max(ascending.head(tail).cwiseMax(0.0).sum(), floor) / static_cast<double>(q);
}

// score_i = min(1, log(r) (k_ii - k_is (K_ss + lambda W^-2)^-1 k_si) / lambda) for the given positions.
std::vector<double> leverage_scores(const Kernel& kernel, const Pool& pool, std::span<const std::size_t> positions,
                                    const WeightedLandmarks& landmarks, std::size_t r, ThreadCount threads) {
  const double log_r = std::log(std::max(3.0, static_cast<double>(r)));
  const auto q = static_cast<std::size_t>(std::ceil(static_cast<double>(r) / (4.0 * log_r)));
  const Matrix<double> points = gather(pool, landmarks.positions);
  Matrix<double> values(points.rows(), points.rows());
  kernel.evaluate(points, points, values);
  Eigen::MatrixXd gram = as_eigen(values);
  gram = 0.5 * (gram + gram.transpose()).eval();
  const Eigen::VectorXd squared = Eigen::Map<const Eigen::VectorXd>(
      landmarks.squared_weights.data(), static_cast<Eigen::Index>(landmarks.squared_weights.size()));
  const double lambda = ridge(gram, squared.cwiseSqrt(), q);
  gram.diagonal() += lambda * squared.cwiseInverse();
  const Eigen::LLT<Eigen::MatrixXd> factor(gram);

  const KernelBlock block(kernel, points);
  std::vector<double> scores(positions.size());
  parallel_for_blocks(positions.size(), kRowsPerTask, threads, [&](std::size_t begin, std::size_t end) {
    const Matrix<double> rows = gather(pool, positions.subspan(begin, end - begin));
    Matrix<double> to_landmarks(rows.rows(), points.rows());
    block.evaluate(rows, to_landmarks);
    std::vector<double> diagonal(rows.rows());
    kernel.diagonal(rows, diagonal);
    Eigen::MatrixXd solved = as_eigen(to_landmarks).transpose();
    factor.matrixL().solveInPlace(solved);
    for (std::size_t i = begin; i < end; ++i) {
      const double left = diagonal[i - begin] - solved.col(static_cast<Eigen::Index>(i - begin)).squaredNorm();
      scores[i] = std::min(1.0, log_r * std::max(0.0, left) / lambda);
    }
  });
  return scores;
}

// Draws each position with its probability, independently.
WeightedLandmarks thin_out(std::span<const std::size_t> positions, std::span<const double> scores,
                           RandomStream& stream) {
  WeightedLandmarks kept;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (stream.uniform() >= scores[i]) continue;
    kept.positions.push_back(positions[i]);
    kept.squared_weights.push_back(1.0 / scores[i]);
  }
  return kept;
}

// Draws `count` positions without replacement, with probabilities proportional to the scores of those left: the
// smallest of exponential variables with these rates. Positions without a score come last.
std::vector<std::size_t> draw_by_score(std::span<const double> scores, std::size_t count, RandomStream& stream) {
  std::vector<double> rings(scores.size());
  for (std::size_t i = 0; i < rings.size(); ++i) {
    const double time = stream.exponential();
    rings[i] = scores[i] > 0.0 ? time / scores[i] : std::numeric_limits<double>::infinity();
  }
  std::vector<std::size_t> places(scores.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  const auto earlier = [&](std::size_t a, std::size_t b) { return rings[a] != rings[b] ? rings[a] < rings[b] : a < b; };
  std::ranges::partial_sort(places, places.begin() + static_cast<std::ptrdiff_t>(count), earlier);
  places.resize(count);
  return places;
}

}  // namespace

std::vector<std::size_t> uniform_landmarks(const Pool& pool, std::size_t count, Seed seed) {
  RandomStream stream(seed, Purpose::landmarks);
  return sample_without_replacement(pool.size(), count, stream);
}

std::vector<std::size_t> leverage_landmarks(const Kernel& kernel, const Pool& pool, std::size_t count, Seed seed,
                                            ThreadCount threads) {
  RandomStream stream(seed, Purpose::landmark_scores);
  std::vector<std::size_t> shuffled = sample_without_replacement(pool.size(), pool.size(), stream);
  if (count >= pool.size()) return shuffled;
  const std::span<const std::size_t> positions(shuffled);
  WeightedLandmarks landmarks{{shuffled.begin(), shuffled.begin() + static_cast<std::ptrdiff_t>(count)},
                              std::vector<double>(count, 1.0)};
  for (std::size_t size = 2 * count; size < pool.size(); size *= 2) {
    const auto level = positions.first(size);
    WeightedLandmarks kept = thin_out(level, leverage_scores(kernel, pool, level, landmarks, count, threads), stream);
    if (!kept.positions.empty()) landmarks = std::move(kept);
  }
  const auto scores = leverage_scores(kernel, pool, positions, landmarks, count, threads);
  std::vector<std::size_t> chosen = draw_by_score(scores, count, stream);
  for (std::size_t& place : chosen) place = positions[place];
  return chosen;
}

}  // namespace kqd
