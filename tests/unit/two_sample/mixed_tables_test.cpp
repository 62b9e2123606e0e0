// Numbers, categories and missing values in the adaptive test.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>

#include "core/random.hpp"
#include "kqd/kqd.hpp"
#include "kqd/testing/permutations.hpp"
#include "kqd/two_sample/profile_test.hpp"
#include "metrics/adaptive/column_shapes.hpp"
#include "metrics/adaptive/directional_bundle.hpp"
#include "metrics/adaptive/mean_bundle.hpp"
#include "metrics/adaptive/relations.hpp"
#include "metrics/adaptive/table_parts.hpp"
#include "testing/aggregated_test.hpp"

namespace kqd::mixed_tables {
namespace {

constexpr std::size_t kPlan = 0;    // a category of three levels: columns 0, 1, 2
constexpr std::size_t kIncome = 1;  // a number with missing values: columns 3 and 4
constexpr std::size_t kAge = 2;     // a number: column 5
constexpr std::size_t kRegion = 3;  // a category of two levels: columns 6 and 7
constexpr std::size_t kColumns = 8;

struct TableChange {
  double relation = 0.0;      // income rises with the first plan, falls with the second
  double more_missing = 0.0;  // share
  double filled_with = 0.0;   // in place of missing values
};

std::vector<ColumnRole> roles() {
  return {{ColumnKind::level, kPlan},    {ColumnKind::level, kPlan},     {ColumnKind::level, kPlan},
          {ColumnKind::number, kIncome}, {ColumnKind::missing, kIncome}, {ColumnKind::number, kAge},
          {ColumnKind::level, kRegion},  {ColumnKind::level, kRegion}};
}

Sample table(std::size_t n, std::uint64_t index, const TableChange& change = {}) {
  Sample sample{Matrix<double>(n, kColumns, 0.0), {}, {}, roles()};
  RandomStream stream(Seed{40 + index}, Purpose::landmarks);
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = sample.points.row(i);
    const std::uint64_t plan = stream.below(3);
    row[plan] = 1.0;
    const double effect = plan == 0 ? 1.0 : (plan == 1 ? -1.0 : 0.0);
    const double spread = std::sqrt(1.0 + change.relation * change.relation * 2.0 / 3.0);
    row[3] = (stream.normal() + change.relation * effect) / spread;
    if (stream.uniform() < 0.1 + change.more_missing) {
      row[3] = change.filled_with;
      row[4] = 1.0;
    }
    row[5] = std::round(3.0 * stream.normal());
    row[6 + stream.below(2)] = 1.0;
  }
  return sample;
}

TwoSampleOptions adaptive(std::int64_t permutations = 199) {
  TwoSampleOptions options;
  options.method = "adaptive";
  options.test.num_permutations = permutations;
  options.effect_interval = false;
  return options;
}

const Configuration& component(const TwoSampleResult& result, std::string_view name) {
  const auto found = std::ranges::find_if(
      result.configurations, [&](const Configuration& c) { return c.name.find(name) != std::string::npos; });
  EXPECT_NE(found, result.configurations.end()) << name;
  return *found;
}

TEST(TableParts, follow_from_roles) {
  const TableParts parts = table_parts(roles(), {0, 1, 2, 3, 4, 5, 6, 7});
  ASSERT_EQ(parts.parts.size(), 5U);
  EXPECT_EQ(parts.num_sources(), 4U);
  EXPECT_TRUE(parts.mixed());
  EXPECT_EQ(parts.columns_of(ColumnKind::number), (std::vector<std::size_t>{3, 5}));
  EXPECT_EQ(parts.columns_of(ColumnKind::level), (std::vector<std::size_t>{0, 1, 2, 6, 7}));
  EXPECT_EQ(parts.columns_of(ColumnKind::missing), (std::vector<std::size_t>{4}));
  EXPECT_EQ(parts.marks.of_columns[3], 4U);
  EXPECT_EQ(parts.marks.of_columns[5], MissingMarks::kNone);
  // Without columns 1 and 4 of the table: no mark is left.
  const TableParts fewer = table_parts(roles(), {0, 2, 3, 5, 6, 7});
  EXPECT_FALSE(fewer.marks.any());
  EXPECT_EQ(fewer.columns_of(ColumnKind::number), (std::vector<std::size_t>{2, 3}));
}

TEST(TableParts, levels_are_found_without_roles_in_any_units) {
  for (const auto& [factor, shift] : {std::pair{1.0, 0.0}, std::pair{0.3, 17.0}}) {
    Sample x = table(60, 1);
    for (std::size_t i = 0; i < x.points.rows(); ++i) {
      for (double& value : x.points.row(i)) value = factor * value + shift;
    }
    const std::vector<ColumnRole> found = roles_of_columns(Pool{x.points, x.points}, {});
    const auto level = [](std::size_t source) { return ColumnRole{ColumnKind::level, source}; };
    const auto number = [](std::size_t source) { return ColumnRole{ColumnKind::number, source}; };
    // A column of two values next to no other one is a number.
    EXPECT_EQ(found, (std::vector<ColumnRole>{level(0), level(0), level(0), number(3), number(4), number(5), level(6),
                                              level(6)}));
  }
}

// A category has the mean squared distance of a number of variance 1, however rare its levels are.
TEST(TableParts, a_category_counts_as_one_number) {
  constexpr std::size_t kRows = 200;
  constexpr std::size_t kLevels = 50;
  Sample x{Matrix<double>(kRows, kLevels, 0.0), {}, {}, {}};
  for (std::size_t i = 0; i < kRows; ++i) x.points(i, i % 3 == 0 ? i % kLevels : 0) = 1.0;
  const Pool rows{x.points, {nullptr, 0, kLevels}};
  const std::vector<ColumnRole> of_category(kLevels, ColumnRole{ColumnKind::level, 0});
  auto scales = fit_column_scales(rows.x, rows.y, ConstantColumns::left_out, {});
  scale_parts(rows, of_category, scales);
  const Matrix<double> scaled = scaled_rows(scales, x.points, {});
  double total = 0.0;
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t j = 0; j < kRows; ++j) {
      for (std::size_t k = 0; k < scaled.cols(); ++k) total += std::pow(scaled(i, k) - scaled(j, k), 2);
    }
  }
  EXPECT_NEAR(total / (kRows * kRows), 2.0, 1e-9);
}

