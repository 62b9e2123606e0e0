#include "two_sample/test_samples.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/fail.hpp"
#include "core/random.hpp"
#include "core/warning.hpp"
#include "metrics/test_pool.hpp"
#include "testing/cluster_sizes.hpp"
#include "testing/weight_check.hpp"

namespace kqd {
namespace {

// Some rows of a sample take its place. `rows` are places in `sample`, ascending.
void keep_rows(std::span<const std::size_t> rows, bool with_weights, SampleView& sample, Sample& storage,
               std::vector<std::size_t>& given_rows) {
  Sample kept{Matrix<double>(rows.size(), sample.dim()), {}, {}};
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::ranges::copy(sample.points.row(rows[i]), kept.points.row(i).begin());
    if (with_weights && sample.weighted()) kept.weights.push_back(sample.weights[rows[i]]);
    places.push_back(given_rows.empty() ? rows[i] : given_rows[rows[i]]);
  }
  given_rows = std::move(places);
  storage = std::move(kept);
  const SampleView given = sample;
  sample = storage.view();
  sample.roles = given.roles;
  sample.column_names = given.column_names;
}

// A design that names rows cannot lose some of them unseen.
void drop_zero_weights(SampleView& sample, const Design& design, std::string_view name, Sample& storage,
                       std::vector<std::size_t>& given_rows) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < sample.weights.size(); ++i) {
    if (sample.weights[i] > 0.0) rows.push_back(i);
  }
  if (!sample.weighted() || rows.size() == sample.size()) return;
  if (design.kind != DesignKind::independent) {
    fail(ErrorCode::invalid_weights,
         "{}: {} rows of weight 0 in a design that binds rows together; leave them out first", name,
         sample.size() - rows.size());
  }
  keep_rows(rows, true, sample, storage, given_rows);
}

// Rows kept with probability w / max(w) come from the distribution that the weights describe.
void draw_by_weight(TestSamples& samples, Seed seed, ThreadCount threads) {
  if (samples.design.kind != DesignKind::independent) {
    fail(ErrorCode::invalid_option, KQD_OPTION("weights_as=sampling") " requires an independent design, got {}",
         to_string(samples.design.kind));
  }
  const TestPool pool = make_test_pool(samples.x, samples.y, threads);
  RandomStream stream(Seed{pool.permutation_seed.value ^ seed.value}, Purpose::row_subsample);
  const auto largest = [](const SampleView& sample) {
    return sample.weighted() ? *std::ranges::max_element(sample.weights) : 1.0;
  };
  const double largest_x = largest(samples.x);
  const double largest_y = largest(samples.y);
  std::vector<std::size_t> of_x;
  std::vector<std::size_t> of_y;
  for (const std::size_t row : pool.order) {
    const bool in_x = row < samples.x.size();
    if (stream.uniform() >= pool.weight_of_row(row) / (in_x ? largest_x : largest_y)) continue;
    (in_x ? of_x : of_y).push_back(in_x ? row : row - samples.x.size());
  }
  for (const auto& [rows, total, name] :
       {std::tuple{&of_x, samples.x.size(), "X"}, std::tuple{&of_y, samples.y.size(), "Y"}}) {
    if (rows->size() >= 2) continue;
    fail(ErrorCode::empty_sample,
         "{}: {} of {} rows left after draws by their weights, needs at least 2; use more rows or trim the largest "
         "weights",
         name, rows->size(), total);
  }
  warn(samples.notes, WarningId::sampling_weights, of_x.size(), samples.x.size(), of_y.size(), samples.y.size());
  std::ranges::sort(of_x);
  std::ranges::sort(of_y);
  keep_rows(of_x, false, samples.x, samples.x_storage, samples.x_rows);
  keep_rows(of_y, false, samples.y, samples.y_storage, samples.y_rows);
}

void make_cluster_sizes_common(TestSamples& samples, Seed seed, ThreadCount threads) {
  const SampleSizes sizes{samples.x.size(), samples.y.size()};
  validate(samples.design, sizes);
  const Seed draws{make_test_pool(samples.x, samples.y, threads).permutation_seed.value ^ seed.value};
  ClusterSizes common = common_cluster_sizes(samples.design, sizes, draws);
  append(samples.notes, common.notes);
  if (common.rows.empty()) return;
  std::vector<std::int64_t> ids;
  for (const std::size_t row : common.rows) ids.push_back(samples.design.group_ids[row]);
  samples.design.group_ids = std::move(ids);
  const auto first_y = std::ranges::lower_bound(common.rows, sizes.x);
  const std::vector<std::size_t> of_x(common.rows.begin(), first_y);
  std::vector<std::size_t> of_y(first_y, common.rows.end());
  for (std::size_t& row : of_y) row -= sizes.x;
  keep_rows(of_x, true, samples.x, samples.x_storage, samples.x_rows);
  keep_rows(of_y, true, samples.y, samples.y_storage, samples.y_rows);
}

}  // namespace

void require_weights(const SampleView& x, const SampleView& y, WeightsAs weights_as) {
  if (weights_as == WeightsAs::checked || x.weighted() || y.weighted()) return;
  fail(ErrorCode::invalid_option, KQD_OPTION("weights_as") " is given, but no sample has weights");
}

TestSamples make_test_samples(const SampleView& x, const SampleView& y, const Design& design, WeightsAs weights_as,
                              Seed seed, ThreadCount threads) {
  TestSamples samples{x, y, design, {}, {}, {}, {}, {}, {}};
  drop_zero_weights(samples.x, design, "X", samples.x_storage, samples.x_rows);
  drop_zero_weights(samples.y, design, "Y", samples.y_storage, samples.y_rows);
  validate(design, {samples.x.size(), samples.y.size()});
  const bool weighted = samples.x.weighted() || samples.y.weighted();
  if (weighted && weights_as == WeightsAs::sampling) draw_by_weight(samples, seed, threads);
  if (design.kind == DesignKind::clusters) make_cluster_sizes_common(samples, seed, threads);
  if (weighted && weights_as == WeightsAs::checked && !weights_vary(samples.x) && !weights_vary(samples.y)) {
    samples.x.weights = samples.y.weights = {};  // weights of a sample count relative to each other only
  } else if (weighted && weights_as == WeightsAs::checked) {
    const TestPool pool = make_test_pool(samples.x, samples.y, threads);
    check_weights(samples.x, samples.y, samples.design, pool.order, pool.permutation_seed, samples.warnings);
  }
  return samples;
}

}  // namespace kqd
