#include "metrics/direct_plan.hpp"

#include <utility>

#include "core/executor.hpp"

namespace kqd {

DirectPlan::DirectPlan(std::size_t num_rows, Statistic statistic, Slack slack)
    : num_rows_(num_rows), statistic_(std::move(statistic)), slack_(std::move(slack)) {}

void DirectPlan::evaluate(std::span<const LabelBatch> batches, std::span<double> values, ThreadCount threads) const {
  parallel_for_blocks(values.size(), 1, threads, [&](std::size_t k, std::size_t) {
    const LabelBatch& batch = batches[k / LabelBatch::kCapacity];
    const auto b = static_cast<unsigned>(k % LabelBatch::kCapacity);
    std::vector<std::size_t> x;
    std::vector<std::size_t> y;
    x.reserve(batch.num_x[b]);
    y.reserve(num_rows_ - batch.num_x[b]);
    for (std::size_t i = 0; i < num_rows_; ++i) (batch.is_x(i, b) ? x : y).push_back(i);
    values[k] = statistic_(x, y);
  });
}

}  // namespace kqd
