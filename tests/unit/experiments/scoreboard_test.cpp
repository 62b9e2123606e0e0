#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "experiments/studies.hpp"

namespace kqd::lab {
namespace {

const Column& column_of(const Study& study, std::string_view name) {
  const auto found = std::ranges::find(study.columns, name, &Column::name);
  if (found == study.columns.end()) throw std::out_of_range(std::string(name));
  return *found;
}

TEST(Scoreboard, has_at_least_200_runs_of_every_problem_and_999_permutations) {
  const Study study = scoreboard({});
  EXPECT_GE(study.runs, 200U);
  EXPECT_EQ(study.settings.at("permutations"), 999);
  std::set<std::string> names;
  for (const Column& column : study.columns) EXPECT_TRUE(names.insert(column.name).second) << column.name;
  for (const Row& row : study.rows) {
    EXPECT_TRUE(row.published.empty() || row.published.size() == study.columns.size()) << row.id;
  }
}

TEST(Scoreboard, draws_samples_of_the_stated_sizes) {
  const Study study = scoreboard({});
  for (const Column& column : study.columns) {
    const Draw draw = column.draw(Seed{1});
    EXPECT_EQ(draw.x.points.rows(), column.n) << column.name;
    EXPECT_EQ(draw.y.points.rows(), column.n) << column.name;
    if (const auto at = column.name.find("d = "); at != std::string::npos) {
      EXPECT_EQ(draw.x.points.cols(), std::stoul(column.name.substr(at + 4))) << column.name;
    }
    const auto at = column.name.find("n = ");
    EXPECT_EQ(column.n, at == std::string::npos ? 100 : std::stoul(column.name.substr(at + 4))) << column.name;
  }
}

TEST(Scoreboard, shows_the_best_published_rate_with_its_source) {
  const Study study = scoreboard({});
  const auto& spiked = column_of(study, "spiked covariance, d = 1500").best;
  ASSERT_TRUE(spiked);
  EXPECT_DOUBLE_EQ(spiked->rate, 0.935);
  EXPECT_EQ(spiked->test, "KLR0");
  EXPECT_EQ(spiked->source, "SWP25");
  EXPECT_EQ(column_of(study, "two clusters, d = 500").best->test, "several");
  EXPECT_DOUBLE_EQ(column_of(study, "four normals, one of SD 1.6, n = 500").best->rate, 0.675);
  for (const Column& column : study.columns) {
    EXPECT_FALSE(column.name.starts_with("no difference") && column.best) << column.name;
  }
}

TEST(Scoreboard, compares_rows_with_published_rates_of_the_same_test) {
  const Study study = scoreboard({});
  const auto& agg = *std::ranges::find(study.rows, "mmd-agg", &Row::id);
  const auto place = &column_of(study, "variance 1.2 in all columns, d = 20") - study.columns.data();
  const auto published = agg.published.at(static_cast<std::size_t>(place));
  ASSERT_TRUE(published);
  EXPECT_EQ(published->successes, 293U);
  EXPECT_EQ(published->runs, 500U);
}

}  // namespace
}  // namespace kqd::lab
