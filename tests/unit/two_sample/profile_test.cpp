// Profiles: the same bytes for the same rows, the rules of merging, files that cannot be trusted, and the test.
#include "kqd/two_sample/profile_test.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>

#include "core/random.hpp"
#include "profile/keyed_permutation.hpp"
#include "profile/profile_spec.hpp"
#include "profile/row_places.hpp"
#include "support/errors.hpp"
#include "support/scratch_folder.hpp"

namespace kqd {
namespace {

constexpr std::size_t kRowsOfProfile = 640;

Sample draw_profiled(std::size_t n, std::uint64_t index, double shift = 0.0) {
  RandomStream stream(Seed{12}, Purpose::test_data, index);
  Sample sample{Matrix<double>(n, 2), {}, {"a", "b"}};
  for (std::size_t i = 0; i < n; ++i) {
    sample.points(i, 0) = stream.normal() + shift;
    sample.points(i, 1) = static_cast<double>(stream.below(5));
  }
  return sample;
}

ProfileOptions profile_options() {
  ProfileOptions options;
  options.rows_per_group = 8;
  options.statistic.parameters = {{"landmarks", 8.0}};
  return options;
}

// A profile and the sample behind it, made once.
struct Made {
  Sample sample = draw_profiled(kRowsOfProfile, 1);
  SampleExtent extent = sample_extent(sample);
  Profile profile = make_profile(sample, profile_options());
};

const Made& made() {
  static const Made once;
  return once;
}

Profile of_rows(std::size_t first, std::size_t count, unsigned threads = 1) {
  Profile part(made().profile.spec());
  part.update(made().extent, made().sample.points.view().row_range(first, count), first, ThreadCount{threads});
  return part;
}

TEST(Profile, has_the_same_bytes_for_any_blocks_order_and_threads) {
  const std::string whole = made().profile.serialize();
  RandomStream stream(Seed{3}, Purpose::test_data, 99);
  for (const unsigned threads : {1U, 2U, 3U}) {
    std::vector<std::size_t> cuts = {0, kRowsOfProfile};
    for (int k = 0; k < 6; ++k) cuts.push_back(static_cast<std::size_t>(stream.below(kRowsOfProfile)));
    std::ranges::sort(cuts);
    std::vector<std::size_t> blocks(cuts.size() - 1);
    std::iota(blocks.begin(), blocks.end(), std::size_t{0});
    for (std::size_t left = blocks.size(); left > 1; --left) {
      std::swap(blocks[left - 1], blocks[static_cast<std::size_t>(stream.below(left))]);
    }
    Profile by_blocks(made().profile.spec());
    Profile by_parts(made().profile.spec());
    for (const std::size_t k : blocks) {
      const std::size_t count = cuts[k + 1] - cuts[k];
      by_blocks.update(made().extent, made().sample.points.view().row_range(cuts[k], count), cuts[k],
                       ThreadCount{threads});
      by_parts.merge(of_rows(cuts[k], count, threads));
    }
    EXPECT_EQ(by_blocks.serialize(), whole);
    EXPECT_EQ(by_parts.serialize(), whole);
  }
}

TEST(Profile, merges_in_any_order_and_tree) {
  const Profile a = of_rows(0, 100);
  const Profile b = of_rows(100, 300);
  Profile other = make_profile(draw_profiled(300, 2), made().profile);
  const auto merged = [](Profile left, const Profile& right) {
    left.merge(right);
    return left;
  };
  EXPECT_EQ(merged(a, b).serialize(), merged(b, a).serialize());
  EXPECT_EQ(merged(a, other).serialize(), merged(other, a).serialize());
  EXPECT_EQ(merged(merged(a, b), other).serialize(), merged(a, merged(b, other)).serialize());
  const Profile none(made().profile.spec());
  EXPECT_EQ(merged(a, none).serialize(), a.serialize());
  EXPECT_EQ(merged(none, a).serialize(), a.serialize());
}

TEST(Profile, subtraction_undoes_a_merge) {
  const Profile a = of_rows(50, 100);
  const Profile b = of_rows(200, 300);
  const Profile other = make_profile(draw_profiled(300, 2), made().profile);
  for (const Profile& more : {b, other}) {
    Profile changed = a;
    changed.merge(more);
    changed.subtract(more);
    EXPECT_EQ(changed.serialize(), a.serialize());
  }
  Profile rest = made().profile;
  rest.subtract(of_rows(50, 100));
  EXPECT_EQ(rest.num_rows(), kRowsOfProfile - 100);
  rest.merge(a);
  EXPECT_EQ(rest.serialize(), made().profile.serialize());
}

TEST(Profile, coarsening_commutes_with_merging_and_adds_groups_up) {
  Profile coarse_parts = of_rows(0, 300);
  coarse_parts.coarsen(3);
  Profile second = of_rows(300, kRowsOfProfile - 300);
  second.coarsen(3);
  coarse_parts.merge(second);
  Profile coarse = made().profile;
  coarse.coarsen(3);
  EXPECT_EQ(coarse_parts.serialize(), coarse.serialize());
  EXPECT_EQ(coarse.rows_per_group(), 24U);
  EXPECT_EQ(coarse.num_groups(), made().profile.num_groups() / 3);
  // Rows that come later are counted in the coarse groups.
  Profile updated(made().profile.spec());
  updated.coarsen(3);
  updated.update(made().extent, made().sample.points, 0);
  EXPECT_EQ(updated.serialize(), coarse.serialize());
}

// ---- Many samples ----

// Samples of different sizes, the last one in parts of its rows; together they have more groups than a profile keeps.
std::vector<Profile> many_profiles() {
  std::vector<Profile> profiles;
  for (std::uint64_t k = 0; k < 9; ++k) {
    profiles.push_back(make_profile(draw_profiled(500 + 70 * k, 20 + k), made().profile));
  }
  constexpr std::array<std::size_t, 4> kCuts = {0, 300, 301, kRowsOfProfile};
  for (std::size_t k = 1; k < kCuts.size(); ++k) profiles.push_back(of_rows(kCuts[k - 1], kCuts[k] - kCuts[k - 1]));
  return profiles;
}

Profile merged_in_random_tree(std::vector<Profile> profiles, RandomStream& stream) {
  while (profiles.size() > 1) {
    const auto drawn = static_cast<std::size_t>(stream.below(profiles.size()));
    std::swap(profiles[drawn], profiles.back());
    const Profile one = std::move(profiles.back());
    profiles.pop_back();
    profiles[static_cast<std::size_t>(stream.below(profiles.size()))].merge(one);
  }
  return std::move(profiles.front());
}

TEST(Profile, merged_in_random_trees_has_the_same_bytes) {
  const std::vector<Profile> profiles = many_profiles();
  RandomStream stream(Seed{5}, Purpose::test_data, 98);
  const std::string expected = merged_in_random_tree(profiles, stream).serialize();
  for (int tree = 0; tree < 30; ++tree) {
    EXPECT_EQ(merged_in_random_tree(profiles, stream).serialize(), expected) << tree;
  }
  // Rows that are counted block by block into one profile are those of a merge.
  Profile updated(made().profile.spec());
  updated.update(made().extent, made().sample.points, 0);
  for (std::uint64_t k = 9; k-- > 0;) {
    const Sample sample = draw_profiled(500 + 70 * k, 20 + k);
    const std::size_t half = sample.points.rows() / 2;
    updated.update(sample_extent(sample), sample.points.view().row_range(half, sample.points.rows() - half), half);
    updated.update(sample_extent(sample), sample.points.view().row_range(0, half), 0);
  }
  EXPECT_EQ(updated.serialize(), expected);
  EXPECT_EQ(Profile::deserialize(expected).serialize(), expected);
}

TEST(Profile, adds_groups_up_where_there_are_many_samples) {
  const std::vector<Profile> profiles = many_profiles();
  Profile merged(made().profile.spec());
  std::uint64_t num_rows = 0;
  for (const Profile& profile : profiles) {
    merged.merge(profile);
    num_rows += profile.num_rows();
  }
  EXPECT_EQ(merged.rows_per_group(), 16U);
  EXPECT_LE(merged.num_groups(), 512U);
  EXPECT_GT(merged.num_groups(), 256U);
  EXPECT_EQ(merged.num_rows(), num_rows);
  EXPECT_EQ(merged.num_counted(), num_rows);
  // The factor that was asked for comes on top, in whatever order.
  Profile coarse(made().profile.spec());
  for (Profile profile : profiles) {
    profile.coarsen(3);
    coarse.merge(profile);
  }
  merged.coarsen(3);
  EXPECT_EQ(coarse.serialize(), merged.serialize());
  EXPECT_EQ(merged.without_rows().rows_per_group(), 24U);
}

TEST(Profile, of_other_groups_is_merged_and_tested_after_adding_up) {
  Profile coarse = make_profile(draw_profiled(600, 30), made().profile);
  const Profile fine = coarse;
  coarse.coarsen(3);
  const Profile other = make_profile(draw_profiled(700, 31, 0.6), made().profile);
  Profile expected = fine;
  expected.merge(other);
  expected.coarsen(3);
  for (Profile sum : {coarse, other}) {
    sum.merge(sum.num_rows() == 600 ? other : coarse);
    EXPECT_EQ(sum.serialize(), expected.serialize());
  }
  TwoSampleOptions options;
  options.test.num_permutations = 99;
  const TwoSampleResult result = two_sample_test(other, coarse, options);
  EXPECT_EQ(result.test.pvalue, 0.01);
  ASSERT_TRUE(result.groups.has_value());
  EXPECT_EQ(result.groups->rows_per_group, 24U);
  EXPECT_EQ(result.groups->num_x, 700U / 24);
}

// Files of one name, size and number of rows may hold other values: last week's report, and this week's.
TEST(Profile, of_equal_extents_are_side_by_side_if_their_rows_differ) {
  const Sample other = draw_profiled(kRowsOfProfile, 40, 0.5);
  Profile replaced(made().profile.spec());
  replaced.update(made().extent, other.points, 0);
  const Profile before = of_rows(0, kRowsOfProfile);
  Profile both = before;
  both.merge(replaced);
  EXPECT_EQ(both.num_rows(), 2 * kRowsOfProfile);
  Profile reversed = replaced;
  reversed.merge(before);
  EXPECT_EQ(reversed.serialize(), both.serialize());
  EXPECT_EQ(Profile::deserialize(both.serialize()).serialize(), both.serialize());
  Profile coarse_before = before;
  coarse_before.coarsen(2);
  test::expect_error(ErrorCode::invalid_option,
                     "rows 1 to 640 of a sample would be counted twice: each row may be in one of the profiles only",
                     [&] { both.merge(coarse_before); });
  test::expect_error(ErrorCode::invalid_option,
                     "rows 1 to 100 of a sample would be counted twice: each row may be in one of the profiles only",
                     [&] { both.merge(of_rows(0, 100)); });
  EXPECT_LT(two_sample_test(before, replaced).test.pvalue, 0.01);
  test::expect_error(ErrorCode::invalid_option,
                     "rows 1 to 640 of a sample are in both samples, expected samples without rows in common",
                     [&] { static_cast<void>(two_sample_test(before, both)); });
  both.subtract(before);
  EXPECT_EQ(both.serialize(), replaced.serialize());
}

// Groups recomputed from the rows, with bins by counting edges.
TEST(Profile, counts_every_row_of_a_group_in_its_bin) {
  const ProfileSpec& spec = *made().profile.spec();
  const ProfilePart& part = ProfileAccess::state(made().profile).parts.front();
  EXPECT_EQ(spec.held_out.front().rows, kRowsOfProfile / 10);
  EXPECT_EQ(part.num_groups, (kRowsOfProfile - kRowsOfProfile / 10) / 8);
  const KeyedPermutation place(kRowsOfProfile, Seed{spec.seed}, made().extent.id);
  std::size_t line = 0;
  bool columns_seen = false;
  for (std::size_t set = 0; set < spec.functions.size(); ++set) {
    const ProfiledFunctions& functions = spec.functions[set];
    for (std::size_t k = 0; k < functions.lines.size(); ++k, ++line) {
      const auto& counts = part.counts[line];
      for (std::size_t g = 0; g < part.num_groups; ++g) {
        EXPECT_EQ(std::accumulate(counts.row(g).begin(), counts.row(g).end(), 0U), 8U);
      }
      const auto* columns = std::get_if<ColumnValues>(&functions.set.functions);
      if (columns == nullptr) continue;
      columns_seen = true;
      Matrix<std::uint32_t> expected(part.num_groups + 1, functions.lines[k].num_bins(), 0U);
      for (std::size_t i = 0; i < kRowsOfProfile; ++i) {
        const std::uint64_t at = place(i);
        const std::uint64_t held_out = spec.held_out.front().rows;
        const std::uint64_t group = at < held_out ? part.num_groups : (at - held_out) / 8;
        const ColumnScale& scale = functions.set.scales[columns->columns[k]];
        const double v =
            (std::scalbn(made().sample.points(i, scale.column), -scale.exponent) - scale.center) / scale.scale;
        const auto& edges = functions.lines[k].edges;
        const auto bin = std::ranges::count_if(edges, [&](double edge) { return edge <= v; });
        ++expected(std::min(group, part.num_groups), static_cast<std::size_t>(bin));
      }
      EXPECT_TRUE(std::ranges::equal(expected.values(), counts.values()));
    }
  }
  EXPECT_TRUE(columns_seen);
}

TEST(Profile, refuses_rows_that_are_counted_already) {
  Profile profile = of_rows(0, 100);
  const std::string before = profile.serialize();
  const auto twice = [](const std::string& rows) {
    return rows + " of a sample would be counted twice: each row may be in one of the profiles only";
  };
  test::expect_error(ErrorCode::invalid_option, twice("rows 51 to 100"), [&] { profile.merge(of_rows(50, 100)); });
  test::expect_error(ErrorCode::invalid_option, twice("rows 1 to 100"), [&] { profile.merge(profile); });
  test::expect_error(ErrorCode::invalid_option, twice("row 100"),
                     [&] { profile.update(made().extent, made().sample.points.view().row_range(99, 5), 99); });
  test::expect_error(ErrorCode::invalid_option,
                     "rows 101 to 150 of a sample are to be taken away but are not all in the profile",
                     [&] { profile.subtract(of_rows(100, 50)); });
  test::expect_error(ErrorCode::invalid_option, "rows 640 to 641 are beyond the sample, which has 640 rows", [&] {
    profile.update(made().extent, made().sample.points.view().row_range(0, 2), kRowsOfProfile - 1);
  });
  test::expect_error(ErrorCode::shape_mismatch, "the rows have 1 columns, the profile has 2",
                     [&] { profile.update(made().extent, Matrix<double>(1, 1, 0.0), 200); });
  EXPECT_EQ(profile.serialize(), before);
}

TEST(Profile, of_a_part_of_a_sample_is_not_tested) {
  const Profile part = of_rows(0, 100);
  test::expect_error(ErrorCode::invalid_option,
                     "rows 101 to 640 of a sample of 640 rows are missing: merge the profiles of all its parts",
                     [&] { static_cast<void>(two_sample_test(made().profile, part)); });
}

// ---- Rows that are left out, keys, blocks ----

// The rows of a sample whose number is not a multiple of seven, as blocks of a stream have them.
struct Kept {
  Matrix<double> rows;
  std::vector<std::uint64_t> numbers;
};

Kept kept_rows(const Sample& sample, std::size_t first, std::size_t count) {
  Kept kept;
  for (std::size_t i = first; i < first + count; ++i) {
    if (i % 7 != 0) kept.numbers.push_back(i);
  }
  kept.rows = Matrix<double>(kept.numbers.size(), sample.points.cols());
  for (std::size_t i = 0; i < kept.numbers.size(); ++i) {
    std::ranges::copy(sample.points.row(kept.numbers[i]), kept.rows.row(i).begin());
  }
  return kept;
}

Profile without_some_rows(std::initializer_list<std::size_t> cuts) {
  Profile profile(made().profile.spec());
  for (const auto* cut = cuts.begin(); cut + 1 != cuts.end(); ++cut) {
    const Kept kept = kept_rows(made().sample, cut[0], cut[1] - cut[0]);
    profile.update(
        made().extent,
        RowBlock{.rows = kept.rows, .first_row = cut[0], .num_read = cut[1] - cut[0], .numbers = kept.numbers});
  }
  return profile;
}

TEST(Profile, of_rows_of_which_some_are_left_out_has_groups_of_their_own_sizes) {
  const Profile profile = without_some_rows({0, kRowsOfProfile});
  EXPECT_EQ(without_some_rows({0, 1, 100, 101, 500, kRowsOfProfile}).serialize(), profile.serialize());
  EXPECT_EQ(Profile::deserialize(profile.serialize()).serialize(), profile.serialize());
  EXPECT_EQ(profile.num_rows(), kRowsOfProfile);
  EXPECT_EQ(profile.num_counted(), kRowsOfProfile - (kRowsOfProfile + 6) / 7);
  profile.require_complete();
  const ProfilePart& all = ProfileAccess::state(made().profile).parts.front();
  const ProfilePart& some = ProfileAccess::state(profile).parts.front();
  EXPECT_EQ(some.num_groups, all.num_groups);
  std::size_t smaller = 0;
  for (std::size_t g = 0; g < all.num_groups; ++g) {
    EXPECT_EQ(all.group_rows[g], 8U);
    EXPECT_LE(some.group_rows[g], 8U);
    smaller += some.group_rows[g] < 8 ? 1U : 0U;
  }
  EXPECT_GT(smaller, all.num_groups / 4);
  // Rows that are there keep their groups.
  for (std::size_t line = 0; line < all.counts.size(); ++line) {
    EXPECT_TRUE(std::ranges::equal(some.counts[line].values(), all.counts[line].values(), std::less_equal<>()));
  }
  TwoSampleOptions options;
  options.test.num_permutations = 99;
  const Profile shifted = make_profile(draw_profiled(900, 3, 0.6), made().profile);
  EXPECT_EQ(two_sample_test(profile, shifted, options).test.pvalue, 0.01);
  test::expect_error(ErrorCode::shape_mismatch, "1 rows of rows 1 to 2 need as many ascending numbers in that range",
                     [&] {
                       Profile other(made().profile.spec());
                       other.update(made().extent, RowBlock{.rows = Matrix<double>(1, 2, 0.0), .num_read = 2});
                     });
}

TEST(Profile, without_any_row_of_a_group_is_tested_without_the_group) {
  // All rows of X but those of one sample part are left out: most groups are empty.
  Profile few(made().profile.spec());
  const std::vector<std::uint64_t> numbers = {3, 50, 51, 52, 53, 300, 301, 302, 303, 304, 305, 306};
  Matrix<double> rows(numbers.size(), 2);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::ranges::copy(made().sample.points.row(numbers[i]), rows.row(i).begin());
  }
  const SampleExtent other{made().extent.id + 1, kRowsOfProfile};
  few.update(other, RowBlock{.rows = rows, .num_read = kRowsOfProfile, .numbers = numbers});
  const TwoSampleResult result = two_sample_test(few, made().profile, {});
  EXPECT_LE(result.groups->num_x, numbers.size());
  EXPECT_GT(result.groups->num_x, 0U);
  EXPECT_TRUE(std::isfinite(result.test.statistic));
}

std::vector<std::uint64_t> keys_of(std::size_t n, std::size_t rows_per_key) {
  std::vector<std::uint64_t> keys;
  for (std::size_t i = 0; i < n; ++i) keys.push_back(key_of("user " + std::to_string(i / rows_per_key)));
  return keys;
}

TEST(Profile, keeps_rows_with_one_key_in_one_group) {
  const Sample sample = draw_profiled(1200, 5);
  const std::vector<std::uint64_t> keys = keys_of(1200, 6);
  ProfileOptions options = profile_options();
  options.rows_per_group = 20;
  options.groups = parse_group_rule("key:user");
  options.keys = keys;
  const Profile profile = make_profile(sample, options);
  EXPECT_EQ(to_string(profile.group_rule()), "key:user");
  EXPECT_EQ(profile.num_counted(), 1200U);
  const ProfilePart& part = ProfileAccess::state(profile).parts.front();
  for (const std::uint32_t rows : part.group_rows) EXPECT_EQ(rows % 6, 0U);
  const std::string bytes = profile.serialize();
  EXPECT_EQ(Profile::deserialize(bytes).serialize(), bytes);
  // The order of the rows does not matter, and neither do the blocks they come in.
  Profile again(profile.spec());
  const SampleExtent extent = sample_extent(sample);
  again.update(extent, RowBlock{.rows = sample.points.view().row_range(700, 500),
                                .first_row = 700,
                                .keys = std::span(keys).subspan(700)});
  again.update(extent, RowBlock{.rows = sample.points.view().row_range(0, 700), .keys = std::span(keys).first(700)});
  EXPECT_EQ(again.serialize(), bytes);
  test::expect_error(ErrorCode::shape_mismatch,
                     "1200 rows with 0 keys, expected 1200 because groups are assigned by key:user",
                     [&] { Profile(profile.spec()).update(extent, sample.points, 0); });
}

// Keys 0 .. 999 in 20 cells of the places, for 200 samples: 50 each on average. Chi-square with 19 degrees of freedom
// has mean 19 and standard deviation sqrt(38); the mean of 200 is within 5 of its standard errors but for 6e-7.
TEST(Profile, spreads_keys_that_are_neighbouring_numbers_at_random) {
  ProfileSpec spec;
  spec.rule = parse_group_rule("key:user");
  double total = 0.0;
  for (std::uint64_t id = 0; id < 200; ++id) {
    const RowPlaces place(spec, {id, 20'000});
    std::vector<double> cells(20, 0.0);
    for (std::uint64_t key = 0; key < 1000; ++key) cells[place(0, key) / 1000] += 1.0;
    for (const double count : cells) total += (count - 50.0) * (count - 50.0) / 50.0;
  }
  EXPECT_NEAR(total / 200.0, 19.0, 5.0 * std::sqrt(38.0 / 200.0));
}

TEST(Profile, keeps_neighbours_in_time_in_one_block) {
  const Sample sample = draw_profiled(1000, 6);
  std::vector<double> time(1000);
  for (std::size_t i = 0; i < time.size(); ++i) time[i] = static_cast<double>((i * 377) % 1000);
  const std::vector<std::uint64_t> ranks = ranks_of(time);
  ProfileOptions options = profile_options();
  options.rows_per_group = 25;
  options.groups = parse_group_rule("blocks:time");
  options.keys = ranks;
  const Profile profile = make_profile(sample, options);
  const std::uint64_t held_out = profile.spec()->held_out.front().rows;
  ASSERT_EQ(held_out, 100U);
  const RowPlaces place(*profile.spec(), sample_extent(sample));
  std::vector<std::uint64_t> group_at(1000, 0);  // by time; 0: held out
  for (std::size_t i = 0; i < 1000; ++i) {
    const std::uint64_t at = place(i, ranks[i]);
    group_at[ranks[i]] = at < held_out ? 0 : 1 + (at - held_out) / 25;
  }
  std::erase(group_at, 0);
  EXPECT_EQ(group_at.size(), 900U);
  EXPECT_TRUE(std::ranges::is_sorted(group_at));
  EXPECT_EQ(group_at.back(), 36U);
  for (const std::uint32_t rows : ProfileAccess::state(profile).parts.front().group_rows) EXPECT_LE(rows, 110U);
}

TEST(GroupRule, is_read_and_written) {
  for (const char* text : {"random", "key:user", "blocks:time:of day"}) {
    EXPECT_EQ(to_string(parse_group_rule(text)), text);
  }
  for (const char* text : {"key", "key:", "random:x", "blocks:"}) {
    test::expect_error(ErrorCode::invalid_option,
                       std::string("groups = ") + text + ": expected random, key:COLUMN or blocks:COLUMN",
                       [&] { static_cast<void>(parse_group_rule(text)); });
  }
  EXPECT_THROW(static_cast<void>(parse_group_rule("by turns")), Error);
}

// ---- Files ----

std::string with_checksums(std::string bytes) {
  const auto crc = [](std::string_view part) {
    return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(part.data()), part.size()));
  };
  const auto put = [&](std::size_t at, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>((value >> (8 * i)) & 0xffU);
  };
  std::size_t at = 12;
  while (at + 12 < bytes.size() && bytes.compare(at, 4, "DONE") != 0) {
    std::uint64_t length = 0;
    for (std::size_t i = 8; i-- > 0;) length = (length << 8U) | static_cast<unsigned char>(bytes[at + 4 + i]);
    if (length > bytes.size() - at - 16) break;
    put(at + 12 + length, crc(std::string_view(bytes).substr(at + 12, length)));
    at += 16 + length;
  }
  put(bytes.size() - 4, crc(std::string_view(bytes).substr(0, bytes.size() - 4)));
  return bytes;
}

TEST(ProfileFile, comes_back_as_it_was) {
  const std::string bytes = made().profile.serialize();
  const Profile again = Profile::deserialize(bytes);
  EXPECT_EQ(again.serialize(), bytes);
  EXPECT_EQ(again.spec_id(), made().profile.spec_id());
  EXPECT_EQ(again.column_names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(again.num_rows(), kRowsOfProfile);
  EXPECT_EQ(with_checksums(bytes), bytes);
  const test::ScratchFolder folder;
  const std::string path = folder.path("a.kqp");
  made().profile.save(path);
  EXPECT_EQ(Profile::load(path).serialize(), bytes);
}

TEST(ProfileFile, that_is_cut_short_or_damaged_is_refused) {
  const std::string bytes = of_rows(0, 100).serialize();
  const auto expect_refused = [](const std::string& text) {
    try {
      static_cast<void>(Profile::deserialize(text));
      ADD_FAILURE() << "a damaged profile was read";
    } catch (const Error& error) {
      EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(ErrorCode::unreadable_input));
      EXPECT_TRUE(std::string_view(error.what()).starts_with("not a valid profile: ")) << error.what();
    }
  };
  for (std::size_t length = 0; length < bytes.size(); length += 1 + length / 50)
    expect_refused(bytes.substr(0, length));
  RandomStream stream(Seed{5}, Purpose::test_data, 1);
  for (int k = 0; k < 200; ++k) {
    std::string damaged = bytes;
    damaged[static_cast<std::size_t>(stream.below(bytes.size()))] ^= static_cast<char>(1U << stream.below(8));
    expect_refused(damaged);
  }
  expect_refused(bytes + "x");
  expect_refused("PAR1 something else");
  std::string newer = bytes;
  newer[8] = 3;
  test::expect_error(ErrorCode::unreadable_input, "not a valid profile: it has format 3.0, this version reads 2.x",
                     [&] { static_cast<void>(Profile::deserialize(with_checksums(newer))); });
}

// Damage with checksums that fit: the reader refuses, or what it accepts is a profile with those very bytes.
TEST(ProfileFile, with_valid_checksums_is_refused_or_canonical) {
  const std::string bytes = made().profile.serialize();
  RandomStream stream(Seed{6}, Purpose::test_data, 2);
  std::size_t refused = 0;
  constexpr std::size_t kTrials = 300;
  for (std::size_t k = 0; k < kTrials; ++k) {
    std::string damaged = bytes;
    const std::size_t changes = 1 + stream.below(3);
    for (std::size_t c = 0; c < changes; ++c) {
      damaged[12 + static_cast<std::size_t>(stream.below(bytes.size() - 20))] = static_cast<char>(stream.below(256));
    }
    damaged = with_checksums(std::move(damaged));
    try {
      EXPECT_EQ(Profile::deserialize(damaged).serialize(), damaged);
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, kTrials / 4);
}

// Found by fuzzing: the error was that of the option, with the line break.
TEST(ProfileFile, with_an_unknown_kernel_is_refused_in_one_line) {
  std::string bytes = made().profile.serialize();
  const std::size_t at = bytes.rfind("gaussian@");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 2] = '\n';
  try {
    static_cast<void>(Profile::deserialize(with_checksums(bytes)));
    ADD_FAILURE() << "a profile with an unknown kernel was read";
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(ErrorCode::unreadable_input));
    EXPECT_TRUE(std::string_view(error.what()).starts_with("not a valid profile: its kernel is \"ga\\nssian"))
        << error.what();
  }
}

