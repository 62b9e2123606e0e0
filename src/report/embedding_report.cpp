#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/text.hpp"
#include "io/text.hpp"
#include "kqd/kernel/objects.hpp"
#include "kqd/metrics/methods.hpp"
#include "report/fields.hpp"

namespace kqd {
namespace {

Source source_of(const EmbeddingReport& report) {
  static const std::vector<Detail> kNoDetails;
  const EmbeddingTable& table = report.table;
  return {.embedding = &report,
          .statistic = {.method = &find_method("ekqd"),
                        .options = &report.options,
                        .kernel = &table.kernel,
                        .details = &kNoDetails,
                        .num_directions = table.directions->count(),
                        .num_reference = table.num_reference},
          .seed = report.options.seed,
          .threads = report.options.threads,
          .elapsed_s = report.elapsed_s,
          .warnings = table.warnings,
          .option_names = report.option_names,
          .settings = report.settings};
}

Json rows_json(MatrixView<const double> matrix) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < matrix.rows(); ++i) rows.push_back(matrix.row(i));
  return rows;
}

// For each data set, a list per direction of a number per level.
Json quantiles_json(const EmbeddingTable& table) {
  Json sets = Json::array();
  for (std::size_t i = 0; i < table.names.size(); ++i) {
    sets.push_back(rows_json({table.quantiles.row(i).data(), table.directions->count(), table.levels.size()}));
  }
  return sets;
}

const EmbeddingFunctions& functions_of(const EmbeddingReport& report) {
  static const EmbeddingFunctions kNone;
  return report.functions == nullptr ? kNone : *report.functions;
}

// For each data set, a list per direction of a list per level of a number per point.
Json values_json(const EmbeddingReport& report) {
  const Matrix<double>& values = functions_of(report).values;
  if (values.empty()) return {};
  Json sets = Json::array();
  const std::size_t num_levels = report.table.levels.size();
  for (std::size_t row = 0; row < values.rows(); row += num_levels) {
    if (row % (report.table.directions->count() * num_levels) == 0) sets.push_back(Json::array());
    sets.back().push_back(rows_json(values.view().row_range(row, num_levels)));
  }
  return sets;
}

Json rows_or_null(const Matrix<double>& matrix) {
  return matrix.empty() ? Json() : rows_json(matrix);
}

Json points_json(const Source& s, const Matrix<double>& points) {
  return rows_or_null(as_written(points, s.embedding->table.kernel));
}

Lines sets_lines(const Source& s) {
  const EmbeddingTable& table = s.embedding->table;
  Lines lines = {fmt::format("{} of {}", counted(table.names.size(), "data set"), size_text(table.sizes, table.dim))};
  for (std::string& sentence : describe_columns(s.embedding->preparation, s.option_names))
    lines.push_back(std::move(sentence));
  return lines;
}

Fields own_embedding_fields() {
  using enum Block;
  return {
      {{"names", "names of the data sets"}, [](In s) { return Json(s.embedding->table.names); }},
      {{"n", "number of rows of each data set"}, [](In s) { return Json(s.embedding->table.sizes); }},
      {{"dim", "number of columns; 0 for objects", data, "columns"}, [](In s) { return Json(s.embedding->table.dim); }},
      {{"data", "how the data were prepared: rows, missing values, encodings, scaling", data},
       [](In s) {
         return s.embedding->rows.empty() ? Json() : preparation_json(s.embedding->preparation, s.embedding->rows);
       },
       sets_lines},
      {{"levels", "quantile levels"}, [](In s) { return Json(s.embedding->table.levels); }},
      {{"quantiles", "for each data set, a list per direction of a quantile per level"},
       [](In s) { return quantiles_json(s.embedding->table); }},
      {{"gram", "square matrix exp(-d^2/s) between data sets, d the e-KQD of power 2; null unless asked for"},
       [](In s) { return s.embedding->gram == nullptr ? Json() : rows_json(s.embedding->gram->values); }},
      {{"gram_scale", "s of the matrix; null without it", setting, "scale of the kernel"},
       [](In s) { return s.embedding->gram == nullptr ? Json() : Json(s.embedding->gram->scale); }},
      {{"points",
        "points at which the embeddings were evaluated, a list each, or numbers of objects from 1; null without"},
       [](In s) { return points_json(s, functions_of(*s.embedding).points); }},
      {{"values",
        "for each data set, a list per direction of a list per level of a value per point; null without points"},
       [](In s) { return values_json(*s.embedding); }},
      {{"inner_products",
        "square matrix between the embeddings of all data sets, directions and levels, in this order (the level "
        "changes fastest); null unless asked for"},
       [](In s) { return rows_or_null(functions_of(*s.embedding).inner_products); }},
      {{"centered", "whether values and inner products are of the centered embeddings; null without either"},
       [](In s) {
         const EmbeddingFunctions& functions = functions_of(*s.embedding);
         return functions.values.empty() && functions.inner_products.empty() ? Json() : Json(functions.centered);
       }},
      {{"reference_points",
        "points z that span the directions, a list each, or numbers of objects from 1; empty for linear and axis "
        "directions"},
       [](In s) {
         return rows_json(as_written(s.embedding->table.directions->terms().reference, s.embedding->table.kernel));
       }},
      {{"coefficients",
        "a list per point z of a coefficient per direction: u_i = sum_j c_ji k(z_j, .); without points, a "
        "list per column"},
       [](In s) { return rows_json(s.embedding->table.directions->terms().coefficients); }},
  };
}

