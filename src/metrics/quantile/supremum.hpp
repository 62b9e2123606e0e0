#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/parameter_values.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/directions/directions.hpp"
#include "kqd/metrics/discrepancy.hpp"
#include "metrics/method.hpp"
#include "metrics/quantile/slices.hpp"

namespace kqd {

/// The slices of some points over which a supremum is taken, and the way back from a vector w to a direction of R^d.
struct SliceModel {
  std::unique_ptr<const Slices> slices;
  double unit = 1.0;  ///< what values along the slices are measured in
  KernelSpec kernel = {};
  /// u_w, for points that the slices have not seen. Throws Error{degenerate_directions} when there is none.
  std::function<std::shared_ptr<const Directions>(std::span<const double> w)> direction;
  std::vector<Detail> details = {};
  Warnings warnings = {};
};

/// A discrepancy that is a supremum over the sphere of a family of slices: sup-KQD, max-SW, max-GSW.
struct SupremumMethod {
  /// The use of the model: values as exact as possible, or a direction that is evaluated at other points.
  enum class Purpose { value, direction };

  std::string_view id;
  std::span<const ParameterInfo> parameters;
  /// True for gaps of centered embeddings; null: never.
  bool (*centered)(const ParameterValues& parameters) = nullptr;
  /// `blocks` as row_blocks() gives them for these points.
  SliceModel (*make)(const Matrix<double>& points, const std::vector<std::size_t>& blocks, const MethodOptions& options,
                     const ParameterValues& parameters, Purpose purpose);
};

/// Parameters that all of these methods take besides their own.
inline constexpr ParameterInfo kShareParameter = {
    "share", 0.5,   0.0,
    0.9,     false, "of the rows on which a test fits its direction; 0: fit again for every permutation"};
inline constexpr ParameterInfo kStepsParameter = {"steps", 200, 1, 100000, true, "of one ascent, at most"};
inline constexpr ParameterInfo kStartsParameter = {
    "starts", 4, 0, 1000, true, "random starts, besides the difference of means, of covariances and the best of 32"};

/// The largest tau_p that was found, with the direction that has it. Details: starts, optima (different ends among
/// them) and steps (of all ascents); for up to 600 rows and uniform levels also upper_bound, the Wasserstein distance
/// of the feature vectors, which no direction exceeds.
[[nodiscard]] DistanceResult supremum_distance(const SupremumMethod& method, const SampleView& x, const SampleView& y,
                                               const MethodOptions& options);

/// share > 0: a direction is fitted to a part of the rows together with their labels, and the labels of the others are
/// tested along it. share = 0: every permutation of all rows has a supremum of its own, found by the same procedure on
/// slices that do not depend on labels.
[[nodiscard]] PreparedPlan prepare_supremum(const SupremumMethod& method, const TestPool& pool,
                                            const MethodOptions& options, const PlanRequest& request);

}  // namespace kqd
