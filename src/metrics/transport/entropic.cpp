#include "metrics/transport/entropic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/executor.hpp"
#include "core/summation.hpp"
#include "kqd/core/matrix.hpp"
#include "simd/gibbs_rows.hpp"

namespace kqd {
namespace {

constexpr std::size_t kRowBlock = 128;
// Factors beyond this are absorbed by the potentials. Entries of the matrix that underflow at 1e-308 then change any
// sum by at most 1e-208 of it.
constexpr double kLargestFactor = 1e50;

bool in_range(std::span<const double> values) {
  return std::ranges::all_of(values, [](double v) { return v >= 1.0 / kLargestFactor && v <= kLargestFactor; });
}

std::vector<double> logarithms(std::span<const double> values) {
  std::vector<double> logs(values.size());
  std::ranges::transform(values, logs.begin(), [](double v) { return std::log(v); });
  return logs;
}

double weighted_sum(std::span<const double> weights, std::span<const double> values) {
  CompensatedSum total;
  for (std::size_t i = 0; i < weights.size(); ++i) total.add(weights[i] * values[i]);
  return total.value();
}

// sum_i a_i |factor_i sum_i - 1|: the 1-norm of a marginal's error.
double marginal_error(std::span<const double> a, std::span<const double> factors, std::span<const double> sums) {
  CompensatedSum total;
  for (std::size_t i = 0; i < a.size(); ++i) total.add(a[i] * std::abs(factors[i] * sums[i] - 1.0));
  return total.value();
}

double largest(MatrixView<const double> costs) {
  double found = 0.0;
  for (std::size_t i = 0; i < costs.rows(); ++i) found = std::max(found, *std::ranges::max_element(costs.row(i)));
  return found;
}

// The state that both problems share: the costs, the matrix of the current potentials, and passes over either.
class GibbsKernel {
 public:
  GibbsKernel(MatrixView<const double> costs, ThreadCount threads) : costs_(costs), threads_(threads) {}

  // -eps log sum_j exp(log_masses_j + (potentials_j - c_ij) / eps) for every row i.
  void row_softmin(std::span<const double> log_masses, std::span<const double> potentials, double epsilon,
                   std::span<double> result) const {
    std::vector<double> terms(potentials.size());
    for (std::size_t j = 0; j < terms.size(); ++j) terms[j] = log_masses[j] + potentials[j] / epsilon;
    parallel_for_blocks(costs_.rows(), kRowBlock, threads_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        result[i] = -epsilon * simd::log_sum_exp(costs_.row(i), terms, 1.0 / epsilon);
      }
    });
  }

  // The same for every column, over rows.
  void column_softmin(std::span<const double> log_masses, std::span<const double> potentials, double epsilon,
                      std::span<double> result) const {
    const auto term = [&](std::size_t i) { return log_masses[i] + potentials[i] / epsilon; };
    constexpr std::size_t kColumnBlock = 512;
    parallel_for_blocks(costs_.cols(), kColumnBlock, threads_, [&](std::size_t begin, std::size_t end) {
      const auto part = costs_.column_range(begin, end - begin);
      std::vector<double> maxima(end - begin, -std::numeric_limits<double>::infinity());
      std::vector<double> sums(end - begin, 0.0);
      for (std::size_t i = 0; i < part.rows(); ++i) simd::raise_maxima(part.row(i), term(i), 1.0 / epsilon, maxima);
      for (std::size_t i = 0; i < part.rows(); ++i) {
        simd::add_exponentials(part.row(i), term(i), 1.0 / epsilon, maxima, sums);
      }
      for (std::size_t j = begin; j < end; ++j) result[j] = -epsilon * (maxima[j - begin] + std::log(sums[j - begin]));
    });
  }

  // values(i, j) = exp((f_i + g_j - c_ij) / eps).
  void absorb(std::span<const double> f, std::span<const double> g, double epsilon) {
    if (values_.empty()) values_ = Matrix<double>(costs_.rows(), costs_.cols());
    std::vector<double> terms(g.size());
    for (std::size_t j = 0; j < terms.size(); ++j) terms[j] = g[j] / epsilon;
    parallel_for_blocks(costs_.rows(), kRowBlock, threads_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        simd::gibbs_row(costs_.row(i), terms, f[i] / epsilon, 1.0 / epsilon, values_.row(i));
      }
    });
  }

  void multiply(std::span<const double> factors, std::span<double> row_sums) const {
    parallel_for_blocks(values_.rows(), kRowBlock, threads_, [&](std::size_t begin, std::size_t end) {
      simd::multiply_rows(values_.view().row_range(begin, end - begin), factors, row_sums.subspan(begin, end - begin));
    });
  }

  void sweep(std::span<const double> factors, std::span<const double> masses, std::span<double> row_sums,
             std::span<double> column_sums) const {
    Matrix<double> parts((values_.rows() + kRowBlock - 1) / kRowBlock, values_.cols(), 0.0);
    parallel_for_blocks(values_.rows(), kRowBlock, threads_, [&](std::size_t begin, std::size_t end) {
      simd::sweep_rows(values_.view().row_range(begin, end - begin), factors, masses.subspan(begin, end - begin),
                       row_sums.subspan(begin, end - begin), parts.row(begin / kRowBlock));
    });
    std::ranges::fill(column_sums, 0.0);
    for (std::size_t block = 0; block < parts.rows(); ++block) {
      for (std::size_t j = 0; j < column_sums.size(); ++j) column_sums[j] += parts(block, j);
    }
  }

 private:
  MatrixView<const double> costs_;
  ThreadCount threads_;
  Matrix<double> values_;
};

