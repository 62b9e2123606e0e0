// The file of a profile. Little endian:
//   "KQDPRF\r\n", u16 major version, u16 minor version
//   sections: four letters, u64 length, that many bytes, u32 CRC-32 of them
//     "SPEC" the spec; "GRPS" u64 factor; "PART" for each sample, in the order of their ids
//   "DONE", u32 CRC-32 of all bytes before it
// No time, no host, no order of reading: equal profiles have equal bytes.
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <utility>

#include "core/fail.hpp"
#include "io/output_file.hpp"
#include "profile/profile_spec.hpp"
#include "profile/row_groups.hpp"

namespace kqd {
namespace {

constexpr std::string_view kMagic = "KQDPRF\r\n";
constexpr std::uint16_t kMajor = 1;
constexpr std::uint16_t kMinor = 0;
constexpr std::int64_t kLargestColumnExponent = 1100;           // numbers near 0 included
constexpr std::uint64_t kMostListed = std::uint64_t{1} << 24U;  // elements of any list but counts and sums

[[noreturn]] void fail_profile(const std::string& problem) {
  fail(ErrorCode::unreadable_input, "not a valid profile: {}", problem);
}

std::uint32_t checksum(std::string_view bytes) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

class Writer {
 public:
  template <std::unsigned_integral T>
  void number(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
      bytes_.push_back(static_cast<char>((static_cast<std::uint64_t>(value) >> (8 * i)) & 0xffU));
  }
  void real(double value) { number(std::bit_cast<std::uint64_t>(value)); }
  // Seven bits at a time, lowest first (LEB128): most counts are small.
  void packed(std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) bytes_.push_back(static_cast<char>((value & 0x7fU) | 0x80U));
    bytes_.push_back(static_cast<char>(value));
  }
  void packed_signed(std::int64_t value) {
    packed((static_cast<std::uint64_t>(value) << 1U) ^ (value < 0 ? ~std::uint64_t{0} : 0));
  }
  void text(std::string_view value) {
    packed(value.size());
    bytes_ += value;
  }
  void reals(std::span<const double> values) {
    packed(values.size());
    for (const double v : values) real(v);
  }
  void matrix(const Matrix<double>& values) {
    packed(values.rows());
    packed(values.cols());
    for (const double v : values.values()) real(v);
  }
  void raw(std::string_view bytes) { bytes_ += bytes; }
  void section(std::string_view tag, const std::string& content) {
    raw(tag);
    number<std::uint64_t>(content.size());
    raw(content);
    number(checksum(content));
  }
  [[nodiscard]] std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  [[nodiscard]] std::string_view raw(std::uint64_t count) {
    if (count > left_.size()) fail_profile("it ends too early");
    const std::string_view found = left_.substr(0, count);
    left_.remove_prefix(count);
    return found;
  }
  template <std::unsigned_integral T>
  [[nodiscard]] T number() {
    const std::string_view bytes = raw(sizeof(T));
    T value = 0;
    for (std::size_t i = sizeof(T); i-- > 0;) {
      value = static_cast<T>((static_cast<std::uint64_t>(value) << 8U) | static_cast<unsigned char>(bytes[i]));
    }
    return value;
  }
  [[nodiscard]] double real() {
    const auto value = std::bit_cast<double>(number<std::uint64_t>());
    if (!std::isfinite(value)) fail_profile("a number is not finite");
    return value;
  }
  // One spelling per number, so that equal content has equal bytes.
  [[nodiscard]] std::uint64_t packed() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(raw(1).front());
      const std::uint64_t bits = byte & 0x7fU;
      if (shift == 63 && bits > 1) break;
      value |= bits << shift;
      if ((byte & 0x80U) != 0) continue;
      if (byte == 0 && shift > 0) break;
      return value;
    }
    fail_profile("a number is not written in its shortest form");
  }
  [[nodiscard]] std::int64_t packed_signed() {
    const std::uint64_t value = packed();
    return static_cast<std::int64_t>((value >> 1U) ^ (~(value & 1U) + 1));
  }
  // The length of a list whose elements take at least `bytes_each`.
  [[nodiscard]] std::size_t length(std::size_t bytes_each) {
    const std::uint64_t count = packed();
    if (count > kMostListed || count * bytes_each > left_.size()) fail_profile("a list is longer than the file");
    return count;
  }
  [[nodiscard]] std::string text() { return std::string(raw(length(1))); }
  [[nodiscard]] std::vector<double> reals() {
    std::vector<double> values(length(sizeof(double)));
    for (double& v : values) v = real();
    return values;
  }
  [[nodiscard]] Matrix<double> matrix() {
    const std::uint64_t rows = packed();
    const std::uint64_t cols = packed();
    if (rows > kMostListed || cols > kMostListed || rows * cols > left_.size() / sizeof(double)) {
      fail_profile("a matrix is larger than the file");
    }
    Matrix<double> values(rows, cols);
    for (double& v : values.values()) v = real();
    return values;
  }
  void require_end(std::string_view what) const {
    if (!left_.empty()) fail_profile(fmt::format("{} has {} bytes too many", what, left_.size()));
  }
  [[nodiscard]] bool empty() const { return left_.empty(); }
  [[nodiscard]] std::size_t size() const { return left_.size(); }

 private:
  std::string_view left_;
};

