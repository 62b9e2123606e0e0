#include "profile/grouped_rows.hpp"

#include <algorithm>

#include "core/executor.hpp"
#include "core/random.hpp"
#include "core/summation.hpp"

namespace kqd {
namespace {

constexpr std::size_t kPilotRows = 50'000;
constexpr std::size_t kPilotCells = std::size_t{1} << 24U;  // 128 MB
constexpr std::size_t kFewestPilotRows = 5'000;

struct GroupKeys {
  GroupAssignment assignment = GroupAssignment::random;
  std::span<const std::uint64_t> keys;
};
thread_local GroupKeys current_keys;

Matrix<double> draw_pilot(const Pool& samples, std::span<const std::size_t> rows, Seed seed) {
  const std::size_t most =
      std::clamp(kPilotCells / std::max<std::size_t>(1, samples.dim()), kFewestPilotRows, kPilotRows);
  return subsample({samples.x, samples.y, rows}, most, seed, Purpose::pilot_rows);
}

}  // namespace

GroupKeysScope::GroupKeysScope(GroupAssignment assignment, std::span<const std::uint64_t> keys) {
  current_keys = {assignment, keys};
}

GroupKeysScope::~GroupKeysScope() {
  current_keys = {};
}

GroupedRows::GroupedRows(const Pool& samples, std::span<const std::size_t> rows, Seed seed)
    : samples_{samples.x, samples.y, {}},
      groups_(make_row_groups(rows, samples.x.rows(), seed, current_keys.assignment, current_keys.keys)),
      pilot_(draw_pilot(samples, rows, seed)) {}

std::size_t GroupedRows::rows_per_unit() const {
  std::size_t most = 0;
  for (std::size_t unit = 0; unit < num_units(); ++unit) most = std::max(most, groups_.rows_of(unit).size());
  return most;
}

void GroupedRows::visit(ThreadCount threads,
                        FunctionRef<void(std::size_t unit, MatrixView<const double> rows)> body) const {
  parallel_for_blocks(num_units(), 1, threads, [&](std::size_t unit, std::size_t) {
    const auto rows = groups_.rows_of(unit);
    Matrix<double> block(std::min(kFeatureRows, rows.size()), samples_.dim());
    for (std::size_t first = 0; first < rows.size(); first += kFeatureRows) {
      stop_point();
      const std::size_t count = std::min(kFeatureRows, rows.size() - first);
      const auto some = block.view().row_range(0, count);
      for (std::size_t i = 0; i < count; ++i) std::ranges::copy(samples_.row(rows[first + i]), some.row(i).begin());
      body(unit, some);
    }
  });
}

Matrix<double> GroupedRows::unit_sums(const FeatureMap& map, ThreadCount threads) const {
  Matrix<double> sums(num_units(), map.count, 0.0);
  if (map.count == 0) return sums;
  visit(threads, [&](std::size_t unit, MatrixView<const double> rows) {
    Matrix<double> features(rows.rows(), map.count);
    map.evaluate(rows, features);
    add_rows(features, sums.row(unit));
  });
  return sums;
}

std::vector<double> GroupedRows::pilot_means(const FeatureMap& map, ThreadCount threads) const {
  const std::size_t n = pilot_.rows();
  const std::size_t num_blocks = (n + kFeatureRows - 1) / kFeatureRows;
  Matrix<double> sums(num_blocks, map.count, 0.0);
  parallel_for_blocks(n, kFeatureRows, threads, [&](std::size_t begin, std::size_t end) {
    Matrix<double> features(end - begin, map.count);
    map.evaluate(pilot_.view().row_range(begin, end - begin), features);
    add_rows(features, sums.row(begin / kFeatureRows));
  });
  std::vector<double> means(map.count);
  for (std::size_t k = 0; k < map.count; ++k) {
    CompensatedSum total;
    for (std::size_t b = 0; b < num_blocks; ++b) total.add(sums(b, k));
    means[k] = total.value() / static_cast<double>(n);
  }
  return means;
}

void add_rows(MatrixView<const double> rows, std::span<double> sums) {
  std::vector<double> block(sums.size(), 0.0);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto row = rows.row(i);
    for (std::size_t k = 0; k < block.size(); ++k) block[k] += row[k];
  }
  for (std::size_t k = 0; k < block.size(); ++k) sums[k] += block[k];
}

}  // namespace kqd
