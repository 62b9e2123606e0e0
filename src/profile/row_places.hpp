#pragma once
#include <cstdint>
#include <span>

#include "profile/keyed_permutation.hpp"
#include "profile/profile_spec.hpp"

namespace kqd {

/// The place of each row of a sample, 0 .. n - 1: rows with the first places are held out of the groups of the sample
/// that a spec is made from, each group has the rows of as many further places as it has rows by the spec.
///
///   random   a keyed permutation of the row number
///   key      a keyed hash of the key, times n: rows with one key have one place
///   blocks   the rank by the column, after the places of the held-out rows, which are drawn at random
///
/// Never the row number itself, by turns, or equal shares of each part of a file: on sorted files such groups are more
/// alike than random ones, and nearly all true null hypotheses are rejected (tests/statistical/grouped_test.cpp).
class RowPlaces {
 public:
  RowPlaces(const ProfileSpec& spec, const SampleExtent& sample);

  /// `key`: RowBlock::keys of the row; not read where rows are assigned at random.
  [[nodiscard]] std::uint64_t operator()(std::uint64_t row, std::uint64_t key) const;
  [[nodiscard]] std::uint64_t num_held_out() const { return num_held_out_; }
  /// The row that is assigned at random to a place.
  [[nodiscard]] std::uint64_t random_row_at(std::uint64_t place) const { return shuffled_.number_at(place); }
  /// The places of rows first_row, first_row + 1, ... that are assigned at random.
  void random_places(std::uint64_t first_row, std::span<std::uint64_t> places) const;
  /// The group of each row of a block; `num_groups` for rows that are in none.
  void groups(const RowBlock& block, std::uint64_t rows_per_group, std::uint64_t num_groups,
              std::span<std::uint32_t> groups) const;

 private:
  GroupAssignment assignment_;
  KeyedPermutation shuffled_;
  std::uint64_t num_held_out_;
  std::uint64_t salt_;
};

}  // namespace kqd
