#include "kqd/synthetic/problems.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <new>

#include "core/executor.hpp"
#include "core/names.hpp"
#include "core/random.hpp"
#include "synthetic/coordinate_distribution.hpp"
#include "synthetic/distributions.hpp"
#include "synthetic/settings.hpp"

namespace kqd {
namespace {

constexpr std::size_t kAnyDim = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kRowsPerBlock = 1024;

// Large enough for anybody, and no draw of a distribution with such a scale overflows.
constexpr double kHuge = 1e100;
constexpr double kManyCoordinates = 1e9;

constexpr ParameterInfo kDistribution = {
    "distribution",          0, 0, kCoordinateDistributions.size() - 1, true, "distribution of a coordinate",
    kCoordinateDistributions};
constexpr ParameterInfo kDf = {"df", 3,     0.5,
                               1e6,  false, "degrees of freedom of Student's t; with distribution = student"};
constexpr ParameterInfo kLevels = {
    "levels", 5, 2, 1e9, true, "how many values 0, 1, ..., each equally likely; with distribution = discrete"};

constexpr std::array<ParameterInfo, 2> kPowerDecay = {{
    {"variance", 4, 0, kHuge, false, "variance of the changed coordinates of Y; 1 is the null"},
    {"k", 3, 0, kManyCoordinates, true, "how many coordinates change, from the first on"},
}};
constexpr std::array<ParameterInfo, 1> kLaplaceGaussian = {{
    {"scale", 0, 0, kHuge, false,
     "standard deviation s of both distributions; 0 draws it from U(1/2, 1), once per seed"},
}};
constexpr std::array<ParameterInfo, 2> kMixture = {{
    {"sd", 2, 0, kHuge, false, "standard deviation of Y's component at (-mean, -mean); 1 is the null"},
    {"mean", 20, 0, kHuge, false, "distance of the four centres from both axes"},
}};
constexpr std::array<ParameterInfo, 3> kPerturbedUniform = {{
    {"perturbations", 2, 1, 1000, true, "cells p along each axis, each with its own perturbation"},
    {"scale", 0.5, 0, 1, false, "height c of a perturbation before p^-smoothness; 0 is the null"},
    {"smoothness", 0, 0, 100, false, "Sobolev smoothness s: the height is c p^-s"},
}};
constexpr std::array<ParameterInfo, 4> kBlobs = {{
    {"stretch", 2, 0, kHuge, false, "first eigenvalue of Y's covariance, the second is 1; 1 is the null"},
    {"angle", 45, -360, 360, false, "rotation of Y's covariance, in degrees"},
    {"grid", 4, 1, 1000, true, "centres along each axis"},
    {"spacing", 5, 0, kHuge, false, "distance of neighbouring centres"},
}};
constexpr std::array<ParameterInfo, 5> kMeanShift = {{
    {"delta", 0.5, -kHuge, kHuge, false, "shift of Y; 0 is the null"},
    {"k", 1, 0, kManyCoordinates, true, "how many coordinates are shifted, from the first on"},
    kDistribution,
    kDf,
    kLevels,
}};
constexpr std::array<ParameterInfo, 3> kNull = {kDistribution, kDf, kLevels};
constexpr std::array<ParameterInfo, 2> kSpikedCovariance = {{
    {"k", 5, 0, kManyCoordinates, true, "how many coordinates of Y, the last ones, are equal; 0 is the null"},
    {"variance", 3, 0, kHuge, false, "variance of the equal coordinates"},
}};
constexpr std::array<ParameterInfo, 2> kEquicorrelation = {{
    {"rho_x", 0.5, 0, 1, false, "correlation of any two coordinates of X"},
    {"rho_y", 0.525, 0, 1, false, "correlation of any two coordinates of Y; rho_x is the null"},
}};
constexpr std::array<ParameterInfo, 2> kArCorrelation = {{
    {"rho_x", 0.5, -1, 1, false, "correlation of neighbouring coordinates of X"},
    {"rho_y", 0.6, -1, 1, false, "correlation of neighbouring coordinates of Y; rho_x is the null"},
}};
constexpr std::array<ParameterInfo, 2> kSpheres = {{
    {"radius", 1.015, 0, kHuge, false, "radius of Y's sphere; 1 is the null"},
    {"noise", 0.02, 0, kHuge, false, "standard deviation of the noise in each coordinate"},
}};
constexpr std::array<ParameterInfo, 2> kThinCube = {{
    {"margin", 0.1, 0, 0.5, false, "width removed at both ends of the thin coordinates of Y; 0 is the null"},
    {"k", 30, 0, kManyCoordinates, true, "how many coordinates are thin, from the first on"},
}};
constexpr std::array<ParameterInfo, 1> kTwoClusters = {{
    {"mean", 4, 0, kHuge, false, "distance of Y's two centres from 0; 0 is the null"},
}};
constexpr std::array<ParameterInfo, 1> kScale = {{
    {"variance", 1.2, 0, kHuge, false, "variance of every coordinate of Y; 1 is the null"},
}};
constexpr std::array<ParameterInfo, 3> kScaledT = {{
    {"scale", 1.22, 0, kHuge, false, "factor of Y's scale matrix; 1 is the null"},
    {"df", 10, 1, 1000, true, "degrees of freedom"},
    {"rho", 0.5, -1, 1, false, "the scale matrix of X has entries rho^|i - j|"},
}};
constexpr std::array<ParameterInfo, 2> kHdgm = {{
    {"rho", 0.5, -1, 1, false, "correlation of coordinates 1 and 2, -rho in the second cluster of Y; 0 is the null"},
    {"mean", 0.5, -kHuge, kHuge, false, "all coordinates of the second centre; the first is 0"},
}};
constexpr std::array<ParameterInfo, 4> kMixedTable = {{
    {"delta", 0.4, -kHuge, kHuge, false, "shift of numeric column 1 of Y by the parity of category 1; 0 is the null"},
    {"k", 1, 1, 1000, true, "categorical columns, each encoded as one indicator column per level"},
    {"levels", 4, 2, 1000, true, "levels of a categorical column, all equally likely"},
    {"m", 1, 1, 10000, true, "numeric columns, to the right of the indicator columns"},
}};

constexpr std::string_view kLikelihoodRatio =
    "Santoro, Waghmare, Panaretos: Likelihood Ratio Tests via Kernel Embeddings (arXiv:2508.07982, 2025)";
constexpr std::string_view kMultipleKernels =
    "Chatterjee, Bhattacharya: Boosting the Power of Kernel Two-Sample Tests (arXiv:2302.10687, 2023)";

struct Problem {
  ProblemInfo info;
  DistributionPair (*distributions)(ProblemSettings& settings);
};

constexpr std::array<Problem, 17> kProblems = {{
    {{"power-decay", "normal distributions that differ in the variance of a few of many coordinates", "N(0, I_d)",
      "N(0, diag(variance, .., variance, 1, .., 1)), k times variance", kPowerDecay, 32, 1, kAnyDim,
      "Wang, Gao, Xie: Two-sample Test with Kernel Projected Wasserstein Distance (AISTATS 2022), experiment A"},
     power_decay},
    {{"laplace-gaussian", "distributions of the same mean and variance that differ in their tails",
      "Laplace(0, s/sqrt(2)) in each coordinate", "N(0, s^2 I_d)", kLaplaceGaussian, 1, 1, kAnyDim,
      "Naslidnyk, Chau, Briol, Muandet: Kernel Quantile Embeddings (ICML 2025), section 5"},
     laplace_gaussian},
    {{"mixture", "four far normal distributions, one of which changes its spread",
      "equal mixture of N((+-mean, +-mean, 0, ..), I_d)", "the same with covariance sd^2 I_d at (-mean, -mean, 0, ..)",
      kMixture, 2, 2, kAnyDim, "Biggs, Schrab, Gretton: MMD-FUSE (NeurIPS 2023)"},
     mixture},
    {{"perturbed-uniform", "a uniform distribution with small smooth waves, against a uniform distribution",
      "density 1 + c p^-s sum_i theta_i prod_r e G(p x_r - i_r), theta_i = +-1 drawn once per seed", "U([0, 1]^d)",
      kPerturbedUniform, 1, 1, 2,
      "Schrab et al.: MMD Aggregated Two-Sample Test (JMLR 2023), section 5.4; Biggs, Schrab, Gretton: MMD-FUSE "
      "(NeurIPS 2023)"},
     perturbed_uniform},
    {{"blobs", "a grid of normal distributions whose covariance is stretched and turned",
      "equal mixture over the grid of N(centre, I_2)",
      "equal mixture over the grid of N(centre, R diag(stretch, 1) R'), R a rotation by angle", kBlobs, 2, 2, 2,
      "Gretton et al.: Optimal kernel choice for large-scale two-sample tests (NeurIPS 2012)"},
     blobs},
    {{"mean-shift", "the same distribution, moved along the first coordinates",
      "distribution in each coordinate, independent", "the same + delta (1, .., 1, 0, .., 0), k ones", kMeanShift, 10,
      1, kAnyDim, "textbook"},
     mean_shift},
    {{"spiked-covariance", "normal distributions; the last few coordinates of Y are copies of each other", "N(0, I_d)",
      "N(0, S), S = I_d except for the last k x k block, whose entries are all equal to variance", kSpikedCovariance,
      500, 1, kAnyDim, kLikelihoodRatio},
     spiked_covariance},
    {{"equicorrelation", "normal distributions whose coordinates all have the same correlation",
      "N(0, (1 - rho_x) I_d + rho_x 1 1')", "N(0, (1 - rho_y) I_d + rho_y 1 1')", kEquicorrelation, 500, 1, kAnyDim,
      kLikelihoodRatio},
     equicorrelation},
    {{"ar-correlation", "normal distributions whose correlation decreases with the distance of two coordinates",
      "N(0, S), S_ij = rho_x^|i - j|", "N(0, S), S_ij = rho_y^|i - j|", kArCorrelation, 500, 1, kAnyDim,
      kLikelihoodRatio},
     ar_correlation},
    {{"spheres", "two concentric spheres of slightly different radius, with noise",
      "uniform on the sphere of radius 1, plus N(0, noise^2 I_d)", "the same on the sphere of radius radius", kSpheres,
      50, 1, kAnyDim, kLikelihoodRatio},
     spheres},
    {{"thin-cube", "the unit cube against a cube that is thinner along some coordinates", "U([0, 1]^d)",
      "U(margin, 1 - margin) in the first k coordinates, U(0, 1) in the others", kThinCube, 1500, 1, kAnyDim,
      kLikelihoodRatio},
     thin_cube},
    {{"two-clusters", "one normal cluster against two on either side of it", "N(0, I_d)",
      "equal mixture of N(-mean e_1, I_d) and N(mean e_1, I_d)", kTwoClusters, 500, 1, kAnyDim, kLikelihoodRatio},
     two_clusters},
    {{"scale", "normal distributions that differ a little in the variance of every coordinate", "N(0, I_d)",
      "N(0, variance I_d)", kScale, 20, 1, kAnyDim, kMultipleKernels},
     normal_scale},
    {{"scaled-t", "multivariate t distributions that differ in scale", "t(df) with scale matrix S, S_ij = rho^|i - j|",
      "t(df) with scale matrix scale S", kScaledT, 75, 1, kAnyDim, kMultipleKernels},
     scaled_t},
    {{"hdgm", "two overlapping normal clusters; in Y two coordinates are correlated, with opposite signs",
      "equal mixture of N(0, I_d) and N(mean (1, .., 1), I_d)",
      "the same, with correlation rho of coordinates 1 and 2 in the first cluster and -rho in the second", kHdgm, 10, 2,
      kAnyDim, "Liu et al.: Learning Deep Kernels for Non-Parametric Two-Sample Tests (ICML 2020)"},
     hdgm},
    {{"mixed-table", "categorical and numeric columns; in Y a number depends on a category",
      "k categorical columns of uniform levels as indicators, and m columns N(0, 1), all independent",
      "the same, but numeric column 1 has + delta or - delta by the parity of category 1, scaled to mean 0, variance 1",
      kMixedTable, 5, 3, kAnyDim, "kqd; no single column of Y changes much"},
     mixed_table},
    {{"null", "both samples of the same distribution, for checks of the level",
      "distribution in each coordinate, independent", "the same", kNull, 10, 1, kAnyDim, "textbook"},
     same_distribution},
}};

constexpr auto kInfos = [] {
  std::array<ProblemInfo, kProblems.size()> infos{};
  std::ranges::transform(kProblems, infos.begin(), &Problem::info);
  return infos;
}();

const Problem& find(std::string_view id) {
  const auto* const found = std::ranges::find(kProblems, id, [](const Problem& problem) { return problem.info.id; });
  if (found != kProblems.end()) return *found;
  std::array<std::string_view, kProblems.size()> known;
  std::ranges::transform(kInfos, known.begin(), &ProblemInfo::id);
  fail(ErrorCode::invalid_option, {.value = fmt::format("unknown problem \"{}\"", no_references(id)),
                                   .expected = fmt::format("one of {}{}", join(known), suggestion(id, known))});
}

Matrix<double> allocate_rows(std::string_view field, std::size_t num_rows, std::size_t dim) {
  try {
    if (num_rows <= std::numeric_limits<std::ptrdiff_t>::max() / sizeof(double) / dim) return {num_rows, dim};
  } catch (const std::bad_alloc&) {  // reported below with the other case
  }
  fail(ErrorCode::resource_limit, "{} = {} rows of {} numbers do not fit in memory", field, num_rows, dim);
}

void draw_rows(const RowDistribution& distribution, Seed seed, Purpose purpose, ThreadCount threads,
               Matrix<double>& rows) {
  parallel_for_blocks(rows.rows(), kRowsPerBlock, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      RandomStream stream(seed, purpose, i);
      distribution(stream, rows.row(i));
    }
  });
}

}  // namespace

std::span<const ProblemInfo> problems() {
  return kInfos;
}

const ProblemInfo& find_problem(std::string_view id) {
  return find(id).info;
}

void set_parameter(ProblemRequest& request, std::string_view assignment) {
  set_parameter(request.parameters, request.name, find_problem(request.name).parameters, assignment);
}

SyntheticPair make_problem(const ProblemRequest& request, ThreadCount threads) {
  const Problem& problem = find(request.name);
  ProblemSettings settings(problem.info, request);
  const DistributionPair distributions = problem.distributions(settings);
  SyntheticPair pair;
  pair.x.points = allocate_rows("n_x", request.n_x, settings.dim());
  pair.y.points = allocate_rows("n_y", request.n_y, settings.dim());
  draw_rows(distributions.x, request.seed, Purpose::synthetic_x, threads, pair.x.points);
  draw_rows(distributions.y, request.seed, Purpose::synthetic_y, threads, pair.y.points);
  pair.parameters = settings.values();
  return pair;
}

}  // namespace kqd
