#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/rates.hpp"
#include "kqd/core/matrix.hpp"

namespace kqd::lab {

/// Published rejections of one method at each of the places; nothing where none is published.
/// `experiment` and `method` are keys of published/paper-results.json.
[[nodiscard]] std::vector<std::optional<Count>> paper_counts(std::string_view experiment, std::string_view method,
                                                             std::span<const double> places);

/// The same for the experiments of MMD-FUSE [Big23], published/mmdfuse-results.json.
[[nodiscard]] std::vector<std::optional<Count>> fuse_counts(std::string_view experiment, std::string_view method,
                                                            std::span<const double> places);

/// Published rejections for one problem, by test.
struct PublishedProblem {
  std::string source = {};  ///< key in docs/references.md
  std::map<std::string, Count> tests = {};
};

/// A problem of published/benchmark-results.json.
[[nodiscard]] PublishedProblem benchmark_counts(std::string_view problem);

/// Every test at one place of an experiment of MMD-FUSE [Big23].
[[nodiscard]] PublishedProblem fuse_problem(std::string_view experiment, double place);

/// Coefficients of directions (m x l) and the places of their reference points in the pooled sequence of 2n rows.
struct DirectionDraw {
  Matrix<double> coefficients;
  std::vector<std::size_t> indices;
};

/// The draw of the authors' code from its constant key for samples of n rows, the same in every run of every experiment
/// (erratum 24). Throws Error{invalid_option} for sizes that are not stored.
[[nodiscard]] DirectionDraw authors_draw(std::size_t n);

}  // namespace kqd::lab
