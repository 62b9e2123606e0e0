// Drafts and scattered rows: profiles of rows that are somewhere else are those of rows that are here.
#include "kqd/two_sample/profile_draft.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/random.hpp"
#include "support/errors.hpp"

namespace kqd {
namespace {

constexpr std::size_t kRows = 500;

Sample drawn_sample() {
  RandomStream stream(Seed{21}, Purpose::test_data, 0);
  Sample sample{Matrix<double>(kRows, 2), {}, {"a", "b"}};
  for (double& v : sample.points.values()) v = stream.normal();
  return sample;
}

ProfileOptions draft_options() {
  ProfileOptions options;
  options.method = "ekqd";
  options.rows_per_group = 8;
  options.statistic.directions.num_directions = 5;
  return options;
}

Matrix<double> rows_at(const Sample& sample, const std::vector<std::uint64_t>& numbers) {
  Matrix<double> rows(numbers.size(), sample.points.cols());
  for (std::size_t k = 0; k < numbers.size(); ++k)
    std::ranges::copy(sample.points.row(numbers[k]), rows.row(k).begin());
  return rows;
}

TEST(ProfileDraft, held_out_rows_make_the_spec_that_make_profile_makes) {
  const Sample sample = drawn_sample();
  const SampleExtent extent = sample_extent(sample);
  const ProfileDraft draft(draft_options(), {extent});
  const std::vector<std::uint64_t> numbers = draft.held_out_rows(extent);
  EXPECT_EQ(numbers.size(), draft.num_held_out(extent));
  Profile profile = draft.finish(rows_at(sample, numbers), sample.column_names);
  EXPECT_EQ(profile.num_rows(), 0U);
  profile.update(extent, sample.points, 0);
  EXPECT_EQ(profile.serialize(), make_profile(sample, draft_options()).serialize());
}

TEST(ProfileDraft, keys_decide_which_rows_are_held_out) {
  const Sample sample = drawn_sample();
  const SampleExtent extent = sample_extent(sample);
  std::vector<std::uint64_t> keys;
  for (std::size_t i = 0; i < kRows; ++i) keys.push_back(key_of(std::to_string(i / 2)));
  ProfileOptions options = draft_options();
  options.groups = parse_group_rule("key:user");
  options.keys = keys;
  const ProfileDraft draft(options, {extent});
  const std::vector<std::uint64_t> places = draft.places(extent, keys);
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 0; i < kRows; ++i) {
    if (places[i] < draft.num_held_out(extent)) numbers.push_back(i);
  }
  std::ranges::stable_sort(numbers, {}, [&](std::uint64_t i) { return places[i]; });
  Profile profile = draft.finish(rows_at(sample, numbers), sample.column_names);
  // In two parts and another order, as rows of a cluster come: keys decide everything.
  Profile second(profile);
  const auto count = [&](Profile& into, std::size_t first, std::size_t last) {
    std::vector<std::uint64_t> order(last - first);
    std::iota(order.rbegin(), order.rend(), first);
    const Matrix<double> rows = rows_at(sample, order);
    std::vector<std::uint64_t> own;
    for (const std::uint64_t i : order) own.push_back(keys[i]);
    into.update(extent, {.rows = rows, .num_read = order.size(), .keys = own, .scattered = true});
  };
  count(profile, 200, kRows);
  count(second, 0, 200);
  profile.append(second);
  EXPECT_EQ(profile.serialize(), make_profile(sample, options).serialize());
}

TEST(Profile, scattered_rows_are_counted_by_their_numbers) {
  const Sample sample = drawn_sample();
  const SampleExtent extent = sample_extent(sample);
  const Profile whole = make_profile(sample, draft_options());
  Profile odd(whole.spec());
  Profile even(whole.spec());
  for (const std::size_t parity : {0U, 1U}) {
    std::vector<std::uint64_t> numbers;
    for (std::size_t i = parity; i < kRows; i += 2) numbers.push_back(kRows - 1 - i);
    const Matrix<double> rows = rows_at(sample, numbers);
    (parity == 0 ? even : odd)
        .update(extent, {.rows = rows, .num_read = numbers.size(), .numbers = numbers, .scattered = true});
  }
  Profile both(odd);
  both.append(even);
  EXPECT_EQ(both.serialize(), whole.serialize());
  test::expect_error(ErrorCode::invalid_option,
                     "there are more than the 500 rows of the sample: some would be counted twice",
                     [&] { both.append(even); });
}

TEST(ProfileDraft, of_two_samples_has_groups_of_a_size_for_both) {
  const ProfileDraft draft({.method = "ekqd"}, {{1, 4000}, {2, 40000}});
  EXPECT_EQ(draft.num_held_out({1, 4000}), 400U);
  EXPECT_EQ(draft.num_held_out({2, 40000}), 4000U);
  EXPECT_EQ(draft.num_held_out({3, 40000}), 0U);
}

TEST(ProfileDraft, refuses_what_cannot_be_drawn) {
  ProfileOptions options;
  options.groups = parse_group_rule("blocks:time");
  EXPECT_THROW(ProfileDraft(options, {{1, 100}}), Error);
  EXPECT_THROW(ProfileDraft({}, {{1, 39}}), Error);
}

}  // namespace
}  // namespace kqd
