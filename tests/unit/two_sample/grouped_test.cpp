// Permutations of groups of rows: their statistics against the rows themselves, and the test as a whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/random.hpp"
#include "directions/principal.hpp"
#include "kqd/kqd.hpp"
#include "kqd/testing/permutations.hpp"
#include "metrics/adaptive/directional_bundle.hpp"
#include "metrics/adaptive/mean_bundle.hpp"
#include "metrics/method.hpp"
#include "support/errors.hpp"

namespace kqd {
namespace {

enum class Values { normal, few };

Sample draw(std::size_t n, std::size_t dim, std::uint64_t index, Values kind, double shift = 0.0) {
  RandomStream stream(Seed{31}, Purpose::test_data, index);
  Sample sample{Matrix<double>(n, dim), {}, {}};
  for (double& v : sample.points.values()) {
    v = kind == Values::few ? static_cast<double>(stream.below(4)) : stream.normal() + shift;
  }
  return sample;
}

// Some permutations of the units of a plan, and the same permutations of rows.
struct Units {
  std::vector<LabelBatch> batches;

  Units(const GroupedRows& rows, unsigned count, Seed seed) {
    const RowGroups& groups = rows.groups();
    const PermutationSource source(Design::independent(), {groups.sizes.num_x, groups.sizes.num_y}, groups.order, seed);
    for (unsigned first = 0; first < count; first += LabelBatch::kCapacity) {
      source.fill(PermutationMode::random, first / LabelBatch::kCapacity,
                  std::min(LabelBatch::kCapacity, count - first), batches.emplace_back());
    }
  }

  // The rows of (X, Y) that permutation k labels X, or Y.
  [[nodiscard]] std::vector<std::size_t> rows(const GroupedRows& grouped, unsigned k, bool is_x) const {
    std::vector<std::size_t> chosen;
    for (std::size_t unit = 0; unit < grouped.num_units(); ++unit) {
      if (batches[k / LabelBatch::kCapacity].is_x(unit, k % LabelBatch::kCapacity) != is_x) continue;
      const auto own = grouped.groups().rows_of(unit);
      chosen.insert(chosen.end(), own.begin(), own.end());
    }
    return chosen;
  }

