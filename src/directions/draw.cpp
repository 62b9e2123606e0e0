#include <algorithm>
#include <array>
#include <cmath>

#include "core/names.hpp"
#include "core/random.hpp"
#include "core/warning.hpp"
#include "directions/principal.hpp"
#include "directions/reference.hpp"
#include "directions/squared_norms.hpp"
#include "kqd/directions/directions.hpp"
#include "simd/matrix_product.hpp"

namespace kqd {
namespace {

constexpr std::array<Name<DirectionFamily>, 5> kFamilies = {{
    {DirectionFamily::gaussian, "gaussian"},
    {DirectionFamily::linear, "linear"},
    {DirectionFamily::axis, "axis"},
    {DirectionFamily::principal, "principal"},
    {DirectionFamily::mixed, "mixed"},
}};

constexpr std::array<Name<ReferenceMeasure>, 5> kMeasures = {{
    {ReferenceMeasure::gaussian, "gaussian"},
    {ReferenceMeasure::uniform, "uniform"},
    {ReferenceMeasure::pooled, "pooled"},
    {ReferenceMeasure::balanced, "balanced"},
    {ReferenceMeasure::points, "points"},
}};

constexpr int kMaxRedraws = 10;
constexpr std::size_t kMostDirections = 1024;
constexpr std::size_t kDirectionsTimesRows = std::size_t{1} << 19U;
constexpr std::size_t kDirectionsPerRow = 8;
constexpr std::size_t kLargestCount =
    1U << 20U;  // of directions or reference points: a larger number is a typing error

// Column i of the coefficients: lambda ~ N(0, I_m), scaled by m^-1/2 so that f has the distribution of Proposition 1
// even when it is not normalised. Attempts of one direction have streams of their own, far from those of the others.
void draw_coefficients(Matrix<double>& coefficients, std::size_t i, int attempt, Seed seed) {
  RandomStream stream(seed, Purpose::coefficients, i + (static_cast<std::uint64_t>(attempt) << 48U));
  const double scale = 1.0 / std::sqrt(static_cast<double>(coefficients.rows()));
  for (std::size_t j = 0; j < coefficients.rows(); ++j) coefficients(j, i) = scale * stream.normal();
}

// sum_j c_j (z_j . x) = (sum_j c_j z_j) . x: a direction of the plain linear kernel is a vector of R^d.
bool has_vector_directions(const Kernel& kernel) {
  return kernel.spec().family == KernelFamily::linear && kernel.spec().offset == 0.0;
}

struct JudgedNorms {
  SquaredNorms squared;
  double jitter;
};

// The norms by which null directions are recognised. Vectors are as good at any scale of the points, so theirs are
// judged at the power of two that brings the points near 1, where squares neither overflow nor vanish.
JudgedNorms judged_norms(const Kernel& kernel, const Matrix<double>& reference, const Matrix<double>& coefficients,
                         double jitter) {
  double largest = 0.0;
  for (const double z : reference.values()) largest = std::max(largest, std::abs(z));
  if (!has_vector_directions(kernel) || largest == 0.0 || !std::isfinite(largest)) {
    return {squared_norms(kernel, reference, coefficients), jitter};
  }
  const int exponent = std::ilogb(largest);
  Matrix<double> near_one = reference;
  for (double& z : near_one.values()) z = std::scalbn(z, -exponent);
  return {squared_norms(kernel, near_one, coefficients), std::scalbn(jitter, -2 * exponent)};
}

std::shared_ptr<const Directions> span_directions(const Kernel& kernel, const Matrix<double>& reference,
                                                  const Matrix<double>& coefficients, const DirectionOptions& options) {
  if (!has_vector_directions(kernel)) {
    return std::make_shared<KernelDirections>(kernel, reference, coefficients, options.normalise, options.jitter);
  }
  const JudgedNorms norms = judged_norms(kernel, reference, coefficients, options.jitter);
  require_directions(norms.squared, norms.jitter);
  Matrix<double> weights(coefficients.cols(), reference.cols());
  simd::multiply(coefficients, simd::Op::transpose, reference, simd::Op::none, weights);
  return std::make_shared<LinearDirections>(std::move(weights), options.normalise, options.jitter);
}

// A null direction is drawn again, at most kMaxRedraws times; span_directions refuses one that is null after that.
Matrix<double> drawn_coefficients(const Kernel& kernel, const Matrix<double>& reference, std::size_t count,
                                  const DirectionOptions& options, Seed seed) {
  Matrix<double> coefficients(reference.rows(), count);
  for (std::size_t i = 0; i < count; ++i) draw_coefficients(coefficients, i, 0, seed);
  for (int attempt = 1; attempt <= kMaxRedraws; ++attempt) {
    const JudgedNorms norms = judged_norms(kernel, reference, coefficients, options.jitter);
    bool all_usable = true;
    for (std::size_t i = 0; i < count; ++i) {
      if (!norms.squared.is_null(i, norms.jitter)) continue;
      draw_coefficients(coefficients, i, attempt, seed);
      all_usable = false;
    }
    if (all_usable) break;
  }
  return coefficients;
}

// Functions of norm 1, or divided by the pool's spread along them; a little of the largest spread keeps the last ones
// from being all noise.
Matrix<double> principal_coefficients(const PrincipalBasis& basis, bool whiten) {
  constexpr double kRidge = 1e-3;
  Matrix<double> coefficients = basis.coefficients;
  if (!whiten) return coefficients;
  for (std::size_t j = 0; j < coefficients.cols(); ++j) {
    const double spread = std::sqrt(basis.variances[j] + kRidge * basis.variances.front());
    for (std::size_t i = 0; i < coefficients.rows(); ++i) coefficients(i, j) /= spread;
  }
  return coefficients;
}

// Leading eigenfunctions; with `mixed` every second direction is Gaussian, spanned by reference points of its own.
DrawnDirections draw_principal(const Kernel& kernel, const Pool& pool, const DirectionOptions& options, Seed seed,
                               ThreadCount threads) {
  const bool mixed = options.family == DirectionFamily::mixed;
  const std::size_t count = options.num_directions.value_or(kFewestDirections);
  const std::size_t num_gaussian = mixed ? count / 2 : 0;
  const PrincipalOptions wanted{
      .num_landmarks = options.num_reference.value_or(default_num_landmarks(kernel.spec(), pool.size(), pool.dim())),
      .max_rank = count - num_gaussian};
  PrincipalBasis basis = principal_basis(kernel, pool, wanted, seed, threads);
  const std::size_t rank = basis.variances.size();
  if (rank == 0) {
    fail(ErrorCode::degenerate_directions, "the pooled points do not vary in the space of kernel {}",
         to_string(kernel.spec()));
  }
  DrawnDirections drawn;
  drawn.num_reference = basis.landmarks.rows();
  drawn.pooled_rows = basis.positions;
  if (rank < wanted.max_rank) {
    warn(drawn.warnings, WarningId::fewer_principal_directions, wanted.max_rank, rank);
  }
  DirectionOptions as_given = options;
  as_given.normalise = false;  // of norm 1 already, or whitened
  const Matrix<double> leading = principal_coefficients(basis, options.whiten);
  if (num_gaussian == 0) {
    drawn.directions = span_directions(kernel, basis.landmarks, leading, as_given);
    return drawn;
  }
  DirectionOptions gaussian = options;
  gaussian.family = DirectionFamily::gaussian;
  gaussian.num_reference.reset();
  const std::size_t m = std::min(default_num_reference(pool.size(), ReferenceMeasure::pooled), wanted.num_landmarks);
  const ReferencePoints points = draw_reference(pool, gaussian, m, seed);
  Matrix<double> random = drawn_coefficients(kernel, points.points, num_gaussian, gaussian, seed);
  const SquaredNorms norms = squared_norms(kernel, points.points, random);
  Matrix<double> reference(drawn.num_reference + m, pool.dim());
  Matrix<double> coefficients(reference.rows(), rank + num_gaussian, 0.0);
  for (std::size_t i = 0; i < drawn.num_reference; ++i) {
    std::ranges::copy(basis.landmarks.row(i), reference.row(i).begin());
    std::ranges::copy(leading.row(i), coefficients.row(i).begin());
  }
  for (std::size_t i = 0; i < m; ++i) {
    std::ranges::copy(points.points.row(i), reference.row(drawn.num_reference + i).begin());
    for (std::size_t j = 0; j < num_gaussian; ++j) {
      coefficients(drawn.num_reference + i, rank + j) = random(i, j) / std::sqrt(norms.norms[j]);
    }
  }
  drawn.num_reference = reference.rows();
  drawn.pooled_rows.insert(drawn.pooled_rows.end(), points.pooled_rows.begin(), points.pooled_rows.end());
  drawn.directions = span_directions(kernel, reference, coefficients, as_given);
  return drawn;
}

Matrix<double> identity(std::size_t dim) {
  Matrix<double> axes(dim, dim, 0.0);
  for (std::size_t k = 0; k < dim; ++k) axes(k, k) = 1.0;
  return axes;
}

void require_coefficient_rows(const DirectionOptions& options, std::size_t num_reference) {
  if (options.coefficients.empty() || options.coefficients.rows() == num_reference) return;
  fail(ErrorCode::shape_mismatch, "coefficients have {} rows for {} reference points, expected one row per point",
       options.coefficients.rows(), num_reference);
}

// The number of reference points, held to what the measure can give.
std::size_t resolve_num_reference(const DirectionOptions& options, std::size_t pool_size, Warnings& warnings) {
  if (options.reference == ReferenceMeasure::points) return options.reference_points.rows();
  const std::size_t wanted = !options.coefficients.empty()
                                 ? options.coefficients.rows()
                                 : options.num_reference.value_or(default_num_reference(pool_size, options.reference));
  const bool from_pool =
      options.reference == ReferenceMeasure::pooled || options.reference == ReferenceMeasure::balanced;
  if (!from_pool || wanted < pool_size) return wanted;
  if (wanted > pool_size) {
    warn(warnings, WarningId::too_many_reference_points, wanted, pool_size);
  } else if (options.num_reference || !options.coefficients.empty()) {
    warn(warnings, WarningId::all_points_are_reference, wanted);
  }
  return pool_size;
}

// Points and coefficients that span Gaussian directions are a mistake with other families. Counts are accepted, so that
// one set of options fits all families.
void require_no_span(const DirectionOptions& options) {
  const auto refuse = [&](std::string_view what) {
    fail(ErrorCode::invalid_option, "{} are given, but {} directions {}", what, to_string(options.family),
         has_own_kernel(options.family)
             ? "have no reference points; use them with the linear kernel and gaussian directions"
             : "draw reference points themselves");
  };
  if (!options.coefficients.empty()) refuse(option_reference("coefficients"));
  if (options.reference == ReferenceMeasure::points || !options.reference_points.empty()) refuse("reference points");
}

// The number of reference points must agree with the points or coefficients that are given.
void require_same_number(const DirectionOptions& options) {
  const auto check = [&](std::string_view what, std::size_t rows) {
    if (options.num_reference && *options.num_reference != rows) {
      fail_option("num_reference", *options.num_reference, fmt::format("{}, the number of {}", rows, what));
    }
  };
  if (options.reference == ReferenceMeasure::points) check("given reference points", options.reference_points.rows());
  if (!options.coefficients.empty()) check("rows of coefficients", options.coefficients.rows());
}

}  // namespace

std::string to_string(DirectionFamily family) {
  return std::string(name_of(kFamilies, family));
}
std::string to_string(ReferenceMeasure measure) {
  return std::string(name_of(kMeasures, measure));
}
DirectionFamily parse_direction_family(std::string_view text) {
  return value_of(kFamilies, text, "directions");
}
ReferenceMeasure parse_reference_measure(std::string_view text) {
  return value_of(kMeasures, text, "reference");
}

void validate(const DirectionOptions& options, std::size_t dim) {
  const auto require_count = [](std::string_view id, std::size_t value) {
    require_option(value >= 1 && value <= kLargestCount, id, value,
                   fmt::format("a whole number in 1..{}", kLargestCount));
  };
  if (options.num_directions) require_count("num_directions", *options.num_directions);
  if (options.num_reference) require_count("num_reference", *options.num_reference);
  require_option(std::isfinite(options.jitter) && options.jitter >= 0.0, "jitter", options.jitter, "a number >= 0");
  if (options.family != DirectionFamily::gaussian) return require_no_span(options);
  const bool own_points = options.reference == ReferenceMeasure::points;
  if (!own_points && !options.reference_points.empty()) {
    fail_option("reference", to_string(options.reference), "points, because reference points are given");
  }
  if (own_points && options.reference_points.empty()) {
    fail_option("reference", to_string(options.reference), "reference points, and none are given");
  }
  if (own_points && options.reference_points.cols() != dim) {
    fail(ErrorCode::shape_mismatch, "reference points have {} column{} and the data {}, expected the same number",
         options.reference_points.cols(), options.reference_points.cols() == 1 ? "" : "s", dim);
  }
  if (own_points) {
    require_coefficient_rows(options, options.reference_points.rows());
    validate(SampleView{options.reference_points, {}}, "reference points");
  }
  if (!options.coefficients.empty()) validate(SampleView{options.coefficients, {}}, "coefficients");
  require_same_number(options);
}

std::size_t default_num_directions(std::size_t num_rows) {
  const std::size_t rows = std::max<std::size_t>(1, num_rows);
  return std::clamp(std::min(kDirectionsPerRow * rows, kDirectionsTimesRows / rows), kFewestDirections,
                    kMostDirections);
}

std::size_t default_num_reference(std::size_t num_rows, ReferenceMeasure measure) {
  if (measure == ReferenceMeasure::gaussian || measure == ReferenceMeasure::uniform) {
    return std::max(kFewestDirections, default_num_directions(num_rows) / 2);
  }
  return std::clamp<std::size_t>(num_rows / 8, 2, kFewestDirections);
}

LinearDirections draw_uniform_directions(std::size_t count, std::size_t dim, Seed seed) {
  Matrix<double> weights(count, dim);
  for (std::size_t i = 0; i < count; ++i) {
    RandomStream stream(seed, Purpose::linear_directions, i);
    for (double& w : weights.row(i)) w = stream.normal();
  }
  return LinearDirections(std::move(weights));
}

DrawnDirections draw_directions(const Kernel& kernel, const SampleView& x, const SampleView& y,
                                const DirectionOptions& options, Seed seed, ThreadCount threads) {
  return draw_directions(kernel, Pool{x.points, y.points}, options, seed, threads);
}

DrawnDirections draw_directions(const Kernel& kernel, const Pool& pool, const DirectionOptions& options, Seed seed,
                                ThreadCount threads) {
  validate(options, pool.dim());
  DrawnDirections drawn;
  const std::size_t count = options.num_directions.value_or(default_num_directions(pool.size()));
  if (options.family == DirectionFamily::linear) {
    drawn.directions = std::make_shared<LinearDirections>(draw_uniform_directions(count, pool.dim(), seed));
    return drawn;
  }
  if (options.family == DirectionFamily::axis) {
    drawn.directions = std::make_shared<LinearDirections>(identity(pool.dim()));
    return drawn;
  }
  if (options.family == DirectionFamily::principal || options.family == DirectionFamily::mixed) {
    return draw_principal(kernel, pool, options, seed, threads);
  }
  drawn.num_reference = resolve_num_reference(options, pool.size(), drawn.warnings);
  require_coefficient_rows(options, drawn.num_reference);
  ReferencePoints reference = draw_reference(pool, options, drawn.num_reference, seed);
  drawn.pooled_rows = std::move(reference.pooled_rows);
  drawn.directions = options.coefficients.empty()
                         ? span_directions(kernel, reference.points,
                                           drawn_coefficients(kernel, reference.points, count, options, seed), options)
                         : span_directions(kernel, reference.points, options.coefficients, options);
  return drawn;
}

}  // namespace kqd
