#include "experiments/study_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "core/text.hpp"
#include "experiments/chart.hpp"
#include "report/rows.hpp"

namespace kqd::lab {
namespace {

constexpr double kFarOff = 4.0;  // standard errors

std::string column_name(const Column& column) {
  return column.name.empty() ? shortest(column.x) : column.name;
}

std::optional<Count> published_at(const Row& row, std::size_t column) {
  return row.published.empty() ? std::nullopt : row.published[column];
}

// The number of runs of most cells; other cells show their own number.
struct Runs {
  std::size_t usual = 0;
  bool same = true;
};

Runs runs_of(const Study& study, const StudyResults& results) {
  std::map<std::size_t, std::size_t> cells;  // by number of runs
  for (std::size_t r = 0; r < study.rows.size(); ++r) {
    for (std::size_t c = 0; c < study.columns.size(); ++c) {
      if (const std::size_t runs = results.cell(r, c).count().runs; runs > 0) ++cells[runs];
    }
  }
  if (cells.empty()) return {};
  const auto usual = std::ranges::max_element(cells, {}, [](const auto& entry) { return entry.second; });
  return {usual->first, cells.size() == 1};
}

std::string runs_text(const Runs& runs) {
  const std::string text = fmt::format("{} run{}", runs.usual, runs.usual == 1 ? "" : "s");
  return runs.same ? text : text + ", or the number in [ ]";
}

// "0.957", or with a published rate "0.957 (0.963)"; bold if the two should agree and do not.
std::string cell_text(const Cell& cell, const std::optional<Count>& published, bool replicates,
                      std::size_t usual_runs) {
  const Count count = cell.count();
  if (count.runs == 0) return published ? fmt::format("({:.3f})", published->rate()) : "";
  const std::string end = count.runs == usual_runs ? "" : fmt::format(" [{}]", count.runs);
  if (!published) return fmt::format("{:.3f}{}", count.rate(), end);
  const std::string text = fmt::format("{:.3f} ({:.3f})", count.rate(), published->rate());
  const bool far_off = replicates && std::abs(standardised_difference(count, *published)) > kFarOff;
  return (far_off ? "**" + text + "**" : text) + end;
}

// The number of cells clearly above and below the published rate, and a test that all agree.
std::string agreement_text(const Study& study, const StudyResults& results) {
  const std::vector<CountPair> pairs = published_pairs(study, results);
  std::size_t above = 0;
  std::size_t below = 0;
  double farthest = 0.0;
  for (const auto& [ours, theirs] : pairs) {
    const double difference = standardised_difference(ours, theirs);
    farthest = std::max(farthest, std::abs(difference));
    if (difference > kFarOff) ++above;
    if (difference < -kFarOff) ++below;
  }
  std::string text = fmt::format(
      "Of {} cells with a published rate, {} {} more than {:.0f} combined standard errors above it and {} below",
      pairs.size(), above, above == 1 ? "is" : "are", kFarOff, below);
  if (!study.replicates) return text + ".\n";
  const ChiSquare all = chi_square(pairs);
  return text + fmt::format(
                    "; the largest difference is {:.1f} standard errors. All cells: chi-square {:.1f} with {} degree{} "
                    "of freedom, "
                    "p = {:.2g} (approximate: cells share data, so they are not independent).\n",
                    farthest, all.statistic, all.degrees, all.degrees == 1 ? "" : "s", all.pvalue);
}

Axis column_axis(const Study& study) {
  Axis axis{.title = study.axis, .log = study.log_axis};
  double low = study.columns.front().x;
  double high = low;
  for (const Column& column : study.columns) {
    low = std::min(low, column.x);
    high = std::max(high, column.x);
    axis.ticks.push_back({column.x, column_name(column)});
  }
  // A margin at both ends, and around a single column.
  if (axis.log) {
    const double room = high > low ? std::pow(high / low, 0.08) : 2.0;
    axis.low = low / room;
    axis.high = high * room;
  } else {
    const double room = high > low ? 0.08 * (high - low) : 1.0;
    axis.low = low - room;
    axis.high = high + room;
  }
  return axis;
}

// A method has the same style in every figure: these have their own colours and markers, others take the rest.
constexpr std::array<std::array<std::string_view, 2>, 6> kKnownLooks = {{{"ekqd-2", "ekqd-1"},
                                                                         {"supkqd-2", "supkqd-1"},
                                                                         {"mmd-multi", ""},
                                                                         {"mmd-lin", ""},
                                                                         {"mmd", ""},
                                                                         {"ekqd-centered-2", "ekqd-centered-1"}}};

std::optional<std::size_t> known_look(std::string_view row) {
  for (std::size_t k = 0; k < kKnownLooks.size(); ++k) {
    if (std::ranges::find(kKnownLooks[k], row) != kKnownLooks[k].end()) return k;
  }
  return std::nullopt;
}

// The style number of each row, for all panels of a figure, which share one legend.
using Styles = std::map<std::string, std::size_t>;

Styles styles_of(const std::vector<Panel>& panels) {
  Styles styles;
  std::set<std::size_t> taken;
  std::vector<std::string> others;
  for (const Panel& panel : panels) {
    for (const std::string& row : panel.rows) {
      if (const auto known = known_look(row)) {
        taken.insert(styles[row] = *known);
      } else if (std::ranges::find(others, row) == others.end()) {
        others.push_back(row);
      }
    }
  }
  std::size_t next = 0;
  for (const std::string& row : others) {
    while (taken.contains(next)) ++next;
    styles[row] = next++;
  }
  return styles;
}

// Curves of a panel are slightly shifted, so that all error bars are visible.
double shift_of(std::size_t number, std::size_t count) {
  constexpr double kApart = 3.0;
  return kApart * (static_cast<double>(number) - 0.5 * (static_cast<double>(count) - 1.0));
}

Series curve(const Study& study, const StudyResults& results, std::size_t r, std::size_t look, double shift) {
  const Row& row = study.rows[r];
  Series series{.label = row.curve.empty() ? row.label : row.curve,
                .points = {},
                .colour = palette_colour(look),
                .marker = palette_marker(look),
                .stroke = row.quadratic ? Stroke::dotted : Stroke::solid,
                .shift = shift};
  if (!study.columns.front().name.empty()) series.stroke = Stroke::none;  // names have no order
  for (std::size_t c = 0; c < study.columns.size(); ++c) {
    const Count count = results.cell(r, c).count();
    if (count.runs > 0) series.points.push_back({study.columns[c].x, count.rate(), wilson_interval(count)});
  }
  return series;
}

Series published_marks(const Study& study, std::size_t r, std::size_t look, double shift) {
  Series series{.label = "",
                .points = {},
                .colour = palette_colour(look),
                .marker = palette_marker(look),
                .stroke = Stroke::none,
                .hollow = true,
                .marker_size = 5.0,
                .shift = shift};
  for (std::size_t c = 0; c < study.columns.size(); ++c) {
    if (const auto count = published_at(study.rows[r], c)) series.points.push_back({study.columns[c].x, count->rate()});
  }
  return series;
}

// The upper end of the axis of rates, above everything that is drawn.
double highest_shown(const Study& study, const StudyResults& results) {
  double highest = study.highest_rate;
  for (std::size_t r = 0; r < study.rows.size(); ++r) {
    for (std::size_t c = 0; c < study.columns.size(); ++c) {
      const Count count = results.cell(r, c).count();
      if (count.runs > 0) highest = std::max(highest, wilson_interval(count).upper);
    }
  }
  return std::min(1.0, std::ceil(20.0 * highest - 1e-9) / 20.0);
}

// The index of a row, or the number of rows if there is no row of this name.
std::size_t row_number(const Study& study, const std::string& id) {
  return static_cast<std::size_t>(std::ranges::find(study.rows, id, &Row::id) - study.rows.begin());
}

ChartPanel panel_chart(const Study& study, const StudyResults& results, const Panel& panel, const Styles& styles,
                       bool first) {
  const double highest = highest_shown(study, results);
  ChartPanel chart{.title = panel.title,
                   .x = column_axis(study),
                   .y = {.title = first ? "rejection rate" : "",
                         .low = -0.02 * highest,
                         .high = 1.02 * highest,
                         .ticks = even_ticks(0.0, highest, 5)},
                   .series = {},
                   .guides = {kLevel}};
  bool any_published = false;
  for (std::size_t number = 0; number < panel.rows.size(); ++number) {
    const std::size_t r = row_number(study, panel.rows[number]);
    if (r == study.rows.size() || !results.has_row(r)) continue;
    const double shift = shift_of(number, panel.rows.size());
    const std::size_t look = styles.at(panel.rows[number]);
    Series marks = published_marks(study, r, look, shift);
    any_published = any_published || !marks.points.empty();
    chart.series.push_back(std::move(marks));
    chart.series.push_back(curve(study, results, r, look, shift));
  }
  if (any_published) {
    chart.series.push_back({.label = "hollow: published",
                            .points = {},
                            .colour = "#444444",
                            .marker = Marker::circle,
                            .stroke = Stroke::none,
                            .hollow = true,
                            .marker_size = 5.0});
  }
  return chart;
}

// One line per problem, with the rates of all tests and the best published rate.
ChartPanel list_chart(const Study& study, const StudyResults& results, const Panel& panel, const Styles& styles) {
  const auto num_columns = static_cast<double>(study.columns.size());
  ChartPanel chart{.title = panel.title,
                   .x = {.title = "rejection rate", .low = -0.02, .high = 1.02, .ticks = even_ticks(0.0, 1.0, 5)},
                   .y = {.title = "", .low = -num_columns, .high = 0.0},
                   .series = {},
                   .named_rows = true};
  const auto middle = [](std::size_t column) { return -0.5 - static_cast<double>(column); };
  for (std::size_t c = 0; c < study.columns.size(); ++c) {
    chart.y.ticks.push_back({middle(c), column_name(study.columns[c])});
    chart.guides.push_back(-1.0 - static_cast<double>(c));
  }
  chart.series.push_back({.label = "level", .points = {{kLevel, 0.0}, {kLevel, -num_columns}}, .colour = "#999999"});
  Series best{.label = "best published",
              .points = {},
              .colour = "#444444",
              .marker = Marker::circle,
              .stroke = Stroke::none,
              .hollow = true,
              .marker_size = 6.0};
  for (std::size_t c = 0; c < study.columns.size(); ++c) {
    if (study.columns[c].best) best.points.push_back({study.columns[c].best->rate, middle(c)});
  }
  chart.series.push_back(std::move(best));
  for (std::size_t number = 0; number < panel.rows.size(); ++number) {
    const auto r = row_number(study, panel.rows[number]);
    const std::size_t look = styles.at(panel.rows[number]);
    Series marks{.label = study.rows[r].label,
                 .points = {},
                 .colour = palette_colour(look),
                 .marker = palette_marker(look),
                 .stroke = Stroke::none};
    // Markers of a line are slightly shifted downwards, so that equal rates are visible.
    const double apart = 0.6 * ((static_cast<double>(number) + 0.5) / static_cast<double>(panel.rows.size()) - 0.5);
    for (std::size_t c = 0; c < study.columns.size(); ++c) {
      const Count count = results.cell(r, c).count();
      if (count.runs > 0) marks.points.push_back({count.rate(), middle(c) - apart});
    }
    if (!marks.points.empty()) chart.series.push_back(std::move(marks));
  }
  return chart;
}

using Lines = std::vector<std::vector<std::string>>;

// Lists show only cells that have all their runs.
StudyResults shown_cells(const Study& study, const StudyResults& results) {
  StudyResults shown = results;
  if (!study.columns_down) return shown;
  for (std::size_t r = 0; r < study.rows.size(); ++r) {
    for (std::size_t c = 0; c < study.columns.size(); ++c) {
      if (shown.cell(r, c).count().runs < study.runs) shown.cell(r, c) = {};
    }
  }
  return shown;
}

bool is_planned(const Study& study, std::size_t row, std::size_t column) {
  return std::ranges::any_of(study.bundles, [&](const Bundle& bundle) {
    return study.columns[column].n <= bundle.largest_n && std::ranges::find(bundle.rows, row) != bundle.rows.end();
  });
}

// "Not run yet: e-KQD (12 of 44 problems); MMD-FUSE (all)." or nothing.
std::string missing_text(const Study& study, const StudyResults& shown) {
  std::vector<std::string> parts;
  for (std::size_t r = 0; r < study.rows.size(); ++r) {
    std::size_t planned = 0;
    std::size_t missing = 0;
    for (std::size_t c = 0; c < study.columns.size(); ++c) {
      if (!is_planned(study, r, c)) continue;
      ++planned;
      if (shown.cell(r, c).count().runs == 0) ++missing;
    }
    if (missing == 0) continue;
    const std::string number = missing == planned ? "all" : fmt::format("{} of {}", missing, planned);
    parts.push_back(fmt::format("{} ({} {}s)", study.rows[r].label, number, study.axis));
  }
  return parts.empty() ? "" : fmt::format("\nNot run yet: {}.\n", fmt::join(parts, "; "));
}

// A header of column names and a line for each row that has results.
template <class Text>
Lines table_lines(const Study& study, const StudyResults& results, Text text) {
  Lines lines = {{study.axis}};
  for (const Column& column : study.columns) lines.front().push_back(column_name(column));
  for (std::size_t r = 0; r < study.rows.size(); ++r) {
    if (!results.has_row(r)) continue;
    lines.push_back({study.rows[r].label});
    for (std::size_t c = 0; c < study.columns.size(); ++c) lines.back().push_back(text(r, c));
  }
  return lines;
}

Lines transposed(const Lines& lines) {
  Lines turned(lines.front().size());
  for (const auto& line : lines) {
    for (std::size_t k = 0; k < line.size(); ++k) turned[k].push_back(line[k]);
  }
  return turned;
}

// The number of problems in which each row reaches the best published rate.
std::vector<std::string> reached_line(const Study& study, const StudyResults& results) {
  std::vector<std::string> line = {"at least the best published rate", ""};
  for (std::size_t r = 0; r < study.rows.size(); ++r) {
    if (!results.has_row(r)) continue;
    std::size_t reached = 0;
    std::size_t compared = 0;
    for (std::size_t c = 0; c < study.columns.size(); ++c) {
      const Count count = results.cell(r, c).count();
      if (count.runs == 0 || !study.columns[c].best) continue;
      ++compared;
      if (count.rate() >= study.columns[c].best->rate) ++reached;
    }
    line.push_back(fmt::format("{} of {}", reached, compared));
  }
  return line;
}

// Rates with a line per column, then times in the same form.
std::string listed_tables(const Study& study, const StudyResults& results, const Lines& rates) {
  Lines lines = transposed(rates);
  lines.front().insert(lines.front().begin() + 1, "best published");
  for (std::size_t c = 0; c < study.columns.size(); ++c) {
    const auto& best = study.columns[c].best;
    lines[c + 1].insert(lines[c + 1].begin() + 1,
                        best ? fmt::format("{:.3f} {} [{}]", best->rate, best->test, best->source) : "");
  }
  lines.push_back(reached_line(study, results));
  const auto milliseconds = [&](std::size_t r, std::size_t c) {
    const Cell& cell = results.cell(r, c);
    const std::size_t runs = cell.count().runs;
    if (runs == 0) return std::string();
    const double mean = 1e3 * cell.seconds / static_cast<double>(runs);
    return mean < 10.0 ? fmt::format("{:.1f}", mean) : fmt::format("{:.0f}", mean);
  };
  return markdown_table(lines) + "\nMean processor time of one test on one thread, in milliseconds.\n\n" +
         markdown_table(transposed(table_lines(study, results, milliseconds)));
}

}  // namespace

std::string study_markdown(const Study& study, const StudyResults& all_results) {
  const StudyResults results = shown_cells(study, all_results);
  const bool compared = !published_pairs(study, results).empty();
  const Runs runs = runs_of(study, results);
  std::string text = fmt::format("### {}\n\nRejection rate at level {}, {}", study.title, kLevel, runs_text(runs));
  text += compared ? fmt::format("; in brackets {}.\n\n", study.comparison) : ".\n\n";
  const Lines lines = table_lines(study, results, [&](std::size_t r, std::size_t c) {
    return cell_text(results.cell(r, c), published_at(study.rows[r], c), study.replicates, runs.usual);
  });
  text += study.columns_down ? listed_tables(study, results, lines) : markdown_table(lines);
  if (compared) text += "\n" + agreement_text(study, results);
  if (study.columns_down) text += missing_text(study, results);
  const bool whole = study.columns_down || lines.size() == study.rows.size() + 1;  // the note is about all rows
  if (whole && !study.note.empty()) text += "\n" + study.note + "\n";
  return text;
}

std::string study_figure(const Study& study, const StudyResults& all_results) {
  const StudyResults results = shown_cells(study, all_results);
  std::vector<ChartPanel> panels;
  const Styles styles = styles_of(study.panels);
  for (const Panel& panel : study.panels) {
    panels.push_back(study.columns_down ? list_chart(study, results, panel, styles)
                                        : panel_chart(study, results, panel, styles, panels.empty()));
  }
  return svg_chart(panels);
}

}  // namespace kqd::lab
