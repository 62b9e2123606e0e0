#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kqd/core/types.hpp"

namespace kqd {

/// The purpose of a stream. Streams of different purpose or index never share a number. Values are part of the
/// reproducibility contract: append, never renumber.
enum class Purpose : std::uint32_t {
  bandwidth_subsample = 1,
  scale_subsample = 2,
  reference_points = 3,
  coefficients = 4,
  linear_directions = 5,
  row_order = 6,
  permutations = 7,
  tie_break = 8,
  synthetic_x = 9,
  synthetic_y = 10,
  effect_interval = 11,
  landmarks = 12,
  test_data = 13,
  training_split = 14,
  frequencies = 15,
  locations = 16,
  partition = 17,
  starting_points = 18,
  landmark_scores = 19,
  row_subsample = 20,
  group_assignment = 21,
  pilot_rows = 22,
  alarm_threshold = 23,
  change_point = 24,
};

/// A counter-based random stream (Philox 4x32-10 by Random123 [Sal11]), addressed by (seed, purpose, index): the same
/// numbers in any order of use and for any number of threads.
///
/// The key is the seed; the counter holds 64 bits of index, 8 bits of purpose and a 56-bit block number.
class RandomStream {
 public:
  RandomStream(Seed seed, Purpose purpose, std::uint64_t index = 0);

  std::uint64_t bits64();
  /// words.size() calls of bits64() at twice the speed.
  void fill(std::span<std::uint64_t> words);
  /// Uniform on the midpoints of 2^52 cells of (0, 1): never 0, never 1.
  double uniform();
  /// Uniform on {0, ..., bound - 1}, without bias [Lem19]; bound > 0.
  std::uint64_t below(std::uint64_t bound);
  /// Standard normal by inversion of one uniform number [AS241]: the k-th normal depends on the k-th draw only.
  double normal();
  /// Exponential with mean 1.
  double exponential();

 private:
  /// The next two words of the stream.
  std::array<std::uint64_t, 2> next_block();

  std::uint64_t key_;
  std::uint64_t index_;
  std::uint64_t block_ = 0;
  std::uint32_t purpose_;
  std::uint64_t spare_ = 0;  ///< the second word of a block whose first was handed out
  bool has_spare_ = false;
};

/// The inverse of the standard normal distribution function, to about 1e-16 relative [AS241]; 0 < p < 1.
[[nodiscard]] double normal_quantile(double p);

/// `count` different numbers of {0, ..., bound - 1}, every subset and every order equally likely; count <= bound.
[[nodiscard]] std::vector<std::size_t> sample_without_replacement(std::size_t bound, std::size_t count,
                                                                  RandomStream& stream);

}  // namespace kqd
