#include "testing/cluster_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>

#include "core/random.hpp"
#include "core/warning.hpp"
#include "testing/enumeration.hpp"

namespace kqd {
namespace {

struct Cluster {
  bool in_x = false;
  std::vector<std::size_t> rows;
};

using SizeRule = std::function<std::size_t(std::size_t)>;

// Clusters of each size after reduction.
std::vector<Stratum> strata_of(const std::map<std::int64_t, Cluster>& clusters, const SizeRule& reduced) {
  std::map<std::size_t, Stratum> by_size;
  for (const auto& [id, cluster] : clusters) {
    Stratum& stratum = by_size[reduced(cluster.rows.size())];
    ++stratum.size;
    if (cluster.in_x) ++stratum.num_x;
  }
  std::vector<Stratum> strata;
  for (const auto& [size, stratum] : by_size) strata.push_back(stratum);
  return strata;
}

// True if at least half of the clusters of each sample have a cluster of the same size in the other sample.
bool most_take_part(std::span<const Stratum> strata) {
  std::size_t num_x = 0;
  std::size_t num_y = 0;
  std::size_t matched_x = 0;
  std::size_t matched_y = 0;
  for (const Stratum& stratum : strata) {
    const std::size_t of_y = stratum.size - stratum.num_x;
    num_x += stratum.num_x;
    num_y += of_y;
    if (stratum.num_x == 0 || of_y == 0) continue;
    matched_x += stratum.num_x;
    matched_y += of_y;
  }
  return 2 * matched_x >= num_x && 2 * matched_y >= num_y;
}

}  // namespace

ClusterSizes common_cluster_sizes(const Design& design, SampleSizes sizes, Seed seed) {
  constexpr std::uint64_t kEnough = 1000;  // permutations
  std::map<std::int64_t, Cluster> clusters;
  for (std::size_t row = 0; row < sizes.total(); ++row) {
    Cluster& cluster = clusters[design.group_ids[row]];
    const bool in_x = row < sizes.x;
    if (!cluster.rows.empty() && cluster.in_x != in_x) return {};  // the exchange reports this error
    cluster.in_x = in_x;
    cluster.rows.push_back(row);
  }
  const auto by_size = [](const auto& a, const auto& b) { return a.second.rows.size() < b.second.rows.size(); };
  const auto [small, large] = std::ranges::minmax_element(clusters, by_size);
  const std::size_t smallest = small->second.rows.size();
  const std::size_t largest = large->second.rows.size();
  if (smallest == largest) return {};

  const SizeRule as_is = [](std::size_t size) { return size; };
  const SizeRule power_of_two = [](std::size_t size) { return std::bit_floor(size); };
  const SizeRule all_alike = [smallest](std::size_t) { return smallest; };
  const std::uint64_t enough = std::min(kEnough, count_permutations(strata_of(clusters, all_alike)));
  const auto is_enough = [&](const SizeRule& rule) {
    const std::vector<Stratum> strata = strata_of(clusters, rule);
    return most_take_part(strata) && count_permutations(strata) >= enough;
  };
  if (is_enough(as_is)) {
    return {{}, {make_warning(WarningId::clusters_of_equal_size, smallest, largest)}};
  }
  const bool powers = is_enough(power_of_two);
  const SizeRule& rule = powers ? power_of_two : all_alike;
  ClusterSizes result;
  std::uint64_t number = 0;
  std::size_t kept_x = 0;
  for (const auto& [id, cluster] : clusters) {
    RandomStream stream(seed, Purpose::row_subsample, ++number);
    const std::size_t count = rule(cluster.rows.size());
    for (const std::size_t k : sample_without_replacement(cluster.rows.size(), count, stream)) {
      result.rows.push_back(cluster.rows[k]);
    }
    if (cluster.in_x) kept_x += count;
  }
  std::ranges::sort(result.rows);
  warn(result.notes, powers ? WarningId::clusters_reduced_to_powers : WarningId::clusters_reduced_to_smallest, smallest,
       largest, kept_x, sizes.x, result.rows.size() - kept_x, sizes.y);
  return result;
}

}  // namespace kqd
