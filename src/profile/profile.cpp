#include "kqd/profile/profile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "profile/keyed_permutation.hpp"
#include "profile/profile_spec.hpp"
#include "profile/row_groups.hpp"

namespace kqd {
namespace {

constexpr std::size_t kRowsAtATime = 8192;
constexpr double kLargestWhole = 1073741824.0;  // 2^30: 2^32 rows of a group fit into 63 bits

// "rows 1 to 1000", counted from 1 as in messages about files.
std::string row_text(const RowRange& rows) {
  return rows.last - rows.first == 1 ? fmt::format("row {}", rows.last)
                                     : fmt::format("rows {} to {}", rows.first + 1, rows.last);
}

// The first range that two lists share, empty if there is none.
RowRange overlap(const std::vector<RowRange>& a, const std::vector<RowRange>& b) {
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    const RowRange common{std::max(i->first, j->first), std::min(i->last, j->last)};
    if (common.first < common.last) return common;
    i->last < j->last ? ++i : ++j;
  }
  return {};
}

void require_apart(const std::vector<RowRange>& there, const std::vector<RowRange>& more) {
  if (const RowRange both = overlap(there, more); both.first < both.last) {
    fail(ErrorCode::invalid_option,
         "{} of a sample would be counted twice: each row may be in one of the profiles only", row_text(both));
  }
}

// All rows of two lists that do not overlap.
std::vector<RowRange> joined(std::vector<RowRange> a, const std::vector<RowRange>& b) {
  a.insert(a.end(), b.begin(), b.end());
  std::ranges::sort(a, {}, &RowRange::first);
  std::vector<RowRange> merged;
  for (const RowRange& range : a) {
    if (!merged.empty() && merged.back().last == range.first) {
      merged.back().last = range.last;
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}

// The rows of a that are not in b, all of which must be in a.
std::vector<RowRange> difference(const std::vector<RowRange>& a, const std::vector<RowRange>& b) {
  std::vector<RowRange> left;
  auto next = b.begin();
  for (RowRange range : a) {
    for (; next != b.end() && next->last <= range.last; ++next) {
      if (next->first < range.first) break;
      if (next->first > range.first) left.push_back({range.first, next->first});
      range.first = next->last;
    }
    if (range.first < range.last) left.push_back(range);
  }
  if (next != b.end()) {
    fail(ErrorCode::invalid_option, "{} of a sample are to be taken away but are not all in the profile",
         row_text(*next));
  }
  return left;
}

template <class T, class Combine>
void combine(std::vector<Matrix<T>>& into, const std::vector<Matrix<T>>& from, const Combine& function) {
  for (std::size_t k = 0; k < into.size(); ++k) {
    std::ranges::transform(into[k].values(), from[k].values(), into[k].values().begin(), function);
  }
}

ProfilePart empty_part(const ProfileSpec& spec, const SampleExtent& sample, std::uint64_t factor) {
  ProfilePart part{
      .sample = sample, .rows = {}, .num_groups = groups_of_sample(spec, sample) / factor, .counts = {}, .sums = {}};
  for (const ProfiledFunctions& functions : spec.functions) {
    for (const LineGrid& grid : functions.lines) {
      part.counts.emplace_back(part.num_groups, grid.num_bins(), 0U);
    }
    part.sums.emplace_back(functions.sums ? part.num_groups : 0, functions.sums ? functions.set.count() : 0, 0);
  }
  return part;
}

std::vector<ProfilePart>::iterator place_of(std::vector<ProfilePart>& parts, const SampleExtent& sample) {
  return std::ranges::lower_bound(parts, sample, {}, &ProfilePart::sample);
}

bool has(const std::vector<ProfilePart>& parts, std::vector<ProfilePart>::const_iterator at,
         const SampleExtent& sample) {
  return at != parts.end() && at->sample == sample;
}

// The group of each of some rows, or `none`.
constexpr std::uint32_t kNoGroup = std::numeric_limits<std::uint32_t>::max();

std::vector<std::uint32_t> groups_of_rows(const ProfileSpec& spec, const SampleExtent& sample, std::uint64_t first,
                                          std::size_t count, std::uint64_t num_groups, std::uint64_t rows_per_group) {
  const KeyedPermutation place(sample.num_rows, Seed{spec.seed}, sample.id);
  const std::uint64_t held_out = sample == spec.pilot_sample ? spec.pilot_rows : 0;
  std::vector<std::uint32_t> groups(count, kNoGroup);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t at = place(first + i);
    if (at < held_out) continue;
    const std::uint64_t group = (at - held_out) / rows_per_group;
    if (group < num_groups) groups[i] = static_cast<std::uint32_t>(group);
  }
  return groups;
}

// One set of functions, ready to be evaluated and counted.
struct Counter {
  const ProfiledFunctions& functions;
  std::size_t set;         // its number
  std::size_t first_line;  // the number of its first line among those of all sets
  RowFunctions map;
  std::vector<BinFinder> finders;
};

std::vector<Counter> counters_of(const ProfileSpec& spec) {
  std::vector<Counter> counters;
  std::size_t first_line = 0;
  for (const ProfiledFunctions& functions : spec.functions) {
    Counter counter{functions, counters.size(), first_line, make_functions(functions.set), {}};
    for (const LineGrid& grid : functions.lines) counter.finders.emplace_back(grid);
    first_line += functions.lines.size();
    counters.push_back(std::move(counter));
  }
  return counters;
}

void count_rows(const Counter& counter, MatrixView<const double> rows, std::span<const std::uint32_t> groups,
                ProfilePart& part) {
  const auto& [functions, set, first_line, map, finders] = counter;
  const std::size_t columns = functions.sums ? map->count : functions.lines.size();
  Matrix<double> values(std::min(kFeatureRows, rows.rows()), columns);
  std::vector<double> factors(functions.exponents.size());
  for (std::size_t k = 0; k < factors.size(); ++k) factors[k] = std::ldexp(1.0, functions.exponents[k]);
  for (std::size_t first = 0; first < rows.rows(); first += kFeatureRows) {
    const std::size_t count = std::min(kFeatureRows, rows.rows() - first);
    const auto some = values.view().row_range(0, count);
    map->evaluate(rows.row_range(first, count), some);
    for (std::size_t k = 0; k < finders.size(); ++k) {
      Matrix<std::uint32_t>& counts = part.counts[first_line + k];
      for (std::size_t i = 0; i < count; ++i) {
        if (groups[first + i] != kNoGroup) ++counts(groups[first + i], finders[k](some(i, k)));
      }
    }
    if (!functions.sums) continue;
    for (std::size_t i = 0; i < count; ++i) {
      if (groups[first + i] == kNoGroup) continue;
      const auto sums = part.sums[set].row(groups[first + i]);
      for (std::size_t k = 0; k < columns; ++k) {
        const double scaled = (some(i, k) - functions.centres[k]) * factors[k];
        const double below = scaled < kLargestWhole ? scaled : kLargestWhole;  // also what is not a number
        sums[k] += static_cast<std::int64_t>(std::nearbyint(below > -kLargestWhole ? below : -kLargestWhole));
      }
    }
  }
}

std::uint64_t rows_in(const std::vector<RowRange>& ranges) {
  std::uint64_t total = 0;
  for (const RowRange& range : ranges) total += range.last - range.first;
  return total;
}

}  // namespace

std::uint64_t groups_of_sample(const ProfileSpec& spec, const SampleExtent& sample) {
  const std::uint64_t held_out = sample == spec.pilot_sample ? spec.pilot_rows : 0;
  return std::min<std::uint64_t>(kMostGroups,
                                 (sample.num_rows - std::min(held_out, sample.num_rows)) / spec.rows_per_group);
}

Profile ProfileAccess::make(std::shared_ptr<const ProfileSpec> spec, Profile::State state) {
  Profile profile(std::move(spec));
  *profile.state_ = std::move(state);
  return profile;
}

Profile::Profile(std::shared_ptr<const ProfileSpec> spec)
    : spec_(std::move(spec)), state_(std::make_unique<State>(State{spec_bytes(*spec_), 1, {}})) {}
Profile::~Profile() = default;
Profile::Profile(const Profile& other) : spec_(other.spec_), state_(std::make_unique<State>(*other.state_)) {}
Profile::Profile(Profile&& other) noexcept = default;
Profile& Profile::operator=(Profile other) noexcept {
  spec_.swap(other.spec_);
  state_.swap(other.state_);
  return *this;
}

std::string Profile::spec_id() const {
  return spec_id_of(state_->spec_bytes);
}
std::size_t Profile::num_columns() const {
  return spec_->num_columns;
}
const std::vector<std::string>& Profile::column_names() const {
  return spec_->column_names;
}
std::uint64_t Profile::rows_per_group() const {
  return spec_->rows_per_group * state_->factor;
}

std::size_t Profile::num_groups() const {
  std::size_t total = 0;
  for (const ProfilePart& part : state_->parts) total += part.num_groups;
  return total;
}

std::uint64_t Profile::num_rows() const {
  std::uint64_t total = 0;
  for (const ProfilePart& part : state_->parts) total += rows_in(part.rows);
  return total;
}

std::vector<SampleExtent> Profile::samples() const {
  std::vector<SampleExtent> samples;
  for (const ProfilePart& part : state_->parts) samples.push_back(part.sample);
  return samples;
}

void Profile::update(const SampleExtent& sample, MatrixView<const double> rows, std::uint64_t first_row,
                     ThreadCount threads) {
  if (rows.rows() == 0) return;
  if (rows.cols() != spec_->num_columns) {
    fail(ErrorCode::shape_mismatch, "the rows have {} columns, the profile has {}", rows.cols(), spec_->num_columns);
  }
  if (first_row >= sample.num_rows || rows.rows() > sample.num_rows - first_row) {
    fail(ErrorCode::invalid_option, "{} are beyond the sample, which has {} rows",
         row_text({first_row, first_row + rows.rows()}), sample.num_rows);
  }
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    if (std::ranges::all_of(rows.row(i), [](double v) { return std::isfinite(v); })) continue;
    fail(ErrorCode::non_finite_value, "row {} has a value that is not a finite number", first_row + i + 1);
  }
  const std::vector<RowRange> more = {{first_row, first_row + rows.rows()}};
  auto at = place_of(state_->parts, sample);
  if (has(state_->parts, at, sample)) {
    require_apart(at->rows, more);
  } else {
    at = state_->parts.insert(at, empty_part(*spec_, sample, state_->factor));
  }
  ProfilePart& part = *at;
  const std::vector<Counter> counters = counters_of(*spec_);
  for (std::size_t first = 0; first < rows.rows(); first += kRowsAtATime) {
    const std::size_t count = std::min(kRowsAtATime, rows.rows() - first);
    const auto groups = groups_of_rows(*spec_, sample, first_row + first, count, part.num_groups, rows_per_group());
    // Each set of functions has counts of its own, so sets may be counted side by side.
    parallel_for_blocks(counters.size(), 1, threads, [&](std::size_t k, std::size_t) {
      count_rows(counters[k], rows.row_range(first, count), groups, part);
    });
  }
  part.rows = joined(std::move(part.rows), more);
}

