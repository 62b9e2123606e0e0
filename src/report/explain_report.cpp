#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/executor.hpp"
#include "io/text.hpp"
#include "kqd/report/explanation.hpp"
#include "kqd/version.hpp"
#include "report/fields.hpp"

namespace kqd {
namespace {

using Cells = std::vector<std::string>;
using Table = std::vector<Cells>;

constexpr std::size_t kColumnsInText = 10;
constexpr std::size_t kProfilesInText = 5;
constexpr std::size_t kRowsInText = 5;
constexpr std::size_t kCellsInText = 4;
constexpr std::array<double, 7> kLevelsInText = {0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99};

// What is there to be drawn needs no more than six digits, and half of the room.
double six_digits(double value) {
  const std::string text = fmt::format("{:.6g}", value);
  double rounded = 0.0;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

Json drawn(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(six_digits(value));
  return list;
}

Json profile_json(const QuantileProfile& profile) {
  return {{"levels", drawn(profile.levels)}, {"difference", drawn(profile.difference)}};
}

Json shares_json(const std::optional<TwoValueShares>& shares) {
  if (!shares) return nullptr;
  return {{"value", shares->value}, {"x", shares->x}, {"y", shares->y}};
}

Json column_json(const ColumnExplanation& column) {
  Json json = {{"name", column.name},
               {"index", column.index},
               {"wasserstein", column.wasserstein},
               {"effect", column.effect},
               {"shift", column.shift},
               {"pvalue", column.pvalue},
               {"pvalue_adjusted", column.pvalue_adjusted},
               {"reject", column.reject},
               {"where", to_string(column.where)},
               {"shares", shares_json(column.shares)},
               {"sensitivity", column.sensitivity}};
  if (column.profile) json["profile"] = profile_json(*column.profile);
  return json;
}

Json direction_json(const DirectionExplanation& direction, std::size_t num_examined) {
  Json columns = Json::array();
  for (const ColumnSensitivity& column : direction.columns) {
    columns.push_back({{"name", column.name},
                       {"index", column.index},
                       {"sensitivity", column.sensitivity},
                       {"magnitude", column.magnitude}});
  }
  return {{"name", direction.name},
          {"family", direction.family},
          {"statistic", direction.statistic},
          {"effect", direction.effect},
          {"pvalue", direction.pvalue},
          {"pvalue_adjusted", direction.pvalue_adjusted},
          {"n_directions_examined", num_examined},
          {"reject", direction.reject},
          {"where", to_string(direction.where)},
          {"shares", shares_json(direction.shares)},
          {"profile", profile_json(direction.profile)},
          {"density",
           {{"at", drawn(direction.density.at)}, {"x", drawn(direction.density.x)}, {"y", drawn(direction.density.y)}}},
          {"columns", std::move(columns)}};
}

Json rows_json(const std::vector<ExtremeRow>& rows) {
  Json list = Json::array();
  for (const ExtremeRow& row : rows) {
    list.push_back(
        {{"sample", row.in_y ? "y" : "x"}, {"row", row.row}, {"score", six_digits(row.score)}, {"values", row.values}});
  }
  return list;
}

Json points_json(const std::vector<double>& first, const std::vector<double>& second) {
  Json list = Json::array();
  for (std::size_t i = 0; i < first.size(); ++i) list.push_back({six_digits(first[i]), six_digits(second[i])});
  return list;
}

Json scatter_json(const Scatter& scatter) {
  return {{"names", scatter.names},
          {"x", points_json(scatter.x_first, scatter.x_second)},
          {"y", points_json(scatter.y_first, scatter.y_second)},
          {"shown_x", scatter.x_first.size()},
          {"shown_y", scatter.y_first.size()},
          {"of_x", scatter.of_x},
          {"of_y", scatter.of_y}};
}

Json pictures_json(const std::vector<ExtremeRow>& rows) {
  Json list = Json::array();
  for (const ExtremeRow& row : rows) {
    if (row.pixels.empty()) continue;
    list.push_back({{"sample", row.in_y ? "y" : "x"}, {"row", row.row}, {"pixels", drawn(row.pixels)}});
  }
  return list;
}

Json image_json(const Explanation& explanation) {
  if (!explanation.image) return nullptr;
  const ImageExplanation& image = *explanation.image;
  return {{"height", image.shape.height},
          {"width", image.shape.width},
          {"channels", image.shape.channels},
          {"witness", drawn(image.witness)},
          {"most_x", pictures_json(explanation.most_x)},
          {"most_y", pictures_json(explanation.most_y)},
          {"low", image.low},
          {"high", image.high}};
}

// A line per field, and in lists of objects a line per object: long lists of numbers stay on one.
std::string dump_by_lines(const Json& json) {
  std::string text = "{\n";
  for (const auto& [name, value] : json.items()) {
    text += fmt::format("{}  {}: ", text.size() > 2 ? ",\n" : "", compact(name));
    if (!value.is_array() || value.empty() || !value.front().is_object()) {
      text += compact(value);
      continue;
    }
    for (std::size_t i = 0; i < value.size(); ++i) text += (i == 0 ? "[\n    " : ",\n    ") + compact(value[i]);
    text += "\n  ]";
  }
  return text + "\n}\n";
}

std::string title() {
  return "Where two samples differ: columns, levels, directions and rows";
}

template <class List>
std::size_t num_rejected(const List& list) {
  return static_cast<std::size_t>(std::ranges::count_if(list, [](const auto& item) { return item.reject; }));
}

std::string columns_phrase(const Explanation& e) {
  if (!e.columns_note.empty()) return e.columns_note;
  return fmt::format("{} of {} different, with an expected share of false ones of at most {:g}",
                     num_rejected(e.columns), e.columns.size(), e.alpha);
}

std::string directions_phrase(const Explanation& e) {
  if (!e.directions_note.empty()) return e.directions_note;
  const std::size_t count = num_rejected(e.directions);
  const bool all_shown = count == e.directions.size();
  return fmt::format("{}{} of {} different at level {:g} for all together", all_shown && count > 0 ? "at least " : "",
                     count, e.n_directions_examined, e.alpha);
}

Rows verdict_rows(const Explanation& e) {
  return {{"columns", columns_phrase(e), num_rejected(e.columns) > 0 ? Tone::alert : Tone::plain},
          {"directions", directions_phrase(e), num_rejected(e.directions) > 0 ? Tone::alert : Tone::plain}};
}

std::string pvalue_text(double p) {
  return fmt::format("{:.3g}", p);
}

// A column or direction of two values has no tails: its shares tell more.
std::string place_text(const auto& found) {
  if (!found.shares || found.where == Where::nowhere) return to_string(found.where);
  return fmt::format("share {:.3g} % to {:.3g} %", 100.0 * found.shares->x, 100.0 * found.shares->y);
}

Table column_table(const Explanation& e) {
  Table table = {{"column", "distance", "effect", "median shift", "p-value", "adjusted", "where", "witness"}};
  for (const ColumnExplanation& c : e.columns) {
    if (table.size() > kColumnsInText) break;
    table.push_back({shortened(c.name), fmt::format("{:.4g}", c.wasserstein), fmt::format("{:.3f}", c.effect),
                     fmt::format("{:+.4g}", c.shift + 0.0), pvalue_text(c.pvalue),
                     pvalue_text(c.pvalue_adjusted) + (c.reject ? " *" : ""), place_text(c),
                     fmt::format("{:+.3f}", c.sensitivity)});
  }
  return table;
}

double difference_at(const QuantileProfile& profile, double level) {
  const auto found = std::ranges::find_if(profile.levels, [&](double l) { return l >= level - 1e-9; });
  return profile.difference[static_cast<std::size_t>(found - profile.levels.begin())];
}

// The columns that stand out, or the first one only when none does.
Table level_table(const Explanation& e) {
  Table table = {{"quantile of Y less that of X at"}};
  for (const double level : kLevelsInText) table.front().push_back(fmt::format("{:g}", level));
  for (const ColumnExplanation& c : e.columns) {
    if (table.size() > kProfilesInText || !c.profile || (table.size() > 1 && !c.reject)) break;
    Cells cells = {shortened(c.name)};
    for (const double level : kLevelsInText)
      cells.push_back(fmt::format("{:+.3g}", difference_at(*c.profile, level) + 0.0));
    table.push_back(std::move(cells));
  }
  return table;
}

std::string carriers(const DirectionExplanation& direction) {
  if (direction.family == "column") return "";
  std::string text;
  for (const ColumnSensitivity& c : direction.columns) {
    if (std::ranges::count(text, ',') == 2) break;
    text += fmt::format("{}{} {:+.2g}", text.empty() ? "" : ", ", shortened(c.name), c.sensitivity);
  }
  return text;
}

Table direction_table(const Explanation& e) {
  Table table = {{"direction", "distance", "effect", "p-value", "adjusted", "where", "carried by"}};
  for (const DirectionExplanation& d : e.directions) {
    table.push_back({shortened(d.name), fmt::format("{:.4g}", d.statistic), fmt::format("{:.3f}", d.effect),
                     pvalue_text(d.pvalue), pvalue_text(d.pvalue_adjusted) + (d.reject ? " *" : ""), place_text(d),
                     carriers(d)});
  }
  return table;
}

Table row_table(const Explanation& e, const std::vector<ExtremeRow>& rows, std::string_view what) {
  const std::size_t num_cells = std::min(kCellsInText, e.row_columns.size());
  Table table = {{std::string(what), "row", "score"}};
  for (std::size_t k = 0; k < num_cells; ++k) table.front().push_back(shortened(e.row_columns[k]));
  for (const ExtremeRow& row : rows) {
    if (table.size() > kRowsInText) break;
    Cells cells = {row.in_y ? "of Y" : "of X", fmt::format("{}", row.row), fmt::format("{:+.2f}", row.score)};
    for (std::size_t k = 0; k < num_cells; ++k) cells.push_back(fmt::format("{:.4g}", row.values[k]));
    table.push_back(std::move(cells));
  }
  return table;
}

std::vector<Table> tables(const Explanation& e) {
  return {column_table(e), level_table(e), direction_table(e), row_table(e, e.most_y, "most like Y"),
          row_table(e, e.most_x, "most like X")};
}

// Of rows that were thinned.
std::string of_some_rows(std::string_view what, std::size_t count, const Explanation& e) {
  return count == 0 || count >= e.n_x + e.n_y ? "" : fmt::format(", {} {} rows chosen at random", what, count);
}

Rows closing_rows(const Explanation& e, const RunInfo& run) {
  // With one row per sample there is nothing left to judge by.
  const std::string share =
      e.n_x + e.n_y < 3
          ? ""
          : fmt::format(", explains {:.1f} % of the labels' variance for rows left out", 100.0 * e.witness_share);
  Rows rows = {{"kernel", kernel_phrase(e.kernel) + of_some_rows("principal functions of", e.n_principal_rows, e)},
               {"witness", kernel_phrase(e.witness_kernel) + of_some_rows("fitted to", e.n_witness_rows, e) + share},
               {"calibration",
                e.enumerated ? fmt::format("all {} permutations", e.n_resamples)
                             : fmt::format("{} random permutations, fewer where 100 are as far apart", e.n_resamples)},
               run_row(e.seed, e.threads, run.elapsed_s)};
  return std::move(rows) + note_rows(e.notes, run.option_names) + warning_rows(e.warnings, run.option_names);
}

}  // namespace

std::string explanation_json(const Explanation& e, const RunInfo& run) {
  const auto bandwidth = first_bandwidth(e.kernel);
  Json json;
  json["schema"] = "kqd.explain/1";
  json["version"] = kVersion;
  if (!run.x_name.empty()) {
    json["x"] = run.x_name;
    json["y"] = run.y_name;
  }
  json["n_x"] = e.n_x;
  json["n_y"] = e.n_y;
  json["dim"] = e.dim;
  json["seed"] = e.seed.value;
  json["alpha"] = e.alpha;
  json["n_resamples"] = e.n_resamples;
  json["enumerated"] = e.enumerated;
  json["kernel"] = to_string(e.kernel);
  json["bandwidth"] = bandwidth ? Json(*bandwidth) : Json(nullptr);
  json["principal_rows"] = e.n_principal_rows;
  json["witness_kernel"] = to_string(e.witness_kernel);
  json["witness_share"] = six_digits(e.witness_share);
  json["witness_rows"] = e.n_witness_rows;
  json["data"] = run.x_name.empty() ? Json(nullptr) : preparation_json(run.preparation);
  json["columns"] = Json::array();
  for (const ColumnExplanation& column : e.columns) json["columns"].push_back(column_json(column));
  json["columns_note"] = e.columns_note;
  json["directions"] = Json::array();
  for (const DirectionExplanation& direction : e.directions) {
    json["directions"].push_back(direction_json(direction, e.n_directions_examined));
  }
  json["directions_note"] = e.directions_note;
  json["rows"] = {{"most_x", rows_json(e.most_x)}, {"most_y", rows_json(e.most_y)}};
  json["row_columns"] = e.row_columns;
  json["scatter"] = scatter_json(e.scatter);
  json["image"] = image_json(e);
  json["threads"] = resolve(e.threads);
  json["simd"] = simd_name();
  json["bits"] = bits_name();
  json["elapsed_s"] = run.elapsed_s;
  json["notes"] = warnings_json(e.notes, run.option_names);
  json["warnings"] = warnings_json(e.warnings, run.option_names);
  return dump_by_lines(json);
}

std::string explanation_text(const Explanation& e, const RunInfo& run, const TextStyle& style) {
  std::string text =
      title_text(title(), style) + text_of(data_rows(run), style) + "\n" + text_of(verdict_rows(e), style) + "\n";
  for (const Table& table : tables(e)) text += text_table(table) + "\n";
  return text + text_of(closing_rows(e, run), style) + "\n";
}

std::string explanation_markdown(const Explanation& e, const RunInfo& run) {
  std::string text = fmt::format("**{}**\n\n", title()) + markdown_of(data_rows(run) + verdict_rows(e)) + "\n";
  for (const Table& table : tables(e)) text += markdown_table(table) + "\n";
  return text + markdown_of(closing_rows(e, run));
}

std::string explanation_csv(const Explanation& e) {
  std::string text = csv_line({"name", "index", "wasserstein", "effect", "shift", "pvalue", "pvalue_adjusted", "reject",
                               "where", "sensitivity"});
  for (const ColumnExplanation& c : e.columns) {
    text += csv_line({c.name, fmt::format("{}", c.index), fmt::format("{}", c.wasserstein), fmt::format("{}", c.effect),
                      fmt::format("{}", c.shift), fmt::format("{}", c.pvalue), fmt::format("{}", c.pvalue_adjusted),
                      c.reject ? "true" : "false", to_string(c.where), fmt::format("{}", c.sensitivity)});
  }
  return text;
}

}  // namespace kqd
