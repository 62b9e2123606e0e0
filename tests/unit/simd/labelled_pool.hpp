#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/random.hpp"
#include "kqd/core/labels.hpp"
#include "kqd/core/matrix.hpp"
#include "simd/sorted_pool.hpp"

namespace kqd::test {

/// Lengths around the vector widths (1, 2, 4, 8 lanes), words, runs, blocks, tiles and chunks of the kernels.
inline const std::vector<std::size_t>& awkward_lengths() {
  static const std::vector<std::size_t> lengths = {0,   1,   2,   3,   4,   5,    7,    8,    9,    15,
                                                   16,  17,  19,  31,  33,  35,   63,   64,   65,   255,
                                                   256, 257, 258, 511, 513, 1000, 2047, 2048, 2049, 5003};
  return lengths;
}

/// A sorted pool that starts at an odd place of its memory.
class Pool {
 public:
  /// draw(stream) makes the values; rows are in random order.
  template <class Draw>
  Pool(std::size_t num_rows, std::uint64_t seed, Draw draw) : values_(num_rows + 1), order_(num_rows + 1) {
    RandomStream stream(Seed{seed}, Purpose::test_data, 0);
    for (std::size_t k = 1; k <= num_rows; ++k) values_[k] = draw(stream);
    std::sort(values_.begin() + 1, values_.end());
    std::ranges::transform(sample_without_replacement(num_rows, num_rows, stream), order_.begin() + 1,
                           [](std::size_t row) { return static_cast<std::uint32_t>(row); });
  }
  [[nodiscard]] simd::SortedPool view() const { return {std::span(values_).subspan(1), std::span(order_).subspan(1)}; }
  [[nodiscard]] std::size_t num_rows() const { return values_.size() - 1; }
  [[nodiscard]] double value(std::size_t k) const { return values_[k + 1]; }
  [[nodiscard]] std::size_t row(std::size_t k) const { return order_[k + 1]; }

 private:
  std::vector<double> values_;
  std::vector<std::uint32_t> order_;
};

inline double normal_value(RandomStream& stream) {
  return stream.normal();
}
/// Few different whole numbers: ties, and sums without rounding.
inline double small_integer(RandomStream& stream) {
  return static_cast<double>(stream.below(7)) - 3.0;
}

/// `count` random permutations, permutation b with num_x[b] rows labelled X.
inline LabelBatch random_labels(std::size_t num_rows, const std::vector<std::size_t>& num_x, std::uint64_t seed) {
  LabelBatch batch;
  batch.words.resize(num_rows);
  batch.count = static_cast<unsigned>(num_x.size());
  for (std::size_t b = 0; b < num_x.size(); ++b) {
    RandomStream stream(Seed{seed}, Purpose::test_data, 1 + b);
    batch.num_x[b] = num_x[b];
    for (const std::size_t row : sample_without_replacement(num_rows, num_x[b], stream)) {
      batch.words[row] |= std::uint64_t{1} << b;
    }
  }
  return batch;
}

/// |value - exact| / |exact|; exact itself has 64 bits of precision.
inline double relative_error(double value, long double exact) {
  const long double error = std::abs(static_cast<long double>(value) - exact);
  return static_cast<double>(error == 0.0L ? 0.0L : error / std::abs(exact));
}

inline MatrixView<const std::uint64_t> words_of(const LabelBatch& batch) {
  return {batch.words.data(), batch.words.size(), 1};
}

}  // namespace kqd::test