void write_grid(Writer& out, const LineGrid& grid) {
  out.reals(grid.edges);
  out.reals(grid.values);
  out.reals(grid.rank_weights);
}

LineGrid read_grid(Reader& in) {
  LineGrid grid{in.reals(), in.reals(), in.reals()};
  if (grid.values.size() != grid.edges.size() + 1 || grid.rank_weights.size() != grid.edges.size() ||
      grid.values.size() > LineGrid::kMostBins) {
    fail_profile("a grid has lists of the wrong lengths");
  }
  if (std::ranges::adjacent_find(grid.edges, std::greater_equal<>()) != grid.edges.end() ||
      !std::ranges::is_sorted(grid.values)) {
    fail_profile("the edges of a grid do not ascend");
  }
  return grid;
}

void write_columns(Writer& out, const std::vector<std::size_t>& columns) {
  out.packed(columns.size());
  for (const std::size_t column : columns) out.packed(column);
}

std::vector<std::size_t> read_columns(Reader& in, std::size_t num_columns) {
  std::vector<std::size_t> columns(in.length(1));
  for (std::size_t& column : columns) {
    column = in.packed();
    if (column >= num_columns) fail_profile("a column is out of range");
  }
  return columns;
}

void write_scales(Writer& out, const std::vector<ColumnScale>& scales) {
  out.packed(scales.size());
  for (const auto& [column, exponent, center, scale] : scales) {
    out.packed(column);
    out.packed_signed(exponent);
    out.real(center);
    out.real(scale);
  }
}

std::vector<ColumnScale> read_scales(Reader& in, std::size_t num_columns) {
  constexpr std::size_t kBytesEach = 2 + 2 * sizeof(double);
  std::vector<ColumnScale> scales(in.length(kBytesEach));
  for (auto& [column, exponent, center, scale] : scales) {
    column = in.packed();
    const std::int64_t power = in.packed_signed();
    center = in.real();
    scale = in.real();
    if (column >= num_columns || std::abs(power) > kLargestColumnExponent || !(scale > 0.0)) {
      fail_profile("the scale of a column is out of range");
    }
    exponent = static_cast<int>(power);
  }
  return scales;
}

void write_components(Writer& out, const LinearComponents& components) {
  out.reals(components.mean);
  out.matrix(components.weights);
  out.reals(components.variances);
  out.real(components.other_variance);
  out.real(components.mean_variance);
}

LinearComponents read_components(Reader& in, std::size_t dim) {
  LinearComponents components{in.reals(), in.matrix(), in.reals(), in.real(), in.real()};
  if (components.mean.size() != dim || components.weights.rows() != dim) fail_profile("components do not fit the rows");
  return components;
}

void write_set(Writer& out, const ColumnValues& set) {
  write_columns(out, set.columns);
}
void read_set(Reader& in, std::size_t dim, ColumnValues& set) {
  set.columns = read_columns(in, dim);
}

void write_set(Writer& out, const KernelFunctions& set) {
  out.text(to_string(set.kernel));
  out.matrix(set.points);
  out.matrix(set.coefficients);
}
void read_set(Reader& in, std::size_t dim, KernelFunctions& set) {
  set.kernel = parse_kernel(in.text());
  set.points = in.matrix();
  set.coefficients = in.matrix();
  if (set.points.cols() != dim || set.points.rows() != set.coefficients.rows()) {
    fail_profile("points and coefficients do not fit");
  }
}

