#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "unit/synthetic/checks.hpp"

namespace kqd {
namespace {

using test::chi_square;
using test::chi_square_bound;
using test::expect_equally_likely;
using test::expect_mean;

// G as the paper of MMDAgg writes it, with its conditions.
double g(double t) {
  if (-1.0 < t && t < -0.5) return std::exp(-1.0 / (1.0 - (4.0 * t + 3.0) * (4.0 * t + 3.0)));
  if (-0.5 < t && t < 0.0) return -std::exp(-1.0 / (1.0 - (4.0 * t + 1.0) * (4.0 * t + 1.0)));
  return 0.0;
}

// Bins that cut each cell of 1/p into `per_cell` parts, and the integral of e G over each part of a cell. The midpoint
// rule with 500 points has a relative error below 1e-5, which n = 10^6 rows cannot see: it adds n 1e-10 to chi-square.
struct Bins {
  std::size_t p;
  std::size_t per_cell;

  [[nodiscard]] std::size_t along_axis() const { return p * per_cell; }
  [[nodiscard]] double width() const { return 1.0 / static_cast<double>(along_axis()); }
  [[nodiscard]] std::size_t of(double x) const {
    return std::min(static_cast<std::size_t>(x / width()), along_axis() - 1);
  }
  [[nodiscard]] double wave(std::size_t bin) const {
    constexpr int kPoints = 500;
    double sum = 0.0;
    for (int k = 0; k < kPoints; ++k) {
      const double x = width() * (static_cast<double>(bin) + (k + 0.5) / kPoints);
      for (std::size_t i = 1; i <= p; ++i) sum += g(static_cast<double>(p) * x - static_cast<double>(i));
    }
    return std::exp(1.0) * sum * width() / kPoints;
  }
  [[nodiscard]] double half_sign(std::size_t bin) const { return bin % per_cell < per_cell / 2 ? 1.0 : -1.0; }
};

// The signs theta are not part of the interface. Each is estimated by the half of its cell with more rows; if the
// rows have the density for some theta, they have it for the estimate, as a wrong guess is many standard errors
// away.
void expect_perturbed_in_one_dimension(const Sample& x, const Bins& bins, double height) {
  std::vector<double> counts(bins.along_axis(), 0.0);
  for (const double v : x.points.values()) {
    ASSERT_GT(v, 0.0);
    ASSERT_LT(v, 1.0);
    counts[bins.of(v)] += 1.0;
  }
  std::vector<double> excess(bins.p, 0.0);
  for (std::size_t k = 0; k < counts.size(); ++k) excess[k / bins.per_cell] += bins.half_sign(k) * counts[k];
  std::vector<double> probabilities;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const double theta = excess[k / bins.per_cell] > 0.0 ? 1.0 : -1.0;
    probabilities.push_back(bins.width() + height * theta * bins.wave(k));
  }
  EXPECT_LT(chi_square(counts, probabilities), chi_square_bound(counts.size() - 1));
}

TEST(PerturbedUniform, has_the_density_of_mmd_fuse_in_one_dimension) {
  for (const double scale : {0.3, 1.0}) {
    for (const std::uint64_t seed : {1ULL, 2ULL}) {
      const auto pair = make_problem({.name = "perturbed-uniform",
                                      .n_x = 1'000'000,
                                      .n_y = 1,
                                      .parameters = {{"scale", scale}},
                                      .seed = Seed{seed}});
      expect_perturbed_in_one_dimension(pair.x, {.p = 2, .per_cell = 10}, scale);
    }
  }
}

// MMDAgg's amplitude: the height falls as p^-s.
TEST(PerturbedUniform, smoothness_lowers_the_waves_of_many_perturbations) {
  const auto pair = make_problem({.name = "perturbed-uniform",
                                  .n_x = 1'000'000,
                                  .n_y = 1,
                                  .parameters = {{"scale", 0.9}, {"perturbations", 5}, {"smoothness", 1}}});
  expect_perturbed_in_one_dimension(pair.x, {.p = 5, .per_cell = 8}, 0.9 / 5.0);
}

TEST(PerturbedUniform, has_the_density_of_mmd_fuse_in_two_dimensions) {
  const double scale = 0.8;
  const Bins bins{.p = 2, .per_cell = 6};
  const auto pair = make_problem({.name = "perturbed-uniform",
                                  .n_x = 1'000'000,
                                  .n_y = 1,
                                  .dim = 2,
                                  .parameters = {{"scale", scale}},
                                  .seed = Seed{5}});
  const std::size_t side = bins.along_axis();
  const auto cell = [&](std::size_t a, std::size_t b) { return a / bins.per_cell * bins.p + b / bins.per_cell; };
  std::vector<double> counts(side * side, 0.0);
  for (std::size_t i = 0; i < pair.x.points.rows(); ++i) {
    counts[bins.of(pair.x.points(i, 0)) * side + bins.of(pair.x.points(i, 1))] += 1.0;
  }
  std::vector<double> excess(bins.p * bins.p, 0.0);
  for (std::size_t a = 0; a < side; ++a) {
    for (std::size_t b = 0; b < side; ++b) {
      excess[cell(a, b)] += bins.half_sign(a) * bins.half_sign(b) * counts[a * side + b];
    }
  }
  std::vector<double> probabilities;
  for (std::size_t a = 0; a < side; ++a) {
    for (std::size_t b = 0; b < side; ++b) {
      const double theta = excess[cell(a, b)] > 0.0 ? 1.0 : -1.0;
      probabilities.push_back(bins.width() * bins.width() + scale * theta * bins.wave(a) * bins.wave(b));
    }
  }
  EXPECT_LT(chi_square(counts, probabilities), chi_square_bound(counts.size() - 1));
}

// The sign of every cell of p = 2 perturbations at scale 1, estimated by the half (in two dimensions: the two of four
// quarters) with more rows. A row is there with probability 0.80 (0.68), so the 200 (500) rows of a cell mistake its
// sign with probability below (2 sqrt(0.8 0.2))^200 (2 sqrt(0.68 0.32))^500, both below 1e-14.
std::vector<double> signs_of_cells(std::size_t dim, Seed seed) {
  const auto pair = make_problem({.name = "perturbed-uniform",
                                  .n_x = dim == 1 ? 400U : 2000U,
                                  .n_y = 1,
                                  .dim = dim,
                                  .parameters = {{"scale", 1}},
                                  .seed = seed});
  std::vector<double> signs(dim == 1 ? 2 : 4, 0.0);
  for (std::size_t i = 0; i < pair.x.points.rows(); ++i) {
    std::size_t cell = 0;
    double half = 1.0;
    for (const double v : pair.x.points.row(i)) {
      cell = 2 * cell + (v < 0.5 ? 0 : 1);
      half *= std::fmod(v, 0.5) < 0.25 ? 1.0 : -1.0;
    }
    signs[cell] += half;
  }
  for (double& sign : signs) sign = sign > 0.0 ? 1.0 : -1.0;
  return signs;
}

TEST(PerturbedUniform, each_seed_draws_fair_and_independent_signs) {
  for (const std::size_t dim : {1U, 2U}) {
    const std::size_t num_cells = dim == 1 ? 2 : 4;
    std::vector<std::vector<double>> agreements(num_cells * num_cells);
    std::vector<std::vector<double>> signs(num_cells);
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      const auto drawn = signs_of_cells(dim, Seed{seed});
      for (std::size_t a = 0; a < num_cells; ++a) {
        signs[a].push_back(drawn[a]);
        for (std::size_t b = 0; b < a; ++b) agreements[a * num_cells + b].push_back(drawn[a] * drawn[b]);
      }
    }
    for (std::size_t a = 0; a < num_cells; ++a) {
      expect_mean(signs[a], 0.0, 1.0, "sign");
      for (std::size_t b = 0; b < a; ++b)
        expect_mean(agreements[a * num_cells + b], 0.0, 1.0, "agreement of two cells");
    }
  }
}

TEST(PerturbedUniform, y_is_uniform_and_so_is_x_at_scale_zero) {
  const auto pair = make_problem(
      {.name = "perturbed-uniform", .n_x = 200'000, .n_y = 200'000, .dim = 2, .parameters = {{"scale", 0}}});
  for (const Sample* sample : {&pair.x, &pair.y}) {
    std::vector<double> counts(100, 0.0);
    for (std::size_t i = 0; i < sample->points.rows(); ++i) {
      const auto a = static_cast<std::size_t>(10.0 * sample->points(i, 0));
      const auto b = static_cast<std::size_t>(10.0 * sample->points(i, 1));
      counts.at(10 * a + b) += 1.0;
    }
    expect_equally_likely(counts);
  }
}

}  // namespace
}  // namespace kqd
