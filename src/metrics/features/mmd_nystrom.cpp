#include "metrics/all_methods.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/fail.hpp"
#include "core/parameter_values.hpp"
#include "core/random.hpp"
#include "core/summation.hpp"
#include "kernel/kernel_block.hpp"
#include "kernel/resolve.hpp"
#include "metrics/checked_samples.hpp"
#include "metrics/direct_plan.hpp"
#include "metrics/feasible.hpp"
#include "metrics/features/feature_method.hpp"
#include "metrics/features/landmarks.hpp"
#include "metrics/features/mean_gap.hpp"
#include "metrics/features/nystrom.hpp"

namespace kqd {
namespace {

constexpr std::string_view kId = "mmd-nystrom";

enum class Sampling { uniform, leverage };
enum class Form { standard, as_coded };
constexpr std::array<std::string_view, 2> kSamplings = {"uniform", "leverage"};
constexpr std::array<std::string_view, 2> kForms = {"standard", "as-coded"};

constexpr std::array<ParameterInfo, 3> kParameters = {{
    {"landmarks", 0, 0, 1e6, true, "pooled rows that the kernel is seen through; 0: sqrt(N), rounded up"},
    {"sampling", 0, 0, 1, true, "how landmarks are drawn: any subset alike, or by ridge leverage scores", kSamplings},
    {"form", 0, 0, 1, true, "standard, or the authors' code of the paper, whose scaling is wrong", kForms},
}};

// Rough cost on one thread: the eigenvectors of r landmarks, and the kernel and features of N rows.
double seconds_of_features(std::size_t num_rows, std::size_t dim, std::size_t r) {
  const auto n = static_cast<double>(num_rows);
  const auto m = static_cast<double>(r);
  return 5e-9 * m * m * m + n * m * seconds_per_kernel_value(dim + r);
}

std::size_t num_landmarks(const ParameterValues& values, std::size_t available, std::size_t pooled,
                          std::string_view where) {
  const std::size_t asked = values.count("landmarks");
  const std::size_t r = asked > 0 ? asked : static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(pooled))));
  if (r > available) {
    fail(ErrorCode::invalid_option, "{}: landmarks = {}, {} has {} rows to draw them from", kId, r, where, available);
  }
  return r;
}

Matrix<double> draw_landmarks(const Kernel& kernel, const Pool& pool, const ParameterValues& values,
                              const MethodOptions& options) {
  const std::size_t r = num_landmarks(values, pool.size(), pool.size(), "the pool");
  const auto positions = values.choice<Sampling>("sampling") == Sampling::uniform
                             ? uniform_landmarks(pool, r, options.seed)
                             : leverage_landmarks(kernel, pool, r, options.seed, options.threads);
  return gather(pool, positions);
}

FeatureSetup set_up(const TestPool& pool, const MethodOptions& options, const PlanRequest& /*request*/) {
  const ParameterValues values(kId, kParameters, options.parameters);
  const Pool rows = pool.rows();
  FeatureSetup setup;
  MethodOptions resolved = options;
  resolved.kernel = resolve_kernel(options, rows, setup.warnings);
  const Kernel kernel(resolved.kernel);
  std::optional<Matrix<double>> given = given_points(options, rows.dim());
  const std::size_t r = given ? given->rows() : num_landmarks(values, rows.size(), rows.size(), "the pool");
  require_feasible_seconds(seconds_of_features(rows.size(), rows.dim(), r), options.allow_quadratic,
                           fmt::format("{} with {} landmarks for {} rows", kId, r, rows.size()));
  const Matrix<double> landmarks = given ? std::move(*given) : draw_landmarks(kernel, rows, values, options);
  setup.map = nystrom_features(kernel, landmarks);
  setup.statistic = std::make_unique<MeanGap>(MeanGapForm::root);
  setup.rows = pool.order;
  setup.num_reference = r;
  setup.details.push_back({"rank", static_cast<double>(setup.map.count)});
  setup.frozen = with_points(std::move(resolved), landmarks);
  return setup;
}

