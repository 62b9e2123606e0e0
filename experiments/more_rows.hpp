#pragma once
#include <cstdint>
#include <functional>
#include <string_view>

#include "experiments/study.hpp"
#include "kqd/directions/directions.hpp"

namespace kqd::lab {

/// The test of kqd with the directions that the authors hold fixed too: combinations, with their coefficients, of
/// points of a measure around 0 scaled by interquartile ranges, for p = 2 (their variants of xi; erratum 14).
[[nodiscard]] TwoSampleOptions authors_fixed_directions(const Column& column, const KernelSpec& kernel,
                                                        ReferenceMeasure reference, std::int64_t permutations);

/// Nystroem MMD and mean embedding tests, as the released code has them (errata 30, 31) and corrected. `published` is
/// the key of an experiment with rates of the former, or empty; `dim` gives the columns of the data.
void add_approximation_rows(Study& study, std::string_view published, std::int64_t permutations,
                            const std::function<std::size_t(const Column& column)>& dim);

/// e-KQD with reference points of the pool, Gaussian and uniform (the paper's study of xi); `published` as above.
void add_reference_measure_rows(Study& study, std::string_view published, std::int64_t permutations);

}  // namespace kqd::lab
