// The file of a profile. Little endian:
//   "KQDPRF\r\n", u16 major version, u16 minor version
//   sections: four letters, u64 length, that many bytes, u32 CRC-32 of them
//     "SPEC" the spec; "GRPS" u64 factor; "PART" for each sample, in the order of their ids
//   "DONE", u32 CRC-32 of all bytes before it
// No time, no host, no order of reading: equal profiles have equal bytes.
#include <algorithm>
#include <utility>

#include "io/output_file.hpp"
#include "profile/profile_bytes.hpp"
#include "profile/profile_spec.hpp"
#include "profile/row_groups.hpp"

namespace kqd {
namespace {

constexpr std::string_view kMagic = "KQDPRF\r\n";
constexpr std::uint16_t kMajor = 2;
constexpr std::uint16_t kMinor = 0;

void write_part(ProfileWriter& out, const ProfilePart& part) {
  out.number(part.sample.id);
  out.number(part.sample.num_rows);
  out.packed(part.sources.size());
  for (const RowSource& source : part.sources) {
    out.text(source.name);
    out.packed(source.num_bytes);
    out.packed(source.num_rows);
  }
  out.packed(part.rows.size());
  for (const RowRange& range : part.rows) {
    out.packed(range.first);
    out.packed(range.last - range.first);
  }
  for (const std::uint32_t count : part.group_rows) out.packed(count);
  for (const auto& counts : part.counts) {
    for (const std::uint32_t count : counts.values()) out.packed(count);
  }
  for (const auto& sums : part.sums) {
    for (const std::int64_t sum : sums.values()) out.packed_signed(sum);
  }
  for (const auto& sums : part.bin_sums) {
    for (const std::int64_t sum : sums.values()) out.packed_signed(sum);
  }
}

// A sum of so many rows, each of which adds at most 2^30.
std::int64_t read_sum(ProfileReader& in, std::uint64_t num_rows) {
  const std::int64_t sum = in.packed_signed();
  const std::uint64_t size = sum < 0 ? 0 - static_cast<std::uint64_t>(sum) : static_cast<std::uint64_t>(sum);
  if (size > num_rows << 30U) fail_profile("a sum is larger than its rows allow");
  return sum;
}

// The parts of a sample, from which its extent follows.
std::vector<RowSource> read_sources(ProfileReader& in, const SampleExtent& sample) {
  constexpr std::size_t kFewestBytes = 4;
  std::vector<RowSource> sources(in.length(kFewestBytes));
  std::uint64_t num_rows = 0;
  for (RowSource& source : sources) {
    source = {in.text(), in.packed(), in.packed()};
    const bool in_order = &source == sources.data() || (&source - 1)->name < source.name;
    if (!in_order || source.name.empty() || source.name.size() > kLongestSourceName ||
        source.num_rows > sample.num_rows - num_rows) {
      fail_profile("the parts of a sample are not valid");
    }
    num_rows += source.num_rows;
  }
  if (!sources.empty() && (num_rows == 0 || SampleSources(sources).extent() != sample)) {
    fail_profile("the parts of a sample do not fit it");
  }
  return sources;
}

// The ranges of rows of a sample; returns how many rows they have.
std::uint64_t read_rows(ProfileReader& in, ProfilePart& part) {
  part.rows.resize(in.length(2));
  std::uint64_t end = 0;
  std::uint64_t num_rows = 0;
  for (RowRange& range : part.rows) {
    range.first = in.packed();
    const std::uint64_t count = in.packed();
    const bool joins = &range != &part.rows.front() && range.first == end;
    if (range.first < end || joins || count == 0 || count > part.sample.num_rows ||
        range.first > part.sample.num_rows - count) {
      fail_profile("the rows of a sample overlap or are out of range");
    }
    end = range.last = range.first + count;
    num_rows += count;
  }
  if (part.rows.empty()) fail_profile("a sample has no rows");
  return num_rows;
}

// Memory of the counts and sums of a part with so many groups, and the fewest bytes of them in a file.
struct PartSize {
  std::size_t memory = 0;
  std::size_t least_bytes = 0;
};

PartSize size_of_part(const ProfileSpec& spec, std::uint64_t num_groups) {
  PartSize size;
  const auto add = [&](std::size_t cells, std::size_t bytes) {
    size.memory += cells * bytes;
    size.least_bytes += cells;
  };
  const std::size_t rows = num_groups + 1;
  add(rows, sizeof(std::uint32_t));
  for (const ProfiledFunctions& functions : spec.functions) {
    for (const LineGrid& grid : functions.lines) add(rows * grid.num_bins(), sizeof(std::uint32_t));
    if (functions.sums) add(rows * functions.set.count(), sizeof(std::int64_t));
    add(functions.line_exponents.size() * LineGrid::kMostBins, sizeof(std::int64_t));
  }
  return size;
}

void read_counts(ProfileReader& in, const ProfilePart& part, Matrix<std::uint32_t>& counts) {
  for (std::size_t g = 0; g < counts.rows(); ++g) {
    std::uint64_t total = 0;
    for (std::uint32_t& count : counts.row(g)) {
      const std::uint64_t value = in.packed();
      total += value;
      if (value > part.group_rows[g] || total > part.group_rows[g]) fail_profile("a count is larger than its group");
      count = static_cast<std::uint32_t>(value);
    }
    // Every line counts all rows of the group.
    if (total != part.group_rows[g]) fail_profile("directions count different numbers of rows");
  }
}

void read_bin_sums(ProfileReader& in, const Matrix<std::uint32_t>& counts, std::span<std::int64_t> sums) {
  for (std::size_t b = 0; b < sums.size(); ++b) {
    std::uint64_t rows = 0;
    for (std::size_t g = 0; g < counts.rows() && b < counts.cols(); ++g) rows += counts(g, b);
    sums[b] = read_sum(in, rows);
  }
}

// Memory that a profile may still take.
struct Room {
  std::size_t allowed = 0;
  std::size_t left = 0;
};

void take(Room& room, std::size_t bytes) {
  if (bytes > room.left) {
    fail(ErrorCode::resource_limit, "the profile takes more memory than the {} MB allowed", room.allowed >> 20U);
  }
  room.left -= bytes;
}

ProfilePart read_part(ProfileReader& in, const ProfileSpec& spec, std::uint64_t factor, Room& room) {
  SampleExtent sample;
  sample.id = in.number<std::uint64_t>();
  sample.num_rows = in.number<std::uint64_t>();
  if (sample.num_rows > kMostRowsOfSample) fail_profile("a sample has too many rows");
  const PartSize size = size_of_part(spec, groups_of_sample(spec, sample) / factor);
  take(room, size.memory);
  if (size.least_bytes > in.size()) fail_profile("it ends too early");
  ProfilePart part = empty_part(spec, sample, factor);
  part.sources = read_sources(in, sample);
  const std::uint64_t num_rows = read_rows(in, part);
  // Only keys and blocks can have more rows in a group than it is meant to have.
  const std::uint64_t group_size =
      spec.rule.assignment == GroupAssignment::random ? spec.rows_per_group * factor : kMostRowsOfSample;
  std::uint64_t counted = 0;
  for (std::size_t g = 0; g <= part.num_groups; ++g) {
    const std::uint64_t rows = in.packed();
    if (rows > num_rows || (g < part.num_groups && rows > group_size)) {
      fail_profile("a group has the wrong number of rows");
    }
    part.group_rows[g] = static_cast<std::uint32_t>(rows);
    counted += rows;
  }
  if (counted > num_rows) fail_profile("more rows are counted than were read");
  for (auto& counts : part.counts) read_counts(in, part, counts);
  for (auto& sums : part.sums) {
    for (std::size_t g = 0; g < sums.rows(); ++g) {
      for (std::int64_t& sum : sums.row(g)) sum = read_sum(in, part.group_rows[g]);
    }
  }
  std::size_t line = 0;
  for (std::size_t set = 0; set < spec.functions.size(); ++set) {
    auto& sums = part.bin_sums[set];
    for (std::size_t k = 0; k < sums.rows(); ++k) read_bin_sums(in, part.counts[line + k], sums.row(k));
    line += spec.functions[set].lines.size();
  }
  return part;
}

// Samples are in the order of their extents, those of one extent complete and in the order of their totals.
bool follows(const ProfilePart& part, const ProfilePart& before) {
  if (before.sample != part.sample) return before.sample < part.sample;
  return is_complete(before) && is_complete(part) && compare_totals(before, part) < 0;
}

// The sections behind the spec.
void read_parts(ProfileReader& body, const ProfileSpec& spec, const ProfileLimits& limits, std::uint64_t& num_factor,
                std::vector<ProfilePart>& parts) {
  ProfileReader factor(body.section("GRPS"));
  num_factor = factor.number<std::uint64_t>();
  factor.require_end("the section GRPS");
  if (num_factor == 0 || num_factor > kMostGroups) fail_profile("groups were added up in an impossible number");
  Room room{limits.max_bytes, limits.max_bytes};
  std::vector<SampleExtent> samples;
  while (!body.empty()) {
    ProfileReader content(body.section("PART"));
    ProfilePart part = read_part(content, spec, num_factor, room);
    content.require_end("a sample");
    if (!parts.empty() && !follows(part, parts.back())) fail_profile("samples are not in order");
    samples.push_back(part.sample);
    parts.push_back(std::move(part));
  }
  if (num_factor % groups_at_a_time(spec, samples) != 0) fail_profile("it has too many groups");
}

}  // namespace

std::string ProfileAccess::bytes_of_rows(const Profile& profile) {
  ProfileWriter out;
  ProfileWriter factor;
  factor.number(profile.state_->factor);
  out.section("GRPS", factor.bytes());
  for (const ProfilePart& part : profile.state_->parts) {
    ProfileWriter content;
    write_part(content, part);
    out.section("PART", content.bytes());
  }
  return std::move(out.bytes());
}

std::string Profile::serialize() const {
  ProfileWriter out;
  out.raw(kMagic);
  out.number(kMajor);
  out.number(kMinor);
  out.section("SPEC", state_->spec_bytes);
  out.raw(ProfileAccess::bytes_of_rows(*this));
  out.raw("DONE");
  out.number(checksum_of(out.bytes()));
  return std::move(out.bytes());
}

Profile Profile::deserialize(std::string_view bytes, const ProfileLimits& limits) {
  constexpr std::size_t kTrailer = 8;
  ProfileReader in(bytes);
  if (bytes.size() < kMagic.size() || in.raw(kMagic.size()) != kMagic) fail_profile("it does not begin as one");
  const auto major = in.number<std::uint16_t>();
  const auto minor = in.number<std::uint16_t>();
  if (major != kMajor || minor > kMinor) {
    fail_profile(fmt::format("it has format {}.{}, this version reads {}.x", major, minor, kMajor));
  }
  if (in.size() < kTrailer) fail_profile("it ends too early");
  ProfileReader trailer(bytes.substr(bytes.size() - kTrailer));
  if (trailer.raw(4) != "DONE") fail_profile("it ends too early");
  if (trailer.number<std::uint32_t>() != checksum_of(bytes.substr(0, bytes.size() - 4)))
    fail_profile("its checksum is wrong");
  ProfileReader body(bytes.substr(kMagic.size() + 4, bytes.size() - kMagic.size() - 4 - kTrailer));
  State state;
  state.spec_bytes = body.section("SPEC");
  auto spec = std::make_shared<const ProfileSpec>(read_spec(state.spec_bytes));
  if (kqd::spec_bytes(*spec) != state.spec_bytes) fail_profile("its spec is not in the usual form");
  read_parts(body, *spec, limits, state.factor, state.parts);
  return ProfileAccess::make(std::move(spec), std::move(state));
}

Profile ProfileAccess::with_rows(const Profile& like, std::string_view bytes, const ProfileLimits& limits) {
  Profile::State state;
  state.spec_bytes = like.state_->spec_bytes;
  ProfileReader body(bytes);
  read_parts(body, *like.spec(), limits, state.factor, state.parts);
  return make(like.spec(), std::move(state));
}

void Profile::save(const std::string& path) const {
  // A file that could not be read again is not written.
  const std::size_t allowed = ProfileLimits{}.max_bytes;
  Room room{allowed, allowed};
  for (const ProfilePart& part : state_->parts) take(room, size_of_part(*spec_, part.num_groups).memory);
  OutputFile file(path);
  file.write(serialize());
  file.commit();
}

Profile Profile::load(const std::string& path, const ProfileLimits& limits) {
  const std::string bytes = read_bytes(path, 2 * static_cast<std::uint64_t>(limits.max_bytes));
  try {
    return deserialize(bytes, limits);
  } catch (const Error& error) {
    fail_at(error.code(), path, error.what());
  }
}

}  // namespace kqd
