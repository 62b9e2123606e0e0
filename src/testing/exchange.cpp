#include "testing/exchange.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

#include "core/fail.hpp"
#include "core/warning.hpp"

namespace kqd {
namespace {

void refuse_bad_row_order(SampleSizes sizes, std::span<const std::size_t> row_order) {
  std::vector<bool> seen(sizes.total());
  for (const std::size_t row : row_order) {
    if (row >= sizes.total()) {
      fail(ErrorCode::shape_mismatch, "row order: row {} of a pool of {} rows", row, sizes.total());
    }
    if (seen[row]) fail(ErrorCode::shape_mismatch, "row order: row {} appears twice", row);
    seen[row] = true;
  }
}

// Positions sorted by the group of their row, and where each group begins; one more begin marks the end.
struct Groups {
  std::vector<std::size_t> positions;
  std::vector<std::size_t> begins;

  [[nodiscard]] std::size_t size() const { return begins.size() - 1; }
  [[nodiscard]] std::span<const std::size_t> operator[](std::size_t g) const {
    return std::span(positions).subspan(begins[g], begins[g + 1] - begins[g]);
  }
};

template <class GroupOfPosition>
Groups group_positions(std::size_t num_positions, const GroupOfPosition& group_of) {
  using Group = std::invoke_result_t<GroupOfPosition, std::size_t>;
  std::vector<std::pair<Group, std::size_t>> keyed(num_positions);
  for (std::size_t i = 0; i < num_positions; ++i) keyed[i] = {group_of(i), i};
  std::ranges::sort(keyed);
  Groups groups;
  groups.positions.resize(num_positions);
  for (std::size_t i = 0; i < num_positions; ++i) {
    groups.positions[i] = keyed[i].second;
    if (i == 0 || keyed[i].first != keyed[i - 1].first) groups.begins.push_back(i);
  }
  groups.begins.push_back(num_positions);
  return groups;
}

std::size_t count_x(std::span<const std::uint8_t> is_x) {
  return static_cast<std::size_t>(std::ranges::count(is_x, std::uint8_t{1}));
}

Exchange exchange_all(std::vector<std::uint8_t> is_x) {
  Exchange exchange;
  exchange.strata = {{0, is_x.size(), count_x(is_x)}};
  exchange.observed_is_x = std::move(is_x);
  return exchange;
}

Exchange exchange_within(const Groups& groups, std::span<const std::uint8_t> is_x) {
  Exchange exchange;
  exchange.unit_of_position.resize(is_x.size());
  for (std::size_t unit = 0; unit < is_x.size(); ++unit) {
    const std::size_t position = groups.positions[unit];
    exchange.unit_of_position[position] = unit;
    exchange.observed_is_x.push_back(is_x[position]);
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::size_t first = groups.begins[g];
    const std::size_t size = groups[g].size();
    exchange.strata.push_back({first, size, count_x(std::span(exchange.observed_is_x).subspan(first, size))});
  }
  return exchange;
}

Exchange exchange_pairs(SampleSizes sizes, std::span<const std::size_t> row_order, std::span<const std::uint8_t> is_x) {
  const auto pair_of = [&](std::size_t position) {
    const std::size_t row = row_order[position];
    return row < sizes.x ? row : row - sizes.x;
  };
  const Groups pairs = group_positions(is_x.size(), pair_of);
  for (std::size_t g = 0; g < pairs.size(); ++g) {
    if (pairs[g].size() != 2) {
      fail(ErrorCode::shape_mismatch,
           "paired design: one row of pair {} was held out and its partner was not; pairs stay whole",
           pair_of(pairs[g].front()) + 1);
    }
  }
  return exchange_within(pairs, is_x);
}

Exchange exchange_within_blocks(const Design& design, std::span<const std::size_t> row_order,
                                std::span<const std::uint8_t> is_x) {
  const auto block_of = [&](std::size_t position) { return design.group_ids[row_order[position]]; };
  const Groups blocks = group_positions(is_x.size(), block_of);
  Exchange exchange = exchange_within(blocks, is_x);
  std::size_t num_idle = 0;
  std::size_t num_idle_rows = 0;
  for (const Stratum& stratum : exchange.strata) {
    if (stratum.num_x != 0 && stratum.num_x != stratum.size) continue;
    ++num_idle;
    num_idle_rows += stratum.size;
  }
  if (num_idle == blocks.size()) {
    fail(ErrorCode::invalid_option,
         "blocks design: each of the {} blocks holds rows of one sample only, so no labels can be exchanged; needs a "
         "block with rows of both",
         num_idle);
  }
  if (num_idle > 0) {
    warn(exchange.warnings, WarningId::one_sided_blocks, num_idle, blocks.size(), num_idle_rows);
  }
  return exchange;
}

std::string name_of_group(const Design& design, std::int64_t id) {
  return design.group_names.empty() ? std::to_string(id) : design.group_names[static_cast<std::size_t>(id)];
}

// Clusters of the same size form a stratum: a cluster that changes its label changes it with one of its own size, so
// that the test is exact given the sizes, however these differ between the samples.
Exchange exchange_clusters(const Design& design, std::span<const std::size_t> row_order,
                           std::span<const std::uint8_t> is_x) {
  const auto cluster_of = [&](std::size_t position) { return design.group_ids[row_order[position]]; };
  const Groups clusters = group_positions(is_x.size(), cluster_of);
  if (clusters.size() == 2) {
    fail(ErrorCode::invalid_option,
         "clusters design: X and Y have one cluster each, so labels can only be swapped as a whole; needs at least 2 "
         "clusters in one of them");
  }
  std::vector<std::size_t> by_size(clusters.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::ranges::stable_sort(by_size, {}, [&](std::size_t g) { return clusters[g].size(); });
  Exchange exchange;
  exchange.units_are_rows = false;
  exchange.unit_of_position.resize(is_x.size());
  std::size_t num_idle = 0;
  for (std::size_t unit = 0; unit < by_size.size(); ++unit) {
    const auto cluster = clusters[by_size[unit]];
    const std::uint8_t label = is_x[cluster.front()];
    for (const std::size_t position : cluster) {
      exchange.unit_of_position[position] = unit;
      if (is_x[position] != label) {
        fail(ErrorCode::invalid_option,
             "clusters design: cluster {} has rows in X and in Y, needs one label per cluster (blocks may hold both)",
             name_of_group(design, cluster_of(position)));
      }
    }
    exchange.observed_is_x.push_back(label);
    const bool new_size = unit == 0 || cluster.size() != clusters[by_size[unit - 1]].size();
    if (new_size) exchange.strata.push_back({unit, 0, 0});
    ++exchange.strata.back().size;
    exchange.strata.back().num_x += label;
  }
  for (const Stratum& stratum : exchange.strata) {
    if (stratum.num_x == 0 || stratum.num_x == stratum.size) num_idle += stratum.size;
  }
  if (num_idle == clusters.size()) {
    fail(ErrorCode::invalid_option,
         "clusters design: no number of rows is that of a cluster of X and of one of Y, so no labels can be exchanged; "
         "needs clusters of equal size in both samples");
  }
  if (num_idle > 0) {
    warn(exchange.warnings, WarningId::unmatched_clusters, num_idle, clusters.size());
  }
  return exchange;
}

}  // namespace

Exchange make_exchange(const Design& design, SampleSizes sizes, std::span<const std::size_t> row_order) {
  validate(design, sizes);
  refuse_bad_row_order(sizes, row_order);
  std::vector<std::uint8_t> is_x(row_order.size());
  std::ranges::transform(row_order, is_x.begin(), [&](std::size_t row) { return row < sizes.x ? 1 : 0; });
  const std::size_t num_x = count_x(is_x);
  if (num_x == 0 || num_x == is_x.size()) {
    fail(ErrorCode::empty_sample, "{}: no rows left to compare, expected at least one", num_x == 0 ? "X" : "Y");
  }
  switch (design.kind) {
    case DesignKind::independent:
      return exchange_all(std::move(is_x));
    case DesignKind::paired:
      return exchange_pairs(sizes, row_order, is_x);
    case DesignKind::blocks:
      return exchange_within_blocks(design, row_order, is_x);
    case DesignKind::clusters:
      return exchange_clusters(design, row_order, is_x);
  }
  fail(ErrorCode::invalid_option, "design kind {}, needs one of the four designs", static_cast<int>(design.kind));
}

}  // namespace kqd
