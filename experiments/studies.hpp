#pragma once
#include <string>

#include "experiments/study.hpp"
#include "kqd/core/types.hpp"

namespace kqd::lab {

/// Settings of a study that a user chooses.
struct StudyRequest {
  std::string scheme;  ///< one of the experiment's; empty where it has none
  bool quick = false;  ///< few columns and runs
  std::string data;    ///< folder of data sets
};

/// J1 of the paper: N(0, I_d) against N(0, diag(4, 4, 4, 1, ..)), n = 200.
[[nodiscard]] Study power_decay(const StudyRequest& request);
/// J2: Laplace against normal distributions of the same variance, cubic kernel.
[[nodiscard]] Study laplace_gaussian(const StudyRequest& request);

/// J3, and its design on images that are available: a class that is missing in X is 15% of Y.
[[nodiscard]] Study galaxy(const StudyRequest& request);
[[nodiscard]] Study fashion_mnist(const StudyRequest& request);
[[nodiscard]] Study cifar10(const StudyRequest& request);
/// J4, and a blur in place of its second data set, which is not available everywhere.
[[nodiscard]] Study cifar10_1(const StudyRequest& request);
[[nodiscard]] Study cifar10_1_small(const StudyRequest& request);
Study cifar10_blur(const StudyRequest& request);
Study cifar10_blur_small(const StudyRequest& request);
/// J5: rejection rates under the null hypothesis.
[[nodiscard]] Study type_one(const StudyRequest& request);
[[nodiscard]] Study type_one_cifar(const StudyRequest& request);
/// J6: weights of quantile levels; measures of reference points.
[[nodiscard]] Study nu_study(const StudyRequest& request);
[[nodiscard]] Study xi_study(const StudyRequest& request);
/// J7: sliced Wasserstein distances and approximations of mean embeddings on power decay.
[[nodiscard]] Study sliced(const StudyRequest& request);
[[nodiscard]] Study kme(const StudyRequest& request);
/// The problems of [Big23].
[[nodiscard]] Study fuse_mixture(const StudyRequest& request);
[[nodiscard]] Study fuse_perturbed(const StudyRequest& request);

/// Tests of this library on published benchmarks of power, with the best published rates.
[[nodiscard]] Study scoreboard(const StudyRequest& request);

/// Keeps the first two columns and few runs.
void make_quick(Study& study);

}  // namespace kqd::lab
