#include "kqd/profile/profile.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "kqd/io/printable.hpp"
#include "profile/profile_spec.hpp"
#include "profile/row_counter.hpp"
#include "profile/row_groups.hpp"

namespace kqd {
namespace {

constexpr std::size_t kRowsAtATime = 8192;

// "rows 1 to 1000", counted from 1 as in messages about files.
std::string row_text(const RowRange& rows) {
  return rows.last - rows.first == 1 ? fmt::format("row {}", rows.last)
                                     : fmt::format("rows {} to {}", rows.first + 1, rows.last);
}

// "rows 1 to 1000 of jan/a.csv", in the first part that has some of them; "... of a sample" where parts have no names.
std::string row_text(const RowRange& rows, const std::vector<RowSource>& sources) {
  std::uint64_t first = 0;
  for (const RowSource& source : sources) {
    const std::uint64_t last = first + source.num_rows;
    if (rows.first < last) {
      return fmt::format("{} of {}", row_text({rows.first - first, std::min(rows.last, last) - first}),
                         printable(source.name));
    }
    first = last;
  }
  return row_text(rows) + " of a sample";
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

void require_apart(const ProfilePart& there, const std::vector<RowRange>& more) {
  if (const RowRange both = overlap(there.rows, more); both.first < both.last) {
    fail(ErrorCode::invalid_option, "{} would be counted twice: each row may be in one of the profiles only",
         row_text(both, there.sources));
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

template <class Combine>
void combine(ProfilePart& into, const ProfilePart& from, const Combine& function) {
  const auto combine_values = [&](auto&& a, auto&& b) { std::ranges::transform(a, b, a.begin(), function); };
  const auto combine_all = [&](auto& a, const auto& b) {
    for (std::size_t k = 0; k < a.size(); ++k) combine_values(a[k].values(), b[k].values());
  };
  combine_values(into.group_rows, from.group_rows);
  combine_all(into.counts, from.counts);
  combine_all(into.sums, from.sums);
  combine_all(into.bin_sums, from.bin_sums);
}

// Rows that are taken away must have been counted as they were before; a file may claim otherwise.
void require_counted(const ProfilePart& part, const ProfilePart& less) {
  for (std::size_t k = 0; k < part.counts.size(); ++k) {
    const auto there = part.counts[k].values();
    const auto taken = less.counts[k].values();
    if (std::equal(taken.begin(), taken.end(), there.begin(), std::less_equal<>())) continue;
    fail(ErrorCode::invalid_option, "rows of a sample are to be taken away that were counted in other groups or bins");
  }
}

const CountedFunctions& made(std::shared_ptr<const CountedFunctions>& functions, const ProfileSpec& spec) {
  if (!functions) functions = std::make_shared<const CountedFunctions>(spec);
  return *functions;
}

std::vector<ProfilePart>::iterator place_of(std::vector<ProfilePart>& parts, const SampleExtent& sample) {
  return std::ranges::lower_bound(parts, sample, {}, &ProfilePart::sample);
}

// Calls a function with every total of a part in a fixed order, until it returns false.
template <class Function>
void visit_totals(const ProfilePart& part, const Function& function) {
  const auto visit = [&](const auto& matrix) {
    for (std::size_t k = 0; k < matrix.cols(); ++k) {
      std::int64_t total = 0;
      for (std::size_t g = 0; g < matrix.rows(); ++g) total += static_cast<std::int64_t>(matrix(g, k));
      if (!function(total)) return false;
    }
    return true;
  };
  for (const auto& counts : part.counts) {
    if (!visit(counts)) return;
  }
  for (const auto& sums : part.sums) {
    if (!visit(sums)) return;
  }
  for (const auto& sums : part.bin_sums) {
    if (!std::ranges::all_of(sums.values(), function)) return;
  }
}

std::vector<SampleExtent> extents_of(const std::vector<ProfilePart>& parts) {
  std::vector<SampleExtent> extents;
  for (const ProfilePart& part : parts) extents.push_back(part.sample);
  return extents;
}

// Groups that are added up for another reason than that there are many samples.
std::uint64_t own_factor(const Profile& profile) {
  const auto& state = ProfileAccess::state(profile);
  return state.factor / groups_at_a_time(*profile.spec(), extents_of(state.parts));
}

void coarsen_to(Profile& profile, std::uint64_t factor) {
  const std::uint64_t now = ProfileAccess::state(profile).factor;
  if (factor > now) profile.coarsen(factor / now);
}

// Adds groups up as the profile needs it with one more sample, unless rows of it are there.
void make_room(Profile& profile, const SampleExtent& sample) {
  std::vector<SampleExtent> all = extents_of(ProfileAccess::state(profile).parts);
  if (std::ranges::find(all, sample) != all.end()) return;
  all.push_back(sample);
  coarsen_to(profile, own_factor(profile) * groups_at_a_time(*profile.spec(), all));
}

// The parts of a sample, which are neighbours.
template <class Parts>
auto parts_of(Parts& parts, const SampleExtent& sample) {
  const auto first = std::ranges::lower_bound(parts, sample, {}, &ProfilePart::sample);
  const auto last = std::ranges::upper_bound(parts, sample, {}, &ProfilePart::sample);
  return std::span(parts.data() + (first - parts.begin()), static_cast<std::size_t>(last - first));
}

// The part that more rows of a sample belong to; none: they are a part of their own. Throws for rows that are in it.
ProfilePart* part_of(std::vector<ProfilePart>& parts, const ProfilePart& more) {
  for (ProfilePart& there : parts_of(parts, more.sample)) {
    if (is_complete(there) && is_complete(more) && compare_totals(there, more) != 0) continue;
    require_apart(there, more.rows);
    return &there;
  }
  return nullptr;
}

void insert_part(std::vector<ProfilePart>& parts, const ProfilePart& part) {
  const auto before = [](const ProfilePart& a, const ProfilePart& b) {
    return a.sample != b.sample ? a.sample < b.sample : compare_totals(a, b) < 0;
  };
  parts.insert(std::upper_bound(parts.begin(), parts.end(), part, before), part);
}

bool has(const std::vector<ProfilePart>& parts, std::vector<ProfilePart>::const_iterator at,
         const SampleExtent& sample) {
  return at != parts.end() && at->sample == sample;
}

std::uint64_t rows_in(const std::vector<RowRange>& ranges) {
  std::uint64_t total = 0;
  for (const RowRange& range : ranges) total += range.last - range.first;
  return total;
}

}  // namespace

bool is_complete(const ProfilePart& part) {
  return part.rows == std::vector<RowRange>{{0, part.sample.num_rows}};
}

std::strong_ordering compare_totals(const ProfilePart& a, const ProfilePart& b) {
  std::vector<std::int64_t> of_a;
  visit_totals(a, [&](std::int64_t total) {
    of_a.push_back(total);
    return true;
  });
  std::strong_ordering order = std::strong_ordering::equal;
  std::size_t k = 0;
  visit_totals(b, [&](std::int64_t total) {
    order = of_a[k++] <=> total;
    return order == 0;
  });
  return order;
}

ProfilePart empty_part(const ProfileSpec& spec, const SampleExtent& sample, std::uint64_t factor) {
  ProfilePart part{.sample = sample,
                   .sources = {},
                   .rows = {},
                   .num_groups = groups_of_sample(spec, sample) / factor,
                   .group_rows = {},
                   .counts = {},
                   .sums = {},
                   .bin_sums = {}};
  const std::size_t rows = part.num_groups + 1;
  part.group_rows.assign(rows, 0);
  for (const ProfiledFunctions& functions : spec.functions) {
    for (const LineGrid& grid : functions.lines) part.counts.emplace_back(rows, grid.num_bins(), 0U);
    part.sums.emplace_back(functions.sums ? rows : 0, functions.sums ? functions.set.count() : 0, 0);
    part.bin_sums.emplace_back(functions.line_exponents.size(),
                               functions.line_exponents.empty() ? 0 : LineGrid::kMostBins, 0);
  }
  return part;
}

std::uint64_t groups_of_sample(const ProfileSpec& spec, const SampleExtent& sample) {
  return std::min<std::uint64_t>(kMostGroups, (sample.num_rows - spec.rows_held_out(sample)) / spec.rows_per_group);
}

std::uint64_t groups_at_a_time(const ProfileSpec& spec, std::span<const SampleExtent> samples) {
  constexpr std::uint64_t kFewestOfLargest = 8;
  std::vector<std::uint64_t> groups;
  for (const SampleExtent& sample : samples) groups.push_back(groups_of_sample(spec, sample));
  const std::uint64_t most = groups.empty() ? 0 : std::ranges::max(groups);
  std::uint64_t factor = 1;
  const auto total = [&] {
    return std::accumulate(groups.begin(), groups.end(), std::uint64_t{0},
                           [&](std::uint64_t sum, std::uint64_t count) { return sum + count / factor; });
  };
  while (total() > kMostGroups && most / (2 * factor) >= kFewestOfLargest) factor *= 2;
  return factor;
}

std::uint64_t ProfileSpec::rows_held_out(const SampleExtent& sample) const {
  const auto found = std::ranges::find(held_out, sample, &HeldOutRows::sample);
  return found == held_out.end() ? 0 : std::min(found->rows, sample.num_rows);
}

RowCounter ProfileAccess::counter(Profile& profile, const SampleExtent& sample) {
  make_room(profile, sample);
  Profile::State& state = *profile.state_;
  const auto at = place_of(state.parts, sample);
  if (has(state.parts, at, sample)) require_apart(*at, {{0, sample.num_rows}});
  ProfilePart& part = *state.parts.insert(at, empty_part(*profile.spec_, sample, state.factor));
  part.rows = {{0, sample.num_rows}};
  return {*profile.spec_, made(state.functions, *profile.spec_), profile.rows_per_group(), part};
}

std::string ProfileAccess::rows_in_both(const Profile& x, const Profile& y) {
  for (const ProfilePart& part : x.state_->parts) {
    for (const ProfilePart& other : parts_of(y.state_->parts, part.sample)) {
      const RowRange both = overlap(part.rows, other.rows);
      if (both.first == both.last) continue;
      if (is_complete(part) && is_complete(other) && compare_totals(part, other) != 0) continue;
      return row_text(both, part.sources.empty() ? other.sources : part.sources);
    }
  }
  return "";
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
const GroupRule& Profile::group_rule() const {
  return spec_->rule;
}
Profile Profile::without_rows() const {
  Profile none(spec_);
  none.coarsen(own_factor(*this));
  return none;
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

std::uint64_t Profile::num_counted() const {
  std::uint64_t total = 0;
  for (const ProfilePart& part : state_->parts) {
    total = std::accumulate(part.group_rows.begin(), part.group_rows.end(), total);
  }
  return total;
}

std::vector<RowSource> Profile::sources(const SampleExtent& sample) const {
  const auto at = std::ranges::find(state_->parts, sample, &ProfilePart::sample);
  return at == state_->parts.end() ? std::vector<RowSource>{} : at->sources;
}

void Profile::name_sources(const SampleSources& sources) {
  const auto at = place_of(state_->parts, sources.extent());
  if (!has(state_->parts, at, sources.extent())) {
    fail(ErrorCode::invalid_option, "no row of the named parts, {} rows, is in the profile", sources.extent().num_rows);
  }
  for (ProfilePart& part : parts_of(state_->parts, sources.extent())) {
    part.sources = sources.list();
  }
}

std::vector<SampleExtent> Profile::samples() const {
  std::vector<SampleExtent> samples;
  for (const ProfilePart& part : state_->parts) samples.push_back(part.sample);
  return samples;
}

namespace {

// The rows of the sample that a block stands for.
RowRange rows_of_block(const ProfileSpec& spec, const SampleExtent& sample, const RowBlock& block) {
  const std::size_t count = block.rows.rows();
  if (block.rows.cols() != spec.num_columns && count > 0) {
    fail(ErrorCode::shape_mismatch, "the rows have {} columns, the profile has {}", block.rows.cols(),
         spec.num_columns);
  }
  if (sample.num_rows > kMostRowsOfSample) {
    fail(ErrorCode::resource_limit,
         "a sample of {} rows, at most {} are one sample of a profile: make profiles of its parts and merge them",
         sample.num_rows, kMostRowsOfSample);
  }
  const std::uint64_t num_read = block.num_read == 0 ? count : block.num_read;
  if (block.first_row >= sample.num_rows || num_read > sample.num_rows - block.first_row) {
    fail(ErrorCode::invalid_option, "{} are beyond the sample, which has {} rows",
         row_text({block.first_row, block.first_row + num_read}), sample.num_rows);
  }
  const RowRange range{block.first_row, block.first_row + num_read};
  const bool numbered = !block.numbers.empty() || num_read != count;
  const bool apart = block.scattered && (block.numbers.empty() || block.numbers.size() == count) &&
                     std::ranges::all_of(block.numbers, [&](std::uint64_t k) { return k < sample.num_rows; });
  const bool fits = apart || !numbered ||
                    (block.numbers.size() == count &&
                     std::ranges::adjacent_find(block.numbers, std::greater_equal<>()) == block.numbers.end() &&
                     (count == 0 || (block.numbers.front() >= range.first && block.numbers.back() < range.last)));
  if (!fits) {
    fail(ErrorCode::shape_mismatch, "{} rows of {} need as many ascending numbers in that range", count,
         row_text(range));
  }
  const bool needs_keys = spec.rule.assignment != GroupAssignment::random;
  if (block.keys.size() != (needs_keys ? count : 0)) {
    fail(ErrorCode::shape_mismatch, "{} rows with {} keys, expected {} because groups are assigned by {}", count,
         block.keys.size(), needs_keys ? count : 0, to_string(spec.rule));
  }
  const bool ranks = spec.rule.assignment == GroupAssignment::blocks;
  if (ranks && std::ranges::any_of(block.keys, [&](std::uint64_t rank) { return rank >= sample.num_rows; })) {
    fail(ErrorCode::invalid_option, "the rank of a row is beyond the sample, which has {} rows", sample.num_rows);
  }
  return range;
}

}  // namespace

void Profile::update(const SampleExtent& sample, const RowBlock& block, ThreadCount threads) {
  const MatrixView<const double> rows = block.rows;
  if (rows.rows() == 0 && block.num_read == 0) return;
  const std::vector<RowRange> more = {rows_of_block(*spec_, sample, block)};
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    if (std::ranges::all_of(rows.row(i), [](double v) { return std::isfinite(v); })) continue;
    const std::uint64_t number = block.numbers.empty() ? block.first_row + i : block.numbers[i];
    fail(ErrorCode::non_finite_value, "row {} has a value that is not a finite number", number + 1);
  }
  auto at = place_of(state_->parts, sample);
  if (has(state_->parts, at, sample)) {
    require_apart(*at, more);
  } else {
    make_room(*this, sample);
    at = state_->parts.insert(at, empty_part(*spec_, sample, state_->factor));
  }
  ProfilePart& part = *at;
  RowCounter counter(*spec_, made(state_->functions, *spec_), rows_per_group(), part);
  parallel_for_blocks(rows.rows(), kRowsAtATime, threads, [&](std::size_t begin, std::size_t end) {
    RowBlock some = block;
    some.rows = rows.row_range(begin, end - begin);
    some.first_row += begin;
    if (!block.numbers.empty()) some.numbers = block.numbers.subspan(begin, end - begin);
    if (!block.keys.empty()) some.keys = block.keys.subspan(begin, end - begin);
    counter.count(some);
  });
  part.rows = joined(std::move(part.rows), more);
}

namespace {

void require_same_spec(const Profile& a, const Profile& b) {
  if (a.spec_id() == b.spec_id()) return;
  fail(ErrorCode::shape_mismatch,
       "the profiles were made by different specs, {} and {}: make one of them like the other", a.spec_id(),
       b.spec_id());
}

}  // namespace

void Profile::merge(const Profile& other) {
  require_same_spec(*this, other);
  std::vector<SampleExtent> samples = extents_of(state_->parts);
  for (const ProfilePart& part : other.state_->parts) {
    if (part_of(state_->parts, part) == nullptr) samples.push_back(part.sample);
  }
  Profile added(other);  // `other` may be this profile, which the check above refuses unless it is empty
  const std::uint64_t factor = std::lcm(own_factor(*this), own_factor(other)) * groups_at_a_time(*spec_, samples);
  coarsen_to(added, factor);
  coarsen_to(*this, factor);
  for (const ProfilePart& part : added.state_->parts) {
    ProfilePart* const there = part_of(state_->parts, part);
    if (there == nullptr) {
      insert_part(state_->parts, part);
      continue;
    }
    there->rows = joined(std::move(there->rows), part.rows);
    if (there->sources.empty()) there->sources = part.sources;
    combine(*there, part, std::plus<>());
  }
}

void Profile::append(const Profile& other) {
  Profile added(other);
  for (ProfilePart& part : added.state_->parts) {
    const auto at = place_of(state_->parts, part.sample);
    const std::uint64_t first = has(state_->parts, at, part.sample) && !at->rows.empty() ? at->rows.back().last : 0;
    for (RowRange& range : part.rows) {
      range = {range.first + first, range.last + first};
      if (range.last > part.sample.num_rows) {
        fail(ErrorCode::invalid_option, "there are more than the {} rows of the sample: some would be counted twice",
             part.sample.num_rows);
      }
    }
  }
  merge(added);
}

void Profile::subtract(const Profile& other) {
  require_same_spec(*this, other);
  Profile less(other);
  Profile left(*this);
  const std::uint64_t factor = std::lcm(state_->factor, less.state_->factor);
  coarsen_to(less, factor);
  coarsen_to(left, factor);
  std::vector<ProfilePart>& parts = left.state_->parts;
  for (const ProfilePart& part : less.state_->parts) {
    const std::span<ProfilePart> same = parts_of(parts, part.sample);
    auto at = same.begin();
    if (same.size() > 1) {
      at = std::ranges::find_if(same, [&](const ProfilePart& there) { return compare_totals(there, part) == 0; });
    }
    if (at == same.end()) {
      fail(ErrorCode::invalid_option, "a sample of {} rows is to be taken away but is not in the profile",
           part.sample.num_rows);
    }
    at->rows = difference(at->rows, part.rows);
    require_counted(*at, part);
    combine(*at, part, std::minus<>());
    if (at->rows.empty()) parts.erase(parts.begin() + (&*at - parts.data()));
  }
  *this = std::move(left);
}

void Profile::coarsen(std::uint64_t factor) {
  require_option(factor >= 1 && factor <= kMostGroups, "factor", factor,
                 fmt::format("a whole number in 1 .. {}", kMostGroups));
  if (state_->factor > kMostGroups / factor) {
    fail(ErrorCode::invalid_option,
         "groups of {} rows are to be added up, {} at a time: at most {} of the first groups can be one",
         rows_per_group(), factor, kMostGroups);
  }
  const auto added = [&]<class T>(const Matrix<T>& fine, std::uint64_t num_groups) {
    Matrix<T> coarse(fine.cols() == 0 ? 0 : num_groups + 1, fine.cols(), 0);
    for (std::size_t g = 0; g < fine.rows(); ++g) {
      const bool in_none = g + 1 == fine.rows();
      const auto into = coarse.row(in_none ? num_groups : std::min<std::uint64_t>(g / factor, num_groups));
      for (std::size_t k = 0; k < fine.cols(); ++k) into[k] += fine(g, k);
    }
    return coarse;
  };
  for (ProfilePart& part : state_->parts) {
    const std::uint64_t fine = part.num_groups;
    part.num_groups /= factor;
    std::vector<std::uint32_t> rows(part.num_groups + 1, 0);
    for (std::size_t g = 0; g <= fine; ++g) {
      rows[g == fine ? part.num_groups : std::min<std::uint64_t>(g / factor, part.num_groups)] += part.group_rows[g];
    }
    part.group_rows = std::move(rows);
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
