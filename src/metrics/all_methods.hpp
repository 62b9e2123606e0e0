#pragma once
#include "metrics/method.hpp"

namespace kqd {

// Kernel quantiles.
[[nodiscard]] Method ekqd_method();
[[nodiscard]] Method ekqd_centered_method();
[[nodiscard]] Method supkqd_method();
[[nodiscard]] Method supkqd_centered_method();
[[nodiscard]] Method supkqd_opt_method();
/// Looks for many kinds of difference at once, with one layer of permutations for all of them.
[[nodiscard]] Method adaptive_method();

// Mean embeddings.
[[nodiscard]] Method mmd_method();
[[nodiscard]] Method mmd_v_method();
/// MMD over a collection of kernels, by corrected quantiles [Sch23].
[[nodiscard]] Method mmd_agg_method();
/// MMD over a collection of kernels, by a soft maximum of normalised statistics [Big23].
[[nodiscard]] Method mmd_fuse_method();
[[nodiscard]] Method mmd_lin_method();
[[nodiscard]] Method mmd_multi_method();
[[nodiscard]] Method mmd_block_method();
[[nodiscard]] Method mmd_nystrom_method();
[[nodiscard]] Method mmd_rff_method();
[[nodiscard]] Method me_method();
[[nodiscard]] Method scf_method();
[[nodiscard]] Method monk_method();

// Transport.
[[nodiscard]] Method wasserstein_method();
[[nodiscard]] Method sw_method();
[[nodiscard]] Method max_sw_method();
[[nodiscard]] Method gsw_method();
[[nodiscard]] Method max_gsw_method();
[[nodiscard]] Method sinkhorn_method();
[[nodiscard]] Method energy_method();

// Other embeddings.
[[nodiscard]] Method kce_method();
[[nodiscard]] Method kmedian_method();

}  // namespace kqd
