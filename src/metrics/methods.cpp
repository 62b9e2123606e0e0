#include "kqd/metrics/methods.hpp"

#include <algorithm>
#include <array>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "kqd/metrics/mmd.hpp"
#include "metrics/prepare.hpp"

namespace kqd {
namespace {

using Distance = KqdResult (*)(const SampleView&, const SampleView&, const KqdOptions&);

template <Over over, bool centered>
PreparedPlan prepare_kqd_plan(const TestPool& pool, const KqdOptions& options, const PlanRequest& request) {
  return prepare_kqd(pool, options, request, over, centered);
}

template <MmdEstimate estimate>
PreparedPlan prepare_mmd_plan(const TestPool& pool, const KqdOptions& options, const PlanRequest& request) {
  return prepare_mmd(pool, options, request, estimate);
}

constexpr std::string_view kPaper = "Naslidnyk, Chau, Briol, Muandet: Kernel Quantile Embeddings (ICML 2025)";
constexpr std::string_view kGretton = "Gretton et al.: A Kernel Two-Sample Test (JMLR 2012)";

constexpr std::array<MethodInfo, 6> kMethods = {{
    {.id = "ekqd",
     .family = "kernel quantiles",
     .summary = "expected kernel quantile discrepancy: mean gap of quantiles over directions",
     .reports = "the root (mean_i tau_p^p)^(1/p), >= 0",
     .cost = "l N m + l N log N",
     .permutation = "l N",
     .calibrations = "permutation, sign-flip",
     .details =
         "e-KQD_p = (1/l sum_i tau_p(u_i)^p)^(1/p), where tau_p(u) is the p-Wasserstein distance between the two "
         "samples "
         "seen along the direction u, with levels weighted by nu. Defaults: Gaussian kernel with the median bandwidth, "
         "l = 64 directions of the Gaussian measure, m = min(64, N/8) reference points drawn from a Gaussian fitted to "
         "the pool, p = 1, uniform nu. With --kernel linear --directions linear it is the sliced Wasserstein distance.",
     .reference = kPaper,
     .sign_flip = true,
     .distance = static_cast<Distance>(ekqd),
     .prepare = prepare_kqd_plan<Over::mean, false>},
    {.id = "ekqd-centered",
     .family = "kernel quantiles",
     .summary = "e-KQD of the embeddings centered at the kernel mean",
     .reports = "the root, between MMD_V and sqrt(e-KQD_2^2 + MMD_V^2) for p = 2",
     .cost = "N^2 d + l N m + l N log N",
     .permutation = "N^2 + l N",
     .calibrations = "permutation",
     .details = "As ekqd with |q_P - q_Q| replaced by sqrt((q_P - q_Q)^2 - c_i^2 + MMD_V^2), c_i the mean difference "
                "along u_i. Sees everything the MMD sees, and costs as much.",
     .reference = kPaper,
     .distance = static_cast<Distance>(ekqd_centered),
     .prepare = prepare_kqd_plan<Over::mean, true>},
    {.id = "supkqd",
     .family = "kernel quantiles",
     .summary = "largest gap of quantiles over the drawn directions",
     .reports = "the root max_i tau_p(u_i), >= 0",
     .cost = "l N m + l N log N",
     .permutation = "l N",
     .calibrations = "permutation, sign-flip",
     .details = "sup-KQD_p over l drawn directions: a maximum over a sample of directions, not the supremum over the "
                "whole sphere.",
     .reference = kPaper,
     .sign_flip = true,
     .distance = static_cast<Distance>(supkqd),
     .prepare = prepare_kqd_plan<Over::maximum, false>},
    {.id = "supkqd-centered",
     .family = "kernel quantiles",
     .summary = "sup-KQD of the embeddings centered at the kernel mean",
     .reports = "the root, >= MMD_V for p = 2",
     .cost = "N^2 d + l N m + l N log N",
     .permutation = "N^2 + l N",
     .calibrations = "permutation",
     .details = "As supkqd with the centered gap of ekqd-centered.",
     .reference = kPaper,
     .distance = static_cast<Distance>(supkqd_centered),
     .prepare = prepare_kqd_plan<Over::maximum, true>},
    {.id = "mmd",
     .family = "mean embeddings",
     .summary = "maximum mean discrepancy, unbiased",
     .reports = "the unbiased estimate of MMD^2: signed, near 0 when the samples are alike",
     .cost = "N^2 d",
     .permutation = "N^2",
     .calibrations = "permutation, sign-flip",
     .details = "mean k(x,x') + mean k(y,y') - 2 mean k(x,y) over different rows. Defaults: Gaussian kernel with the "
                "median bandwidth. Tiles of the Gram matrix are made and forgotten: memory does not grow with N^2.",
     .reference = kGretton,
     .sign_flip = true,
     .distance = mmd,
     .prepare = prepare_mmd_plan<MmdEstimate::u>},
    {.id = "mmd-v",
     .family = "mean embeddings",
     .summary = "maximum mean discrepancy between the samples themselves",
     .reports = "the root MMD_V = sqrt(h'Kh), >= 0",
     .cost = "N^2 d",
     .permutation = "N^2",
     .calibrations = "permutation, sign-flip",
     .details = "The distance between the mean embeddings of the two empirical distributions: 0 on equal samples, "
                "biased upwards for small ones.",
     .reference = kGretton,
     .sign_flip = true,
     .distance = mmd_v,
     .prepare = prepare_mmd_plan<MmdEstimate::v_root>},
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
