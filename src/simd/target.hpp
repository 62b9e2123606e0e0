#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace kqd::simd {

/// The instruction set the vector kernels use now, as Highway names it in small letters: "scalar", "sse4",
/// "avx2", "avx3", ... The best one of this CPU, unless the environment variable KQD_SIMD names another.
[[nodiscard]] const char* target_name();

/// The names that use_target() and KQD_SIMD accept on this CPU, best first.
[[nodiscard]] std::vector<std::string> available_targets();

/// True where the instruction set in use has fused multiply-add. All such sets give the same bits.
[[nodiscard]] bool has_fma();

/// From now on every kernel of the process uses this instruction set.
/// Throws Error{invalid_option} with a list of the available ones.
void use_target(std::string_view name);

/// Reads KQD_SIMD, once; every dispatch passes through here (see KQD_DISPATCH).
/// Throws Error{invalid_option} when use_target() does not accept the value.
void obey_environment();

}  // namespace kqd::simd

/// HWY_DYNAMIC_DISPATCH that honours KQD_SIMD. Like that macro it is to be used in the namespace that holds HWY_EXPORT.
#define KQD_DISPATCH(function) (::kqd::simd::obey_environment(), HWY_DYNAMIC_DISPATCH(function))
