#include "kqd/monitor/change_point.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "core/executor.hpp"
#include "core/random.hpp"
#include "kqd/core/matrix.hpp"
#include "kqd/testing/pvalue.hpp"

namespace kqd {
namespace {

constexpr std::uint64_t kPermutations = 199;
constexpr std::uint64_t kNeighbourPermutations = 999;
constexpr std::uint64_t kSeed = 0x6b716463;

double inner(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

// Rows less their mean.
Matrix<double> centred(MatrixView<const double> rows) {
  Matrix<double> found(rows);
  for (std::size_t k = 0; k < rows.cols(); ++k) {
    double mean = 0.0;
    for (std::size_t i = 0; i < rows.rows(); ++i) mean += rows(i, k) / static_cast<double>(rows.rows());
    for (std::size_t i = 0; i < rows.rows(); ++i) found(i, k) -= mean;
  }
  return found;
}

// gaps[j] = squared distance of the mean of rows before j and of those from j on, times j (t - j) / t; rows are
// centred.
std::vector<double> gaps_of(const Matrix<double>& rows, std::span<const std::size_t> order) {
  const std::size_t count = order.size();
  std::vector<double> gaps(count, 0.0);
  std::vector<double> sum(rows.cols(), 0.0);
  for (std::size_t j = 1; j < count; ++j) {
    const auto row = rows.row(order[j - 1]);
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += row[k];
    const auto before = static_cast<double>(j);
    const auto after = static_cast<double>(count - j);
    gaps[j] = inner(sum, sum) * static_cast<double>(count) / (before * after);
  }
  return gaps;
}

std::vector<double> observed_gaps(const Matrix<double>& rows) {
  std::vector<std::size_t> order(rows.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return gaps_of(rows, order);
}

std::size_t best_start(const std::vector<double>& gaps) {
  return static_cast<std::size_t>(std::max_element(gaps.begin() + 1, gaps.end()) - gaps.begin());
}

void shuffle(std::span<std::size_t> places, RandomStream& stream) {
  for (std::size_t left = places.size(); left > 1; --left) {
    std::swap(places[left - 1], places[static_cast<std::size_t>(stream.below(left))]);
  }
}

// How much better the best start is than this one.
double lead(const std::vector<double>& gaps, std::size_t start) {
  return gaps[best_start(gaps)] - gaps[start];
}

// Permutes the rows of both parts.
double pvalue_of_start(const Matrix<double>& rows, double observed, std::size_t start) {
  RandomStream stream(Seed{kSeed}, Purpose::change_point, start);
  std::vector<std::size_t> order(rows.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::uint64_t exceed = 0;
  for (std::uint64_t b = 0; b < kPermutations; ++b) {
    shuffle(std::span(order).first(start), stream);
    shuffle(std::span(order).subspan(start), stream);
    if (lead(gaps_of(rows, order), start) >= observed) ++exceed;
  }
  return permutation_pvalue({kPermutations, exceed});
}

}  // namespace

std::size_t most_likely_start(MatrixView<const double> rows) {
  return best_start(observed_gaps(centred(rows)));
}

double change_pvalue(MatrixView<const double> rows) {
  const Matrix<double> points = centred(rows);
  std::vector<std::size_t> order(points.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::vector<double> gaps = gaps_of(points, order);
  const double observed = gaps[best_start(gaps)];
  RandomStream stream(Seed{kSeed}, Purpose::change_point, 0);
  std::uint64_t exceed = 0;
  for (std::uint64_t b = 0; b < kNeighbourPermutations; ++b) {
    shuffle(order, stream);
    const std::vector<double> permuted = gaps_of(points, order);
    if (permuted[best_start(permuted)] >= observed * (1.0 - 1e-12)) ++exceed;
  }
  return permutation_pvalue({kNeighbourPermutations, exceed});
}

ChangePoint change_point(MatrixView<const double> rows, double confidence, ThreadCount threads) {
  const Matrix<double> points = centred(rows);
  const std::vector<double> gaps = observed_gaps(points);
  ChangePoint found{.start = best_start(gaps), .confidence = confidence, .pvalue = change_pvalue(rows)};
  std::vector<double> pvalues(gaps.size(), 0.0);
  parallel_for_blocks(gaps.size() - 1, 1, threads, [&](std::size_t k, std::size_t) {
    pvalues[k + 1] = pvalue_of_start(points, lead(gaps, k + 1), k + 1);
  });
  for (std::size_t j = 1; j < gaps.size(); ++j) {
    if (pvalues[j] > 1.0 - confidence) found.likely.push_back(j);
  }
  return found;
}

double neighbour_pvalue(MatrixView<const double> rows) {
  const Matrix<double> points = centred(rows);
  std::vector<std::size_t> order(points.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto likeness = [&] {
    double sum = 0.0;
    for (std::size_t i = 1; i < order.size(); ++i) sum += inner(points.row(order[i - 1]), points.row(order[i]));
    return sum;
  };
  const double observed = likeness();
  const double slack = 1e-12 * std::abs(observed);
  RandomStream stream(Seed{kSeed}, Purpose::change_point, ~std::uint64_t{0});
  std::uint64_t exceed = 0;
  for (std::uint64_t b = 0; b < kNeighbourPermutations; ++b) {
    shuffle(order, stream);
    if (likeness() >= observed - slack) ++exceed;
  }
  return permutation_pvalue({kNeighbourPermutations, exceed});
}

}  // namespace kqd
