#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "io/text.hpp"
#include "kqd/metrics/methods.hpp"
#include "report/fields.hpp"

namespace kqd {
namespace {

constexpr std::size_t kLongestName = 40;

Source source_of(const MatrixReport& report) {
  static const std::vector<Detail> kNoDetails;
  const DistanceMatrix& matrix = report.matrix;
  Source source{.matrix = &report,
                .statistic = {.method = &find_method(matrix.method),
                              .options = &report.options,
                              .kernel = &matrix.kernel,
                              .details = &kNoDetails,
                              .num_directions = matrix.num_directions,
                              .num_reference = matrix.num_reference},
                .seed = report.options.seed,
                .threads = report.options.threads,
                .elapsed_s = report.elapsed_s,
                .warnings = matrix.warnings,
                .option_names = report.option_names,
                .settings = report.settings};
  if (report.tests != nullptr) {
    source.warnings.insert(source.warnings.end(), report.tests->warnings.begin(), report.tests->warnings.end());
  }
  return source;
}

// The end of a long name distinguishes it best: its beginning is often a folder that all names share.
std::string shortened(const std::string& given, std::size_t width) {
  std::string name = printable(given);
  if (display_width(name) <= width) return name;
  std::size_t start = name.size() - (width - 3);
  while (start < name.size() && (static_cast<unsigned char>(name[start]) & 0xc0U) == 0x80U) ++start;
  return "..." + name.substr(start);
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, display_width(text)), ' ');
}

// 0..4, in proportion to the largest distance.
std::size_t shade_of(double value, double largest) {
  if (!(largest > 0.0) || !(value > 0.0)) return 0;
  return std::min<std::size_t>(4, static_cast<std::size_t>(5.0 * value / largest));
}

constexpr std::array<std::string_view, 5> kShades = {"  ", "░░", "▒▒", "▓▓", "██"};
// Background and text of the 256 colours, from light to dark.
constexpr std::array<std::string_view, 5> kColours = {"48;5;255;38;5;16", "48;5;223;38;5;16", "48;5;216;38;5;16",
                                                      "48;5;203;38;5;16", "48;5;124;38;5;231"};

double largest_of(const Matrix<double>& values) {
  return *std::ranges::max_element(values.values());
}

// The cells of a table of pairs, for (i, j) with i != j.
struct CellLook {
  std::size_t width;                                              ///< columns of a cell, the blank before it included
  std::function<std::string(std::size_t i, std::size_t j)> cell;  ///< of exactly that width
};

std::string table_text(const DistanceMatrix& matrix, const CellLook& look) {
  const std::size_t count = matrix.names.size();
  const std::size_t number_width = fmt::formatted_size("{}", count);
  std::size_t name_width = 0;
  for (const std::string& name : matrix.names) {
    name_width = std::max(name_width, display_width(shortened(name, kLongestName)));
  }
  std::string text = fmt::format("  {:{}}  {:{}}", "", number_width, "", name_width);
  for (std::size_t j = 0; j < count; ++j) text += fmt::format("{:>{}}", j + 1, look.width);
  text += "\n";
  for (std::size_t i = 0; i < count; ++i) {
    text +=
        fmt::format("  {:>{}}  {}", i + 1, number_width, padded(shortened(matrix.names[i], kLongestName), name_width));
    for (std::size_t j = 0; j < count; ++j) {
      text += i == j ? fmt::format("{:>{}}", "-", look.width) : look.cell(i, j);
    }
    text += "\n";
  }
  return text;
}

constexpr std::size_t kNumberCell = 10;
constexpr std::size_t kShadeCell = 3;

bool numbers_fit(const DistanceMatrix& matrix, const TextStyle& style) {
  if (style.width == 0) return true;
  std::size_t name_width = 0;
  for (const std::string& name : matrix.names) {
    name_width = std::max(name_width, display_width(shortened(name, kLongestName)));
  }
  return 6 + name_width + matrix.names.size() * kNumberCell <= style.width;
}

std::string distance_table(const DistanceMatrix& matrix, const TextStyle& style) {
  const double largest = largest_of(matrix.values);
  const auto paint = [&](const std::string& text, double value) {
    return fmt::format(" \033[{}m{}\033[0m", kColours[shade_of(value, largest)], text);
  };
  if (numbers_fit(matrix, style)) {
    return table_text(matrix, {kNumberCell, [&](std::size_t i, std::size_t j) {
                                 const double value = matrix.values(i, j);
                                 const std::string number = fmt::format("{:>{}.4g}", value, kNumberCell - 1);
                                 return style.colour ? paint(number, value) : " " + number;
                               }});
  }
  const std::string table = table_text(matrix, {kShadeCell, [&](std::size_t i, std::size_t j) {
                                                  const double value = matrix.values(i, j);
                                                  if (style.colour) return paint("  ", value);
                                                  return " " + std::string(kShades[shade_of(value, largest)]);
                                                }});
  std::string legend = "\n  0";
  for (std::size_t shade = 0; shade < kShades.size(); ++shade) {
    legend += style.colour ? fmt::format(" \033[{}m  \033[0m", kColours[shade]) : fmt::format(" {}", kShades[shade]);
  }
  return table + fmt::format("{} {:.4g}; use CSV or JSON output for the numbers\n", legend, largest);
}

