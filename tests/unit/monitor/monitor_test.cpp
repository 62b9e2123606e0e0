#include "kqd/monitor/monitor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "kqd/report/monitor_report.hpp"
#include "monitor/conformal.hpp"
#include "support/errors.hpp"
#include "support/scratch_folder.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

constexpr std::size_t kRows = 240;

ProfileOptions quick_options(std::uint64_t rows_per_group = 8) {
  ProfileOptions options;
  options.method = "ekqd";
  options.rows_per_group = rows_per_group;
  options.statistic.directions.num_directions = 8;
  options.statistic.directions.num_reference = 8;
  return options;
}

MonitorOptions quick_monitor() {
  MonitorOptions options;
  options.test.method = "ekqd";
  options.test.test.num_permutations = 199;
  return options;
}

Sample batch(test::Source& source, double shift = 0.0, std::size_t rows = kRows) {
  Sample sample = test::normal_sample({rows, 2}, source);
  sample.column_names = {"first", "second"};
  for (std::size_t i = 0; i < rows; ++i) sample.points(i, 1) += shift;
  return sample;
}

std::string name_of(std::size_t k) {
  return "batch " + std::to_string(k);
}

TEST(ConformalPvalue, a_batch_that_differs_from_all_others_has_the_smallest_rank) {
  test::Source source(21);
  const Profile baseline = make_profile(batch(source, 0.0, 2000), quick_options());
  std::vector<Profile> units;
  for (int k = 0; k < 20; ++k) {
    units.push_back(make_profile(batch(source, k == 19 ? 1.0 : 0.0), baseline));
    units.back().coarsen(20);
  }
  const double pvalue = conformal_pvalue(units, Seed{1}, ThreadCount{1});
  EXPECT_LE(pvalue, 0.05);
  EXPECT_GT(pvalue, 0.0);
  EXPECT_EQ(conformal_pvalue(units, Seed{1}, ThreadCount{2}), pvalue);
  // Without the last one nothing is special.
  units.pop_back();
  EXPECT_LE(conformal_pvalue(units, Seed{1}, ThreadCount{1}), 1.0);
}

// p-values of exchangeable batches are independent and uniform: of 400, the number in each quarter is outside 60 to 140
// with probability below 1e-5 (binomial, 4.6 standard errors).
TEST(ConformalPvalue, pvalues_of_equal_batches_are_uniform) {
  test::Source source(22);
  const Profile baseline = make_profile(batch(source, 0.0, 800), quick_options(4));
  std::vector<int> quarters(4, 0);
  for (int stream = 0; stream < 20; ++stream) {
    std::vector<Profile> units;
    for (int k = 0; k < 20; ++k) {
      units.push_back(make_profile(batch(source, 0.0, 40), baseline));
      units.back().coarsen(10);
      const double pvalue = conformal_pvalue(units, Seed{static_cast<std::uint64_t>(stream)}, ThreadCount{1});
      ++quarters[std::min<std::size_t>(3, static_cast<std::size_t>(4.0 * pvalue))];
    }
  }
  for (const int count : quarters) {
    EXPECT_GE(count, 60);
    EXPECT_LE(count, 140);
  }
}

class MonitorOfStream : public ::testing::Test {
 protected:
  // Ten equal batches, then some that are shifted.
  Monitor watched(std::size_t num_equal, std::size_t num_shifted, MonitorOptions options = quick_monitor()) {
    test::Source source(23);
    Monitor monitor(make_profile(batch(source, 0.0, 2000), quick_options()), std::move(options));
    for (std::size_t k = 0; k < num_equal + num_shifted; ++k) {
      monitor.update(name_of(k), batch(source, k < num_equal ? 0.0 : 1.0));
    }
    return monitor;
  }
};

TEST_F(MonitorOfStream, shifted_batches_differ_and_the_column_is_named) {
  test::Source source(27);
  ProfileOptions with_columns = quick_options();
  with_columns.method = "adaptive";
  Monitor monitor(make_profile(batch(source, 0.0, 2000), with_columns), quick_monitor());
  for (std::size_t k = 0; k < 4; ++k) monitor.update(name_of(k), batch(source, k < 2 ? 0.0 : 1.0));
  ASSERT_EQ(monitor.entries().size(), 4U);
  for (std::size_t k = 2; k < 4; ++k) {
    const MonitorEntry& entry = monitor.entries()[k];
    EXPECT_TRUE(entry.reject) << k;
    EXPECT_EQ(entry.changed, "second") << k;
    EXPECT_EQ(entry.num_rows, kRows);
    ASSERT_EQ(entry.columns.size(), 2U);
    EXPECT_NEAR(entry.columns[1].shift, 1.0, 0.35) << k;
    ASSERT_TRUE(entry.effect_interval);
    EXPECT_LE(entry.effect_interval->lower, entry.effect_size);
    EXPECT_GE(entry.effect_interval->upper, entry.effect_size);
  }
}

