#include "kqd/two_sample/profile_distance.hpp"

#include <algorithm>
#include <cmath>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/pairs.hpp"
#include "metrics/quantile/kqd.hpp"
#include "profile/gap_bounds.hpp"
#include "profile/profile_spec.hpp"
#include "two_sample/profile_units.hpp"

namespace kqd {
namespace {

// All rows of a profile along one line.
BinnedSample rows_along(const Profile& profile, std::size_t set, std::size_t first_line, std::size_t k) {
  const ProfiledFunctions& functions = profile.spec()->functions[set];
  const std::size_t bins = functions.lines[k].num_bins();
  const double unit = std::ldexp(1.0, -functions.line_exponents[k]);
  BinnedSample sample{std::vector<std::uint64_t>(bins, 0), std::vector<double>(bins, 0.0), 0.5 * unit,
                      profile.num_counted()};
  for (const ProfilePart& part : ProfileAccess::state(profile).parts) {
    const Matrix<std::uint32_t>& counts = part.counts[first_line + k];
    for (std::size_t g = 0; g < counts.rows(); ++g) {
      for (std::size_t b = 0; b < bins; ++b) sample.counts[b] += counts(g, b);
    }
    // Whole numbers below 2^63 become doubles by one rounding, of 2^-53 of at most 2^30 for each row.
    for (std::size_t b = 0; b < bins; ++b) sample.sums[b] += static_cast<double>(part.bin_sums[set](k, b)) * unit;
  }
  const auto parts = static_cast<double>(ProfileAccess::state(profile).parts.size());
  sample.rounding += (parts + 1.0) * std::ldexp(unit, 30 - 52);
  return sample;
}

std::size_t first_line_of(const ProfileSpec& spec, std::size_t set) {
  std::size_t first = 0;
  for (std::size_t k = 0; k < set; ++k) first += spec.functions[k].lines.size();
  return first;
}

}  // namespace

ProfileDistance distance(std::string_view method, const Profile& x, const Profile& y, const MethodOptions& options,
                         const RunControl* control) {
  const StopScope stoppable(control);
  validate(options);
  if (method != "ekqd" && method != "supkqd") {
    fail_option("method", method, "ekqd or supkqd for profiles; other methods need rows");
  }
  if (options.point_evaluated_levels) {
    fail(ErrorCode::invalid_option, "point-evaluated levels need rows, and a profile has none");
  }
  require_same_spec(x, y);
  for (const Profile* profile : {&x, &y}) {
    if (profile->num_counted() == 0) fail(ErrorCode::empty_sample, "a profile has no rows");
  }
  const ProfileSpec& spec = *x.spec();
  const std::size_t set = spec.effect_functions;
  const ProfiledFunctions& functions = spec.functions[set];
  const std::vector<double> bounds = largest_values(functions.set);
  if (bounds.empty() || functions.line_exponents.empty()) {
    fail(ErrorCode::invalid_option,
         "the profiles have directions of kernel {}, whose values have no bound: a distance between profiles needs a "
         "bounded kernel",
         spec.kernel);
  }
  const std::size_t count = functions.lines.size();
  const std::size_t first_line = first_line_of(spec, set);
  std::vector<GapBounds> gaps(count);
  parallel_for_blocks(count, 1, options.threads, [&](std::size_t k, std::size_t) {
    gaps[k] = bounded_gap(functions.lines[k], rows_along(x, set, first_line, k), rows_along(y, set, first_line, k),
                          bounds[k], Power{options.power}, options.weighting);
  });
  std::vector<double> lower;
  std::vector<double> upper;
  ProfileDistance found;
  DistanceResult& result = found.distance;
  for (const GapBounds& gap : gaps) {
    lower.push_back(gap.lower);
    result.per_direction.push_back(gap.value);
    upper.push_back(gap.upper);
  }
  const Over over = method == "supkqd" ? Over::maximum : Over::mean;
  const auto combined = [&](std::span<const double> values) { return over_directions(over, values, options.power); };
  result.statistic = combined(result.per_direction);
  result.statistic_power = finite_power(result.statistic, options.power);
  // A mean of l numbers and its root add some roundings.
  const double relative = 8.0 * static_cast<double>(count + 8) * std::numeric_limits<double>::epsilon();
  found.interval = {combined(lower) * (1.0 - relative), combined(upper) * (1.0 + relative)};
  result.kernel = parse_kernel(spec.kernel);
  result.num_directions = count;
  if (const auto* of_kernel = std::get_if<KernelFunctions>(&functions.set.functions)) {
    result.num_reference = of_kernel->points.rows();
  }
  return found;
}

DistanceMatrix distance_matrix(std::span<const Profile> profiles, std::span<const std::string> names,
                               const DistanceMatrixOptions& options, const RunControl* control) {
  if (profiles.size() < 2 || names.size() != profiles.size()) {
    fail(ErrorCode::shape_mismatch, "{} profiles with {} names, expected two profiles or more with a name each",
         profiles.size(), names.size());
  }
  DistanceMatrix matrix;
  matrix.method = options.method;
  matrix.names.assign(names.begin(), names.end());
  for (const Profile& profile : profiles) matrix.sizes.push_back(profile.num_counted());
  matrix.dim = profiles.front().num_columns();
  matrix.values = Matrix<double>(profiles.size(), profiles.size(), 0.0);
  matrix.shared = options.statistic;
  const std::vector<IndexPair> pairs = all_pairs(profiles.size());
  for (const auto [i, j] : pairs) {
    const DistanceResult found =
        distance(options.method, profiles[i], profiles[j], options.statistic, control).distance;
    matrix.values(i, j) = matrix.values(j, i) = found.statistic;
    matrix.kernel = found.kernel;
    matrix.num_directions = found.num_directions;
    matrix.num_reference = found.num_reference;
  }
  return matrix;
}

}  // namespace kqd
