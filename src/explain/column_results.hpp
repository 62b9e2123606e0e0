#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "explain/direction_tests.hpp"
#include "explain/explained_samples.hpp"
#include "kqd/explain/explain.hpp"

namespace kqd {

/// Columns with a density: the first ones, and those that are among the strongest directions.
inline constexpr std::size_t kMostDrawnColumns = 100;

/// The number of permutations, observed labels included, at which an adjusted p-value of `count` tests can reach alpha.
[[nodiscard]] std::uint64_t needed_permutations(std::size_t count, double alpha);

/// Why none of `count` tests can be significant; empty if they can.
[[nodiscard]] std::string resolution_note(std::string_view what, std::size_t count, const DirectionTests& tests,
                                          double alpha);

[[nodiscard]] std::vector<double> pvalues_of(std::span<const TestedDirection> directions);
[[nodiscard]] double effect_of(const GapShape& shape);
[[nodiscard]] Where where_of(const TestedDirection& direction, double alpha);

/// The columns of the table, strongest first: numbers from their direction, categories and missing values from tests of
/// their shares. `columns`: the tested columns of the samples.
void add_columns(const ExplainedSamples& pair, std::span<const TestedDirection> columns,
                 const DirectionTestOptions& options, const DirectionTests& tests, Explanation& result);

/// The sensitivity of the witness to each column of numbers.
void add_sensitivities(const ExplainedSamples& pair, std::span<const double> sensitivities, Explanation& result);

/// The relations of pairs of columns of the table.
void add_relations(const ExplainedSamples& pair, const DirectionTestOptions& options, Explanation& result);

}  // namespace kqd
