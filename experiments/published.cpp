#include "experiments/published.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/fail.hpp"
#include "experiments/embedded.hpp"

namespace kqd::lab {
namespace {

using nlohmann::json;

const json& paper_results() {
  static const json kResults = json::parse(paper_results_text());
  return kResults;
}

const json& fuse_results() {
  static const json kResults = json::parse(fuse_results_text());
  return kResults;
}

const json& benchmark_results() {
  static const json kResults = json::parse(benchmark_results_text());
  return kResults;
}

const json& reference_stream() {
  static const json kStream = json::parse(reference_stream_text());
  return kStream;
}

Count count_of(double rate, std::size_t runs) {
  return {static_cast<std::size_t>(std::lround(rate * static_cast<double>(runs))), runs};
}

constexpr std::size_t kFuseRuns = 200;  // of every rate, see "source"

// The counts at the requested places.
std::vector<std::optional<Count>> at_places(const std::vector<double>& known, const std::vector<Count>& counts,
                                            std::span<const double> places) {
  std::vector<std::optional<Count>> found(places.size());
  for (std::size_t k = 0; k < places.size(); ++k) {
    const auto place = std::ranges::find(known, places[k]);
    if (place != known.end()) found[k] = counts[static_cast<std::size_t>(place - known.begin())];
  }
  return found;
}

}  // namespace

std::vector<std::optional<Count>> paper_counts(std::string_view experiment, std::string_view method,
                                               std::span<const double> places) {
  const json& results = paper_results().at("experiments").at(std::string(experiment));
  const auto runs = results.at("runs").get<std::size_t>();
  std::vector<Count> counts;
  for (const json& count : results.at("methods").at(std::string(method)).at("count")) {
    counts.push_back({count.get<std::size_t>(), runs});
  }
  return at_places(results.at("x_values").get<std::vector<double>>(), counts, places);
}

std::vector<std::optional<Count>> fuse_counts(std::string_view experiment, std::string_view method,
                                              std::span<const double> places) {
  const json& results = fuse_results().at(std::string(experiment));
  std::vector<Count> counts;
  for (const json& rate : results.at("rate").at(std::string(method))) {
    counts.push_back(count_of(rate.get<double>(), kFuseRuns));
  }
  return at_places(results.at("x_values").get<std::vector<double>>(), counts, places);
}

PublishedProblem benchmark_counts(std::string_view problem) {
  const json& cell = benchmark_results().at("cells").at(std::string(problem));
  PublishedProblem published{cell.at("source").get<std::string>(), {}};
  for (const auto& [test, rate] : cell.at("tests").items()) {
    published.tests[test] = count_of(rate.at(0).get<double>(), rate.at(1).get<std::size_t>());
  }
  return published;
}

PublishedProblem fuse_problem(std::string_view experiment, double place) {
  // The names of the same tests in the other tables.
  static const std::map<std::string, std::string> kNames = {
      {"mmd_agg", "MMDAgg"}, {"mmd_fuse", "MMD-FUSE"}, {"mmd_median", "MMD"}};
  PublishedProblem published{"Big23", {}};
  for (const auto& [test, rates] : fuse_results().at(std::string(experiment)).at("rate").items()) {
    const auto name = kNames.find(test);
    if (const auto count = fuse_counts(experiment, test, {&place, 1}).front()) {
      published.tests[name != kNames.end() ? name->second : test] = *count;
    }
  }
  return published;
}

DirectionDraw authors_draw(std::size_t n) {
  const json& draws = reference_stream().at("draws");
  const auto found = draws.find(std::to_string(n));
  if (found == draws.end()) {
    fail(ErrorCode::invalid_option, "the draw of the authors' code is not stored for samples of {} rows, expected {}",
         n, "100, 200, 500, 1000, 1500, 2000, 2500, 5000 or 10000");
  }
  const auto rows = found->at("coefficients").get<std::vector<std::vector<double>>>();
  DirectionDraw draw{Matrix<double>(rows.size(), rows.front().size()),
                     found->at("indices").get<std::vector<std::size_t>>()};
  for (std::size_t j = 0; j < rows.size(); ++j) std::ranges::copy(rows[j], draw.coefficients.row(j).begin());
  return draw;
}

}  // namespace kqd::lab
