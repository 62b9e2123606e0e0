#include "testing/enumeration.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "core/fail.hpp"

namespace kqd {
namespace {

__extension__ using Wide = unsigned __int128;
constexpr std::uint64_t kTooMany = std::numeric_limits<std::uint64_t>::max();

// Permutations of a stratum are the choices of its marked units, those of the rarer label; a choice c_1 < ... < c_k
// has the rank sum_j binomial(c_j, j), a one-to-one map onto 0 .. binomial(size, k) - 1 (combinatorial number system).
struct Marks {
  explicit Marks(const Stratum& stratum)
      : size(stratum.size),
        number(std::min(stratum.num_x, stratum.size - stratum.num_x)),
        are_x(number == stratum.num_x),
        num_choices(binomial_coefficient(size, number)) {}

  std::uint64_t size;
  std::uint64_t number;
  bool are_x;
  std::uint64_t num_choices;
};

// The largest c < bound with binomial(c, j) <= rank, by bisection; c = j - 1, where the binomial is 0, is one such c.
std::uint64_t largest_not_above(std::uint64_t rank, std::uint64_t j, std::uint64_t bound) {
  std::uint64_t low = j - 1;
  while (bound - low > 1) {
    const std::uint64_t middle = low + (bound - low) / 2;
    (binomial_coefficient(middle, j) <= rank ? low : bound) = middle;
  }
  return low;
}

// Calls use(c) for every marked unit c of the choice with this rank.
template <class Use>
void for_each_mark(const Marks& marks, std::uint64_t rank, const Use& use) {
  std::uint64_t bound = marks.size;
  for (std::uint64_t j = marks.number; j > 0; --j) {
    bound = largest_not_above(rank, j, bound);
    rank -= binomial_coefficient(bound, j);
    use(bound);
  }
}

std::uint64_t rank_of(const Marks& marks, std::span<const std::uint8_t> is_x) {
  std::uint64_t rank = 0;
  std::uint64_t j = 0;
  for (std::size_t c = 0; c < is_x.size(); ++c) {
    if ((is_x[c] != 0) == marks.are_x) rank += binomial_coefficient(c, ++j);
  }
  return rank;
}

// A rank among all permutations has one digit per stratum, the rank within it; the first stratum has the lowest digit.
std::uint64_t observed_rank(const Exchange& exchange) {
  std::uint64_t rank = 0;
  for (auto stratum = exchange.strata.rbegin(); stratum != exchange.strata.rend(); ++stratum) {
    const Marks marks(*stratum);
    rank = rank * marks.num_choices +
           rank_of(marks, std::span(exchange.observed_is_x).subspan(stratum->first, stratum->size));
  }
  return rank;
}

}  // namespace

std::uint64_t binomial_coefficient(std::uint64_t n, std::uint64_t k) {
  if (k > n) return 0;
  k = std::min(k, n - k);
  Wide value = 1;  // binomial(n - k + i, i): grows with i, so that a step above the limit is final
  for (std::uint64_t i = 1; i <= k; ++i) {
    value = value * (n - k + i) / i;
    if (value >= kTooMany) return kTooMany;
  }
  return static_cast<std::uint64_t>(value);
}

std::uint64_t count_permutations(std::span<const Stratum> strata) {
  Wide count = 1;
  for (const Stratum& stratum : strata) {
    count *= binomial_coefficient(stratum.size, stratum.num_x);
    if (count >= kTooMany) return kTooMany;
  }
  return static_cast<std::uint64_t>(count);
}

void enumerate_labels(const Exchange& exchange, std::uint64_t first, unsigned count, std::span<std::uint64_t> units) {
  KQD_ASSERT(count_permutations(exchange.strata) < kTooMany);
  const std::uint64_t observed = observed_rank(exchange);
  std::array<std::uint64_t, 64> ranks{};
  for (unsigned b = 0; b < count; ++b) {
    const std::uint64_t number = first + b;
    ranks[b] = number == 0 ? observed : number <= observed ? number - 1 : number;
  }
  for (const Stratum& stratum : exchange.strata) {
    const Marks marks(stratum);
    const auto words = units.subspan(stratum.first, stratum.size);
    std::ranges::fill(words, marks.are_x ? std::uint64_t{0} : ~std::uint64_t{0});
    for (unsigned b = 0; b < count; ++b) {
      for_each_mark(marks, ranks[b] % marks.num_choices,
                    [&](std::uint64_t unit) { words[unit] ^= std::uint64_t{1} << b; });
      ranks[b] /= marks.num_choices;
    }
  }
}

}  // namespace kqd
