#include "kqd/report/page.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/metrics/methods.hpp"

namespace kqd {
namespace {

constexpr std::string_view kDataElement = R"(<script type="application/json" id="report">)";

// The content of the data element. It ends at the next <, since the data have none.
std::string data_of(const std::string& page) {
  const std::size_t begin = page.find(kDataElement) + kDataElement.size();
  return page.substr(begin, page.find('<', begin) - begin);
}

Sample first_sample() {
  return {.points = Matrix<double>(4, 1, {1.0, 2.0, 3.0, 4.0}), .weights = {}, .column_names = {}};
}
Sample second_sample() {
  return {.points = Matrix<double>(4, 1, {2.5, 3.5, 6.0, 7.0}), .weights = {}, .column_names = {}};
}

TEST(Page, hostile_data_are_read_back_unchanged) {
  const nlohmann::json hostile = {{"name", "</script><!--<script>alert(1)</script>"}, {"other", "\\u003c & \" \n"}};
  EXPECT_EQ(nlohmann::json::parse(data_of(report_page(hostile.dump()))), hostile);
}

TEST(Page, holds_the_json_of_a_test_and_its_null_distribution) {
  TwoSampleOptions options{.method = "ekqd"};
  options.test.keep_null_distribution = true;
  const TwoSampleResult result = two_sample_test(first_sample(), second_sample(), options);
  const RunInfo run{.method = options.method, .x_name = "<x>", .y_name = "y", .n_x = 4, .n_y = 4, .dim = 1};
  const auto report = nlohmann::json::parse(data_of(test_page(result, options, run, {.command = "kqd test"})));
  EXPECT_EQ(report["schema"], "kqd.report/2");
  EXPECT_EQ(report["command"], "kqd test");
  EXPECT_EQ(report["result"]["x"], "<x>");
  EXPECT_EQ(report["result"]["pvalue"], result.test.pvalue);
  EXPECT_TRUE(report["result"]["null_distribution"].is_null());
  EXPECT_EQ(report["null"]["values"].size(), result.test.null_distribution.size());
  EXPECT_TRUE(report["explanation"].is_null());
  EXPECT_EQ(report["labels"]["kernel"], "kernel");
  for (const auto& [name, label] : report["labels"].items()) EXPECT_TRUE(report["result"].contains(name)) << name;
}

TEST(Page, holds_an_explanation_that_it_is_given) {
  const MethodOptions options;
  const DistanceResult result = distance("ekqd", first_sample(), second_sample(), options);
  const RunInfo run{.method = "ekqd", .x_name = "x", .y_name = "y", .n_x = 4, .n_y = 4, .dim = 1};
  const PageInfo info{.explanation = explain(first_sample(), second_sample())};
  const auto report = nlohmann::json::parse(data_of(distance_page(result, options, run, info)));
  EXPECT_EQ(report["explanation"]["schema"], "kqd.explain/2");
  EXPECT_TRUE(report["null"].is_null());
}

TEST(Page, up_to_2000_null_values_are_kept_unchanged) {
  EXPECT_EQ(thinned_by_rank({3.0, 1.0, 2.0}), (std::vector<double>{3.0, 1.0, 2.0}));
  EXPECT_TRUE(thinned_by_rank({}).empty());
}

TEST(Page, many_null_values_are_thinned_evenly_with_both_ends) {
  std::vector<double> values(9001);
  std::iota(values.rbegin(), values.rend(), 0.0);
  const std::vector<double> kept = thinned_by_rank(values);
  ASSERT_EQ(kept.size(), 2000U);
  EXPECT_EQ(kept.front(), 0.0);
  EXPECT_EQ(kept.back(), 9000.0);
  // 9000 steps of the whole over 1999 of the part are 4 or 5 each.
  for (std::size_t i = 1; i < kept.size(); ++i) {
    EXPECT_GE(kept[i] - kept[i - 1], 4.0);
    EXPECT_LE(kept[i] - kept[i - 1], 5.0);
  }
}

}  // namespace
}  // namespace kqd
