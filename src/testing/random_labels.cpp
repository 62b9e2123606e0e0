#include "testing/random_labels.hpp"

#include <algorithm>
#include <bit>

#include "core/fail.hpp"

namespace kqd {
namespace {

// The density of the independent bits is a multiple of 2^-6. More digits would take more random words per unit, fewer
// would leave more marks to correct; with six both take about the same time.
constexpr unsigned kDensityDigits = 6;

// Sets every bit with probability numerator / 2^kDensityDigits, independently. Digit by digit from the last: "or" with
// a fair bit takes a probability p to (p + 1)/2, "and" takes it to p/2.
void draw_independent_bits(std::uint64_t numerator, std::span<std::uint64_t> words, RandomStream& stream) {
  constexpr std::size_t kChunk = 512;  // words of one chunk stay in the first-level cache
  std::array<std::uint64_t, kChunk> fair;
  std::ranges::fill(words, std::uint64_t{0});
  if (numerator == 0) return;
  for (std::size_t begin = 0; begin < words.size(); begin += kChunk) {
    const auto chunk = words.subspan(begin, std::min(kChunk, words.size() - begin));
    for (auto digit = static_cast<unsigned>(std::countr_zero(numerator)); digit < kDensityDigits; ++digit) {
      const bool set = ((numerator >> digit) & 1U) != 0;
      stream.fill(std::span(fair).first(chunk.size()));
      for (std::size_t i = 0; i < chunk.size(); ++i) chunk[i] = set ? chunk[i] | fair[i] : chunk[i] & fair[i];
    }
  }
}

// Uniform picks among the words. They are drawn ahead, so that many words of a large pool can be prefetched.
class Picks {
 public:
  Picks(std::span<std::uint64_t> words, RandomStream& stream) : words_(words), stream_(stream) {}

  std::uint64_t& next() {
    if (num_left_ == 0) refill();
    return *ahead_[--num_left_];
  }

 private:
  void refill() {
    for (std::uint64_t*& pick : ahead_) {
      pick = &words_[stream_.below(words_.size())];
      __builtin_prefetch(pick, 1);
    }
    num_left_ = ahead_.size();
  }

  std::span<std::uint64_t> words_;
  RandomStream& stream_;
  std::array<std::uint64_t*, 32> ahead_{};
  std::size_t num_left_ = 0;
};

// In each column, puts marks on or takes them off uniformly chosen words until exactly `target` words are marked.
void correct_marks(std::size_t target, std::span<std::uint64_t> words, RandomStream& stream) {
  const auto counts = count_bits_by_column(words);
  Picks picks(words, stream);
  for (unsigned column = 0; column < 64; ++column) {
    const std::uint64_t to_change = counts[column] > target ? 1 : 0;
    std::size_t num_wrong = to_change == 1 ? counts[column] - target : target - counts[column];
    while (num_wrong > 0) {
      std::uint64_t& word = picks.next();
      const std::uint64_t change = ((word >> column) & 1U) == to_change ? 1 : 0;  // no branch: unpredictable
      word ^= change << column;
      num_wrong -= change;
    }
  }
}

}  // namespace

// Each column is uniform: the distribution of the independent bits does not depend on the numbering of the units, nor
// does a correction, which picks uniformly among the units with the mark to change. Hence the final distribution is the
// same for any numbering of the units. Any two choices of num_x units are renumberings of each other, so all are
// equally likely. This holds whatever the density of the bits is; it may be rounded.
//
// Marks are drawn for the rarer label, with its share rounded down. Marks that lack go to units without one, at least
// half of all. Marks too many occur only when the share is at least 2^-6, and then at least that part of the units is
// marked. So a pick is accepted with probability 2^-6 or more, mostly 1/2 or more, even when one label is rare.
void draw_labels(std::size_t num_x, std::span<std::uint64_t> units, RandomStream& stream) {
  KQD_ASSERT(!units.empty() && num_x <= units.size());
  if (units.size() == 2 && num_x == 1) {  // a pair: one fair bit decides
    units[0] = stream.bits64();
    units[1] = ~units[0];
    return;
  }
  const std::size_t num_y = units.size() - num_x;
  const std::size_t num_marked = std::min(num_x, num_y);
  draw_independent_bits((num_marked << kDensityDigits) / units.size(), units, stream);
  correct_marks(num_marked, units, stream);
  if (num_x > num_y) {
    for (std::uint64_t& word : units) word = ~word;
  }
}

namespace {

// Column counters, bit-sliced: bit b of digits[j] is digit j of the count of column b.
class SlicedCounters {
 public:
  /// Adds 2^digit to every column whose bit is set in `word`.
  void add(std::uint64_t word, unsigned digit) {
    for (; word != 0; ++digit) {
      const std::uint64_t carry = digits_[digit] & word;
      digits_[digit] ^= word;
      word = carry;
    }
  }
  /// The count of a column, when it has no more than `num_digits` binary digits.
  [[nodiscard]] std::size_t count(unsigned column, unsigned num_digits) const {
    std::size_t total = 0;
    for (unsigned digit = 0; digit < num_digits; ++digit) {
      total |= static_cast<std::size_t>((digits_[digit] >> column) & 1U) << digit;
    }
    return total;
  }

 private:
  std::array<std::uint64_t, 64> digits_{};
};

// Replaces three words of equal weight by `sum` of that weight and the returned carry of twice the weight.
std::uint64_t add_three(std::uint64_t& sum, std::uint64_t b, std::uint64_t c) {
  const std::uint64_t either = sum ^ b;
  const std::uint64_t carry = (sum & b) | (either & c);
  sum = either ^ c;
  return carry;
}

}  // namespace

// Eight words at a time go through a tree of full adders, so that the slow ripple through the counters is needed once
// per eight words only.
std::array<std::size_t, 64> count_bits_by_column(std::span<const std::uint64_t> words) {
  SlicedCounters counters;
  std::uint64_t ones = 0;
  std::uint64_t twos = 0;
  std::uint64_t fours = 0;
  std::size_t i = 0;
  for (; i + 8 <= words.size(); i += 8) {
    const auto w = words.subspan(i, 8);
    const std::uint64_t twos_a = add_three(ones, w[0], w[1]);
    const std::uint64_t twos_b = add_three(ones, w[2], w[3]);
    const std::uint64_t twos_c = add_three(ones, w[4], w[5]);
    const std::uint64_t twos_d = add_three(ones, w[6], w[7]);
    const std::uint64_t fours_a = add_three(twos, twos_a, twos_b);
    const std::uint64_t fours_b = add_three(twos, twos_c, twos_d);
    counters.add(add_three(fours, fours_a, fours_b), 3);
  }
  for (; i < words.size(); ++i) counters.add(words[i], 0);
  counters.add(ones, 0);
  counters.add(twos, 1);
  counters.add(fours, 2);
  const auto num_digits = static_cast<unsigned>(std::bit_width(words.size()));
  std::array<std::size_t, 64> counts{};
  for (unsigned column = 0; column < 64; ++column) counts[column] = counters.count(column, num_digits);
  return counts;
}

}  // namespace kqd
