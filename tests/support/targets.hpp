#pragma once
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstddef>
#include <cstdint>

namespace kqd::test {

/// Calls `body` once under every instruction set that this CPU has and the library was compiled for.
template <class Body>
void for_each_target(const Body& body) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (target == HWY_SSSE3) continue;  // not compiled (src/simd/CMakeLists.txt)
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    body(target);
    hwy::SetSupportedTargetsForTest(0);
  }
}

/// Doubles per vector of a target.
inline std::size_t lanes_of(std::int64_t target) {
  switch (target) {
    case HWY_SSE4:
    case HWY_EMU128:
      return 2;
    case HWY_AVX2:
      return 4;
    case HWY_AVX3:
    case HWY_AVX3_DL:
      return 8;
    default:
      return 1;
  }
}

}  // namespace kqd::test
