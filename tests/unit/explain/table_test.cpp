// Explanations of tables: columns by their source, missing values, relations.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kqd/explain/explain.hpp"
#include "kqd/report/explanation.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

// A table as a reader gives it: income with missing values, plan with three levels, age.
struct TableShape {
  std::size_t rows = 400;
  double missing = 0.03;
  std::vector<double> shares = {0.3, 0.4, 0.3};
  double relation = 0.0;  // income in "basic" is higher, in "pro" lower
  double age_shift = 0.0;
};

const std::vector<std::string> kPlans = {"basic", "plus", "pro"};

Sample table(const TableShape& shape, std::uint64_t seed) {
  test::Source source(seed);
  Sample sample{Matrix<double>(shape.rows, 6, 0.0),
                {},
                {"income", "income is missing", "plan=basic", "plan=plus", "plan=pro", "age"}};
  using enum ColumnKind;
  sample.roles = {{number, 0}, {missing, 0}, {level, 1}, {level, 1}, {level, 1}, {number, 2}};
  for (std::size_t i = 0; i < shape.rows; ++i) {
    const double u = source.uniform();
    const std::size_t plan = u < shape.shares[0] ? 0 : u < shape.shares[0] + shape.shares[1] ? 1 : 2;
    const double slope = plan == 0 ? 1.0 : plan == 2 ? -1.0 : 0.0;
    const double income =
        slope * shape.relation + std::sqrt(1.0 - 0.6 * shape.relation * shape.relation) * source.normal();
    const bool is_missing = source.uniform() < shape.missing;
    sample.points(i, 0) = is_missing ? 50'000.0 : 50'000.0 + 10'000.0 * income;
    sample.points(i, 1) = is_missing ? 1.0 : 0.0;
    sample.points(i, 2 + plan) = 1.0;
    sample.points(i, 5) = 40.0 + 10.0 * source.normal() + shape.age_shift;
  }
  return sample;
}

const ColumnExplanation& named(const Explanation& e, const std::string& name) {
  return *std::ranges::find(e.columns, name, &ColumnExplanation::name);
}

TEST(ExplainTable, lists_the_columns_of_the_table_and_not_their_levels) {
  const Explanation e = explain(table({}, 1), table({}, 2));
  ASSERT_EQ(e.columns.size(), 3U);
  EXPECT_EQ(named(e, "plan").type, ColumnType::category);
  EXPECT_EQ(named(e, "income").type, ColumnType::number);
  EXPECT_EQ(named(e, "plan").levels.size(), 3U);
  EXPECT_TRUE(named(e, "income").missing.has_value());
  EXPECT_FALSE(named(e, "age").missing.has_value());
  EXPECT_TRUE(std::isnan(named(e, "plan").sensitivity));
}

// The columns of a table as `--standardize zscore` gives them: its numbers have 2 decimals.
Sample rounded(Sample sample) {
  for (std::size_t i = 0; i < sample.points.rows(); ++i) {
    for (const std::size_t c : {0U, 5U}) sample.points(i, c) = std::round(100.0 * sample.points(i, c)) / 100.0;
  }
  return sample;
}

Sample standardised(Sample sample, const std::vector<ColumnUnits>& units) {
  for (std::size_t i = 0; i < sample.points.rows(); ++i) {
    for (const std::size_t c : {0U, 5U}) sample.points(i, c) = units[c].standardised(sample.points(i, c));
  }
  return sample;
}

