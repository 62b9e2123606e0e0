#include "metrics/quantile/sphere_ascent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/eigenpairs.hpp"
#include "core/executor.hpp"
#include "core/random.hpp"
#include "core/summation.hpp"
#include "core/vectors.hpp"

namespace kqd {
namespace {

using Vector = std::vector<double>;

// Armijo's constant, and when an ascent is over.
constexpr double kArmijo = 1e-4;
constexpr double kSmallGradient = 1e-6;
constexpr double kSmallGain = 1e-8;
constexpr int kStalledSteps = 5;
constexpr int kMaxHalvings = 40;
constexpr int kPowerIterations = 10;

constexpr std::size_t kDraws = 32;          // of which the best is a start
constexpr std::size_t kKrylovSize = 24;     // enough for both ends of a spectrum to a few digits
constexpr std::uint64_t kKrylovStream = 0;  // of Purpose::starting_points; draws have 1, 2, ...

// Scales to length 1; false for a vector of length 0.
bool normalise(std::span<double> v) {
  const double length = std::sqrt(dot(v, v));
  if (!(length > 0.0) || !std::isfinite(length)) return false;
  for (double& c : v) c /= length;
  return true;
}

void add_scaled(std::span<double> to, double factor, std::span<const double> v) {
  for (std::size_t k = 0; k < to.size(); ++k) to[k] += factor * v[k];
}

// v minus its part along the unit vector w.
void project_out(std::span<double> v, std::span<const double> w) {
  add_scaled(v, -dot(v, w), w);
}

// Changes of place and of gradient over the last steps, from which L-BFGS builds its directions [NW06 alg. 7.4].
class StepMemory {
 public:
  [[nodiscard]] bool empty() const { return pairs_.empty(); }
  void clear() { pairs_.clear(); }

  // A step along which the slope did not fall has no curvature to learn from.
  void add(Vector place, Vector slope_loss) {
    const double product = dot(place, slope_loss);
    if (!(product > 1e-12 * std::sqrt(dot(place, place) * dot(slope_loss, slope_loss)))) return;
    if (pairs_.size() == kSteps) pairs_.erase(pairs_.begin());
    pairs_.push_back({std::move(place), std::move(slope_loss), product});
  }

  // v becomes H v, with H the inverse of the estimated Hessian of -tau.
  void apply(Vector& v) const {
    if (pairs_.empty()) return;
    Vector factors(pairs_.size());
    for (std::size_t k = pairs_.size(); k-- > 0;) {
      factors[k] = dot(pairs_[k].place, v) / pairs_[k].product;
      add_scaled(v, -factors[k], pairs_[k].slope_loss);
    }
    const Pair& last = pairs_.back();
    const double scale = last.product / dot(last.slope_loss, last.slope_loss);
    for (double& c : v) c *= scale;
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
      add_scaled(v, factors[k] - dot(pairs_[k].slope_loss, v) / pairs_[k].product, pairs_[k].place);
    }
  }

 private:
  static constexpr std::size_t kSteps = 8;
  struct Pair {
    Vector place;
    Vector slope_loss;
    double product;
  };
  std::vector<Pair> pairs_;
};

// One ascent in progress: where it is, how high, and the gradient there.
class Climb {
 public:
  Climb(GapObjective& objective, Vector start, std::size_t max_steps)
      : objective_(objective), max_steps_(max_steps), gradient_(start.size()), candidate_(start.size()) {
    result_.direction = std::move(start);
    result_.value = objective_.value(result_.direction);
    result_.history.push_back(result_.value);
  }

