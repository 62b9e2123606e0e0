#include "simd/target.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>

#include "core/fail.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/target.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kqd::simd::HWY_NAMESPACE {

std::int64_t this_target() {
  return HWY_TARGET;
}

bool multiplies_and_adds_at_once() {
  return HWY_NATIVE_FMA != 0;
}

}  // namespace kqd::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kqd::simd {
HWY_EXPORT(this_target);
HWY_EXPORT(multiplies_and_adds_at_once);

namespace {

struct Target {
  std::string name;
  std::int64_t bit;
};

std::string name_of(std::int64_t bit) {
  std::string name = hwy::TargetName(bit);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

// Highway lets a better instruction set have a lower bit; the fallback it compiles in is always supported.
const std::vector<Target>& targets() {
  static const std::vector<Target> all = [] {
    std::vector<Target> found;
    for (const std::int64_t bit : hwy::SupportedAndGeneratedTargets()) found.push_back({name_of(bit), bit});
    return found;
  }();
  return all;
}

}  // namespace

const char* target_name() {
  const std::int64_t bit = KQD_DISPATCH(this_target)();
  return std::ranges::find(targets(), bit, &Target::bit)->name.c_str();
}

std::vector<std::string> available_targets() {
  std::vector<std::string> names;
  for (const Target& target : targets()) names.push_back(target.name);
  return names;
}

bool has_fma() {
  return KQD_DISPATCH(multiplies_and_adds_at_once)();
}

void use_target(std::string_view name) {
  const auto found = std::ranges::find(targets(), name, &Target::name);
  if (found == targets().end()) {
    fail(ErrorCode::invalid_option, "KQD_SIMD = \"{}\", this CPU has {}", name, fmt::join(available_targets(), ", "));
  }
  hwy::GetChosenTarget().Update(found->bit);
}

void obey_environment() {
  [[maybe_unused]] static const bool done = [] {
    const char* wanted = std::getenv("KQD_SIMD");
    if (wanted != nullptr && *wanted != '\0') use_target(wanted);
    return true;
  }();
}

}  // namespace kqd::simd
#endif
