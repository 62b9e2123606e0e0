#include <utility>

#include "experiments/columns.hpp"
#include "experiments/paper_rows.hpp"
#include "experiments/published.hpp"
#include "experiments/studies.hpp"

namespace kqd::lab {
namespace {

constexpr std::size_t kRuns = 200;
constexpr std::int64_t kPermutations = 299;

struct FuseRow {
  std::string id;
  std::string label;
  std::string method;
  std::string key = {};  ///< in published/mmdfuse-results.json; empty: not published
  bool quadratic = false;
  DirectionFamily directions = DirectionFamily::gaussian;
  bool as_released = false;  ///< the soft maximum of the released code, sharper by sqrt(n (n - 1)) (erratum 43)
};

const std::vector<FuseRow>& fuse_rows() {
  static const std::vector<FuseRow> kRows = {
      {"adaptive", "adaptive (kqd)", "adaptive"},
      {"ekqd-1", "e-KQD", "ekqd"},
      {"ekqd-1-principal", "e-KQD, principal directions", "ekqd", "", false, DirectionFamily::principal},
      {"mmd-fuse", "MMD-FUSE", "mmd-fuse", "", true},
      {"mmd-fuse-released", "MMD-FUSE, as released", "mmd-fuse", "mmd_fuse", true, DirectionFamily::gaussian, true},
      {"mmd-agg", "MMDAgg", "mmd-agg", "mmd_agg", true},
      {"mmd", "MMD, median bandwidth", "mmd", "mmd_median", true},
  };
  return kRows;
}

// Rows of each sample; fewer in the quick form, which is not compared with published rates.
std::size_t rows_of(const StudyRequest& request) {
  return request.quick ? 100 : 500;
}

Study fuse_study(std::string id, std::string title, std::string axis, std::string_view published,
                 std::vector<Column> columns) {
  const std::size_t n = columns.front().n;
  const bool as_published = n == 500;
  Study study;
  study.id = std::move(id);
  study.title = std::move(title) + ", n = " + std::to_string(n);
  study.axis = std::move(axis);
  study.comparison = "the rates of Biggs, Schrab, Gretton 2023 (200 runs)";
  study.columns = std::move(columns);
  study.runs = kRuns;
  Panel panel{"n = " + std::to_string(n), {}};
  for (const FuseRow& row : fuse_rows()) {
    Row added{.id = row.id, .label = row.label, .quadratic = row.quadratic};
    if (as_published && !row.key.empty()) added.published = fuse_counts(published, row.key, places(study));
    panel.rows.push_back(row.id);
    add_test_row(study, std::move(added), [row](const Column& column) {
      TwoSampleOptions options;
      options.method = row.method;
      options.statistic.directions.family = row.directions;
      const auto rows = static_cast<double>(column.n);
      if (row.as_released) options.statistic.parameters = {{"lambda", rows * (rows - 1.0)}};
      options.test.num_permutations = kPermutations;
      return options;
    });
  }
  study.panels = {std::move(panel)};
  study.settings = {{"n", n}, {"permutations", kPermutations}};
  if (as_published) {
    study.note =
        "Rows without brackets have no published rate. Published tests use 2000 permutations, these 299. As released: "
        "the "
        "factor sqrt(n (n - 1)) occurs twice in the exponent of the released code and once in the formula (erratum "
        "43).";
  }
  return study;
}

}  // namespace

Study fuse_mixture(const StudyRequest& request) {
  const std::size_t n = rows_of(request);
  std::vector<Column> columns;
  for (const double sd : {0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0}) {
    columns.push_back(
        synthetic_column(sd, {.name = "mixture", .n_x = n, .n_y = n, .dim = 2, .parameters = {{"sd", sd}}}));
  }
  return fuse_study("fuse-mixture", "Mixture of four normal distributions, one of other spread",
                    "spread of the changed component", "mixture_vary_sd", std::move(columns));
}

Study fuse_perturbed(const StudyRequest& request) {
  const std::size_t n = rows_of(request);
  std::vector<Column> columns;
  for (const double scale : {0.0, 0.1, 0.2, 0.3, 0.4, 0.5}) {
    columns.push_back(synthetic_column(
        scale, {.name = "perturbed-uniform", .n_x = n, .n_y = n, .dim = 1, .parameters = {{"scale", scale}}}));
  }
  return fuse_study("fuse-perturbed", "Uniform distribution with two small waves", "height of the waves",
                    "perturbed_uniform_d1_vary_scale", std::move(columns));
}

}  // namespace kqd::lab
