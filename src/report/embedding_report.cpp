#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/text.hpp"
#include "io/text.hpp"
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
      {{"reference_points", "points z that span the directions, a list each; empty for linear and axis directions"},
       [](In s) { return rows_json(s.embedding->table.directions->terms().reference); }},
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

// Medians along the first directions: as many as fit a screen.
std::vector<std::vector<std::string>> summary_lines(const EmbeddingTable& table) {
  constexpr std::size_t kShown = 5;
  const std::size_t middle = table.levels.size() / 2;
  const std::size_t shown = std::min(kShown, table.directions->count());
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

}  // namespace

const Fields& embedding_field_list() {
  static const Fields kFields = joined({{schema_field([](In) { return Json("kqd.embedding/1"); }), version_field()},
                                        own_embedding_fields(),
                                        method_fields(),
                                        run_fields()});
  return kFields;
}

Sample embedding_sample(const EmbeddingReport& report) {
  Sample sample;
  sample.points = report.gram == nullptr ? report.table.quantiles : report.gram->values;
  for (std::size_t j = 0; j < sample.points.cols(); ++j) {
    sample.column_names.push_back(report.gram == nullptr ? column_name(report.table, j) : report.table.names[j]);
  }
  return sample;
}

std::string embedding_text(const EmbeddingReport& report, const TextStyle& style) {
  const EmbeddingTable& table = report.table;
  const std::string title =
      report.gram == nullptr
          ? fmt::format("embed: quantiles along {} at {}", counted(table.directions->count(), "direction"),
                        counted(table.levels.size(), "level"))
          : fmt::format("embed: kernel exp(-d^2/s) between {}, s = {:.4g}", counted(table.names.size(), "data set"),
                        report.gram->scale);
  return title_text(title, style) +
         text_table(report.gram == nullptr ? summary_lines(table) : gram_lines(report, "{:.4g}")) + "\n" +
         text_of(closing_rows(embedding_field_list(), source_of(report)), style) + "\n";
}

std::string embedding_csv(const EmbeddingReport& report) {
  std::string text;
  if (report.gram != nullptr) {
    for (const auto& line : gram_lines(report, "{}")) text += csv_line(line);
    return text;
  }
  const EmbeddingTable& table = report.table;
  std::vector<std::string> cells = {"data_set"};
  for (std::size_t j = 0; j < table.quantiles.cols(); ++j) cells.push_back(column_name(table, j));
  text = csv_line(cells);
  for (std::size_t i = 0; i < table.names.size(); ++i) {
    cells = {table.names[i]};
    for (const double value : table.quantiles.row(i)) cells.push_back(shortest(value));
    text += csv_line(cells);
  }
  return text;
}

std::string embedding_numbers(const EmbeddingReport& report) {
  const Matrix<double>& values = report.gram == nullptr ? report.table.quantiles : report.gram->values;
  std::string text;
  for (std::size_t i = 0; i < values.rows(); ++i) text += fmt::format("{}\n", fmt::join(values.row(i), ","));
  return text;
}

std::string embedding_json(const EmbeddingReport& report) {
  return dump(object_of(embedding_field_list(), source_of(report)));
}

}  // namespace kqd
