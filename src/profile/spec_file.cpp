#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "kernel/kernel_traits.hpp"
#include "kqd/io/printable.hpp"
#include "profile/profile_bytes.hpp"
#include "profile/profile_spec.hpp"

namespace kqd {
namespace {

constexpr std::int64_t kLargestColumnExponent = 1100;  // numbers near 0 included

void write_grid(ProfileWriter& out, const LineGrid& grid) {
  out.reals(grid.edges);
  out.reals(grid.values);
  out.reals(grid.rank_weights);
}

LineGrid read_grid(ProfileReader& in) {
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

void write_columns(ProfileWriter& out, const std::vector<std::size_t>& columns) {
  out.packed(columns.size());
  for (const std::size_t column : columns) out.packed(column);
}

std::vector<std::size_t> read_columns(ProfileReader& in, std::size_t num_columns) {
  std::vector<std::size_t> columns(in.length(1));
  for (std::size_t& column : columns) {
    column = in.packed();
    if (column >= num_columns) fail_profile("a column is out of range");
  }
  return columns;
}

void write_scales(ProfileWriter& out, const std::vector<ColumnScale>& scales) {
  out.packed(scales.size());
  for (const auto& [column, exponent, center, scale] : scales) {
    out.packed(column);
    out.packed_signed(exponent);
    out.real(center);
    out.real(scale);
  }
}

std::vector<ColumnScale> read_scales(ProfileReader& in, std::size_t num_columns) {
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

void write_components(ProfileWriter& out, const LinearComponents& components) {
  out.reals(components.mean);
  out.matrix(components.weights);
  out.reals(components.variances);
  out.real(components.other_variance);
  out.real(components.mean_variance);
}

LinearComponents read_components(ProfileReader& in, std::size_t dim) {
  LinearComponents components{in.reals(), in.matrix(), in.reals(), in.real(), in.real()};
  if (components.mean.size() != dim || components.weights.rows() != dim) fail_profile("components do not fit the rows");
  return components;
}

void write_set(ProfileWriter& out, const ColumnValues& set) {
  write_columns(out, set.columns);
}
void read_set(ProfileReader& in, std::size_t dim, ColumnValues& set) {
  set.columns = read_columns(in, dim);
}

KernelSpec read_kernel(ProfileReader& in) {
  const std::string name = in.text();
  try {
    return parse_kernel(name);
  } catch (const Error&) {
    fail_profile(fmt::format("its kernel is \"{}\"", printable(name)));
  }
}

void write_set(ProfileWriter& out, const KernelFunctions& set) {
  for_each_leaf(set.kernel, [](const KernelSpec& leaf) {
    if (!has_column_scales(leaf.family)) return;
    fail_option("kernel", to_string(leaf), "another kernel: profiles do not store the scales of its columns");
  });
  out.text(to_string(set.kernel));
  out.matrix(set.points);
  out.matrix(set.coefficients);
}
void read_set(ProfileReader& in, std::size_t dim, KernelFunctions& set) {
  set.kernel = read_kernel(in);
  set.points = in.matrix();
  set.coefficients = in.matrix();
  if (set.points.cols() != dim || set.points.rows() != set.coefficients.rows()) {
    fail_profile("points and coefficients do not fit");
  }
}

void write_set(ProfileWriter& out, const LeverageScores& set) {
  write_components(out, set.components);
  out.packed(set.ridges.size());
  for (const double ridge : set.ridges) {
    out.packed(std::isfinite(ridge) ? 1 : 0);
    if (std::isfinite(ridge)) out.real(ridge);
  }
}
void read_set(ProfileReader& in, std::size_t dim, LeverageScores& set) {
  set.components = read_components(in, dim);
  if (set.components.weights.cols() != set.components.variances.size()) fail_profile("components have no variances");
  set.ridges.resize(in.length(1));
  for (double& ridge : set.ridges) {
    const std::uint64_t finite = in.packed();
    if (finite > 1) fail_profile("a flag is neither 0 nor 1");
    ridge = finite == 1 ? in.real() : std::numeric_limits<double>::infinity();
  }
}

void write_set(ProfileWriter& out, const RankPolynomials& set) {
  write_columns(out, set.columns);
  out.matrix(set.knots);
  out.packed(set.degree);
}
void read_set(ProfileReader& in, std::size_t dim, RankPolynomials& set) {
  set.columns = read_columns(in, dim);
  set.knots = in.matrix();
  set.degree = in.packed();
  bool valid = set.knots.rows() == set.columns.size() && set.knots.cols() > 1 && set.degree > 0 &&
               set.degree <= kMostListed / std::max<std::size_t>(1, set.columns.size());
  for (std::size_t k = 0; k < set.knots.rows() && valid; ++k) valid = std::ranges::is_sorted(set.knots.row(k));
  if (!valid) fail_profile("ranks of columns are not valid");
}

void write_set(ProfileWriter& out, const PairProducts& set) {
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
void read_set(ProfileReader& in, std::size_t dim, PairProducts& set) {
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

void write_set(ProfileWriter& out, const TripleProducts& set) {
  write_set(out, set.factors);
}
void read_set(ProfileReader& in, std::size_t dim, TripleProducts& set) {
  read_set(in, dim, set.factors);
  const std::vector<double>& variances = set.factors.components.variances;
  if (set.factors.num_components != 1 || variances.size() != 1 || !(variances.front() > 0.0)) {
    fail_profile("products of three need one component with its variance");
  }
}

// Reads the alternative of a variant with this index.
template <std::size_t I = 0>
void read_alternative(ProfileReader& in, std::size_t dim, std::uint64_t index,
                      decltype(FunctionSet::functions)& functions) {
  if constexpr (I < std::variant_size_v<decltype(FunctionSet::functions)>) {
    if (index == I) return read_set(in, dim, functions.emplace<I>());
    return read_alternative<I + 1>(in, dim, index, functions);
  }
  fail_profile("functions are of an unknown kind");
}

void write_functions(ProfileWriter& out, const ProfiledFunctions& functions) {
  write_scales(out, functions.set.scales);
  out.packed(functions.set.functions.index());
  std::visit([&](const auto& set) { write_set(out, set); }, functions.set.functions);
  out.packed(functions.lines.size());
  for (const LineGrid& grid : functions.lines) write_grid(out, grid);
  out.packed(functions.line_exponents.size());
  for (const std::int32_t exponent : functions.line_exponents) out.packed_signed(exponent);
  out.packed(functions.sums ? 1 : 0);
  if (!functions.sums) return;
  out.reals(functions.centres);
  for (const std::int32_t exponent : functions.exponents) out.packed_signed(exponent);
}

std::vector<std::int32_t> read_exponents(ProfileReader& in, std::size_t count) {
  std::vector<std::int32_t> exponents;
  for (std::size_t k = 0; k < count; ++k) {
    const std::int64_t exponent = in.packed_signed();
    if (exponent < -kLargestExponent || exponent > kLargestExponent) fail_profile("an exponent is out of range");
    exponents.push_back(static_cast<std::int32_t>(exponent));
  }
  return exponents;
}

ProfiledFunctions read_functions(ProfileReader& in, std::uint64_t num_columns) {
  ProfiledFunctions functions;
  functions.set.scales = read_scales(in, num_columns);
  const std::size_t dim = functions.set.scales.empty() ? num_columns : functions.set.scales.size();
  read_alternative(in, dim, in.packed(), functions.set.functions);
  const std::size_t num_lines = in.length(1);
  if (functions.set.count() == 0 || num_lines > functions.set.count())
    fail_profile("there are more lines than functions");
  for (std::size_t k = 0; k < num_lines; ++k) functions.lines.push_back(read_grid(in));
  functions.line_exponents = read_exponents(in, in.length(1));
  if (!functions.line_exponents.empty() && functions.line_exponents.size() != functions.lines.size()) {
    fail_profile("there are not as many exponents as lines");
  }
  const std::uint64_t sums = in.packed();
  if (sums > 1) fail_profile("a flag is neither 0 nor 1");
  functions.sums = sums == 1;
  if (!functions.sums) return functions;
  functions.centres = in.reals();
  if (functions.centres.size() != functions.set.count()) fail_profile("there are not as many centres as functions");
  functions.exponents = read_exponents(in, functions.centres.size());
  return functions;
}

// Means that are compared by groups of any size (MeanSummary::group).
constexpr std::uint8_t kFormOfGroups = 5;
bool has_groups(const ProfiledStatistics& statistics) {
  return statistics.of_means &&
         std::ranges::any_of(statistics.forms, [](const WeightedForm& form) { return form.form == kFormOfGroups; });
}

std::vector<FunctionGroup> read_groups(ProfileReader& in, std::size_t num_functions) {
  std::vector<FunctionGroup> groups(in.length(2));
  std::uint64_t total = 0;
  for (FunctionGroup& group : groups) {
    group.size = in.packed();
    group.degrees = in.real();
    if (group.size == 0 || group.size > num_functions || !(group.degrees >= 1.0)) fail_profile("a group is not valid");
    total += group.size;
  }
  if (total != num_functions || groups.empty()) fail_profile("groups do not fit their functions");
  return groups;
}

void write_statistics(ProfileWriter& out, const ProfiledStatistics& statistics) {
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
  if (has_groups(statistics)) {
    out.packed(statistics.groups.size());
    for (const FunctionGroup& group : statistics.groups) {
      out.packed(group.size);
      out.real(group.degrees);
    }
  }
  out.reals(statistics.variances);
  out.reals(statistics.mean_squared_sizes);
}

ProfiledStatistics read_statistics(ProfileReader& in, const std::vector<ProfiledFunctions>& functions) {
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
    if (kind > (statistics.of_means ? kFormOfGroups : 1U)) fail_profile("a statistic is of an unknown form");
    form = {static_cast<std::uint8_t>(kind), in.real()};
    if (!(form.weight > 0.0)) fail_profile("the weight of a statistic is not positive");
  }
  const std::uint64_t group_size = in.packed();
  if (group_size == 0 || group_size > kMostListed) fail_profile("a statistic is of groups of no size");
  statistics.group_size = static_cast<std::uint32_t>(group_size);
  const std::size_t expected = statistics.of_means ? functions[set].set.count() : 0;
  if (has_groups(statistics)) statistics.groups = read_groups(in, expected);
  statistics.variances = in.reals();
  statistics.mean_squared_sizes = in.reals();
  // Forms before the largest divide by every variance.
  const bool divides = std::ranges::any_of(statistics.forms, [](const WeightedForm& form) { return form.form < 3; });
  if (statistics.variances.size() != expected || statistics.mean_squared_sizes.size() != expected ||
      (statistics.of_means ? !functions[set].sums : functions[set].lines.empty()) || statistics.forms.empty() ||
      std::ranges::any_of(statistics.variances, [&](double v) { return v < 0.0 || (v == 0.0 && divides); })) {
    fail_profile("a statistic does not fit its functions");
  }
  return statistics;
}

}  // namespace

std::string spec_bytes(const ProfileSpec& spec) {
  ProfileWriter out;
  out.packed(spec.num_columns);
  out.packed(spec.column_names.size());
  for (const std::string& name : spec.column_names) out.text(name);
  out.number(spec.seed);
  out.packed(spec.rows_per_group);
  out.packed(static_cast<std::uint64_t>(spec.rule.assignment));
  out.text(spec.rule.column);
  out.packed(spec.held_out.size());
  for (const auto& [sample, rows] : spec.held_out) {
    out.number(sample.id);
    out.number(sample.num_rows);
    out.packed(rows);
  }
  out.text(spec.kernel);
  out.packed(spec.effect_functions);
  out.packed(spec.functions.size());
  for (const ProfiledFunctions& functions : spec.functions) write_functions(out, functions);
  out.packed(spec.statistics.size());
  for (const ProfiledStatistics& statistics : spec.statistics) write_statistics(out, statistics);
  return std::move(out.bytes());
}

ProfileSpec read_spec(std::string_view bytes) {
  ProfileReader in(bytes);
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
  const std::uint64_t assignment = in.packed();
  spec.rule.column = in.text();
  if (assignment > static_cast<std::uint64_t>(GroupAssignment::blocks) ||
      spec.rule.column.empty() != (assignment == 0)) {
    fail_profile("the assignment of groups is unknown");
  }
  spec.rule.assignment = static_cast<GroupAssignment>(assignment);
  constexpr std::size_t kBytesOfHeldOut = 17;
  spec.held_out.resize(in.length(kBytesOfHeldOut));
  for (HeldOutRows& held_out : spec.held_out) {
    held_out.sample.id = in.number<std::uint64_t>();
    held_out.sample.num_rows = in.number<std::uint64_t>();
    held_out.rows = in.packed();
    const bool in_order = &held_out == spec.held_out.data() || (&held_out - 1)->sample < held_out.sample;
    if (!in_order || held_out.rows > held_out.sample.num_rows) fail_profile("the held-out rows are not valid");
  }
  spec.kernel = in.text();
  const std::uint64_t effect = in.packed();
  const std::size_t num_functions = in.length(1);
  for (std::size_t k = 0; k < num_functions; ++k) spec.functions.push_back(read_functions(in, spec.num_columns));
  if (effect >= spec.functions.size() || spec.functions[effect].lines.empty()) fail_profile("it has no directions");
  spec.effect_functions = static_cast<std::uint32_t>(effect);
  const std::size_t num_statistics = in.length(1);
  for (std::size_t k = 0; k < num_statistics; ++k) spec.statistics.push_back(read_statistics(in, spec.functions));
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

std::vector<std::size_t> columns_of_lines(const ProfiledFunctions& functions) {
  std::vector<std::size_t> columns;
  const auto* const values = std::get_if<ColumnValues>(&functions.set.functions);
  if (values == nullptr) return columns;
  const auto& scales = functions.set.scales;
  for (std::size_t k = 0; k < functions.lines.size(); ++k) {
    const std::size_t place = values->columns[k];
    columns.push_back(scales.empty() ? place : scales[place].column);
  }
  return columns;
}

}  // namespace kqd
