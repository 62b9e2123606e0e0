#pragma once
#include <array>
#include <functional>
#include <string_view>

#include "core/random.hpp"
#include "synthetic/settings.hpp"

namespace kqd {

/// Draws one number.
using CoordinateLaw = std::function<double(RandomStream&)>;

/// The words of the parameter `law`, in the order of its values.
inline constexpr std::array<std::string_view, 5> kCoordinateLaws = {"normal", "student", "discrete", "cauchy",
                                                                    "laplace"};

/// Laplace(0, 1), whose variance is 2: the difference of two exponential numbers of mean 1.
[[nodiscard]] double draw_laplace(RandomStream& stream);

/// The law that the parameters `law`, `df` and `levels` describe.
/// Throws Error{invalid_option} when df or levels is given for a law that does not use it.
[[nodiscard]] CoordinateLaw coordinate_law(const ProblemSettings& settings);

}  // namespace kqd
