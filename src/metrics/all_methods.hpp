#pragma once
#include "metrics/method.hpp"

/// Every method, in the order in which users see them. A new method is a file that defines NAME_method(), and its name
/// here.
// clang-format off
#define KQD_FOR_EACH_METHOD(X) \
  /* Kernel quantiles */                                                                                      \
  X(ekqd) X(ekqd_centered) X(supkqd) X(supkqd_centered) X(supkqd_opt) X(adaptive)                             \
  /* Mean embeddings */                                                                                       \
  X(mmd) X(mmd_v) X(mmd_agg) X(mmd_fuse) X(mmd_lin) X(mmd_multi) X(mmd_block) X(mmd_nystrom) X(mmd_rff) X(me) \
  X(scf) X(monk)                                                                                              \
  /* Transport */                                                                                             \
  X(wasserstein) X(sw) X(max_sw) X(gsw) X(max_gsw) X(sinkhorn) X(energy)                                      \
  /* Other embeddings */                                                                                      \
  X(kce) X(kmedian)                                                                                           \
  /* Learners */                                                                                              \
  X(classifier)
// clang-format on

namespace kqd {

#define KQD_DECLARE_METHOD(name) [[nodiscard]] Method name##_method();
KQD_FOR_EACH_METHOD(KQD_DECLARE_METHOD)
#undef KQD_DECLARE_METHOD

}  // namespace kqd