// The current potentials: those of the last absorption, plus eps times the logarithm of the factors since then.
void take_in(std::span<double> potentials, std::span<double> factors, double epsilon) {
  for (std::size_t i = 0; i < potentials.size(); ++i) {
    potentials[i] += epsilon * std::log(factors[i]);
    factors[i] = 1.0;
  }
}

// Calls sweep(epsilon) from the largest cost down, the wanted epsilon excluded.
template <class Sweep>
void scale_down(MatrixView<const double> costs, const EntropicRule& rule, const Sweep& sweep) {
  for (double epsilon = largest(costs); epsilon > rule.epsilon; epsilon *= rule.scaling) sweep(epsilon);
}

}  // namespace

EntropicTransport solve_entropic(MatrixView<const double> costs, std::span<const double> a, std::span<const double> b,
                                 const EntropicRule& rule, std::span<const double> f, std::span<const double> g) {
  const std::vector<double> log_a = logarithms(a);
  const std::vector<double> log_b = logarithms(b);
  EntropicTransport result;
  result.f.assign(a.size(), 0.0);
  result.g.assign(b.size(), 0.0);
  GibbsKernel kernel(costs, rule.threads);
  const auto log_sweep = [&](double epsilon) {
    kernel.row_softmin(log_b, result.g, epsilon, result.f);
    kernel.column_softmin(log_a, result.f, epsilon, result.g);
  };
  if (g.empty()) {
    scale_down(costs, rule, log_sweep);
  } else {
    std::ranges::copy(f, result.f.begin());
    std::ranges::copy(g, result.g.begin());
  }
  log_sweep(rule.epsilon);  // columns of the plan have the right sums, rows nearly
  kernel.absorb(result.f, result.g, rule.epsilon);

  std::vector<double> u(a.size(), 1.0);
  std::vector<double> v(b.size(), 1.0);
  std::vector<double> factors(b.begin(), b.end());
  std::vector<double> row_sums(a.size());
  std::vector<double> column_sums(b.size());
  const auto absorb_factors = [&] {
    take_in(result.f, u, rule.epsilon);
    take_in(result.g, v, rule.epsilon);
  };
  while (result.sweeps < rule.max_sweeps && !result.converged) {
    stop_point();
    for (std::size_t j = 0; j < b.size(); ++j) factors[j] = b[j] * v[j];
    kernel.sweep(factors, a, row_sums, column_sums);
    ++result.sweeps;
    if (in_range(row_sums) && in_range(column_sums)) {
      // The rows of the plan before this sweep; after it they are closer, and the columns exact again.
      result.marginal_error = marginal_error(a, u, row_sums);
      result.converged = result.marginal_error < rule.tolerance;
      for (std::size_t i = 0; i < a.size(); ++i) u[i] = 1.0 / row_sums[i];
      for (std::size_t j = 0; j < b.size(); ++j) v[j] = 1.0 / column_sums[j];
      continue;
    }
    absorb_factors();
    log_sweep(rule.epsilon);
    kernel.absorb(result.f, result.g, rule.epsilon);
  }
  absorb_factors();
  // The plan has mass 1 after an update of g, so the dual is the sum of the potentials: off the optimum by a second
  // order of the marginal error.
  result.value = weighted_sum(a, result.f) + weighted_sum(b, result.g);
  return result;
}

EntropicTransport solve_entropic_self(MatrixView<const double> costs, std::span<const double> a,
                                      const EntropicRule& rule, std::span<const double> f) {
  const std::vector<double> log_a = logarithms(a);
  EntropicTransport result;
  result.f.assign(a.size(), 0.0);
  GibbsKernel kernel(costs, rule.threads);
  std::vector<double> mapped(a.size());
  const auto log_sweep = [&](double epsilon) {
    kernel.row_softmin(log_a, result.f, epsilon, mapped);
    for (std::size_t i = 0; i < a.size(); ++i) result.f[i] = 0.5 * (result.f[i] + mapped[i]);
  };
  if (f.empty()) {
    scale_down(costs, rule, log_sweep);
  } else {
    std::ranges::copy(f, result.f.begin());
  }
  log_sweep(rule.epsilon);
  kernel.absorb(result.f, result.f, rule.epsilon);

  std::vector<double> u(a.size(), 1.0);
  std::vector<double> factors(a.size());
  std::vector<double> row_sums(a.size());
  double mass = 1.0;
  while (true) {
    stop_point();
    for (std::size_t i = 0; i < a.size(); ++i) factors[i] = a[i] * u[i];
    kernel.multiply(factors, row_sums);
    ++result.sweeps;
    if (in_range(row_sums)) {
      result.marginal_error = marginal_error(a, u, row_sums);
      result.converged = result.marginal_error < rule.tolerance;
      mass = weighted_sum(factors, row_sums);
      if (result.converged || result.sweeps >= rule.max_sweeps) break;
      for (std::size_t i = 0; i < a.size(); ++i) u[i] = std::sqrt(u[i] / row_sums[i]);
      continue;
    }
    result.marginal_error = 1.0;
    if (result.sweeps >= rule.max_sweeps) break;
    take_in(result.f, u, rule.epsilon);
    log_sweep(rule.epsilon);
    kernel.absorb(result.f, result.f, rule.epsilon);
  }
  take_in(result.f, u, rule.epsilon);
  // The dual at these potentials, whose plan has nearly mass 1.
  result.value = 2.0 * weighted_sum(a, result.f) - rule.epsilon * (mass - 1.0);
  return result;
}

}  // namespace kqd
