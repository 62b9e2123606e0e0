#include "profile/row_counter.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

namespace kqd {
namespace {

constexpr double kLargestWhole = 1073741824.0;  // 2^30: 2^32 rows of a group fit into 63 bits

// Cuts values that would be too large for a whole number. Loops without a way out, of which a compiler makes vectors.
void cut(std::span<double> scaled) {
  for (double& v : scaled) v = v < kLargestWhole ? v : kLargestWhole;  // also what is not a number
  for (double& v : scaled) v = v > -kLargestWhole ? v : -kLargestWhole;
}

// The nearest whole number of at most 2^30, ties to even: the sum with 1.5 2^52 has it in its lowest bits.
std::int64_t whole(double scaled) {
  constexpr double kRounder = 0x1.8p52;
  return std::bit_cast<std::int64_t>(scaled + kRounder) - std::bit_cast<std::int64_t>(kRounder);
}

std::vector<double> powers_of_two(const std::vector<std::int32_t>& exponents) {
  std::vector<double> powers;
  for (const std::int32_t exponent : exponents) powers.push_back(std::ldexp(1.0, exponent));
  return powers;
}

// Neighbouring rows of one group.
struct Segment {
  std::uint32_t group = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::vector<Segment> segments_of(std::span<const std::uint32_t> groups) {
  std::vector<Segment> segments;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (segments.empty() || segments.back().group != groups[i]) segments.push_back({groups[i], i, i});
    segments.back().end = i + 1;
  }
  return segments;
}

}  // namespace

CountedFunctions::CountedFunctions(const ProfileSpec& spec) {
  std::size_t first_line = 0;
  for (const ProfiledFunctions& functions : spec.functions) {
    Set set;
    set.map = make_functions(functions.set);
    set.num_values = functions.sums ? set.map->count : functions.lines.size();
    set.first_line = std::exchange(first_line, first_line + functions.lines.size());
    for (const LineGrid& grid : functions.lines) set.lines.emplace_back(grid);
    set.centres = functions.centres;
    set.factors = powers_of_two(functions.exponents);
    set.line_factors = powers_of_two(functions.line_exponents);
    sets.push_back(std::move(set));
  }
}

// Rows in the order of their groups: what they are added to is then near what was added to before.
struct RowCounter::Sorted {
  Matrix<double> rows;
  std::vector<std::uint32_t> groups;
};

RowCounter::RowCounter(const ProfileSpec& spec, const CountedFunctions& functions, std::uint64_t rows_per_group,
                       ProfilePart& part)
    : functions_(functions),
      rows_per_group_(rows_per_group),
      part_(part),
      places_(spec, part.sample),
      of_set_(functions.sets.size()) {}

RowCounter::Sorted RowCounter::sorted_by_group(const RowBlock& block) const {
  const std::size_t n = block.rows.rows();
  std::vector<std::uint32_t> groups(n);
  places_.groups(block, rows_per_group_, part_.num_groups, groups);
  std::vector<std::size_t> next(part_.num_groups + 2, 0);
  for (const std::uint32_t group : groups) ++next[group + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  Sorted sorted{Matrix<double>(n, block.rows.cols()), std::vector<std::uint32_t>(n)};
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = next[groups[i]]++;
    std::ranges::copy(block.rows.row(i), sorted.rows.row(at).begin());
    sorted.groups[at] = groups[i];
  }
  return sorted;
}

void RowCounter::count(const RowBlock& block) {
  const Sorted sorted = sorted_by_group(block);
  {
    const std::scoped_lock lock(of_groups_);
    for (const std::uint32_t group : sorted.groups) ++part_.group_rows[group];
  }
  // Threads begin with different sets, so that they seldom wait for each other.
  const std::size_t num_sets = functions_.sets.size();
  const std::size_t turn = turn_++;
  for (std::size_t k = 0; k < num_sets; ++k) count_set((turn + k) % num_sets, sorted);
}

void RowCounter::count_set(std::size_t number, const Sorted& sorted) {
  const CountedFunctions::Set& set = functions_.sets[number];
  const std::size_t num_lines = set.lines.size();
  const std::size_t num_sums = set.centres.size();
  const std::size_t num_rows = sorted.rows.rows();
  Matrix<double> values(std::min(kFeatureRows, num_rows), set.num_values);
  std::vector<std::uint8_t> bins(num_lines * kFeatureRows);
  std::vector<std::int64_t> sums;
  std::vector<double> scaled(num_sums);
  std::vector<double> line_values(set.line_factors.empty() ? 0 : kFeatureRows);
  for (std::size_t first = 0; first < num_rows; first += kFeatureRows) {
    const std::size_t count = std::min(kFeatureRows, num_rows - first);
    const auto some = values.view().row_range(0, count);
    set.map->evaluate(sorted.rows.view().row_range(first, count), some);
    for (std::size_t k = 0; k < num_lines; ++k) {
      set.lines[k].find(some, k, std::span(bins).subspan(k * kFeatureRows, count));
    }
    const std::vector<Segment> segments = segments_of(std::span(sorted.groups).subspan(first, count));
    sums.assign(segments.size() * num_sums, 0);
    for (std::size_t s = 0; s < segments.size() && num_sums > 0; ++s) {
      const std::span<std::int64_t> total = std::span(sums).subspan(s * num_sums, num_sums);
      for (std::size_t i = segments[s].begin; i < segments[s].end; ++i) {
        const std::span<const double> row = some.row(i);
        for (std::size_t k = 0; k < num_sums; ++k) scaled[k] = (row[k] - set.centres[k]) * set.factors[k];
        cut(scaled);
        for (std::size_t k = 0; k < num_sums; ++k) total[k] += whole(scaled[k]);
      }
    }
    const std::scoped_lock lock(of_set_[number]);
    for (std::size_t k = 0; k < num_lines; ++k) {
      Matrix<std::uint32_t>& counts = part_.counts[set.first_line + k];
      const std::uint8_t* const found = bins.data() + k * kFeatureRows;
      for (const Segment& segment : segments) {
        std::uint32_t* const of_group = counts.row(segment.group).data();
        for (std::size_t i = segment.begin; i < segment.end; ++i) ++of_group[found[i]];
      }
      if (set.line_factors.empty()) continue;
      std::int64_t* const of_line = part_.bin_sums[number].row(k).data();
      for (std::size_t i = 0; i < count; ++i) line_values[i] = some(i, k) * set.line_factors[k];
      cut(line_values);
      for (std::size_t i = 0; i < count; ++i) of_line[found[i]] += whole(line_values[i]);
    }
    for (std::size_t s = 0; s < segments.size() && num_sums > 0; ++s) {
      const std::span<std::int64_t> total = part_.sums[number].row(segments[s].group);
      for (std::size_t k = 0; k < num_sums; ++k) total[k] += sums[s * num_sums + k];
    }
  }
}

}  // namespace kqd
