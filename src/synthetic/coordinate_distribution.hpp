#pragma once
#include <array>
#include <functional>
#include <string_view>

#include "core/random.hpp"
#include "synthetic/settings.hpp"

namespace kqd {

/// Draws one number.
using CoordinateDistribution = std::function<double(RandomStream&)>;

/// The words of the parameter `distribution`, in the order of its values.
inline constexpr std::array<std::string_view, 5> kCoordinateDistributions = {"normal", "student", "discrete", "cauchy",
                                                                             "laplace"};

/// Laplace(0, 1), whose variance is 2: the difference of two exponential numbers of mean 1.
[[nodiscard]] double draw_laplace(RandomStream& stream);

/// The distribution that the parameters `distribution`, `df` and `levels` describe.
/// Throws Error{invalid_option} when df or levels is given for a distribution that does not use it.
[[nodiscard]] CoordinateDistribution coordinate_distribution(const ProblemSettings& settings);

}  // namespace kqd