  Ascent run() {
    const bool by_eigenvectors = objective_.problem().power.value == 2.0 && objective_.problem().slices.linear() &&
                                 !objective_.problem().mmd_squared;
    do {
      climb_until_stalled();
    } while (by_eigenvectors && steps_left() && eigen_step());
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool steps_left() const { return result_.history.size() <= max_steps_; }

  void move_to_candidate(double value) {
    std::swap(result_.direction, candidate_);
    result_.value = value;
    result_.history.push_back(value);
  }

  // The gradient within the sphere; returns the length of the whole gradient.
  double find_gradient() {
    objective_.gradient(result_.direction, gradient_);
    const double length = std::sqrt(dot(gradient_, gradient_));
    project_out(gradient_, result_.direction);
    return length;
  }

  void climb_until_stalled() {
    int stalled = 0;
    StepMemory memory;
    double length = find_gradient();
    while (steps_left() && stalled < kStalledSteps) {
      stop_point();
      if (!(std::sqrt(dot(gradient_, gradient_)) > kSmallGradient * length)) return;
      const double before = result_.value;
      const Vector place = result_.direction;
      const Vector slope = gradient_;
      if (!line_search(find_course(memory, length))) {
        if (memory.empty()) return;
        memory.clear();  // once more along the gradient
        continue;
      }
      length = find_gradient();
      Vector step = result_.direction;
      add_scaled(step, -1.0, place);
      Vector slope_loss = slope;
      add_scaled(slope_loss, -1.0, gradient_);
      memory.add(std::move(step), std::move(slope_loss));
      stalled = result_.value - before < kSmallGain * before ? stalled + 1 : 0;
    }
  }

  // The course of the next step, of length at most 1: along the gradient, corrected for curvature where it is known.
  [[nodiscard]] Vector find_course(StepMemory& memory, double length) const {
    Vector course = gradient_;
    memory.apply(course);
    project_out(course, result_.direction);
    const double slope = dot(gradient_, gradient_);
    if (memory.empty() || !(dot(course, gradient_) > 1e-10 * std::sqrt(slope * dot(course, course)))) {
      memory.clear();
      course = gradient_;
      for (double& c : course) c /= length;
    }
    if (dot(course, course) > 1.0) normalise(course);
    return course;
  }

  // Halves the step until tau rises as the slope promises; false when it does not.
  bool line_search(const Vector& course) {
    const double slope = dot(course, gradient_);
    double step = 1.0;
    for (int halving = 0; halving < kMaxHalvings; ++halving, step *= 0.5) {
      stop_point();
      candidate_ = result_.direction;
      add_scaled(candidate_, step, course);
      if (!normalise(candidate_)) continue;
      const double value = objective_.value(candidate_);
      if (!(value >= result_.value + kArmijo * step * slope) || !(value > result_.value)) continue;
      move_to_candidate(value);
      return true;
    }
    return false;
  }

  // Towards the top eigenvector of V = sum_k m_k (phi_i - phi_j)(phi_i - phi_j)' for the present coupling.
  bool eigen_step() {
    objective_.gradient(result_.direction, gradient_);  // fixes the coupling, and is the first product with V
    for (int k = 0; k < kPowerIterations; ++k) {
      stop_point();
      candidate_ = gradient_;
      if (!normalise(candidate_)) return false;
      objective_.gradient_of_coupling(candidate_, gradient_);
    }
    const double value = objective_.value(candidate_);
    if (!(value > result_.value * (1.0 + kSmallGain))) return false;
    move_to_candidate(value);
    return true;
  }

  GapObjective& objective_;
  std::size_t max_steps_;
  Ascent result_;
  Vector gradient_;
  Vector candidate_;
};

Vector random_vector(std::size_t dim, Seed seed, std::uint64_t index) {
  RandomStream stream(seed, Purpose::starting_points, index);
  Vector v(dim);
  for (double& c : v) c = stream.normal();
  normalise(v);
  return v;
}

// Both ends of the spectrum of a symmetric operator, with eigenvectors, by Lanczos' method with full
// reorthogonalisation: exact up to rounding when the operator has at most kKrylovSize different eigenvalues.
struct Spectrum {
  double largest = 0.0;
  Vector top;
  Vector bottom;
};

template <class Apply>
Spectrum extreme_eigenvectors(std::size_t dim, Seed seed, const Apply& apply) {
  std::vector<Vector> basis = {random_vector(dim, seed, kKrylovStream)};
  Vector diagonal;
  Vector below;
  double scale = 0.0;
  while (true) {
    stop_point();
    Vector next(dim);
    apply(basis.back(), next);
    diagonal.push_back(dot(basis.back(), next));
    scale = std::max(scale, std::sqrt(dot(next, next)));
    for (int pass = 0; pass < 2; ++pass) {
      for (const Vector& q : basis) project_out(next, q);
    }
    const double length = std::sqrt(dot(next, next));
    if (basis.size() == std::min(dim, kKrylovSize) || !(length > 1e-12 * scale)) break;
    below.push_back(length);
    normalise(next);
    basis.push_back(std::move(next));
  }
  const Eigenpairs pairs = tridiagonal_eigenpairs(diagonal, below);
  const auto combine = [&](std::size_t column) {
    Vector v(dim, 0.0);
    for (std::size_t j = 0; j < basis.size(); ++j) {
      add_scaled(v, pairs.vectors(j, column), basis[j]);
    }
    normalise(v);
    return v;
  };
  return {pairs.values.back(), combine(diagonal.size() - 1), combine(0)};
}

// out = sum_i weights_i phi_i (phi_i - mean) . w: a covariance, for weights that sum to 1.
void apply_covariance(const Slices& slices, std::span<const double> weights, std::span<const double> w, Vector& out) {
  Vector values(slices.num_points());
  slices.evaluate(w, values);
  const double mean = dot(weights, values);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = weights[i] * (values[i] - mean);
  slices.pull_back(w, {}, values, out);
}

// (Cov_X - Cov_Y) w.
void apply_covariance_difference(const GapProblem& problem, std::span<const double> w, Vector& out) {
  const Slices& slices = problem.slices.linear_slices();
  Vector values(slices.num_points());
  slices.evaluate(w, values);
  for (const auto group : {problem.x, problem.y}) {
    double mean = 0.0;
    for (const std::size_t i : group) mean += std::abs(problem.signed_weights[i]) * values[i];
    for (const std::size_t i : group) values[i] = problem.signed_weights[i] * (values[i] - mean);
  }
  slices.pull_back(w, {}, values, out);
}

// Random directions: uniform ones, and in turn such that the covariance of the pool was applied to, which prefers
// directions along which the points spread, as the Gaussian measure of a kernel's space does.
Vector draw(const GapProblem& problem, Seed seed, std::size_t index) {
  const Slices& slices = problem.slices.linear_slices();
  Vector w = random_vector(slices.dim(), seed, 1 + index);
  if (index % 2 == 0) return w;
  const Vector equal(slices.num_points(), 1.0 / static_cast<double>(slices.num_points()));
  Vector spread(w.size());
  apply_covariance(slices, equal, w, spread);
  return normalise(spread) ? spread : w;
}

std::vector<Vector> find_starts(const GapProblem& problem, Seed seed, std::size_t num_random) {
  const Slices& slices = problem.slices.linear_slices();
  std::vector<Vector> starts;
  Vector witness(slices.dim());
  slices.pull_back({}, {}, problem.signed_weights, witness);
  if (normalise(witness)) starts.push_back(std::move(witness));
  Spectrum spectrum = extreme_eigenvectors(
      slices.dim(), seed, [&](const Vector& w, Vector& out) { apply_covariance_difference(problem, w, out); });
  starts.push_back(std::move(spectrum.top));
  starts.push_back(std::move(spectrum.bottom));

  GapObjective objective(problem);
  double highest = -1.0;
  Vector best;
  for (std::size_t i = 0; i < kDraws; ++i) {
    stop_point();
    Vector w = draw(problem, seed, i);
    const double value = objective.value(w);
    if (value <= highest) continue;
    highest = value;
    best = std::move(w);
  }
  starts.push_back(std::move(best));
  for (std::size_t i = 0; i < num_random; ++i) starts.push_back(draw(problem, seed, kDraws + i));

  if (!problem.slices.linear()) {  // then w and -w are different slices
    const std::size_t count = starts.size();
    for (std::size_t i = 0; i < count; ++i) {
      starts.push_back(starts[i]);
      for (double& c : starts.back()) c = -c;
    }
  }
  return starts;
}

// Ends within a tenth of a per cent in direction and value: well apart from what the stopping rule leaves open.
bool same_end(const Ascent& a, const Ascent& b, bool either_sign) {
  const double cosine = dot(a.direction, b.direction);
  return (either_sign ? std::abs(cosine) : cosine) > 1.0 - 1e-3 &&
         std::abs(a.value - b.value) <= 1e-3 * std::max(a.value, b.value);
}

std::size_t count_different(const std::vector<Ascent>& ends, bool either_sign) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const bool known = std::any_of(ends.begin(), ends.begin() + static_cast<std::ptrdiff_t>(i),
                                   [&](const Ascent& other) { return same_end(other, ends[i], either_sign); });
    count += known ? 0 : 1;
  }
  return count;
}

}  // namespace

