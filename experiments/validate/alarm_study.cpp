// The alarm of `kqd monitor` while nothing changes, and the tests of single batches: streams of batches, some with
// effects of batches or of rows before. Prints a table in Markdown; the results are in docs/validity.md.
//
//   kqd_alarm_study [STREAMS [STREAMS_WITH_TESTS]]
//   kqd_alarm_study detect [STREAMS]: batches from a change after batch 100 until the alarm
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "kqd/monitor/monitor.hpp"
#include "monitor/conformal.hpp"

namespace kqd::validation {
namespace {

constexpr std::size_t kBatches = 200;
constexpr std::size_t kRows = 100;
constexpr std::size_t kBaselineRows = 400;
constexpr std::size_t kColumns = 2;
constexpr std::uint64_t kRowsPerGroup = 10;
constexpr double kLevel = 0.05;

enum class Data { normal, student, discrete, batch_effects, autoregressive };

struct Setting {
  std::string name;
  Data data;
  double most;       // streams with an alarm, share
  bool independent;  // rows, so that tests of single batches are exact
};

// Rows of one stream after another. Rows of the autoregression depend on those before, across batches as well.
class Stream {
 public:
  Stream(Data data, std::uint64_t number) : data_(data), random_(Seed{30}, Purpose::test_data, number) {}

  Sample batch(std::size_t rows) {
    Sample sample{.points = Matrix<double>(rows, kColumns), .weights = {}, .column_names = {}, .roles = {}};
    constexpr double kBatchDeviation = 0.05;
    for (std::size_t k = 0; k < kColumns; ++k) {
      const double effect = data_ == Data::batch_effects ? kBatchDeviation * random_.normal() : 0.0;
      for (std::size_t i = 0; i < rows; ++i) sample.points(i, k) = effect + value(k);
    }
    return sample;
  }

 private:
  double value(std::size_t column) {
    if (data_ == Data::discrete) return static_cast<double>(random_.below(4));
    const double z = random_.normal();
    if (data_ == Data::student) {
      double squares = 0.0;
      for (int k = 0; k < 3; ++k) squares += std::pow(random_.normal(), 2.0);
      return z / std::sqrt(squares / 3.0);
    }
    if (data_ != Data::autoregressive) return z;
    constexpr double kMemory = 0.7;
    return last_[column] = kMemory * last_[column] + std::sqrt(1.0 - kMemory * kMemory) * z;
  }

