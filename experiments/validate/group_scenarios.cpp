#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>

#include "core/fail.hpp"
#include "core/random.hpp"
#include "kqd/two_sample/profile_test.hpp"
#include "profile/profile_spec.hpp"
#include "profile/row_places.hpp"
#include "scenario.hpp"

namespace kqd::validation {
namespace {

constexpr std::size_t kRuns = 2000;
constexpr std::int64_t kLevelPermutations = 39;  // so that 0.05 is reached exactly: 2 of 40
constexpr std::uint64_t kRowsPerGroup = 4;

// ---- Samples and their profiles ----

Sample rows_of(const Sample& sample, std::span<const std::size_t> rows) {
  Sample some{Matrix<double>(rows.size(), sample.points.cols()), {}, {}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::ranges::copy(sample.points.row(rows[i]), some.points.row(i).begin());
  }
  return some;
}

Sample sorted(const Sample& sample) {
  std::vector<std::size_t> rows(sample.points.rows());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::ranges::sort(rows, {}, [&](std::size_t row) { return sample.points(row, 0); });
  return rows_of(sample, rows);
}

ProfileOptions profile_options(const TwoSampleOptions& options) {
  ProfileOptions made;
  made.rows_per_group = kRowsPerGroup;
  made.statistic.seed = options.statistic.seed;
  made.statistic.threads = options.statistic.threads;
  made.statistic.parameters = {{"landmarks", 8.0}};  // few, for speed; directions likewise
  made.statistic.directions.num_directions = 8;
  return made;
}

TwoSampleResult test_of_profiles(const Draw& data, const TwoSampleOptions& options) {
  const Profile x = make_profile(data.x, profile_options(options));
  return two_sample_test(x, make_profile(data.y, x, ThreadCount{1}), options);
}

TwoSampleResult test_of_sorted_profiles(const Draw& data, const TwoSampleOptions& options) {
  return test_of_profiles({sorted(data.x), sorted(data.y)}, options);
}

// A profile of a sample in five files of different lengths, each of which was counted by itself.
Profile merged_from_files(const Sample& sample, const Profile& like) {
  const SampleExtent extent = sample_extent(sample);
  Profile merged(like.spec());
  const std::size_t n = sample.points.rows();
  std::size_t first = 0;
  for (const std::size_t share : {30U, 2U, 11U, 40U, 17U}) {
    const std::size_t count = share == 17 ? n - first : n * share / 100;
    Profile file(like.spec());
    file.update(extent, sample.points.view().row_range(first, count), first, ThreadCount{1});
    merged.merge(file);
    first += count;
  }
  return merged;
}

TwoSampleResult test_of_split_profiles(const Draw& data, const TwoSampleOptions& options) {
  const Sample x = sorted(data.x);
  const Profile like = make_profile(x, profile_options(options));
  return two_sample_test(merged_from_files(x, like), merged_from_files(sorted(data.y), like), options);
}

// The profile of a sorted sample whose rows are numbered such that group k gets the k-th, (k + K)-th, ... row: the
// assignment by turns, which looks harmless.
Profile profile_by_turns(const Sample& sample, const Profile& like) {
  const Sample file = sorted(sample);
  const SampleExtent extent = make_profile(file, like, ThreadCount{1}).samples().front();
  const RowPlaces place(*like.spec(), extent);
  const std::uint64_t num_groups = groups_of_sample(*like.spec(), extent);
  const std::uint64_t size = like.rows_per_group();
  std::vector<std::size_t> rows(file.points.rows());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint64_t at = place(i, 0);
    rows[i] = at < num_groups * size ? at / size + at % size * num_groups : at;
  }
  Profile profile = make_profile(rows_of(file, rows), like, ThreadCount{1});
  if (profile.samples().front() != extent) fail(ErrorCode::internal, "other rows have been assigned by turns");
  return profile;
}

// Both samples counted by `count` with a spec from the first third of X, which is not tested.
template <class Count>
TwoSampleResult test_of_counted(const Draw& data, const TwoSampleOptions& options, std::uint64_t rows_per_group,
                                const Count& count) {
  std::vector<std::size_t> rows(data.x.points.rows());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const auto all = std::span<const std::size_t>(rows);
  ProfileOptions made = profile_options(options);
  made.rows_per_group = rows_per_group;
  const Profile like = make_profile(rows_of(data.x, all.first(rows.size() / 3)), made);
  return two_sample_test(count(rows_of(data.x, all.subspan(rows.size() / 3)), like), count(data.y, like), options);
}

TwoSampleResult test_by_turns(const Draw& data, const TwoSampleOptions& options) {
  return test_of_counted(data, options, 3 * kRowsPerGroup, profile_by_turns);
}

// A sample in twenty samples, as of days, whose profiles are merged.
TwoSampleResult test_of_merged_profiles(const Draw& data, const TwoSampleOptions& options) {
  constexpr std::size_t kSamples = 20;
  return test_of_counted(data, options, kRowsPerGroup, [&](const Sample& sample, const Profile& like) {
    const std::size_t n = sample.points.rows();
    const std::size_t days = n < data.x.points.rows() / 2 ? 1 : kSamples;  // Y is one day
    Profile merged(like.spec());
    for (std::size_t day = 0; day < days; ++day) {
      std::vector<std::size_t> rows(n / days);
      std::iota(rows.begin(), rows.end(), day * rows.size());
      merged.merge(make_profile(rows_of(sample, rows), like, ThreadCount{1}));
    }
    return merged;
  });
}

// A value is missing the more often the larger it is; rows with a missing value are left out of their groups.
TwoSampleResult test_with_missing_values(const Draw& data, const TwoSampleOptions& options) {
  RandomStream stream(options.statistic.seed, Purpose::test_data, 2);
  return test_of_counted(data, options, kRowsPerGroup, [&](const Sample& sample, const Profile& like) {
    std::vector<std::size_t> kept;
    std::vector<std::uint64_t> numbers;
    for (std::size_t i = 0; i < sample.points.rows(); ++i) {
      if (stream.normal() + 1.0 < sample.points(i, 0)) continue;
      kept.push_back(i);
      numbers.push_back(i);
    }
    const Sample complete = rows_of(sample, kept);
    Profile profile(like.spec());
    profile.update(sample_extent(sample),
                   RowBlock{.rows = complete.points, .num_read = sample.points.rows(), .numbers = numbers},
                   ThreadCount{1});
    return profile;
  });
}

// Samples in which each key has one to four rows that hardly differ.
Draw keyed_rows(Seed seed, std::size_t n_x, std::size_t n_y) {
  RandomStream stream(seed, Purpose::test_data);
  const auto draw = [&](std::size_t n) {
    Sample sample{Matrix<double>(n, 2), std::vector<double>(n), {}};  // the keys travel as weights
    double key = 0.0;
    std::size_t left = 0;
    std::array<double, 2> common{};
    for (std::size_t i = 0; i < n; ++i, --left) {
      if (left == 0) {
        left = 1 + stream.below(4);
        key += 1.0;
        for (double& v : common) v = stream.normal();
      }
      for (std::size_t k = 0; k < 2; ++k) sample.points(i, k) = common[k] + 0.2 * stream.normal();
      sample.weights[i] = key;
    }
    return sample;
  };
  return {draw(n_x), draw(n_y)};
}

TwoSampleResult test_of_keyed_profiles(const Draw& data, const TwoSampleOptions& options, bool by_key) {
  const auto keys_of = [&](const Sample& sample, const std::string& prefix) {
    std::vector<std::uint64_t> keys;
    for (const double key : sample.weights) {
      if (by_key) keys.push_back(key_of(prefix + std::to_string(static_cast<int>(key))));
    }
    return keys;
  };
  const std::vector<std::uint64_t> of_x = keys_of(data.x, "x");
  const std::vector<std::uint64_t> of_y = keys_of(data.y, "y");
  const Sample x{Matrix<double>(data.x.points), {}, {}};
  const Sample y{Matrix<double>(data.y.points), {}, {}};
  ProfileOptions made = profile_options(options);
  made.rows_per_group = 4 * kRowsPerGroup;
  if (by_key) made.groups = parse_group_rule("key:user");
  made.keys = of_x;
  const Profile like = make_profile(x, made);
  return two_sample_test(like, make_profile(y, like, ThreadCount{1}, nullptr, of_y), options);
}

TwoSampleResult test_by_key(const Draw& data, const TwoSampleOptions& options) {
  return test_of_keyed_profiles(data, options, true);
}
TwoSampleResult test_in_spite_of_keys(const Draw& data, const TwoSampleOptions& options) {
  return test_of_keyed_profiles(data, options, false);
}

// ---- Level ----

struct Null {
  std::string row;
  std::function<Draw(Seed)> draw;
  TestOfDraw profiles;
  Expectation::Kind kind = Expectation::Kind::level;
};

std::vector<Null> nulls() {
  const auto normal = [](std::size_t n_x, std::size_t n_y) {
    return draws_of({.name = "null", .n_x = n_x, .n_y = n_y, .dim = 2});
  };
  const auto three_values =
      draws_of({.name = "null", .n_x = 260, .n_y = 200, .dim = 2}, {"distribution=discrete", "levels=3"});
  const auto keyed = [](Seed seed) { return keyed_rows(seed, 800, 600); };
  using enum Expectation::Kind;
  return {
      {"independent rows, 260 + 200", normal(260, 200), test_of_profiles},
      {"sorted files, 260 + 200", normal(260, 200), test_of_sorted_profiles},
      {"sorted files in five parts, 260 + 200", normal(260, 200), test_of_split_profiles},
      {"missing values, 390 + 260", normal(390, 260), test_with_missing_values},
      {"three values per column, 260 + 200", three_values, test_of_profiles, at_most_level},
      {"four times as many rows, 800 + 200", normal(800, 200), test_of_profiles},
      {"1 to 4 rows per key, by key, 800 + 600", keyed, test_by_key},
      {"20 merged samples of 120 rows against one of 400", normal(3600, 400), test_of_merged_profiles},
      {"wrong: 1 to 4 rows per key, at random, 800 + 600", keyed, test_in_spite_of_keys, above_level},
      {"wrong: sorted files of one column, assigned by turns, 900 + 600",
       draws_of({.name = "null", .n_x = 900, .n_y = 600, .dim = 1}), test_by_turns, above_level},
  };
}

}  // namespace

std::vector<Scenario> group_scenarios() {
  std::vector<Scenario> scenarios;
  for (const Null& null : nulls()) {
    Scenario scenario{.table = "Groups of rows",
                      .row = null.row,
                      .column = "`ekqd`, profiles",
                      .draw = null.draw,
                      .options = {.method = "ekqd"},
                      .expectation = {.kind = null.kind},
                      .runs = kRuns,
                      .test = null.profiles};
    scenario.options.test.num_permutations = kLevelPermutations;
    scenarios.push_back(std::move(scenario));
  }
  return scenarios;
}

}  // namespace kqd::validation
