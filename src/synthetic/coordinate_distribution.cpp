#include "synthetic/coordinate_distribution.hpp"

#include <cmath>
#include <numbers>

#include "core/fail.hpp"

namespace kqd {
namespace {

// Bailey's polar form [Bai94]: sqrt(df (U^(-2/df) - 1)) cos(2 pi V) has Student's distribution for every df > 0. For df
// to infinity it is the Box-Muller transform; expm1 keeps its digits on the way.
double student(RandomStream& stream, double df) {
  const double radius = std::sqrt(df * std::expm1(-2.0 / df * std::log(stream.uniform())));
  return radius * std::cos(2.0 * std::numbers::pi * stream.uniform());
}

double cauchy(RandomStream& stream) {
  return std::tan(std::numbers::pi * (stream.uniform() - 0.5));
}

void refuse_unused(const ProblemSettings& settings, std::string_view parameter, std::string_view distribution,
                   std::string_view user) {
  if (distribution == user || !settings.is_given(parameter)) return;
  fail_at(ErrorCode::invalid_option, settings.problem().id,
          fmt::format("{} is set but distribution = {} does not use it", parameter, distribution),
          fmt::format("distribution = {}", user));
}

}  // namespace

double draw_laplace(RandomStream& stream) {
  const double first = stream.exponential();
  return first - stream.exponential();
}

CoordinateDistribution coordinate_distribution(const ProblemSettings& settings) {
  const std::string_view distribution = kCoordinateDistributions.at(settings.count("distribution"));
  refuse_unused(settings, "df", distribution, "student");
  refuse_unused(settings, "levels", distribution, "discrete");
  if (distribution == "student")
    return [df = settings.value("df")](RandomStream& stream) { return student(stream, df); };
  if (distribution == "discrete") {
    return
        [levels = settings.count("levels")](RandomStream& stream) { return static_cast<double>(stream.below(levels)); };
  }
  if (distribution == "cauchy") return cauchy;
  if (distribution == "laplace") return draw_laplace;
  return &RandomStream::normal;
}

}  // namespace kqd
