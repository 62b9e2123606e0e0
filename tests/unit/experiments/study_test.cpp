#include "experiments/study.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "experiments/study_report.hpp"
#include "experiments/study_results.hpp"
#include "experiments/study_run.hpp"
#include "kqd/core/error.hpp"
#include "support/scratch_folder.hpp"

namespace kqd::lab {
namespace {

// A study of coins: the decision of a run depends on its seed only, and decisions are counted.
struct Coins {
  std::atomic<std::size_t> tosses{0};
  std::atomic<std::size_t> fail_after{1'000'000};

  Study study(std::size_t runs) {
    Study study;
    study.id = "coins";
    study.title = "Coins";
    study.axis = "side";
    study.comparison = "what a coin should do";
    study.runs = runs;
    for (const double x : {1.0, 2.0}) {
      study.columns.push_back({.x = x, .n = 1, .draw = [](Seed) { return Draw{}; }});
    }
    study.rows = {{.id = "fair", .label = "fair", .published = {Count{150, 300}, std::nullopt}},
                  {.id = "never", .label = "never"},
                  {.id = "late", .label = "late"}};
    study.panels = {{"coins", {"fair", "never", "late"}}};
    study.bundles.push_back({.rows = {0, 1}, .reject = [this](const Column&, const Draw&, Seed seed) {
                               if (++tosses > fail_after) throw Error(ErrorCode::internal, "the coin is lost");
                               return std::vector<bool>{(seed.value * 0x9e3779b97f4a7c15ULL) >> 63U != 0, false};
                             }});
    study.bundles.push_back({.rows = {2},
                             .reject = [](const Column&, const Draw&, Seed) { return std::vector<bool>{true}; },
                             .largest_n = 0});
    study.settings = {{"metal", "copper"}};
    return study;
  }
};

class StudyRunTest : public testing::Test {
 protected:
  StudyResults run(const Study& study, unsigned threads = 1, const std::vector<std::string>& methods = {}) {
    StudyResults results(study);
    results.resume(path_, study, Seed{1});
    run_study(study, chosen_rows(study, methods), Seed{1}, ThreadCount{threads}, path_, results, nullptr);
    return results;
  }

