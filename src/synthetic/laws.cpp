#include "synthetic/laws.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include "synthetic/coordinate_law.hpp"

namespace kqd {
namespace {

void draw_each(const CoordinateLaw& law, RandomStream& stream, std::span<double> row) {
  for (double& value : row) value = law(stream);
}

// N(0, sd^2) in the first `num_first` coordinates and N(0, 1) in the others, all independent.
RowLaw normal_with_spread(std::size_t num_first, double sd) {
  return [=](RandomStream& stream, std::span<double> row) {
    for (double& value : row) value = stream.normal();
    for (double& value : row.first(num_first)) value *= sd;
  };
}

// Four normal laws at (+-mean, +-mean), 0 in the coordinates from the third on; the one at (-mean, -mean) has its own
// standard deviation.
RowLaw four_normals(double mean, double sd_of_last) {
  return [=](RandomStream& stream, std::span<double> row) {
    const std::uint64_t corner = stream.below(4);
    const double sd = corner == 3 ? sd_of_last : 1.0;
    for (double& value : row) value = sd * stream.normal();
    row[0] += (corner & 1U) != 0 ? -mean : mean;
    row[1] += (corner & 2U) != 0 ? -mean : mean;
  };
}

// Normal laws on a grid of centres around 0: covariance R diag(stretch, 1) R' with R the rotation by `angle`.
RowLaw normals_on_grid(std::size_t grid, double spacing, double stretch, double angle) {
  const double cosine = std::cos(angle);
  const double sine = std::sin(angle);
  const double long_sd = std::sqrt(stretch);
  const double first_centre = -0.5 * spacing * static_cast<double>(grid - 1);
  return [=](RandomStream& stream, std::span<double> row) {
    for (double& value : row) value = first_centre + spacing * static_cast<double>(stream.below(grid));
    const double along = long_sd * stream.normal();
    const double across = stream.normal();
    row[0] += cosine * along - sine * across;
    row[1] += sine * along + cosine * across;
  };
}

RowLaw independent(const CoordinateLaw& law) {
  return [=](RandomStream& stream, std::span<double> row) { draw_each(law, stream, row); };
}

}  // namespace

LawPair power_decay(ProblemSettings& settings) {
  const std::size_t num_changed = settings.count_of_coordinates("k");
  return {normal_with_spread(0, 1.0), normal_with_spread(num_changed, std::sqrt(settings.value("variance")))};
}

LawPair laplace_gaussian(ProblemSettings& settings) {
  if (settings.value("scale") == 0.0) {
    RandomStream stream = settings.run_stream();
    settings.replace("scale", 0.5 + 0.5 * stream.uniform());
  }
  const double sd = settings.value("scale");
  // The difference of two exponential numbers of mean b is Laplace(0, b), whose variance is 2 b^2.
  const double b = sd / std::numbers::sqrt2;
  return {independent([=](RandomStream& stream) {
            const double first = stream.exponential();
            return b * (first - stream.exponential());
          }),
          independent([=](RandomStream& stream) { return sd * stream.normal(); })};
}

LawPair mixture(ProblemSettings& settings) {
  const double mean = settings.value("mean");
  return {four_normals(mean, 1.0), four_normals(mean, settings.value("sd"))};
}

LawPair blobs(ProblemSettings& settings) {
  const std::size_t grid = settings.count("grid");
  const double spacing = settings.value("spacing");
  const double angle = settings.value("angle") / 180.0 * std::numbers::pi;
  return {normals_on_grid(grid, spacing, 1.0, 0.0), normals_on_grid(grid, spacing, settings.value("stretch"), angle)};
}

LawPair mean_shift(ProblemSettings& settings) {
  const CoordinateLaw law = coordinate_law(settings);
  const std::size_t num_shifted = settings.count_of_coordinates("k");
  const double delta = settings.value("delta");
  return {independent(law), [=](RandomStream& stream, std::span<double> row) {
            draw_each(law, stream, row);
            for (double& value : row.first(num_shifted)) value += delta;
          }};
}

LawPair same_law(ProblemSettings& settings) {
  const RowLaw law = independent(coordinate_law(settings));
  return {law, law};
}

}  // namespace kqd