void write_set(Writer& out, const LeverageScores& set) {
  write_components(out, set.components);
  out.packed(set.ridges.size());
  for (const double ridge : set.ridges) {
    out.packed(std::isfinite(ridge) ? 1 : 0);
    if (std::isfinite(ridge)) out.real(ridge);
  }
}
void read_set(Reader& in, std::size_t dim, LeverageScores& set) {
  set.components = read_components(in, dim);
  if (set.components.weights.cols() != set.components.variances.size()) fail_profile("components have no variances");
  set.ridges.resize(in.length(1));
  for (double& ridge : set.ridges) {
    const std::uint64_t finite = in.packed();
    if (finite > 1) fail_profile("a flag is neither 0 nor 1");
    ridge = finite == 1 ? in.real() : std::numeric_limits<double>::infinity();
  }
}

void write_set(Writer& out, const RankPolynomials& set) {
  write_columns(out, set.columns);
  out.matrix(set.knots);
  out.packed(set.degree);
}
void read_set(Reader& in, std::size_t dim, RankPolynomials& set) {
  set.columns = read_columns(in, dim);
  set.knots = in.matrix();
  set.degree = in.packed();
  bool valid = set.knots.rows() == set.columns.size() && set.knots.cols() > 1 && set.degree > 0 &&
               set.degree <= kMostListed / std::max<std::size_t>(1, set.columns.size());
  for (std::size_t k = 0; k < set.knots.rows() && valid; ++k) valid = std::ranges::is_sorted(set.knots.row(k));
  if (!valid) fail_profile("ranks of columns are not valid");
}

void write_set(Writer& out, const PairProducts& set) {
  out.reals(set.mean);
  out.reals(set.deviation);
  out.packed(set.pairs.size());
  for (const auto& [a, b] : set.pairs) {
    out.packed(a);
    out.packed(b);
  }
  write_components(out, set.components);
  out.packed(set.num_components);
}
void read_set(Reader& in, std::size_t dim, PairProducts& set) {
  set.mean = in.reals();
  set.deviation = in.reals();
  set.pairs.resize(in.length(2));
  for (auto& [a, b] : set.pairs) {
    a = in.packed();
    b = in.packed();
    if (a >= dim || b >= dim) fail_profile("a column is out of range");
  }
  set.components = read_components(in, dim);
  set.num_components = in.packed();
  if (set.mean.size() != dim || set.deviation.size() != dim || set.num_components != set.components.weights.cols()) {
    fail_profile("products of columns do not fit the rows");
  }
}

// Reads the alternative of a variant with this index.
template <std::size_t I = 0>
void read_alternative(Reader& in, std::size_t dim, std::uint64_t index, decltype(FunctionSet::functions)& functions) {
  if constexpr (I < std::variant_size_v<decltype(FunctionSet::functions)>) {
    if (index == I) return read_set(in, dim, functions.emplace<I>());
    return read_alternative<I + 1>(in, dim, index, functions);
  }
  fail_profile("functions are of an unknown kind");
}

void write_functions(Writer& out, const ProfiledFunctions& functions) {
  write_scales(out, functions.set.scales);
  out.packed(functions.set.functions.index());
  std::visit([&](const auto& set) { write_set(out, set); }, functions.set.functions);
  out.packed(functions.lines.size());
  for (const LineGrid& grid : functions.lines) write_grid(out, grid);
  out.packed(functions.sums ? 1 : 0);
  if (!functions.sums) return;
  out.reals(functions.centres);
  for (const std::int32_t exponent : functions.exponents) out.packed_signed(exponent);
}

ProfiledFunctions read_functions(Reader& in, std::uint64_t num_columns) {
  ProfiledFunctions functions;
  functions.set.scales = read_scales(in, num_columns);
  const std::size_t dim = functions.set.scales.empty() ? num_columns : functions.set.scales.size();
  read_alternative(in, dim, in.packed(), functions.set.functions);
  const std::size_t num_lines = in.length(1);
  if (functions.set.count() == 0 || num_lines > functions.set.count())
    fail_profile("there are more lines than functions");
  for (std::size_t k = 0; k < num_lines; ++k) functions.lines.push_back(read_grid(in));
  const std::uint64_t sums = in.packed();
  if (sums > 1) fail_profile("a flag is neither 0 nor 1");
  functions.sums = sums == 1;
  if (!functions.sums) return functions;
  functions.centres = in.reals();
  if (functions.centres.size() != functions.set.count()) fail_profile("there are not as many centres as functions");
  for (std::size_t k = 0; k < functions.centres.size(); ++k) {
    const std::int64_t exponent = in.packed_signed();
    if (std::abs(exponent) > kLargestExponent) fail_profile("an exponent is out of range");
    functions.exponents.push_back(static_cast<std::int32_t>(exponent));
  }
  return functions;
}

