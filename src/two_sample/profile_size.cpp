#include <algorithm>
#include <variant>

#include "core/fail.hpp"
#include "profile/profile_spec.hpp"
#include "two_sample/size_parts.hpp"

namespace kqd {
namespace {

// The first line along the columns of the data, all of which are counted; a spec that is only for e-KQD has none.
std::size_t first_column_line(const ProfileSpec& spec, const ProfileUnits& units) {
  for (std::size_t set = 0; set < spec.functions.size(); ++set) {
    const auto* const values = std::get_if<ColumnValues>(&spec.functions[set].set.functions);
    if (values == nullptr || values->columns.size() != spec.num_columns) continue;
    if (spec.functions[set].lines.size() == spec.num_columns) return units.first_lines[set];
  }
  fail(ErrorCode::invalid_option,
       "the profiles do not count along each of their {} columns, so the size of a difference is unknown: compare the "
       "rows, or make profiles of fewer columns for the adaptive test",
       spec.num_columns);
}

ColumnScores scores_of(const GroupedLine& line, const SizeUnits& units) {
  std::array<std::vector<double>, 2> values;
  std::array<std::vector<double>, 2> weights;
  for (std::size_t bin = 0; bin < line.grid.num_bins(); ++bin) {
    std::array<double, 2> total = {};
    for (std::size_t u = 0; u < units.is_x.size(); ++u) total[units.is_x[u] != 0 ? 0 : 1] += line.counts(u, bin);
    for (std::size_t side = 0; side < 2; ++side) {
      if (!(total[side] > 0.0)) continue;
      values[side].push_back(line.grid.values[bin]);
      weights[side].push_back(total[side]);
    }
  }
  return {values[0], weights[0], values[1], weights[1]};
}

}  // namespace

DifferenceSize size_of_profiles(const ProfileSpec& spec, const ProfileUnits& from, double confidence,
                                ThreadCount threads) {
  const GroupedData& data = *from.data;
  const std::size_t first = first_column_line(spec, from);
  const std::size_t num_units = data.num_units();
  SizeUnits units{data.unit_rows, std::vector<char>(num_units)};
  for (std::size_t u = 0; u < num_units; ++u) units.is_x[u] = from.order[u] < from.num_x ? 1 : 0;
  constexpr std::size_t kShapes = ColumnScores::kOrders - 1;
  Matrix<double> location(num_units, spec.num_columns, 0.0);
  Matrix<double> shape(num_units, spec.num_columns * kShapes, 0.0);
  for (std::size_t j = 0; j < spec.num_columns; ++j) {
    const GroupedLine& line = data.lines[first + j];
    const ColumnScores scores = scores_of(line, units);
    for (std::size_t bin = 0; bin < line.grid.num_bins(); ++bin) {
      const ColumnScores::Scores value = scores(line.grid.values[bin]);
      for (std::size_t u = 0; u < num_units; ++u) {
        const double count = line.counts(u, bin);
        location(u, j) += count * value[0];
        for (std::size_t s = 0; s < kShapes; ++s) shape(u, j * kShapes + s) += count * value[s + 1];
      }
    }
  }
  DifferenceSize size;
  size.confidence = confidence;
  for (std::size_t u = 0; u < num_units; ++u) {
    const bool x = units.is_x[u] != 0;
    (x ? size.num_groups_x : size.num_groups_y) += 1;
    (x ? size.num_x : size.num_y) += static_cast<std::size_t>(units.weights[u]);
  }
  size.aspects.push_back({"location", 0.0, {}, moments_of(units, location, threads)});
  size.aspects.push_back({"shape", 0.0, {}, moments_of(units, shape, threads)});
  summarise_aspects(size);
  return size;
}

}  // namespace kqd
