#include "experiments/paper_rows.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/names.hpp"
#include "core/pool.hpp"
#include "experiments/published.hpp"

namespace kqd::lab {
namespace {

using Kind = OrderedStatistic::Kind;

bool is_gap(const PaperRow& row) {
  return row.statistic.kind == Kind::mean_gap || row.statistic.kind == Kind::largest_gap;
}

Matrix<double> pooled_rows(const Draw& data) {
  const Pool pool{data.x.points.view(), data.y.points.view()};
  Matrix<double> rows(pool.size(), pool.dim());
  copy_rows(pool, 0, rows);
  return rows;
}

// The test of kqd by a method, with the paper's number of directions or with 64.
TwoSampleOptions test_options(const PaperRow& row, const PaperSetting& setting, const Column& column) {
  TwoSampleOptions options;
  options.method = row.method;
  options.statistic.kernel = setting.kernel;
  options.statistic.power = row.statistic.power;
  options.statistic.weighting = row.statistic.weighting;
  const bool many = setting.scheme == Scheme::kqd_64;
  options.statistic.directions.num_directions = many ? 64 : floor_log(column.n) + 1;
  options.statistic.directions.num_reference = many ? 64 : floor_log(column.n);
  options.statistic.directions.reference = setting.reference;
  options.test.num_permutations = static_cast<std::int64_t>(setting.permutations);
  // Incomplete statistics need new kernel values for every permutation and none for swaps of x_i and y_i [Sch22].
  const bool incomplete = row.statistic.kind == Kind::mmd_multi || row.statistic.kind == Kind::mmd_lin;
  if (incomplete && column.equal_sizes) options.calibration = Calibration::sign_flip;
  return options;
}

// All statistics of the authors' scheme use the same orders of the pool, so they are one bundle.
void add_ordered_rows(Study& study, std::span<const PaperRow> rows, const PaperSetting& setting) {
  Bundle bundle;
  std::vector<OrderedStatistic> statistics;
  for (const PaperRow& row : rows) {
    bundle.rows.push_back(study.rows.size() - rows.size() + statistics.size());
    statistics.push_back(row.statistic);
  }
  bundle.reject = [statistics = std::move(statistics), setting](const Column& column, const Draw& data, Seed seed) {
    const auto kernel = authors_kernel(setting.kernel, data, seed);
    const DirectionDraw draw = setting.scheme == Scheme::fresh ? fresh_draw(column.n, seed) : authors_draw(column.n);
    return reference_tests(*kernel, column.n, draw, statistics, setting.permutations, seed);
  };
  study.bundles.push_back(std::move(bundle));
}

PaperRow gap_row(const std::string& id, const std::string& name, const std::string& key, std::string method,
                 OrderedStatistic statistic) {
  const bool first_power = statistic.power == 1.0;
  return {.id = id + (first_power ? "-1" : "-2"),
          .label = name + (first_power ? ", p = 1" : ", p = 2"),
          .curve = name,
          .key = key + (first_power ? "_1" : "_2"),
          .method = std::move(method),
          .statistic = statistic,
          .quadratic = statistic.centered};
}

}  // namespace

Scheme parse_scheme(std::string_view text) {
  constexpr std::array<Name<Scheme>, 4> kNames = {{{Scheme::kqd, kSchemes[0]},
                                                   {Scheme::kqd_64, kSchemes[1]},
                                                   {Scheme::reference, kSchemes[2]},
                                                   {Scheme::fresh, kSchemes[3]}}};
  return value_of(kNames, text, "scheme");
}

const std::vector<PaperRow>& paper_rows() {
  static const std::vector<PaperRow> kRows = [] {
    std::vector<PaperRow> rows;
    for (const double power : {2.0, 1.0}) {
      rows.push_back(gap_row("ekqd", "e-KQD", "ekqd", "ekqd", {Kind::mean_gap, power}));
      rows.push_back(
          gap_row("ekqd-centered", "e-KQD centered", "ekqd_centered", "ekqd-centered", {Kind::mean_gap, power, true}));
      rows.push_back(gap_row("supkqd", "sup-KQD", "supkqd", "supkqd", {Kind::largest_gap, power}));
    }
    rows.push_back({"mmd-multi", "MMD-Multi", "MMD-Multi", "mmdmulti", "mmd-multi", {Kind::mmd_multi}});
    rows.push_back({"mmd-lin", "MMD-Lin", "MMD-Lin", "mmdlin", "mmd-lin", {Kind::mmd_lin}});
    rows.push_back({"mmd", "MMD", "MMD", "mmd", "mmd", {Kind::mmd}, true});
    return rows;
  }();
  return kRows;
}

const PaperRow& paper_row(std::string_view id) {
  return *std::ranges::find(paper_rows(), id, &PaperRow::id);
}

const std::vector<PaperRow>& weighting_rows() {
  static const std::vector<PaperRow> kRows = [] {
    std::vector<PaperRow> rows;
    const std::array<std::array<const char*, 3>, 4> shapes = {{{"triangle", "triangle", "ekqd_tr"},
                                                               {"reverse-triangle", "reverse triangle", "ekqd_rtr"},
                                                               {"slope-up", "slope up", "ekqd_sup"},
                                                               {"slope-down", "slope down", "ekqd_sdown"}}};
    for (const auto& [word, name, key] : shapes) {
      const std::string label = std::string("e-KQD, p = 2, ") + name;
      rows.push_back({.id = std::string("ekqd-2-") + word,
                      .label = label,
                      .curve = name,
                      .key = key,
                      .method = "ekqd",
                      .statistic = {Kind::mean_gap, 2.0, false, parse_level_weights(word)}});
    }
    return rows;
  }();
  return kRows;
}

void add_paper_rows(Study& study, std::span<const PaperRow> rows, const PaperSetting& setting) {
  const bool ours = setting.scheme == Scheme::kqd || setting.scheme == Scheme::kqd_64;
  std::vector<PaperRow> chosen(rows.begin(), rows.end());
  if (setting.scheme == Scheme::fresh || setting.scheme == Scheme::kqd_64) {
    std::erase_if(chosen, [](const PaperRow& row) { return !is_gap(row); });
  }
  for (const PaperRow& row : chosen) {
    Row added{.id = row.id, .label = row.label, .published = {}, .quadratic = row.quadratic, .curve = row.curve};
    if (!setting.published.empty()) added.published = paper_counts(setting.published, row.key, places(study));
    if (!ours) {
      study.rows.push_back(std::move(added));
      continue;
    }
    add_test_row(
        study, std::move(added), [row, setting](const Column& column) { return test_options(row, setting, column); },
        row.quadratic ? setting.largest_quadratic_n : std::numeric_limits<std::size_t>::max());
  }
  if (!ours) add_ordered_rows(study, chosen, setting);
}

std::unique_ptr<const PooledKernel> authors_kernel(const KernelSpec& kernel, const Draw& data, Seed seed) {
  Matrix<double> rows = pooled_rows(data);
  if (kernel.family == KernelFamily::linear) return feature_kernel(std::move(rows));
  const bool cubic = kernel.family == KernelFamily::polynomial && kernel.degree == 3 && kernel.offset == 1.0;
  if (cubic && rows.cols() == 1) return feature_kernel(cubic_features(rows));
  return gram_kernel(Kernel(data.resolved(kernel, BandwidthRule::median_with_diagonal, seed)), rows);
}

std::vector<Panel> power_panels() {
  std::vector<Panel> panels;
  for (const char* power : {"2", "1"}) {
    const std::string end = std::string("-") + power;
    panels.push_back({std::string("p = ") + power,
                      {"ekqd" + end, "supkqd" + end, "mmd-multi", "mmd-lin", "mmd", "ekqd-centered" + end}});
  }
  return panels;
}

std::vector<double> places(const Study& study) {
  std::vector<double> values;
  for (const Column& column : study.columns) values.push_back(column.x);
  return values;
}

}  // namespace kqd::lab