void write_statistics(Writer& out, const ProfiledStatistics& statistics) {
  out.text(statistics.name);
  out.packed(statistics.functions);
  out.packed(statistics.of_means ? 1 : 0);
  out.packed(static_cast<std::uint64_t>(statistics.gap_weight));
  out.packed(statistics.forms.size());
  for (const WeightedForm& form : statistics.forms) {
    out.packed(form.form);
    out.real(form.weight);
  }
  out.packed(statistics.group_size);
  out.reals(statistics.variances);
  out.reals(statistics.mean_squared_sizes);
}

ProfiledStatistics read_statistics(Reader& in, const std::vector<ProfiledFunctions>& functions) {
  ProfiledStatistics statistics;
  statistics.name = in.text();
  const std::uint64_t set = in.packed();
  if (set >= functions.size()) fail_profile("a statistic has no functions");
  statistics.functions = static_cast<std::uint32_t>(set);
  const std::uint64_t of_means = in.packed();
  const std::uint64_t weight = in.packed();
  if (of_means > 1 || weight > static_cast<std::uint64_t>(GapWeight::anderson_darling)) {
    fail_profile("a statistic is of an unknown kind");
  }
  statistics.of_means = of_means == 1;
  statistics.gap_weight = static_cast<GapWeight>(weight);
  statistics.forms.resize(in.length(1));
  for (WeightedForm& form : statistics.forms) {
    const std::uint64_t kind = in.packed();
    if (kind > (statistics.of_means ? 4U : 1U)) fail_profile("a statistic is of an unknown form");
    form = {static_cast<std::uint8_t>(kind), in.real()};
    if (!(form.weight > 0.0)) fail_profile("the weight of a statistic is not positive");
  }
  const std::uint64_t group_size = in.packed();
  if (group_size == 0 || group_size > kMostListed) fail_profile("a statistic is of groups of no size");
  statistics.group_size = static_cast<std::uint32_t>(group_size);
  statistics.variances = in.reals();
  statistics.mean_squared_sizes = in.reals();
  const std::size_t expected = statistics.of_means ? functions[set].set.count() : 0;
  // Forms before the largest divide by every variance.
  const bool divides = std::ranges::any_of(statistics.forms, [](const WeightedForm& form) { return form.form < 3; });
  if (statistics.variances.size() != expected || statistics.mean_squared_sizes.size() != expected ||
      (statistics.of_means ? !functions[set].sums : functions[set].lines.empty()) || statistics.forms.empty() ||
      std::ranges::any_of(statistics.variances, [&](double v) { return v < 0.0 || (v == 0.0 && divides); })) {
    fail_profile("a statistic does not fit its functions");
  }
  return statistics;
}

void write_part(Writer& out, const ProfilePart& part) {
  out.number(part.sample.id);
  out.number(part.sample.num_rows);
  out.packed(part.rows.size());
  for (const RowRange& range : part.rows) {
    out.packed(range.first);
    out.packed(range.last - range.first);
  }
  for (const auto& counts : part.counts) {
    for (const std::uint32_t count : counts.values()) out.packed(count);
  }
  for (const auto& sums : part.sums) {
    for (const std::int64_t sum : sums.values()) out.packed_signed(sum);
  }
}

