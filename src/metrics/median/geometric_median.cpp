#include "metrics/median/geometric_median.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/vectors.hpp"
#include "kqd/core/matrix.hpp"
#include "simd/matrix_product.hpp"

namespace kqd {
namespace {

using Vector = std::vector<double>;

// Relative to the widest point: closer than this counts as being there, and below the other number (of squares) the
// short formula for distances has lost its digits.
constexpr double kCoincident = 1e-10;
constexpr double kCancelled = 1e-8;
// The pull on a point that is in balance with its mass differs from it by rounding only.
constexpr double kBalance = 1e-12;
// A Newton step is solved until its residual is a part of the gradient: its norm, which is at most 1 and falls to 0, so
// that the steps converge quadratically; within these bounds.
constexpr double kLargestResidual = 0.03;
constexpr double kLeastResidual = 1e-4;
// Curvature below this part of the largest is rounding.
constexpr double kNoCurvature = 1e-12;
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// f = sum_i w_i k_i, and what a step from it needs.
struct Iterate {
  Vector weights;              // w
  Vector distances;            // d_i = |f - k_i|
  Vector pulls;                // a_i / d_i, 0 for points where f is
  double total_pull = 0.0;     // s
  double objective = 0.0;      // sum_i a_i d_i
  Vector gradient;             // of the objective, sum_i a_i (f - k_i) / d_i, by its coefficients
  Vector gradient_products;    // K gradient
  double gradient_norm = 0.0;  // in the feature space
};

// The points with mass, by themselves. Vectors of the feature space are coefficients on them.
class Search {
 public:
  Search(MatrixView<const double> gram, std::span<const double> mass) {
    for (std::size_t i = 0; i < mass.size(); ++i) {
      if (mass[i] > 0.0) points_.push_back(i);
    }
    const std::size_t n = points_.size();
    gram_ = Matrix<double>(n, n);
    double widest = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      mass_.push_back(mass[points_[i]]);
      for (std::size_t j = 0; j < n; ++j) gram_(i, j) = gram(points_[i], points_[j]);
      widest = std::max(widest, gram_(i, i));
    }
    scale_ = std::sqrt(widest);
    checked_.resize(n);
    at_ = measured(mass_);
  }

  [[nodiscard]] double objective() const { return at_.objective; }
  [[nodiscard]] std::size_t num_products() const { return num_products_; }

  [[nodiscard]] Vector weights_on(std::size_t num_points) const {
    Vector weights(num_points, 0.0);
    for (std::size_t i = 0; i < points_.size(); ++i) weights[points_[i]] = at_.weights[i];
    return weights;
  }

  // One step. True when the minimum is reached: the step was shorter than `tolerance` times the objective, or rounding
  // hides what is left.
  bool step(double tolerance) {
    const auto nearest = static_cast<std::size_t>(std::ranges::min_element(at_.distances) - at_.distances.begin());
    const bool at_point = at_.pulls[nearest] == 0.0;
    if (!at_point && at_.gradient_norm <= 16.0 * kEpsilon * scale_ * at_.total_pull) return settle();
    // Steps towards a point become short before they reach it, so the nearest one is tried.
    if (!checked_[nearest] && is_median(nearest)) {
      at_ = measured(only(nearest));
      return true;
    }
    checked_[nearest] = true;
    if (at_point) {
      at_ = measured(left(nearest));
      return false;
    }
    const double length = move();
    if (length > tolerance * at_.objective) return false;
    return settle();
  }

 private:
  // Where points are linearly dependent, many weights give the same f, and those that Newton's steps lead to may leave
  // a gradient whose coefficients cancel: rounding then hides up to sqrt(eps) of it. Weiszfeld's step gives weights
  // whose gradient has small coefficients, so the search goes on from there once.
  bool settle() {
    if (settled_) return finish();
    settled_ = true;
    at_ = measured(weiszfeld());
    return false;
  }

  // Closer still, and all weights are positive.
  bool finish() {
    at_ = measured(weiszfeld());
    return true;
  }

  [[nodiscard]] double here() const { return kCoincident * scale_; }

  Vector product(const Vector& v) {
    ++num_products_;
    Vector result(v.size());
    simd::multiply(gram_, simd::Op::none, v, result);
    return result;
  }

  Iterate measured(Vector weights) {
    const std::size_t n = points_.size();
    Iterate f;
    f.weights = std::move(weights);
    const Vector products = product(f.weights);
    const double own = dot(f.weights, products);
    f.distances.resize(n);
    f.pulls.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      double squared = gram_(i, i) - 2.0 * products[i] + own;
      if (squared < kCancelled * scale_ * scale_) squared = short_distance(i, f.weights, products);
      f.distances[i] = std::sqrt(std::max(0.0, squared));
      if (f.distances[i] > here()) f.pulls[i] = mass_[i] / f.distances[i];
    }
    f.objective = dot(mass_, f.distances);
    f.total_pull = std::accumulate(f.pulls.begin(), f.pulls.end(), 0.0);
    f.gradient.resize(n);
    for (std::size_t i = 0; i < n; ++i) f.gradient[i] = f.total_pull * f.weights[i] - f.pulls[i];
    f.gradient_products = product(f.gradient);
    f.gradient_norm = std::sqrt(std::max(0.0, dot(f.gradient, f.gradient_products)));
    return f;
  }

  // v' K v for v = e_i - w: near the point i all of v is small, and so is what rounding takes from the product.
  [[nodiscard]] double short_distance(std::size_t i, const Vector& weights, const Vector& products) const {
    double total = 0.0;
    for (std::size_t j = 0; j < points_.size(); ++j) {
      total += ((i == j ? 1.0 : 0.0) - weights[j]) * (gram_(i, j) - products[j]);
    }
    return total;
  }

