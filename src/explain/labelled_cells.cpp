#include "explain/labelled_cells.hpp"

#include <algorithm>
#include <array>

#include "metrics/label_lanes.hpp"

namespace kqd {
namespace {

constexpr std::size_t kLanes = LabelBatch::kCapacity;

// Counters of 64 permutations side by side, a bit of all of them per word: adding a word of labels is adding 1 to those
// permutations that label the row X.
using Counter = std::array<std::uint64_t, 40>;

void add_word(Counter& counter, std::uint64_t carry) {
  for (std::size_t bit = 0; carry != 0; ++bit) {
    const std::uint64_t next = counter[bit] & carry;
    counter[bit] ^= carry;
    carry = next;
  }
}

void read_counter(const Counter& counter, std::span<double> counts) {
  double unit = 1.0;
  for (const std::uint64_t word : counter) {
    for (std::size_t b = 0; word != 0 && b < kLanes; ++b) counts[b] += ((word >> b) & 1U) != 0 ? unit : 0.0;
    unit *= 2.0;
  }
}

void add_value(std::uint64_t word, double value, std::span<double> sums) {
  for (std::size_t byte = 0; byte < 8; ++byte, word >>= 8U) {
    const auto& bits = detail::kBitsOfByte[word & 0xffU];
    for (std::size_t k = 0; k < 8; ++k) sums[8 * byte + k] += value * bits[k];
  }
}

}  // namespace

std::vector<double> RowCells::totals() const {
  std::vector<double> sums(count, 0.0);
  for (std::size_t i = 0; i < of_row.size(); ++i) {
    if (of_row[i] != kSkipped) sums[of_row[i]] += values.empty() ? 1.0 : values[i];
  }
  return sums;
}

Matrix<double> sums_of_x(const RowCells& rows, const LabelBatch& batch) {
  Matrix<double> sums(rows.count, kLanes, 0.0);
  if (!rows.values.empty()) {
    for (std::size_t i = 0; i < rows.of_row.size(); ++i) {
      if (rows.of_row[i] != RowCells::kSkipped) add_value(batch.words[i], rows.values[i], sums.row(rows.of_row[i]));
    }
    return sums;
  }
  std::vector<Counter> counters(rows.count, Counter{});
  for (std::size_t i = 0; i < rows.of_row.size(); ++i) {
    if (rows.of_row[i] != RowCells::kSkipped) add_word(counters[rows.of_row[i]], batch.words[i]);
  }
  for (std::size_t c = 0; c < rows.count; ++c) read_counter(counters[c], sums.row(c));
  return sums;
}

LabelBatch labels_of(const LabelBatch& batch, std::span<const std::uint32_t> rows) {
  LabelBatch part;
  part.count = batch.count;
  Counter counter{};
  for (const std::uint32_t row : rows) {
    part.words.push_back(batch.words[row]);
    add_word(counter, batch.words[row]);
  }
  std::array<double, kLanes> counts{};
  read_counter(counter, counts);
  for (unsigned b = 0; b < batch.count; ++b) part.num_x[b] = static_cast<std::size_t>(counts[b]);
  return part;
}

}  // namespace kqd
