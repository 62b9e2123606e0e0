#include "metrics/median/geometric_median.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/summation.hpp"
#include "core/vectors.hpp"
#include "kqd/core/matrix.hpp"
#include "simd/matrix_product.hpp"

namespace kqd {
namespace {

// Relative to the widest point: closer than this counts as being there, and below the other number (of squares) the
// short formula for distances has lost its digits.
constexpr double kCoincident = 1e-10;
constexpr double kCancelled = 1e-8;

// The points with mass, by themselves, and an iterate w on them.
class Iteration {
 public:
  Iteration(MatrixView<const double> gram, std::span<const double> mass) {
    for (std::size_t i = 0; i < mass.size(); ++i) {
      if (mass[i] > 0.0) points_.push_back(i);
    }
    const std::size_t n = points_.size();
    gram_ = Matrix<double>(n, n);
    for (std::size_t i = 0; i < n; ++i) {
      mass_.push_back(mass[points_[i]]);
      for (std::size_t j = 0; j < n; ++j) gram_(i, j) = gram(points_[i], points_[j]);
    }
    for (std::size_t i = 0; i < n; ++i) scale_squared_ = std::max(scale_squared_, gram_(i, i));
    weights_ = mass_;
    products_.resize(n);
    distances_.resize(n);
    measure();
  }

  [[nodiscard]] double objective() const { return dot(mass_, distances_); }

  // One step; false when the iterate is the minimum.
  bool step() {
    const std::size_t n = points_.size();
    const double here = kCoincident * std::sqrt(scale_squared_);
    std::vector<double> pulls(n, 0.0);  // a_i / d_i
    double mass_here = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      if (distances_[i] <= here) {
        mass_here += mass_[i];
      } else {
        pulls[i] = mass_[i] / distances_[i];
      }
    }
    const double total_pull = std::accumulate(pulls.begin(), pulls.end(), 0.0);
    if (total_pull == 0.0) return false;  // all points are one
    double share_here = 0.0;
    if (mass_here > 0.0) {
      // The pull of the others, R = sum a_j (k_j - f) / d_j, against the mass of the point [VZ00, (2.6)].
      const double pull = std::sqrt(std::max(0.0, squared_pull(pulls, total_pull)));
      if (pull <= mass_here) return stay(here, mass_here);
      share_here = mass_here / pull;
    }
    for (std::size_t i = 0; i < n; ++i) {
      weights_[i] = (1.0 - share_here) * pulls[i] / total_pull;
      if (share_here > 0.0 && distances_[i] <= here) weights_[i] += share_here * mass_[i] / mass_here;
    }
    measure();
    return true;
  }

  [[nodiscard]] std::vector<double> weights_on(std::size_t num_points) const {
    std::vector<double> weights(num_points, 0.0);
    for (std::size_t i = 0; i < points_.size(); ++i) weights[points_[i]] = weights_[i];
    return weights;
  }

 private:
  // K w, |f - k_i| for all points.
  void measure() {
    const std::size_t n = points_.size();
    multiply(weights_, products_);
    const double own = dot(weights_, products_);
    for (std::size_t i = 0; i < n; ++i) {
      double squared = gram_(i, i) - 2.0 * products_[i] + own;
      if (squared < kCancelled * scale_squared_) squared = short_distance(i);
      distances_[i] = std::sqrt(std::max(0.0, squared));
    }
  }

  // v' K v for v = e_i - w: near the point i all of v is small, and so is what rounding takes from the product.
  [[nodiscard]] double short_distance(std::size_t i) const {
    double total = 0.0;
    for (std::size_t j = 0; j < points_.size(); ++j) {
      total += ((i == j ? 1.0 : 0.0) - weights_[j]) * (gram_(i, j) - products_[j]);
    }
    return total;
  }

  [[nodiscard]] double squared_pull(std::span<const double> pulls, double total_pull) const {
    std::vector<double> of_pulls(pulls.size());
    multiply(pulls, of_pulls);
    return dot(pulls, of_pulls) - 2.0 * total_pull * dot(pulls, products_) +
           total_pull * total_pull * dot(weights_, products_);
  }

  // The point where the iterate is, is the median.
  bool stay(double here, double mass_here) {
    for (std::size_t i = 0; i < points_.size(); ++i) weights_[i] = distances_[i] <= here ? mass_[i] / mass_here : 0.0;
    measure();
    return false;
  }

  void multiply(std::span<const double> v, std::span<double> result) const {
    simd::multiply(gram_, simd::Op::none, v, result);
  }

  std::vector<std::size_t> points_;
  std::vector<double> mass_;
  Matrix<double> gram_;
  double scale_squared_ = 0.0;
  std::vector<double> weights_;
  std::vector<double> products_;
  std::vector<double> distances_;
};

}  // namespace

GeometricMedian geometric_median(MatrixView<const double> gram, std::span<const double> mass,
                                 const MedianOptions& options) {
  Iteration iteration(gram, mass);
  GeometricMedian median;
  median.objective = iteration.objective();
  while (!median.converged && median.iterations < options.iterations) {
    const double before = median.objective;
    ++median.iterations;
    median.converged = !iteration.step();
    median.objective = iteration.objective();
    if (before - median.objective <= options.tolerance * before) median.converged = true;
  }
  median.weights = iteration.weights_on(mass.size());
  return median;
}

}  // namespace kqd
