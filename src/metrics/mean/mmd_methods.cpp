#include "metrics/mean/mmd_methods.hpp"

#include "kqd/metrics/mmd.hpp"
#include "metrics/mean/prepare_mmd.hpp"

namespace kqd {
namespace {

template <MmdEstimate estimate>
PreparedPlan prepare(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) {
  return prepare_mmd(pool, options, request, estimate);
}

constexpr std::string_view kGretton = "Gretton et al.: A Kernel Two-Sample Test (JMLR 2012)";

}  // namespace

MethodInfo mmd_method() {
  return {
      .id = "mmd",
      .family = "mean embeddings",
      .summary = "maximum mean discrepancy, unbiased",
      .reports = "the unbiased estimate of MMD^2: signed, near 0 when the samples are alike",
      .cost = "N^2 d",
      .permutation = "N^2",
      .calibrations = "permutation, sign-flip",
      .details =
          "mean k(x,x') + mean k(y,y') - 2 mean k(x,y) over different rows. Defaults: Gaussian kernel with the "
          "median bandwidth. Tiles of the Gram matrix are kept up to 256 MB (16 MB below 32 columns) and made again "
          "beyond: memory does not "
          "grow with N^2. With one "
          "column and the Laplace (or matern12) kernel one sort and one pass replace the Gram matrix: N log N, and "
          "N per permutation.",
      .reference = kGretton,
      .sign_flip = true,
      .uses = {.kernel = true},
      .distance = mmd,
      .prepare = prepare<MmdEstimate::u>};
}

MethodInfo mmd_v_method() {
  return {
      .id = "mmd-v",
      .family = "mean embeddings",
      .summary = "maximum mean discrepancy between the samples themselves",
      .reports = "the root MMD_V = sqrt(h'Kh), >= 0",
      .cost = "N^2 d",
      .permutation = "N^2",
      .calibrations = "permutation, sign-flip",
      .details =
          "The distance between the mean embeddings of the two empirical distributions: 0 on equal samples, "
          "biased upwards for small ones. With one column and the Laplace (or matern12) kernel one sort and one pass "
          "replace the Gram matrix: N log N, and N per permutation.",
      .reference = kGretton,
      .sign_flip = true,
      .uses = {.kernel = true},
      .distance = mmd_v,
      .prepare = prepare<MmdEstimate::v_root>};
}

}  // namespace kqd
