#include "metrics/all_methods.hpp"

#include <algorithm>
#include <array>
#include <boost/math/special_functions/gamma.hpp>
#include <utility>

#include "core/fail.hpp"
#include "core/parameter_values.hpp"
#include "core/random.hpp"
#include "core/warning.hpp"
#include "kernel/kernel_block.hpp"
#include "kernel/kernel_traits.hpp"
#include "kernel/resolve.hpp"
#include "metrics/features/feature_method.hpp"
#include "metrics/features/hotelling.hpp"
#include "metrics/features/locations.hpp"
#include "metrics/features/mean_gap.hpp"
#include "metrics/split.hpp"

namespace kqd {
namespace {

enum class Kind { me, scf };
enum class Form { unnormalised, hotelling };
constexpr std::array<std::string_view, 2> kForms = {"unnormalised", "hotelling"};
constexpr std::size_t kMostHotellingFeatures =
    300;  // sums of their products fill 300 MB while permutations are evaluated
// The chi-square limit holds well enough from here on: at level 0.05, of 10 features and normal rows, 0.087, 0.073,
// 0.059 and 0.056 of true nulls are rejected with 10, 20, 40 and 60 rows of both samples for each feature. Samples of
// unequal size count as many rows as the covariance of their difference has degrees of freedom, which the smaller one
// decides.
constexpr double kRowsPerFeature = 60.0;
double effective_rows(std::size_t num_x, std::size_t num_y) {
  const auto x = static_cast<double>(num_x);
  const auto y = static_cast<double>(num_y);
  return (x + y) * (x + y) * (x * y / (x * x * x + y * y * y));  // as in Welch's test; 2 n for samples of n rows
}
constexpr double kTrainingRidge = 1e-5;  // at least, so that no matrix of the ascent is singular

constexpr std::array<ParameterInfo, 6> kParameters = {{
    {"locations", 10, 1, 1e4, true, "places J at which the samples are compared (reference points, if given)"},
    {"form", 1, 0, 1, true, "unnormalised: the mean squared gap; hotelling: gaps measured by their covariance", kForms},
    {"ridge", 1e-5, 0, 1e6, false, "gamma, added to the covariance of the features"},
    {"optimise", 0, 0, 1, true, "1 fits locations and width on a part of the rows and tests the rest"},
    {"share", 0.5, 0.01, 0.99, false, "part of the rows that locations are fitted on"},
    {"iterations", 400, 1, 1e6, true, "steps of the fit, at most"},
}};

std::string_view id_of(Kind kind) {
  return kind == Kind::me ? "me" : "scf";
}

ParameterValues values_of(Kind kind, const MethodOptions& options) {
  return {id_of(kind), kParameters, options.parameters};
}

bool is_hotelling(const ParameterValues& values) {
  return values.choice<Form>("form") == Form::hotelling;
}

void require_known_kernel(Kind kind, const ParameterValues& values, const KernelSpec& kernel) {
  if (kernel.family == KernelFamily::gaussian) return;
  if (kind == Kind::scf) {
    fail(ErrorCode::invalid_option, "scf: kernel {}, needs gaussian: its bandwidth is the width of the window",
         to_string(kernel));
  }
  if (values.count("optimise") == 1) {
    fail(ErrorCode::invalid_option, "me: optimise = 1 with kernel {}, needs gaussian", to_string(kernel));
  }
}

// The point from which waves are measured. The published form has none and assumes data around 0; far from 0 its window
// would be empty.
std::vector<double> window_origin(const MethodOptions& options, const Pool& pool) {
  const std::vector<double>& given = options.window_origin;
  if (given.empty()) return pooled_mean(pool);
  if (given.size() != pool.dim()) {
    fail(ErrorCode::shape_mismatch, "the origin of the window has {} columns and the data {}, expected the same number",
         given.size(), pool.dim());
  }
  return given;
}

std::unique_ptr<const LocationFeatures> location_features(Kind kind, const MethodOptions& options) {
  if (kind == Kind::me) return std::make_unique<GaussianBumps>();
  return std::make_unique<WindowedWaves>(options.window_origin);
}

// Frequencies of waves: standard normal, in units of 1/width.
Matrix<double> draw_frequencies(std::size_t count, std::size_t dim, Seed seed) {
  Matrix<double> drawn(count, dim);
  for (std::size_t j = 0; j < count; ++j) {
    RandomStream stream(seed, Purpose::locations, j);
    for (double& v : drawn.row(j)) v = stream.normal();
  }
  return drawn;
}

Matrix<double> draw_locations(Kind kind, std::size_t count, const TestPool& pool, Seed seed) {
  if (kind == Kind::scf) return draw_frequencies(count, pool.x.dim(), seed);
  return draw_from_fitted_gaussian(pool.rows(), pool.weights_of(pool.order), count, 0, seed);
}

// The start of a fit: half of the locations are distributed like X, half like Y.
Matrix<double> draw_starts(Kind kind, std::size_t count, const Split& split, Seed seed) {
  const std::size_t dim = split.train_x.points.cols();
  if (kind == Kind::scf) return draw_frequencies(count, dim, seed);
  const std::size_t from_x = (count + 1) / 2;
  const MatrixView<const double> none(nullptr, 0, dim);
  Matrix<double> starts(count, dim);
  const auto copy = [&](const Sample& sample, std::size_t first, std::size_t number) {
    if (number == 0) return;
    const Matrix<double> drawn = draw_from_fitted_gaussian({sample.points, none}, sample.weights, number, first, seed);
    for (std::size_t j = 0; j < number; ++j) std::ranges::copy(drawn.row(j), starts.row(first + j).begin());
  };
  copy(split.train_x, 0, from_x);
  copy(split.train_y, from_x, count - from_x);
  return starts;
}

// Features of the locations in options that name them all: kernel or window, width, origin.
FeatureMap features_at(Kind kind, const MethodOptions& frozen) {
  const Matrix<double>& points = frozen.directions.reference_points;
  if (kind == Kind::me) {
    const auto block = std::make_shared<const KernelBlock>(Kernel(frozen.kernel), points);
    return {points.rows(),
            [block](MatrixView<const double> rows, MatrixView<double> features) { block->evaluate(rows, features); }};
  }
  const auto waves = std::make_shared<const WindowedWaves>(frozen.window_origin);
  const auto at = std::make_shared<const Locations>(Locations{points, frozen.kernel.bandwidth.value()});
  return {waves->count(points.rows()), [waves, at](MatrixView<const double> rows, MatrixView<double> features) {
            waves->evaluate(*at, rows, features);
          }};
}

// S is singular if there are as many features as rows: an error, or a warning if a ridge makes it invertible.
void check_covariance(Kind kind, std::size_t num_features, double ridge, const TestPool& pool,
                      std::span<const std::size_t> rows, Warnings& warnings) {
  const auto nx =
      static_cast<std::size_t>(std::ranges::count_if(rows, [&](std::size_t row) { return row < pool.x.size(); }));
  const std::size_t ny = rows.size() - nx;
  if (std::min(nx, ny) < 2) {
    fail(ErrorCode::empty_sample, "{} has one row, form = hotelling needs at least two", nx < 2 ? "X" : "Y");
  }
  if (num_features > kMostHotellingFeatures) {
    fail(ErrorCode::resource_limit,
         "{}: form = hotelling with {} features, at most {}; take fewer locations or "
         "form = unnormalised",
         id_of(kind), num_features, kMostHotellingFeatures);
  }
  if (num_features + 1 < std::min(nx, ny)) return;
  if (!(ridge > 0.0)) {
    fail(ErrorCode::invalid_option,
         "{}: {} features and {} rows of {}: their covariance is singular; take fewer locations or ridge > 0",
         id_of(kind), num_features, std::min(nx, ny), nx <= ny ? "X" : "Y");
  }
  warn(warnings, WarningId::singular_covariance, id_of(kind), num_features, std::min(nx, ny), nx <= ny ? "X" : "Y");
}

// Locations follow the mean and covariance of the pool, which one outlier can move far away from all other rows.
void warn_about_flat_features(Kind kind, const FeatureMap& map, const TestPool& pool, Warnings& warnings) {
  constexpr std::size_t kLookedAt = 1000;
  const Pool rows = pool.rows();
  Matrix<double> some(std::min(rows.size(), kLookedAt), rows.dim());
  for (std::size_t i = 0; i < some.rows(); ++i) std::ranges::copy(rows.row(i), some.row(i).begin());
  Matrix<double> features(some.rows(), map.count);
  map.evaluate(some, features);
  for (std::size_t i = 1; i < features.rows(); ++i) {
    if (!std::ranges::equal(features.row(i), features.row(0))) return;
  }
  if (std::ranges::equal(some.row(0), some.row(some.rows() - 1))) return;  // equal rows have a warning of their own
  warn(warnings, WarningId::equal_features, id_of(kind));
}

MethodOptions fit_on_training_rows(Kind kind, const Split& split, MethodOptions options,
                                   const ParameterValues& values) {
  const std::unique_ptr<const LocationFeatures> features = location_features(kind, options);
  std::optional<Matrix<double>> given = given_points(options, split.train_x.points.cols());
  Locations start{given ? std::move(*given) : draw_starts(kind, values.count("locations"), split, options.seed),
                  options.kernel.bandwidth.value()};
  Locations best = optimise_locations(*features, std::move(start), split.train_x, split.train_y,
                                      std::max(values.value("ridge"), kTrainingRidge), values.count("iterations"));
  options.kernel.bandwidth = best.width;
  return with_points(std::move(options), std::move(best.points));
}

template <Kind kind>
FeatureSetup set_up(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) {
  const ParameterValues values = values_of(kind, options);
  require_known_kernel(kind, values, options.kernel);
  FeatureSetup setup;
  MethodOptions frozen = options;
  frozen.kernel = resolve_kernel(options, pool.rows(), setup.warnings);
  if (kind == Kind::scf) frozen.window_origin = window_origin(options, pool.rows());
  if (values.count("optimise") == 1) {
    const Split split = split_for_training(pool, values.value("share"), request, options.seed);
    frozen = fit_on_training_rows(kind, split, std::move(frozen), values);
    frozen.parameters["optimise"] = 0.0;
    setup.rows = split.test_rows;
    setup.no_interval = "half-samples would hold rows that the locations were fitted to";
  } else {
    std::optional<Matrix<double>> given = given_points(options, pool.x.dim());
    frozen =
        with_points(std::move(frozen),
                    given ? std::move(*given) : draw_locations(kind, values.count("locations"), pool, options.seed));
    setup.rows = pool.order;
  }
  setup.frozen = std::move(frozen);
  setup.num_reference = setup.frozen.directions.reference_points.rows();
  setup.map = features_at(kind, setup.frozen);
  warn_about_flat_features(kind, setup.map, pool, setup.warnings);
  if (!is_hotelling(values)) {
    setup.statistic = std::make_unique<MeanGap>(MeanGapForm::mean_square);
    return setup;
  }
  const double ridge = values.value("ridge");
  check_covariance(kind, setup.map.count, ridge, pool, setup.rows, setup.warnings);
  if (request.groups) setup.grouped = group_rows(pool, setup.rows);
  WhitenedFeatures whitened =
      whiten(setup.map, setup.grouped != nullptr ? PooledFeatures(setup.map, *setup.grouped, true, options.threads)
                                                 : PooledFeatures(setup.map, pool, setup.rows, true, options.threads));
  if (!whitened.eigenvalues.empty() && ridge > whitened.eigenvalues.back()) {
    warn(setup.warnings, WarningId::large_ridge, ridge, whitened.eigenvalues.back());
  }
  setup.map = std::move(whitened.map);
  setup.statistic = std::make_unique<Hotelling>(ridge, std::move(whitened.eigenvalues));
  setup.no_interval = "the Hotelling form grows with the sizes, half-samples have half of it";
  setup.details.push_back({"degrees_of_freedom", static_cast<double>(setup.map.count)});
  return setup;
}

template <Kind kind>
PreparedPlan prepare(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) {
  return prepare_by_features(pool, options, request, set_up<kind>);
}

template <Kind kind>
DistanceResult distance(const SampleView& x, const SampleView& y, const MethodOptions& options) {
  return distance_by_features(x, y, options, set_up<kind>).result;
}

template <Kind kind>
AsymptoticResult asymptotic(const SampleView& x, const SampleView& y, const MethodOptions& options) {
  if (!is_hotelling(values_of(kind, options))) {
    fail(ErrorCode::invalid_option,
         "{}: " KQD_OPTION("calibration=asymptotic") " needs form = hotelling, unnormalised has no simple distribution",
         id_of(kind));
  }
  FeatureDistance found = distance_by_features(x, y, options, set_up<kind>);
  const auto freedom = static_cast<double>(found.num_features);
  if (const double rows = effective_rows(found.num_x, found.num_y); rows < kRowsPerFeature * freedom) {
    fail(ErrorCode::invalid_option,
         "{}: " KQD_OPTION("calibration=asymptotic") " needs {} rows per feature in each sample, {:g} here, or twice as "
         "many in the smaller of two very unequal samples, got {} and {}: with fewer it rejects too often; use "
         KQD_OPTION("calibration=permutation") ", which is exact, or fewer locations",
         id_of(kind), 0.5 * kRowsPerFeature, 0.5 * kRowsPerFeature * freedom, found.num_x, found.num_y);
  }
  AsymptoticResult result;
  result.pvalue = found.num_features > 0 ? boost::math::gamma_q(0.5 * freedom, 0.5 * found.result.statistic) : 1.0;
  result.limiting_distribution = fmt::format("chi-square with {} degrees of freedom", found.num_features);
  result.result = std::move(found.result);
  return result;
}

constexpr std::string_view kReports =
    "form hotelling: the statistic z'(C + ridge)^-1 z >= 0, which grows with the sizes; form unnormalised: the mean "
    "squared gap >= 0";
constexpr std::string_view kReference =
    "Chwialkowski et al.: Fast Two-Sample Testing with Analytic Representations of Probability Measures (NeurIPS "
    "2015); "
    "optimised: Jitkrittum et al.: Interpretable Distribution Features with Maximum Testing Power (NeurIPS 2016)";

template <Kind kind>
Method method(std::string_view summary, std::string_view details) {
  return {.info = {.id = id_of(kind),
                   .family = "mean embeddings",
                   .summary = summary,
                   .reports = kReports,
                   .cost = "N J d",
                   .permutation = "N J^2 (form hotelling), N J (unnormalised)",
                   .calibrations = "permutation, sign-flip, asymptotic (form hotelling)",
                   .details = details,
                   .reference = kReference,
                   .sign_flip = true,
                   .groups = true,
                   .uses = {.kernel = true, .points = true},
                   .parameters = kParameters},
          .distance = distance<kind>,
          .prepare = prepare<kind>,
          .asymptotic = asymptotic<kind>};
}

}  // namespace

Method me_method() {
  return method<Kind::me>(
      "mean embeddings compared at a few locations",
      "Gaps z_j = mean k(x, v_j) - mean k(y, v_j) at J locations v_j. Hotelling: z'(S_X/nx + S_Y/ny + ridge)^-1 z, "
      "chi-square with J degrees of freedom in the limit; the ridge is in proportion, ridge (1/nx + 1/ny)/2. "
      "Unnormalised: "
      "the mean of z_j^2. Locations are drawn from a normal distribution with the mean and covariance of the pool, or "
      "given as "
      "reference points. "
      "Directions of the features with less than 1e-10 of the largest pooled variance are left out, so that copies "
      "and constants among the features have no effect; with ridge = 0 and nearly dependent features the statistic is "
      "therefore that of fewer features. "
      "optimise=1 fits the locations and the bandwidth of a gaussian kernel on a part of the rows (share) by "
      "gradient ascent of the Hotelling statistic, and tests the other rows. The paper on kernel quantile embeddings "
      "runs the unnormalised form with standard normal locations and J = floor(log n)^2.");
}

Method scf_method() {
  return method<Kind::scf>(
      "smoothed characteristic functions compared at a few frequencies",
      "Features exp(-|t|^2/2) sin v_j.t and exp(-|t|^2/2) cos v_j.t with t = (x - pooled mean)/width and J frequencies "
      "v_j, standard normal or given as reference points. The width is the bandwidth of the gaussian kernel. "
      "Hotelling: "
      "z'(S_X/nx + S_Y/ny + ridge)^-1 z for the gap z of the 2J mean features, chi-square with 2J degrees of freedom "
      "in "
      "the limit; the ridge is in proportion, ridge (1/nx + 1/ny)/2. Unnormalised: the mean squared gap. "
      "Directions of the features with less than 1e-10 of the largest pooled variance are left out, so that copies "
      "and constants among the features have no effect; with ridge = 0 and nearly dependent features the statistic is "
      "therefore that of fewer features. "
      "optimise=1 "
      "fits "
      "frequencies and width on a part of the rows (share) and tests the other rows. The published form measures t "
      "from "
      "0 instead of the pooled mean.");
}

}  // namespace kqd
