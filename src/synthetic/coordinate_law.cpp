#include "synthetic/coordinate_law.hpp"

#include <cmath>
#include <numbers>

#include "core/fail.hpp"

namespace kqd {
namespace {

// Bailey's polar form [Bai94]: sqrt(df (U^(-2/df) - 1)) cos(2 pi V) has Student's law for every df > 0. For df to
// infinity it is the Box-Muller transform; expm1 keeps its digits on the way.
double student(RandomStream& stream, double df) {
  const double radius = std::sqrt(df * std::expm1(-2.0 / df * std::log(stream.uniform())));
  return radius * std::cos(2.0 * std::numbers::pi * stream.uniform());
}

double cauchy(RandomStream& stream) {
  return std::tan(std::numbers::pi * (stream.uniform() - 0.5));
}

void refuse_unused(const ProblemSettings& settings, std::string_view parameter, std::string_view law,
                   std::string_view user) {
  if (law == user || !settings.is_given(parameter)) return;
  fail(ErrorCode::invalid_option, "{}: {} is set but law = {} does not use it, needs law = {}", settings.problem().id,
       parameter, law, user);
}

}  // namespace

double draw_laplace(RandomStream& stream) {
  const double first = stream.exponential();
  return first - stream.exponential();
}

CoordinateLaw coordinate_law(const ProblemSettings& settings) {
  const std::string_view law = kCoordinateLaws.at(settings.count("law"));
  refuse_unused(settings, "df", law, "student");
  refuse_unused(settings, "levels", law, "discrete");
  if (law == "student") return [df = settings.value("df")](RandomStream& stream) { return student(stream, df); };
  if (law == "discrete") {
    return
        [levels = settings.count("levels")](RandomStream& stream) { return static_cast<double>(stream.below(levels)); };
  }
  if (law == "cauchy") return cauchy;
  if (law == "laplace") return draw_laplace;
  return &RandomStream::normal;
}

}  // namespace kqd
