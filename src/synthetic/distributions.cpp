#include "synthetic/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "synthetic/coordinate_distribution.hpp"

namespace kqd {
namespace {

void draw_each(const CoordinateDistribution& distribution, RandomStream& stream, std::span<double> row) {
  for (double& value : row) value = distribution(stream);
}

void draw_normals(RandomStream& stream, std::span<double> row) {
  for (double& value : row) value = stream.normal();
}

// N(0, sd^2) in the first `num_first` coordinates and N(0, 1) in the others, all independent.
RowDistribution normal_with_spread(std::size_t num_first, double sd) {
  return [=](RandomStream& stream, std::span<double> row) {
    draw_normals(stream, row);
    for (double& value : row.first(num_first)) value *= sd;
  };
}

// Four normal distributions at (+-mean, +-mean), 0 in the coordinates from the third on; the one at (-mean, -mean) has
// its own standard deviation.
RowDistribution four_normals(double mean, double sd_of_last) {
  return [=](RandomStream& stream, std::span<double> row) {
    const std::uint64_t corner = stream.below(4);
    const double sd = corner == 3 ? sd_of_last : 1.0;
    for (double& value : row) value = sd * stream.normal();
    row[0] += (corner & 1U) != 0 ? -mean : mean;
    row[1] += (corner & 2U) != 0 ? -mean : mean;
  };
}

// Normal distributions on a grid of centres around 0: covariance R diag(stretch, 1) R' with R the rotation by `angle`.
RowDistribution normals_on_grid(std::size_t grid, double spacing, double stretch, double angle) {
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

RowDistribution independent(const CoordinateDistribution& distribution) {
  return [=](RandomStream& stream, std::span<double> row) { draw_each(distribution, stream, row); };
}

// Autoregression of order 1 that starts in its stationary distribution: every coordinate is N(0, 1), and coordinates i
// and j have correlation rho^|i - j|.
void draw_autoregression(double rho, RandomStream& stream, std::span<double> row) {
  draw_normals(stream, row);
  const double innovation_sd = std::sqrt(1.0 - rho * rho);
  for (std::size_t j = 1; j < row.size(); ++j) row[j] = rho * row[j - 1] + innovation_sd * row[j];
}

// A factor that all coordinates share gives any two of them correlation rho.
RowDistribution equicorrelated(double rho) {
  return [own = std::sqrt(1.0 - rho), shared = std::sqrt(rho)](RandomStream& stream, std::span<double> row) {
    const double factor = stream.normal();
    for (double& value : row) value = own * stream.normal() + shared * factor;
  };
}

RowDistribution autoregression(double rho) {
  return [=](RandomStream& stream, std::span<double> row) { draw_autoregression(rho, stream, row); };
}

RowDistribution noisy_sphere(double radius, double noise) {
  return [=](RandomStream& stream, std::span<double> row) {
    draw_normals(stream, row);
    const double norm = std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
    for (double& value : row) value = radius * (value / norm) + noise * stream.normal();
  };
}

// Uniform on [margin, 1 - margin] in the first coordinates and on [0, 1] in the others.
RowDistribution cube(std::size_t num_thin, double margin) {
  return [=](RandomStream& stream, std::span<double> row) {
    for (double& value : row) value = stream.uniform();
    for (double& value : row.first(num_thin)) value = margin + (1.0 - 2.0 * margin) * value;
  };
}

RowDistribution clusters_along_first(double mean) {
  return [=](RandomStream& stream, std::span<double> row) {
    draw_normals(stream, row);
    row[0] += stream.below(2) == 0 ? mean : -mean;
  };
}

// Normal rows divided by sqrt(chi-square / df): all coordinates of a row share the divisor.
RowDistribution multivariate_t(std::size_t df, double rho, double scale) {
  return [=](RandomStream& stream, std::span<double> row) {
    draw_autoregression(rho, stream, row);
    double chi_square = 0.0;
    for (std::size_t k = 0; k < df; ++k) {
      const double z = stream.normal();
      chi_square += z * z;
    }
    const double factor = std::sqrt(scale * static_cast<double>(df) / chi_square);
    for (double& value : row) value *= factor;
  };
}

// Two normal clusters at 0 and (mean, ..., mean); coordinates 1 and 2 have correlation rho in the first cluster and
// -rho in the second.
RowDistribution two_tilted_normals(double mean, double rho) {
  return [=](RandomStream& stream, std::span<double> row) {
    const bool second = stream.below(2) == 1;
    draw_normals(stream, row);
    row[1] = (second ? -rho : rho) * row[0] + std::sqrt(1.0 - rho * rho) * row[1];
    if (!second) return;
    for (double& value : row) value += mean;
  };
}

// Indicators of the levels of k categorical columns, then m numeric columns. The first numeric one is moved by delta
// when the first category is even and by -delta when it is odd, then centred and scaled to mean 0 and variance 1.
RowDistribution indicators_and_numbers(std::size_t num_categorical, std::size_t num_levels, double delta) {
  const double mean_sign = num_levels % 2 == 0 ? 0.0 : 1.0 / static_cast<double>(num_levels);
  const double sd = std::sqrt(1.0 + delta * delta * (1.0 - mean_sign * mean_sign));
  return [=](RandomStream& stream, std::span<double> row) {
    std::ranges::fill(row, 0.0);
    double sign = 0.0;
    for (std::size_t c = 0; c < num_categorical; ++c) {
      const std::uint64_t level = stream.below(num_levels);
      row[c * num_levels + level] = 1.0;
      if (c == 0) sign = level % 2 == 0 ? 1.0 : -1.0;
    }
    const auto numeric = row.subspan(num_categorical * num_levels);
    draw_normals(stream, numeric);
    numeric[0] = (numeric[0] + delta * (sign - mean_sign)) / sd;
  };
}

}  // namespace

DistributionPair power_decay(ProblemSettings& settings) {
  const std::size_t num_changed = settings.count_of_coordinates("k");
  return {normal_with_spread(0, 1.0), normal_with_spread(num_changed, std::sqrt(settings.value("variance")))};
}

DistributionPair laplace_gaussian(ProblemSettings& settings) {
  if (settings.value("scale") == 0.0) {
    RandomStream stream = settings.run_stream();
    settings.replace("scale", 0.5 + 0.5 * stream.uniform());
  }
  const double sd = settings.value("scale");
  const double b = sd / std::numbers::sqrt2;  // Laplace(0, b) has variance 2 b^2
  return {independent([=](RandomStream& stream) { return b * draw_laplace(stream); }),
          independent([=](RandomStream& stream) { return sd * stream.normal(); })};
}

DistributionPair mixture(ProblemSettings& settings) {
  const double mean = settings.value("mean");
  return {four_normals(mean, 1.0), four_normals(mean, settings.value("sd"))};
}

DistributionPair blobs(ProblemSettings& settings) {
  const std::size_t grid = settings.count("grid");
  const double spacing = settings.value("spacing");
  const double angle = settings.value("angle") / 180.0 * std::numbers::pi;
  return {normals_on_grid(grid, spacing, 1.0, 0.0), normals_on_grid(grid, spacing, settings.value("stretch"), angle)};
}

DistributionPair mean_shift(ProblemSettings& settings) {
  const CoordinateDistribution distribution = coordinate_distribution(settings);
  const std::size_t num_shifted = settings.count_of_coordinates("k");
  const double delta = settings.value("delta");
  return {independent(distribution), [=](RandomStream& stream, std::span<double> row) {
            draw_each(distribution, stream, row);
            for (double& value : row.first(num_shifted)) value += delta;
          }};
}

DistributionPair same_distribution(ProblemSettings& settings) {
  const RowDistribution distribution = independent(coordinate_distribution(settings));
  return {distribution, distribution};
}

DistributionPair spiked_covariance(ProblemSettings& settings) {
  const std::size_t num_equal = settings.count_of_coordinates("k");
  const double sd = std::sqrt(settings.value("variance"));
  return {draw_normals, [=](RandomStream& stream, std::span<double> row) {
            draw_normals(stream, row);
            const auto spike = row.last(num_equal);
            if (!spike.empty()) std::ranges::fill(spike, sd * spike[0]);
          }};
}

DistributionPair equicorrelation(ProblemSettings& settings) {
  return {equicorrelated(settings.value("rho_x")), equicorrelated(settings.value("rho_y"))};
}

DistributionPair ar_correlation(ProblemSettings& settings) {
  return {autoregression(settings.value("rho_x")), autoregression(settings.value("rho_y"))};
}

DistributionPair spheres(ProblemSettings& settings) {
  const double noise = settings.value("noise");
  return {noisy_sphere(1.0, noise), noisy_sphere(settings.value("radius"), noise)};
}

DistributionPair thin_cube(ProblemSettings& settings) {
  return {cube(0, 0.0), cube(settings.count_of_coordinates("k"), settings.value("margin"))};
}

DistributionPair two_clusters(ProblemSettings& settings) {
  return {draw_normals, clusters_along_first(settings.value("mean"))};
}

DistributionPair normal_scale(ProblemSettings& settings) {
  return {draw_normals, normal_with_spread(settings.dim(), std::sqrt(settings.value("variance")))};
}

DistributionPair scaled_t(ProblemSettings& settings) {
  const std::size_t df = settings.count("df");
  const double rho = settings.value("rho");
  return {multivariate_t(df, rho, 1.0), multivariate_t(df, rho, settings.value("scale"))};
}

DistributionPair hdgm(ProblemSettings& settings) {
  const double mean = settings.value("mean");
  return {two_tilted_normals(mean, 0.0), two_tilted_normals(mean, settings.value("rho"))};
}

DistributionPair mixed_table(ProblemSettings& settings) {
  const std::size_t num_categorical = settings.count("k");
  const std::size_t num_levels = settings.count("levels");
  settings.derive_dim(num_categorical * num_levels + settings.count("m"), "k levels + m");
  return {indicators_and_numbers(num_categorical, num_levels, 0.0),
          indicators_and_numbers(num_categorical, num_levels, settings.value("delta"))};
}

}  // namespace kqd