// Erratum 30, one permutation: landmarks are rows of X, features K_ns K_ss^-1, and their sum over X is divided by the
// number of landmarks instead of that of the rows.
class AsCoded {
 public:
  AsCoded(Kernel kernel, const TestPool& pool, std::vector<std::size_t> members)
      : kernel_(std::move(kernel)), x_(pool.x), y_(pool.y), order_(pool.order), members_(std::move(members)) {}

  [[nodiscard]] double operator()(std::span<const std::size_t> x, std::span<const std::size_t> y) const {
    const Pool pool{x_.points, y_.points, order_};
    std::vector<std::size_t> chosen;
    for (const std::size_t member : members_) chosen.push_back(x[member]);
    const Matrix<double> landmarks = gather(pool, chosen);
    const KernelBlock block(kernel_, landmarks);
    std::vector<CompensatedSum> sums(landmarks.rows());
    add_kernel_sums(pool, x, 1.0 / static_cast<double>(landmarks.rows()), block, sums);
    add_kernel_sums(pool, y, -1.0 / static_cast<double>(y.size()), block, sums);
    const Matrix<double> factor = nystrom_factor(kernel_, landmarks, NystromRoot::full);
    double squares = 0.0;
    for (std::size_t k = 0; k < factor.cols(); ++k) {
      double feature = 0.0;
      for (std::size_t j = 0; j < factor.rows(); ++j) feature += factor(j, k) * sums[j].value();
      squares += feature * feature;
    }
    return std::sqrt(squares);
  }

 private:
  static void add_kernel_sums(const Pool& pool, std::span<const std::size_t> positions, double weight,
                              const KernelBlock& block, std::span<CompensatedSum> sums) {
    for (std::size_t first = 0; first < positions.size(); first += kFeatureRows) {
      const auto some = positions.subspan(first, std::min(kFeatureRows, positions.size() - first));
      Matrix<double> values(some.size(), block.num_points());
      block.evaluate(gather(pool, some), values);
      for (std::size_t i = 0; i < values.rows(); ++i) {
        for (std::size_t j = 0; j < values.cols(); ++j) sums[j].add(weight * values(i, j));
      }
    }
  }

  Kernel kernel_;
  SampleView x_;
  SampleView y_;
  std::vector<std::size_t> order_;
  std::vector<std::size_t> members_;  // indices within X of the landmarks
};

struct AsCodedSetup {
  AsCoded statistic;
  KernelSpec kernel;
  std::size_t num_landmarks;
  double seconds;  // of one permutation
};

AsCodedSetup set_up_as_coded(const TestPool& pool, const MethodOptions& options, Warnings& warnings) {
  const ParameterValues values(kId, kParameters, options.parameters);
  if (pool.weighted()) fail(ErrorCode::invalid_weights, "{}: form = as-coded takes no weights, leave them out", kId);
  if (given_points(options, pool.x.dim())) {
    fail(ErrorCode::invalid_option, "{}: form = as-coded draws its landmarks from X, reference points cannot be given",
         kId);
  }
  const std::size_t r = num_landmarks(values, pool.x.size(), pool.order.size(), "X");
  const KernelSpec kernel = resolve_kernel(options, pool.rows(), warnings);
  RandomStream stream(options.seed, Purpose::landmarks);
  return {.statistic = {Kernel(kernel), pool, sample_without_replacement(pool.x.size(), r, stream)},
          .kernel = kernel,
          .num_landmarks = r,
          .seconds = seconds_of_features(pool.order.size(), pool.x.dim(), r)};
}