namespace {

void require_same_kind(const ProfileSpec& /*spec*/, const std::string& id, std::uint64_t rows_per_group,
                       const std::string& other_id, std::uint64_t other_rows_per_group) {
  if (id != other_id) {
    fail(ErrorCode::shape_mismatch,
         "the profiles were made by different specs, {} and {}: make one of them like the other", id, other_id);
  }
  if (rows_per_group != other_rows_per_group) {
    fail(ErrorCode::shape_mismatch, "the profiles have groups of {} and {} rows, expected the same size",
         rows_per_group, other_rows_per_group);
  }
}

}  // namespace

void Profile::merge(const Profile& other) {
  require_same_kind(*spec_, spec_id(), rows_per_group(), other.spec_id(), other.rows_per_group());
  for (const ProfilePart& part : other.state_->parts) {
    const auto at = place_of(state_->parts, part.sample);
    if (has(state_->parts, at, part.sample)) require_apart(at->rows, part.rows);
  }
  const Profile added(other);  // `other` may be this profile, which the check above refuses unless it is empty
  for (const ProfilePart& part : added.state_->parts) {
    const auto at = place_of(state_->parts, part.sample);
    if (!has(state_->parts, at, part.sample)) {
      state_->parts.insert(at, part);
      continue;
    }
    at->rows = joined(std::move(at->rows), part.rows);
    combine(at->counts, part.counts, std::plus<>());
    combine(at->sums, part.sums, std::plus<>());
  }
}

