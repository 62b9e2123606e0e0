#include "kqd/explain/explain.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kqd/report/explanation.hpp"
#include "support/errors.hpp"
#include "support/source.hpp"
#include "support/warnings.hpp"

namespace kqd {
namespace {

const ColumnExplanation& column(const Explanation& e, std::size_t index) {
  return *std::ranges::find(e.columns, index, &ColumnExplanation::index);
}

// The score of a permutation as defined in the header, over all gaps of the pool; bits of `labels` are rows of X.
double score_of(const std::vector<double>& sorted, const std::vector<bool>& is_x) {
  const std::size_t n = sorted.size();
  const auto nx = static_cast<double>(std::ranges::count(is_x, true));
  const double ny = static_cast<double>(n) - nx;
  double gaps[3] = {0, 0, 0};
  double sizes[3] = {0, 0, 0};
  double below_x = 0;
  double below_y = 0;
  for (std::size_t k = 0; k + 1 < n; ++k) {
    (is_x[k] ? below_x : below_y) += 1;
    const double level = static_cast<double>(k + 1) / static_cast<double>(n);
    const double width = sorted[k + 1] - sorted[k];
    const double gap = std::abs(below_x / nx - below_y / ny) * width;
    const double size = std::sqrt(level * (1 - level)) * width;
    const bool in_part[3] = {true, level<0.1, level> 0.9};
    for (int part = 0; part < 3; ++part) {
      if (!in_part[part]) continue;
      gaps[part] += gap;
      sizes[part] += size;
    }
  }
  double score = gaps[0] / sizes[0];
  for (const int part : {1, 2}) {
    if (sizes[part] > 0) score = std::max(score, 0.8 * gaps[part] / sizes[part]);
  }
  return score;
}

// All permutations of six and six numbers, one by one.
TEST(Explain, p_value_of_a_column_is_the_share_of_permutations_that_score_as_high) {
  test::Source source(3);
  std::vector<double> values(12);
  for (double& value : values) value = source.normal();
  for (std::size_t i = 6; i < 12; ++i) values[i] = 0.6 + 1.5 * values[i];
  const Sample x = test::column({values.begin(), values.begin() + 6});
  const Sample y = test::column({values.begin() + 6, values.end()});
  const Explanation e = explain(x, y);

  std::vector<double> sorted = values;
  std::ranges::sort(sorted);
  const auto score = [&](const std::vector<bool>& labels) { return score_of(sorted, labels); };
  std::vector<bool> observed(12);
  for (std::size_t k = 0; k < 12; ++k) {
    observed[k] = std::find(values.begin(), values.begin() + 6, sorted[k]) != values.begin() + 6;
  }
  std::size_t permutation_count = 0;
  std::size_t as_high = 0;
  for (unsigned bits = 0; bits < 4096; ++bits) {
    if (std::popcount(bits) != 6) continue;
    std::vector<bool> labels(12);
    for (std::size_t k = 0; k < 12; ++k) labels[k] = ((bits >> k) & 1U) != 0;
    ++permutation_count;
    if (score(labels) >= score(observed) * (1 - 1e-5)) ++as_high;
  }
  EXPECT_TRUE(e.enumerated);
  EXPECT_EQ(e.n_resamples, permutation_count);
  EXPECT_DOUBLE_EQ(e.columns.front().pvalue, static_cast<double>(as_high) / static_cast<double>(permutation_count));
}

TEST(Explain, p_values_with_equal_weights_are_those_of_enumeration) {
  test::Source source(4);
  Sample x = test::normal_sample({6, 2}, source);
  Sample y = test::normal_sample({5, 2}, source, 0.8);
  const Explanation plain = explain(x, y);
  x.weights.assign(6, 2.5);
  y.weights.assign(5, 2.5);
  const Explanation weighted = explain(x, y);
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_DOUBLE_EQ(column(plain, c).pvalue, column(weighted, c).pvalue);
    EXPECT_NEAR(column(plain, c).wasserstein, column(weighted, c).wasserstein, 1e-12);
  }
}

// Weights can be likelihoods so small that their squares are 0.
TEST(Explain, only_ratios_of_weights_matter) {
  test::Source source(4);
  Sample x = test::normal_sample({30, 2}, source);
  Sample y = test::normal_sample({30, 2}, source, 2.0);
  const Explanation plain = explain(x, y);
  for (const double weight : {1e-200, 1e200}) {
    x.weights.assign(30, weight);
    y.weights.assign(30, weight);
    const Explanation weighted = explain(x, y);
    for (std::size_t c = 0; c < 2; ++c) EXPECT_DOUBLE_EQ(column(plain, c).pvalue, column(weighted, c).pvalue) << weight;
  }
}

struct Pair {
  Sample x;
  Sample y;
};

Pair shifted_pair() {
  test::Source source(11);
  Pair pair{test::normal_sample({130, 4}, source), test::normal_sample({90, 4}, source)};
  for (std::size_t i = 0; i < 90; ++i) pair.y.points(i, 1) += 1.0;
  return pair;
}

std::string without_threads(const Explanation& e) {
  auto json = nlohmann::ordered_json::parse(explanation_json(e));
  json.erase("threads");
  return json.dump();
}

TEST(Explain, result_is_the_same_for_any_number_of_threads_and_any_bound_on_memory) {
  const auto [x, y] = shifted_pair();
  const std::string expected = without_threads(explain(x, y, {.threads = ThreadCount{1}}));
  for (const unsigned threads : {2U, 3U, 5U}) {
    EXPECT_EQ(without_threads(explain(x, y, {.threads = ThreadCount{threads}})), expected);
  }
  EXPECT_EQ(without_threads(explain(x, y, {.max_memory = 60'000})), expected);
}

TEST(Explain, order_of_the_rows_changes_nothing_but_their_numbers) {
  const auto [x, y] = shifted_pair();
  test::Source source(2);
  const std::vector<std::size_t> order = test::shuffled(x.points.rows(), source);
  const Explanation before = explain(x, y);
  const Explanation after = explain(test::rows_in_order(x, order), y);
  ASSERT_EQ(before.most_x.size(), after.most_x.size());
  for (std::size_t c = 0; c < before.columns.size(); ++c) {
    EXPECT_EQ(before.columns[c].index, after.columns[c].index);
    EXPECT_EQ(before.columns[c].pvalue, after.columns[c].pvalue);
    EXPECT_EQ(before.columns[c].wasserstein, after.columns[c].wasserstein);
  }
  for (std::size_t k = 0; k < before.most_x.size(); ++k) {
    const ExtremeRow& row = after.most_x[k];
    EXPECT_EQ(before.most_x[k].index, row.in_y ? row.index : order[row.index]);
    EXPECT_EQ(before.most_x[k].score, row.score);
  }
}

// In many dimensions a function fitted to the labels separates any labels.
TEST(Explain, own_label_of_a_row_does_not_make_it_extreme) {
  double total = 0.0;
  for (const std::uint64_t seed : test::seeds(5)) {
    test::Source source(seed);
    const Sample x = test::normal_sample({25, 60}, source);
    const Sample y = test::normal_sample({25, 60}, source);
    const Explanation e = explain(x, y, {.num_permutations = 19, .seed = Seed{seed}});
    for (const ExtremeRow& row : e.most_y) total += row.in_y ? 1.0 : -1.0;
    for (const ExtremeRow& row : e.most_x) total += row.in_y ? -1.0 : 1.0;
  }
  // Without information 50 of 100 rows are on their own side, with a standard deviation of 5 if they were independent.
  // A function fitted to the labels would have nearly all of them there.
  EXPECT_LT(total, 50.0);
}

// Two clusters, in each of which one sample has three times as many rows as the other: most of the shown rows should be
// of that sample. Leave-one-out scores of all rows would show only rows of the other sample.
TEST(Explain, similar_rows_are_not_ranked_against_their_labels) {
  test::Source source(3);
  Sample x = test::normal_sample({400, 1}, source);
  Sample y = test::normal_sample({400, 1}, source);
  for (std::size_t i = 0; i < 400; ++i) {
    x.points(i, 0) = 0.01 * x.points(i, 0) + (i < 300 ? 0.0 : 5.0);
    y.points(i, 0) = 0.01 * y.points(i, 0) + (i < 300 ? 5.0 : 0.0);
  }
  const Explanation e = explain(x, y, {.num_permutations = 19});
  EXPECT_GE(std::ranges::count_if(e.most_y, [](const ExtremeRow& row) { return row.in_y; }), 5);
  EXPECT_GE(std::ranges::count_if(e.most_x, [](const ExtremeRow& row) { return !row.in_y; }), 5);
}

TEST(Explain, reports_the_numbers_of_rows_behind_directions_and_witness) {
  test::Source source(4);
  const Sample few = test::normal_sample({300, 2}, source);
  const Explanation whole = explain(few, few, {.num_permutations = 19});
  EXPECT_EQ(whole.n_principal_rows, 600U);
  EXPECT_EQ(whole.n_witness_rows, 600U);
  const Sample many = test::normal_sample({12'000, 2}, source);
  const Explanation part = explain(many, many, {.num_permutations = 19});
  EXPECT_EQ(part.n_principal_rows, 20'000U);
  EXPECT_EQ(part.n_witness_rows, 10'000U);
}

TEST(Explain, warns_of_a_column_that_outweighs_all_others) {
  test::Source source(5);
  Sample x = test::normal_sample({50, 3}, source);
  Sample y = test::normal_sample({50, 3}, source);
  const auto warned = [&](bool own_scales = false) {
    const ExplainOptions options{
        .num_permutations = 19, .column_names = {"age", "income", "height"}, .own_scales = own_scales};
    const Warnings warnings = explain(x, y, options).warnings;
    return std::ranges::any_of(warnings, [](const Warning& w) {
      return w.id == WarningId::dominating_columns && w.values[0] == WarningValue("\"income\"");
    });
  };
  EXPECT_FALSE(warned());
  for (Sample* sample : {&x, &y}) {
    for (std::size_t i = 0; i < 50; ++i) sample->points(i, 1) *= 1e5;
  }
  EXPECT_TRUE(warned());
  EXPECT_FALSE(warned(true));
}

TEST(Explain, reports_the_shares_of_a_column_of_two_values) {
  test::Source source(7);
  Sample x = test::normal_sample({40, 2}, source);
  Sample y = test::normal_sample({50, 2}, source);
  for (std::size_t i = 0; i < 40; ++i) x.points(i, 1) = i < 10 ? 3.0 : -1.0;
  for (std::size_t i = 0; i < 50; ++i) y.points(i, 1) = i < 30 ? 3.0 : -1.0;
  const auto shares = [&] {
    const WeightsAs weights_as = x.weights.empty() ? WeightsAs::checked : WeightsAs::frequency;
    return column(explain(x, y, {.num_permutations = 19, .weights_as = weights_as}), 1).shares;
  };
  EXPECT_FALSE(column(explain(x, y, {.num_permutations = 19}), 0).shares);
  ASSERT_TRUE(shares());
  EXPECT_EQ(shares()->value, 3.0);
  EXPECT_NEAR(shares()->x, 0.25, 1e-12);
  EXPECT_NEAR(shares()->y, 0.6, 1e-12);
  x.weights.assign(40, 1.0);
  for (std::size_t i = 0; i < 10; ++i) x.weights[i] = 3.0;
  EXPECT_NEAR(shares()->x, 0.5, 1e-12);
  y.points(0, 1) = 1.0;
  EXPECT_FALSE(shares());
}

TEST(Explain, names_the_columns_of_images_by_pixel) {
  test::Source source(6);
  const Sample x = test::normal_sample({20, 12}, source);
  const auto name_of_last = [&](const ImageShape& shape) {
    return column(explain(x, x, {.num_permutations = 19, .image = shape}), 11).name;
  };
  EXPECT_EQ(name_of_last({3, 4, 1}), "pixel 3,4");
  EXPECT_EQ(name_of_last({2, 2, 3}), "pixel 2,2 of channel 3");
}

// Quantiles of a normal distribution, without randomness.
std::vector<double> normal_scores(std::size_t n) {
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) {
    const double p = (static_cast<double>(i) + 0.5) / static_cast<double>(n);
    double low = -10.0;
    double high = 10.0;
    for (int step = 0; step < 80; ++step) {
      const double middle = 0.5 * (low + high);
      (0.5 * std::erfc(-middle / std::sqrt(2.0)) < p ? low : high) = middle;
    }
    values.push_back(low);
  }
  return values;
}

TEST(Explain, names_the_part_of_a_distribution_that_differs) {
  const std::vector<double> base = normal_scores(400);
  const auto where_after = [&](auto change) {
    std::vector<double> changed = base;
    for (double& value : changed) value = change(value);
    return to_string(explain(test::column(base), test::column(changed)).columns.front().where);
  };
  EXPECT_EQ(where_after([](double v) { return v; }), "nowhere");
  EXPECT_EQ(where_after([](double v) { return v + 0.5; }), "everywhere");
  EXPECT_EQ(where_after([](double v) { return v > 0.3 ? 0.3 + 2 * (v - 0.3) : v; }), "upper tail");
  EXPECT_EQ(where_after([](double v) { return v < -0.3 ? -0.3 + 2 * (v + 0.3) : v; }), "lower tail");
  EXPECT_EQ(where_after([](double v) { return 2 * v; }), "both tails");
  EXPECT_EQ(where_after([](double v) { return std::abs(v) < 0.6 ? 0.6 : v; }), "centre");
}

TEST(Explain, levels_of_a_shift_are_all_moved_by_it) {
  const std::vector<double> base = normal_scores(200);
  std::vector<double> moved = base;
  for (double& value : moved) value += 0.25;
  const Explanation e = explain(test::column(base), test::column(moved));
  ASSERT_TRUE(e.columns.front().profile);
  EXPECT_EQ(e.columns.front().profile->levels.size(), 99U);
  for (const double difference : e.columns.front().profile->difference) EXPECT_NEAR(difference, 0.25, 1e-12);
  EXPECT_NEAR(e.columns.front().wasserstein, 0.25, 1e-12);
  EXPECT_NEAR(e.columns.front().shift, 0.25, 1e-12);
}

TEST(Explain, sensitivity_has_the_sign_of_what_is_y_like) {
  auto [x, y] = shifted_pair();
  for (std::size_t i = 0; i < y.points.rows(); ++i) y.points(i, 3) -= 1.0;
  const Explanation e = explain(x, y);
  EXPECT_GT(column(e, 1).sensitivity, 0.2);
  EXPECT_LT(column(e, 3).sensitivity, -0.2);
  EXPECT_LT(std::abs(column(e, 0).sensitivity), 0.1);
}

TEST(Explain, densities_integrate_to_one) {
  const auto [x, y] = shifted_pair();
  for (const DirectionExplanation& direction : explain(x, y).directions) {
    const ProjectedDensity& density = direction.density;
    double area_x = 0.0;
    double area_y = 0.0;
    for (std::size_t k = 1; k < density.at.size(); ++k) {
      const double width = density.at[k] - density.at[k - 1];
      area_x += 0.5 * width * (density.x[k] + density.x[k - 1]);
      area_y += 0.5 * width * (density.y[k] + density.y[k - 1]);
    }
    EXPECT_NEAR(area_x, 1.0, 0.05) << direction.name;
    EXPECT_NEAR(area_y, 1.0, 0.05) << direction.name;
  }
}

TEST(Explain, notes_that_permutations_are_too_few_for_a_significant_column) {
  const auto [x, y] = shifted_pair();
  const Explanation e = explain(x, y, {.num_permutations = 78});
  EXPECT_EQ(e.columns_note,
            "78 permutations are too few to call columns different after adjustment for all 4: 79 are needed");
  EXPECT_FALSE(e.columns.front().reject);
  EXPECT_EQ(explain(x, y, {.num_permutations = 79}).columns_note, "");  // 4 / (79 + 1) = 0.05
}

TEST(Explain, permutations_grow_with_the_number_of_columns) {
  test::Source source(1);
  const Sample x = test::normal_sample({30, 120}, source);
  const Sample y = test::normal_sample({30, 120}, source);
  const Explanation e = explain(x, y);
  EXPECT_EQ(e.n_resamples, 20 * e.n_directions_examined);
  EXPECT_EQ(e.columns_note, "");
  EXPECT_EQ(e.directions_note, "");
}

TEST(Explain, constant_and_equal_data_show_nothing) {
  const Sample same{Matrix<double>(20, 2, 1.0), {}, {}};
  const Explanation e = explain(same, same);
  for (const ColumnExplanation& c : e.columns) {
    EXPECT_EQ(c.pvalue, 1.0);
    EXPECT_EQ(c.wasserstein, 0.0);
    EXPECT_EQ(c.where, Where::nowhere);
  }
  EXPECT_FALSE(e.directions.empty());
}

TEST(Explain, rows_of_weight_zero_are_excluded_and_others_keep_their_numbers) {
  auto [x, y] = shifted_pair();
  x.weights.assign(x.points.rows(), 1.0);
  x.weights[0] = 0.0;
  x.points(0, 1) = -50.0;
  const Explanation e = explain(x, y);
  EXPECT_LT(column(e, 1).wasserstein, 1.5);
  for (const ExtremeRow& row : e.most_x) {
    EXPECT_TRUE(row.in_y || row.index > 0);
    EXPECT_EQ(row.row, row.index + 1);
    const double cell = row.in_y ? y.points(row.index, 1) : x.points(row.index, 1);
    EXPECT_EQ(std::stod(row.cells.front()), cell);  // the first column shown is the one that differs
  }
}

TEST(Explain, pairs_are_permuted_as_pairs) {
  const auto [x, y] = shifted_pair();
  Sample first = test::rows_in_order(x, [] {
    std::vector<std::size_t> rows(90);
    for (std::size_t i = 0; i < 90; ++i) rows[i] = i;
    return rows;
  }());
  const Explanation e = explain(first, y, {.design = Design::paired()});
  EXPECT_TRUE(e.columns.front().reject);
  EXPECT_EQ(e.columns.front().index, 1U);
}

TEST(Explain, json_holds_hostile_names_and_stays_small_with_many_columns) {
  test::Source source(5);
  Sample x = test::normal_sample({20, 2000}, source);
  const Sample y = test::normal_sample({20, 2000}, source);
  for (std::size_t c = 0; c < 2000; ++c) x.column_names.push_back(fmt::format("c{}", c));
  x.column_names[3] = "</script><b>\"\n\xff";
  const std::string json = explanation_json(explain(x, y, {.num_permutations = 19}));
  EXPECT_LT(json.size(), 2'000'000U);
  const auto parsed = nlohmann::json::parse(json);
  EXPECT_EQ(parsed["columns"].size(), 2000U);
  EXPECT_EQ(parsed["schema"], "kqd.explain/2");
  EXPECT_TRUE(std::ranges::any_of(parsed["columns"], [](const auto& c) {
    return c["name"].template get<std::string>().starts_with("</script><b>\"\n");
  }));
}

TEST(Explain, image_shapes_are_parsed_and_checked) {
  EXPECT_EQ(parse_image_shape("32x30x3").size(), 2880U);
  EXPECT_EQ(parse_image_shape("28x28").channels, 1U);
  for (const char* text : {"28", "0x3", "2x2x2x2", "axb", "2.5x2", ""}) {
    EXPECT_THROW(static_cast<void>(parse_image_shape(text)), Error) << text;
  }
  const Pair pair = shifted_pair();
  test::expect_error(ErrorCode::shape_mismatch,
                     "image_shape = 3x3: expected a shape of 4 values, as many as the rows have (this one has 9)", [&] {
                       static_cast<void>(explain(pair.x, pair.y, {.image = ImageShape{3, 3}}));
                     });
  const Explanation e = explain(pair.x, pair.y, {.image = ImageShape{2, 2}});
  ASSERT_TRUE(e.image);
  EXPECT_EQ(e.image->witness.size(), 4U);
  EXPECT_EQ(e.most_x.front().pixels.size(), 4U);
}

}  // namespace
}  // namespace kqd