struct Labelled {
  Sample x;
  Sample y;
  TestPool pool;
  LabelBatch batch;

  Labelled(std::size_t nx, std::size_t ny)
      : x(table(nx, 3, {.filled_with = 0.7})),
        y(table(ny, 4, {.filled_with = 0.7})),
        pool(make_test_pool(x, y, ThreadCount{1})) {
    const PermutationSource source(Design::independent(), {nx, ny}, pool.order, Seed{3});
    source.fill(PermutationMode::random, 0, 6, batch);
  }
};

// Empirical distribution functions of the rows that have a value, at each of them.
TEST(DirectionalBundle, leaves_out_rows_without_a_value) {
  const Labelled data(41, 57);
  const Pool rows = data.pool.rows();
  const TableParts parts = table_parts(roles(), {0, 1, 2, 3, 4, 5, 6, 7});
  const DirectionalBundle bundle({"income", 1, SharedFunctions(FunctionSet{{}, ColumnValues{{3}, parts.marks}})},
                                 {GapSummary::largest}, GapWeight::size, rows, {}, {}, {});
  Matrix<double> values(1, 6);
  bundle.evaluate({&data.batch, 1}, values, {});
  std::vector<std::size_t> known;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows.row(i)[4] == 0.0) known.push_back(i);
  }
  std::ranges::sort(known, {}, [&](std::size_t i) { return rows.row(i)[3]; });
  ASSERT_LT(known.size(), rows.size());
  const auto m = static_cast<double>(known.size());
  for (unsigned b = 0; b < 6; ++b) {
    double of_x = 0.0;
    for (const std::size_t i : known) of_x += data.batch.is_x(i, b) ? 1.0 : 0.0;
    double below_x = 0.0;
    double gap = 0.0;
    double expected = 0.0;
    for (std::size_t k = 0; k + 1 < known.size(); ++k) {
      below_x += data.batch.is_x(known[k], b) ? 1.0 : 0.0;
      const double below = static_cast<double>(k + 1);
      const double width = rows.row(known[k + 1])[3] - rows.row(known[k])[3];
      gap += std::abs(below_x / of_x - (below - below_x) / (m - of_x)) * width;
      expected += std::sqrt(below / m * (1.0 - below / m)) * width;
    }
    const double share = m / static_cast<double>(rows.size());
    EXPECT_NEAR(values(0, b), gap / expected * std::sqrt(share), 1e-6);
  }
}

