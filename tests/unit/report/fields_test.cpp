#include "kqd/report/fields.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "kqd/metrics/methods.hpp"
#include "kqd/report/explanation.hpp"

namespace kqd {
namespace {

using Names = std::vector<std::string>;

Sample sample_of(std::initializer_list<double> values) {
  return {.points = Matrix<double>(values.size(), 1, values), .weights = {}, .column_names = {}};
}

// Four rows against four, far apart: 2 of all 70 permutations are as extreme, so p = 2/70.
class Fields : public testing::Test {
 protected:
  Sample x = sample_of({1.0, 2.0, 3.0, 4.0});
  Sample y = sample_of({5.0, 6.0, 7.0, 8.0});
  TwoSampleOptions options = [] {
    TwoSampleOptions o;
    o.method = "sw";
    o.statistic.threads = ThreadCount{1};
    return o;
  }();
  RunInfo run{.method = "sw", .x_name = "x.csv", .y_name = "y.csv", .n_x = 4, .n_y = 4, .dim = 1};
  TwoSampleResult test = two_sample_test(x, y, options);
  DistanceResult distance_result = distance("sw", x, y, options.statistic);
};

Names names_of(ResultKind kind) {
  Names names;
  for (const FieldInfo& field : result_fields(kind)) names.emplace_back(field.name);
  return names;
}

Names keys_of(const std::string& json) {
  const auto object = nlohmann::ordered_json::parse(json);
  Names keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

Names csv_head(ResultKind kind) {
  Names head;
  for (const FieldInfo& field : result_fields(kind)) {
    if (!field.in_csv) continue;
    const std::string name(field.name);
    if (!name.ends_with("_ci")) {
      head.push_back(name);
    } else {
      const std::string base = name.substr(0, name.size() - 3);
      head.insert(head.end(), {base + "_lower", base + "_upper"});
    }
  }
  return head;
}

Names first_line(const std::string& csv) {
  Names cells;
  std::istringstream line(csv.substr(0, csv.find('\n')));
  for (std::string cell; std::getline(line, cell, ',');) cells.push_back(cell);
  return cells;
}

TEST_F(Fields, json_has_every_field_in_the_order_of_the_table) {
  EXPECT_EQ(keys_of(test_json(test, options, run)), names_of(ResultKind::test));
  EXPECT_EQ(keys_of(distance_json(distance_result, options.statistic, run)), names_of(ResultKind::distance));
  EXPECT_EQ(keys_of(explanation_json(explain(x, y), run)), names_of(ResultKind::explanation));
  const std::vector<SampleView> samples = {x, y};
  const DistanceMatrix matrix = distance_matrix(samples, Names{"x", "y"});
  EXPECT_EQ(keys_of(matrix_json({.matrix = matrix, .options = options.statistic})), names_of(ResultKind::matrix));
  const EmbeddingTable table = embedding_table(samples, Names{"x", "y"}, std::vector<double>{0.5});
  EXPECT_EQ(keys_of(embedding_json({.table = table, .options = options.statistic})), names_of(ResultKind::embedding));
}

TEST_F(Fields, csv_has_every_field_that_fits_a_cell) {
  EXPECT_EQ(first_line(test_csv(test, options, run)), csv_head(ResultKind::test));
  EXPECT_EQ(first_line(distance_csv(distance_result, options.statistic, run)), csv_head(ResultKind::distance));
}

TEST_F(Fields, names_are_unique_and_every_field_has_a_meaning) {
  for (const ResultKind kind : {ResultKind::test, ResultKind::distance, ResultKind::matrix, ResultKind::explanation,
                                ResultKind::embedding, ResultKind::monitor}) {
    std::set<std::string_view> names;
    for (const FieldInfo& field : result_fields(kind)) {
      EXPECT_TRUE(names.insert(field.name).second) << field.name;
      EXPECT_TRUE(field.block == Block::none || !field.label.empty()) << field.name;
      EXPECT_FALSE(field.meaning.empty()) << field.name;
    }
  }
}

TEST_F(Fields, values_for_other_languages_are_the_same_doubles) {
  const ResultValues values = test_values(test, options, run);
  Names names;
  for (const FieldInfo& field : result_fields(ResultKind::test)) {
    if (!field.python.empty()) names.emplace_back(field.python);
  }
  ASSERT_EQ(values.fields.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(values.fields[i].name, names[i]);
  const auto found = std::ranges::find(values.fields, "statistic", &NamedValue::name);
  EXPECT_EQ(std::get<double>(found->value.content), test.test.statistic);
}

TEST_F(Fields, an_infinite_power_is_text_in_json_and_a_number_elsewhere) {
  options.statistic.power = std::numeric_limits<double>::infinity();
  const DistanceResult result = distance("sw", x, y, options.statistic);
  EXPECT_EQ(nlohmann::json::parse(distance_json(result, options.statistic, run))["power"], "inf");
  const ResultValues values = distance_values(result, options.statistic, run);
  const auto found = std::ranges::find(values.fields, "power", &NamedValue::name);
  EXPECT_EQ(std::get<double>(found->value.content), options.statistic.power);
}

TEST_F(Fields, text_of_a_test_leads_with_the_verdict) {
  const std::string text = test_text(test, options, run);
  const std::string summary(find_method("sw").summary);
  const std::string expected = "\nTwo-sample test by sw: " + summary + R"(

  The samples differ (p = 0.02857, reject equal distributions at level 0.05).

  statistic    4       (permutation null: mean 1.8, SD 0.75)
  p-value      0.02857 (exact: all 70 permutations, 2 at least as extreme)
  effect size  0.95    (statistic minus its permutation mean, in pooled SDs)

  X            x.csv, 4 rows x 1 column
  Y            y.csv, 4 rows x 1 column
)";
  EXPECT_EQ(text.substr(0, expected.size()), expected);
}

TEST_F(Fields, text_of_equal_samples_does_not_claim_that_they_are_equal) {
  const TwoSampleResult result = two_sample_test(x, x, options);
  EXPECT_NE(test_text(result, options, run)
                .find("\n  No difference found (p = 1, do not reject equal distributions at level 0.05).\n"),
            std::string::npos);
}

TEST_F(Fields, effect_size_of_an_aggregated_test_names_its_method) {
  options.method = run.method = "mmd-agg";
  const TwoSampleResult result = two_sample_test(x, y, options);
  const std::string text = test_text(result, options, run);
  EXPECT_NE(text.find("(mmd minus its permutation mean, in pooled SDs)"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  component statistic"), std::string::npos) << text;
}

// Each kind of object has a section in the guide with a row `| `name` | meaning |` per field.
TEST_F(Fields, guide_lists_every_field_with_its_meaning) {
  std::ifstream file(KQD_TEST_DATA "/../../docs/guide/json.md");
  const std::string guide((std::istreambuf_iterator<char>(file)), {});
  const std::vector<std::pair<ResultKind, std::string>> sections = {
      {ResultKind::test, "kqd.test/2"},           {ResultKind::distance, "kqd.distance/2"},
      {ResultKind::matrix, "kqd.matrix/2"},       {ResultKind::explanation, "kqd.explain/2"},
      {ResultKind::embedding, "kqd.embedding/1"}, {ResultKind::monitor, "kqd.monitor/1"}};
  for (const auto& [kind, schema] : sections) {
    std::string table = "\n| field | meaning |\n|---|---|\n";
    for (const FieldInfo& field : result_fields(kind)) {
      table += "| `" + std::string(field.name) + "` | " + std::string(field.meaning) + " |\n";
    }
    const std::size_t section = guide.find("## `" + schema + "`");
    ASSERT_NE(section, std::string::npos) << schema;
    const std::size_t end = guide.find("\n## ", section + 1);
    EXPECT_NE(guide.substr(section, end - section).find(table), std::string::npos) << "expected in " << schema << table;
  }
}

}  // namespace
}  // namespace kqd