ProfilePart read_part(Reader& in, const ProfileSpec& spec, std::uint64_t factor, std::size_t& room) {
  ProfilePart part;
  part.sample.id = in.number<std::uint64_t>();
  part.sample.num_rows = in.number<std::uint64_t>();
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
  part.num_groups = groups_of_sample(spec, part.sample) / factor;
  std::size_t cells = 0;
  std::size_t least_bytes = 0;
  for (const ProfiledFunctions& functions : spec.functions) {
    for (const LineGrid& grid : functions.lines) cells += part.num_groups * grid.num_bins() * sizeof(std::uint32_t);
    for (const LineGrid& grid : functions.lines) least_bytes += part.num_groups * grid.num_bins();
    if (functions.sums) cells += part.num_groups * functions.set.count() * sizeof(std::int64_t);
    if (functions.sums) least_bytes += part.num_groups * functions.set.count();
  }
  if (cells > room)
    fail(ErrorCode::resource_limit, "the profile takes more memory than the {} MB allowed", room >> 20U);
  if (least_bytes > in.size()) fail_profile("it ends too early");
  room -= cells;
  std::vector<std::uint64_t> rows_of_group;
  const std::uint64_t group_size = spec.rows_per_group * factor;
  for (const ProfiledFunctions& functions : spec.functions) {
    for (const LineGrid& grid : functions.lines) {
      Matrix<std::uint32_t>& counts = part.counts.emplace_back(part.num_groups, grid.num_bins());
      std::vector<std::uint64_t> totals(part.num_groups, 0);
      for (std::size_t g = 0; g < part.num_groups; ++g) {
        for (std::uint32_t& count : counts.row(g)) {
          const std::uint64_t value = in.packed();
          if (value > group_size || value > std::numeric_limits<std::uint32_t>::max())
            fail_profile("a count is larger than its group");
          count = static_cast<std::uint32_t>(value);
          totals[g] += value;
        }
      }
      // Every line counts the same rows.
      if (rows_of_group.empty()) rows_of_group = totals;
      if (totals != rows_of_group) fail_profile("directions count different numbers of rows");
    }
  }
  std::uint64_t counted = 0;
  const bool complete = num_rows == part.sample.num_rows;
  for (const std::uint64_t rows : rows_of_group) {
    if (rows > group_size || (complete && rows != group_size)) fail_profile("a group has the wrong number of rows");
    counted += rows;
  }
  if (counted > num_rows) fail_profile("more rows are counted than were read");
  for (const ProfiledFunctions& functions : spec.functions) {
    Matrix<std::int64_t>& sums =
        part.sums.emplace_back(functions.sums ? part.num_groups : 0, functions.sums ? functions.set.count() : 0);
    for (std::size_t g = 0; g < sums.rows(); ++g) {
      const std::uint64_t most = rows_of_group.empty() ? group_size : rows_of_group[g];
      for (std::int64_t& sum : sums.row(g)) {
        sum = in.packed_signed();
        const std::uint64_t size = sum < 0 ? 0 - static_cast<std::uint64_t>(sum) : static_cast<std::uint64_t>(sum);
        if ((size >> 30U) > most) fail_profile("a sum is larger than its rows allow");
      }
    }
  }
  return part;
}

std::string_view read_section(Reader& in, std::string_view tag) {
  if (in.raw(tag.size()) != tag) fail_profile(fmt::format("section {} is missing", tag));
  const std::string_view content = in.raw(in.number<std::uint64_t>());
  if (in.number<std::uint32_t>() != checksum(content)) fail_profile(fmt::format("section {} is damaged", tag));
  return content;
}

}  // namespace

std::string spec_bytes(const ProfileSpec& spec) {
  Writer out;
  out.packed(spec.num_columns);
  out.packed(spec.column_names.size());
  for (const std::string& name : spec.column_names) out.text(name);
  out.number(spec.seed);
  out.packed(spec.rows_per_group);
  out.number(spec.pilot_sample.id);
  out.number(spec.pilot_sample.num_rows);
  out.packed(spec.pilot_rows);
  out.text(spec.kernel);
  out.packed(spec.effect_functions);
  out.packed(spec.functions.size());
  for (const ProfiledFunctions& functions : spec.functions) write_functions(out, functions);
  out.packed(spec.statistics.size());
  for (const ProfiledStatistics& statistics : spec.statistics) write_statistics(out, statistics);
  return std::move(out.bytes());
}

ProfileSpec read_spec(std::string_view bytes) {
  Reader in(bytes);
  ProfileSpec spec;
  spec.num_columns = in.packed();
  if (spec.num_columns == 0 || spec.num_columns > kMostListed) fail_profile("the number of columns is out of range");
  spec.column_names.resize(in.length(1));
  if (!spec.column_names.empty() && spec.column_names.size() != spec.num_columns) {
    fail_profile("there are not as many names as columns");
  }
  for (std::string& name : spec.column_names) name = in.text();
  spec.seed = in.number<std::uint64_t>();
  spec.rows_per_group = in.packed();
  if (spec.rows_per_group == 0 || spec.rows_per_group > std::numeric_limits<std::uint32_t>::max()) {
    fail_profile("the size of a group is out of range");
  }
  spec.pilot_sample.id = in.number<std::uint64_t>();
  spec.pilot_sample.num_rows = in.number<std::uint64_t>();
  spec.pilot_rows = in.packed();
  spec.kernel = in.text();
  const std::uint64_t effect = in.packed();
  const std::size_t num_functions = in.length(1);
  for (std::size_t k = 0; k < num_functions; ++k) spec.functions.push_back(read_functions(in, spec.num_columns));
  if (effect >= spec.functions.size() || spec.functions[effect].lines.empty()) fail_profile("it has no directions");
  spec.effect_functions = static_cast<std::uint32_t>(effect);
  const std::size_t num_statistics = in.length(1);
  for (std::size_t k = 0; k < num_statistics; ++k) spec.statistics.push_back(read_statistics(in, spec.functions));
  if (spec.statistics.empty()) fail_profile("it has no statistics");
  in.require_end("the spec");
  return spec;
}

