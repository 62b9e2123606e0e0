#include "testing/weight_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/fail.hpp"
#include "core/summation.hpp"
#include "core/warning.hpp"
#include "kqd/testing/permutations.hpp"

namespace kqd {
namespace {

constexpr std::string_view kChoices =
    "state what the weights are: " KQD_OPTION("weights_as=frequency")
    " (a row and its weight are exchanged together; valid when both samples were weighted in the same way), "
    KQD_OPTION("weights_as=precision") " (weights that do not depend on the values) or "
    KQD_OPTION("weights_as=sampling") " (survey or importance weights)";

constexpr std::array<std::string_view, 3> kWhat = {"distributions", "means", "effective sizes"};
using Differences = std::array<double, kWhat.size()>;

// The weights of the pool, sorted once for all permutations.
class PooledWeights {
 public:
  explicit PooledWeights(std::vector<double> weights) : weights_(std::move(weights)), ascending_(weights_.size()) {
    std::iota(ascending_.begin(), ascending_.end(), std::size_t{0});
    std::ranges::sort(ascending_, {}, [&](std::size_t i) { return weights_[i]; });
  }

  [[nodiscard]] Differences differences(const LabelBatch& labels, unsigned b) const {
    const auto n = static_cast<double>(weights_.size());
    const auto nx = static_cast<double>(labels.num_x[b]);
    const double ny = n - nx;
    std::array<double, 2> sums{};
    std::array<double, 2> squares{};
    std::array<double, 2> counts{};
    double largest = 0.0;
    for (std::size_t k = 0; k < ascending_.size(); ++k) {
      const double w = weights_[ascending_[k]];
      const std::size_t side = labels.is_x(ascending_[k], b) ? 0 : 1;
      sums[side] += w;
      squares[side] += w * w;
      counts[side] += 1.0;
      const bool last_of_value = k + 1 == ascending_.size() || weights_[ascending_[k + 1]] != w;
      if (last_of_value) largest = std::max(largest, std::abs(counts[0] / nx - counts[1] / ny));
    }
    const auto effective = [&](std::size_t side) { return sums[side] * sums[side] / (squares[side] * counts[side]); };
    return {largest, std::abs(std::log(sums[0] / nx * ny / sums[1])), std::abs(std::log(effective(0) / effective(1)))};
  }

 private:
  std::vector<double> weights_;
  std::vector<std::size_t> ascending_;
};

std::vector<double> pooled_weights(const SampleView& x, const SampleView& y) {
  std::vector<double> weights;
  for (const SampleView* sample : {&x, &y}) {
    if (sample->weighted()) {
      weights.insert(weights.end(), sample->weights.begin(), sample->weights.end());
    } else {
      weights.insert(weights.end(), sample->size(), 1.0);
    }
  }
  return scaled_near_one(weights);
}

}  // namespace

bool weights_vary(const SampleView& sample) {
  return std::ranges::adjacent_find(sample.weights, std::not_equal_to{}) != sample.weights.end();
}

void check_weights(const SampleView& x, const SampleView& y, const Design& design, std::span<const std::size_t> order,
                   Seed seed, Warnings& warnings) {
  constexpr unsigned kFirst = 199;  // enough to show that nothing is extreme
  constexpr unsigned kMost = 999;
  constexpr double kNearTheLine = 0.05;
  const bool x_varies = weights_vary(x);
  if (x_varies != weights_vary(y)) {
    const SampleView& constant = x_varies ? y : x;
    fail(ErrorCode::invalid_weights, "{} has weights and {} has {}; {}", x_varies ? "X" : "Y", x_varies ? "Y" : "X",
         constant.weighted() ? "the same weight for all rows" : "none", kChoices);
  }
  const std::vector<double> by_row = pooled_weights(x, y);
  std::vector<double> in_order(order.size());
  std::ranges::transform(order, in_order.begin(), [&](std::size_t row) { return by_row[row]; });
  const PermutationSource source(design, {x.size(), y.size()}, {order.begin(), order.end()}, seed);
  const PooledWeights weights(std::move(in_order));
  Differences observed{};
  std::array<unsigned, kWhat.size()> as_extreme{};
  unsigned num_drawn = 0;
  LabelBatch batch;
  const auto fewest = [&] {
    return static_cast<std::size_t>(std::ranges::min_element(as_extreme) - as_extreme.begin());
  };
  for (std::uint64_t number = 0; num_drawn < kMost; ++number) {
    if (num_drawn >= kFirst && as_extreme[fewest()] >= 10) break;
    source.fill(PermutationMode::random, number, LabelBatch::kCapacity, batch);
    for (unsigned b = 0; b < LabelBatch::kCapacity && num_drawn < kMost; ++b) {
      const Differences values = weights.differences(batch, b);
      if (number == 0 && b == 0) {
        observed = values;
        continue;
      }
      ++num_drawn;
      for (std::size_t k = 0; k < values.size(); ++k) {
        if (values[k] >= observed[k] * (1.0 - 1e-12)) ++as_extreme[k];
      }
    }
  }
  const std::size_t k = fewest();
  if (as_extreme[k] == 0) {
    fail(ErrorCode::invalid_weights,
         "the {} of the weights of X and Y differ (none of {} permutations is as extreme); {}", kWhat[k], num_drawn,
         kChoices);
  }
  const double pvalue =
      std::min(1.0, static_cast<double>(kWhat.size()) * (1.0 + as_extreme[k]) / (1.0 + static_cast<double>(num_drawn)));
  if (pvalue > kNearTheLine) return;
  warn(warnings, WarningId::weights_may_differ, kWhat[k], pvalue);
}

}  // namespace kqd
