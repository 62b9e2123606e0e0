// The file of a monitor. Little endian, as that of a profile:
//   "KQDMON\r\n", u16 major version, u16 minor version
//   sections "OPTS", "FROM" the source, "BASE" the baseline, "SIZE", "NTRY" for each batch, "RCNT" for each batch of a
//   rolling baseline, "UNIT" for each unit of the alarm; "DONE", u32 CRC-32 of all bytes before it
// Profiles are compressed; all but the baseline are kept without their spec.
#include <zlib.h>

#include <utility>

#include "io/byte_format.hpp"
#include "io/output_file.hpp"
#include "kqd/monitor/monitor.hpp"
#include "monitor/packed_profile.hpp"
#include "profile/profile_spec.hpp"

namespace kqd {
namespace {

constexpr std::string_view kMagic = "KQDMON\r\n";
constexpr std::uint16_t kMajor = 2;
constexpr std::uint16_t kMinor = 0;
constexpr std::string_view kKind = "state of a monitor";
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 32U;
constexpr std::uint64_t kMostExpanded = std::uint64_t{1} << 30U;  // bytes of one profile

[[noreturn]] void fail_state(const std::string& problem) {
  fail(ErrorCode::unreadable_input, "not a valid {}: {}", kKind, problem);
}

std::string options_bytes(const MonitorOptions& options, double threshold) {
  ByteWriter out;
  out.text(options.test.method);
  out.real(options.test.test.alpha);
  out.packed(static_cast<std::uint64_t>(options.test.test.num_permutations));
  out.number(options.test.statistic.seed.value);
  out.text(to_string(options.adjustment));
  out.text(to_string(options.baseline));
  out.real(options.alarm.alpha);
  out.packed(options.alarm.average_run_length ? 1 : 0);
  if (options.alarm.average_run_length) out.real(*options.alarm.average_run_length);
  out.real(threshold);
  out.packed(static_cast<std::uint64_t>(options.test.margin.kind));
  out.real(options.test.margin.margin);
  return std::move(out.bytes());
}

MonitorOptions read_options(std::string_view bytes) {
  constexpr std::uint64_t kMostAsked = 1'000'000'000;
  ByteReader in(bytes, kKind);
  MonitorOptions options;
  options.test.method = in.text();
  options.test.test.alpha = in.real();
  const std::uint64_t permutations = in.packed();
  if (permutations > kMostAsked) fail_state("it asks for too many permutations");
  options.test.test.num_permutations = static_cast<std::int64_t>(permutations);
  options.test.statistic.seed.value = in.number<std::uint64_t>();
  options.adjustment = parse_adjustment(in.text());
  options.baseline = parse_baseline_rule(in.text());
  options.alarm.alpha = in.real();
  if (in.packed() == 1) options.alarm.average_run_length = in.real();
  if (const double threshold = in.real(); options.alarm.average_run_length) options.alarm.threshold = threshold;
  const std::uint64_t kind = in.packed();
  if (kind > static_cast<std::uint64_t>(MarginKind::equivalent)) fail_state("its margin is of no known kind");
  options.test.margin.kind = static_cast<MarginKind>(kind);
  options.test.margin.margin = in.real();
  if (options.test.margin.given() && !(options.test.margin.margin > 0.0)) fail_state("its margin is not above 0");
  in.require_end("the section OPTS");
  return options;
}

void write_interval(ByteWriter& out, const std::optional<Interval>& interval) {
  out.packed(interval ? 1 : 0);
  if (!interval) return;
  out.real(interval->lower);
  out.real(interval->upper);
}

std::string source_bytes(const MonitorSource& source) {
  ByteWriter out;
  out.text(source.baseline_name);
  out.packed(source.baseline_inputs.size());
  for (const std::string& name : source.baseline_inputs) out.text(name);
  out.packed(source.settings.size());
  for (const auto& [id, value] : source.settings) {
    out.text(id);
    out.text(value);
  }
  out.packed(source.encoding ? 1 : 0);
  if (source.encoding) out.text(source.encoding->serialize());
  return std::move(out.bytes());
}

MonitorSource read_source(std::string_view bytes) {
  ByteReader in(bytes, kKind);
  MonitorSource source{.baseline_name = in.text()};
  source.baseline_inputs.resize(in.length(1));
  for (std::string& name : source.baseline_inputs) name = in.text();
  source.settings.resize(in.length(2));
  for (auto& [id, value] : source.settings) {
    id = in.text();
    value = in.text();
  }
  if (in.packed() == 1) source.encoding = TableEncoding::deserialize(in.text());
  in.require_end("the section FROM");
  return source;
}

void write_warnings(ByteWriter& out, const Warnings& warnings) {
  out.packed(warnings.size());
  for (const Warning& warning : warnings) {
    out.text(warning_name(warning.id));
    out.packed(warning.values.size());
    for (const WarningValue& value : warning.values) {
      out.packed(value.index());
      if (const auto* whole = std::get_if<std::int64_t>(&value)) out.packed_signed(*whole);
      if (const auto* number = std::get_if<double>(&value)) out.real(*number);
      if (const auto* text = std::get_if<std::string>(&value)) out.text(*text);
    }
  }
}

Warnings read_warnings(ByteReader& in) {
  Warnings warnings(in.length(2));
  for (Warning& warning : warnings) {
    warning.id = parse_warning(in.text());
    warning.values.resize(in.length(2));
    for (WarningValue& value : warning.values) {
      const std::uint64_t kind = in.packed();
      if (kind == 0) value = in.packed_signed();
      if (kind == 1) value = in.real();
      if (kind == 2) value = in.text();
      if (kind > 2) fail_state("a warning has a value of no known kind");
    }
  }
  return warnings;
}

double read_pvalue(ByteReader& in) {
  const double pvalue = in.real();
  if (!(pvalue >= 0.0 && pvalue <= 1.0)) fail_state("a p-value is not in [0, 1]");
  return pvalue;
}

std::string entry_bytes(const MonitorEntry& entry) {
  ByteWriter out;
  out.text(entry.name);
  out.packed(entry.num_rows);
  out.real(entry.statistic);
  out.real(entry.pvalue);
  out.real(entry.effect_size);
  write_interval(out, entry.effect_interval);
  out.packed(entry.margin ? 1 : 0);
  if (entry.margin) {
    out.real(entry.margin->pvalue_beyond);
    out.real(entry.margin->pvalue_within);
  }
  out.text(entry.changed);
  out.packed(entry.columns.size());
  for (const MonitoredColumn& column : entry.columns) {
    out.text(column.name);
    out.text(column.level);
    out.real(column.effect);
    out.real(column.shift);
    out.real(column.pvalue_adjusted);
  }
  out.packed(entry.relations.size());
  for (const MonitoredRelation& relation : entry.relations) {
    out.text(relation.first);
    out.text(relation.second);
    out.real(relation.score);
    out.real(relation.pvalue_adjusted);
  }
  out.packed(entry.alarm_pvalue ? 1 : 0);
  if (entry.alarm_pvalue) out.real(*entry.alarm_pvalue);
  write_warnings(out, entry.warnings);
  return std::move(out.bytes());
}

MonitorEntry read_entry(std::string_view bytes) {
  ByteReader in(bytes, kKind);
  MonitorEntry entry{.name = in.text()};
  entry.num_rows = in.packed();
  entry.statistic = in.real();
  entry.pvalue = read_pvalue(in);
  if (!(entry.pvalue > 0.0)) fail_state("a p-value is 0");
  entry.effect_size = in.real();
  if (in.packed() == 1) {
    const double lower = in.real();
    entry.effect_interval = Interval{lower, in.real()};
  }
  if (in.packed() == 1) {
    const double beyond = read_pvalue(in);
    entry.margin = BatchMargin{.pvalue_beyond = beyond, .pvalue_within = read_pvalue(in)};
  }
  entry.changed = in.text();
  constexpr std::size_t kFewestBytes = 18;
  entry.columns.resize(in.length(kFewestBytes));
  for (MonitoredColumn& column : entry.columns) {
    column.name = in.text();
    column.level = in.text();
    column.effect = in.real();
    column.shift = in.real();
    column.pvalue_adjusted = in.real();
  }
  entry.relations.resize(in.length(kFewestBytes));
  for (MonitoredRelation& relation : entry.relations) {
    relation.first = in.text();
    relation.second = in.text();
    relation.score = in.real();
    relation.pvalue_adjusted = in.real();
  }
  if (in.packed() == 1) {
    entry.alarm_pvalue = read_pvalue(in);
    if (!(*entry.alarm_pvalue > 0.0)) fail_state("a p-value is 0");
  }
  entry.warnings = read_warnings(in);
  in.require_end("a batch");
  return entry;
}

}  // namespace

std::string compressed(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  // NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast)
  const int status = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), Z_DEFAULT_COMPRESSION);
  // NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
  if (status != Z_OK) fail(ErrorCode::internal, "zlib could not compress {} bytes", bytes.size());
  out.resize(size);
  ByteWriter whole;
  whole.packed(bytes.size());
  whole.raw(out);
  return std::move(whole.bytes());
}

