#include <fmt/ranges.h>

#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "kqd/kernel/objects.hpp"
#include "kqd/metrics/methods.hpp"
#include "kqd/options/options.hpp"
#include "options/values.hpp"

namespace kqd {
namespace {

// ---- Choices, as the library spells them ----

template <class Enum, Enum first, Enum last>
std::vector<std::string> words() {
  std::vector<std::string> found;
  for (int i = static_cast<int>(first); i <= static_cast<int>(last); ++i)
    found.push_back(to_string(static_cast<Enum>(i)));
  return found;
}

std::string without_parameters(const std::string& text) {
  return text.substr(0, text.find(':'));
}

std::vector<std::string> kernel_words() {
  const auto names = kernel_names();
  return {names.begin(), names.end()};
}

std::vector<std::string> weighting_words() {
  std::vector<std::string> found;
  for (const LevelWeights& weights :
       {LevelWeights(), LevelWeights::sloped(LevelShape::triangle, 0.0),
        LevelWeights::sloped(LevelShape::reverse_triangle, 0.0), LevelWeights::sloped(LevelShape::slope_up, 0.0),
        LevelWeights::sloped(LevelShape::slope_down, 0.0), LevelWeights::interval(0.0, 1.0),
        LevelWeights::beta(1.0, 1.0), LevelWeights::atom(0.5), parse_level_weights("table:0:1:1:1")}) {
    found.push_back(without_parameters(to_string(weights)));
  }
  return found;
}

std::vector<std::string> method_words() {
  std::vector<std::string> found;
  for (const MethodInfo& method : methods()) found.emplace_back(method.id);
  return found;
}

std::vector<std::string> compat_words() {
  std::vector<std::string> found;
  for (const CompatFlag& flag : compat_flags()) found.emplace_back(flag.name);
  return found;
}

// ---- Options that are one field of the settings ----

// A row whose option is the field that Field(settings) refers to.
template <auto Field>
OptionInfo row(OptionInfo option) {
  option.set = [](Settings& s, const OptionInfo& self, std::string_view text) { read_value(self, text, Field(s)); };
  if (option.get == nullptr) option.get = [](const Settings& s) { return text_of(Field(s)); };
  return option;
}

// The text of a number that is not set while it is 0.
template <auto Field>
std::string text_unless_zero(const Settings& s) {
  return Field(s) == 0 ? "" : text_of(Field(s));
}

#define KQD_FIELD(path)  \
  [](auto& s) -> auto& { \
    return s.path;       \
  }

// ---- Options that need more than that ----

void set_kernel(Settings& s, const OptionInfo& /*self*/, std::string_view text) {
  s.object_kernel.clear();
  if (text == "precomputed" || is_object_kernel(text)) {
    s.object_kernel = text;
    return;
  }
  s.test.statistic.kernel = parse_kernel(text);
}

void set_method(Settings& s, const OptionInfo& /*self*/, std::string_view text) {
  s.test.method = find_method(text).id;
}

void set_weighting(Settings& s, const OptionInfo& /*self*/, std::string_view text) {
  s.weighting_file.clear();
  if (text.ends_with(".csv") || text.ends_with(".tsv") || text.ends_with(".npy") || text.ends_with(".json")) {
    s.weighting_file = text;  // a front end reads it
    return;
  }
  s.test.statistic.weighting = parse_level_weights(text);
}

void set_compat(Settings& s, const OptionInfo& /*self*/, std::string_view text) {
  MethodOptions unused;
  apply_compat(text, unused);  // throws for an unknown name
  if (!s.compat.empty()) s.compat += ',';
  s.compat += text;
}

void set_bandwidth(Settings& s, const OptionInfo& self, std::string_view text) {
  s.bandwidth.reset();
  if (text == "median") return;
  s.bandwidth = parse_number(text);
  if (!s.bandwidth || !(*s.bandwidth > 0.0)) fail_option(self.id, text, "median, or a number > 0");
}

void set_reference(Settings& s, const OptionInfo& self, std::string_view text) {
  DirectionOptions& directions = s.test.statistic.directions;
  s.reference_file.clear();
  if (text.find_first_of("./") == std::string_view::npos) {
    directions.reference = parse_reference_measure(require_choice(self, text));
    return;
  }
  s.reference_file = text;
  directions.reference = ReferenceMeasure::points;
}

void set_reference_points(Settings& s, Matrix<double> points) {
  s.test.statistic.directions.reference = ReferenceMeasure::points;
  s.test.statistic.directions.reference_points = std::move(points);
}

std::string reference_text(const Settings& s) {
  return s.reference_file.empty() ? to_string(s.test.statistic.directions.reference) : s.reference_file;
}

void set_coefficients_file(Settings& s, const OptionInfo& /*self*/, std::string_view text) {
  s.coefficients_file = text;
}

std::string memory_text(const Settings& s) {
  const std::size_t bytes = s.test.statistic.max_memory;
  return bytes == 0 ? "" : fmt::format("{}B", bytes);
}

std::string coefficients_text(const Settings& s) {
  return s.test.statistic.directions.coefficients.empty() ? s.coefficients_file : "given";
}

void set_coefficients(Settings& s, Matrix<double> points) {
  s.test.statistic.directions.coefficients = std::move(points);
}

void set_levels(Settings& s, const OptionInfo& self, std::string_view text) {
  constexpr std::uint64_t kMostLevels = 100'000;
  if (text.find_first_not_of("0123456789") == std::string_view::npos && text != "0" && text != "1") {
    s.embed.levels = even_levels(whole_number(self.id, text, 1, kMostLevels));
    return;
  }
  s.embed.levels.clear();
  for (const std::string_view part : split(text, ',')) {
    const auto level = parse_number(trim(part));
    if (!level || !(*level >= 0.0 && *level <= 1.0)) {
      fail_option(self.id, text, "numbers from 0 to 1, separated by commas, or a whole number >= 2");
    }
    s.embed.levels.push_back(*level);
  }
}

std::string levels_text(const Settings& s) {
  if (s.embed.levels.size() > 1 && s.embed.levels == even_levels(s.embed.levels.size())) {
    return shortest(static_cast<double>(s.embed.levels.size()));
  }
  std::string text;
  for (const double level : s.embed.levels) text += (text.empty() ? "" : ",") + shortest(level);
  return text;
}

void set_sizes(Settings& s, const OptionInfo& self, std::string_view text) {
  s.sizes.clear();
  const std::vector<std::string_view> parts = split(text, ',');
  if (parts.size() != 2) fail_option(self.id, text, "two whole numbers: the rows of X and of Y");
  for (const std::string_view part : parts) s.sizes.push_back(whole_number(self.id, trim(part), 1, 1'000'000));
}

std::string sizes_text(const Settings& s) {
  return fmt::format("{}", fmt::join(s.sizes, ","));
}

void set_gram_scale(Settings& s, const OptionInfo& self, std::string_view text) {
  s.embed.gram_scale = parse_number(text);
  if (!s.embed.gram_scale || !(*s.embed.gram_scale > 0.0) || std::isinf(*s.embed.gram_scale)) {
    fail_option(self.id, text, "a number > 0");
  }
}

void refuse_two_unit_columns(const Settings& s) {
  if (s.test.groups.column.empty() || s.test.test.design.kind == DesignKind::independent) return;
  fail(ErrorCode::invalid_option, KQD_OPTION("groups") " needs an independent design, got {}",
       to_string(s.test.test.design.kind));
}

// The column is a name of its own, which may contain colons.
void set_design(Settings& s, const OptionInfo& self, std::string_view text) {
  const auto colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view column = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  const auto known = words<DesignKind, DesignKind::independent, DesignKind::clusters>();
  const auto found = std::ranges::find(known, kind);
  const auto design = static_cast<DesignKind>(found - known.begin());
  const bool needs_column = design == DesignKind::blocks || design == DesignKind::clusters;
  if (found == known.end() || column.empty() == needs_column || (colon != std::string_view::npos && !needs_column)) {
    fail_option(self.id, text, accepted_values(self) + (found == known.end() ? suggestion_among(kind, known) : ""));
  }
  s.test.test.design.kind = design;
  s.read.paired = design == DesignKind::paired;
  refuse_two_unit_columns(s);
  if (s.test.groups.column.empty()) s.read.unit_column = column;
}

void set_groups(Settings& s, const OptionInfo& /*self*/, std::string_view text) {
  s.test.groups = parse_group_rule(text);
  refuse_two_unit_columns(s);
  if (s.test.test.design.kind == DesignKind::independent) s.read.unit_column = s.test.groups.column;
}

std::string design_text(const Settings& s) {
  const bool has_column = !s.read.unit_column.empty() && s.test.groups.column.empty();
  return to_string(s.test.test.design.kind) + (has_column ? ":" + s.read.unit_column : "");
}

template <MarginKind kind>
void set_margin(Settings& s, const OptionInfo& self, std::string_view text) {
  MarginOptions& margin = s.test.margin;
  if (margin.given() && margin.kind != kind) {
    fail(ErrorCode::invalid_option,
         KQD_OPTION("tolerance") " and " KQD_OPTION("equivalent") " exclude each other, expected one of them: both "
                                 "print the same verdict");
  }
  margin.kind = kind;
  margin.from_batches = kind == MarginKind::tolerance && text == "auto";
  if (margin.from_batches) return;
  const auto number = parse_number(text);
  if (!number || !(*number > 0.0) || std::isinf(*number)) {
    fail_option(self.id, text, kind == MarginKind::tolerance ? "auto, or a number > 0" : "a number > 0");
  }
  margin.margin = *number;
}

template <MarginKind kind>
std::string margin_text(const Settings& s) {
  const MarginOptions& margin = s.test.margin;
  if (margin.kind != kind) return "";
  return margin.from_batches ? "auto" : shortest(margin.margin);
}

std::string without_batches(const Settings& s) {
  return s.test.margin.from_batches ? "" : "without " KQD_OPTION("tolerance=auto");
}

template <CsvHeader header>
void set_header(Settings& s, const OptionInfo& self, std::string_view text) {
  bool is_on = false;
  read_value(self, text, is_on);
  if (!is_on) return;
  const bool contradicts = s.read.csv.header != CsvHeader::found && s.read.csv.header != header;
  if (contradicts) {
    fail(ErrorCode::invalid_option,
         KQD_OPTION("header") " and " KQD_OPTION("no_header") " exclude each other, expected one of them");
  }
  s.read.csv.header = header;
}

template <CsvHeader header>
std::string header_text(const Settings& s) {
  return text_of(s.read.csv.header == header);
}

void set_no_default_na(Settings& s, const OptionInfo& self, std::string_view text) {
  bool is_on = false;
  read_value(self, text, is_on);
  s.read.default_na = !is_on;
}

void set_image_shape(Settings& s, const OptionInfo& /*self*/, std::string_view text) {
  s.explain.image = parse_image_shape(text);
}

std::string image_shape_text(const Settings& s) {
  if (!s.explain.image) return "";
  const ImageShape& image = *s.explain.image;
  return fmt::format("{}x{}x{}", image.height, image.width, image.channels);
}

// ---- Options without effect ----

std::string on_method_unless(bool used, const Settings& s) {
  const MethodInfo& method = find_method(s.test.method);
  if (used) return "";
  if (!method.uses.directions) return fmt::format("on method {}", method.id);
  return fmt::format("on method {} with {} directions", method.id, to_string(s.test.statistic.directions.family));
}

const MethodUses& uses(const Settings& s) {
  return find_method(s.test.method).uses;
}

DirectionFamily family(const Settings& s) {
  return s.test.statistic.directions.family;
}

// Linear and axis directions have neither a kernel nor reference points.
bool has_reference(const Settings& s) {
  return uses(s).directions && !has_own_kernel(family(s));
}

// Aggregates of many kernels take theirs from the kernel of tables only.
bool takes_mixed_kernel(const Settings& s) {
  const MethodInfo& method = find_method(s.test.method);
  return s.test.statistic.kernel.family == KernelFamily::mixed && !method.effect_method.empty() &&
         find_method(method.effect_method).family == method.family;
}

std::string unless_kernel(const Settings& s) {
  if (takes_mixed_kernel(s)) return "";
  return on_method_unless(uses(s).kernel && !(uses(s).directions && has_own_kernel(family(s))), s);
}
std::string unless_directions(const Settings& s) {
  return on_method_unless(uses(s).directions, s);
}
std::string unless_number_of_directions(const Settings& s) {
  const bool axis = uses(s).directions && family(s) == DirectionFamily::axis;  // one for each column
  return on_method_unless(uses(s).num_directions && !axis, s);
}
std::string unless_number_of_reference_points(const Settings& s) {
  return on_method_unless(has_reference(s), s);
}
std::string unless_reference(const Settings& s) {
  const bool given = s.test.statistic.directions.reference == ReferenceMeasure::points;
  const bool drawn_from = has_reference(s) && family(s) != DirectionFamily::principal;
  return on_method_unless(drawn_from || (uses(s).points && given), s);
}
// Coefficients belong to Gaussian directions; sw takes them too.
std::string unless_coefficients(const Settings& s) {
  const bool gaussian = uses(s).directions && family(s) == DirectionFamily::gaussian;
  return on_method_unless(gaussian || (uses(s).points && uses(s).num_directions), s);
}
std::string unless_power(const Settings& s) {
  return on_method_unless(uses(s).power, s);
}
std::string unless_weighting(const Settings& s) {
  return on_method_unless(uses(s).weighting, s);
}
std::string unless_compat(const Settings& s) {
  return on_method_unless(uses(s).kernel || uses(s).num_directions || uses(s).weighting, s);
}
std::string unless_principal(const Settings& s) {
  const bool principal = family(s) == DirectionFamily::principal || family(s) == DirectionFamily::mixed;
  return on_method_unless(uses(s).directions && principal, s);
}
// A test of several statistics bounds the memory of the one that its effect size comes from.
std::string unless_memory_is_bounded(const Settings& s) {
  const MethodInfo& method = find_method(s.test.method);
  const MethodInfo& measured = method.effect_method.empty() ? method : find_method(method.effect_method);
  return on_method_unless(measured.uses.num_directions && method.effect_words.empty(), s);
}

std::string with_asymptotic_calibration(const Settings& s) {
  if (s.command == kMatrixCommand && !s.test_pairs) return "without " KQD_OPTION("test_pairs");
  return s.test.calibration == Calibration::asymptotic ? "with " KQD_OPTION("calibration=asymptotic") : "";
}
std::string without_tests(const Settings& s) {
  return s.command == kMatrixCommand && !s.test_pairs ? "without " KQD_OPTION("test_pairs") : "";
}
std::string without_elements(const Settings& s) {
  const bool any = !s.embed.points_file.empty() || s.embed.inner_products;
  return any ? "" : "without " KQD_OPTION("points") " or " KQD_OPTION("inner_products");
}
std::string with_gram(const Settings& s) {
  return s.embed.gram && !without_elements(s).empty() ? "with " KQD_OPTION("gram") : "";
}
std::string without_gram(const Settings& s) {
  return s.embed.gram ? "" : "without " KQD_OPTION("gram");
}
std::string without_report(const Settings& s) {
  return s.command != kExplainCommand && s.output.report.empty() ? "without " KQD_OPTION("report") : "";
}

// ---- The table ----

constexpr unsigned kPairs = kTestCommand | kDistanceCommand;
constexpr unsigned kStatistic = kPairs | kMatrixCommand;  // commands with a method
constexpr unsigned kAll = kStatistic | kExplainCommand;
constexpr unsigned kFiles = kAll | kEmbedCommand;           // commands that read data
constexpr unsigned kDirected = kStatistic | kEmbedCommand;  // commands with directions
// Commands that read data, in blocks where they can.
constexpr unsigned kInputs = kFiles | kProfileCommand | kMonitorCommand;
constexpr unsigned kChoosing = kDirected | kProfileCommand | kMonitorCommand;  // commands that choose directions
constexpr unsigned kCalls = kPairs | kExplainCommand;                          // functions of Python
constexpr std::uint64_t kMostRows = 1'000'000'000;
constexpr std::uint64_t kLargestCount = 1U << 20U;

// clang-format off
std::vector<OptionInfo> make_table() {
  using enum OptionType;
  return {
      row<KQD_FIELD(group_column)>({.id = "group_column", .type = text, .section = "Data",
          .commands = kPairs | kExplainCommand, .calls = kCalls,
          .help = "X is one file with both samples, separated by a column with two values; the first value is X",
          .value = "COLUMN", .flag = "group", .keyword = "group"}),
      {.id = "sizes", .type = text, .section = "Data", .commands = kPairs | kExplainCommand,
          .help = "X is one file with a square Gram matrix, for " KQD_OPTION("kernel=precomputed") ": its first N rows are X, the "
              "other M are Y",
          .value = "N,M", .set = set_sizes, .get = sizes_text},
      row<KQD_FIELD(read.columns)>({.id = "columns", .type = list, .section = "Data", .commands = kInputs,
          .help = "columns to compare: names, numbers, ranges (a..d, 3-7), globs (temp_*), separated by commas",
          .value = "LIST"}),
      row<KQD_FIELD(read.drop)>({.id = "drop", .type = list, .section = "Data", .commands = kInputs,
          .help = "columns to exclude (same syntax as " KQD_OPTION("columns") ")", .value = "LIST"}),
      row<KQD_FIELD(names)>({.id = "names", .type = list, .section = "Data", .commands = kFiles | kMonitorCommand,
          .calls = kCalls,
          .help = "what texts and figures call the samples: March,April (default: the names of the files)",
          .value = "LIST"}),
      row<KQD_FIELD(read.weights_column)>({.id = "weights_column", .type = text, .section = "Data", .commands = kFiles,
          .help = "column that holds the weights of the rows", .value = "COLUMN", .flag = "weights",
          .keyword = "x_weights"}),
      row<KQD_FIELD(read.categorical)>({.id = "categorical", .type = word, .section = "Data", .commands = kInputs,
          .calls = kCalls,
          .help = "columns of text: auto (by the type of each), raise an error, onehot (a column for each text), hash (64 "
              "columns) or drop them",
          .value = "HOW", .choices = words<Categorical, Categorical::automatic, Categorical::drop>}),
      row<KQD_FIELD(read.types)>({.id = "types", .type = list, .section = "Data", .commands = kFiles,
          .calls = kCalls,
          .help = "types of columns: NAME=TYPE,... with number, integer, ordered (ranks of numbers; of texts as in "
              "size=ordered:S<M<L), boolean, category, text (hashed), date, date-dmy, date-mdy, id or constant "
              "(both excluded); others are inferred",
          .value = "LIST"}),
      row<KQD_FIELD(read.dates)>({.id = "dates", .type = flag, .section = "Data", .commands = kInputs,
          .help = "read dates as numbers where " KQD_OPTION("categorical") " is not auto: days since 1970-01-01"}),
      row<KQD_FIELD(read.na)>({.id = "na", .type = word, .section = "Data", .commands = kInputs, .calls = kCalls,
          .help = "missing values: indicator (a column of its own marks them), raise an error, omit such rows, or "
              "impute-median of all samples",
          .value = "HOW", .keyword = "nan_policy",
          .choices = words<NaPolicy, NaPolicy::indicator, NaPolicy::impute_median>}),
      row<KQD_FIELD(na_values)>({.id = "na_values", .type = list, .section = "Data", .commands = kInputs,
          .help = "additional texts or numbers that mean missing, such as -999,x; with " KQD_OPTION("decimal_comma")
              " -999,9;x",
          .value = "LIST"}),
      {.id = "no_default_na", .type = flag, .section = "Data", .commands = kInputs,
          .help = "NA, none, -, ? and similar cells are texts; only empty cells and " KQD_OPTION("na_values") " mean "
              "missing",
          .set = set_no_default_na, .get = [](const Settings& s) { return text_of(!s.read.default_na); }},
      row<KQD_FIELD(read.standardize)>({.id = "standardize", .type = word, .section = "Data", .commands = kFiles,
          .calls = kCalls,
          .help = "scale columns by all samples: auto (only in the default test and in explain), none, zscore (mean, "
              "standard deviation) or iqr (median, quartiles)",
          .value = "HOW", .choices = words<Standardize, Standardize::automatic, Standardize::iqr>}),
      row<KQD_FIELD(read.csv.delimiter)>({.id = "delimiter", .type = text, .section = "Data", .commands = kInputs,
          .help = "separator of CSV files: a character, or tab, comma, semicolon, bar, space (default: auto-detected)",
          .value = "C"}),
      {.id = "header", .type = flag, .section = "Data", .commands = kInputs,
          .help = "the first row of CSV files holds names (default: auto-detected)",
          .set = set_header<CsvHeader::present>, .get = header_text<CsvHeader::present>},
      {.id = "no_header", .type = flag, .section = "Data", .commands = kInputs,
          .help = "the first row of CSV files holds data", .set = set_header<CsvHeader::absent>,
          .get = header_text<CsvHeader::absent>},
      row<KQD_FIELD(read.csv.decimal_comma)>({.id = "decimal_comma", .type = flag, .section = "Data", .commands = kInputs,
          .help = "numbers of CSV files are written 1,5"}),
      row<KQD_FIELD(read.max_rows)>({.id = "max_rows", .type = count, .section = "Data", .commands = kFiles,
          .help = "at most N rows of each sample, drawn at random by the seed", .value = "N", .lowest = 1,
          .highest = kMostRows, .get = text_unless_zero<KQD_FIELD(read.max_rows)>}),
      {.id = "method", .type = word, .section = "Statistic", .commands = kStatistic | kProfileCommand | kMonitorCommand, .calls = kPairs,
          .help = "id of a method; `kqd methods` lists them (default of a test: adaptive; ekqd when one of its options "
              "is set)",
          .value = "ID", .choices = method_words, .set = set_method,
          .get = [](const Settings& s) { return s.test.method; }},
      {.id = "kernel", .type = word, .section = "Statistic", .commands = kInputs, .calls = kCalls | kEmbedCommand,
          .help = "{}; with parameters: rq:2, polynomial:3:1; sums and products: gaussian@0.5+gaussian@2, "
              "gaussian*linear; precomputed: X and Y are rows of a Gram matrix; of objects, lines of .txt or .jsonl files or a column "
              "of a table: spectrum:3, wl:3, sets, hamming, aitchison:0.1",
          .value = "KERNEL", .choices = kernel_words, .set = set_kernel,
          .get = [](const Settings& s) {
            return s.object_kernel.empty() ? to_string(s.test.statistic.kernel) : s.object_kernel;
          },
          .no_effect = unless_kernel},
      {.id = "bandwidth", .type = word, .section = "Statistic", .commands = kInputs, .calls = kCalls | kEmbedCommand,
          .help = "median (of the distances between rows), or a number > 0", .value = "H",
          .choices = [] { return std::vector<std::string>{"median"}; }, .set = set_bandwidth,
          .get = [](const Settings& s) { return s.bandwidth ? shortest(*s.bandwidth) : std::string("median"); },
          .no_effect = unless_kernel},
      row<KQD_FIELD(test.statistic.directions.family)>({.id = "directions", .type = word, .section = "Statistic",
          .commands = kChoosing, .calls = kPairs | kEmbedCommand, .help = "family of directions: {}", .value = "FAMILY",
          .choices = words<DirectionFamily, DirectionFamily::gaussian, DirectionFamily::mixed>,
          .no_effect = unless_directions}),
      row<KQD_FIELD(test.statistic.directions.num_directions)>({.id = "num_directions", .type = count,
          .section = "Statistic", .commands = kChoosing, .calls = kPairs | kEmbedCommand,
          .help = "number of directions (default: 64, more for up to 8,000 rows)",
          .value = "L", .keyword = "n_directions", .lowest = 1, .highest = kLargestCount,
          .no_effect = unless_number_of_directions}),
      row<KQD_FIELD(test.statistic.directions.num_reference)>({.id = "num_reference", .type = count,
          .section = "Statistic", .commands = kChoosing, .calls = kPairs | kEmbedCommand,
          .help = "number of reference points (default: 64, up to 512 where rows are few; pooled rows: min(64, N/8))",
          .value = "M", .keyword = "n_reference",
          .lowest = 1, .highest = kLargestCount, .no_effect = unless_number_of_reference_points}),
      {.id = "reference", .type = points, .section = "Statistic", .commands = kDirected, .calls = kPairs | kEmbedCommand,
          .help = "source of the reference points: {}, or a file of points", .value = "XI",
          .choices = words<ReferenceMeasure, ReferenceMeasure::gaussian, ReferenceMeasure::balanced>,
          .set = set_reference, .get = reference_text, .set_points = set_reference_points,
          .no_effect = unless_reference},
      {.id = "coefficients", .type = points, .section = "Statistic", .commands = kDirected,
          .calls = kPairs | kEmbedCommand,
          .help = "coefficients of the directions: a row for each reference point, a column for each direction",
          .value = "FILE", .set = set_coefficients_file, .get = coefficients_text, .set_points = set_coefficients,
          .no_effect = unless_coefficients},
      row<KQD_FIELD(test.statistic.power)>({.id = "power", .type = real, .section = "Statistic", .commands = kStatistic,
          .calls = kPairs, .help = "order of the distance between quantile functions, >= 1, or inf", .value = "P",
          .lowest = 1, .no_effect = unless_power}),
      {.id = "weighting", .type = word, .section = "Statistic", .commands = kStatistic, .calls = kPairs,
          .help = "weight of quantile levels: {}; with parameters: triangle:0.5, interval:0.1:0.9, beta:2:2, atom:0.5; "
              "mixtures: 0.7 uniform+0.3 atom:0.5; or a file with columns level and density",
          .value = "NU", .choices = weighting_words, .set = set_weighting,
          .get = [](const Settings& s) {
            return s.weighting_file.empty() ? to_string(s.test.statistic.weighting) : s.weighting_file;
          },
          .no_effect = unless_weighting},
      {.id = "compat", .type = list, .section = "Statistic", .commands = kDirected, .calls = kPairs | kEmbedCommand,
          .help = "what the paper's code does differently, by name: {}", .value = "NAMES", .choices = compat_words,
          .set = set_compat, .get = [](const Settings& s) { return s.compat; }, .no_effect = unless_compat},
      row<KQD_FIELD(parameters)>({.id = "parameters", .type = list, .section = "Statistic", .commands = kStatistic | kProfileCommand,
          .help = "a parameter of the method; `kqd methods ID` lists them; may be repeated", .value = "NAME=VALUE",
          .flag = "set"}),
      row<KQD_FIELD(test.statistic.directions.whiten)>({.id = "whiten", .type = flag, .section = "Statistic",
          .commands = kChoosing, .calls = kPairs | kEmbedCommand, .help = "scale principal directions to unit variance",
          .no_effect = unless_principal}),
      row<KQD_FIELD(explain.maximiser)>({.id = "maximiser", .type = word, .section = "Statistic",
          .commands = kExplainCommand, .calls = kExplainCommand,
          .help = "also explain the direction of the largest gap of a method: {}", .value = "ID",
          .choices = methods_with_maximiser}),
      row<KQD_FIELD(test.statistic.allow_quadratic)>({.id = "allow_quadratic", .type = flag, .section = "Statistic",
          .commands = kStatistic, .calls = kPairs,
          .help = "run a method of quadratic or higher cost however long it takes", .flag = "yes-quadratic"}),
      {.id = "levels", .type = text, .section = "Embedding", .commands = kEmbedCommand,
          .help = "levels of the quantiles: numbers from 0 to 1, separated by commas; or how many, evenly spaced",
          .value = "LIST", .set = set_levels, .get = levels_text, .no_effect = with_gram},
      row<KQD_FIELD(embed.gram)>({.id = "gram", .type = flag, .section = "Embedding", .commands = kEmbedCommand,
          .help = "the kernel exp(-d^2/s) between data sets instead of their quantiles, with d the e-KQD of power 2"}),
      {.id = "gram_scale", .type = real, .section = "Embedding", .commands = kEmbedCommand,
          .help = "s of " KQD_OPTION("gram") ", a number > 0 (default: the median of d^2 over all pairs)", .value = "S",
          .set = set_gram_scale,
          .get = [](const Settings& s) { return s.embed.gram_scale ? shortest(*s.embed.gram_scale) : ""; },
          .no_effect = without_gram},
      row<KQD_FIELD(embed.points_file)>({.id = "points", .type = text, .section = "Embedding", .commands = kEmbedCommand,
          .help = "values of the embeddings, which are functions, at the points of FILE: a line for each data set, "
              "direction and level, a column for each point",
          .value = "FILE"}),
      row<KQD_FIELD(embed.inner_products)>({.id = "inner_products", .type = flag, .section = "Embedding",
          .commands = kEmbedCommand,
          .help = "inner products of the embeddings of all data sets, directions and levels"}),
      row<KQD_FIELD(embed.centered)>({.id = "centered", .type = flag, .section = "Embedding", .commands = kEmbedCommand,
          .help = "values and inner products of the centered embeddings", .no_effect = without_elements}),
      row<KQD_FIELD(embed.directions_file)>({.id = "write_directions", .type = text, .section = "Embedding",
          .commands = kEmbedCommand,
          .help = "also write NAME-reference.csv and NAME-coefficients.csv, which " KQD_OPTION("reference") " and "
              KQD_OPTION("coefficients") " read",
          .value = "NAME"}),
      row<KQD_FIELD(test_pairs)>({.id = "test_pairs", .type = flag, .section = "Test", .commands = kMatrixCommand,
          .help = "test every pair too, by the adaptive test unless " KQD_OPTION("method") " names another; p-values "
              "are adjusted for all pairs",
          .flag = "test"}),
      row<KQD_FIELD(test.test.num_permutations)>({.id = "num_permutations", .type = count, .section = "Test",
          .commands = kTestCommand | kExplainCommand | kMatrixCommand | kMonitorCommand, .calls = kTestCommand | kExplainCommand,
          .help = "number of random permutations; explain and matrix draw more than 999 by default if adjusting "
              "p-values needs them",
          .value = "B", .flag = "permutations", .keyword = "n_resamples", .lowest = 1, .highest = 1'000'000'000,
          .get = text_unless_zero<KQD_FIELD(test.test.num_permutations)>, .no_effect = with_asymptotic_calibration}),
      row<KQD_FIELD(test.test.alpha)>({.id = "alpha", .type = real, .section = "Test",
          .commands = kTestCommand | kExplainCommand | kMatrixCommand | kMonitorCommand, .calls = kTestCommand | kExplainCommand,
          .help = "significance level, between 0 and 1", .value = "A", .lowest = 0, .highest = 1,
          .no_effect = without_tests}),
      {.id = "design", .type = word, .section = "Test", .commands = kTestCommand | kExplainCommand,
          .calls = kTestCommand | kExplainCommand,
          .help = "independent, paired (row i of X with row i of Y), blocks:COLUMN (permute within), clusters:COLUMN "
              "(permute whole clusters)",
          .value = "DESIGN",
          .choices = [] { return std::vector<std::string>{"independent", "paired", "blocks:", "clusters:"}; },
          .set = set_design, .get = design_text},
      row<KQD_FIELD(test.weights_as)>({.id = "weights_as", .type = word, .section = "Test",
          .commands = kTestCommand | kExplainCommand | kMatrixCommand, .calls = kTestCommand | kExplainCommand,
          .help = "meaning of the weights: {} (default: frequency, if the weights of the samples look alike)",
          .value = "KIND", .choices = words<WeightsAs, WeightsAs::frequency, WeightsAs::sampling>}),
      row<KQD_FIELD(test.calibration)>({.id = "calibration", .type = word, .section = "Test", .commands = kTestCommand,
          .calls = kTestCommand,
          .help = "permutation, sign-flip (swaps of x_i and y_i; nx = ny), or asymptotic (the limiting distribution, "
              "for methods that have one)",
          .value = "NAME", .choices = words<Calibration, Calibration::permutation, Calibration::asymptotic>}),
      row<KQD_FIELD(test.permute)>({.id = "permute", .type = word, .section = "Test",
          .commands = kTestCommand | kMatrixCommand, .calls = kTestCommand,
          .help = "permute single rows, groups of rows (large samples: fast, exact, on a grid of 256 bins per "
              "direction), or auto: groups above 100,000 rows or 10^8 numbers where the method can",
          .value = "rows|groups|auto", .choices = words<Permute, Permute::automatic, Permute::groups>,
          .no_effect = with_asymptotic_calibration}),
      {.id = "groups", .type = text, .section = "Test", .commands = kTestCommand | kProfileCommand | kMonitorCommand,
          .help = "assign rows to groups at random, by the key in a column (rows of a user stay together), or in blocks "
              "along a column (rows that depend on those before)",
          .value = "random|key:COLUMN|blocks:COLUMN", .set = set_groups,
          .get = [](const Settings& s) { return to_string(s.test.groups); },
          .no_effect = with_asymptotic_calibration},
      row<KQD_FIELD(test.test.early_stop)>({.id = "early_stop", .type = word, .section = "Test",
          .commands = kTestCommand, .calls = kTestCommand,
          .help = "stop drawing permutations when the decision is clear, by betting; "
              KQD_OPTION("early_stop=besag-clifford") ": by another rule",
          .choices = words<EarlyStop, EarlyStop::none, EarlyStop::betting>, .bare = "betting",
          .no_effect = with_asymptotic_calibration}),
      row<KQD_FIELD(test.set_aside)>({.id = "set_aside", .type = flag, .section = "Test", .commands = kTestCommand,
          .calls = kTestCommand, .help = "hold out pooled reference points from the samples", .value = "yes|no",
          .choices = [] { return std::vector<std::string>{"yes", "no"}; }, .no_effect = with_asymptotic_calibration}),
      row<KQD_FIELD(test.test.randomised_ties)>({.id = "randomised_ties", .type = flag, .section = "Test",
          .commands = kTestCommand, .calls = kTestCommand,
          .help = "break ties at random, by seed and data: p is exactly uniform under H0", .flag = "randomise-ties",
          .no_effect = with_asymptotic_calibration}),
      row<KQD_FIELD(test.effect_interval)>({.id = "effect_interval", .type = flag, .section = "Test",
          .commands = kTestCommand, .calls = kTestCommand,
          .help = "add a confidence interval for the effect size (199 half-samples)",
          .no_effect = with_asymptotic_calibration}),
      {.id = "tolerance", .type = word, .section = "Test", .commands = kTestCommand, .calls = kTestCommand,
          .help = "does the difference matter? Test for an effect larger than D, as far apart as a shift by D standard "
              "deviations in one column; auto: than those of the batches of " KQD_OPTION("against"),
          .value = "D", .choices = [] { return std::vector<std::string>{"auto"}; },
          .set = set_margin<MarginKind::tolerance>, .get = margin_text<MarginKind::tolerance>},
      {.id = "equivalent", .type = real, .section = "Test", .commands = kTestCommand, .calls = kTestCommand,
          .help = "are they alike enough? Test for an effect smaller than D, as of " KQD_OPTION("tolerance"),
          .value = "D", .set = set_margin<MarginKind::equivalent>, .get = margin_text<MarginKind::equivalent>},
      row<KQD_FIELD(against)>({.id = "against", .type = list, .section = "Test", .commands = kTestCommand,
          .help = "a reference batch like Y, for " KQD_OPTION("tolerance=auto") "; may be repeated, 19 or more make an "
              "exact test at level 0.05",
          .value = "FILE", .no_effect = without_batches}),
      row<KQD_FIELD(test.test.confidence)>({.id = "confidence", .type = real, .section = "Test", .commands = 0,
          .calls = kTestCommand, .help = "confidence level of the intervals", .keyword = "confidence_level",
          .lowest = 0, .highest = 1}),
      row<KQD_FIELD(test.test.keep_null_distribution)>({.id = "keep_null_distribution", .type = flag, .section = "Test",
          .commands = kTestCommand, .calls = kTestCommand,
          .help = "with " KQD_OPTION("json") ": the value of every permutation",
          .flag = "null-distribution", .keyword = "null_distribution", .no_effect = with_asymptotic_calibration}),
      {.id = "baseline", .type = word, .section = "Monitor", .commands = kMonitorCommand,
          .help = "compare each batch with the first file (fixed), with the first N files together (first:N), or with the "
              "last batches (previous, rolling:N)",
          .value = "fixed|first:N|previous|rolling:N",
          .set = [](Settings& s, const OptionInfo& /*self*/,
                    std::string_view text) { s.monitor.baseline = parse_baseline_rule(text); },
          .get = [](const Settings& s) { return to_string(s.monitor.baseline); }},
      {.id = "adjust", .type = word, .section = "Monitor", .commands = kMonitorCommand,
          .help = "adjust p-values for the number of batches: benjamini-hochberg (share of false findings) or holm "
              "(any false finding)",
          .value = "RULE", .choices = words<Adjustment, Adjustment::benjamini_hochberg, Adjustment::holm>,
          .set = [](Settings& s, const OptionInfo& /*self*/,
                    std::string_view text) { s.monitor.adjustment = parse_adjustment(text); },
          .get = [](const Settings& s) { return to_string(s.monitor.adjustment); }},
      row<KQD_FIELD(monitor.alarm)>({.id = "alarm", .type = flag, .section = "Monitor", .commands = kMonitorCommand,
          .help = "decide by the alarm, which may be looked at after every batch: while nothing changes it is raised "
              "with probability " KQD_OPTION("alpha") " at most, ever"}),
      {.id = "average_run_length", .type = real, .section = "Monitor", .commands = kMonitorCommand,
          .help = "let the alarm be raised once in N batches on average while nothing changes, instead of never with "
              "high probability",
          .value = "N",
          .set = [](Settings& s, const OptionInfo& self, std::string_view text) {
            const auto length = parse_number(text);
            constexpr double kLeast = 10.0;
            constexpr double kMost = 1e9;
            if (!length || !(*length >= kLeast && *length <= kMost)) fail_option(self.id, text, "a number from 10 to 10^9");
            s.monitor.average_run_length = length;
          },
          .get = [](const Settings& s) {
            return s.monitor.average_run_length ? shortest(*s.monitor.average_run_length) : std::string();
          }},
      row<KQD_FIELD(monitor.state_file)>({.id = "state", .type = text, .section = "Monitor", .commands = kMonitorCommand,
          .help = "continue from this file if it is there, and write it: later runs need new batches only",
          .value = "FILE"}),
      row<KQD_FIELD(monitor.show)>({.id = "show", .type = flag, .section = "Monitor", .commands = kMonitorCommand,
          .help = "print what " KQD_OPTION("state") " has, without a new batch"}),
      row<KQD_FIELD(monitor.time_column)>({.id = "time_column", .type = text, .section = "Monitor",
          .commands = kMonitorCommand, .help = "one file has all batches: cut it by the times in this column",
          .value = "COLUMN", .flag = "time"}),
      {.id = "every", .type = word, .section = "Monitor", .commands = kMonitorCommand,
          .help = "length of a batch by time: day, week, month, or a number of rows", .value = "day|week|month|N",
          .set = [](Settings& s, const OptionInfo& self, std::string_view text) {
            if (text != "day" && text != "week" && text != "month") {
              static_cast<void>(whole_number(self.id, text, 1, kMostRows));
            }
            s.monitor.every = text;
          },
          .get = [](const Settings& s) { return s.monitor.every; },
          .no_effect = [](const Settings& s) -> std::string {
            return s.monitor.time_column.empty() ? "without " KQD_OPTION("time_column") : "";
          }},
      row<KQD_FIELD(test.statistic.seed.value)>({.id = "seed", .type = count, .section = "Run", .commands = kInputs,
          .calls = kCalls | kEmbedCommand, .help = "every random draw follows from it", .value = "S", .keyword = "rng",
          .lowest = 0, .highest = std::numeric_limits<std::uint64_t>::max()}),
      row<KQD_FIELD(test.statistic.threads.value)>({.id = "threads", .type = count, .section = "Run", .commands = kInputs,
          .calls = kCalls | kEmbedCommand, .help = "0: as many as the system has; changes the speed, not the result",
          .value = "T", .keyword = "workers", .lowest = 0, .highest = 1024}),
      row<KQD_FIELD(test.statistic.max_memory)>({.id = "max_memory", .type = size, .section = "Run", .commands = kAll | kProfileCommand,
          .calls = kCalls,
          .help = "memory limit next to the data, as 800MB or 2GB, and for data from a pipe or .csv.gz; changes the "
              "speed, not the result",
          .value = "SIZE",
          .get = memory_text, .no_effect = unless_memory_is_bounded}),
      row<KQD_FIELD(output.json)>({.id = "json", .type = flag, .section = "Output", .commands = kFiles | kMonitorCommand,
          .help = "print one JSON object"}),
      row<KQD_FIELD(output.json_lines)>({.id = "json_lines", .type = flag, .section = "Output",
          .commands = kMonitorCommand, .help = "print a JSON object per batch, each on a line"}),
      row<KQD_FIELD(output.csv)>({.id = "csv", .type = flag, .section = "Output", .commands = kFiles | kMonitorCommand,
          .help = "print CSV: a line of names, then the values (explain: a line per column; matrix: a square table, "
              "or with " KQD_OPTION("test_pairs") " a line per pair)"}),
      row<KQD_FIELD(output.markdown)>({.id = "markdown", .type = flag, .section = "Output", .commands = kAll | kMonitorCommand,
          .help = "print tables in Markdown"}),
      row<KQD_FIELD(output.quiet)>({.id = "quiet", .type = flag, .section = "Output", .commands = kFiles | kMonitorCommand,
          .help = "print the result only (test: the p-value; distance, matrix: numbers; explain: the names of columns "
              "that differ) and no notes"}),
      row<KQD_FIELD(output.file)>({.id = "output", .type = text, .section = "Output", .commands = kFiles | kMonitorCommand,
          .help = "write to a file instead of standard output (-)", .value = "FILE"}),
      row<KQD_FIELD(output.report)>({.id = "report", .type = text, .section = "Output", .commands = kStatistic | kMonitorCommand,
          .help = "also write an HTML page: the result in words and charts; opens in a browser, without a network",
          .value = "FILE"}),
      row<KQD_FIELD(output.rows_csv)>({.id = "rows_csv", .type = text, .section = "Output", .commands = kExplainCommand,
          .help = "also write the score of every row, > 0 where it is like the second sample, as CSV",
          .value = "FILE"}),
      {.id = "image_shape", .type = text, .section = "Output", .commands = kPairs | kExplainCommand,
          .calls = kExplainCommand,
          .help = "rows are images of this height and width (default: read from the header of IDX files); for explain "
              "and " KQD_OPTION("report"),
          .value = "HxW[xC]", .set = set_image_shape, .get = image_shape_text, .no_effect = without_report},
      row<KQD_FIELD(output.exit_code)>({.id = "exit_code", .type = flag, .section = "Output", .commands = kTestCommand | kMonitorCommand,
          .help = "exit with 1 when a difference is found; with " KQD_OPTION("tolerance") ": when it is larger, with "
              KQD_OPTION("equivalent") ": unless it is smaller"}),
      row<KQD_FIELD(output.config)>({.id = "config", .type = text, .section = "Output", .commands = kFiles | kMonitorCommand,
          .help = "read options from a TOML file; those on the command line win", .value = "FILE"}),
  };
}
// clang-format on

#undef KQD_FIELD

}  // namespace

std::span<const OptionInfo> options() {
  static const std::vector<OptionInfo> table = [] {
    std::vector<OptionInfo> rows = make_table();
    // kqd.matrix has what kqd matrix has of the options of tests and distances.
    for (OptionInfo& row : rows) {
      const bool of_pairs = (row.calls & kPairs) != 0 || row.id == "test_pairs";
      if (of_pairs && (row.commands & kMatrixCommand) != 0) row.calls |= kMatrixCommand;
    }
    return rows;
  }();
  return table;
}

}  // namespace kqd