TEST(ExplainTable, standardised_columns_are_shown_in_the_units_of_the_table) {
  const Sample x = rounded(table({.missing = 0.05}, 11));
  const Sample y = rounded(table({.missing = 0.05, .relation = 0.6, .age_shift = 5.0}, 12));
  std::vector<ColumnUnits> units(6);
  units[0] = {0.75, 0.14, 16};
  units[5] = {0.6, 0.17, 6};
  ExplainOptions options{.own_scales = false};
  const Explanation plain = explain(x, y, options);
  options.units = units;
  const Explanation undone = explain(standardised(x, units), standardised(y, units), options);
  ASSERT_EQ(undone.columns.size(), plain.columns.size());
  for (std::size_t k = 0; k < plain.columns.size(); ++k) {
    const ColumnExplanation& a = plain.columns[k];
    const ColumnExplanation& b = undone.columns[k];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.wasserstein, b.wasserstein);
    EXPECT_EQ(a.shift, b.shift);
    ASSERT_EQ(a.range_x.has_value(), b.range_x.has_value());
    ASSERT_EQ(a.density.has_value(), b.density.has_value());
    ASSERT_EQ(a.profile.has_value(), b.profile.has_value());
    if (!a.range_x) continue;  // a category
    EXPECT_EQ(a.range_x->high, b.range_x->high);
    EXPECT_EQ(a.density->at, b.density->at);
    EXPECT_EQ(a.profile->difference, b.profile->difference);
  }
  for (std::size_t k = 0; k < plain.relations.size(); ++k) {
    ASSERT_EQ(plain.relations[k].cells.size(), undone.relations[k].cells.size());
    for (std::size_t c = 0; c < plain.relations[k].cells.size(); ++c) {
      EXPECT_EQ(plain.relations[k].cells[c].x, undone.relations[k].cells[c].x);
    }
  }
  for (const ExtremeRow& row : undone.most_y) {
    const auto income = std::ranges::find(undone.row_columns, "income") - undone.row_columns.begin();
    const std::string& cell = row.cells[static_cast<std::size_t>(income)];
    if (cell.empty()) continue;
    EXPECT_EQ(std::stod(cell), y.points(row.index, 0));
  }
  // The kernel sees standardised columns, in which age counts as much as income.
  EXPECT_NE(plain.kernel.bandwidth, undone.kernel.bandwidth);
}

TEST(ExplainTable, directions_and_rows_see_every_column_in_its_own_scale) {
  const Sample x = table({}, 13);
  const Sample y = table({.age_shift = 12.0}, 14);
  const Explanation own = explain(x, y);
  const Explanation raw = explain(x, y, {.own_scales = false});
  EXPECT_TRUE(own.own_scales);
  EXPECT_FALSE(raw.own_scales);
  // Age separates the samples by 1.2 standard deviations: in raw units incomes hide it.
  EXPECT_GT(own.witness_share, 0.15);
  EXPECT_LT(raw.witness_share, 0.05);
  const auto warned = [](const Explanation& e) {
    return std::ranges::any_of(e.warnings, [](const Warning& w) { return w.id == WarningId::dominating_columns; });
  };
  EXPECT_FALSE(warned(own));
  EXPECT_TRUE(warned(raw));
  // The units of a column do not matter: a power of two changes no digit.
  Sample x_wide = x;
  Sample y_wide = y;
  for (Sample* sample : {&x_wide, &y_wide}) {
    for (std::size_t i = 0; i < sample->points.rows(); ++i) sample->points(i, 5) *= 1024.0;
  }
  const Explanation wide = explain(x_wide, y_wide);
  EXPECT_EQ(wide.scores_x, own.scores_x);
  EXPECT_EQ(named(wide, "age").shift, 1024.0 * named(own, "age").shift);
  EXPECT_EQ(named(wide, "age").sensitivity, named(own, "age").sensitivity);
}

TEST(ExplainTable, kernels_that_measure_columns_themselves_see_rows_as_they_are) {
  EXPECT_FALSE(explain(table({}, 1), table({}, 2), {.kernel = parse_kernel("mixed")}).own_scales);
  EXPECT_FALSE(explain(table({}, 1), table({}, 2), {.image = ImageShape{2, 3}}).own_scales);
}

TEST(ExplainTable, names_and_types_come_from_the_sources_when_given) {
  ExplainOptions options;
  options.sources = {{.name = "Income"},
                     {.name = "Plan", .type = ColumnType::category, .levels = {"BASIC", "PLUS", "PRO"}},
                     {.name = "Age", .type = ColumnType::integer}};
  const Explanation e = explain(table({}, 1), table({}, 2), options);
  EXPECT_EQ(named(e, "Age").type, ColumnType::integer);
  std::vector<std::string> levels;
  for (const LevelShares& level : named(e, "Plan").levels) levels.push_back(level.name);
  std::ranges::sort(levels);
  EXPECT_EQ(levels, (std::vector<std::string>{"BASIC", "PLUS", "PRO"}));
}