// A star marks what is rejected after adjustment; there is no room for numbers on a narrow screen, the star stays.
std::string pvalue_table(const DistanceMatrix& matrix, const PairwiseTests& tests, const TextStyle& style) {
  const auto rejected = [&](std::size_t i, std::size_t j) { return tests.adjusted(i, j) <= tests.alpha; };
  if (!numbers_fit(matrix, style)) {
    return table_text(matrix, {kShadeCell, [&](std::size_t i, std::size_t j) {
                                 return rejected(i, j) ? std::string("  *") : std::string("  .");
                               }});
  }
  return table_text(matrix, {kNumberCell, [&](std::size_t i, std::size_t j) {
                               const bool below = i > j;
                               const double p = below ? tests.adjusted(i, j) : tests.pvalues(i, j);
                               const bool star = below && rejected(i, j);
                               const std::string cell =
                                   fmt::format("{:>{}}", fmt::format("{:.3g}{}", p, star ? "*" : ""), kNumberCell);
                               return star && style.colour ? coloured(cell, Tone::alert) : cell;
                             }});
}

std::string matrix_verdict(const PairwiseTests& tests) {
  return fmt::format("{} of {} {} (Holm-adjusted p-values, family-wise level {:g}).", tests.num_rejected,
                     counted(tests.num_pairs, "pair"), tests.num_rejected == 1 ? "differs" : "differ", tests.alpha);
}

Lines data_lines(const Source& s) {
  const DistanceMatrix& matrix = s.matrix->matrix;
  Lines lines = {fmt::format("{} data sets of {}", matrix.names.size(), size_text(matrix.sizes, matrix.dim))};
  for (std::string& sentence : describe_columns(s.matrix->preparation, s.option_names))
    lines.push_back(std::move(sentence));
  return lines;
}

std::string permutations_phrase(const PairwiseTests& tests) {
  if (tests.num_enumerated == tests.num_pairs) return "all permutations of each pair";
  return fmt::format("{} permutations per pair{}{}", tests.num_permutations,
                     tests.raised ? " (999 are too few for so many pairs)" : "",
                     tests.num_enumerated == 0 ? "" : fmt::format(", all permutations of {}", tests.num_enumerated));
}

Lines tests_lines(const Source& s) {
  const PairwiseTests* tests = s.matrix->tests;
  if (tests == nullptr) return {};
  return {fmt::format("by {}, {}, adjusted for {} by Holm's rule", tests->method, permutations_phrase(*tests),
                      counted(tests->num_pairs, "pair"))};
}

std::string title(const MatrixReport& report) {
  const MethodInfo& method = find_method(report.matrix.method);
  return fmt::format("Distances by {}: {}", method.id, method.summary);
}

Json square_json(const Matrix<double>& values) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < values.rows(); ++i) rows.push_back(values.row(i));
  return rows;
}

std::vector<std::vector<std::string>> square(const DistanceMatrix& matrix, const Matrix<double>& values) {
  std::vector<std::vector<std::string>> lines = {{""}};
  lines.front().insert(lines.front().end(), matrix.names.begin(), matrix.names.end());
  for (std::size_t i = 0; i < values.rows(); ++i) {
    lines.push_back({matrix.names[i]});
    for (const double value : values.row(i)) lines.back().push_back(fmt::format("{}", value));
  }
  return lines;
}

std::string pairs_csv(const DistanceMatrix& matrix, const PairwiseTests& tests) {
  std::string text = csv_line({"x", "y", "distance", "pvalue", "adjusted_pvalue"});
  for (std::size_t i = 0; i < matrix.names.size(); ++i) {
    for (std::size_t j = i + 1; j < matrix.names.size(); ++j) {
      text += csv_line({matrix.names[i], matrix.names[j], fmt::format("{}", matrix.values(i, j)),
                        fmt::format("{}", tests.pvalues(i, j)), fmt::format("{}", tests.adjusted(i, j))});
    }
  }
  return text;
}

// Null unless the pairs were tested.
template <class Get>
Json if_tested(const Source& s, const Get& get) {
  return s.matrix->tests != nullptr ? Json(get(*s.matrix->tests)) : Json();
}

