#pragma once
#include <span>
#include <string>
#include <string_view>

#include "kqd/core/parameters.hpp"
#include "kqd/core/run_control.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/metrics/discrepancy.hpp"

namespace kqd KQD_PUBLIC {

struct Pool;
struct SharedSlices;
struct TestPool;
struct PlanRequest;
struct PreparedPlan;

/// Which of the common options change what a method computes; the others are ignored by it.
struct MethodUses {
  bool kernel = false;          ///< kernel, bandwidth
  bool directions = false;      ///< family of directions, measure and number of their reference points
  bool num_directions = false;  ///< how many
  bool points = false;          ///< reference points of the caller's own: they span directions, or are locations
  bool power = false;           ///< p
  bool weighting = false;       ///< nu
  bool columns = false;         ///< next to a kernel the columns themselves: kernel values only are not enough
};

/// A p-value from the limiting distribution of a statistic: no permutations, and exact in the limit only.
struct AsymptoticResult {
  DistanceResult result;
  double pvalue = 1.0;
  std::string limiting_distribution;  ///< "chi-square with 10 degrees of freedom"
};

/// One way of comparing two samples, as `kqd methods` lists it.
struct MethodInfo {
  std::string_view id;               ///< as in --method
  std::string_view family;           ///< "kernel quantiles", ...
  std::string_view summary;          ///< one line
  std::string_view reports;          ///< what the number is: a root, a power, a signed estimate
  std::string_view cost;             ///< cost class of one evaluation
  std::string_view permutation;      ///< what one more permutation costs once the pool is prepared
  std::string_view calibrations;     ///< valid ways to a p-value
  std::string_view details;          ///< a paragraph: the formula, the defaults, its own flags
  std::string_view reference;        ///< where it comes from
  bool sign_flip = false;            ///< may be calibrated by swaps within pairs of rows
  std::string_view directions = {};  ///< the word for its directions, when it has its own and asks for no family
  MethodUses uses = {};
  std::span<const ParameterInfo> parameters = {};  ///< its own, besides the common options

  /// Of a test without a distance: the method that its effect size comes from, and its distances in a matrix.
  std::string_view effect_method = {};
  /// Null for tests that are made of several statistics and have no distance of their own.
  DistanceResult (*distance)(const SampleView& x, const SampleView& y, const MethodOptions& options) = nullptr;
  /// For distances that compare quantiles along directions which can be drawn once for many samples; null for others.
  SharedSlices (*slices)(const Pool& pool, const MethodOptions& options) = nullptr;
  PreparedPlan (*prepare)(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) = nullptr;
  /// Makes explicit what of its own parameters would come from every pair of a matrix again; null where nothing does.
  void (*share)(const Pool& pool, MethodOptions& options) = nullptr;
  /// For methods with a limiting distribution; null for the others.
  AsymptoticResult (*asymptotic)(const SampleView& x, const SampleView& y, const MethodOptions& options) = nullptr;
};

/// Every method, in the order in which they are listed.
[[nodiscard]] std::span<const MethodInfo> methods();

/// The method with this id; throws Error{invalid_option} with a suggestion for a misspelt one.
[[nodiscard]] const MethodInfo& find_method(std::string_view id);

/// Throws Error{invalid_option} for a parameter that the method does not have, or a value out of its range.
void validate_parameters(const MethodInfo& method, const Parameters& parameters);

/// The discrepancy between two samples by the method with this id; `control` may end it early.
[[nodiscard]] DistanceResult distance(std::string_view id, const SampleView& x, const SampleView& y,
                                      const MethodOptions& options = {}, const RunControl* control = nullptr);

}  // namespace kqd
