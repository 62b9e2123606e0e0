#include <algorithm>
#include <utility>

#include "experiments/columns.hpp"
#include "experiments/paper_rows.hpp"
#include "experiments/studies.hpp"

namespace kqd::lab {
namespace {

constexpr std::size_t kRuns = 300;

std::string scheme_text(Scheme scheme) {
  switch (scheme) {
    case Scheme::kqd:
      return "fixed directions, as many as published";
    case Scheme::kqd_64:
      return "fixed directions, 64 through 64 points";
    case Scheme::reference:
      return "the authors' scheme and draw";
    case Scheme::fresh:
      return "the authors' scheme, a fresh draw per run";
  }
  return "";
}

Study paper_study(std::string id, const std::string& title, const StudyRequest& request) {
  const Scheme scheme = parse_scheme(request.scheme);
  Study study;
  study.id = std::move(id);
  study.scheme = request.scheme;
  study.title = title + "; " + scheme_text(scheme);
  study.log_axis = true;
  study.comparison = "the paper's rates (300 runs)";
  study.replicates = scheme == Scheme::reference;
  study.runs = kRuns;
  study.panels = power_panels();
  return study;
}

}  // namespace

Study power_decay(const StudyRequest& request) {
  Study study = paper_study("power-decay", "Power decay, n = 200", request);
  study.axis = "dimension d";
  study.columns = power_decay_columns();
  const PaperSetting setting{.published = "power_decay", .scheme = parse_scheme(request.scheme)};
  add_paper_rows(study, paper_rows(), setting);
  study.settings = {
      {"problem", "power-decay"}, {"n", 200}, {"kernel", "gaussian"}, {"permutations", setting.permutations}};
  return study;
}

Study laplace_gaussian(const StudyRequest& request) {
  Study study = paper_study("laplace-gaussian", "Laplace against Gaussian", request);
  study.axis = "sample size n";
  for (const std::size_t n : {100U, 500U, 2000U, 5000U, 10000U}) {
    const ProblemRequest problem{.name = "laplace-gaussian", .n_x = n, .n_y = n, .dim = 1};
    study.columns.push_back(synthetic_column(static_cast<double>(n), problem, static_cast<double>(n)));
  }
  const PaperSetting setting{.published = "laplace_vs_gaussian",
                             .kernel = parse_kernel("polynomial:3:1"),
                             .scheme = parse_scheme(request.scheme),
                             .largest_quadratic_n = 2000};
  add_paper_rows(study, paper_rows(), setting);
  study.settings = {
      {"problem", "laplace-gaussian"}, {"kernel", "polynomial:3:1"}, {"permutations", setting.permutations}};
  return study;
}

void make_quick(Study& study) {
  constexpr std::size_t kQuickRuns = 2;
  if (study.columns.size() > 2) study.columns.resize(2);
  for (Row& row : study.rows) row.published.resize(std::min(row.published.size(), study.columns.size()));
  study.runs = kQuickRuns;
  study.settings["quick"] = true;
}

}  // namespace kqd::lab