std::string spec_id_of(std::string_view bytes) {
  // Two hashes of 64 bits: multiply and fold, from different starts.
  std::array<std::uint64_t, 2> hashes = {0x243f6a8885a308d3ULL, 0x13198a2e03707344ULL};
  for (std::uint64_t& hash : hashes) {
    for (const char c : bytes) {
      __extension__ using Wide = unsigned __int128;
      const Wide product = static_cast<Wide>(hash ^ static_cast<unsigned char>(c)) * 0x9e3779b97f4a7c15ULL;
      hash = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
    }
  }
  return fmt::format("{:016x}{:016x}", hashes[0], hashes[1]);
}

std::string Profile::serialize() const {
  Writer out;
  out.raw(kMagic);
  out.number(kMajor);
  out.number(kMinor);
  out.section("SPEC", state_->spec_bytes);
  Writer factor;
  factor.number(state_->factor);
  out.section("GRPS", factor.bytes());
  for (const ProfilePart& part : state_->parts) {
    Writer content;
    write_part(content, part);
    out.section("PART", content.bytes());
  }
  out.raw("DONE");
  out.number(checksum(out.bytes()));
  return std::move(out.bytes());
}

Profile Profile::deserialize(std::string_view bytes, const ProfileLimits& limits) {
  constexpr std::size_t kTrailer = 8;
  Reader in(bytes);
  if (bytes.size() < kMagic.size() || in.raw(kMagic.size()) != kMagic) fail_profile("it does not begin as one");
  const auto major = in.number<std::uint16_t>();
  const auto minor = in.number<std::uint16_t>();
  if (major != kMajor) {
    fail_profile(fmt::format("it has format {}.{}, this version reads {}.x", major, minor, kMajor));
  }
  if (in.size() < kTrailer) fail_profile("it ends too early");
  Reader trailer(bytes.substr(bytes.size() - kTrailer));
  if (trailer.raw(4) != "DONE") fail_profile("it ends too early");
  if (trailer.number<std::uint32_t>() != checksum(bytes.substr(0, bytes.size() - 4)))
    fail_profile("its checksum is wrong");
  Reader body(bytes.substr(kMagic.size() + 4, bytes.size() - kMagic.size() - 4 - kTrailer));
  State state;
  state.spec_bytes = read_section(body, "SPEC");
  auto spec = std::make_shared<const ProfileSpec>(read_spec(state.spec_bytes));
  if (kqd::spec_bytes(*spec) != state.spec_bytes) fail_profile("its spec is not in the usual form");
  Reader factor(read_section(body, "GRPS"));
  state.factor = factor.number<std::uint64_t>();
  factor.require_end("the section GRPS");
  if (state.factor == 0 || state.factor > kMostGroups) fail_profile("groups were added up in an impossible number");
  std::size_t room = limits.max_bytes;
  while (!body.empty()) {
    Reader content(read_section(body, "PART"));
    ProfilePart part = read_part(content, *spec, state.factor, room);
    content.require_end("a sample");
    if (!state.parts.empty() && !(state.parts.back().sample < part.sample)) fail_profile("samples are not in order");
    state.parts.push_back(std::move(part));
  }
  return ProfileAccess::make(std::move(spec), std::move(state));
}

void Profile::save(const std::string& path) const {
  OutputFile file(path);
  file.write(serialize());
  file.commit();
}

Profile Profile::load(const std::string& path, const ProfileLimits& limits) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) fail_at(ErrorCode::unreadable_input, path, "cannot be opened");
  const auto size = static_cast<std::uint64_t>(file.tellg());
  if (size > 2 * static_cast<std::uint64_t>(limits.max_bytes)) {
    fail_at(ErrorCode::resource_limit, path, fmt::format("has {} MB, more than allowed", size >> 20U));
  }
  std::string bytes(size, '\0');
  file.seekg(0);
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  if (!file) fail_at(ErrorCode::unreadable_input, path, "cannot be read");
  try {
    return deserialize(bytes, limits);
  } catch (const Error& error) {
    fail_at(error.code(), path, error.what());
  }
}

}  // namespace kqd