  Data data_;
  RandomStream random_;
  std::vector<double> last_ = std::vector<double>(kColumns, 0.0);
};

// p-values of the tests of all batches of a stream against its baseline, adjusted as a monitor does.
bool any_batch_differs(const Profile& baseline, const std::vector<Profile>& batches) {
  std::vector<double> pvalues;
  TwoSampleOptions options;
  options.method = "ekqd";
  options.statistic.threads = ThreadCount{1};
  options.test.num_permutations = static_cast<std::int64_t>(static_cast<double>(kBatches) / kLevel);
  for (const Profile& batch : batches) pvalues.push_back(two_sample_test(baseline, batch, options).test.pvalue);
  for (const double p : benjamini_hochberg_adjusted(pvalues)) {
    if (p <= kLevel) return true;
  }
  return false;
}

struct Outcome {
  bool raised = false;
  bool rejected = false;
};

Outcome outcome_of(const Setting& setting, std::uint64_t number, bool with_tests) {
  Stream stream(setting.data, number);
  ProfileOptions options;
  options.method = "ekqd";
  options.rows_per_group = kRowsPerGroup;
  options.statistic.directions.num_directions = 4;
  options.statistic.directions.num_reference = 8;
  options.statistic.seed = Seed{number};
  options.statistic.threads = ThreadCount{1};
  const Profile baseline = make_profile(stream.batch(kBaselineRows), options);
  std::vector<Profile> batches;
  std::vector<Profile> units;
  Alarm alarm;
  for (std::size_t t = 0; t < kBatches; ++t) {
    const Profile batch = make_profile(stream.batch(kRows), baseline, ThreadCount{1});
    units.push_back(batch);
    units.back().coarsen(kRows / kRowsPerGroup);
    if (with_tests) batches.push_back(batch);
    if (!alarm.raised_at()) alarm.add(conformal_pvalue(units, Seed{number}, ThreadCount{1}));
  }
  return {alarm.raised_at().has_value(), with_tests && any_batch_differs(baseline, batches)};
}

void run(const Setting& setting, std::uint64_t streams, std::uint64_t with_tests) {
  std::uint64_t raised = 0;
  std::uint64_t rejected = 0;
  with_tests = setting.independent ? with_tests : 0;
  for (std::uint64_t number = 0; number < streams; ++number) {
    const Outcome outcome = outcome_of(setting, number, number < with_tests);
    raised += outcome.raised ? 1U : 0U;
    rejected += outcome.rejected ? 1U : 0U;
  }
  fmt::print("| {} | {} of {} | {:g} | {} |\n", setting.name, raised, streams, setting.most,
             with_tests > 0 ? fmt::format("{} of {}", rejected, with_tests) : "-");
  std::fflush(stdout);
}

// ---- Detection ----

constexpr std::size_t kBefore = 100;
constexpr std::size_t kMostAfter = 12;

struct Change {
  std::string name;
  std::size_t rows;
  Sample (*batch)(RandomStream& random, std::size_t rows, bool changed);
};

// Ten normal columns, one of which is shifted.
Sample shifted(RandomStream& random, std::size_t rows, bool changed) {
  Sample sample{.points = Matrix<double>(rows, 10), .weights = {}, .column_names = {}, .roles = {}};
  constexpr double kShift = 0.5;
  for (double& v : sample.points.values()) v = random.normal();
  for (std::size_t i = 0; i < rows && changed; ++i) sample.points(i, 3) += kShift;
  return sample;
}

// A category of four levels, as columns of 0 and 1, and a number that is shifted up or down with the level, and has
// variance 1 as before.
Sample related(RandomStream& random, std::size_t rows, bool changed) {
  constexpr std::size_t kLevels = 4;
  constexpr double kShift = 0.4;
  Sample sample{.points = Matrix<double>(rows, kLevels + 1, 0.0), .weights = {}, .column_names = {}, .roles = {}};
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t level = random.below(kLevels);
    sample.points(i, level) = 1.0;
    double number = random.normal();
    if (changed) number = (number + (level % 2 == 0 ? kShift : -kShift)) / std::sqrt(1.0 + kShift * kShift);
    sample.points(i, kLevels) = number;
  }
  return sample;
}

// Batches after the change until the alarm, which counts; 0: raised before, kMostAfter + 1: not at all.
std::size_t delay_of(const Change& change, std::uint64_t number) {
  RandomStream random(Seed{31}, Purpose::test_data, number);
  ProfileOptions options;
  options.statistic.seed = Seed{number};
  options.statistic.threads = ThreadCount{1};
  options.rows_per_group = monitored_group_rows(4000, change.rows);
  const Profile baseline = make_profile(change.batch(random, 4000, false), options);
  std::vector<Profile> units;
  Alarm alarm;
  for (std::size_t t = 0; t < kBefore + kMostAfter; ++t) {
    units.push_back(make_profile(change.batch(random, change.rows, t >= kBefore), baseline, ThreadCount{1}));
    units.back().coarsen(units.back().num_groups() * 4 / 5);
    alarm.add(conformal_pvalue(units, Seed{number}, ThreadCount{1}));
    if (alarm.raised_at()) return t < kBefore ? 0 : t - kBefore + 1;
  }
  return kMostAfter + 1;
}

void detect(const Change& change, std::uint64_t streams) {
  std::vector<std::size_t> delays;
  for (std::uint64_t number = 0; number < streams; ++number) delays.push_back(delay_of(change, number));
  std::ranges::sort(delays);
  const auto early = std::ranges::count(delays, std::size_t{0});
  const auto never = std::ranges::count(delays, kMostAfter + 1);
  fmt::print("| {} | {} | {} | {} | {} | {} | {} |\n", change.name, streams, early, never, delays[streams / 4],
             delays[streams / 2], delays[streams * 3 / 4]);
  std::fflush(stdout);
}

}  // namespace
}  // namespace kqd::validation

int main(int argc, char** argv) {
  using namespace kqd::validation;
  if (argc > 1 && std::string(argv[1]) == "detect") {
    const std::uint64_t streams = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 40;
    fmt::print(
        "| change | streams | alarm before it | none within 12 batches | delay, quarter | median | three quarters |\n");
    fmt::print("|---|---|---|---|---|---|---|\n");
    detect({"shift by 0.5 SD in 1 of 10 columns, 500 rows", 500, shifted}, streams);
    detect({"relation of a number and a category, 300 rows", 300, related}, streams);
    return 0;
  }
  const std::uint64_t streams = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
  const std::uint64_t with_tests = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 200;
  fmt::print(
      "| data | alarm ever raised | at most | streams with any batch different (adjusted) |\n|---|---|---|---|\n");
  run({"normal", Data::normal, 0.05, true}, streams, with_tests);
  run({"t(3)", Data::student, 0.05, true}, streams, with_tests);
  run({"discrete, four values", Data::discrete, 0.05, true}, streams, with_tests);
  run({"batches shifted by N(0, 0.05 SD)", Data::batch_effects, 0.05, false}, streams, with_tests);
  run({"AR(0.7) rows", Data::autoregressive, 0.06, false}, streams, with_tests);
  return 0;
}
