#include "kqd/metrics/methods.hpp"

#include <algorithm>
#include <array>

#include "core/fail.hpp"
#include "core/text.hpp"

namespace kqd {
namespace {

using Distance = KqdResult (*)(const SampleView&, const SampleView&, const KqdOptions&);

constexpr std::string_view kPaper = "Naslidnyk, Chau, Briol, Muandet: Kernel Quantile Embeddings (ICML 2025)";

constexpr std::array<MethodInfo, 4> kMethods = {{
    {"ekqd", "kernel quantiles", "expected kernel quantile discrepancy: mean gap of quantiles over directions",
     "the root (mean_i tau_p^p)^(1/p), >= 0", "l N m + l N log N", "l N", "permutation, sign-flip (pairs)",
     "e-KQD_p = (1/l sum_i tau_p(u_i)^p)^(1/p), where tau_p(u) is the p-Wasserstein distance between the two samples "
     "seen along the direction u, with levels weighted by nu. Defaults: Gaussian kernel with the median bandwidth, "
     "l = 64 directions of the Gaussian measure, m = min(64, N/8) reference points drawn from a Gaussian fitted to the "
     "pool, p = 1, uniform nu. With --kernel linear --directions linear it is the sliced Wasserstein distance.",
     kPaper, static_cast<Distance>(ekqd)},
    {"ekqd-centered", "kernel quantiles", "e-KQD of the embeddings centered at the kernel mean",
     "the root, between MMD_V and sqrt(e-KQD_2^2 + MMD_V^2) for p = 2", "N^2 d + l N m + l N log N", "N^2 + l N",
     "permutation",
     "As ekqd with |q_P - q_Q| replaced by sqrt((q_P - q_Q)^2 - c_i^2 + MMD_V^2), c_i the mean difference along u_i. "
     "Sees everything the MMD sees, and costs as much.",
     kPaper, static_cast<Distance>(ekqd_centered)},
    {"supkqd", "kernel quantiles", "largest gap of quantiles over the drawn directions",
     "the root max_i tau_p(u_i), >= 0", "l N m + l N log N", "l N", "permutation, sign-flip (pairs)",
     "sup-KQD_p over l drawn directions: a maximum over a sample of directions, not the supremum over the whole "
     "sphere.",
     kPaper, static_cast<Distance>(supkqd)},
    {"supkqd-centered", "kernel quantiles", "sup-KQD of the embeddings centered at the kernel mean",
     "the root, >= MMD_V for p = 2", "N^2 d + l N m + l N log N", "N^2 + l N", "permutation",
     "As supkqd with the centered gap of ekqd-centered.", kPaper, static_cast<Distance>(supkqd_centered)},
}};

}  // namespace

std::span<const MethodInfo> methods() {
  return kMethods;
}

const MethodInfo& find_method(std::string_view id) {
  const auto* const method = std::ranges::find(kMethods, id, &MethodInfo::id);
  if (method != kMethods.end()) return *method;
  std::array<std::string_view, kMethods.size()> known;
  std::ranges::transform(kMethods, known.begin(), &MethodInfo::id);
  fail(ErrorCode::invalid_option, "method \"{}\" is unknown, expected one of {}{}", id, join(known),
       suggestion(id, known));
}

KqdResult distance(std::string_view method, const SampleView& x, const SampleView& y, const KqdOptions& options) {
  return find_method(method).distance(x, y, options);
}

}  // namespace kqd
