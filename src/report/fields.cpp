#include "report/fields.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "core/executor.hpp"
#include "core/text.hpp"
#include "io/text.hpp"
#include "kqd/version.hpp"
#include "simd/target.hpp"

namespace kqd {
namespace {

std::string reference_phrase(ReferenceMeasure measure) {
  switch (measure) {
    case ReferenceMeasure::gaussian:
      return "from a Gaussian fitted to the pool";
    case ReferenceMeasure::uniform:
      return "from a uniform distribution fitted to the pool";
    case ReferenceMeasure::pooled:
      return "from the pooled rows";
    case ReferenceMeasure::balanced:
      return "half from X, half from Y";
    case ReferenceMeasure::points:
      return "given";
  }
  return "";
}

std::string directions_word(const Made& made) {
  return made.method.directions.empty() ? to_string(made.options.directions.family)
                                        : std::string(made.method.directions);
}

std::string directions_phrase(const Made& made) {
  const DirectionOptions& directions = made.options.directions;
  std::string text = fmt::format("{} {}", made.num_directions, directions_word(made));
  if (directions.family == DirectionFamily::principal) {
    text += fmt::format(", through {} pooled rows as landmarks", made.num_reference);
  } else if (directions.family == DirectionFamily::mixed) {
    text += fmt::format(", through {} landmarks and reference points", made.num_reference);
  } else if (made.num_reference > 0) {
    text += fmt::format(", {} reference point{} {}", made.num_reference, plural(made.num_reference),
                        reference_phrase(directions.reference));
  }
  if (directions.whiten) text += ", whitened";
  if (made.num_set_aside > 0) {
    text += fmt::format(" ({} row{} set aside)", made.num_set_aside, plural(made.num_set_aside));
  }
  return text;
}

double parameter_of(const MethodOptions& options, const ParameterInfo& parameter) {
  const auto given = options.parameters.find(std::string(parameter.name));
  return given == options.parameters.end() ? parameter.default_value : given->second;
}

// What the method only has: its parameters, and what it found on the way.
Rows own_rows(const Made& made) {
  std::string settings;
  for (const ParameterInfo& parameter : made.method.parameters) {
    settings += fmt::format("{}{} = {}", settings.empty() ? "" : ", ", parameter.name,
                            parameter_text(parameter, parameter_of(made.options, parameter)));
  }
  std::string details;
  for (const Detail& detail : made.details) {
    details += fmt::format("{}{} {:.6g}", details.empty() ? "" : ", ", detail.name, detail.value);
  }
  Rows rows;
  if (!settings.empty()) rows.push_back({"settings", settings});
  if (!details.empty()) rows.push_back({"details", details});
  return rows;
}

Json parameter_json(const ParameterInfo& parameter, double value) {
  if (!parameter.choices.empty()) return parameter_text(parameter, value);
  return parameter.whole ? Json(static_cast<std::int64_t>(value)) : Json(value);
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

}  // namespace

std::string compact(const Json& json) {
  return with_escapes(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string_view plural(std::size_t count) {
  return count == 1 ? "" : "s";
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

std::string kernel_phrase(const KernelSpec& kernel) {
  const auto bandwidth = first_bandwidth(kernel);
  if (!bandwidth || !kernel.parts.empty()) return to_string(kernel);
  KernelSpec bare = kernel;
  bare.bandwidth.reset();
  return fmt::format("{}, bandwidth {:.6g}", to_string(bare), *bandwidth);
}

Json power_json(double power) {
  return std::isinf(power) ? Json("inf") : Json(power);
}

void add_setting_fields(Json& json, const Made& made, const RunInfo& run, const Warnings& warnings) {
  json["x"] = run.x_name;
  json["y"] = run.y_name;
  json["n_x"] = run.n_x;
  json["n_y"] = run.n_y;
  json["dim"] = run.dim;
  json["data"] = preparation_json(run.preparation);
  add_made_fields(json, made, run.elapsed_s, warnings, run.option_names);
}

Json warnings_json(const Warnings& warnings, OptionNames names) {
  Json list = Json::array();
  for (const Warning& warning : warnings) {
    list.push_back({{"id", warning_name(warning.id)}, {"text", render(warning, names)}});
  }
  return list;
}

void add_made_fields(Json& json, const Made& made, double elapsed_s, const Warnings& warnings, OptionNames names) {
  const auto bandwidth = first_bandwidth(made.kernel);
  const MethodOptions& options = made.options;
  const bool directed = made.num_directions > 0;
  const bool kernel = made.method.uses.kernel;
  json["kernel"] = kernel ? Json(to_string(made.kernel)) : Json(nullptr);
  json["bandwidth"] = kernel && bandwidth ? Json(*bandwidth) : Json(nullptr);
  json["directions"] = directed ? Json(directions_word(made)) : Json(nullptr);
  json["num_directions"] = made.num_directions;
  json["num_reference"] = made.num_reference;
  json["n_set_aside"] = made.num_set_aside;
  json["reference"] = made.num_reference > 0 ? Json(to_string(options.directions.reference)) : Json(nullptr);
  json["whiten"] = options.directions.whiten;
  json["compat"] = Json::array();
  for (const CompatFlag& flag : compat_flags()) {
    if (flag.is_on(options)) json["compat"].push_back(flag.name);
  }
  json["power"] = made.method.uses.power ? power_json(options.power) : Json(nullptr);
  json["weighting"] = made.method.uses.weighting ? Json(to_string(options.weighting)) : Json(nullptr);
  json["parameters"] = Json::object();
  for (const ParameterInfo& parameter : made.method.parameters) {
    json["parameters"][parameter.name] = parameter_json(parameter, parameter_of(options, parameter));
  }
  json["details"] = Json::object();
  for (const Detail& detail : made.details) json["details"][detail.name] = detail.value;
  json["seed"] = options.seed.value;
  json["threads"] = resolve(options.threads);
  json["simd"] = simd_name();
  json["bits"] = bits_name();
  json["elapsed_s"] = elapsed_s;
  json["warnings"] = warnings_json(warnings, names);
}

std::string dump(const Json& json) {
  return with_escapes(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

Rows data_rows(const RunInfo& run) {
  const Preparation& prepared = run.preparation;
  const auto columns = fmt::format("{} column{}", run.dim, plural(run.dim));
  const auto sample = [&](const std::string& name, const std::string& value, std::size_t rows) {
    const auto group = prepared.group_column.empty()
                           ? ""
                           : fmt::format(" with {} = {}", shortened(prepared.group_column), shortened(value));
    return fmt::format("{}{}, {} x {}", printable(name), group, rows, columns);
  };
  Rows rows = {{"X", sample(run.x_name, prepared.group_x, run.n_x)},
               {"Y", sample(run.y_name, prepared.group_y, run.n_y)}};
  for (std::string& sentence : describe(prepared)) rows.push_back({"data", std::move(sentence)});
  return rows;
}

Rows setting_rows(const Made& made) {
  const MethodUses& uses = made.method.uses;
  Rows rows;
  const bool one_by_rule = made.kernel.parts.empty() && needs_bandwidth(made.options.kernel);
  if (uses.kernel) {
    rows.push_back({"kernel", kernel_phrase(made.kernel) + (one_by_rule ? " (median rule)" : "")});
  }
  if (made.num_directions > 0) rows.push_back({"directions", directions_phrase(made)});
  const std::string power = fmt::format("power p = {}", made.options.power);
  if (uses.weighting) {
    rows.push_back({"levels", fmt::format("{} weighting, {}", to_string(made.options.weighting), power)});
  } else if (uses.power) {
    rows.push_back({"power", power});
  }
  return std::move(rows) + own_rows(made);
}

Rows note_rows(const Warnings& notes, OptionNames names) {
  Rows rows;
  for (const Warning& note : notes) rows.push_back({"note", render(note, names)});
  return rows;
}

Rows warning_rows(const Warnings& warnings, OptionNames names) {
  Rows rows;
  for (const Warning& warning : warnings) rows.push_back({"warning", render(warning, names), Tone::caution});
  return rows;
}

Row run_row(Seed seed, ThreadCount threads, double elapsed_s) {
  const unsigned count = resolve(threads);
  return {"run", fmt::format("seed {}, {} thread{}, {}, {:.2f} s, kqd {}", seed.value, count, plural(count),
                             simd_name(), elapsed_s, kVersion)};
}

std::string simd_name() {
  return simd::target_name();
}
std::string bits_name() {
  return simd::has_fma() ? "fma" : "no-fma";
}

}  // namespace kqd