TEST_F(MonitorOfStream, pvalues_are_adjusted_for_all_batches_so_far) {
  const Monitor monitor = watched(6, 2);
  std::vector<double> pvalues;
  for (const MonitorEntry& entry : monitor.entries()) pvalues.push_back(entry.pvalue);
  const std::vector<double> adjusted = benjamini_hochberg_adjusted(pvalues);
  for (std::size_t k = 0; k < adjusted.size(); ++k) {
    EXPECT_EQ(monitor.entries()[k].pvalue_adjusted, adjusted[k]);
    EXPECT_EQ(monitor.entries()[k].reject, adjusted[k] <= 0.05);
  }
}

TEST_F(MonitorOfStream, the_alarm_is_raised_after_the_change_and_names_its_start) {
  const Monitor monitor = watched(30, 12);
  ASSERT_TRUE(monitor.raised_at());
  EXPECT_GE(*monitor.raised_at(), 30U);
  const auto change = monitor.change_point();
  ASSERT_TRUE(change);
  EXPECT_EQ(change->start, 30U);
  EXPECT_TRUE(monitor.warnings().empty());
  const std::string verdict = monitor_verdict(monitor);
  EXPECT_NE(verdict.find("the change began with batch 30"), std::string::npos) << verdict;
}

TEST_F(MonitorOfStream, a_state_continues_where_it_was_left) {
  test::Source source(24);
  const Sample baseline = batch(source, 0.0, 2000);
  std::vector<Sample> batches;
  for (int k = 0; k < 6; ++k) batches.push_back(batch(source, k == 5 ? 1.0 : 0.0));
  for (const char* rule : {"fixed", "rolling:2"}) {
    MonitorOptions options = quick_monitor();
    options.baseline = parse_baseline_rule(rule);
    Monitor whole(make_profile(baseline, quick_options()), options);
    Monitor continued = whole;
    for (std::size_t k = 0; k < batches.size(); ++k) {
      whole.update(name_of(k), batches[k]);
      continued = Monitor::deserialize(continued.serialize());
      continued.update(name_of(k), batches[k]);
    }
    EXPECT_EQ(whole.serialize(), continued.serialize()) << rule;
    EXPECT_EQ(monitor_json_lines({.monitor = whole}), monitor_json_lines({.monitor = continued})) << rule;
  }
}

TEST_F(MonitorOfStream, a_rolling_baseline_follows_a_lasting_change) {
  MonitorOptions options = quick_monitor();
  options.baseline = parse_baseline_rule("previous");
  const Monitor monitor = watched(3, 3, options);
  EXPECT_LE(monitor.entries()[3].pvalue, 0.01);
  EXPECT_GT(monitor.entries()[5].pvalue, 0.01);
}

TEST_F(MonitorOfStream, damaged_states_are_refused) {
  const std::string bytes = watched(2, 0).serialize();
  for (std::size_t length = 0; length < bytes.size(); length += 1 + bytes.size() / 97) {
    EXPECT_THROW(static_cast<void>(Monitor::deserialize(bytes.substr(0, length))), Error) << length;
  }
  for (std::size_t place = 0; place < bytes.size(); place += 1 + bytes.size() / 211) {
    std::string damaged = bytes;
    damaged[place] = static_cast<char>(damaged[place] ^ 0x20);
    EXPECT_THROW(static_cast<void>(Monitor::deserialize(damaged)), Error) << place;
  }
  std::string later = bytes;
  later[8] = 9;
  test::expect_error(ErrorCode::unreadable_input,
                     "not a valid state of a monitor: it has format 9.0, this version reads 2.x",
                     [&] { static_cast<void>(Monitor::deserialize(later)); });
  test::expect_error(ErrorCode::unreadable_input, "not a valid state of a monitor: it does not begin as one",
                     [] { static_cast<void>(Monitor::deserialize("a,b\n1,2\n")); });
}