// Each relation as a statistic of its own.
std::vector<MeanFeatures> each_of(const RelationProducts& found) {
  std::vector<MeanFeatures> features;
  std::size_t begin = 0;
  for (const FunctionGroup& group : found.groups) {
    PairProducts own = found.products;
    const auto of_group = [&](auto& list) {
      if (list.empty()) return;
      list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(begin));
      list.resize(group.size);
    };
    of_group(own.pairs);
    of_group(own.centres);
    features.push_back({.name = "relation",
                        .count = group.size,
                        .functions = SharedFunctions(FunctionSet{{}, std::move(own)}),
                        .statistics = {MeanSummary::group},
                        .groups = {group}});
    begin += group.size;
  }
  return features;
}

// Sums of squared differences of means over the mean squared products, as normal scores, written out.
TEST(Relations, are_normal_scores_of_changed_mean_products_by_brute_force) {
  const Labelled data(41, 57);
  const Pool rows = data.pool.rows();
  const TableParts parts = table_parts(roles(), {0, 1, 2, 3, 4, 5, 6, 7});
  const RelationProducts found = relation_products(rows, parts, RelationKind::any, 1000, Seed{1});
  // plan x (income, its mark, age, region), income x (age, region), mark x (age, region), age x region.
  ASSERT_EQ(found.relations.size(), 9U);
  std::vector<MeanFeatures> features = each_of(found);
  features.push_back({.name = "all",
                      .count = found.products.pairs.size(),
                      .functions = SharedFunctions(FunctionSet{{}, found.products}),
                      .statistics = {MeanSummary::group},
                      .groups = found.groups});
  const MeanBundle bundle(std::move(features), rows, {}, 6, ThreadCount{2});
  ASSERT_EQ(bundle.names().size(), 10U);
  Matrix<double> values(10, 6);
  bundle.evaluate({&data.batch, 1}, values, ThreadCount{2});
  const auto n = static_cast<double>(rows.size());
  std::size_t begin = 0;
  std::array<double, 6> largest{};
  largest.fill(-1e9);
  for (std::size_t r = 0; r < found.relations.size(); ++r) {
    const std::size_t size = found.groups[r].size;
    std::vector<double> means(size);
    std::vector<double> variances(size);
    Matrix<double> products(rows.size(), size);
    for (std::size_t f = 0; f < size; ++f) {
      const auto [a, b] = found.products.pairs[begin + f];
      const bool with_income = a == 3 || b == 3;
      const auto centred = [&](std::size_t k) {
        std::vector<double> own(rows.size(), 0.0);
        double mean = 0.0;
        double square = 0.0;
        double count = 0.0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
          if (k == 3 && rows.row(i)[4] == 1.0) continue;
          mean += rows.row(i)[k];
          square += rows.row(i)[k] * rows.row(i)[k];
          count += 1.0;
        }
        mean /= count;
        const bool is_number = k == 3 || k == 5;
        const double deviation = is_number ? std::sqrt(square / count - mean * mean) : 1.0;
        for (std::size_t i = 0; i < rows.size(); ++i) own[i] = (rows.row(i)[k] - mean) / deviation;
        return own;
      };
      const std::vector<double> of_a = centred(a);
      const std::vector<double> of_b = centred(b);
      double centre = 0.0;
      double count = 0.0;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (with_income && rows.row(i)[4] == 1.0) continue;
        centre += of_a[i] * of_b[i];
        count += 1.0;
      }
      centre /= count;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const bool missing = with_income && rows.row(i)[4] == 1.0;
        products(i, f) = missing ? 0.0 : of_a[i] * of_b[i] - centre;
        variances[f] += products(i, f) * products(i, f) / n;
      }
    }
    const double ridge = 0.25 * std::accumulate(variances.begin(), variances.end(), 0.0) / static_cast<double>(size);
    for (unsigned b = 0; b < 6; ++b) {
      const auto nx = static_cast<double>(data.batch.num_x[b]);
      double total = 0.0;
      double expected = 0.0;
      for (std::size_t f = 0; f < size; ++f) {
        double gap = 0.0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
          gap += products(i, f) * (data.batch.is_x(i, b) ? 1.0 / nx : -1.0 / (n - nx));
        }
        total += gap * gap / (variances[f] + ridge);
        expected += (1.0 / nx + 1.0 / (n - nx)) * variances[f] / (variances[f] + ridge);
      }
      const double h = 2.0 / (9.0 * found.groups[r].degrees);
      const double score = (std::cbrt(total / expected) - (1.0 - h)) / std::sqrt(h);
      EXPECT_NEAR(values(r, b), score, 1e-7) << r;
      largest[b] = std::max(largest[b], score);
    }
    begin += size;
  }
  for (unsigned b = 0; b < 6; ++b) EXPECT_NEAR(values(9, b), largest[b], 1e-7);
}