TEST(ExplainTable, shares_of_a_category_are_shown_with_the_largest_change_first) {
  const Sample x = table({.shares = {0.5, 0.4, 0.1}}, 3);
  const Sample y = table({.shares = {0.2, 0.4, 0.4}}, 4);
  const Explanation e = explain(x, y);
  const ColumnExplanation& plan = named(e, "plan");
  EXPECT_TRUE(plan.reject);
  EXPECT_EQ(plan.where, Where::shares);
  double distance = 0.0;
  double chi_square = 0.0;
  for (std::size_t l = 0; l < 3; ++l) {
    double in_x = 0.0;
    double in_y = 0.0;
    for (std::size_t i = 0; i < 400; ++i) {
      in_x += x.points(i, 2 + l) / 400.0;
      in_y += y.points(i, 2 + l) / 400.0;
    }
    const auto found = std::ranges::find(plan.levels, kPlans[l], &LevelShares::name);
    EXPECT_NEAR(found->x, in_x, 1e-12);  // 400 additions
    EXPECT_NEAR(found->y, in_y, 1e-12);
    distance += 0.5 * std::abs(in_y - in_x);
    chi_square += (in_y - in_x) * (in_y - in_x) / (0.5 * (in_x + in_y));
  }
  EXPECT_NEAR(plan.wasserstein, distance, 1e-12);
  EXPECT_NEAR(plan.effect, std::sqrt(chi_square), 1e-12);
  EXPECT_GE(std::abs(plan.levels[0].y - plan.levels[0].x), std::abs(plan.levels[2].y - plan.levels[2].x));
}

// All permutations of five and five rows, one by one.
TEST(ExplainTable, p_value_of_a_category_is_the_share_of_permutations_with_as_large_a_chi_square) {
  const std::vector<std::size_t> level = {0, 0, 1, 0, 2, 1, 1, 2, 2, 1};
  Sample x{Matrix<double>(5, 4, 0.0), {}, {"c=a", "c=b", "c=d", "v"}};
  x.roles = {{ColumnKind::level, 0}, {ColumnKind::level, 0}, {ColumnKind::level, 0}, {ColumnKind::number, 1}};
  Sample y = x;
  for (std::size_t i = 0; i < 10; ++i) {
    Sample& sample = i < 5 ? x : y;
    sample.points(i % 5, level[i]) = 1.0;
    sample.points(i % 5, 3) = static_cast<double>(i * i);
  }
  const auto chi_square = [&](unsigned labels) {
    double value = 0.0;
    for (std::size_t l = 0; l < 3; ++l) {
      double in_x = 0.0;
      double all = 0.0;
      for (std::size_t i = 0; i < 10; ++i) {
        if (level[i] != l) continue;
        all += 1.0;
        in_x += ((labels >> i) & 1U) != 0 ? 1.0 : 0.0;
      }
      value += (in_x - all / 2.0) * (in_x - all / 2.0) / all;
    }
    return value;
  };
  std::size_t count = 0;
  std::size_t as_large = 0;
  for (unsigned labels = 0; labels < 1024; ++labels) {
    if (std::popcount(labels) != 5) continue;
    ++count;
    if (chi_square(labels) >= chi_square(0b11111) - 1e-9) ++as_large;
  }
  const Explanation e = explain(x, y);
  EXPECT_TRUE(e.enumerated);
  EXPECT_DOUBLE_EQ(named(e, "c").pvalue, static_cast<double>(as_large) / static_cast<double>(count));
}

TEST(ExplainTable, a_rise_of_missing_values_is_judged_and_named) {
  const Explanation e = explain(table({.rows = 3000, .missing = 0.03}, 5), table({.rows = 3000, .missing = 0.06}, 6));
  const ColumnExplanation& income = named(e, "income");
  ASSERT_TRUE(income.missing.has_value());
  EXPECT_TRUE(income.missing->reject);
  EXPECT_NEAR(income.missing->x, 0.03, 0.01);
  EXPECT_NEAR(income.missing->y, 0.06, 0.01);
  // The values that are there have not changed, although more rows hold the pooled median in their place.
  EXPECT_FALSE(income.reject);
  const auto json = nlohmann::json::parse(explanation_json(e));
  ASSERT_FALSE(json["changes"].empty());
  EXPECT_EQ(json["changes"][0]["kind"], "missing");
  EXPECT_NE(json["changes"][0]["text"].get<std::string>().find("income is missing in "), std::string::npos);
}

// Rows without a value do not enter: the result is that of the rows that have one.
TEST(ExplainTable, numbers_are_compared_in_the_rows_that_have_a_value) {
  const Sample x = table({.rows = 300, .missing = 0.3}, 7);
  const Sample y = table({.rows = 200, .missing = 0.1}, 8);
  const auto present = [](const Sample& sample) {
    std::vector<double> values;
    for (std::size_t i = 0; i < sample.points.rows(); ++i) {
      if (sample.points(i, 1) == 0.0) values.push_back(sample.points(i, 0));
    }
    return test::column(values);
  };
  const Explanation of_table = explain(x, y);
  const Explanation of_values = explain(present(x), present(y));
  const ColumnExplanation& income = named(of_table, "income");
  EXPECT_NEAR(income.wasserstein, of_values.columns[0].wasserstein, 1e-6);
  EXPECT_NEAR(income.shift, of_values.columns[0].shift, 1e-6);
  // Both p-values come from at least 100 exceedances or 999 permutations: their standard errors are below 0.05.
  EXPECT_NEAR(income.pvalue, of_values.columns[0].pvalue, 0.3);
}