void Profile::subtract(const Profile& other) {
  require_same_kind(*spec_, spec_id(), rows_per_group(), other.spec_id(), other.rows_per_group());
  std::vector<ProfilePart> left = state_->parts;
  for (const ProfilePart& part : other.state_->parts) {
    const auto at = place_of(left, part.sample);
    if (!has(left, at, part.sample)) {
      fail(ErrorCode::invalid_option, "a sample of {} rows is to be taken away but is not in the profile",
           part.sample.num_rows);
    }
    at->rows = difference(at->rows, part.rows);
    combine(at->counts, part.counts, std::minus<>());
    combine(at->sums, part.sums, std::minus<>());
    if (at->rows.empty()) left.erase(at);
  }
  state_->parts = std::move(left);
}

void Profile::coarsen(std::uint64_t factor) {
  require_option(factor >= 1 && factor <= kMostGroups, "factor", factor,
                 fmt::format("a whole number in 1 .. {}", kMostGroups));
  const auto added = [&]<class T>(const Matrix<T>& fine, std::uint64_t num_groups) {
    Matrix<T> coarse(fine.cols() == 0 ? 0 : num_groups, fine.cols(), 0);
    for (std::size_t g = 0; g < coarse.rows() * factor; ++g) {
      for (std::size_t k = 0; k < fine.cols(); ++k) coarse(g / factor, k) += fine(g, k);
    }
    return coarse;
  };
  for (ProfilePart& part : state_->parts) {
    part.num_groups /= factor;
    for (auto& counts : part.counts) counts = added(counts, part.num_groups);
    for (auto& sums : part.sums) sums = added(sums, part.num_groups);
  }
  state_->factor *= factor;
}

void Profile::require_complete() const {
  for (const ProfilePart& part : state_->parts) {
    if (part.rows == std::vector<RowRange>{{0, part.sample.num_rows}}) continue;
    const RowRange missing{part.rows.front().first > 0 ? 0 : part.rows.front().last,
                           part.rows.front().first > 0 ? part.rows.front().first
                           : part.rows.size() > 1      ? part.rows[1].first
                                                       : part.sample.num_rows};
    fail(ErrorCode::invalid_option, "{} of a sample of {} rows are missing: merge the profiles of all its parts",
         row_text(missing), part.sample.num_rows);
  }
}

}  // namespace kqd
