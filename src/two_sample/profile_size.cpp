#include <algorithm>
#include <vector>

#include "core/fail.hpp"
#include "profile/profile_spec.hpp"
#include "two_sample/size_parts.hpp"

namespace kqd {
namespace {

// The line along each column of the data; a spec that is only for e-KQD has none.
std::vector<std::size_t> lines_of_columns(const ProfileSpec& spec, const ProfileUnits& units) {
  constexpr auto kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> lines(spec.num_columns, kNone);
  for (std::size_t set = 0; set < spec.functions.size(); ++set) {
    const std::vector<std::size_t> columns = columns_of_lines(spec.functions[set]);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      if (lines[columns[k]] == kNone) lines[columns[k]] = units.first_lines[set] + k;
    }
  }
  if (std::ranges::find(lines, kNone) == lines.end()) return lines;
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
  const std::vector<std::size_t> lines = lines_of_columns(spec, from);
  const std::size_t num_units = data.num_units();
  SizeUnits units{data.unit_rows, std::vector<char>(num_units)};
  for (std::size_t u = 0; u < num_units; ++u) units.is_x[u] = from.order[u] < from.num_x ? 1 : 0;
  constexpr std::size_t kShapes = ColumnScores::kOrders - 1;
  Matrix<double> location(num_units, spec.num_columns, 0.0);
  Matrix<double> shape(num_units, spec.num_columns * kShapes, 0.0);
  for (std::size_t j = 0; j < spec.num_columns; ++j) {
    const GroupedLine& line = data.lines[lines[j]];
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
