#pragma once
#include <span>
#include <string_view>

#include "kqd/metrics/discrepancy.hpp"

namespace kqd {

struct TestPool;
struct PlanRequest;
struct PreparedPlan;

/// One way of comparing two samples, as `kqd methods` lists it.
struct MethodInfo {
  std::string_view id;            ///< as in --method
  std::string_view family;        ///< "kernel quantiles", ...
  std::string_view summary;       ///< one line
  std::string_view reports;       ///< what the number is: a root, a power, a signed estimate
  std::string_view cost;          ///< cost class of one evaluation
  std::string_view permutation;   ///< what one more labelling costs once the pool is prepared
  std::string_view calibrations;  ///< valid ways to a p-value
  std::string_view details;       ///< a paragraph: the formula, the defaults, its own flags
  std::string_view reference;     ///< where it comes from
  bool sign_flip = false;         ///< may be calibrated by swaps within pairs of rows

  KqdResult (*distance)(const SampleView& x, const SampleView& y, const KqdOptions& options) = nullptr;
  PreparedPlan (*prepare)(const TestPool& pool, const KqdOptions& options, const PlanRequest& request) = nullptr;
};

/// Every method, in the order in which they are listed.
[[nodiscard]] std::span<const MethodInfo> methods();

/// The method with this id; throws Error{invalid_option} with a suggestion for a misspelt one.
[[nodiscard]] const MethodInfo& find_method(std::string_view id);

/// The discrepancy between two samples by the method with this id.
[[nodiscard]] KqdResult distance(std::string_view method, const SampleView& x, const SampleView& y,
                                 const KqdOptions& options = {});

}  // namespace kqd