  // The labels of the rows of a pool.
  [[nodiscard]] LabelBatch of_rows(const GroupedRows& grouped, std::span<const std::size_t> order) const {
    const LabelBatch& units = batches.front();
    LabelBatch batch;
    batch.count = units.count;
    batch.words.assign(order.size(), 0);
    std::vector<std::size_t> position(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    for (std::size_t unit = 0; unit < grouped.num_units(); ++unit) {
      for (const std::size_t row : grouped.groups().rows_of(unit)) batch.words[position[row]] = units.words[unit];
    }
    for (unsigned b = 0; b < batch.count; ++b) {
      batch.num_x[b] = units.num_x[b] * grouped.rows_per_unit();
    }
    return batch;
  }
};

PlanRequest request_of_groups() {
  PlanRequest request;
  request.groups = true;
  request.permutation_count = 100;
  return request;
}

// The value of each permutation of groups is the distance between the rows of these groups. With few different rows
// every value along a direction has a bin of its own, so that the grid loses nothing.
void expect_distances(const std::string& id, const Sample& x, const Sample& y, const MethodOptions& options,
                      double relative) {
  SCOPED_TRACE(id + ", p = " + std::to_string(options.power) + ", " + to_string(options.weighting));
  const TestPool pool = make_test_pool(x, y, ThreadCount{1});
  const PreparedPlan prepared = method_with_id(id).prepare(pool, options, request_of_groups());
  ASSERT_NE(prepared.grouped, nullptr);
  const GroupedRows& grouped = *prepared.grouped;
  EXPECT_EQ(prepared.plan->num_rows(), grouped.num_units());
  const Units units(grouped, 70, Seed{8});
  std::vector<double> values(70);
  prepared.plan->evaluate(units.batches, values, ThreadCount{2});
  for (const unsigned threads : {1U, 3U}) {
    std::vector<double> again(70);
    prepared.plan->evaluate(units.batches, again, ThreadCount{threads});
    EXPECT_EQ(again, values);
  }
  const Pool rows{x.points, y.points, {}};
  for (const unsigned k : {0U, 1U, 2U, 3U, 66U}) {
    const Sample of_x{gather(rows, units.rows(grouped, k, true)), {}, {}};
    const Sample of_y{gather(rows, units.rows(grouped, k, false)), {}, {}};
    const double direct = method_with_id(id).distance(of_x, of_y, prepared.frozen).statistic;
    const double slack = prepared.plan->tie_slack(std::abs(direct));
    EXPECT_NEAR(values[k], direct, slack + relative * std::abs(direct) + 1e-13) << "permutation " << k;
    EXPECT_LT(slack, 1e-8 * std::abs(direct) + 1e-10);
  }
}

TEST(GroupedPlan, equals_the_quantile_distance_between_the_rows_of_its_groups) {
  for (const auto& [nx, ny] : {std::pair<std::size_t, std::size_t>{700, 700}, {1400, 500}, {90, 75}}) {
    const Sample x = draw(nx, 2, 1, Values::few);
    const Sample y = draw(ny, 2, 2, Values::few);
    for (const char* id : {"ekqd", "supkqd", "sw"}) {
      MethodOptions options;
      options.directions.num_directions = 5;
      expect_distances(id, x, y, options, 1e-10);
      options.power = 2.0;
      expect_distances(id, x, y, options, 1e-10);
      options.power = 1.0;
      options.weighting = parse_level_weights("triangle");
      expect_distances(id, x, y, options, 1e-10);
    }
    MethodOptions options;
    options.directions.num_directions = 5;
    options.power = std::numeric_limits<double>::infinity();
    expect_distances("ekqd", x, y, options, 1e-10);
    options.power = 3.0;
    options.weighting = parse_level_weights("beta:2:3");
    expect_distances("ekqd", x, y, options, 1e-10);
  }
}

TEST(GroupedPlan, equals_the_distance_of_features_between_the_rows_of_its_groups) {
  const Sample x = draw(600, 3, 1, Values::normal);
  const Sample y = draw(420, 3, 2, Values::normal, 0.2);
  MethodOptions options;
  options.kernel = parse_kernel("gaussian@1.5");
  for (const char* id : {"mmd-rff", "mmd-nystrom", "me", "scf"}) expect_distances(id, x, y, options, 1e-9);
  options.parameters = {{"form", 1.0}};
  for (const char* id : {"mmd-rff", "me", "scf"}) expect_distances(id, x, y, options, 1e-9);
}

// Held-out reference points are in no group.
TEST(GroupedPlan, holds_out_pooled_reference_points) {
  const Sample x = draw(400, 2, 1, Values::normal);
  const Sample y = draw(400, 2, 2, Values::normal);
  MethodOptions options;
  options.directions.reference = ReferenceMeasure::pooled;
  options.directions.num_reference = 10;
  const TestPool pool = make_test_pool(x, y, ThreadCount{1});
  const PreparedPlan prepared = method_with_id("ekqd").prepare(pool, options, request_of_groups());
  ASSERT_NE(prepared.grouped, nullptr);
  EXPECT_EQ(prepared.num_set_aside, 10U);
  std::vector<std::size_t> rows = prepared.rows;
  std::ranges::sort(rows);
  for (const std::size_t row : prepared.grouped->groups().rows) EXPECT_TRUE(std::ranges::binary_search(rows, row));
}

TEST(DirectionalBundle, of_groups_equals_that_of_rows_where_bins_hold_one_value) {
  const Sample x = draw(512, 3, 1, Values::few);
  const Sample y = draw(256, 3, 2, Values::few);
  const TestPool pool = make_test_pool(x, y, ThreadCount{1});
  const auto grouped = group_rows(pool, pool.order);
  ASSERT_EQ(grouped->groups().rows.size(), pool.order.size());  // all rows take part
  const Units units(*grouped, 20, Seed{4});
  const LabelBatch of_rows = units.of_rows(*grouped, pool.order);
  const SharedFunctions columns(FunctionSet{.functions = ColumnValues{{0, 1, 2}}});
  const std::vector both = {GapSummary::average, GapSummary::largest};
  for (const GapWeight weight : {GapWeight::size, GapWeight::anderson_darling}) {
    const DirectionalBundle by_rows({"columns", 3, columns}, both, weight, pool.rows(), {}, {}, {});
    GroupedSummary summary(grouped);
    const DirectionalBundle by_groups({"columns", 3, columns}, both, weight, summary, {});
    summary.collect({});
    EXPECT_EQ(by_rows.names(), by_groups.names());
    Matrix<double> expected(2, 20);
    Matrix<double> found(2, 20);
    by_rows.evaluate({&of_rows, 1}, expected, {});
    by_groups.evaluate(units.batches, found, {});
    for (std::size_t r = 0; r < 2; ++r) {
      for (std::size_t k = 0; k < 20; ++k) {
        EXPECT_NEAR(found(r, k), expected(r, k),
                    by_groups.tie_slack(r, expected(r, k)) + by_rows.tie_slack(r, expected(r, k)));
      }
    }
  }
}

TEST(MeanBundle, of_groups_equals_that_of_rows) {
  const Sample x = draw(512, 3, 1, Values::normal);
  const Sample y = draw(256, 3, 2, Values::normal);
  const TestPool pool = make_test_pool(x, y, ThreadCount{1});
  const auto grouped = group_rows(pool, pool.order);
  const Units units(*grouped, 20, Seed{4});
  const LabelBatch of_rows = units.of_rows(*grouped, pool.order);
  const Kernel kernel(parse_kernel("gaussian@1.5"));
  const PrincipalBasis basis =
      principal_basis(kernel, pool.rows(), {.num_landmarks = 20, .max_rank = 8}, Seed{5}, ThreadCount{1});
  const SharedFunctions functions(
      FunctionSet{.functions = KernelFunctions{kernel.spec(), basis.landmarks, basis.coefficients}});
  const std::vector<MeanFeatures> views = {{"gaussian",
                                            functions.map->count,
                                            functions,
                                            {MeanSummary::coarse, MeanSummary::fine, MeanSummary::finest},
                                            basis.variances}};
  const MeanBundle by_rows(views, pool.rows(), {}, 20, {});
  GroupedSummary summary(grouped);
  const MeanBundle by_groups(views, summary, 20, ThreadCount{});
  summary.collect({});
  Matrix<double> expected(3, 20);
  Matrix<double> found(3, 20);
  by_rows.evaluate({&of_rows, 1}, expected, {});
  by_groups.evaluate(units.batches, found, {});
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t k = 0; k < 20; ++k) {
      EXPECT_NEAR(found(r, k), expected(r, k),
                  by_groups.tie_slack(r, expected(r, k)) + by_rows.tie_slack(r, expected(r, k)));
    }
  }
}

TEST(GroupedSummary, evaluates_shared_functions_once) {
  const Sample x = draw(300, 2, 1, Values::normal);
  const Sample y = draw(300, 2, 2, Values::normal);
  const TestPool pool = make_test_pool(x, y, ThreadCount{1});
  std::size_t num_rows = 0;
  const auto functions = std::make_shared<const FeatureMap>(
      FeatureMap{2, [&](MatrixView<const double> rows, MatrixView<double> values) {
                   num_rows += rows.rows();
                   for (std::size_t i = 0; i < rows.rows(); ++i) {
                     std::ranges::copy(rows.row(i).first(values.cols()), values.row(i).begin());
                   }
                 }});
  GroupedSummary summary(group_rows(pool, pool.order));
  EXPECT_EQ(summary.add_lines(functions, 1, ThreadCount{1}), summary.add_lines(functions, 1, ThreadCount{1}));
  EXPECT_EQ(summary.add_means(functions, ThreadCount{1}), summary.add_means(functions, ThreadCount{1}));
  num_rows = 0;
  summary.collect(ThreadCount{1});
  EXPECT_EQ(num_rows, summary.rows().groups().rows.size());
}

TwoSampleResult run(const Sample& x, const Sample& y, const std::string& method, Permute permute,
                    std::int64_t permutations = 99, unsigned threads = 2) {
  TwoSampleOptions options;
  options.method = method;
  options.permute = permute;
  options.test.num_permutations = permutations;
  options.statistic.threads = ThreadCount{threads};
  return two_sample_test(x, y, options);
}

Sample reversed(const Sample& sample) {
  Sample other = sample;
  for (std::size_t i = 0; i < sample.points.rows(); ++i) {
    std::ranges::copy(sample.points.row(sample.points.rows() - 1 - i), other.points.row(i).begin());
  }
  return other;
}

TEST(PermutedGroups, give_the_same_result_for_any_threads_and_order_of_rows) {
  const Sample x = draw(900, 3, 1, Values::normal);
  const Sample y = draw(700, 3, 2, Values::normal, 0.05);
  for (const char* method : {"adaptive", "ekqd", "mmd-rff"}) {
    const TwoSampleResult first = run(x, y, method, Permute::groups);
    ASSERT_TRUE(first.groups.has_value());
    EXPECT_EQ(first.groups->rows_per_group, 5U);
    EXPECT_EQ(first.groups->num_x, 180U);
    EXPECT_EQ(first.groups->num_y, 140U);
    for (const unsigned threads : {1U, 3U}) {
      const TwoSampleResult again = run(x, y, method, Permute::groups, 99, threads);
      EXPECT_EQ(again.test.statistic, first.test.statistic);
      EXPECT_EQ(again.test.pvalue, first.test.pvalue);
    }
    const TwoSampleResult other_order = run(reversed(x), reversed(y), method, Permute::groups);
    EXPECT_EQ(other_order.test.statistic, first.test.statistic) << method;
    EXPECT_EQ(other_order.test.pvalue, first.test.pvalue);
  }
}

// Powers of two round nothing.
TEST(PermutedGroups, of_the_default_test_do_not_depend_on_units) {
  Sample x = draw(900, 3, 1, Values::normal);
  Sample y = draw(700, 3, 2, Values::normal, 0.05);
  const double pvalue = run(x, y, "adaptive", Permute::groups).test.pvalue;
  for (Sample* sample : {&x, &y}) {
    for (std::size_t i = 0; i < sample->points.rows(); ++i) {
      sample->points(i, 0) *= 0x1p-30;
      sample->points(i, 2) *= 0x1p12;
    }
  }
  EXPECT_EQ(run(x, y, "adaptive", Permute::groups).test.pvalue, pvalue);
}

TEST(PermutedGroups, find_a_difference_and_agree_with_rows_on_the_effect) {
  const Sample x = draw(3000, 2, 1, Values::normal);
  const Sample y = draw(3000, 2, 2, Values::normal, 0.3);
  for (const char* method : {"adaptive", "ekqd", "supkqd", "sw", "mmd-rff", "mmd-nystrom", "me", "scf"}) {
    const TwoSampleResult by_groups = run(x, y, method, Permute::groups);
    const TwoSampleResult by_rows = run(x, y, method, Permute::rows);
    EXPECT_FALSE(by_rows.groups.has_value());
    EXPECT_EQ(by_groups.test.pvalue, 0.01) << method;
    EXPECT_EQ(by_rows.test.pvalue, 0.01) << method;
    // Both estimate one number from the same rows; the mean of 99 permutations differs by a few percent of it.
    EXPECT_NEAR(by_groups.effect_size, by_rows.effect_size, 0.1 * by_rows.effect_size) << method;
  }
}

TEST(PermutedGroups, are_chosen_for_large_samples_of_methods_that_can) {
  const Sample x = draw(50'001, 1, 1, Values::normal);
  const Sample y = draw(50'000, 1, 2, Values::normal);
  const Sample fewer = draw(49'999, 1, 3, Values::normal);
  EXPECT_TRUE(run(x, y, "sw", Permute::automatic, 19).groups.has_value());
  EXPECT_FALSE(run(fewer, y, "sw", Permute::automatic, 19).groups.has_value());
  EXPECT_FALSE(run(x, y, "energy", Permute::automatic, 19).groups.has_value());
}

TEST(PermutedGroups, are_refused_where_rows_have_to_be_permuted) {
  const Sample x = draw(40, 1, 1, Values::normal);
  const Sample y = draw(40, 1, 2, Values::normal);
  const auto refused = [](const std::string& reason, const std::string& method, const auto& action) {
    test::expect_error(ErrorCode::invalid_option,
                       "permute = groups: expected rows or auto for method " + method + " here, because " + reason,
                       action);
  };
  refused("the method permutes rows", "mmd", [&] { run(x, y, "mmd", Permute::groups); });
  TwoSampleOptions options;
  options.method = "ekqd";
  options.permute = Permute::groups;
  options.test.design = Design::paired();
  refused("the design is not independent", "ekqd", [&] { static_cast<void>(two_sample_test(x, y, options)); });
  options.test.design = {};
  options.weights_as = WeightsAs::frequency;
  Sample weighted_x = x;
  Sample weighted_y = y;
  for (std::size_t i = 0; i < 40; ++i) {
    weighted_x.weights.push_back(1.0 + static_cast<double>(i % 2));
    weighted_y.weights.push_back(1.0 + static_cast<double>(i % 2));
  }
  refused("rows have weights", "ekqd", [&] { static_cast<void>(two_sample_test(weighted_x, weighted_y, options)); });
}

}  // namespace
}  // namespace kqd