Ascent ascend(GapObjective& objective, std::vector<double> start, std::size_t max_steps) {
  return Climb(objective, std::move(start), max_steps).run();
}

Supremum maximise_gap(const GapProblem& problem, Seed seed, const SupremumOptions& options, ThreadCount threads) {
  const std::vector<Vector> starts = find_starts(problem, seed, options.num_random);
  std::vector<Ascent> ends(starts.size());
  parallel_for_blocks(starts.size(), 1, threads, [&](std::size_t i, std::size_t) {
    GapObjective objective(problem);
    ends[i] = ascend(objective, starts[i], options.max_steps);
  });
  const auto best = std::ranges::max_element(ends, {}, &Ascent::value);  // the first of equal ones
  Supremum found{.direction = best->direction, .value = best->value, .num_starts = ends.size()};
  found.num_optima = count_different(ends, problem.slices.linear());
  for (const Ascent& end : ends) found.num_steps += end.history.size() - 1;
  return found;
}

double largest_spread(const Slices& slices, Seed seed) {
  const Slices& linear = slices.linear_slices();
  const Vector equal(linear.num_points(), 1.0 / static_cast<double>(linear.num_points()));
  const Spectrum spectrum = extreme_eigenvectors(
      linear.dim(), seed, [&](const Vector& w, Vector& out) { apply_covariance(linear, equal, w, out); });
  return std::sqrt(std::max(0.0, spectrum.largest));
}

double expected_seconds(const Slices& slices, const SupremumOptions& options) {
  // Measured on one core: a pass over the features runs at about a number per nanosecond, and a step takes about three
  // of them and two sorts; most ascents end after a quarter of the steps they may take, or some sixty.
  const auto rows = static_cast<double>(slices.num_points());
  const double step = 3.0 * rows * static_cast<double>(slices.dim()) * 1e-9 + 6.0 * rows * 20e-9;
  const double steps = std::min(static_cast<double>(options.max_steps), 60.0);
  const double starts = (4.0 + static_cast<double>(options.num_random)) * (slices.linear() ? 1.0 : 2.0);
  return step * (starts * steps + static_cast<double>(kDraws));
}

}  // namespace kqd