TEST(ProfileFile, larger_than_the_limit_is_refused) {
  const std::string bytes = made().profile.serialize();
  try {
    static_cast<void>(Profile::deserialize(bytes, {.max_bytes = 1000}));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(ErrorCode::resource_limit));
  }
}

// ---- The test ----

TEST(ProfileTest, finds_a_difference_and_only_that) {
  TwoSampleOptions options;
  options.test.num_permutations = 99;
  const Profile shifted = make_profile(draw_profiled(900, 3, 0.6), made().profile);
  const Profile alike = make_profile(draw_profiled(900, 4), made().profile);
  const TwoSampleResult different = two_sample_test(made().profile, shifted, options);
  EXPECT_EQ(different.method, "adaptive");
  EXPECT_EQ(different.test.pvalue, 0.01);
  EXPECT_GT(different.effect_size, 0.1);
  EXPECT_GT(different.configurations.size(), 5U);
  ASSERT_TRUE(different.groups.has_value());
  EXPECT_EQ(different.groups->rows_per_group, 8U);
  EXPECT_EQ(different.groups->num_y, 900U / 8);
  EXPECT_EQ(two_sample_test(shifted, made().profile, options).test.pvalue, 0.01);
  const TwoSampleResult same = two_sample_test(made().profile, alike, options);
  EXPECT_GT(same.test.pvalue, 0.01);
  EXPECT_LT(same.effect_size, 0.1);
  for (const char* method : {"ekqd", "supkqd"}) {
    options.method = method;
    EXPECT_EQ(two_sample_test(made().profile, shifted, options).test.pvalue, 0.01) << method;
  }
}