TEST(ExplainTable, a_column_without_a_value_in_one_sample_is_judged_by_its_missing_values) {
  Sample x = table({.rows = 100, .missing = 1.0}, 9);
  const Explanation e = explain(x, table({.rows = 100, .missing = 0.0}, 10));
  EXPECT_EQ(named(e, "income").pvalue, 1.0);
  EXPECT_FALSE(named(e, "income").range_x.has_value());
  EXPECT_TRUE(named(e, "income").missing->reject);
  EXPECT_DOUBLE_EQ(named(e, "income").missing->x, 1.0);
}

TEST(ExplainTable, a_changed_relation_is_named_although_no_column_changes) {
  const Explanation e =
      explain(table({.rows = 1000, .missing = 0.0}, 11), table({.rows = 1000, .missing = 0.0, .relation = 0.5}, 12));
  ASSERT_FALSE(e.relations.empty());
  EXPECT_EQ(e.relations[0].first, "income");
  EXPECT_EQ(e.relations[0].second, "plan");
  EXPECT_EQ(e.relations[0].kind, RelationForm::number_by_level);
  EXPECT_TRUE(e.relations[0].reject);
  std::map<std::string, const RelationCell*> cells;
  for (const RelationCell& cell : e.relations[0].cells) cells[cell.second] = &cell;
  // Standard errors of a mean in 300 of 1000 rows of either sample: 0.08.
  EXPECT_NEAR(cells["basic"]->change, 0.5, 0.3);
  EXPECT_NEAR(cells["pro"]->change, -0.5, 0.3);
  EXPECT_NEAR(cells["basic"]->y - cells["basic"]->x, 5000.0, 3000.0);
  const auto json = nlohmann::json::parse(explanation_json(e));
  const auto text = json["changes"].back()["text"].get<std::string>();
  EXPECT_TRUE(text.starts_with("income by plan: ")) << text;
  EXPECT_NE(text.find(" in basic"), std::string::npos) << text;
}

TEST(ExplainTable, cells_of_rows_are_texts_numbers_and_missing_values) {
  const Explanation e = explain(table({.missing = 0.2}, 13), table({.missing = 0.2, .age_shift = 30.0}, 14));
  const auto json = nlohmann::json::parse(explanation_json(e));
  std::size_t plan = 0;
  while (json["row_columns"][plan] != "plan") ++plan;
  for (const auto& row : json["rows"]["most_y"]) {
    EXPECT_NE(std::ranges::find(kPlans, row["values"][plan].get<std::string>()), kPlans.end());
    EXPECT_EQ(row["values"].size(), 3U);
  }
  EXPECT_EQ(e.scores_x.size(), 400U);
  const ExtremeRow& first = e.most_y.front();
  EXPECT_DOUBLE_EQ((first.in_y ? e.scores_y : e.scores_x)[first.index], first.score);
}

TEST(ExplainTable, dates_and_booleans_are_shown_as_such) {
  Sample x{Matrix<double>(60, 2), {}, {"day", "paid"}};
  x.roles = {{ColumnKind::number, 0}, {ColumnKind::number, 1}};
  Sample y = x;
  for (std::size_t i = 0; i < 60; ++i) {
    x.points(i, 0) = 19'782.0 + static_cast<double>(i % 30);  // 2024-02-29
    y.points(i, 0) = 19'812.5 + static_cast<double>(i % 30);
    x.points(i, 1) = i % 2 == 0 ? 1.0 : 0.0;
    y.points(i, 1) = i % 3 == 0 ? 1.0 : 0.0;
  }
  ExplainOptions options;
  options.sources = {{.name = "day", .type = ColumnType::date}, {.name = "paid", .type = ColumnType::boolean}};
  const auto json = nlohmann::json::parse(explanation_json(explain(x, y, options)));
  EXPECT_NE(json["changes"][0]["text"].get<std::string>().find("2024-02-29 .. 2024-03-29 to 2024-03-30T12:00"),
            std::string::npos)
      << json["changes"][0];
  const auto& values = json["rows"]["most_x"][0]["values"];
  EXPECT_EQ(values[0].get<std::string>().substr(0, 5), "2024-");
  EXPECT_TRUE(values[1] == "true" || values[1] == "false");
}

