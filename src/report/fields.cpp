#include "report/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "core/executor.hpp"
#include "core/text.hpp"
#include "core/warning_sentence.hpp"
#include "io/text.hpp"
#include "kqd/kernel/objects.hpp"
#include "kqd/version.hpp"
#include "simd/target.hpp"

namespace kqd {
namespace {

constexpr std::string_view kRunLabel = "run";

std::string reference_phrase(ReferenceMeasure measure, const RunInfo& run) {
  switch (measure) {
    case ReferenceMeasure::gaussian:
      return "from a Gaussian fitted to the pool";
    case ReferenceMeasure::uniform:
      return "from a uniform distribution fitted to the pool";
    case ReferenceMeasure::pooled:
      return "from the pooled rows";
    case ReferenceMeasure::balanced:
      return fmt::format("half from {}, half from {}", run.x_label, run.y_label);
    case ReferenceMeasure::points:
      return "given";
  }
  return "";
}

std::string directions_word(const MethodRun& run) {
  return run.method->directions.empty() ? to_string(run.options->directions.family)
                                        : std::string(run.method->directions);
}

std::string directions_phrase(const Source& source) {
  const MethodRun& run = source.statistic;
  const DirectionOptions& directions = run.options->directions;
  std::string text = fmt::format("{} {}", run.num_directions, directions_word(run));
  if (directions.family == DirectionFamily::principal) {
    text += fmt::format(", through {} pooled rows as landmarks", run.num_reference);
  } else if (directions.family == DirectionFamily::mixed) {
    text += fmt::format(", through {} landmarks and reference points", run.num_reference);
  } else if (run.num_reference > 0) {
    const RunInfo unnamed;
    text += fmt::format(", {} {}", counted(run.num_reference, "reference point"),
                        reference_phrase(directions.reference, source.run != nullptr ? *source.run : unnamed));
  }
  if (directions.whiten) text += ", whitened";
  if (run.num_set_aside > 0) text += fmt::format(" ({} held out)", counted(run.num_set_aside, "row"));
  return text;
}

// The direction with the largest gap.
struct Maximiser {
  std::size_t direction = 0;
  double gap = 0.0;
  Matrix<double> points = {};  // z, as they are written
  Matrix<double> coefficients = {};
};

std::optional<Maximiser> maximiser_of(const Source& s) {
  if (!s.statistic.method->supremum) return std::nullopt;
  const Directions* const directions = s.distance != nullptr ? s.distance->directions.get() : s.test->directions.get();
  const std::vector<double>& gaps = s.distance != nullptr ? s.distance->per_direction : s.test->per_direction;
  if (directions == nullptr || gaps.empty()) return std::nullopt;
  const auto largest = std::ranges::max_element(gaps);
  DirectionTerms terms = directions->terms();
  return Maximiser{.direction = static_cast<std::size_t>(largest - gaps.begin()),
                   .gap = *largest,
                   .points = as_written(terms.reference, directions->kernel().spec()),
                   .coefficients = std::move(terms.coefficients)};
}

Json maximiser_json(const Source& s) {
  constexpr std::size_t kMostNumbers = 20000;
  const auto found = maximiser_of(s);
  if (!found) return {};
  const Matrix<double>& points = found->points;
  Json json;
  json["direction"] = found->direction;
  json["gap"] = found->gap;
  json["reference_points"] = Json();
  if (!points.empty() && points.rows() * points.cols() <= kMostNumbers) {
    json["reference_points"] = Json::array();
    for (std::size_t j = 0; j < points.rows(); ++j) json["reference_points"].push_back(points.row(j));
  }
  json["coefficients"] = Json::array();
  for (std::size_t j = 0; j < found->coefficients.rows(); ++j) {
    json["coefficients"].push_back(found->coefficients(j, found->direction));
  }
  return json;
}

Lines maximiser_lines(const Source& s) {
  const auto found = maximiser_of(s);
  if (!found) return {};
  const Matrix<double>& c = found->coefficients;
  const std::string which = c.cols() > 1 ? fmt::format("direction {} of {}, ", found->direction + 1, c.cols()) : "";
  if (!found->points.empty()) return {which + "a sum of " + counted(c.rows(), "kernel function")};
  std::vector<std::size_t> order(c.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto shown = static_cast<std::ptrdiff_t>(std::min<std::size_t>(3, order.size()));
  std::ranges::partial_sort(order, order.begin() + shown, std::greater{},
                            [&](std::size_t k) { return std::abs(c(k, found->direction)); });
  std::string weights;
  for (auto k = order.begin(); k != order.begin() + shown; ++k) {
    weights += fmt::format("{}no. {} ({:.3g})", weights.empty() ? "" : ", ", *k + 1, c(*k, found->direction));
  }
  return {which + "largest weights: " + weights};
}

double parameter_of(const MethodOptions& options, const ParameterInfo& parameter) {
  const auto given = options.parameters.find(std::string(parameter.name));
  return given == options.parameters.end() ? parameter.default_value : given->second;
}

Json parameter_json(const ParameterInfo& parameter, double value) {
  if (!parameter.choices.empty()) return parameter_text(parameter, value);
  return parameter.whole ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

Json parameters_json(const MethodRun& run) {
  Json json = Json::object();
  for (const ParameterInfo& parameter : run.method->parameters) {
    json[parameter.name] = parameter_json(parameter, parameter_of(*run.options, parameter));
  }
  return json;
}

Lines parameters_lines(const MethodRun& run) {
  std::string text;
  for (const ParameterInfo& parameter : run.method->parameters) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", parameter.name,
                        parameter_text(parameter, parameter_of(*run.options, parameter)));
  }
  return text.empty() ? Lines{} : Lines{text};
}

Json details_json(const MethodRun& run) {
  Json json = Json::object();
  for (const Detail& detail : *run.details) json[detail.name] = detail.value;
  return json;
}

Lines details_lines(const MethodRun& run) {
  std::string text;
  for (const Detail& detail : *run.details) {
    text += fmt::format("{}{} {:.6g}", text.empty() ? "" : ", ", detail.name, detail.value);
  }
  return text.empty() ? Lines{} : Lines{text};
}

Json compat_json(const MethodOptions& options) {
  Json list = Json::array();
  for (const CompatFlag& flag : compat_flags()) {
    if (flag.is_on(options)) list.push_back(flag.name);
  }
  return list;
}

Lines kernel_lines(const MethodRun& run) {
  if (!run.method->uses.kernel) return {};
  const bool by_rule =
      run.kernel->parts.empty() && first_bandwidth(*run.kernel) && needs_bandwidth(run.options->kernel);
  return {kernel_phrase(*run.kernel) + (by_rule ? " (median rule)" : "")};
}

Lines levels_lines(const MethodRun& run) {
  if (!run.method->uses.weighting) return {};
  return {fmt::format("{} weighting, power p = {}", run.options->weighting.summary(), run.options->power)};
}

Lines power_lines(const MethodRun& run) {
  if (!run.method->uses.power || run.method->uses.weighting) return {};
  return {fmt::format("p = {}", run.options->power)};
}

}  // namespace

std::string size_text(std::span<const std::size_t> sizes, std::size_t dim) {
  const auto [least, most] = std::ranges::minmax(sizes);
  const std::string from = least == most ? "" : fmt::format("{} to ", least);
  if (dim == 0) return from + counted(most, "object");
  return fmt::format("{}{} x {}", from, counted(most, "row"), counted(dim, "column"));
}

namespace {

Lines sample_line(const RunInfo& run, const std::string& name, const std::string& value, std::size_t num_rows) {
  const std::string& column = run.preparation.group_column;
  const auto group = column.empty() ? "" : fmt::format(" with {} = {}", shortened(column), shortened(value));
  return {fmt::format("{}{}, {}", printable(name), group, size_text({&num_rows, 1}, run.dim))};
}

// Characters that change the direction of what follows, as JSON escapes them: a screen shows the text in its order.
std::string with_escapes(std::string text) {
  constexpr std::array<std::pair<std::string_view, unsigned>, 12> kCharacters = {{{"\u061c", 0x061c},
                                                                                  {"\u200e", 0x200e},
                                                                                  {"\u200f", 0x200f},
                                                                                  {"\u202a", 0x202a},
                                                                                  {"\u202b", 0x202b},
                                                                                  {"\u202c", 0x202c},
                                                                                  {"\u202d", 0x202d},
                                                                                  {"\u202e", 0x202e},
                                                                                  {"\u2066", 0x2066},
                                                                                  {"\u2067", 0x2067},
                                                                                  {"\u2068", 0x2068},
                                                                                  {"\u2069", 0x2069}}};
  for (const auto& [character, code] : kCharacters) {
    for (std::size_t at = 0; (at = text.find(character, at)) != std::string::npos;) {
      text.replace(at, character.size(), fmt::format("\\u{:04x}", code));
    }
  }
  return text;
}

Json rows_json(const RowCounts& rows) {
  return {{"read", rows.read},
          {"omitted", rows.omitted},
          {"not_drawn", rows.not_drawn},
          {"missing_values", rows.missing_cells}};
}

Json without_infinity(Json value) {
  if (value.is_number_float() && std::isinf(value.get<double>())) return value.get<double>() < 0.0 ? "-inf" : "inf";
  return value;
}

Value value_of(const Json& json) {
  if (json.is_boolean()) return {json.get<bool>()};
  if (json.is_number_unsigned()) return {json.get<std::uint64_t>()};
  if (json.is_number_integer()) return {json.get<std::int64_t>()};
  if (json.is_number()) return {json.get<double>()};
  if (json.is_string()) return {json.get<std::string>()};
  if (json.is_array()) {
    std::vector<Value> list;
    for (const Json& entry : json) list.push_back(value_of(entry));
    return {std::move(list)};
  }
  if (json.is_object()) {
    std::vector<NamedValue> entries;
    for (const auto& [name, entry] : json.items()) entries.push_back({name, value_of(entry)});
    return {std::move(entries)};
  }
  return {};
}

}  // namespace

// ---- Rows of the table that several kinds of results share ----

Field schema_field(Json (*value)(const Source&)) {
  return {{"schema", "name and version of this object's layout", Block::none, "", true, ""}, value};
}

Field version_field() {
  return {{"version", "version of kqd", Block::none, "", true, ""}, [](In) { return Json(kVersion); }};
}

Field method_field() {
  return {{"method", "id of the method", Block::setting}, [](In s) { return Json(s.statistic.method->id); }};
}

Fields sample_fields() {
  using enum Block;
  return {
      {{"x", "source of sample X", data, "X", true, ""},
       [](In s) { return Json(s.run->x_name); },
       [](In s) { return sample_line(*s.run, s.run->x_name, s.run->preparation.group_x, s.run->n_x); }},
      {{"y", "source of sample Y", data, "Y", true, ""},
       [](In s) { return Json(s.run->y_name); },
       [](In s) { return sample_line(*s.run, s.run->y_name, s.run->preparation.group_y, s.run->n_y); }},
      {{"n_x", "number of rows of X", data, "rows of X"}, [](In s) { return Json(s.run->n_x); }},
      {{"n_y", "number of rows of Y", data, "rows of Y"}, [](In s) { return Json(s.run->n_y); }},
      {{"dim", "number of columns that were compared; 0 for objects", data, "columns"},
       [](In s) { return Json(s.run->dim); }},
      {{"names", "[x, y]: what texts and figures call the samples", data, "names", true},
       [](In s) {
         return Json{s.run->x_label, s.run->y_label};
       }},
  };
}

Field maximiser_field() {
  return {{"maximiser",
           "of a largest gap over directions: the direction (index in per_direction), its gap, and reference_points z "
           "and coefficients c of u = sum_j c_j k(z_j, .); points are numbers of pooled objects from 1, and null for "
           "functions of the columns and for more than 20000 numbers; null for other methods",
           Block::result, "maximiser", false},
          [](In s) { return maximiser_json(s); },
          maximiser_lines};
}

Field data_field() {
  return {{"data", "how the data were prepared: rows, missing values, encodings, scaling", Block::data, "data", false},
          [](In s) { return preparation_json(s.run->preparation); },
          [](In s) {
            return describe(s.run->preparation, {s.option_names, s.run->x_label, s.run->y_label});
          }};
}

Fields method_fields() {
  using enum Block;
  return {
      {{"kernel", "kernel with the bandwidths that were used; null without a kernel", setting},
       [](In s) { return s.statistic.method->uses.kernel ? Json(to_string(*s.statistic.kernel)) : Json(); },
       [](In s) { return kernel_lines(s.statistic); }},
      {{"bandwidth", "bandwidth of the first part of the kernel that has one", setting},
       [](In s) {
         const auto bandwidth = first_bandwidth(*s.statistic.kernel);
         return s.statistic.method->uses.kernel && bandwidth ? Json(*bandwidth) : Json();
       }},
      {{"directions", "family of directions; null without directions", setting},
       [](In s) { return s.statistic.num_directions > 0 ? Json(directions_word(s.statistic)) : Json(); },
       [](In s) { return s.statistic.num_directions > 0 ? Lines{directions_phrase(s)} : Lines{}; }},
      {{"num_directions", "number of directions", setting, "number of directions", true, "n_directions"},
       [](In s) { return Json(s.statistic.num_directions); }},
      {{"num_reference", "number of reference points that span the directions", setting, "reference points", true,
        "n_reference"},
       [](In s) { return Json(s.statistic.num_reference); }},
      {{"n_set_aside", "rows held out because they are reference points; 0 for a distance", setting, "held-out rows"},
       [](In s) { return Json(s.statistic.num_set_aside); }},
      {{"reference", "source of the reference points; null without reference points", setting, "reference measure"},
       [](In s) {
         return s.statistic.num_reference > 0 ? Json(to_string(s.statistic.options->directions.reference)) : Json();
       }},
      {{"whiten", "whether principal directions are scaled to unit variance", setting, "whitened"},
       [](In s) { return Json(s.statistic.options->directions.whiten); }},
      {{"compat", "compatibility flags that were on", setting, "compatibility"},
       [](In s) { return compat_json(*s.statistic.options); }},
      {{"power", "order p of the distance between quantile functions; \"inf\" for infinity", setting},
       [](In s) { return s.statistic.method->uses.power ? Json(s.statistic.options->power) : Json(); },
       [](In s) { return power_lines(s.statistic); }},
      {{"weighting", "weighting of the quantile levels; null for methods without levels", setting, "levels"},
       [](In s) {
         return s.statistic.method->uses.weighting ? Json(to_string(s.statistic.options->weighting)) : Json();
       },
       [](In s) { return levels_lines(s.statistic); }},
      {{"parameters", "the method's own parameters, defaults included", setting},
       [](In s) { return parameters_json(s.statistic); },
       [](In s) { return parameters_lines(s.statistic); }},
      {{"details", "numbers specific to the method, such as \"converged\"", setting},
       [](In s) { return details_json(s.statistic); },
       [](In s) { return details_lines(s.statistic); }},
  };
}

namespace {

Json settings_json(const NamedSettings& settings) {
  Json json = Json::object();
  for (const auto& [name, value] : settings) json[name] = value;
  return json;
}

}  // namespace

Fields run_fields() {
  using enum Block;
  return {
      {{"settings", "options of data, statistic and test that were set, by their names in C++, as texts", Block::none,
        "settings", true, ""},
       [](In s) { return settings_json(s.settings); }},
      {{"seed", "seed of the random numbers: the same seed gives the same result", setting},
       [](In s) { return Json(s.seed.value); }},
      {{"threads", "number of threads; it does not change the result", setting},
       [](In s) { return Json(resolve(s.threads)); }},
      {{"simd", "vector instruction set that was used", setting, "instruction set"},
       [](In) { return Json(simd_name()); }},
      {{"bits", "\"fma\": same bits on every CPU with fused multiply-add; \"no-fma\" on others", setting, "arithmetic"},
       [](In) { return Json(bits_name()); }},
      {{"elapsed_s", "wall-clock time in seconds", setting, "seconds"},
       [](In s) { return Json(s.elapsed_s); },
       [](In s) { return Lines{run_phrase(s)}; },
       kRunLabel},
      {{"warnings", "reasons why the result may be misleading"}, [](In s) { return warnings_json(s.warnings, s); }},
  };
}

Fields joined(std::vector<Fields> parts) {
  Fields all;
  for (Fields& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// ---- From the table to the forms of output ----

Json object_of(const Fields& fields, const Source& source) {
  Json json;
  for (const Field& field : fields) json[field.info.name] = without_infinity(field.value(source));
  return json;
}

// As JSON writes it, so that numbers read back as the same doubles; texts without their quotes.
std::string cell_of(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_structured()) return value.dump();
  if (value.is_object() && value.contains("id") && value.contains("text")) return cell_of(value["text"]);  // a warning
  std::string cell;
  for (const auto& [key, part] : value.items()) {
    cell += fmt::format("{}{}{}", cell.empty() ? "" : "; ", value.is_object() ? key + "=" : "", cell_of(part));
  }
  return cell;
}

std::string csv_of(const Fields& fields, const Source& source) {
  std::vector<std::string> head;
  std::vector<std::string> cells;
  for (const Field& field : fields) {
    if (!field.info.in_csv) continue;
    const std::string_view name = field.info.name;
    const Json value = without_infinity(field.value(source));
    if (name.ends_with("_ci")) {
      const std::string base(name.substr(0, name.size() - 3));
      const bool known = value.is_array() && value.size() == 2;
      head.insert(head.end(), {base + "_lower", base + "_upper"});
      cells.insert(cells.end(), {known ? cell_of(value[0]) : "", known ? cell_of(value[1]) : ""});
      continue;
    }
    head.emplace_back(name);
    cells.push_back(cell_of(value));
  }
  return csv_line(head) + csv_line(cells);
}

Rows rows_of(const Fields& fields, Block block, const Source& source) {
  Rows rows;
  for (const Field& field : fields) {
    if (field.info.block != block || field.lines == nullptr) continue;
    std::string label(field.row_label.empty() ? field.info.label : field.row_label);
    if (field.info.name == "x") label = source.run->x_label;
    if (field.info.name == "y") label = source.run->y_label;
    for (std::string& line : field.lines(source)) rows.push_back({label, std::move(line)});
  }
  return rows;
}

ResultValues values_of(const Fields& fields, const Source& source, Rows rows) {
  ResultValues values;
  for (const Field& field : fields) {
    if (field.info.python.empty()) continue;
    values.fields.push_back({std::string(field.info.python), value_of(field.value(source))});
  }
  rows = std::move(rows) + rows_of(fields, Block::data, source) + rows_of(fields, Block::setting, source);
  for (Row& row : rows) {
    if (row.label != kRunLabel) values.lines.emplace_back(std::move(row.label), std::move(row.text));
  }
  return values;
}

Json setting_labels(const Fields& fields) {
  Json labels = Json::object();
  for (const Field& field : fields) {
    if (field.info.block == Block::setting) labels[field.info.name] = field.info.label;
  }
  return labels;
}

std::vector<FieldInfo> result_fields(ResultKind kind) {
  const auto infos = [](const auto& fields) {
    std::vector<FieldInfo> list;
    for (const auto& field : fields) list.push_back(field.info);
    return list;
  };
  switch (kind) {
    case ResultKind::test:
      return infos(test_field_list());
    case ResultKind::distance:
      return infos(distance_field_list());
    case ResultKind::matrix:
      return infos(matrix_field_list());
    case ResultKind::explanation:
      return infos(explanation_field_list());
    case ResultKind::embedding:
      return infos(embedding_field_list());
    case ResultKind::monitor:
      return infos(monitor_field_list());
  }
  return {};
}

Rows closing_rows(const Fields& fields, const Source& source) {
  Rows rows = rows_of(fields, Block::data, source) + rows_of(fields, Block::setting, source);
  for (std::string& line : warning_lines(source.warnings, source)) {
    rows.push_back({"warning", std::move(line), Tone::caution});
  }
  return rows;
}

// The sentence of a warning, with the names of the samples.
std::string sentence_of(const Warning& warning, const Source& source) {
  if (source.run == nullptr) return render(warning, source.option_names);
  return sentence_about(source.run->x_label, source.run->y_label, warning, source.option_names);
}

Json warnings_json(const Warnings& warnings, const Source& source) {
  Json list = Json::array();
  for (const Warning& warning : warnings) {
    list.push_back({{"id", warning_name(warning.id)}, {"text", sentence_of(warning, source)}});
  }
  return list;
}

Lines warning_lines(const Warnings& warnings, const Source& source) {
  Lines lines;
  for (const Warning& warning : warnings) lines.push_back(sentence_of(warning, source));
  return lines;
}

std::string compact(const Json& json) {
  return with_escapes(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string dump(const Json& json) {
  return with_escapes(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

Json preparation_json(const Preparation& prepared, const std::vector<RowCounts>& rows) {
  Json json;
  json["columns_read"] = prepared.columns_read;
  json["columns_used"] = prepared.columns_used;
  if (rows.empty()) {
    json["rows_x"] = rows_json(prepared.x);
    json["rows_y"] = rows_json(prepared.y);
  }
  for (const RowCounts& counts : rows) json["rows"].push_back(rows_json(counts));
  json["columns"] = Json::array();
  for (const ColumnSource& source : prepared.sources) {
    Json column = {{"name", source.name},
                   {"type", to_string(source.type)},
                   {"excluded", source.excluded},
                   {"missing_x", source.missing_x},
                   {"missing_y", source.missing_y}};
    if (!source.levels.empty()) column["levels"] = source.levels;
    if (!source.note.empty()) column["note"] = source.note;
    json["columns"].push_back(std::move(column));
  }
  json["na"] = to_string(prepared.na);
  json["categorical"] = to_string(prepared.categorical);
  json["encoded"] = Json::object();
  for (const EncodedColumn& column : prepared.encoded) json["encoded"][column.name] = column.num_columns;
  json["dropped_texts"] = prepared.dropped_texts;
  json["dates"] = prepared.dates;
  json["booleans"] = prepared.booleans;
  json["offsets"] = Json::object();
  for (const OffsetColumn& column : prepared.offsets) json["offsets"][column.name] = column.offset;
  json["standardize"] = to_string(prepared.standardize);
  if (prepared.max_rows > 0) json["max_rows"] = prepared.max_rows;
  if (!prepared.weights_column.empty()) json["weights"] = prepared.weights_column;
  if (!prepared.unit_column.empty()) json["units"] = prepared.unit_column;
  if (!prepared.group_column.empty()) {
    json["group"] = {{"column", prepared.group_column},
                     {"x", prepared.group_x},
                     {"y", prepared.group_y},
                     {"rows_without", prepared.ungrouped}};
  }
  return json;
}

// ---- Phrases ----

std::string kernel_phrase(const KernelSpec& kernel) {
  const auto bandwidth = first_bandwidth(kernel);
  if (!bandwidth || !kernel.parts.empty()) return to_string(kernel);
  KernelSpec bare = kernel;
  bare.bandwidth.reset();
  return fmt::format("{}, bandwidth {:.6g}", to_string(bare), *bandwidth);
}

std::string run_phrase(const Source& source) {
  return fmt::format("seed {}, {}, {}, {:.2f} s, kqd {}", source.seed.value, counted(resolve(source.threads), "thread"),
                     simd_name(), source.elapsed_s, kVersion);
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string rounded(double value, int digits) {
  const double size = std::abs(value);
  const bool is_long = size >= std::pow(10.0, digits) && size < 1e6;
  return is_long ? fmt::format("{:.0f}", value) : fmt::format("{:.{}g}", value, digits);
}

std::string interval_phrase(double confidence, double lower, double upper, std::string_view kind) {
  return fmt::format("{:g}% {} {} to {}", 100.0 * confidence, kind, rounded(lower, 2), rounded(upper, 2));
}

std::string explained(const std::string& number, const std::string& explanation) {
  return fmt::format("{:<7} ({})", number, explanation);
}

std::string simd_name() {
  return simd::target_name();
}
std::string bits_name() {
  return simd::has_fma() ? "fma" : "no-fma";
}

}  // namespace kqd
