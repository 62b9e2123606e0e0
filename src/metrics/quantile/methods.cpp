#include "metrics/quantile/methods.hpp"

#include "metrics/quantile/along_directions.hpp"
#include "metrics/quantile/prepare_kqd.hpp"

namespace kqd {
namespace {

using Distance = DistanceResult (*)(const SampleView&, const SampleView&, const MethodOptions&);

constexpr MethodUses kUses = {
    .kernel = true, .directions = true, .num_directions = true, .points = true, .power = true, .weighting = true};

template <Over over>
SharedSlices slices(const Pool& pool, const MethodOptions& options) {
  return draw_slices(pool, options, over);
}

template <Over over, bool centered>
PreparedPlan prepare(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) {
  return prepare_kqd(pool, options, request, over, centered);
}

constexpr std::string_view kPaper = "Naslidnyk, Chau, Briol, Muandet: Kernel Quantile Embeddings (ICML 2025)";

}  // namespace

MethodInfo ekqd_method() {
  return {.id = "ekqd",
          .family = "kernel quantiles",
          .summary = "expected kernel quantile discrepancy: mean gap of quantiles over directions",
          .reports = "the root (mean_i tau_p^p)^(1/p), >= 0",
          .cost = "l N m + l N log N",
          .permutation = "l N",
          .calibrations = "permutation, sign-flip",
          .details =
              "e-KQD_p = (1/l sum_i tau_p(u_i)^p)^(1/p), where tau_p(u) is the p-Wasserstein distance between the two "
              "samples "
              "seen along the direction u, with levels weighted by nu. Defaults: Gaussian kernel with the median "
              "bandwidth, "
              "l = 64 directions of the Gaussian measure, m = min(64, N/8) reference points drawn from a Gaussian "
              "fitted to "
              "the pool, p = 1, uniform nu. With --kernel linear --directions linear it is the sliced Wasserstein "
              "distance.",
          .reference = kPaper,
          .sign_flip = true,
          .uses = kUses,
          .distance = static_cast<Distance>(ekqd),
          .slices = slices<Over::mean>,
          .prepare = prepare<Over::mean, false>};
}

MethodInfo ekqd_centered_method() {
  return {.id = "ekqd-centered",
          .family = "kernel quantiles",
          .summary = "e-KQD of the embeddings centered at the kernel mean",
          .reports = "the root, between MMD_V and sqrt(e-KQD_2^2 + MMD_V^2) for p = 2",
          .cost = "N^2 d + l N m + l N log N",
          .permutation = "N^2 + l N",
          .calibrations = "permutation",
          .details =
              "As ekqd with |q_P - q_Q| replaced by sqrt((q_P - q_Q)^2 - c_i^2 + MMD_V^2), c_i the mean difference "
              "along u_i. Sees everything the MMD sees, and costs as much.",
          .reference = kPaper,
          .uses = kUses,
          .distance = static_cast<Distance>(ekqd_centered),
          .prepare = prepare<Over::mean, true>};
}

MethodInfo supkqd_method() {
  return {.id = "supkqd",
          .family = "kernel quantiles",
          .summary = "largest gap of quantiles over the drawn directions",
          .reports = "the root max_i tau_p(u_i), >= 0",
          .cost = "l N m + l N log N",
          .permutation = "l N",
          .calibrations = "permutation, sign-flip",
          .details =
              "sup-KQD_p over l drawn directions: a maximum over a sample of directions, not the supremum over the "
              "whole sphere.",
          .reference = kPaper,
          .sign_flip = true,
          .uses = kUses,
          .distance = static_cast<Distance>(supkqd),
          .slices = slices<Over::maximum>,
          .prepare = prepare<Over::maximum, false>};
}

MethodInfo supkqd_centered_method() {
  return {.id = "supkqd-centered",
          .family = "kernel quantiles",
          .summary = "sup-KQD of the embeddings centered at the kernel mean",
          .reports = "the root, >= MMD_V for p = 2",
          .cost = "N^2 d + l N m + l N log N",
          .permutation = "N^2 + l N",
          .calibrations = "permutation",
          .details = "As supkqd with the centered gap of ekqd-centered.",
          .reference = kPaper,
          .uses = kUses,
          .distance = static_cast<Distance>(supkqd_centered),
          .prepare = prepare<Over::maximum, true>};
}

}  // namespace kqd
