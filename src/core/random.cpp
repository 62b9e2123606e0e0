#include "core/random.hpp"

#include <Random123/philox.h>

#include <cmath>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "core/fail.hpp"

namespace kqd {

RandomStream::RandomStream(Seed seed, Purpose purpose, std::uint64_t index)
    : key_(seed.value), index_(index), purpose_(static_cast<std::uint32_t>(purpose)) {}

std::array<std::uint64_t, 2> RandomStream::next_block() {
  const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
  const auto high = [](std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32U); };
  const r123::Philox4x32::ctr_type counter = {
      {low(block_), low(index_), high(index_), (high(block_) << 8U) | (purpose_ & 0xffU)}};
  const r123::Philox4x32::key_type key = {{low(key_), high(key_)}};
  const auto out = r123::Philox4x32()(counter, key);
  ++block_;
  return {(static_cast<std::uint64_t>(out[1]) << 32U) | out[0], (static_cast<std::uint64_t>(out[3]) << 32U) | out[2]};
}

std::uint64_t RandomStream::bits64() {
  if (std::exchange(has_spare_, !has_spare_)) return spare_;
  const auto [first, second] = next_block();
  spare_ = second;
  return first;
}

void RandomStream::fill(std::span<std::uint64_t> words) {
  RandomStream self = *this;  // a local copy stays in registers: the words written below cannot be its members
  std::size_t filled = 0;
  if (has_spare_ && !words.empty()) words[filled++] = self.bits64();
  for (; filled + 2 <= words.size(); filled += 2) {
    const auto [first, second] = self.next_block();
    words[filled] = first;
    words[filled + 1] = second;
  }
  if (filled < words.size()) words[filled] = self.bits64();
  *this = self;
}

double RandomStream::uniform() {
  // 52 bits and a half: with 53 the largest would round up to 1, where the normal quantile is infinite.
  return (static_cast<double>(bits64() >> 12U) + 0.5) * 0x1p-52;
}

std::uint64_t RandomStream::below(std::uint64_t bound) {
  KQD_ASSERT(bound > 0);
  // Lemire's multiply-and-reject: the high word of bits * bound is uniform once the few low words that would favour
  // some results are rejected.
  __extension__ using Wide = unsigned __int128;
  auto product = static_cast<Wide>(bits64()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < threshold) product = static_cast<Wide>(bits64()) * bound;
  }
  return static_cast<std::uint64_t>(product >> 64U);
}

double RandomStream::normal() {
  return normal_quantile(uniform());
}

double RandomStream::exponential() {
  return -std::log(uniform());
}

namespace {

template <std::size_t N>
double polynomial(const std::array<double, N>& coefficients, double x) {
  double value = 0.0;
  for (std::size_t i = N; i-- > 0;) value = value * x + coefficients[i];
  return value;
}

}  // namespace

// Algorithm AS 241 (PPND16) of Wichura: three ratios of polynomials of degree 7.
double normal_quantile(double p) {
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    constexpr std::array<double, 8> a = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                                         1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                                         3.3430575583588128105e4, 2.5090809287301226727e3};
    constexpr std::array<double, 8> b = {1.0,
                                         4.2313330701600911252e1,
                                         6.8718700749205790830e2,
                                         5.3941960214247511077e3,
                                         2.1213794301586595867e4,
                                         3.9307895800092710610e4,
                                         2.8729085735721942674e4,
                                         5.2264952788528545610e3};
    const double r = 0.180625 - q * q;
    return q * polynomial(a, r) / polynomial(b, r);
  }
  double r = std::sqrt(-std::log(q < 0.0 ? p : 1.0 - p));
  double z = 0.0;
  if (r <= 5.0) {
    constexpr std::array<double, 8> c = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                         3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                         2.27238449892691845833e-2, 7.74545014278341407640e-4};
    constexpr std::array<double, 8> d = {1.0,
                                         2.05319162663775882187e0,
                                         1.67638483018380384940e0,
                                         6.89767334985100004550e-1,
                                         1.48103976427480074590e-1,
                                         1.51986665636164571966e-2,
                                         5.47593808499534494600e-4,
                                         1.05075007164441684324e-9};
    r -= 1.6;
    z = polynomial(c, r) / polynomial(d, r);
  } else {
    constexpr std::array<double, 8> e = {
        6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,  2.96560571828504891230e-1,
        2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7};
    constexpr std::array<double, 8> f = {1.0,
                                         5.99832206555887937690e-1,
                                         1.36929880922735805310e-1,
                                         1.48753612908506148525e-2,
                                         7.86869131145613259100e-4,
                                         1.84631831751005468180e-5,
                                         1.42151175831644588870e-7,
                                         2.04426310338993978564e-15};
    r -= 5.0;
    z = polynomial(e, r) / polynomial(f, r);
  }
  return q < 0.0 ? -z : z;
}

// A Fisher-Yates shuffle stopped after `count` steps; only the touched places are stored when they are few.
std::vector<std::size_t> sample_without_replacement(std::size_t bound, std::size_t count, RandomStream& stream) {
  KQD_ASSERT(count <= bound);
  std::vector<std::size_t> chosen(count);
  if (count > bound / 16) {
    std::vector<std::size_t> places(bound);
    std::iota(places.begin(), places.end(), std::size_t{0});
    for (std::size_t i = 0; i < count; ++i) {
      std::swap(places[i], places[i + stream.below(bound - i)]);
      chosen[i] = places[i];
    }
    return chosen;
  }
  std::unordered_map<std::size_t, std::size_t> moved;
  const auto at = [&](std::size_t place) {
    const auto found = moved.find(place);
    return found == moved.end() ? place : found->second;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t j = i + stream.below(bound - i);
    chosen[i] = at(j);
    moved[j] = at(i);
  }
  return chosen;
}

}  // namespace kqd
