#include "kqd/testing/design.hpp"

#include <gtest/gtest.h>

#include "kqd/testing/permutations.hpp"
#include "support/warnings.hpp"
#include "unit/testing/toy_plans.hpp"

namespace kqd {
namespace {

using Rows = std::vector<std::size_t>;

void expect_refusal(const Design& design, SampleSizes sizes, const Rows& row_order, ErrorCode code,
                    const std::string& sentence) {
  try {
    const PermutationSource source(design, sizes, row_order, Seed{});
    ADD_FAILURE() << "accepted, expected: " << sentence;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_EQ(error.what(), sentence);
  }
}

TEST(Design, refuses_pairs_of_unequal_number) {
  expect_refusal(Design::paired(), {3, 4}, test::rows_in_order(7), ErrorCode::shape_mismatch,
                 "paired design: X has 3 rows and Y has 4, needs equal numbers");
}

TEST(Design, refuses_half_a_pair) {
  expect_refusal(Design::paired(), {3, 3}, {0, 1, 2, 3, 5}, ErrorCode::shape_mismatch,
                 "paired design: one row of pair 2 was held out and its partner was not; pairs stay whole");
}

TEST(Design, refuses_ids_of_another_number_than_the_rows) {
  expect_refusal(Design::blocks({1, 1, 2}), {2, 2}, test::rows_in_order(4), ErrorCode::shape_mismatch,
                 "3 ids of blocks or clusters for 2 rows of X and 2 of Y, needs 4");
  Design unused_ids = Design::paired();
  unused_ids.group_ids = {1, 1, 1, 1};
  expect_refusal(unused_ids, {2, 2}, test::rows_in_order(4), ErrorCode::shape_mismatch,
                 "4 ids of blocks or clusters for 2 rows of X and 2 of Y, needs 0");
}

TEST(Design, refuses_blocks_that_allow_no_exchange_and_warns_of_some_that_do_not) {
  expect_refusal(Design::blocks({1, 1, 2, 3}), {2, 2}, test::rows_in_order(4), ErrorCode::invalid_option,
                 "blocks design: each of the 3 blocks holds rows of one sample only, so no labels can be exchanged; "
                 "needs a block with rows of both");
  const PermutationSource source(Design::blocks({1, 2, 2, 3}), {2, 2}, test::rows_in_order(4), Seed{});
  EXPECT_EQ(source.warnings(), test::only(WarningId::one_sided_blocks, 2, 3, 2));
}

TEST(Design, refuses_clusters_with_two_labels_or_one_on_each_side) {
  expect_refusal(
      Design::clusters({1, 2, 2, 3}), {2, 2}, test::rows_in_order(4), ErrorCode::invalid_option,
      "clusters design: cluster 2 has rows in X and in Y, needs one label per cluster (blocks may hold both)");
  expect_refusal(Design::clusters({8, 8, 9, 9}), {2, 2}, test::rows_in_order(4), ErrorCode::invalid_option,
                 "clusters design: X and Y have one cluster each, so labels can only be swapped as a whole; needs at "
                 "least 2 clusters in one of them");
}

TEST(Design, exchanges_clusters_of_equal_size_only) {
  expect_refusal(Design::clusters({1, 1, 2, 2, 3, 4}), {4, 2}, test::rows_in_order(6), ErrorCode::invalid_option,
                 "clusters design: no number of rows is that of a cluster of X and of one of Y, so no labels can be "
                 "exchanged; needs clusters of equal size in both samples");
  const PermutationSource source(Design::clusters({1, 1, 2, 3, 4, 4, 4}), {3, 4}, test::rows_in_order(7), Seed{});
  EXPECT_EQ(source.permutation_count(), 2U);
  EXPECT_EQ(source.warnings(), test::only(WarningId::unmatched_clusters, 2, 4));
}

TEST(Design, refuses_a_row_order_that_names_no_row_or_one_twice_or_none_of_a_sample) {
  expect_refusal({}, {2, 2}, {0, 4}, ErrorCode::shape_mismatch, "row order: row 4 of a pool of 4 rows");
  expect_refusal({}, {2, 2}, {0, 3, 0}, ErrorCode::shape_mismatch, "row order: row 0 appears twice");
  expect_refusal({}, {2, 2}, {2, 3}, ErrorCode::empty_sample, "X: no rows left to compare, expected at least one");
  expect_refusal({}, {2, 2}, {1}, ErrorCode::empty_sample, "Y: no rows left to compare, expected at least one");
}

TEST(Design, one_row_per_sample_has_two_permutations) {
  const PermutationSource source({}, {1, 1}, test::rows_in_order(2), Seed{});
  EXPECT_EQ(source.permutation_count(), 2U);
}

TEST(WholeUnits, adds_partners_and_the_rest_of_clusters) {
  const SampleSizes sizes = {3, 3};
  EXPECT_EQ(whole_units({}, sizes, Rows{5, 1, 5}), (Rows{1, 5}));
  EXPECT_EQ(whole_units(Design::paired(), sizes, Rows{4, 0}), (Rows{0, 1, 3, 4}));
  EXPECT_EQ(whole_units(Design::blocks({1, 1, 2, 1, 2, 2}), sizes, Rows{4, 0}), (Rows{0, 4}));
  EXPECT_EQ(whole_units(Design::clusters({1, 1, 2, 3, 4, 3}), sizes, Rows{5, 0}), (Rows{0, 1, 3, 5}));
  EXPECT_THROW((void)whole_units({}, sizes, Rows{6}), Error);
}

}  // namespace
}  // namespace kqd
