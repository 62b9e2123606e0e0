#include "directions/reference.hpp"

#include <algorithm>
#include <cmath>

#include "core/fail.hpp"
#include "core/random.hpp"
#include "core/scale.hpp"

namespace kqd {
namespace {

constexpr std::size_t kMaxScaleRows = 32768;

bool is_one_point(const Pool& pool) {
  std::size_t i = 1;
  while (i < pool.size() && std::ranges::equal(pool.row(i), pool.row(0))) ++i;
  return i >= pool.size();
}

Matrix<double> scaled_draws(const ColumnScale& scale, const DirectionOptions& options, std::size_t m, Seed seed) {
  const bool gaussian = options.reference == ReferenceMeasure::gaussian;
  Matrix<double> points(m, scale.median.size());
  for (std::size_t j = 0; j < m; ++j) {
    RandomStream stream(seed, Purpose::reference_points, j);
    for (std::size_t k = 0; k < points.cols(); ++k) {
      const double center = options.zero_centred ? 0.0 : scale.median[k];
      const double draw = gaussian ? stream.normal() / kNormalIqr : 2.0 * stream.uniform() - 1.0;
      points(j, k) = center + scale.iqr[k] * draw;
      if (!std::isfinite(points(j, k))) {
        fail(ErrorCode::non_finite_value,
             "column {} spreads too far for reference points next to it; rescale the columns", k + 1);
      }
    }
  }
  return points;
}

}  // namespace

ColumnScale column_scale(const Pool& pool, Seed seed) {
  const Matrix<double> rows = subsample(pool, kMaxScaleRows, seed, Purpose::scale_subsample);
  ColumnScale scale{std::vector<double>(pool.dim()), std::vector<double>(pool.dim())};
  std::vector<double> column(rows.rows());
  for (std::size_t k = 0; k < pool.dim(); ++k) {
    for (std::size_t i = 0; i < rows.rows(); ++i) column[i] = rows(i, k);
    scale.median[k] = percentile(column, 0.5);
    scale.iqr[k] = robust_range(column, scale.median[k]);
  }
  return scale;
}

ReferencePoints draw_reference(const Pool& pool, const DirectionOptions& options, std::size_t m, Seed seed) {
  const bool own_points = options.reference == ReferenceMeasure::points;
  if (!own_points && is_one_point(pool)) {
    // One point has no scale, and any direction sees it as one value: a unit scale spans directions for every kernel.
    const auto point = pool.row(0);
    return {scaled_draws({{point.begin(), point.end()}, std::vector<double>(pool.dim(), 1.0)}, options, m, seed), {}};
  }
  switch (options.reference) {
    case ReferenceMeasure::gaussian:
    case ReferenceMeasure::uniform:
      return {scaled_draws(column_scale(pool, seed), options, m, seed), {}};
    case ReferenceMeasure::points:
      return {options.reference_points, {}};
    case ReferenceMeasure::pooled: {
      RandomStream stream(seed, Purpose::reference_points);
      auto rows = sample_without_replacement(pool.size(), m, stream);
      return {gather(pool, rows), std::move(rows)};
    }
    case ReferenceMeasure::balanced: {
      const std::size_t nx = pool.x.rows();
      const std::size_t from_x = std::min(nx, std::max(m / 2, m - std::min(m, pool.y.rows())));
      RandomStream x_stream(seed, Purpose::reference_points, 0);
      RandomStream y_stream(seed, Purpose::reference_points, 1);
      auto rows = sample_without_replacement(nx, from_x, x_stream);
      for (const std::size_t row : sample_without_replacement(pool.y.rows(), m - from_x, y_stream))
        rows.push_back(nx + row);
      return {gather(pool, rows), std::move(rows)};
    }
  }
  fail(ErrorCode::internal, "unknown reference measure");
}

}  // namespace kqd
