#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/text.hpp"
#include "kqd/report/explanation.hpp"
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

// Values that are drawn need no more than six digits, which takes half of the room.
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

std::string pvalue_text(double p) {
  return fmt::format("{:.3g}", p);
}

std::string adjusted_text(const auto& entry) {
  return pvalue_text(entry.pvalue_adjusted) + (entry.reject ? " *" : "");
}

// A column or direction of two values has no tails: its shares say more.
std::string place_text(const auto& entry) {
  if (!entry.shares || entry.where == Where::nowhere) return to_string(entry.where);
  return fmt::format("share {:.3g}% to {:.3g}%", 100.0 * entry.shares->x, 100.0 * entry.shares->y);
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

Json carriers_json(const DirectionExplanation& direction) {
  Json columns = Json::array();
  for (const ColumnSensitivity& c : direction.columns) {
    columns.push_back(
        {{"name", c.name}, {"index", c.index}, {"sensitivity", c.sensitivity}, {"magnitude", c.magnitude}});
  }
  return columns;
}

// A field of a column or direction: its name in JSON and CSV, its value, and its head and cell in a table on screen.
template <class Entry>
struct EntryField {
  std::string_view name;
  bool in_csv;
  Json (*value)(const Entry&);
  std::string_view head = {};
  std::string (*cell)(const Entry&) = nullptr;
};

using Column = ColumnExplanation;
using Direction = DirectionExplanation;

constexpr auto kColumnFields = std::to_array<EntryField<Column>>({
    {"name", true, [](const Column& c) { return Json(c.name); }, "column",
     [](const Column& c) { return shortened(c.name); }},
    {"index", true, [](const Column& c) { return Json(c.index); }},
    {"wasserstein", true, [](const Column& c) { return Json(c.wasserstein); }, "distance",
     [](const Column& c) { return fmt::format("{:.4g}", c.wasserstein); }},
    {"effect", true, [](const Column& c) { return Json(c.effect); }, "effect",
     [](const Column& c) { return fmt::format("{:.3f}", c.effect); }},
    {"shift", true, [](const Column& c) { return Json(c.shift); }, "median shift",
     [](const Column& c) { return fmt::format("{:+.4g}", c.shift + 0.0); }},
    {"pvalue", true, [](const Column& c) { return Json(c.pvalue); }, "p-value",
     [](const Column& c) { return pvalue_text(c.pvalue); }},
    {"pvalue_adjusted", true, [](const Column& c) { return Json(c.pvalue_adjusted); }, "adjusted",
     adjusted_text<Column>},
    {"reject", true, [](const Column& c) { return Json(c.reject); }},
    {"where", true, [](const Column& c) { return Json(to_string(c.where)); }, "where", place_text<Column>},
    {"shares", false, [](const Column& c) { return shares_json(c.shares); }},
    {"sensitivity", true, [](const Column& c) { return Json(c.sensitivity); }, "sensitivity",
     [](const Column& c) { return fmt::format("{:+.3f}", c.sensitivity); }},
    {"profile", false, [](const Column& c) { return c.profile ? profile_json(*c.profile) : Json(); }},
});

constexpr auto kDirectionFields = std::to_array<EntryField<Direction>>({
    {"name", true, [](const Direction& d) { return Json(d.name); }, "direction",
     [](const Direction& d) { return shortened(d.name); }},
    {"family", true, [](const Direction& d) { return Json(d.family); }},
    {"statistic", true, [](const Direction& d) { return Json(d.statistic); }, "distance",
     [](const Direction& d) { return fmt::format("{:.4g}", d.statistic); }},
    {"effect", true, [](const Direction& d) { return Json(d.effect); }, "effect",
     [](const Direction& d) { return fmt::format("{:.3f}", d.effect); }},
    {"pvalue", true, [](const Direction& d) { return Json(d.pvalue); }, "p-value",
     [](const Direction& d) { return pvalue_text(d.pvalue); }},
    {"pvalue_adjusted", true, [](const Direction& d) { return Json(d.pvalue_adjusted); }, "adjusted",
     adjusted_text<Direction>},
    {"reject", true, [](const Direction& d) { return Json(d.reject); }},
    {"where", true, [](const Direction& d) { return Json(to_string(d.where)); }, "where", place_text<Direction>},
    {"shares", false, [](const Direction& d) { return shares_json(d.shares); }},
    {"profile", false, [](const Direction& d) { return profile_json(d.profile); }},
    {"density", false,
     [](const Direction& d) {
       return Json{{"at", drawn(d.density.at)}, {"x", drawn(d.density.x)}, {"y", drawn(d.density.y)}};
     }},
    {"columns", false, carriers_json, "carried by", carriers},
});

template <class Entry>
Json entries_json(const auto& fields, const std::vector<Entry>& entries) {
  Json list = Json::array();
  for (const Entry& entry : entries) {
    list.push_back(Json::object());
    for (const auto& field : fields) list.back()[field.name] = field.value(entry);
  }
  return list;
}

template <class Entry>
Table entries_table(const auto& fields, const std::vector<Entry>& entries, std::size_t num_shown) {
  Table table(1);
  for (const auto& field : fields) {
    if (field.cell != nullptr) table.front().emplace_back(field.head);
  }
  for (const Entry& entry : std::span(entries).first(std::min(num_shown, entries.size()))) {
    table.emplace_back();
    for (const auto& field : fields) {
      if (field.cell != nullptr) table.back().push_back(field.cell(entry));
    }
  }
  return table;
}

Json extreme_rows_json(const std::vector<ExtremeRow>& rows) {
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

Json images_json(const std::vector<ExtremeRow>& rows) {
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
          {"most_x", images_json(explanation.most_x)},
          {"most_y", images_json(explanation.most_y)},
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
  const std::size_t count = num_rejected(e.columns);
  return fmt::format("{} of {} {} (false discovery rate at most {:g})", count, e.columns.size(),
                     count == 1 ? "differs" : "differ", e.alpha);
}

std::string directions_phrase(const Explanation& e) {
  if (!e.directions_note.empty()) return e.directions_note;
  const std::size_t count = num_rejected(e.directions);
  const bool all_shown = count == e.directions.size();
  return fmt::format("{}{} of {} {} (family-wise level {:g})", all_shown && count > 0 ? "at least " : "", count,
                     e.n_directions_examined, count == 1 ? "differs" : "differ", e.alpha);
}

Rows verdict_rows(const Explanation& e) {
  return {{"columns", columns_phrase(e), num_rejected(e.columns) > 0 ? Tone::alert : Tone::plain},
          {"directions", directions_phrase(e), num_rejected(e.directions) > 0 ? Tone::alert : Tone::plain}};
}

double difference_at(const QuantileProfile& profile, double level) {
  const auto found = std::ranges::find_if(profile.levels, [&](double l) { return l >= level - 1e-9; });
  return profile.difference[static_cast<std::size_t>(found - profile.levels.begin())];
}

// The columns that differ, or only the first one if none does.
Table level_table(const Explanation& e) {
  Table table = {{"quantile of Y minus that of X at"}};
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
  return {entries_table(kColumnFields, e.columns, kColumnsInText), level_table(e),
          entries_table(kDirectionFields, e.directions, e.directions.size()), row_table(e, e.most_y, "most like Y"),
          row_table(e, e.most_x, "most like X")};
}

std::string of_some_rows(std::string_view what, std::size_t count, const Explanation& e) {
  return count == 0 || count >= e.n_x + e.n_y ? "" : fmt::format(", {} {} rows chosen at random", what, count);
}

std::string witness_phrase(const Explanation& e) {
  // With one row per sample no row can be held out.
  const std::string share =
      e.n_x + e.n_y < 3
          ? ""
          : fmt::format(", explains {:.1f}% of the variance of the labels on held-out rows", 100.0 * e.witness_share);
  return kernel_phrase(e.witness_kernel) + of_some_rows("fitted to", e.n_witness_rows, e) + share;
}

std::string permutations_phrase(const Explanation& e) {
  if (e.enumerated) return fmt::format("all {}", e.n_resamples);
  return fmt::format("{} at random, fewer once 100 are at least as extreme", e.n_resamples);
}

bool has_files(const Source& s) {
  return !s.run->x_name.empty();
}

// The fields of the two samples, without the names of their files when there are none.
Fields fields_of_samples() {
  Fields fields = sample_fields();
  fields[0].value = [](In s) { return has_files(s) ? Json(s.run->x_name) : Json(); };
  fields[1].value = [](In s) { return has_files(s) ? Json(s.run->y_name) : Json(); };
  fields[2].value = [](In s) { return Json(s.explanation->n_x); };
  fields[3].value = [](In s) { return Json(s.explanation->n_y); };
  fields[4].value = [](In s) { return Json(s.explanation->dim); };
  return fields;
}

Fields own_explanation_fields() {
  using enum Block;
  Field preparation = data_field();
  preparation.value = [](In s) { return has_files(s) ? preparation_json(s.run->preparation) : Json(); };
  return {
      {{"alpha", "significance level of the adjusted p-values"}, [](In s) { return Json(s.explanation->alpha); }},
      {{"columns",
        "all columns, largest difference first: name, index, wasserstein, effect, shift, pvalue, pvalue_adjusted, "
        "reject, where, shares, sensitivity, profile"},
       [](In s) { return entries_json(kColumnFields, s.explanation->columns); }},
      {{"columns_note", "why no column can be called different; empty if one can"},
       [](In s) { return Json(s.explanation->columns_note); }},
      {{"directions",
        "at most 8 directions, largest difference first: name, family, statistic, effect, pvalue, pvalue_adjusted, "
        "reject, where, shares, profile, density, columns"},
       [](In s) { return entries_json(kDirectionFields, s.explanation->directions); }},
      {{"directions_note", "why no direction can be called different; empty if one can"},
       [](In s) { return Json(s.explanation->directions_note); }},
      {{"n_directions_examined", "directions that the p-values are adjusted for"},
       [](In s) { return Json(s.explanation->n_directions_examined); }},
      {{"rows", "most_x, most_y: the rows most like X and most like Y, with sample, row, score, values"},
       [](In s) {
         return Json{{"most_x", extreme_rows_json(s.explanation->most_x)},
                     {"most_y", extreme_rows_json(s.explanation->most_y)}};
       }},
      {{"row_columns", "columns whose values the rows show"}, [](In s) { return Json(s.explanation->row_columns); }},
      {{"scatter", "points of both samples along the two strongest directions"},
       [](In s) { return scatter_json(s.explanation->scatter); }},
      {{"image", "rows as images: shape, sensitivity of each pixel, extreme images; null otherwise"},
       [](In s) { return image_json(*s.explanation); }},
      preparation,
      {{"kernel", "kernel of the principal directions, with its bandwidth", setting},
       [](In s) { return Json(to_string(s.explanation->kernel)); },
       [](In s) {
         const Explanation& e = *s.explanation;
         return Lines{kernel_phrase(e.kernel) + of_some_rows("principal directions from", e.n_principal_rows, e)};
       }},
      {{"bandwidth", "bandwidth of the first part of the kernel that has one", setting},
       [](In s) {
         const auto bandwidth = first_bandwidth(s.explanation->kernel);
         return bandwidth ? Json(*bandwidth) : Json();
       }},
      {{"n_principal_rows", "pooled rows, chosen at random, that the principal directions are computed from", setting,
        "rows of principal directions"},
       [](In s) { return Json(s.explanation->n_principal_rows); }},
      {{"witness_kernel", "kernel of the witness function that scores the rows", setting, "witness"},
       [](In s) { return Json(to_string(s.explanation->witness_kernel)); },
       [](In s) { return Lines{witness_phrase(*s.explanation)}; }},
      {{"witness_share", "share of the variance of the labels that the witness explains on held-out rows", setting,
        "explained variance"},
       [](In s) { return Json(six_digits(s.explanation->witness_share)); }},
      {{"n_witness_rows", "pooled rows, chosen at random, that the witness is fitted to", setting,
        "rows of the witness"},
       [](In s) { return Json(s.explanation->n_witness_rows); }},
      {{"n_resamples", "permutations that the p-values are counted among", setting, "permutations"},
       [](In s) { return Json(s.explanation->n_resamples); },
       [](In s) { return Lines{permutations_phrase(*s.explanation)}; }},
      {{"enumerated", "true if all permutations were evaluated", setting, "all permutations"},
       [](In s) { return Json(s.explanation->enumerated); }},
      {{"notes", "how weights and cluster sizes were handled", setting},
       [](In s) { return warnings_json(s.explanation->notes, s.option_names); },
       [](In s) { return warning_lines(s.explanation->notes, s.option_names); },
       "note"},
  };
}

Source source_of(const Explanation& e, const RunInfo& run) {
  return {.explanation = &e,
          .run = &run,
          .seed = e.seed,
          .threads = e.threads,
          .elapsed_s = run.elapsed_s,
          .warnings = e.warnings,
          .option_names = run.option_names,
          .settings = run.settings};
}

}  // namespace

const Fields& explanation_field_list() {
  static const Fields kFields = joined({{schema_field([](In) { return Json("kqd.explain/2"); }), version_field()},
                                        fields_of_samples(),
                                        own_explanation_fields(),
                                        run_fields()});
  return kFields;
}

std::string explanation_json(const Explanation& e, const RunInfo& run) {
  return dump_by_lines(object_of(explanation_field_list(), source_of(e, run)));
}

std::string explanation_text(const Explanation& e, const RunInfo& run, const TextStyle& style) {
  std::string text = title_text(title(), style) + text_of(verdict_rows(e), style) + "\n";
  for (const Table& table : tables(e)) text += text_table(table) + "\n";
  return text + text_of(closing_rows(explanation_field_list(), source_of(e, run)), style) + "\n";
}

std::string explanation_markdown(const Explanation& e, const RunInfo& run) {
  std::string text = fmt::format("**{}**\n\n", title()) + markdown_of(verdict_rows(e)) + "\n";
  for (const Table& table : tables(e)) text += markdown_table(table) + "\n";
  return text + markdown_of(closing_rows(explanation_field_list(), source_of(e, run)));
}

std::string explanation_csv(const Explanation& e) {
  Cells head;
  for (const auto& field : kColumnFields) {
    if (field.in_csv) head.emplace_back(field.name);
  }
  std::string text = csv_line(head);
  for (const ColumnExplanation& column : e.columns) {
    Cells cells;
    for (const auto& field : kColumnFields) {
      if (field.in_csv) cells.push_back(cell_of(field.value(column)));
    }
    text += csv_line(cells);
  }
  return text;
}

}  // namespace kqd