std::vector<std::vector<std::string>> gram_lines(const EmbeddingReport& report, std::string_view format) {
  std::vector<std::vector<std::string>> lines = {{""}};
  lines.front().insert(lines.front().end(), report.table.names.begin(), report.table.names.end());
  for (std::size_t i = 0; i < report.gram->values.rows(); ++i) {
    lines.push_back({report.table.names[i]});
    for (const double value : report.gram->values.row(i)) {
      lines.back().push_back(fmt::format(fmt::runtime(format), value));
    }
  }
  return lines;
}

std::string column_name(const EmbeddingTable& table, std::size_t column) {
  return fmt::format("u{}_q{}", column / table.levels.size() + 1, shortest(table.levels[column % table.levels.size()]));
}

// The table that all forms but JSON show.
enum class Shown { quantiles, gram, values, products };

Shown shown_of(const EmbeddingReport& report) {
  const EmbeddingFunctions& functions = functions_of(report);
  if (!functions.inner_products.empty()) return Shown::products;
  if (!functions.values.empty()) return Shown::values;
  return report.gram != nullptr ? Shown::gram : Shown::quantiles;
}

const Matrix<double>& numbers_of(const EmbeddingReport& report) {
  switch (shown_of(report)) {
    case Shown::products:
      return functions_of(report).inner_products;
    case Shown::values:
      return functions_of(report).values;
    case Shown::gram:
      return report.gram->values;
    case Shown::quantiles:
      break;
  }
  return report.table.quantiles;
}

// Data set, direction and level of an element.
std::vector<std::string> element_cells(const EmbeddingTable& table, std::size_t element) {
  const std::size_t num_levels = table.levels.size();
  const std::size_t size = table.directions->count() * num_levels;
  return {table.names[element / size], fmt::format("{}", element % size / num_levels + 1),
          shortest(table.levels[element % num_levels])};
}

// Names of the columns of numbers_of().
std::vector<std::string> number_names(const EmbeddingReport& report) {
  const EmbeddingTable& table = report.table;
  const Shown shown = shown_of(report);
  if (shown == Shown::gram) return table.names;
  const std::size_t size = table.directions->count() * table.levels.size();
  std::vector<std::string> names;
  for (std::size_t j = 0; j < numbers_of(report).cols(); ++j) {
    if (shown == Shown::values) {
      names.push_back(fmt::format("point{}", j + 1));
    } else {
      const std::string of_set = shown == Shown::products ? table.names[j / size] + ":" : "";
      names.push_back(of_set + column_name(table, j % size));
    }
  }
  return names;
}

constexpr std::size_t kLines = 20;  // of a screen
constexpr std::size_t kColumns = 5;

// The elements with their first numbers: as many as fit a screen.
std::vector<std::vector<std::string>> element_lines(const EmbeddingReport& report) {
  const Matrix<double>& numbers = numbers_of(report);
  const std::size_t columns = std::min(kColumns, numbers.cols());
  const std::vector<std::string> names = number_names(report);
  std::vector<std::vector<std::string>> lines = {{"data set", "direction", "level"}};
  for (std::size_t j = 0; j < columns; ++j) lines.front().push_back(printable(names[j]));
  for (std::size_t i = 0; i < std::min(kLines, numbers.rows()); ++i) {
    lines.push_back(element_cells(report.table, i));
    lines.back().front() = printable(lines.back().front());
    for (std::size_t j = 0; j < columns; ++j) lines.back().push_back(fmt::format("{:.4g}", numbers(i, j)));
  }
  return lines;
}

// A remark on numbers that element_lines() leaves out.
std::string rest_text(const EmbeddingReport& report) {
  const Matrix<double>& numbers = numbers_of(report);
  if (numbers.rows() <= kLines && numbers.cols() <= kColumns) return "";
  return fmt::format("(the first of {} x {} numbers; CSV, NPY and JSON have all)\n", numbers.rows(), numbers.cols());
}

