#include <array>
#include <utility>

#include "experiments/columns.hpp"
#include "experiments/paper_rows.hpp"
#include "experiments/studies.hpp"

namespace kqd::lab {
namespace {

struct Null {
  std::string name;
  std::size_t n_x;
  std::size_t n_y;
  std::size_t dim;
  Parameters parameters;
};

// Distributions of problem "null": 0 normal, 1 Student's t, 2 discrete, 3 Cauchy.
std::vector<Null> nulls() {
  return {{"normal", 50, 50, 10, {}},
          {"t3", 50, 50, 5, {{"distribution", 1.0}, {"df", 3.0}}},
          {"Cauchy", 50, 50, 2, {{"distribution", 3.0}}},
          {"ties", 50, 50, 2, {{"distribution", 2.0}, {"levels", 5.0}}},
          {"60/30", 60, 30, 5, {}}};
}

}  // namespace

Study type_one(const StudyRequest&) {
  constexpr std::size_t kTypeOneRuns = 2000;
  constexpr std::size_t kPermutations = 199;
  Study study;
  study.id = "type-one";
  study.title = "No difference: how often tests reject";
  study.axis = "distribution of both samples";
  study.highest_rate = 0.2;
  study.runs = kTypeOneRuns;
  for (const Null& null : nulls()) {
    study.columns.push_back(synthetic_column(
        static_cast<double>(study.columns.size() + 1),
        {.name = "null", .n_x = null.n_x, .n_y = null.n_y, .dim = null.dim, .parameters = null.parameters}));
    study.columns.back().name = null.name;
  }
  add_paper_rows(study, paper_rows(), {.published = "", .permutations = kPermutations, .scheme = Scheme::kqd});
  study.panels = power_panels();
  study.settings = {{"permutations", kPermutations}};
  study.note =
      "Samples of 50 rows: normal in 10 columns, Student's t with 3 degrees of freedom in 5, Cauchy in 2, two columns "
      "of five values each (ties); and normal samples of 60 and 30 rows. Exact tests reject a true null hypothesis in "
      "0.05 of all runs, with ties in at most 0.05.";
  return study;
}

}  // namespace kqd::lab
