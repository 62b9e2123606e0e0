#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace kqd {

// A cell of a table is a double. Everything but a number is a NaN, and its payload says what: a
// column that turns out to hold text late needs no second pass, and takes no more room than one of numbers.

constexpr std::uint64_t kTextTag = 0x7ffcULL << 48U;  ///< below it: the number of the text in its column's dictionary
constexpr std::uint64_t kHashTag = 0x7ffdULL
                                   << 48U;  ///< below it: the hash of a text that the dictionary had no room for
constexpr std::uint64_t kTagMask = 0xffffULL << 48U;

/// No value. Any NaN without a tag means the same.
[[nodiscard]] constexpr double missing_cell() {
  return std::numeric_limits<double>::quiet_NaN();
}
[[nodiscard]] constexpr double text_cell(std::uint32_t code) {
  return std::bit_cast<double>(kTextTag | code);
}
/// Of a hash, the lower 48 bits are kept.
[[nodiscard]] constexpr double hashed_text_cell(std::uint64_t hash) {
  return std::bit_cast<double>(kHashTag | (hash & ~kTagMask));
}

[[nodiscard]] constexpr bool is_dictionary_text(double cell) {
  return (std::bit_cast<std::uint64_t>(cell) & kTagMask) == kTextTag;
}
[[nodiscard]] constexpr bool is_hashed_text(double cell) {
  return (std::bit_cast<std::uint64_t>(cell) & kTagMask) == kHashTag;
}
[[nodiscard]] constexpr bool is_text(double cell) {
  return is_dictionary_text(cell) || is_hashed_text(cell);
}
[[nodiscard]] inline bool is_missing(double cell) {
  return std::isnan(cell) && !is_text(cell);
}
/// The bits below the tag of a text: its number in the dictionary, or its hash.
[[nodiscard]] constexpr std::uint64_t text_payload(double cell) {
  return std::bit_cast<std::uint64_t>(cell) & ~kTagMask;
}

}  // namespace kqd
