#include "experiments/more_rows.hpp"

#include <utility>

#include "core/random.hpp"
#include "experiments/paper_rows.hpp"
#include "experiments/published.hpp"

namespace kqd::lab {
namespace {

// The authors' locations of the mean embedding test: standard normal, independent of the data.
Matrix<double> unit_locations(std::size_t count, std::size_t dim) {
  Matrix<double> locations(count, dim);
  RandomStream stream(Seed{0}, Purpose::locations);
  for (double& value : locations.values()) value = stream.normal();
  return locations;
}

std::vector<std::optional<Count>> counts_of(const Study& study, std::string_view published, std::string_view key) {
  if (published.empty()) return {};
  return paper_counts(published, key, places(study));
}

TwoSampleOptions options_of(std::string method, std::int64_t permutations) {
  TwoSampleOptions options;
  options.method = std::move(method);
  options.test.num_permutations = permutations;
  return options;
}

}  // namespace

TwoSampleOptions authors_fixed_directions(const Column& column, const KernelSpec& kernel, ReferenceMeasure reference,
                                          std::int64_t permutations) {
  TwoSampleOptions options = options_of("ekqd", permutations);
  options.statistic.kernel = kernel;
  options.statistic.power = 2.0;
  options.statistic.directions.reference = reference;
  options.statistic.directions.coefficients = authors_draw(column.n).coefficients;
  options.statistic.directions.num_reference = options.statistic.directions.coefficients.rows();
  apply_compat("zero-centred,jitter,median-diagonal", options.statistic);
  return options;
}

void add_approximation_rows(Study& study, std::string_view published, std::int64_t permutations,
                            const std::function<std::size_t(const Column& column)>& dim) {
  const auto squared_log = [](const Column& column) { return floor_log(column.n) * floor_log(column.n); };
  for (const bool as_coded : {true, false}) {
    const std::string form = as_coded ? ", as coded" : ", corrected";
    const std::string end = as_coded ? "-as-coded" : "";
    Row nystrom{.id = "mmd-nystrom" + end, .label = "Nystroem MMD" + form};
    if (as_coded) nystrom.published = counts_of(study, published, "nystrom");
    add_test_row(study, std::move(nystrom), [=](const Column& column) {
      TwoSampleOptions options = options_of("mmd-nystrom", permutations);
      options.statistic.parameters = {{"landmarks", static_cast<double>(squared_log(column))},
                                      {"form", as_coded ? 1.0 : 0.0}};
      return options;
    });
    Row me{.id = "me" + end, .label = "ME" + form};
    if (as_coded) me.published = counts_of(study, published, "me");
    add_test_row(study, std::move(me), [=](const Column& column) {
      TwoSampleOptions options = options_of("me", permutations);
      if (!as_coded) return options;
      options.statistic.parameters = {{"form", 0.0}};
      options.statistic.directions.reference = ReferenceMeasure::points;
      options.statistic.directions.reference_points = unit_locations(squared_log(column), dim(column));
      return options;
    });
  }
}

void add_reference_measure_rows(Study& study, std::string_view published, std::int64_t permutations) {
  const std::pair<ReferenceMeasure, const char*> measures[] = {{ReferenceMeasure::gaussian, "ekqd_2_normal"},
                                                               {ReferenceMeasure::uniform, "ekqd_2_uniform"}};
  for (const auto& [measure, key] : measures) {
    add_test_row(study,
                 {.id = "ekqd-2-" + to_string(measure),
                  .label = "e-KQD, p = 2, " + to_string(measure) + " points, fixed",
                  .published = counts_of(study, published, key),
                  .curve = to_string(measure) + " points"},
                 [measure = measure, permutations](const Column& column) {
                   return authors_fixed_directions(column, KernelSpec{}, measure, permutations);
                 });
  }
}

}  // namespace kqd::lab
