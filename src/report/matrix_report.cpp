#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "io/text.hpp"
#include "kqd/metrics/methods.hpp"
#include "kqd/version.hpp"
#include "report/fields.hpp"
#include "report/objects.hpp"

namespace kqd {
namespace {

constexpr std::size_t kLongestName = 40;

Made made(const MatrixReport& report) {
  static const std::vector<Detail> kNoDetails;
  const DistanceMatrix& matrix = report.matrix;
  return {find_method(matrix.method),
          matrix.kernel,
          matrix.num_directions,
          matrix.num_reference,
          0,
          report.options,
          kNoDetails};
}

Warnings all_warnings(const MatrixReport& report) {
  Warnings warnings = report.matrix.warnings;
  if (report.tests != nullptr) {
    warnings.insert(warnings.end(), report.tests->warnings.begin(), report.tests->warnings.end());
  }
  return warnings;
}

// The end of a long name tells more than its beginning, which is often the same folder.
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

// 0..4 by the part of the largest distance.
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

// How a table of pairs looks: a cell for (i, j), i != j.
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
  return table + fmt::format("{} {:.4g}; --csv or --json for the numbers\n", legend, largest);
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

std::string tests_phrase(const PairwiseTests& tests) {
  return fmt::format("{} of {} pair{} different at level {:g} for all together", tests.num_rejected, tests.num_pairs,
                     plural(tests.num_pairs), tests.alpha);
}

Rows data_rows(const MatrixReport& report) {
  const DistanceMatrix& matrix = report.matrix;
  const auto [least, most] = std::ranges::minmax(matrix.sizes);
  const std::string count = least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
  Rows rows = {{"data", fmt::format("{} data sets of {} row{} x {} column{}", matrix.names.size(), count, plural(most),
                                    matrix.dim, plural(matrix.dim))}};
  for (std::string& sentence : describe_columns(report.preparation)) rows.push_back({"data", std::move(sentence)});
  return rows;
}

std::string permutations_phrase(const PairwiseTests& tests) {
  if (tests.num_enumerated == tests.num_pairs) return "all permutations of each pair";
  return fmt::format("{} permutations per pair{}{}", tests.num_permutations,
                     tests.raised ? " (999 are too few for so many pairs)" : "",
                     tests.num_enumerated == 0 ? "" : fmt::format(", all permutations of {}", tests.num_enumerated));
}

Rows closing_rows(const MatrixReport& report) {
  Rows rows = setting_rows(made(report));
  if (report.tests != nullptr) {
    rows.push_back({"tests", fmt::format("by {}, {}, adjusted for {} pair{} by Holm's rule", report.tests->method,
                                         permutations_phrase(*report.tests), report.tests->num_pairs,
                                         plural(report.tests->num_pairs))});
  }
  rows.push_back(run_row(report.options.seed, report.options.threads, report.elapsed_s));
  return std::move(rows) + warning_rows(all_warnings(report), report.option_names);
}

std::string title(const MatrixReport& report) {
  const MethodInfo& method = find_method(report.matrix.method);
  return fmt::format("Distances by {}: {}", method.id, method.summary);
}

Json rows_of(const Matrix<double>& values) {
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

}  // namespace

std::string matrix_text(const MatrixReport& report, const TextStyle& style) {
  const DistanceMatrix& matrix = report.matrix;
  std::string text = title_text(title(report), style) + text_of(data_rows(report), style) + "\n";
  text += distance_table(matrix, style) + "\n";
  if (report.tests != nullptr) {
    text += "  p-values above the diagonal, adjusted for all pairs below it\n\n";
    text += pvalue_table(matrix, *report.tests, style) + "\n";
    text += text_of({{"decision", tests_phrase(*report.tests)}}, style) + "\n";
  }
  return text + text_of(closing_rows(report), style) + "\n";
}

std::string matrix_markdown(const MatrixReport& report) {
  const auto rounded = [&](const Matrix<double>& values, std::string_view corner) {
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
  std::string text = fmt::format("**{}**\n\n", title(report)) + rounded(report.matrix.values, "distance");
  Rows rows = data_rows(report);
  if (report.tests != nullptr) {
    text += rounded(report.tests->pvalues, "p-value") + rounded(report.tests->adjusted, "adjusted p-value");
    rows.push_back({"decision", tests_phrase(*report.tests)});
  }
  return text + markdown_of(std::move(rows) + closing_rows(report));
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
  const DistanceMatrix& matrix = report.matrix;
  const PairwiseTests* tests = report.tests;
  Json json;
  json["schema"] = "kqd.matrix/1";
  json["version"] = kVersion;
  json["method"] = matrix.method;
  json["names"] = matrix.names;
  json["n"] = matrix.sizes;
  json["dim"] = matrix.dim;
  if (!report.rows.empty()) json["data"] = preparation_json(report.preparation, report.rows);
  json["distances"] = rows_of(matrix.values);
  json["pvalues"] = tests != nullptr ? rows_of(tests->pvalues) : Json(nullptr);
  json["adjusted_pvalues"] = tests != nullptr ? rows_of(tests->adjusted) : Json(nullptr);
  if (tests != nullptr) {
    json["test_method"] = tests->method;
    json["adjustment"] = "holm";
    json["n_pairs"] = tests->num_pairs;
    json["n_rejected"] = tests->num_rejected;
    json["alpha"] = tests->alpha;
    json["n_permutations"] = tests->num_permutations;
  }
  add_made_fields(json, made(report), report.elapsed_s, all_warnings(report), report.option_names);
  return json;
}

std::string matrix_json(const MatrixReport& report) {
  return dump(matrix_object(report));
}

}  // namespace kqd