std::string expanded(std::string_view bytes) {
  ByteReader in(bytes, kKind);
  const std::uint64_t size = in.packed();
  if (size > kMostExpanded) fail_state("a profile is larger than allowed");
  const std::string_view content = in.raw(in.size());
  std::string out(size, '\0');
  uLongf written = size;
  // NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast)
  const int status = uncompress(reinterpret_cast<Bytef*>(out.data()), &written,
                                reinterpret_cast<const Bytef*>(content.data()), content.size());
  // NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
  if (status != Z_OK || written != size) fail_state("a profile is damaged");
  return out;
}

std::string packed_rows(const Profile& profile) {
  return compressed(ProfileAccess::bytes_of_rows(profile));
}

std::string Monitor::serialize() const {
  ByteWriter out;
  out.raw(kMagic);
  out.number(kMajor);
  out.number(kMinor);
  out.section("OPTS", options_bytes(options_, alarm_.threshold()));
  out.section("FROM", source_bytes(source_));
  out.section("BASE", packed_baseline_);
  ByteWriter sizes;
  sizes.packed(groups_per_unit_);
  sizes.packed(entries_.size());
  sizes.packed(recent_.size());
  sizes.packed(units_.size());
  out.section("SIZE", sizes.bytes());
  for (const MonitorEntry& entry : entries_) out.section("NTRY", entry_bytes(entry));
  for (const std::string& batch : packed_recent_) out.section("RCNT", batch);
  for (const std::string& unit : packed_units_) out.section("UNIT", unit);
  out.raw("DONE");
  out.number(checksum_of(out.bytes()));
  return std::move(out.bytes());
}

