#pragma once
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

namespace kqd {

/// One round of a multiply-and-fold hash: the two halves of a 128-bit product, folded.
inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a ^ 0x9e3779b97f4a7c15ULL) * (b ^ 0xd6e8feb86659fd93ULL);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

/// A hash of the values in their order; -0 counts as 0.
inline std::uint64_t hash_values(std::span<const double> values, std::uint64_t key) {
  std::uint64_t hash = key;
  for (const double v : values) hash = mix(hash, std::bit_cast<std::uint64_t>(v + 0.0));
  return hash;
}

/// A hash of some bytes and their number.
inline std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t key) {
  std::uint64_t hash = mix(key, bytes.size());
  for (const char c : bytes) hash = mix(hash, static_cast<unsigned char>(c));
  return hash;
}

}  // namespace kqd
