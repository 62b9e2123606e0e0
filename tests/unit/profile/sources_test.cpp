#include "kqd/profile/sources.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "kqd/core/types.hpp"
#include "profile/keyed_permutation.hpp"
#include "support/errors.hpp"

namespace kqd {
namespace {

using Names = std::vector<std::string>;

TEST(SourceNames, are_paths_from_the_deepest_common_folder_with_its_name) {
  EXPECT_EQ(source_names({"/data/jan/a.csv", "/data/jan/x/b.csv"}), (Names{"jan/a.csv", "jan/x/b.csv"}));
  EXPECT_EQ(source_names({"/data/jan/a.csv"}), (Names{"jan/a.csv"}));
  EXPECT_EQ(source_names({"/data/jan/a.csv", "/data/feb/a.csv"}), (Names{"data/jan/a.csv", "data/feb/a.csv"}));
  EXPECT_EQ(source_names({"s3://bucket/jan/a", "s3://bucket/jan/b"}), (Names{"jan/a", "jan/b"}));
  EXPECT_EQ(source_names({"/a.csv", "/x/b.csv"}), (Names{"a.csv", "x/b.csv"}));
  EXPECT_EQ(source_names({"a.csv", "x/b.csv"}), (Names{"a.csv", "x/b.csv"}));
  EXPECT_EQ(source_names({}), Names{});
}

TEST(SampleSources, do_not_depend_on_the_order_of_the_parts) {
  const SampleSources one({{"b", 10, 3}, {"a", 20, 5}, {"c", 0, 2}});
  const SampleSources other({{"c", 0, 2}, {"a", 20, 5}, {"b", 10, 3}});
  EXPECT_EQ(one.extent(), other.extent());
  EXPECT_EQ(one.extent().num_rows, 10U);
  EXPECT_EQ(one.first_row("a"), 0U);
  EXPECT_EQ(one.first_row("b"), 5U);
  EXPECT_EQ(one.first_row("c"), 8U);
  EXPECT_EQ(one.first_row(std::size_t{1}), 5U);
}

TEST(SampleSources, differ_by_name_size_and_number_of_rows) {
  const SampleSources one({{"a", 20, 5}, {"b", 10, 3}});
  EXPECT_NE(one.extent().id, SampleSources({{"a", 20, 5}, {"c", 10, 3}}).extent().id);
  EXPECT_NE(one.extent().id, SampleSources({{"a", 21, 5}, {"b", 10, 3}}).extent().id);
  EXPECT_NE(one.extent().id, SampleSources({{"a", 20, 4}, {"b", 10, 4}}).extent().id);
  EXPECT_NE(one.extent().id, SampleSources({{"ab", 20, 8}}).extent().id);
}

TEST(SampleSources, refuse_what_is_no_sample) {
  test::expect_error(ErrorCode::invalid_option, "two parts of a sample are named \"a\", expected different names", [] {
    SampleSources({{"a", 1, 1}, {"a", 2, 1}});
  });
  test::expect_error(ErrorCode::empty_sample, "the sample has no rows, expected at least one", [] {
    SampleSources({{"a", 1, 0}});
  });
  test::expect_error(ErrorCode::invalid_option, "the sample has no part named \"b\"", [] {
    static_cast<void>(SampleSources({{"a", 1, 1}}).first_row("b"));
  });
}

TEST(KeyedPermutation, many_places_at_once_are_those_one_by_one) {
  for (const std::uint64_t size : {1ULL, 2ULL, 1000ULL, 70'000ULL}) {
    const KeyedPermutation place(size, Seed{7}, 3);
    std::vector<std::uint64_t> places(std::min<std::uint64_t>(size, 500));
    const std::uint64_t first = size - places.size();
    place.fill(first, places);
    for (std::size_t k = 0; k < places.size(); ++k) EXPECT_EQ(places[k], place(first + k));
  }
}

}  // namespace
}  // namespace kqd