  test::ScratchFolder folder_;
  std::string path_ = folder_.path("coins.json");
};

TEST_F(StudyRunTest, decisions_do_not_depend_on_the_number_of_threads) {
  Coins coins;
  const Study study = coins.study(200);
  const std::string one = run(study, 1).cell(0, 0).decisions;
  std::remove(path_.c_str());
  EXPECT_EQ(run(study, 3).cell(0, 0).decisions, one);
  EXPECT_NE(one.find('1'), std::string::npos);
  EXPECT_NE(one.find('0'), std::string::npos);
}

TEST_F(StudyRunTest, continues_where_it_stopped_and_adds_runs) {
  Coins whole;
  const std::string expected = run(whole.study(60)).cell(0, 1).decisions;
  std::remove(path_.c_str());
  Coins coins;
  coins.fail_after = 70;
  EXPECT_THROW(run(coins.study(50)), Error);
  coins.fail_after = 1'000'000;
  coins.tosses = 0;
  const StudyResults resumed = run(coins.study(50));
  EXPECT_EQ(coins.tosses, 100U - 70U);  // no finished run was lost
  EXPECT_EQ(resumed.cell(0, 1).decisions, expected.substr(0, 50));
  coins.tosses = 0;
  EXPECT_EQ(run(coins.study(60)).cell(0, 1).decisions, expected);
  EXPECT_EQ(coins.tosses, 20U);
  EXPECT_EQ(run(coins.study(10)).cell(0, 1).decisions, expected);  // fewer runs than there are
}

TEST_F(StudyRunTest, runs_only_the_chosen_rows_and_keeps_the_others) {
  Coins coins;
  const StudyResults some = run(coins.study(10), 1, {"fair"});
  EXPECT_TRUE(some.has_row(0));
  EXPECT_FALSE(some.has_row(1));
  const StudyResults more = run(coins.study(10), 1, {"never"});
  EXPECT_TRUE(more.has_row(0));
  EXPECT_EQ(more.cell(1, 0).count().runs, 10U);
  EXPECT_FALSE(more.has_row(2));  // too expensive for every column
  EXPECT_THROW(static_cast<void>(chosen_rows(coins.study(1), std::vector<std::string>{"nevr"})), Error);
}

TEST_F(StudyRunTest, refuses_other_results) {
  Coins coins;
  Study study = coins.study(5);
  static_cast<void>(run(study));
  study.settings["metal"] = "gold";
  EXPECT_THROW(run(study), Error);
  std::ofstream(path_) << "{\"schema\": \"kqd.test/1\"}";
  EXPECT_THROW(run(coins.study(5)), Error);
  std::ofstream(path_) << "not even JSON";
  EXPECT_THROW(run(coins.study(5)), Error);
  StudyResults none(study);
  EXPECT_THROW(none.save(folder_.path("missing/coins.json"), study, Seed{1}), Error);
}

TEST_F(StudyRunTest, reports_rates_with_published_ones) {
  Coins coins;
  const Study study = coins.study(100);
  const StudyResults results = run(study);
  const std::string text = study_markdown(study, results);
  EXPECT_NE(text.find("(0.500)"), std::string::npos) << text;
  EXPECT_NE(text.find("| never | 0.000 | 0.000 |"), std::string::npos) << text;
  EXPECT_EQ(text.find("late"), std::string::npos) << text;
  const std::string figure = study_figure(study, results);
  EXPECT_NE(figure.find("</svg>"), std::string::npos);
  EXPECT_EQ(figure.find("nan"), std::string::npos);
}

TEST_F(StudyRunTest, has_a_line_per_column_with_best_published_rate_and_time_if_asked) {
  Coins coins;
  Study study = coins.study(4);
  study.columns_down = true;
  study.columns[0].name = "heads";
  study.columns[0].best = BestPublished{0.75, "thumb", "Coin99"};
  StudyResults results(study);
  for (std::size_t c = 0; c < 2; ++c) {
    results.cell(0, c) = {"1111", 0.04};
    results.cell(1, c) = {"1000", 8.0};
  }
  const std::string text = study_markdown(study, results);
  for (const char* const line :
       {"| side | best published | fair | never |\n", "| heads | 0.750 thumb \\[Coin99\\] | 1.000 (0.500) | 0.250 |\n",
        "| 2 |  | 1.000 | 0.250 |\n", "| at least the best published rate |  | 1 of 1 | 0 of 1 |\n",
        "| heads | 10 | 2000 |\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
  const std::string figure = study_figure(study, results);
  EXPECT_NE(figure.find(">heads</text>"), std::string::npos);
  EXPECT_NE(figure.find(">best published</text>"), std::string::npos);
  EXPECT_EQ(figure.find("nan"), std::string::npos);
}

TEST_F(StudyRunTest, a_list_shows_only_cells_with_all_runs_and_names_the_others) {
  Coins coins;
  Study study = coins.study(4);
  study.columns_down = true;
  StudyResults results(study);
  results.cell(0, 0) = {"1111", 0.04};
  results.cell(0, 1) = {"11.1", 0.03};
  const std::string text = study_markdown(study, results);
  EXPECT_NE(text.find("| 1 |  | 1.000 (0.500) |\n| 2 |  |  |\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Not run yet: fair (1 of 2 sides); never (all sides).\n"), std::string::npos) << text;
  results.cell(0, 1) = results.cell(1, 0) = results.cell(1, 1) = {"0101", 0.04};
  EXPECT_EQ(study_markdown(study, results).find("Not run yet"), std::string::npos);
}

TEST_F(StudyRunTest, time_of_a_cell_is_processor_time) {
  Coins coins;
  Study study = coins.study(2);
  study.bundles[0].reject = [](const Column&, const Draw&, Seed) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return std::vector<bool>{true, true};
  };
  EXPECT_LT(run(study).cell(0, 0).seconds, 0.02);
}

TEST_F(StudyRunTest, shows_the_number_of_runs_of_cells_with_another_number) {
  Coins coins;
  EXPECT_NE(study_markdown(coins.study(10), run(coins.study(10))).find(", 10 runs; "), std::string::npos);
  const StudyResults results = run(coins.study(25), 1, {"never"});
  const std::string text = study_markdown(coins.study(25), results);
  const bool ten_is_usual = text.find(", 10 runs, or the number in [ ]; ") != std::string::npos;
  EXPECT_TRUE(ten_is_usual) << text;
  EXPECT_NE(text.find("| never | 0.000 \\[25\\] | 0.000 \\[25\\] |"), std::string::npos) << text;
}

// The marker of e-KQD is a blue circle at any place in the list; rows without a fixed style get an unused one.
TEST_F(StudyRunTest, draws_a_method_in_the_same_style_in_every_panel) {
  Coins coins;
  Study study = coins.study(5);
  study.rows[0].id = "ekqd-2";
  study.rows[1].id = "another";
  for (const std::vector<std::string>& order :
       {std::vector<std::string>{"ekqd-2", "another"}, std::vector<std::string>{"another", "ekqd-2"}}) {
    study.panels = {{"coins", order}};
    std::remove(path_.c_str());
    const std::string figure = study_figure(study, run(study));
    std::size_t elements = 0;
    std::size_t arcs = 0;
    for (std::size_t at = figure.find("fill=\"#0072b2\""); at != std::string::npos;
         at = figure.find("fill=\"#0072b2\"", at + 1)) {
      ++elements;
      const std::size_t begin = figure.rfind('<', at);
      arcs += static_cast<std::size_t>(std::ranges::count(figure.substr(begin, at - begin), 'a')) - 1;  // "path"
    }
    EXPECT_EQ(elements, 2U);  // one path for both columns, and the legend
    EXPECT_EQ(arcs, 6U);      // three circles
    EXPECT_NE(figure.find("fill=\"#d55e00\""), std::string::npos);
  }
}

}  // namespace
}  // namespace kqd::lab
