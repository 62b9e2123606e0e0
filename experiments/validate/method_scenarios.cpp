#include <algorithm>
#include <array>
#include <map>

#include "kqd/metrics/methods.hpp"
#include "scenario.hpp"

namespace kqd::validation {
namespace {

// Runs of a null: methods with cheap permutations, expensive methods, and iterative methods.
struct Budget {
  std::size_t runs = 10'000;
  std::int64_t permutations = 199;
};

Budget budget_of(std::string_view id) {
  static const std::map<std::string_view, Budget> kOthers = {
      {"wasserstein", {2'000, 99}}, {"monk", {2'000, 99}},     {"kmedian", {2'000, 99}},
      {"mmd-agg", {2'000, 99}},     {"mmd-fuse", {2'000, 99}}, {"max-sw", {2'000, 99}},
      {"max-gsw", {300, 99}},       {"supkqd-opt", {300, 99}}, {"sinkhorn", {300, 99}},
  };
  const auto found = kOthers.find(id);
  return found == kOthers.end() ? Budget{} : found->second;
}

struct Kind {
  std::string name;
  std::size_t n_x;
  std::size_t n_y;
  std::vector<std::string> settings;
  bool tied;
};

// Core methods and the adaptive test have scenarios of their own.
bool has_tables_of_its_own(std::string_view id) {
  constexpr std::array<std::string_view, 7> kIds = {"ekqd", "ekqd-centered", "supkqd",  "supkqd-centered",
                                                    "mmd",  "mmd-v",         "adaptive"};
  return std::ranges::find(kIds, id) != kIds.end();
}

// A method with settings other than its defaults.
struct Variant {
  std::string_view id;
  std::string name;
  Parameters parameters = {};
  Calibration calibration = Calibration::permutation;
};

std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const MethodInfo& method : methods()) {
    if (!has_tables_of_its_own(method.id)) all.push_back({method.id, std::string(method.id)});
  }
  for (const char* id : {"mmd-lin", "mmd-multi", "mmd-block"}) {
    all.push_back({id, std::string(id) + ", sign flips", {}, Calibration::sign_flip});
  }
  all.push_back({"mmd-nystrom", "mmd-nystrom, leverage", {{"sampling", 1.0}}});
  all.push_back({"energy", "energy, sliced", {{"form", 2.0}}});
  all.push_back({"kce", "kce, uncentered", {{"form", 1.0}}});
  return all;
}

}  // namespace

std::vector<Scenario> method_scenarios() {
  const std::vector<Kind> kinds = {{"normal, 20 + 20", 20, 20, {}, false},
                                   {"normal, 12 + 18", 12, 18, {}, false},
                                   {"three values, 20 + 20", 20, 20, {"distribution=discrete", "levels=3"}, true}};
  std::vector<Scenario> scenarios;
  for (const Variant& variant : variants()) {
    const Budget budget = budget_of(variant.id);
    const bool coarse = variant.id == "mmd-agg";  // its p-values are ranks, which tie often: conservative
    for (const Kind& kind : kinds) {
      if (variant.calibration == Calibration::sign_flip && kind.n_x != kind.n_y) continue;
      Scenario scenario{
          .table = "Level of every method",
          .row = variant.name,
          .column = kind.name,
          .draw = draws_of({.name = "null", .n_x = kind.n_x, .n_y = kind.n_y, .dim = 3}, kind.settings),
          .options = {.method = std::string(variant.id)},
          .expectation = {.kind = kind.tied || coarse ? Expectation::Kind::at_most_level : Expectation::Kind::level},
          .runs = budget.runs};
      scenario.options.statistic.parameters = variant.parameters;
      scenario.options.calibration = variant.calibration;
      scenario.options.test.num_permutations = budget.permutations;
      scenarios.push_back(std::move(scenario));
    }
  }
  return scenarios;
}

}  // namespace kqd::validation