// One relation of equal shares: all levels have L - 1 degrees of freedom.
TEST(Relations, of_a_number_and_a_category_have_a_degree_of_freedom_less_than_levels) {
  Sample x{Matrix<double>(60, 6, 0.0), {}, {}, {}};
  for (std::size_t i = 0; i < 60; ++i) {
    x.points(i, i % 5) = 1.0;
    x.points(i, 5) = static_cast<double>(i * i % 17);
  }
  const Pool rows{x.points, {nullptr, 0, 6}};
  const TableParts parts = table_parts(roles_of_columns(rows, {}), {0, 1, 2, 3, 4, 5});
  const RelationProducts found = relation_products(rows, parts, RelationKind::any, 1000, Seed{1});
  ASSERT_EQ(found.groups.size(), 1U);
  EXPECT_EQ(found.groups[0].size, 5U);
  EXPECT_NEAR(found.groups[0].degrees, 4.0, 1e-9);
}

TEST(Relations, are_bounded_in_number) {
  const Labelled data(41, 57);
  const TableParts parts = table_parts(roles(), {0, 1, 2, 3, 4, 5, 6, 7});
  const RelationProducts found = relation_products(data.pool.rows(), parts, RelationKind::any, 4, Seed{1});
  EXPECT_LE(found.products.pairs.size(), 4U);
  EXPECT_GE(found.relations.size(), 1U);
}

