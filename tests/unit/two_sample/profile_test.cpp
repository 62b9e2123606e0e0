// Profiles: the same bytes for the same rows, the rules of merging, files that cannot be trusted, and the test.
#include "kqd/two_sample/profile_test.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>

#include "core/random.hpp"
#include "profile/keyed_permutation.hpp"
#include "profile/profile_spec.hpp"
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

// Groups recomputed from the rows, with bins by counting edges.
TEST(Profile, counts_every_row_of_a_group_in_its_bin) {
  const ProfileSpec& spec = *made().profile.spec();
  const ProfilePart& part = ProfileAccess::state(made().profile).parts.front();
  EXPECT_EQ(spec.pilot_rows, kRowsOfProfile / 10);
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
      Matrix<std::uint32_t> expected(part.num_groups, functions.lines[k].num_bins(), 0U);
      for (std::size_t i = 0; i < kRowsOfProfile; ++i) {
        const std::uint64_t at = place(i);
        if (at < spec.pilot_rows || (at - spec.pilot_rows) / 8 >= part.num_groups) continue;
        const ColumnScale& scale = functions.set.scales[columns->columns[k]];
        const double v =
            (std::scalbn(made().sample.points(i, scale.column), -scale.exponent) - scale.center) / scale.scale;
        const auto& edges = functions.lines[k].edges;
        const auto bin = std::ranges::count_if(edges, [&](double edge) { return edge <= v; });
        ++expected((at - spec.pilot_rows) / 8, static_cast<std::size_t>(bin));
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
  newer[8] = 2;
  test::expect_error(ErrorCode::unreadable_input, "not a valid profile: it has format 2.0, this version reads 1.x",
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

}  // namespace
}  // namespace kqd
