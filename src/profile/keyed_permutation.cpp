#include "profile/keyed_permutation.hpp"

#include <bit>

#include "core/fail.hpp"
#include "core/random.hpp"

namespace kqd {
namespace {

// The finaliser of SplitMix64: every bit of the result depends on every bit of the input.
std::uint64_t mixed(std::uint64_t v) {
  v = (v ^ (v >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  v = (v ^ (v >> 27U)) * 0x94d049bb133111ebULL;
  return v ^ (v >> 31U);
}

}  // namespace

KeyedPermutation::KeyedPermutation(std::uint64_t size, Seed seed, std::uint64_t index) : size_(size) {
  KQD_ASSERT(size > 0);
  const auto bits = static_cast<unsigned>(std::bit_width(size - 1));
  half_bits_ = bits < 2 ? 1 : (bits + 1) / 2;
  RandomStream stream(seed, Purpose::group_assignment, index);
  stream.fill(keys_);
}

std::uint64_t KeyedPermutation::permuted_once(std::uint64_t i) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = i >> half_bits_;
  std::uint64_t right = i & mask;
  for (const std::uint64_t key : keys_) {
    const std::uint64_t next = left ^ (mixed(right + key) & mask);
    left = right;
    right = next;
  }
  return (left << half_bits_) | right;
}

std::uint64_t KeyedPermutation::operator()(std::uint64_t i) const {
  do {
    i = permuted_once(i);
  } while (i >= size_);
  return i;
}

std::uint64_t KeyedPermutation::number_at(std::uint64_t place) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  do {
    std::uint64_t left = place >> half_bits_;
    std::uint64_t right = place & mask;
    for (auto key = keys_.rbegin(); key != keys_.rend(); ++key) {
      const std::uint64_t before = right ^ (mixed(left + *key) & mask);
      right = left;
      left = before;
    }
    place = (left << half_bits_) | right;
  } while (place >= size_);
  return place;
}

void KeyedPermutation::fill(std::uint64_t first, std::span<std::uint64_t> places) const {
  // Numbers do not wait for each other until some have to go again.
  for (std::size_t k = 0; k < places.size(); ++k) places[k] = permuted_once(first + k);
  for (std::uint64_t& place : places) {
    while (place >= size_) place = permuted_once(place);
  }
}

}  // namespace kqd