TEST(Relations, the_changed_one_is_named) {
  const Sample x = table(300, 5);
  const Sample y = table(260, 6, {.relation = 0.8});
  const TestPool pool = make_test_pool(x, y, {});
  const RelationProducts found =
      relation_products(pool.rows(), table_parts(roles(), {0, 1, 2, 3, 4, 5, 6, 7}), RelationKind::any, 1000, Seed{1});
  AggregatedPlan plan;
  plan.bundles.push_back(
      std::make_unique<MeanBundle>(each_of(found), pool.rows(), std::vector<double>{}, 200, ThreadCount{1}));
  plan.weights.assign(found.relations.size(), 1.0 / static_cast<double>(found.relations.size()));
  const PermutationSource source(Design::independent(), {300, 260}, pool.order, Seed{3});
  TestOptions options;
  options.num_permutations = 199;
  const AggregatedOutcome outcome = aggregated_test(plan, source, options, nullptr);
  ASSERT_EQ(outcome.statistics.size(), found.relations.size());
  std::size_t best = 0;
  for (std::size_t r = 0; r < found.relations.size(); ++r) {
    if (outcome.statistics[r].score > outcome.statistics[best].score) best = r;
  }
  EXPECT_EQ(std::minmax(found.relations[best].first.source, found.relations[best].second.source),
            std::minmax(kPlan, kIncome));
  EXPECT_EQ(found.relations[best].first.columns, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(found.relations[best].second.columns, (std::vector<std::size_t>{3}));
  EXPECT_LE(outcome.statistics[best].adjusted_pvalue, 0.01);
}

TEST(AdaptiveTest, finds_a_relation_of_a_number_and_a_category) {
  const TwoSampleResult result = two_sample_test(table(300, 5), table(260, 6, {.relation = 0.8}), adaptive());
  EXPECT_LE(result.test.pvalue, 0.01);
  EXPECT_LE(component(result, "relations of numbers and categories").adjusted_pvalue, 0.01);
}

std::string where(const TwoSampleResult& result, std::string_view name) {
  return component(result, name).where;
}

TEST(AdaptiveTest, names_the_largest_relation_and_the_largest_change_of_shares_and_columns) {
  Sample x = table(300, 5);
  const Sample y = table(260, 6, {.relation = 0.8});
  const std::string_view relations = "relations of numbers and categories";
  EXPECT_EQ(where(two_sample_test(x, y, adaptive()), relations), "column 4 by column 1 to column 3");
  x.column_names = {"plan=a", "plan=b=c", "plan=d", "income", "income missing", "age", "region=n", "region=s"};
  EXPECT_EQ(where(two_sample_test(x, y, adaptive()), relations), "income by plan");
  TwoSampleOptions groups = adaptive();
  groups.permute = Permute::groups;
  Sample large = table(1500, 5);
  large.column_names = x.column_names;
  EXPECT_EQ(where(two_sample_test(large, table(1400, 6, {.relation = 0.5}), groups), relations), "income by plan");
  const TwoSampleResult missing = two_sample_test(x, table(260, 6, {.more_missing = 0.15}), adaptive());
  EXPECT_EQ(where(missing, "shares of levels and missing values"), "income is missing");
  Sample older = table(260, 6);
  for (std::size_t i = 0; i < older.points.rows(); ++i) older.points(i, 5) += 3.0;
  const TwoSampleResult shifted = two_sample_test(x, older, adaptive());
  EXPECT_EQ(where(shifted, "shapes of single columns"), "age");
  EXPECT_EQ(where(shifted, "products of columns and components, on average"), "");
  // Nothing is named where nothing was found.
  const TwoSampleResult same = two_sample_test(x, table(260, 6), adaptive());
  ASSERT_FALSE(same.test.reject);
  for (const Configuration& c : same.configurations) EXPECT_EQ(c.where, "");
}

TEST(AdaptiveTest, takes_the_kernel_for_mixed_tables) {
  TwoSampleOptions options = adaptive();
  options.statistic.kernel = parse_kernel("mixed");
  const TwoSampleResult result = two_sample_test(table(300, 5), table(260, 6, {.relation = 0.8}), options);
  EXPECT_LE(result.test.pvalue, 0.01);
  options.own_scales = false;
  EXPECT_LE(two_sample_test(table(300, 5), table(260, 6, {.relation = 0.8}), options).test.pvalue, 0.01);
}

TEST(AdaptiveTest, finds_more_missing_values) {
  const TwoSampleResult result = two_sample_test(table(300, 5), table(260, 6, {.more_missing = 0.15}), adaptive());
  EXPECT_LE(result.test.pvalue, 0.01);
  EXPECT_LE(component(result, "shares of levels and missing values").adjusted_pvalue, 0.01);
  EXPECT_GT(component(result, "single columns, the largest").pvalue, 0.05);
}

// Functions of a number and of its products do not see the values in place of missing ones.
TEST(TableParts, values_in_place_of_missing_ones_do_not_count_in_their_column) {
  const TableParts parts = table_parts(roles(), {0, 1, 2, 3, 4, 5, 6, 7});
  const auto values = [&](double filled) {
    const Sample sample = table(80, 5, {.filled_with = filled});
    const Pool rows{sample.points, {nullptr, 0, kColumns}};
    const std::vector<std::size_t> numbers = parts.columns_of(ColumnKind::number);
    std::vector<FunctionSet> sets;
    sets.push_back({{}, ColumnValues{numbers, parts.marks}});
    sets.push_back({{}, column_shapes(rows, numbers, parts.marks, 4, {})});
    sets.push_back({{}, relation_products(rows, parts, RelationKind::any, 1000, Seed{1}).products});
    std::vector<double> all;
    for (const FunctionSet& set : sets) {
      const Matrix<double> of_set = project_pool(*make_functions(set), rows, 0, set.count(), {});
      for (const double value : of_set.values()) all.push_back(std::isnan(value) ? -77.0 : value);
    }
    return all;
  };
  const std::vector<double> with_median = values(0.0);
  EXPECT_EQ(with_median, values(0.5));
  EXPECT_EQ(with_median, values(1e6));
  EXPECT_GT(std::ranges::count(with_median, -77.0), 0);
}

TEST(AdaptiveTest, mixed_tables_work_in_groups) {
  TwoSampleOptions options = adaptive();
  options.permute = Permute::groups;
  const TwoSampleResult result = two_sample_test(table(1500, 5), table(1400, 6, {.relation = 0.5}), options);
  EXPECT_LE(result.test.pvalue, 0.01);
  EXPECT_LE(component(result, "relations of numbers and categories").adjusted_pvalue, 0.01);
  const TwoSampleResult of_null = two_sample_test(table(1500, 7), table(1400, 8), options);
  EXPECT_GT(of_null.test.pvalue, 0.01);
}

// Profiles know no roles, but indicators next to each other are a category; groups of functions survive the file.
TEST(AdaptiveTest, profiles_compare_relations) {
  const auto without_roles = [](Sample sample) {
    sample.roles.clear();
    return sample;
  };
  const Sample x = without_roles(table(2000, 5));
  const Profile of_x = make_profile(x, ProfileOptions{});
  const Profile again = Profile::deserialize(of_x.serialize());
  EXPECT_EQ(again.serialize(), of_x.serialize());
  const auto pvalue = [&](const Sample& y) {
    return component(two_sample_test(again, make_profile(without_roles(y), of_x), adaptive()),
                     "relations of numbers and categories")
        .adjusted_pvalue;
  };
  EXPECT_LE(pvalue(table(2000, 6, {.relation = 0.5})), 0.01);
  EXPECT_GT(pvalue(table(2000, 7)), 0.05);
}

TEST(AdaptiveTest, plain_indicators_are_a_category) {
  Sample x = table(300, 5);
  Sample y = table(260, 6, {.relation = 0.8});
  x.roles.clear();
  y.roles.clear();
  const TwoSampleResult result = two_sample_test(x, y, adaptive());
  EXPECT_LE(component(result, "relations of numbers and categories").adjusted_pvalue, 0.01);
}

// A correct test rejects about 5% of true nulls: none of 300 or more than 36 have a probability of 7e-7.
TEST(AdaptiveTest, mixed_tables_keep_the_level) {
  std::size_t rejections = 0;
  for (std::uint64_t run = 0; run < 300; ++run) {
    const TwoSampleResult result = two_sample_test(table(40, 100 + 2 * run), table(25, 101 + 2 * run), adaptive(39));
    rejections += result.test.pvalue <= 0.05 ? 1 : 0;
  }
  EXPECT_GE(rejections, 1U);
  EXPECT_LE(rejections, 36U);
}

// Roles that say that all columns are numbers give the test what it had before there were tables of categories.
TEST(MixedTables, a_table_of_numbers_has_neither_their_statistics_nor_other_bits) {
  const auto numbers = [](std::uint64_t index) {
    Sample sample = table(80, index, {.filled_with = 0.3});
    const std::array<std::size_t, 2> kept = {3, 5};
    Sample own{Matrix<double>(80, kept.size()), {}, {}};
    for (std::size_t i = 0; i < 80; ++i) {
      for (std::size_t k = 0; k < kept.size(); ++k) own.points(i, k) = sample.points(i, kept[k]);
    }
    return own;
  };
  Sample x = numbers(20);
  Sample y = numbers(21);
  const TwoSampleResult plain = two_sample_test(x, y, adaptive());
  x.roles = y.roles = roles_of_numbers(2);
  const TwoSampleResult declared = two_sample_test(x, y, adaptive());
  ASSERT_EQ(plain.configurations.size(), declared.configurations.size());
  for (std::size_t r = 0; r < plain.configurations.size(); ++r) {
    const Configuration& own = plain.configurations[r];
    EXPECT_EQ(own.name, declared.configurations[r].name);
    EXPECT_EQ(own.score, declared.configurations[r].score) << own.name;
    for (const char* of_tables : {"shares of levels", "relations of"}) {
      EXPECT_EQ(own.name.find(of_tables), std::string::npos) << own.name;
    }
  }
  EXPECT_EQ(plain.test.pvalue, declared.test.pvalue);
  EXPECT_EQ(plain.test.statistic, declared.test.statistic);
}

}  // namespace
}  // namespace kqd::mixed_tables
