#include "metrics/transport/network_flow.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#define LEMON_ONLY_TEMPLATES
#include <lemon/network_simplex.h>
#include <lemon/static_graph.h>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/summation.hpp"

namespace kqd {
namespace {

// The type of a mass for LEMON. A solution may take minutes and LEMON has no callback, but it compares a mass with 0 by
// `>` once per pivot: that comparison checks for a request to stop.
class Mass {
 public:
  Mass() = default;
  constexpr Mass(std::int64_t count) : count_(count) {}  // NOLINT(google-explicit-constructor): a number to LEMON
  [[nodiscard]] std::int64_t count() const { return count_; }

  Mass& operator+=(Mass other) { return *this = *this + other; }
  Mass& operator-=(Mass other) { return *this = *this - other; }
  Mass operator-() const { return -count_; }
  friend Mass operator+(Mass a, Mass b) { return a.count_ + b.count_; }
  friend Mass operator-(Mass a, Mass b) { return a.count_ - b.count_; }
  friend Mass operator*(Mass a, Mass b) { return a.count_ * b.count_; }
  friend auto operator<=>(Mass a, Mass b) = default;
  friend bool operator>(Mass a, Mass b) {
    stop_point();
    return a.count_ > b.count_;
  }

 private:
  std::int64_t count_ = 0;
};

}  // namespace
}  // namespace kqd

template <>
struct std::numeric_limits<kqd::Mass> {
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool has_infinity = false;
  static constexpr kqd::Mass infinity() { return max(); }
  static constexpr kqd::Mass max() { return std::numeric_limits<std::int64_t>::max(); }
};

namespace kqd {
namespace {

using Graph = lemon::StaticDigraph;
using Simplex = lemon::NetworkSimplex<Graph, Mass, std::int64_t>;

constexpr int kMassBits = 58;
constexpr int kCostBits = 44;
// Potentials reach the number of nodes times the largest cost, on top of LEMON's 2^62 for artificial arcs.
constexpr int kPotentialBits = 61;

// Arcs of the complete bipartite graph, row by row: arc i ny + j leads from row i to column j.
Graph complete_graph(std::size_t nx, std::size_t ny) {
  std::vector<std::pair<int, int>> arcs;
  arcs.reserve(nx * ny);
  for (std::size_t i = 0; i < nx; ++i) {
    stop_point();
    for (std::size_t j = 0; j < ny; ++j) arcs.emplace_back(static_cast<int>(i), static_cast<int>(nx + j));
  }
  Graph graph;
  graph.build(static_cast<int>(nx + ny), arcs.begin(), arcs.end());
  return graph;
}

// A map in the sense of LEMON, which reads costs and supplies as functions of the arc or node.
template <class KeyType, class Function>
class ReadMap {
 public:
  using Key = KeyType;
  using Value = std::int64_t;
  explicit ReadMap(Function function) : function_(std::move(function)) {}
  Value operator[](const Key& key) const { return function_(key); }

 private:
  Function function_;
};

template <class Key, class Function>
ReadMap<Key, Function> read_map(Function function) {
  return ReadMap<Key, Function>(std::move(function));
}

std::vector<std::int64_t> rounded(std::span<const double> masses) {
  std::vector<std::int64_t> whole(masses.size());
  std::int64_t left = std::int64_t{1} << kMassBits;
  for (std::size_t i = 0; i < masses.size(); ++i) {
    whole[i] = static_cast<std::int64_t>(std::ldexp(masses[i], kMassBits));
    left -= whole[i];
  }
  // The remainder after rounding may be negative; it is a tiny part of the largest mass, to which it is added.
  *std::ranges::max_element(whole) += left;
  return whole;
}

}  // namespace

WholeMasses uniform_masses(std::size_t nx, std::size_t ny) {
  const std::size_t divisor = std::gcd(nx, ny);
  return {std::vector<std::int64_t>(nx, static_cast<std::int64_t>(ny / divisor)),
          std::vector<std::int64_t>(ny, static_cast<std::int64_t>(nx / divisor)),
          static_cast<std::int64_t>(nx / divisor * ny)};
}

WholeMasses rounded_masses(std::span<const double> a, std::span<const double> b) {
  return {rounded(a), rounded(b), std::int64_t{1} << kMassBits};
}

TransportPlan solve_transport(MatrixView<const double> costs, const WholeMasses& masses) {
  const std::size_t nx = costs.rows();
  const std::size_t ny = costs.cols();
  if (masses.supply.size() != nx || masses.demand.size() != ny) {
    fail(ErrorCode::shape_mismatch, "{} supplies and {} demands for {} x {} costs", masses.supply.size(),
         masses.demand.size(), nx, ny);
  }
  if (nx > static_cast<std::size_t>(std::numeric_limits<int>::max()) / 2 / ny) {
    fail(ErrorCode::resource_limit, "{} x {} pairs are more than the network simplex can number", nx, ny);
  }
  double largest = 0.0;
  for (std::size_t i = 0; i < nx; ++i) largest = std::max(largest, *std::ranges::max_element(costs.row(i)));
  const int bits = std::min(kCostBits, kPotentialBits - static_cast<int>(std::bit_width(nx + ny)));
  const double to_whole = largest > 0.0 ? std::ldexp(1.0, bits) / largest : 0.0;

  std::vector<std::int64_t> whole_costs;
  whole_costs.reserve(nx * ny);
  for (std::size_t i = 0; i < nx; ++i) {
    for (const double cost : costs.row(i)) whole_costs.push_back(std::llround(cost * to_whole));
  }
  const Graph graph = complete_graph(nx, ny);
  stop_point();
  Simplex simplex(graph);
  simplex.costMap(read_map<Graph::Arc>([&](const Graph::Arc& arc) {
    const auto k = static_cast<std::size_t>(Graph::index(arc));
    if (k % ny == 0) stop_point();
    return whole_costs[k];
  }));
  simplex.supplyMap(read_map<Graph::Node>([&](const Graph::Node& node) {
    const auto k = static_cast<std::size_t>(Graph::index(node));
    return k < nx ? masses.supply[k] : -masses.demand[k - nx];
  }));
  if (simplex.run(Simplex::BLOCK_SEARCH) != Simplex::OPTIMAL) {
    fail(ErrorCode::internal, "the network simplex found no optimal transport between {} and {} points", nx, ny);
  }

  TransportPlan plan;
  CompensatedSum cost;
  for (std::size_t i = 0; i < nx; ++i) {
    for (std::size_t j = 0; j < ny; ++j) {
      const std::int64_t flow = simplex.flow(Graph::arc(static_cast<int>(i * ny + j))).count();
      if (flow == 0) continue;
      ++plan.num_arcs;
      cost.add(static_cast<double>(flow) / static_cast<double>(masses.total) * costs(i, j));
    }
  }
  plan.cost = cost.value();
  // The plan is optimal for the whole costs, which are off by half a unit at most: no plan is cheaper by more than
  // twice that.
  plan.duality_gap = to_whole > 0.0 ? 1.0 / to_whole : 0.0;
  return plan;
}

}  // namespace kqd