PreparedPlan prepare_as_coded(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) {
  if (request.bound_rows) {
    fail(ErrorCode::invalid_option, "{}: form = as-coded needs the independent or the paired design", kId);
  }
  PreparedPlan prepared;
  AsCodedSetup setup = set_up_as_coded(pool, options, prepared.warnings);
  prepared.expected_seconds = setup.seconds * static_cast<double>(request.permutation_count);
  require_feasible_seconds(prepared.expected_seconds, options.allow_quadratic,
                           fmt::format("{} in the form as-coded, computed again for each of {} permutations", kId,
                                       request.permutation_count));
  // Compensated sums are off by a few roundings, which K_ss^-1 multiplies by at most the ratio of its eigenvalues.
  const double relative = 8.0 * std::numeric_limits<double>::epsilon() / kSmallestEigenvalue;
  prepared.plan = std::make_unique<DirectPlan>(pool.order.size(), std::move(setup.statistic),
                                               [relative](double value) { return relative * value; });
  prepared.rows = pool.order;
  prepared.num_reference = setup.num_landmarks;
  prepared.frozen = options;
  prepared.frozen.kernel = std::move(setup.kernel);
  prepared.no_interval = "form = as-coded draws its landmarks from X";
  return prepared;
}

DistanceResult distance_as_coded(const SampleView& x_given, const SampleView& y_given, const MethodOptions& options) {
  DistanceResult result;
  const CheckedSamples samples(x_given, y_given, options, result.warnings);
  const SampleView& x = samples.x;
  const SampleView& y = samples.y;
  const TestPool pool = make_test_pool(x, y, options.threads);
  const AsCodedSetup setup = set_up_as_coded(pool, options, result.warnings);
  const Groups groups = pool.observed();
  result.statistic = setup.statistic(groups.x, groups.y);
  result.statistic_power = result.statistic * result.statistic;
  result.kernel = setup.kernel;
  result.num_reference = setup.num_landmarks;
  return result;
}

bool is_as_coded(const MethodOptions& options) {
  return ParameterValues(kId, kParameters, options.parameters).choice<Form>("form") == Form::as_coded;
}

PreparedPlan prepare(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) {
  return is_as_coded(options) ? prepare_as_coded(pool, options, request)
                              : prepare_by_features(pool, options, request, set_up);
}

DistanceResult distance(const SampleView& x, const SampleView& y, const MethodOptions& options) {
  return is_as_coded(options) ? distance_as_coded(x, y, options) : distance_by_features(x, y, options, set_up).result;
}

}  // namespace

Method mmd_nystrom_method() {
  return {
      .info = {.id = kId,
               .family = "mean embeddings",
               .summary = "maximum mean discrepancy seen through a few landmark rows, in linear time",
               .reports = "the root of the approximated MMD_V^2, >= 0 and at most MMD_V",
               .cost = "N r (d + r)",
               .permutation = "N r",
               .calibrations = "permutation, sign-flip",
               .details =
                   "The distance between mean features K_ss^(-1/2) k_s(x) of r landmarks s: mean embeddings "
                   "projected on the span of the landmarks, so MMD_V itself when they span the pool. Landmarks are "
                   "drawn from the pool without a look at the labels, or given as reference points. Form as-coded "
                   "is what the authors' code of the kernel quantile paper computes: landmarks from X only, "
                   "features K_ss^-1 k_s(x), and the sum over X divided by r instead of nx. The X term is then nx/r "
                   "times too large, and the statistic measures the size of one embedding. Its test is valid and "
                   "loses most of its power; it is there to understand the published numbers, and costs N r (d + r) "
                   "for every permutation.",
               .reference =
                   "Chatalic et al.: Nystroem Kernel Mean Embeddings (ICML 2022); permutation test: Chatalic, "
                   "Letizia, Schreuder, Rosasco: An Efficient Permutation-Based Kernel Two-Sample Test (2025); "
                   "leverage scores: Musco, Musco: Recursive Sampling for the Nystroem Method (NeurIPS 2017)",
               .sign_flip = true,
               .groups = true,
               .uses = {.kernel = true, .points = true},
               .parameters = kParameters},
      .distance = distance,
      .prepare = prepare};
}

}  // namespace kqd