TEST(ProfileTest, does_not_depend_on_how_profiles_were_made_or_read) {
  TwoSampleOptions options;
  options.test.num_permutations = 99;
  const Profile other = make_profile(draw_profiled(700, 5, 0.1), made().profile);
  const TwoSampleResult first = two_sample_test(made().profile, other, options);
  Profile parts = of_rows(300, kRowsOfProfile - 300);
  parts.merge(of_rows(0, 300));
  options.statistic.threads = ThreadCount{3};
  const TwoSampleResult again = two_sample_test(Profile::deserialize(parts.serialize()), other, options);
  EXPECT_EQ(first.test.statistic, again.test.statistic);
  EXPECT_EQ(first.test.pvalue, again.test.pvalue);
  EXPECT_EQ(first.effect_size, again.effect_size);
}

TEST(ProfileTest, refuses_profiles_of_different_specs_and_methods_that_need_rows) {
  const Profile other_spec = make_profile(draw_profiled(400, 6), profile_options());
  EXPECT_THROW(static_cast<void>(two_sample_test(made().profile, other_spec)), Error);
  TwoSampleOptions options;
  options.method = "mmd";
  const Profile other = make_profile(draw_profiled(400, 6), made().profile);
  test::expect_error(ErrorCode::invalid_option,
                     "method = mmd: expected adaptive, ekqd or supkqd for profiles; other methods need rows",
                     [&] { static_cast<void>(two_sample_test(made().profile, other, options)); });
}

