#include <algorithm>
#include <array>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/random.hpp"
#include "kqd/two_sample/margin.hpp"
#include "simd/matrix_product.hpp"
#include "two_sample/size_parts.hpp"

namespace kqd {
namespace {

constexpr std::size_t kPilotRows = 65'536;
constexpr std::size_t kRowsAtATime = 512;

// Location, shape and relations.
std::vector<UnitSums> empty_sums(std::size_t num_units, std::size_t dim) {
  std::vector<UnitSums> sums;
  sums.push_back({"location", Matrix<double>(num_units, dim, 0.0)});
  sums.push_back({"shape", Matrix<double>(num_units, dim * (ColumnScores::kOrders - 1), 0.0)});
  if (dim >= 2 && dim <= kMostRelatedColumns) {
    sums.push_back({"relations", Matrix<double>(num_units, dim * (dim - 1) / 2, 0.0)});
  }
  return sums;
}

// Adds up the functions of the rows of one group.
void add_unit(const TestPool& pool, const RowGroups& groups, std::size_t unit, std::span<const ColumnScores> scores,
              std::vector<UnitSums>& sums, SizeUnits& units) {
  const auto rows = groups.rows_of(unit);
  const std::size_t dim = scores.size();
  const Pool points{pool.x.points, pool.y.points, rows};
  const bool related = sums.size() > 2;
  Matrix<double> location(std::min(rows.size(), kRowsAtATime), dim);
  Matrix<double> weighted(pool.weighted() ? location.rows() : 0, dim);
  Matrix<double> products(related ? dim : 0, dim, 0.0);
  units.is_x[unit] = rows.front() < pool.x.size() ? 1 : 0;
  double total = 0.0;
  for (std::size_t first = 0; first < rows.size(); first += kRowsAtATime) {
    const std::size_t count = std::min(kRowsAtATime, rows.size() - first);
    for (std::size_t i = 0; i < count; ++i) {
      const auto row = points.row(first + i);
      const double weight = pool.weighted() ? pool.weight_of_row(rows[first + i]) : 1.0;
      total += weight;
      for (std::size_t j = 0; j < dim; ++j) {
        const ColumnScores::Scores value = scores[j](row[j]);
        location(i, j) = value[0];
        sums[0].sums(unit, j) += weight * value[0];
        for (std::size_t order = 1; order < ColumnScores::kOrders; ++order) {
          sums[1].sums(unit, j * (ColumnScores::kOrders - 1) + order - 1) += weight * value[order];
        }
        if (pool.weighted()) weighted(i, j) = weight * value[0];
      }
    }
    if (related) {
      const MatrixView<const double> left = std::as_const(location).view().row_range(0, count);
      simd::multiply(left, simd::Op::transpose,
                     pool.weighted() ? std::as_const(weighted).view().row_range(0, count) : left, simd::Op::none,
                     products.view(), simd::Into::add);
    }
  }
  units.weights[unit] = total;
  if (!related) return;
  std::size_t pair = 0;
  for (std::size_t j = 0; j < dim; ++j) {
    for (std::size_t k = j + 1; k < dim; ++k) sums[2].sums(unit, pair++) = products(j, k);
  }
}

}  // namespace

std::vector<ColumnScores> scores_of_columns(const TestPool& pool, Seed seed, ThreadCount threads) {
  std::array<std::vector<std::size_t>, 2> rows;
  for (const std::size_t row : pool.order) rows[row < pool.x.size() ? 0 : 1].push_back(row);
  for (std::size_t side = 0; side < 2; ++side) {
    if (rows[side].size() <= kPilotRows) continue;
    // At random, because equal rows are next to each other in the order of the pool.
    RandomStream stream(seed, Purpose::row_subsample, side);
    std::vector<std::size_t> drawn;
    for (const std::size_t place : sample_without_replacement(rows[side].size(), kPilotRows, stream)) {
      drawn.push_back(rows[side][place]);
    }
    rows[side] = std::move(drawn);
  }
  const std::size_t dim = pool.x.dim();
  std::vector<std::optional<ColumnScores>> found(dim);
  parallel_for_blocks(dim, 1, threads, [&](std::size_t column, std::size_t) {
    std::array<std::vector<double>, 2> values;
    std::array<std::vector<double>, 2> weights;
    for (std::size_t side = 0; side < 2; ++side) {
      const Pool points{pool.x.points, pool.y.points, rows[side]};
      for (std::size_t i = 0; i < rows[side].size(); ++i) {
        values[side].push_back(points.row(i)[column]);
        if (pool.weighted()) weights[side].push_back(pool.weight_of_row(rows[side][i]));
      }
    }
    found[column].emplace(values[0], weights[0], values[1], weights[1]);
  });
  std::vector<ColumnScores> scores;
  for (auto& column : found) scores.push_back(*std::move(column));
  return scores;
}

DifferenceSize size_of_groups(const TestPool& pool, const RowGroups& groups, const DifferenceSizeOptions& options,
                              const RunControl* control) {
  const ProgressScope progress(control, "measuring");
  const std::vector<ColumnScores> scores = scores_of_columns(pool, options.seed, options.threads);
  const std::size_t num_units = groups.num_units();
  SizeUnits units{std::vector<double>(num_units), std::vector<char>(num_units)};
  std::vector<UnitSums> sums = empty_sums(num_units, scores.size());
  parallel_for_blocks(num_units, 1, options.threads,
                      [&](std::size_t unit, std::size_t) { add_unit(pool, groups, unit, scores, sums, units); });
  DifferenceSize size;
  size.confidence = options.confidence;
  size.has_relations = sums.size() > 2;
  for (std::size_t unit = 0; unit < num_units; ++unit) {
    const bool x = units.is_x[unit] != 0;
    (x ? size.num_groups_x : size.num_groups_y) += 1;
    (x ? size.num_x : size.num_y) += groups.rows_of(unit).size();
  }
  for (const UnitSums& aspect : sums) {
    EffectAspect& found = size.aspects.emplace_back();
    found.name = aspect.name;
    found.moments = moments_of(units, aspect.sums, options.threads);
  }
  summarise_aspects(size);
  if (options.separation) measure_separation(pool, groups, scores, units, sums, options.threads, size);
  return size;
}

DifferenceSize difference_size(const SampleView& x, const SampleView& y, const DifferenceSizeOptions& options,
                               const RunControl* control) {
  const StopScope stoppable(control);
  validate_pair(x, y, options.threads);
  if (x.size() < kFewestRowsOfSize || y.size() < kFewestRowsOfSize) {
    fail(ErrorCode::empty_sample, "the size of a difference needs at least {} rows per sample, got {} and {}",
         kFewestRowsOfSize, x.size(), y.size());
  }
  const TestPool pool = make_test_pool(x, y, options.threads);
  const RowGroups groups = make_row_groups(pool.order, x.size(), options.seed, options.assignment, options.group_keys);
  return size_of_groups(pool, groups, options, control);
}

}  // namespace kqd
