#include "metrics/classifier/feature_dictionary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/executor.hpp"
#include "core/random.hpp"
#include "quantiles/sort.hpp"
#include "simd/matrix_product.hpp"

namespace kqd {
namespace {

constexpr std::size_t kMostColumnsInProducts = 100;
constexpr std::size_t kFewComponents = 5;    // next to products of columns
constexpr std::size_t kManyComponents = 20;  // in place of them
constexpr std::size_t kMostLandmarks = 128;
constexpr std::array<double, 2> kVarianceShares = {1.0, 0.125};  // squared bandwidth over the number of columns
constexpr std::size_t kIterations = 40;
constexpr double kFlatDirection = 1e-12;  // variance of a direction that is rounding: scores have variances of about 1

// Normal quantiles of ranks; equal values have the mean of their ranks. True when the column varies.
bool fill_normal_scores(const Pool& pool, std::size_t column, Matrix<double>& scores) {
  const std::size_t n = pool.size();
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = pool.row(i)[column];
  std::vector<std::uint32_t> order(n);
  argsort(values, order);
  for (std::size_t begin = 0; begin < n;) {
    std::size_t end = begin + 1;
    while (end < n && values[order[end]] == values[order[begin]]) ++end;
    const double level = 0.5 * static_cast<double>(begin + end) / static_cast<double>(n);
    const double score = level == 0.5 ? 0.0 : normal_quantile(level);
    for (std::size_t k = begin; k < end; ++k) scores(order[k], column) = score;
    begin = end;
  }
  return values[order.front()] != values[order.back()];
}

// Makes rows of `directions` orthonormal, one after the other; what is left of a dependent one is set to 0.
void make_orthonormal(Matrix<double>& directions) {
  for (std::size_t j = 0; j < directions.rows(); ++j) {
    const auto own = directions.row(j);
    const double before = std::sqrt(simd::dot(own, own));
    for (std::size_t pass = 0; pass < 2; ++pass) {
      for (std::size_t k = 0; k < j; ++k) {
        const auto earlier = directions.row(k);
        const double along = simd::dot(own, earlier);
        for (std::size_t c = 0; c < own.size(); ++c) own[c] -= along * earlier[c];
      }
    }
    const double norm = std::sqrt(simd::dot(own, own));
    const bool dependent = !(norm > 1e-10 * before);
    for (double& v : own) v = dependent ? 0.0 : v / norm;
  }
}

}  // namespace

FeatureDictionary::FeatureDictionary(const Pool& pool, Seed seed, ThreadCount threads)
    : scores_(pool.size(), pool.dim()) {
  std::vector<char> varies(pool.dim());
  parallel_for_blocks(pool.dim(), 1, threads, [&](std::size_t column, std::size_t) {
    varies[column] = fill_normal_scores(pool, column, scores_) ? 1 : 0;
  });
  constant_ = std::ranges::count(varies, 1) == 0;
  find_components(threads);
  add_bumps(seed);
  add_terms();
}

// Orthogonal iteration. Components need not be accurate: any linear combination is a valid feature.
void FeatureDictionary::find_components(ThreadCount threads) {
  constexpr std::size_t kFewestRows = 4096;
  const std::size_t n = scores_.rows();
  const std::size_t dim = scores_.cols();
  Matrix<double> moments(dim, dim, 0.0);
  // Bounded memory: as many blocks of rows at a time as there are small matrices.
  const std::size_t step = std::max(kFewestRows, (n + 15) / 16);
  std::vector<Matrix<double>> parts((n + step - 1) / step);
  parallel_for_blocks(n, step, threads, [&](std::size_t begin, std::size_t end) {
    Matrix<double>& own = parts[begin / step] = Matrix<double>(dim, dim);
    const auto rows = std::as_const(scores_).view().row_range(begin, end - begin);
    simd::multiply(rows, simd::Op::transpose, rows, simd::Op::none, own);
  });
  for (const Matrix<double>& part : parts) {
    for (std::size_t k = 0; k < part.values().size(); ++k) moments.values()[k] += part.values()[k];
  }
  for (double& v : moments.values()) v /= static_cast<double>(n);

  const std::size_t count = std::min(dim, dim > kMostColumnsInProducts ? kManyComponents : kFewComponents);
  RandomStream stream(Seed{0}, Purpose::starting_points);
  Matrix<double> directions(count, dim);
  for (double& v : directions.values()) v = stream.normal();
  Matrix<double> images(count, dim);
  make_orthonormal(directions);
  for (std::size_t k = 0; k < kIterations; ++k) {
    simd::multiply(directions, simd::Op::none, moments, simd::Op::none, images);
    directions.swap(images);
    make_orthonormal(directions);
  }
  simd::multiply(directions, simd::Op::none, moments, simd::Op::none, images);
  components_ = Matrix<double>(dim, count);
  for (std::size_t j = 0; j < count; ++j) {
    const double variance = simd::dot(directions.row(j), images.row(j));
    const double factor = variance > kFlatDirection ? 1.0 / std::sqrt(variance) : 0.0;
    for (std::size_t c = 0; c < dim; ++c) components_(c, j) = factor * directions(j, c);
  }
}

void FeatureDictionary::add_bumps(Seed seed) {
  const std::size_t n = scores_.rows();
  RandomStream stream(seed, Purpose::landmarks);
  std::vector<std::size_t> rows = sample_without_replacement(n, std::min(kMostLandmarks, (n + 1) / 2), stream);
  std::ranges::sort(rows);
  Matrix<double> landmarks(rows.size(), scores_.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::ranges::copy(std::as_const(scores_).row(rows[i]), landmarks.row(i).begin());
  }
  for (const double share : kVarianceShares) {
    KernelSpec spec;
    spec.bandwidth = std::sqrt(share * static_cast<double>(scores_.cols()));
    bumps_.emplace_back(Kernel(spec), landmarks);
  }
}

void FeatureDictionary::add_terms() {
  const auto dim = static_cast<std::uint32_t>(scores_.cols());
  const auto num_components = static_cast<std::uint32_t>(components_.cols());
  const std::uint32_t component = first_component();
  const auto add_products = [&](std::uint32_t first, std::uint32_t count, std::uint32_t third) {
    for (std::uint32_t i = 0; i < count; ++i) {
      for (std::uint32_t j = i; j < count; ++j) terms_.push_back({first + i, first + j, third});
    }
  };
  for (std::uint32_t j = 0; j < dim; ++j) terms_.push_back({1 + j, 0, 0});
  for (std::uint32_t j = 0; j < num_components; ++j) terms_.push_back({component + j, 0, 0});
  add_products(component, num_components, 0);
  if (dim <= kMostColumnsInProducts) {
    add_products(1, dim, 0);
    add_products(1, dim, component);
  } else {
    add_products(component, num_components, component);
  }
  std::uint32_t bump = first_bump();
  for (const KernelBlock& block : bumps_) {
    for (std::size_t k = 0; k < block.num_points(); ++k) terms_.push_back({bump++, 0, 0});
  }
}

void FeatureDictionary::evaluate(std::size_t first, std::span<const std::uint32_t> features,
                                 MatrixView<double> values) const {
  const std::size_t count = values.rows();
  const std::size_t dim = scores_.cols();
  const auto rows = scores_.view().row_range(first, count);
  const bool has_bumps = std::ranges::any_of(features, [&](std::uint32_t k) { return terms_[k].a >= first_bump(); });
  const std::size_t num_bumps = has_bumps ? bumps_.size() * bumps_.front().num_points() : 0;
  Matrix<double> atoms(count, first_bump() + num_bumps);
  for (std::size_t i = 0; i < count; ++i) {
    atoms(i, 0) = 1.0;
    std::ranges::copy(rows.row(i), atoms.row(i).begin() + 1);
  }
  simd::multiply(rows, simd::Op::none, components_, simd::Op::none,
                 atoms.view().column_range(1 + dim, components_.cols()));
  std::size_t column = first_bump();
  for (std::size_t b = 0; has_bumps && b < bumps_.size(); ++b) {
    bumps_[b].evaluate(rows, atoms.view().column_range(column, bumps_[b].num_points()));
    column += bumps_[b].num_points();
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto atom = std::as_const(atoms).row(i);
    const auto own = values.row(i);
    for (std::size_t k = 0; k < features.size(); ++k) {
      const Term& term = terms_[features[k]];
      own[k] = atom[term.a] * atom[term.b] * atom[term.c];
    }
  }
}

}  // namespace kqd