TEST(ProfileTest, matches_columns_by_name) {
  Sample turned = draw_profiled(400, 7);
  const Profile straight = make_profile(turned, made().profile);
  for (std::size_t i = 0; i < 400; ++i) std::swap(turned.points(i, 0), turned.points(i, 1));
  std::swap(turned.column_names[0], turned.column_names[1]);
  EXPECT_EQ(make_profile(turned, made().profile).serialize(), straight.serialize());
  turned.column_names[0] = "c";
  test::expect_error(ErrorCode::shape_mismatch, "the sample has no column \"b\", which the profile has",
                     [&] { static_cast<void>(make_profile(turned, made().profile)); });
}

TEST(ProfileTest, needs_enough_rows) {
  test::expect_error(ErrorCode::empty_sample, "a profile needs at least 40 rows, got 39",
                     [] { static_cast<void>(make_profile(draw_profiled(39, 1))); });
  const Profile few = make_profile(draw_profiled(7, 8), made().profile);
  test::expect_error(ErrorCode::empty_sample, "a profile of 7 rows has no group of 8 rows",
                     [&] { static_cast<void>(two_sample_test(made().profile, few)); });
}

// A column of one value in the first sample has bins for other values: a later sample may have them.
TEST(ProfileTest, finds_new_values_of_a_column_that_had_one) {
  RandomStream stream(Seed{8}, Purpose::test_data, 5);
  const auto draw = [&](double share) {
    Sample sample{Matrix<double>(2000, 2), {}, {}};
    for (std::size_t i = 0; i < 2000; ++i) {
      sample.points(i, 0) = stream.normal();
      sample.points(i, 1) = stream.uniform() < share ? 1.0 : 0.0;
    }
    return sample;
  };
  const Profile before = make_profile(draw(0.0), ProfileOptions{});
  const auto pvalue = [&](double share) {
    TwoSampleOptions options;
    options.test.num_permutations = 199;
    return two_sample_test(before, make_profile(draw(share), before), options).test.pvalue;
  };
  EXPECT_EQ(pvalue(0.05), 1.0 / 200.0);
  EXPECT_GT(pvalue(0.0), 0.01);
}

}  // namespace
}  // namespace kqd
