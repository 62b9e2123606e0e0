#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/core/parameters.hpp"
#include "kqd/core/run_control.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/metrics/discrepancy.hpp"

namespace kqd KQD_PUBLIC {

/// The common options that change the result of a method; it ignores the others.
struct MethodUses {
  bool kernel = false;          ///< kernel, bandwidth
  bool directions = false;      ///< family of directions, measure and number of their reference points
  bool num_directions = false;  ///< how many
  bool points = false;          ///< the caller's own reference points: they span directions, or are locations
  bool power = false;           ///< p
  bool weighting = false;       ///< nu
  bool max_memory = false;      ///< bound on memory
  bool own_scales = false;      ///< its test measures every column in its own scale, unless that is switched off
};

/// One way of comparing two samples, as `kqd methods` lists it. Texts may refer to options: render() them.
struct MethodInfo {
  std::string_view id;               ///< "ekqd", "mmd", ...
  std::string_view family;           ///< "kernel quantiles", ...
  std::string_view summary;          ///< one line
  std::string_view reports;          ///< the number it reports: a root, a power, a signed estimate
  std::string_view cost;             ///< cost class of one evaluation
  std::string_view permutation;      ///< cost of one more permutation once the pool is prepared
  std::string_view calibrations;     ///< valid ways to a p-value
  std::string_view details;          ///< a paragraph: the formula, the defaults, its own parameters
  std::string_view reference;        ///< where it comes from
  bool centered = false;             ///< a centered discrepancy: needs directions of norm 1
  bool supremum = false;             ///< the largest gap over directions, so that one of them is the maximiser
  bool sign_flip = false;            ///< may be calibrated by swaps within pairs of rows
  bool groups = false;               ///< can permute groups of rows, which is faster for large samples
  bool asymptotic = false;           ///< has a limiting distribution; set by the registry
  bool has_distance = false;         ///< false for methods that are only a test; set by the registry
  std::string_view directions = {};  ///< the word for its directions, when it has its own and asks for no family
  MethodUses uses = {};
  std::span<const ParameterInfo> parameters = {};  ///< its own, besides the common options
  /// Of a test without a distance: the method that measures its effect size and its distances in a matrix.
  std::string_view effect_method = {};
  /// Of a test whose statistic is an effect size itself: its meaning. Empty: the statistic minus its permutation mean,
  /// in pooled standard deviations.
  std::string_view effect_words = {};
};

/// Every method, in the order in which they are listed.
[[nodiscard]] std::span<const MethodInfo> methods();

/// The methods whose statistic is a largest gap, of which the direction is reported (MethodInfo::supremum).
[[nodiscard]] std::vector<std::string> methods_with_maximiser();

/// The method with this id; throws Error{invalid_option} with a suggestion for a misspelt one.
[[nodiscard]] const MethodInfo& find_method(std::string_view id);

/// Throws Error{invalid_option} for a parameter that the method does not have, or a value out of its range.
void validate_parameters(const MethodInfo& method, const Parameters& parameters);

/// The distance between two samples by the method with this id; `control` may end it early.
[[nodiscard]] DistanceResult distance(std::string_view id, const SampleView& x, const SampleView& y,
                                      const MethodOptions& options = {}, const RunControl* control = nullptr);

}  // namespace kqd