// The largest score of all pairs in each permutation, by brute force: three numbers, two of them related in Y.
TEST(ExplainTable, adjusted_p_values_of_relations_come_from_the_largest_score_of_each_permutation) {
  test::Source source(21);
  Sample x = test::normal_sample({300, 3}, source);
  Sample y = test::normal_sample({300, 3}, source);
  for (std::size_t i = 0; i < 300; ++i) y.points(i, 1) = 0.6 * y.points(i, 0) + 0.8 * y.points(i, 1);
  const Explanation e = explain(x, y);
  EXPECT_EQ(e.n_relations_examined, 3U);
  ASSERT_EQ(e.relations.size(), 3U);
  EXPECT_TRUE(e.relations[0].reject);
  EXPECT_NEAR(e.relations[0].correlation_x, 0.0, 0.25);
  EXPECT_NEAR(e.relations[0].correlation_y, 0.6, 0.2);
  EXPECT_DOUBLE_EQ(e.relations[0].pvalue_adjusted, 0.001);
  for (const RelationExplanation& relation : e.relations) EXPECT_GE(relation.pvalue_adjusted, relation.pvalue);
}

// A shift, a change of scale and other shares do not change a relation.
TEST(ExplainTable, changes_of_single_columns_are_not_relations) {
  std::size_t named_relations = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Sample x = table({.rows = 300, .missing = 0.0, .relation = 0.6}, 100 + seed);
    Sample y =
        table({.rows = 300, .missing = 0.0, .shares = {0.5, 0.3, 0.2}, .relation = 0.6, .age_shift = 10.0}, 200 + seed);
    for (std::size_t i = 0; i < 300; ++i) y.points(i, 5) *= 1.5;
    const Explanation e = explain(x, y, {.num_permutations = 199});
    named_relations += static_cast<std::size_t>(
        std::ranges::count_if(e.relations, [](const RelationExplanation& r) { return r.reject; }));
  }
  // 20 families at level 0.05: more than 7 have probability below 1e-6 if the level is that of permutations.
  EXPECT_LE(named_relations, 7U);
}

TEST(ExplainTable, null_tables_name_a_relation_at_the_level) {
  std::size_t named_relations = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Explanation e = explain(table({.rows = 60, .relation = 0.5}, 300 + seed),
                                  table({.rows = 40, .relation = 0.5}, 500 + seed), {.num_permutations = 199});
    named_relations += std::ranges::any_of(e.relations, &RelationExplanation::reject) ? 1U : 0U;
  }
  // Binomial(100, 0.05) exceeds 18 with probability below 1e-6.
  EXPECT_LE(named_relations, 18U);
}

TEST(ExplainTable, result_is_the_same_for_any_number_of_threads) {
  const Sample x = table({.rows = 200}, 31);
  const Sample y = table({.rows = 150, .relation = 0.4}, 32);
  const auto text = [&](unsigned threads) {
    auto json = nlohmann::ordered_json::parse(explanation_json(explain(x, y, {.threads = ThreadCount{threads}})));
    json.erase("threads");
    return json.dump();
  };
  const std::string expected = text(1);
  for (const unsigned threads : {2U, 3U}) EXPECT_EQ(text(threads), expected);
}

TEST(ExplainTable, weights_of_one_change_no_share) {
  Sample x = table({.rows = 100}, 41);
  Sample y = table({.rows = 80, .shares = {0.6, 0.2, 0.2}}, 42);
  const Explanation plain = explain(x, y);
  x.weights.assign(100, 2.0);
  y.weights.assign(80, 2.0);
  const Explanation weighted = explain(x, y);
  EXPECT_NEAR(named(plain, "plan").pvalue, named(weighted, "plan").pvalue, 1e-12);
  EXPECT_NEAR(named(plain, "plan").effect, named(weighted, "plan").effect, 1e-9);
  EXPECT_NEAR(plain.relations[0].score, weighted.relations[0].score, 1e-6);
}

TEST(ExplainTable, rows_csv_has_the_score_of_every_row) {
  const Explanation e = explain(table({.rows = 30}, 51), table({.rows = 20}, 52));
  const std::string csv = explanation_rows_csv(e);
  EXPECT_EQ(std::ranges::count(csv, '\n'), 51);
  EXPECT_TRUE(csv.starts_with("sample,row,score\nx,1,"));
  EXPECT_NE(csv.find("\ny,20,"), std::string::npos);
}

}  // namespace
}  // namespace kqd