Fields own_matrix_fields() {
  using enum Block;
  return {
      {{"names", "names of the data sets, in the order of rows and columns"},
       [](In s) { return Json(s.matrix->matrix.names); }},
      {{"n", "number of rows of each data set"}, [](In s) { return Json(s.matrix->matrix.sizes); }},
      {{"dim", "number of columns that were compared; 0 for objects", data, "columns"},
       [](In s) { return Json(s.matrix->matrix.dim); }},
      {{"data", "how the data were prepared: rows, missing values, encodings, scaling", data},
       [](In s) { return s.matrix->rows.empty() ? Json() : preparation_json(s.matrix->preparation, s.matrix->rows); },
       data_lines},
      {{"distances", "square matrix of distances, a list per row"},
       [](In s) { return square_json(s.matrix->matrix.values); }},
      {{"pvalues", "square matrix of p-values, unadjusted; null without tests"},
       [](In s) { return if_tested(s, [](const PairwiseTests& t) { return square_json(t.pvalues); }); }},
      {{"adjusted_pvalues", "square matrix of p-values adjusted for all pairs; null without tests"},
       [](In s) { return if_tested(s, [](const PairwiseTests& t) { return square_json(t.adjusted); }); }},
      {{"test_method", "id of the method of the tests; null without tests", setting, "tests by"},
       [](In s) { return if_tested(s, [](const PairwiseTests& t) { return t.method; }); }},
      {{"adjustment", "rule that adjusts the p-values (\"holm\"); null without tests", setting},
       [](In s) { return if_tested(s, [](const PairwiseTests&) { return "holm"; }); }},
      {{"n_pairs", "number of pairs that were tested; null without tests", setting, "pairs"},
       [](In s) { return if_tested(s, [](const PairwiseTests& t) { return t.num_pairs; }); }},
      {{"n_rejected", "pairs with an adjusted p-value <= alpha; null without tests"},
       [](In s) { return if_tested(s, [](const PairwiseTests& t) { return t.num_rejected; }); }},
      {{"alpha", "family-wise significance level; null without tests", setting, "significance level"},
       [](In s) { return if_tested(s, [](const PairwiseTests& t) { return t.alpha; }); }},
      {{"n_permutations", "permutations per pair; null without tests", setting, "permutations"},
       [](In s) { return if_tested(s, [](const PairwiseTests& t) { return t.num_permutations; }); },
       tests_lines,
       "tests"},
  };
}

}  // namespace

const Fields& matrix_field_list() {
  static const Fields kFields =
      joined({{schema_field([](In) { return Json("kqd.matrix/2"); }), version_field(), method_field()},
              own_matrix_fields(),
              method_fields(),
              run_fields()});
  return kFields;
}

std::string matrix_text(const MatrixReport& report, const TextStyle& style) {
  const DistanceMatrix& matrix = report.matrix;
  std::string text = title_text(title(report), style);
  if (report.tests != nullptr) {
    text += verdict_text(matrix_verdict(*report.tests), report.tests->num_rejected > 0, style) + "\n";
  }
  text += distance_table(matrix, style) + "\n";
  if (report.tests != nullptr) {
    text += "  p-values above the diagonal, adjusted for all pairs below it\n\n";
    text += pvalue_table(matrix, *report.tests, style) + "\n";
  }
  return text + text_of(closing_rows(matrix_field_list(), source_of(report)), style) + "\n";
}

std::string matrix_markdown(const MatrixReport& report) {
  const auto table = [&](const Matrix<double>& values, std::string_view corner) {
    auto lines = square(report.matrix, values);
    for (std::string& name : lines.front()) name = printable(name);
    for (auto& line : lines) line.front() = printable(line.front());
    lines.front().front() = corner;
    for (std::size_t i = 0; i < values.rows(); ++i) {
      for (std::size_t j = 0; j < values.cols(); ++j) {
        lines[i + 1][j + 1] = i == j ? "-" : fmt::format("{:.4g}", values(i, j));
      }
    }
    return markdown_table(lines) + "\n";
  };
  std::string text = fmt::format("**{}**\n\n", title(report));
  if (report.tests != nullptr) text += matrix_verdict(*report.tests) + "\n\n";
  text += table(report.matrix.values, "distance");
  if (report.tests != nullptr) {
    text += table(report.tests->pvalues, "p-value") + table(report.tests->adjusted, "adjusted p-value");
  }
  return text + markdown_of(closing_rows(matrix_field_list(), source_of(report)));
}

std::string matrix_csv(const MatrixReport& report) {
  if (report.tests != nullptr) return pairs_csv(report.matrix, *report.tests);
  std::string text;
  for (const auto& line : square(report.matrix, report.matrix.values)) text += csv_line(line);
  return text;
}

std::string matrix_numbers(const MatrixReport& report) {
  const Matrix<double>& values = report.tests != nullptr ? report.tests->adjusted : report.matrix.values;
  std::string text;
  for (std::size_t i = 0; i < values.rows(); ++i) text += fmt::format("{}\n", fmt::join(values.row(i), ","));
  return text;
}

Json matrix_object(const MatrixReport& report) {
  return object_of(matrix_field_list(), source_of(report));
}

std::string matrix_json(const MatrixReport& report) {
  return dump(matrix_object(report));
}

}  // namespace kqd
