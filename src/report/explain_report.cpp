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

#include "core/text.hpp"
#include "io/text.hpp"
#include "kqd/report/explanation.hpp"
#include "report/explain_changes.hpp"
#include "report/fields.hpp"

namespace kqd {
namespace {

using Cells = std::vector<std::string>;
using Table = std::vector<Cells>;

constexpr std::size_t kColumnsInText = 10;
constexpr std::size_t kProfilesInText = 5;
constexpr std::size_t kRelationsInText = 5;
constexpr std::size_t kRowsInText = 5;
constexpr std::size_t kChangesInText = 8;
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

Json number_or_null(double value) {
  return std::isnan(value) ? Json() : Json(value);
}

// Directions that were fitted to the labels have none.
std::string pvalue_text(double p) {
  return std::isnan(p) ? "" : fmt::format("{:.3g}", p);
}

std::string adjusted_text(const auto& entry) {
  return pvalue_text(entry.pvalue_adjusted) + (entry.reject ? " *" : "");
}

// A column or direction of two values has no tails: its shares say more.
std::string place_text(const auto& entry) {
  if (!entry.shares || entry.where == Where::nowhere) return to_string(entry.where);
  return "share " + shares_text(entry.shares->x, entry.shares->y);
}

std::string column_place_text(const ColumnExplanation& column) {
  return column.levels.empty() || column.where == Where::nowhere ? place_text(column) : levels_text(column.levels);
}

std::string missing_text(const ColumnExplanation& column) {
  if (!column.missing) return "";
  const MissingShares& missing = *column.missing;
  return shares_text(missing.x, missing.y) + (missing.reject ? " *" : "");
}

Json levels_json(const std::vector<LevelShares>& levels) {
  Json list = Json::array();
  for (const LevelShares& level : levels) list.push_back({{"name", level.name}, {"x", level.x}, {"y", level.y}});
  return list;
}

Json missing_json(const std::optional<MissingShares>& missing) {
  if (!missing) return nullptr;
  return {{"x", missing->x},
          {"y", missing->y},
          {"pvalue", missing->pvalue},
          {"pvalue_adjusted", missing->pvalue_adjusted},
          {"reject", missing->reject}};
}

Json range_json(const std::optional<ValueRange>& range) {
  return range ? Json{range->low, range->high} : Json(nullptr);
}

Json density_json(const ProjectedDensity& density) {
  return {{"at", drawn(density.at)}, {"x", drawn(density.x)}, {"y", drawn(density.y)}};
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
using Relation = RelationExplanation;

Json correlation_json(const Relation& relation, double correlation) {
  return relation.kind == RelationForm::numbers ? Json(correlation) : Json(nullptr);
}

Json cells_json(const Relation& relation) {
  Json list = Json::array();
  for (const RelationCell& cell : relation.cells) {
    list.push_back({{"first", cell.first},
                    {"second", cell.second},
                    {"x", six_digits(cell.x)},
                    {"y", six_digits(cell.y)},
                    {"change", six_digits(cell.change)},
                    {"n_x", cell.n_x},
                    {"n_y", cell.n_y}});
  }
  return list;
}

Json changes_json(const Explanation& explanation) {
  Json list = Json::array();
  for (const Change& change : changes_of(explanation)) {
    list.push_back({{"kind", change.kind},
                    {"columns", change.columns},
                    {"text", change.text},
                    {"pvalue_adjusted", change.pvalue_adjusted}});
  }
  return list;
}

constexpr auto kColumnFields = std::to_array<EntryField<Column>>({
    {"name", true, [](const Column& c) { return Json(c.name); }, "column",
     [](const Column& c) { return shortened(c.name); }},
    {"type", true, [](const Column& c) { return Json(to_string(c.type)); }, "type",
     [](const Column& c) { return to_string(c.type); }},
    {"index", true, [](const Column& c) { return Json(c.index); }},
    {"wasserstein", true, [](const Column& c) { return Json(c.wasserstein); }, "distance",
     [](const Column& c) { return fmt::format("{:.4g}", c.wasserstein); }},
    {"effect", true, [](const Column& c) { return Json(c.effect); }, "effect",
     [](const Column& c) { return fmt::format("{:.3f}", c.effect); }},
    {"shift", true, [](const Column& c) { return Json(c.shift); }, "median shift",
     [](const Column& c) { return c.levels.empty() ? fmt::format("{:+.4g}", c.shift + 0.0) : std::string(); }},
    {"pvalue", true, [](const Column& c) { return Json(c.pvalue); }, "p-value",
     [](const Column& c) { return pvalue_text(c.pvalue); }},
    {"pvalue_adjusted", true, [](const Column& c) { return Json(c.pvalue_adjusted); }, "adjusted",
     adjusted_text<Column>},
    {"reject", true, [](const Column& c) { return Json(c.reject); }},
    {"where", true, [](const Column& c) { return Json(to_string(c.where)); }, "where", column_place_text},
    {"shares", false, [](const Column& c) { return shares_json(c.shares); }},
    {"sensitivity", true, [](const Column& c) { return number_or_null(c.sensitivity); }, "sensitivity",
     [](const Column& c) { return std::isnan(c.sensitivity) ? "" : fmt::format("{:+.3f}", c.sensitivity); }},
    {"profile", false, [](const Column& c) { return c.profile ? profile_json(*c.profile) : Json(); }},
    {"levels", false, [](const Column& c) { return levels_json(c.levels); }},
    {"missing", false, [](const Column& c) { return missing_json(c.missing); }, "missing", missing_text},
    {"range_x", false, [](const Column& c) { return range_json(c.range_x); }},
    {"range_y", false, [](const Column& c) { return range_json(c.range_y); }},
    {"density", false, [](const Column& c) { return c.density ? density_json(*c.density) : Json(); }},
});

constexpr auto kRelationFields = std::to_array<EntryField<Relation>>({
    {"name", false, [](const Relation& r) { return Json(relation_name(r)); }, "relation",
     [](const Relation& r) { return relation_name(r); }},
    {"first", false, [](const Relation& r) { return Json(r.first); }},
    {"second", false, [](const Relation& r) { return Json(r.second); }},
    {"kind", false, [](const Relation& r) { return Json(to_string(r.kind)); }},
    {"score", false, [](const Relation& r) { return Json(r.score); }},
    {"pvalue", false, [](const Relation& r) { return Json(r.pvalue); }, "p-value",
     [](const Relation& r) { return pvalue_text(r.pvalue); }},
    {"pvalue_adjusted", false, [](const Relation& r) { return Json(r.pvalue_adjusted); }, "adjusted",
     adjusted_text<Relation>},
    {"reject", false, [](const Relation& r) { return Json(r.reject); }},
    {"change", false, [](const Relation& r) { return Json(relation_text(r)); }, "change",
     [](const Relation& r) { return relation_text(r); }},
    {"correlation_x", false, [](const Relation& r) { return correlation_json(r, r.correlation_x); }},
    {"correlation_y", false, [](const Relation& r) { return correlation_json(r, r.correlation_y); }},
    {"cells", false, [](const Relation& r) { return cells_json(r); }},
});

constexpr auto kDirectionFields = std::to_array<EntryField<Direction>>({
    {"name", true, [](const Direction& d) { return Json(d.name); }, "direction",
     [](const Direction& d) { return shortened(d.name); }},
    {"family", true, [](const Direction& d) { return Json(d.family); }},
    {"statistic", true, [](const Direction& d) { return Json(d.statistic); }, "distance",
     [](const Direction& d) { return fmt::format("{:.4g}", d.statistic); }},
    {"effect", true, [](const Direction& d) { return Json(d.effect); }, "effect",
     [](const Direction& d) { return fmt::format("{:.3f}", d.effect); }},
    {"pvalue", true, [](const Direction& d) { return number_or_null(d.pvalue); }, "p-value",
     [](const Direction& d) { return pvalue_text(d.pvalue); }},
    {"pvalue_adjusted", true, [](const Direction& d) { return number_or_null(d.pvalue_adjusted); }, "adjusted",
     adjusted_text<Direction>},
    {"reject", true, [](const Direction& d) { return Json(d.reject); }},
    {"where", true, [](const Direction& d) { return Json(to_string(d.where)); }, "where", place_text<Direction>},
    {"shares", false, [](const Direction& d) { return shares_json(d.shares); }},
    {"profile", false, [](const Direction& d) { return profile_json(d.profile); }},
    {"density", false, [](const Direction& d) { return density_json(d.density); }},
    {"columns", false, carriers_json, "carried by", carriers},
});

template <class Entry>
Json entry_json(const auto& fields, const Entry& entry) {
  Json json = Json::object();
  for (const auto& field : fields) json[field.name] = field.value(entry);
  return json;
}

template <class Entry>
Json entries_json(const auto& fields, const std::vector<Entry>& entries) {
  Json list = Json::array();
  for (const Entry& entry : entries) list.push_back(entry_json(fields, entry));
  return list;
}

template <class Entry>
std::string entries_csv(const auto& fields, const std::vector<Entry>& entries) {
  Cells head;
  for (const auto& field : fields) {
    if (field.in_csv) head.emplace_back(field.name);
  }
  std::string text = csv_line(head);
  for (const Entry& entry : entries) {
    Cells cells;
    for (const auto& field : fields) {
      if (field.in_csv) cells.push_back(cell_of(field.value(entry)));
    }
    text += csv_line(cells);
  }
  return text;
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

// A number as such, another text as text; null where there is no value.
Json cell_json(const std::string& cell) {
  if (cell.empty()) return nullptr;
  const auto number = parse_number(cell);
  return number ? Json(*number) : Json(cell);
}

Json extreme_rows_json(const std::vector<ExtremeRow>& rows) {
  Json list = Json::array();
  for (const ExtremeRow& row : rows) {
    Json values = Json::array();
    for (const std::string& cell : row.cells) values.push_back(cell_json(cell));
    list.push_back({{"sample", row.in_y ? "y" : "x"},
                    {"row", row.row},
                    {"score", six_digits(row.score)},
                    {"values", std::move(values)}});
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

std::string title(const Explanation& e) {
  return fmt::format("Where two samples differ: {}directions and rows", e.dim > 0 ? "columns, levels, " : "");
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

std::string of_some_rows(std::string_view what, std::size_t count, const Explanation& e) {
  return count == 0 || count >= e.n_x + e.n_y ? "" : fmt::format(", {} {} rows chosen at random", what, count);
}

std::string directions_phrase(const Explanation& e) {
  if (!e.directions_note.empty()) return e.directions_note;
  const std::size_t count = num_rejected(e.directions);
  const bool all_shown = count == e.directions.size();
  return fmt::format("{}{} of {} {} (family-wise level {:g})", all_shown && count > 0 ? "at least " : "", count,
                     e.n_directions_examined, count == 1 ? "differs" : "differ", e.alpha);
}

std::string relations_phrase(const Explanation& e) {
  const std::size_t count = num_rejected(e.relations);
  const bool all_shown = count > 0 && count == e.relations.size() && count < e.n_relations_examined;
  return fmt::format("{}{} of {} {} (family-wise level {:g}){}", all_shown ? "at least " : "", count,
                     counted(e.n_relations_examined, "pair"), count == 1 ? "differs" : "differ", e.alpha,
                     of_some_rows("from", e.n_relation_rows, e));
}

std::size_t num_missing_rejected(const Explanation& e) {
  return static_cast<std::size_t>(
      std::ranges::count_if(e.columns, [](const Column& c) { return c.missing && c.missing->reject; }));
}

std::string missing_phrase(const Explanation& e) {
  const auto with_missing = std::ranges::count_if(e.columns, [](const Column& c) { return c.missing.has_value(); });
  const std::size_t count = num_missing_rejected(e);
  return fmt::format("the share of missing values differs in {} of {} that {} them", count,
                     counted(static_cast<std::size_t>(with_missing), "column"), with_missing == 1 ? "has" : "have");
}

Tone tone_of(std::size_t count) {
  return count > 0 ? Tone::alert : Tone::plain;
}

// The changes in words come first.
Rows verdict_rows(const Explanation& e) {
  Rows rows;
  std::vector<Change> changes = changes_of(e);
  const std::size_t left = changes.size() - std::min(changes.size(), kChangesInText);
  changes.resize(changes.size() - left);
  for (const Change& change : changes) {
    rows.push_back({rows.empty() ? "changed" : "",
                    fmt::format("{} (adjusted p = {})", change.text, pvalue_text(change.pvalue_adjusted)),
                    Tone::alert});
  }
  if (left > 0) rows.push_back({"", fmt::format("and {} more", left), Tone::plain});
  // Objects have no columns.
  if (!e.columns.empty()) rows.push_back({"columns", columns_phrase(e), tone_of(num_rejected(e.columns))});
  if (std::ranges::any_of(e.columns, [](const Column& c) { return c.missing.has_value(); })) {
    rows.push_back({"missing", missing_phrase(e), tone_of(num_missing_rejected(e))});
  }
  if (e.n_relations_examined > 0) {
    rows.push_back({"relations", relations_phrase(e), tone_of(num_rejected(e.relations))});
  }
  rows.push_back({"directions", directions_phrase(e), tone_of(num_rejected(e.directions))});
  return rows;
}

double difference_at(const QuantileProfile& profile, double level) {
  const auto found = std::ranges::find_if(profile.levels, [&](double l) { return l >= level - 1e-9; });
  return profile.difference[static_cast<std::size_t>(found - profile.levels.begin())];
}

// The columns that differ, or only the first one if none does.
Table level_table(const Explanation& e, const RunInfo& run) {
  Table table = {{fmt::format("quantile of {} minus that of {} at", run.y_label, run.x_label)}};
  for (const double level : kLevelsInText) table.front().push_back(fmt::format("{:g}", level));
  for (const ColumnExplanation& c : e.columns) {
    if (table.size() > kProfilesInText || (table.size() > 1 && !c.reject)) break;
    if (!c.profile) continue;
    Cells cells = {shortened(c.name)};
    for (const double level : kLevelsInText)
      cells.push_back(fmt::format("{:+.3g}", difference_at(*c.profile, level) + 0.0));
    table.push_back(std::move(cells));
  }
  return table;
}

std::string short_cell(const std::string& cell) {
  if (cell.empty()) return "missing";
  const auto number = parse_number(cell);
  return number ? fmt::format("{:.4g}", *number) : shortened(cell);
}

Table row_table(const Explanation& e, const std::vector<ExtremeRow>& rows, const std::string& sample,
                const RunInfo& run) {
  const std::size_t num_cells = std::min(kCellsInText, e.row_columns.size());
  Table table = {{"most like " + sample, "row", "score"}};
  for (std::size_t k = 0; k < num_cells; ++k) table.front().push_back(shortened(e.row_columns[k]));
  for (const ExtremeRow& row : rows) {
    if (table.size() > kRowsInText) break;
    Cells cells = {"of " + (row.in_y ? run.y_label : run.x_label), fmt::format("{}", row.row),
                   fmt::format("{:+.2f}", row.score)};
    for (std::size_t k = 0; k < num_cells; ++k) cells.push_back(short_cell(row.cells[k]));
    table.push_back(std::move(cells));
  }
  return table;
}

// Profiles have no rows to fit a witness to.
bool has_rows(const Explanation& e) {
  return e.n_witness_rows > 0;
}

// Without columns that are empty in all rows.
Table without_empty_columns(const Table& table) {
  Table kept(table.size());
  for (std::size_t c = 0; c < table.front().size(); ++c) {
    const bool used = std::any_of(table.begin() + 1, table.end(), [&](const Cells& row) { return !row[c].empty(); });
    for (std::size_t r = 0; r < table.size() && (used || table.size() == 1); ++r) kept[r].push_back(table[r][c]);
  }
  return kept;
}

// The relations that differ.
Table relation_table(const Explanation& e) {
  std::vector<Relation> different;
  std::ranges::copy_if(e.relations, std::back_inserter(different), &Relation::reject);
  return entries_table(kRelationFields, different, kRelationsInText);
}

std::vector<Table> tables(const Explanation& e, const RunInfo& run) {
  std::vector<Table> found;
  if (!e.columns.empty()) {
    found.push_back(without_empty_columns(entries_table(kColumnFields, e.columns, kColumnsInText)));
  }
  for (Table& table : std::vector{relation_table(e), level_table(e, run)}) {
    if (table.size() > 1) found.push_back(std::move(table));
  }
  std::vector<DirectionExplanation> directions = e.directions;
  if (e.maximiser) directions.push_back(*e.maximiser);
  Table of_directions = entries_table(kDirectionFields, directions, directions.size());
  // Columns carry the directions of a table, those of objects nothing.
  found.push_back(e.columns.empty() ? without_empty_columns(of_directions) : std::move(of_directions));
  if (has_rows(e)) {
    found.push_back(row_table(e, e.most_y, run.y_label, run));
    found.push_back(row_table(e, e.most_x, run.x_label, run));
  }
  return found;
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
  if (!has_rows(e)) return fmt::format("{} of groups, at random", e.n_resamples);
  return fmt::format("{} at random, fewer once 100 are at least as extreme", e.n_resamples);
}

bool has_files(const Source& s) {
  return !s.run->x_name.empty();
}

bool is_prepared(const Source& s) {
  return has_files(s) || !s.run->preparation.sources.empty();
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
  preparation.value = [](In s) { return is_prepared(s) ? preparation_json(s.run->preparation) : Json(); };
  return {
      {{"alpha", "significance level of the adjusted p-values"}, [](In s) { return Json(s.explanation->alpha); }},
      {{"columns",
        "all columns, largest difference first: name, type, index, wasserstein, effect, shift, pvalue, "
        "pvalue_adjusted, reject, where, shares, sensitivity, profile, levels, missing, range_x, range_y, density"},
       [](In s) { return entries_json(kColumnFields, s.explanation->columns); }},
      {{"columns_note", "why no column can be called different; empty if one can"},
       [](In s) { return Json(s.explanation->columns_note); }},
      {{"changes",
        "what differs significantly, in words: kind (column, missing, relation), columns, text, pvalue_adjusted"},
       [](In s) { return changes_json(*s.explanation); }},
      {{"relations",
        "at most 20 pairs of columns, largest change of their relation first: name, first, second, kind, score, "
        "pvalue, "
        "pvalue_adjusted, reject, change, correlation_x, correlation_y, cells"},
       [](In s) { return entries_json(kRelationFields, s.explanation->relations); }},
      {{"n_relations_examined", "pairs that the p-values of relations are adjusted for"},
       [](In s) { return Json(s.explanation->n_relations_examined); }},
      {{"n_relation_rows", "pooled rows, chosen at random, that relations are tested with", setting,
        "rows of relations"},
       [](In s) { return Json(s.explanation->n_relation_rows); }},
      {{"directions",
        "at most 8 directions, largest difference first: name, family, statistic, effect, pvalue, pvalue_adjusted, "
        "reject, where, shares, profile, density, columns"},
       [](In s) { return entries_json(kDirectionFields, s.explanation->directions); }},
      {{"directions_note", "why no direction can be called different; empty if one can"},
       [](In s) { return Json(s.explanation->directions_note); }},
      {{"maximiser",
        "the direction of the largest gap of a method, if asked for, as in `directions`; it is fitted to the labels, "
        "so its p-values are null"},
       [](In s) {
         const auto& found = s.explanation->maximiser;
         return found ? entry_json(kDirectionFields, *found) : Json();
       }},
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
         return Lines{kernel_phrase(e.kernel) + (e.own_scales ? ", every column in its own scale" : "") +
                      of_some_rows("principal directions from", e.n_principal_rows, e)};
       }},
      {{"own_scales", "whether the kernel saw every column from its pooled median in units of its pooled scale"},
       [](In s) { return Json(s.explanation->own_scales); }},
      {{"bandwidth", "bandwidth of the first part of the kernel that has one", setting},
       [](In s) {
         const auto bandwidth = first_bandwidth(s.explanation->kernel);
         return bandwidth ? Json(*bandwidth) : Json();
       }},
      {{"n_principal_rows", "pooled rows, chosen at random, that the principal directions are computed from", setting,
        "rows of principal directions"},
       [](In s) { return Json(s.explanation->n_principal_rows); }},
      {{"witness_kernel", "kernel of the witness function that scores the rows; null for profiles", setting, "witness"},
       [](In s) { return has_rows(*s.explanation) ? Json(to_string(s.explanation->witness_kernel)) : Json(); },
       [](In s) { return has_rows(*s.explanation) ? Lines{witness_phrase(*s.explanation)} : Lines{}; }},
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
       [](In s) { return warnings_json(s.explanation->notes, s); },
       [](In s) { return warning_lines(s.explanation->notes, s); },
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
  std::string text = title_text(title(e), style) + text_of(verdict_rows(e), style) + "\n";
  for (const Table& table : tables(e, run)) text += text_table(table) + "\n";
  return text + text_of(closing_rows(explanation_field_list(), source_of(e, run)), style) + "\n";
}

std::string explanation_markdown(const Explanation& e, const RunInfo& run) {
  std::string text = fmt::format("**{}**\n\n", title(e)) + markdown_of(verdict_rows(e)) + "\n";
  for (const Table& table : tables(e, run)) text += markdown_table(table) + "\n";
  return text + markdown_of(closing_rows(explanation_field_list(), source_of(e, run)));
}

std::string explanation_csv(const Explanation& e) {
  return e.columns.empty() ? entries_csv(kDirectionFields, e.directions) : entries_csv(kColumnFields, e.columns);
}

std::string explanation_rows_csv(const Explanation& e, std::span<const std::size_t> rows_x,
                                 std::span<const std::size_t> rows_y) {
  std::string text = csv_line({"sample", "row", "score"});
  const auto add = [&](std::string_view sample, const std::vector<double>& scores, std::span<const std::size_t> rows) {
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (std::isnan(scores[i])) continue;
      text += fmt::format("{},{},{}\n", sample, rows.empty() ? i + 1 : rows[i], shortest(scores[i]));
    }
  };
  add("x", e.scores_x, rows_x);
  add("y", e.scores_y, rows_y);
  return text;
}

}  // namespace kqd