Monitor Monitor::deserialize(std::string_view bytes) {
  constexpr std::size_t kTrailer = 8;
  ByteReader in(bytes, kKind);
  if (bytes.size() < kMagic.size() || in.raw(kMagic.size()) != kMagic) fail_state("it does not begin as one");
  const auto major = in.number<std::uint16_t>();
  const auto minor = in.number<std::uint16_t>();
  if (major != kMajor || minor > kMinor) {
    fail_state(fmt::format("it has format {}.{}, this version reads {}.x", major, minor, kMajor));
  }
  if (in.size() < kTrailer) fail_state("it ends too early");
  ByteReader trailer(bytes.substr(bytes.size() - kTrailer), kKind);
  if (trailer.raw(4) != "DONE") fail_state("it ends too early");
  if (trailer.number<std::uint32_t>() != checksum_of(bytes.substr(0, bytes.size() - 4))) {
    fail_state("its checksum is wrong");
  }
  ByteReader body(bytes.substr(kMagic.size() + 4, bytes.size() - kMagic.size() - 4 - kTrailer), kKind);
  const MonitorOptions options = read_options(body.section("OPTS"));
  MonitorSource source = read_source(body.section("FROM"));
  Monitor monitor(Profile::deserialize(expanded(body.section("BASE"))), options);
  monitor.source_ = std::move(source);
  ByteReader sizes(body.section("SIZE"), kKind);
  monitor.groups_per_unit_ = sizes.packed();
  const std::uint64_t num_entries = sizes.packed();
  const std::uint64_t num_recent = sizes.packed();
  const std::uint64_t num_units = sizes.packed();
  sizes.require_end("the section SIZE");
  for (std::uint64_t k = 0; k < num_entries; ++k) {
    MonitorEntry entry = read_entry(body.section("NTRY"));
    if (entry.alarm_pvalue) {
      monitor.unit_entries_.push_back(k);
      monitor.alarm_.add(*entry.alarm_pvalue);
    }
    if (monitor.alarm_.size() > 0) entry.evidence = monitor.alarm_.evidence().back();
    monitor.entries_.push_back(std::move(entry));
  }
  const auto read_profile = [&](std::string_view packed) {
    return ProfileAccess::with_rows(monitor.baseline_, expanded(packed));
  };
  for (std::uint64_t k = 0; k < num_recent; ++k) {
    monitor.packed_recent_.emplace_back(body.section("RCNT"));
    monitor.recent_.push_back(read_profile(monitor.packed_recent_.back()));
  }
  for (std::uint64_t k = 0; k < num_units; ++k) {
    monitor.packed_units_.emplace_back(body.section("UNIT"));
    Profile unit = read_profile(monitor.packed_units_.back());
    const auto& parts = ProfileAccess::state(unit).parts;
    if (parts.empty() || parts.front().num_groups == 0) fail_state("a unit has no group");
    monitor.units_.push_back(std::move(unit));
  }
  body.require_end("it");
  if (monitor.units_.size() != monitor.unit_entries_.size()) fail_state("batches and units do not fit");
  monitor.adjust();
  return monitor;
}

void Monitor::save(const std::string& path) const {
  OutputFile file(path);
  file.write(serialize());
  file.commit();
}

Monitor Monitor::load(const std::string& path) {
  try {
    return deserialize(read_bytes(path, kMostBytes));
  } catch (const Error& error) {
    if (!error.parts().place.empty()) throw;
    fail_at(error.code(), path, error.what());
  }
}

}  // namespace kqd