// The middle level along the first directions: as many as fit a screen.
std::vector<std::vector<std::string>> summary_lines(const EmbeddingTable& table) {
  const std::size_t middle = table.levels.size() / 2;
  const std::size_t shown = std::min(kColumns, table.directions->count());
  std::vector<std::vector<std::string>> lines = {{"data set", "rows"}};
  for (std::size_t i = 0; i < shown; ++i) {
    lines.front().push_back(column_name(table, i * table.levels.size() + middle));
  }
  for (std::size_t k = 0; k < table.names.size(); ++k) {
    lines.push_back({printable(table.names[k]), fmt::format("{}", table.sizes[k])});
    for (std::size_t i = 0; i < shown; ++i) {
      lines.back().push_back(fmt::format("{:.4g}", table.quantiles(k, i * table.levels.size() + middle)));
    }
  }
  return lines;
}

// A remark on quantiles that summary_lines() leaves out.
std::string summary_rest(const EmbeddingTable& table) {
  const std::size_t directions = table.directions->count();
  if (table.levels.size() == 1 && directions <= kColumns) return "";
  return fmt::format("(level {}, one of {}, along {} of {}; CSV, NPY and JSON have all)\n",
                     shortest(table.levels[table.levels.size() / 2]), table.levels.size(),
                     std::min(kColumns, directions), counted(directions, "direction"));
}

}  // namespace

const Fields& embedding_field_list() {
  static const Fields kFields = joined({{schema_field([](In) { return Json("kqd.embedding/1"); }), version_field()},
                                        own_embedding_fields(),
                                        method_fields(),
                                        run_fields()});
  return kFields;
}

Sample embedding_sample(const EmbeddingReport& report) {
  return {.points = numbers_of(report), .weights = {}, .column_names = number_names(report)};
}

std::string embedding_text(const EmbeddingReport& report, const TextStyle& style) {
  const EmbeddingTable& table = report.table;
  const std::string along = fmt::format("along {} at {}", counted(table.directions->count(), "direction"),
                                        counted(table.levels.size(), "level"));
  const std::string of = fmt::format("of the {}embeddings {}", functions_of(report).centered ? "centered " : "", along);
  std::string title = "embed: quantiles " + along;
  std::vector<std::vector<std::string>> lines;
  std::string rest;
  switch (shown_of(report)) {
    case Shown::products:
      title = "embed: inner products " + of;
      lines = element_lines(report);
      rest = rest_text(report);
      break;
    case Shown::values:
      title = fmt::format("embed: values {} and {}", of, counted(numbers_of(report).cols(), "point"));
      lines = element_lines(report);
      rest = rest_text(report);
      break;
    case Shown::gram:
      title = fmt::format("embed: kernel exp(-d^2/s) between {}, s = {:.4g}", counted(table.names.size(), "data set"),
                          report.gram->scale);
      lines = gram_lines(report, "{:.4g}");
      break;
    case Shown::quantiles:
      lines = summary_lines(table);
      rest = summary_rest(table);
  }
  return title_text(title, style) + text_table(lines) + rest + "\n" +
         text_of(closing_rows(embedding_field_list(), source_of(report)), style) + "\n";
}

std::string embedding_csv(const EmbeddingReport& report) {
  std::string text;
  const Shown shown = shown_of(report);
  if (shown == Shown::gram) {
    for (const auto& line : gram_lines(report, "{}")) text += csv_line(line);
    return text;
  }
  const bool of_elements = shown == Shown::values || shown == Shown::products;
  std::vector<std::string> cells = {"data_set"};
  if (of_elements) cells.insert(cells.end(), {"direction", "level"});
  for (std::string& name : number_names(report)) cells.push_back(std::move(name));
  text = csv_line(cells);
  const Matrix<double>& numbers = numbers_of(report);
  for (std::size_t i = 0; i < numbers.rows(); ++i) {
    cells = of_elements ? element_cells(report.table, i) : std::vector<std::string>{report.table.names[i]};
    for (const double value : numbers.row(i)) cells.push_back(shortest(value));
    text += csv_line(cells);
  }
  return text;
}

std::string embedding_numbers(const EmbeddingReport& report) {
  const Matrix<double>& values = numbers_of(report);
  std::string text;
  for (std::size_t i = 0; i < values.rows(); ++i) text += fmt::format("{}\n", fmt::join(values.row(i), ","));
  return text;
}

std::string embedding_json(const EmbeddingReport& report) {
  return dump(object_of(embedding_field_list(), source_of(report)));
}

}  // namespace kqd