TEST_F(MonitorOfStream, a_state_that_cannot_be_replaced_keeps_the_old_one) {
  const test::ScratchFolder folder;
  const std::string path = folder.path("days.kqm");
  Monitor monitor = watched(1, 0);
  monitor.save(path);
  const std::string before = monitor.serialize();
  test::Source source(28);
  monitor.update("one more", batch(source));
  // A folder where the new file is written first, whoever runs the test.
  std::filesystem::create_directory(folder.path("taken"));
  EXPECT_THROW(monitor.save(folder.path("taken")), Error);
  EXPECT_THROW(monitor.save(folder.path("none/days.kqm")), Error);
  EXPECT_EQ(Monitor::load(path).serialize(), before);
  monitor.save(path);
  EXPECT_EQ(Monitor::load(path).serialize(), monitor.serialize());
}

TEST_F(MonitorOfStream, an_update_that_fails_changes_nothing) {
  Monitor monitor = watched(2, 0);
  const std::string before = monitor.serialize();
  test::Source source(29);
  EXPECT_THROW(monitor.update("three columns", test::normal_sample({kRows, 3}, source)), Error);
  EXPECT_EQ(monitor.serialize(), before);
}

TEST_F(MonitorOfStream, source_and_warnings_travel_with_the_state) {
  Monitor monitor = watched(1, 0);
  TableEncoding encoding{
      .named = true,
      .table_columns = {"city", "x"},
      .columns = {{.name = "city", .type = ColumnType::category, .text = true, .levels = {"A", "B"}},
                  {.name = "x", .marks_missing = true}},
      .sample_columns = {"city=A", "city=B", "x", "x missing"},
      .roles = {{ColumnKind::level, 0}, {ColumnKind::level, 0}, {ColumnKind::number, 1}, {ColumnKind::missing, 1}},
      .fillers = {0.0, 0.0, 1.5, 0.0},
      .offsets = {}};
  monitor.set_source({.baseline_name = "base.csv",
                      .baseline_inputs = {"base.csv"},
                      .settings = {{"alpha", "0.05"}},
                      .encoding = encoding});
  test::Source source(30);
  monitor.update("short", batch(source, 0.0, kRows / 2));
  const Monitor read = Monitor::deserialize(monitor.serialize());
  EXPECT_EQ(read.serialize(), monitor.serialize());
  EXPECT_EQ(read.source().encoding, encoding);
  EXPECT_EQ(read.source().settings, monitor.source().settings);
  EXPECT_EQ(read.entries().back().warnings, monitor.entries().back().warnings);
  EXPECT_TRUE(read.knows("base.csv"));
  EXPECT_TRUE(read.knows("short"));
  EXPECT_FALSE(read.knows("none"));
}

TEST_F(MonitorOfStream, names_of_batches_differ) {
  Monitor monitor = watched(1, 0);
  test::Source source(25);
  test::expect_error(ErrorCode::invalid_option, "batch \"batch 0\" is there already, expected a new name",
                     [&] { monitor.update("batch 0", batch(source)); });
}

TEST_F(MonitorOfStream, a_batch_with_few_rows_does_not_count_for_the_alarm) {
  Monitor monitor = watched(2, 0);
  test::Source source(26);
  const MonitorEntry& entry = monitor.update("short", batch(source, 0.0, kRows / 2));
  EXPECT_FALSE(entry.alarm_pvalue);
  EXPECT_TRUE(std::ranges::any_of(entry.warnings,
                                  [](const Warning& warning) { return warning.id == WarningId::batch_too_small; }));
}

TEST(BaselineRule, is_read_and_printed) {
  for (const char* text : {"fixed", "first:4", "previous", "rolling:8"}) {
    EXPECT_EQ(to_string(parse_baseline_rule(text)), text);
  }
  test::expect_error(ErrorCode::invalid_option, "baseline = last: expected fixed, first:N, previous or rolling:N",
                     [] { static_cast<void>(parse_baseline_rule("last")); });
  test::expect_error(ErrorCode::invalid_option,
                     "baseline = first:0: expected first:N with a whole number N from 1 to 10000",
                     [] { static_cast<void>(parse_baseline_rule("first:0")); });
}

}  // namespace
}  // namespace kqd