  // Point j is the median if the others pull with at most its mass, |sum_i a_i (k_i - k_j) / |k_i - k_j|| <= a_j;
  // points at the same place count as its mass [VZ00, (2.6)].
  bool is_median(std::size_t j) {
    const std::size_t n = points_.size();
    Vector pull(n, 0.0);
    double mass_here = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      const double distance = std::sqrt(std::max(0.0, gram_(i, i) + gram_(j, j) - 2.0 * gram_(i, j)));
      if (i == j || distance <= here()) {
        mass_here += mass_[i];
      } else {
        pull[i] = mass_[i] / distance;
      }
    }
    pull[j] = -std::accumulate(pull.begin(), pull.end(), 0.0);
    return dot(pull, product(pull)) <= mass_here * mass_here * (1.0 + kBalance);
  }

  [[nodiscard]] Vector only(std::size_t j) const {
    Vector weights(points_.size(), 0.0);
    weights[j] = 1.0;
    return weights;
  }

  // Weiszfeld's step: the mean with weights a_i / d_i, which is f - gradient / s.
  [[nodiscard]] Vector weiszfeld() const {
    Vector weights = at_.pulls;
    for (double& w : weights) w /= at_.total_pull;
    return weights;
  }

  // The same from a point that is not the median, which keeps a share: its mass over the pull of the others [VZ00].
  [[nodiscard]] Vector left(std::size_t j) const {
    double mass_here = 0.0;
    for (std::size_t i = 0; i < points_.size(); ++i) mass_here += at_.pulls[i] > 0.0 ? 0.0 : mass_[i];
    const double share = std::min(1.0, mass_here / at_.gradient_norm);
    Vector weights = weiszfeld();
    for (double& w : weights) w *= 1.0 - share;
    weights[j] += share;
    return weights;
  }

  // Newton's step, or Weiszfeld's where that does not descend. Returns the length of the longer one.
  double move() {
    const auto [weights, length] = newton();
    Iterate next = measured(weights);
    // Close to the minimum the objective is flat to rounding, and the gradient is not.
    const double noise = 8.0 * kEpsilon * at_.objective;
    const double change = next.objective - at_.objective;
    const bool smooth = std::ranges::find(next.pulls, 0.0) == next.pulls.end();
    if (change < -noise || (change <= noise && smooth && next.gradient_norm < at_.gradient_norm)) {
      at_ = std::move(next);
      return length;
    }
    // Weiszfeld's steps are short even far from the minimum, so the longer of Newton's step and the gradient counts.
    const double longer = std::max(length, at_.gradient_norm / at_.total_pull);
    at_ = measured(weiszfeld());
    return longer;
  }

  // Solves H v = -gradient by conjugate gradients in the feature space and returns w + v with the length of v.
  // H v = s v - sum_i a_i/d_i r_i <r_i, v>, r_i = (f - k_i)/d_i: its eigenvalues are at most s.
  std::pair<Vector, double> newton() {
    const std::size_t n = points_.size();
    Vector step(n, 0.0);
    Vector step_products(n, 0.0);
    Vector residual = at_.gradient;  // of the opposite sign, as the direction
    Vector residual_products = at_.gradient_products;
    double squared = at_.gradient_norm * at_.gradient_norm;
    const double part = std::clamp(at_.gradient_norm, kLeastResidual, kLargestResidual);
    const double enough = part * part * squared;
    Vector direction = residual;
    Vector direction_products = residual_products;
    for (std::size_t k = 0; k < n && squared > enough; ++k) {
      const Vector turned = curvature_times(direction, direction_products);
      const double curvature = dot(turned, direction_products);
      if (!(curvature > kNoCurvature * at_.total_pull * dot(direction, direction_products))) break;
      const double factor = squared / curvature;
      for (std::size_t i = 0; i < n; ++i) {
        step[i] += factor * direction[i];
        step_products[i] += factor * direction_products[i];
        residual[i] -= factor * turned[i];
      }
      residual_products = product(residual);
      const double before = std::exchange(squared, std::max(0.0, dot(residual, residual_products)));
      for (std::size_t i = 0; i < n; ++i) {
        direction[i] = residual[i] + squared / before * direction[i];
        direction_products[i] = residual_products[i] + squared / before * direction_products[i];
      }
    }
    const double length = std::sqrt(std::max(0.0, dot(step, step_products)));
    for (std::size_t i = 0; i < n; ++i) step[i] = at_.weights[i] - step[i];
    return {std::move(step), length};
  }

  [[nodiscard]] Vector curvature_times(const Vector& v, const Vector& products) const {
    const std::size_t n = points_.size();
    const double along = dot(at_.weights, products);  // <f, v>
    Vector result(n);
    double total = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      result[i] = at_.pulls[i] * (along - products[i]) / (at_.distances[i] * at_.distances[i]);
      total += result[i];
    }
    for (std::size_t i = 0; i < n; ++i) result[i] += at_.total_pull * v[i] - total * at_.weights[i];
    return result;
  }

  std::vector<std::size_t> points_;
  Vector mass_;
  Matrix<double> gram_;
  double scale_ = 0.0;
  std::vector<bool> checked_;  // points that are not the median
  bool settled_ = false;
  std::size_t num_products_ = 0;
  Iterate at_;
};

}  // namespace

GeometricMedian geometric_median(MatrixView<const double> gram, std::span<const double> mass,
                                 const MedianOptions& options) {
  Search search(gram, mass);
  GeometricMedian median;
  while (!median.converged && search.num_products() < options.iterations) {
    median.converged = search.step(options.tolerance);
  }
  median.iterations = search.num_products();
  median.objective = search.objective();
  median.weights = search.weights_on(mass.size());
  return median;
}

}  // namespace kqd
