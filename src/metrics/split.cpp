#include "metrics/split.hpp"

#include <algorithm>
#include <iterator>

#include "core/fail.hpp"
#include "core/random.hpp"

namespace kqd {
namespace {

std::size_t part_of(std::size_t count, double share) {
  return static_cast<std::size_t>(share * static_cast<double>(count));
}

// The units of as many of the drawn rows, taken in order, as hold no more than `most` rows: the clusters of all rows of
// a half would be nearly all clusters. One unit at least.
std::vector<std::size_t> units_of(std::span<const std::size_t> drawn, std::size_t most, const PlanRequest& request) {
  const auto of_first = [&](std::size_t count) {
    std::vector<std::size_t> rows(drawn.begin(), drawn.begin() + static_cast<std::ptrdiff_t>(count));
    std::ranges::sort(rows);
    return request.whole_units ? request.whole_units(rows) : rows;
  };
  std::size_t fitting = std::min<std::size_t>(1, drawn.size());
  std::size_t too_many = drawn.size() + 1;
  while (too_many - fitting > 1) {
    const std::size_t middle = fitting + (too_many - fitting) / 2;
    (of_first(middle).size() <= most ? fitting : too_many) = middle;
  }
  return of_first(fitting);
}

// Drawn by the position of rows, not by their values: then the order of the pool is unrelated to the draw.
std::vector<std::size_t> draw_training_rows(const TestPool& pool, double share, const PlanRequest& request, Seed seed) {
  const std::size_t nx = pool.x.size();
  const std::size_t ny = pool.y.size();
  RandomStream stream(seed, Purpose::training_split);
  if (request.bound_rows || request.swaps_only) {
    const std::size_t among = request.swaps_only ? nx : nx + ny;  // pairs are named by their row of X
    const auto drawn = sample_without_replacement(among, part_of(among, share), stream);
    return units_of(drawn, part_of(nx + ny, share), request);
  }
  std::vector<std::size_t> rows = sample_without_replacement(nx, part_of(nx, share), stream);
  for (const std::size_t row : sample_without_replacement(ny, part_of(ny, share), stream)) rows.push_back(nx + row);
  std::ranges::sort(rows);
  return rows;
}

Sample gather(const SampleView& sample, std::span<const std::size_t> rows, std::size_t offset) {
  Sample part{Matrix<double>(rows.size(), sample.dim()), std::vector<double>(sample.weighted() ? rows.size() : 0), {}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::ranges::copy(sample.points.row(rows[i] - offset), part.points.row(i).begin());
    if (sample.weighted()) part.weights[i] = sample.weights[rows[i] - offset];
  }
  return part;
}

void require_two_rows(std::size_t left, std::size_t total, std::string_view side, std::string_view name) {
  if (left >= 2) return;
  fail(ErrorCode::empty_sample, "the {} part of {} has {} of its {} rows, needs at least 2; use larger samples", side,
       name, left, total);
}

}  // namespace

Split split_for_training(const TestPool& pool, double share, const PlanRequest& request, Seed seed) {
  const std::size_t nx = pool.x.size();
  Split split;
  split.train_rows = draw_training_rows(pool, share, request, seed);
  const auto first_y = std::ranges::lower_bound(split.train_rows, nx);
  const std::span<const std::size_t> of_x(split.train_rows.begin(), first_y);
  const std::span<const std::size_t> of_y(first_y, split.train_rows.end());
  require_two_rows(of_x.size(), nx, "training", "X");
  require_two_rows(of_y.size(), pool.y.size(), "training", "Y");
  require_two_rows(nx - of_x.size(), nx, "testing", "X");
  require_two_rows(pool.y.size() - of_y.size(), pool.y.size(), "testing", "Y");
  split.train_x = gather(pool.x, of_x, 0);
  split.train_y = gather(pool.y, of_y, nx);
  std::ranges::copy_if(pool.order, std::back_inserter(split.test_rows),
                       [&](std::size_t row) { return !std::ranges::binary_search(split.train_rows, row); });
  return split;
}

}  // namespace kqd
