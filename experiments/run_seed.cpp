#include "experiments/run_seed.hpp"

#include <cstdint>

namespace kqd {
namespace {

// FNV-1a, so that different names have different seeds.
std::uint64_t hash(std::string_view text) {
  std::uint64_t value = 0xcbf29ce484222325ULL;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return value;
}

}  // namespace

Seed run_seed(std::string_view name, Seed seed, std::size_t run) {
  return {hash(name) + seed.value * 0x9e3779b97f4a7c15ULL + run};
}

}  // namespace kqd
