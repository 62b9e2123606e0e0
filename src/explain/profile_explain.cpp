#include "kqd/explain/profile_explain.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "explain/gap_shape.hpp"
#include "kqd/testing/permutations.hpp"
#include "kqd/testing/pvalue.hpp"
#include "profile/grouped_gaps.hpp"
#include "profile/profile_spec.hpp"
#include "simd/label_sums.hpp"
#include "testing/permutation_run.hpp"
#include "two_sample/profile_units.hpp"

namespace kqd {
namespace {

constexpr double kMostGroupPermutations = 9999.0;
constexpr std::size_t kProfiledDirections = 8;
constexpr std::size_t kLevelsOfProfile = 99;
constexpr std::size_t kMostRelations = 20;

// A part of the pooled levels, and how much it counts in the score of a direction, as for samples.
struct Part {
  double from;
  double to;
  double factor;
};
constexpr std::array<Part, 3> kScored = {{{0.0, 1.0, 1.0}, {0.0, 0.1, 0.8}, {0.9, 1.0, 0.8}}};
constexpr std::array<Part, 3> kZones = {{{0.0, 0.25, 1.0}, {0.25, 0.75, 1.0}, {0.75, 1.0, 1.0}}};

// One line of the spec and what its values mean.
struct ExaminedLine {
  std::string name;
  std::size_t line = 0;    // in the data
  std::size_t column = 0;  // of the data; of principal directions their number
  double unit = 1.0;       // value = origin + unit * value on the line
  double origin = 0.0;
};

struct TestedLine {
  double pvalue = 1.0;
  double score = 0.0;
  Where where = Where::nowhere;
};

std::string name_of_column(const ProfileSpec& spec, std::size_t column) {
  return spec.column_names.empty() ? fmt::format("column {}", column + 1) : spec.column_names[column];
}

// Weights of gaps in a part of the pooled levels: a gap between bins belongs to the part of its own level.
std::vector<double> weights_of_part(const GroupedLine& line, const Part& part) {
  std::vector<double> weights = line.grid.gap_weights(GapWeight::size);
  const std::vector<double> rows = rows_per_bin(line);
  double all = 0.0;
  for (const double count : rows) all += count;
  double below = 0.0;
  for (std::size_t b = 0; b < weights.size(); ++b) {
    below += rows[b];
    const double level = below / all;
    if (level < part.from || level > part.to) weights[b] = 0.0;
  }
  return weights;
}

double mean_gap(std::span<const double> values) {
  double total = 0.0;
  for (const double v : values) total += v / static_cast<double>(values.size());
  return total;
}

// The observed permutation is number 0. Means are over all permutations, the observed one included, so that the score
// treats all alike.
TestedLine tested(const GroupedLine& line, const UnitPermutations& permutations, double alpha) {
  std::vector<std::vector<double>> weights;
  for (const Part& part : kScored) weights.push_back(weights_of_part(line, part));
  for (const Part& part : kZones) weights.push_back(weights_of_part(line, part));
  Matrix<double> gaps(weights.size(), permutations.count());
  weighted_gaps(line, weights, permutations, gaps);
  std::vector<double> scores(permutations.count(), 0.0);
  for (std::size_t p = 0; p < kScored.size(); ++p) {
    const auto own = gaps.row(p);
    const double mean = mean_gap(own);
    if (!(mean > 0.0)) continue;
    for (std::size_t k = 0; k < own.size(); ++k) scores[k] = std::max(scores[k], kScored[p].factor * own[k] / mean);
  }
  TestedLine found{.score = scores.front()};
  const double slack = grouped_gap_slack(found.score) + 64.0 * std::numeric_limits<double>::epsilon() * found.score;
  const auto exceed = std::ranges::count_if(scores.begin() + 1, scores.end(),
                                            [&](double score) { return score >= found.score - slack; });
  found.pvalue = permutation_pvalue({scores.size() - 1, static_cast<std::uint64_t>(exceed)});
  if (found.pvalue > alpha) return found;
  std::array<double, kZones.size()> observed{};
  std::array<double, kZones.size()> expected{};
  for (std::size_t z = 0; z < kZones.size(); ++z) {
    const auto own = gaps.row(kScored.size() + z);
    observed[z] = own.front();
    expected[z] = mean_gap(own);
  }
  found.where = where_of_zones(observed, expected);
  return found;
}

// Rows of one sample in each bin.
std::vector<double> counts_of(const GroupedLine& line, const LabelBatch& observed, bool of_x) {
  std::vector<double> counts(line.grid.num_bins(), 0.0);
  for (std::size_t u = 0; u < line.counts.rows(); ++u) {
    if (observed.is_x(u, 0) != of_x) continue;
    for (std::size_t b = 0; b < counts.size(); ++b) counts[b] += line.counts(u, b);
  }
  return counts;
}

// The value that bin counts give for a level.
double quantile_at(const LineGrid& grid, const std::vector<double>& counts, double level) {
  double all = 0.0;
  for (const double count : counts) all += count;
  double below = 0.0;
  for (std::size_t b = 0; b < counts.size(); ++b) {
    below += counts[b];
    if (below >= level * all && counts[b] > 0.0) return grid.values[b];
  }
  return grid.values.back();
}

double pooled_deviation_of(const GroupedLine& line) {
  const std::vector<double> rows = rows_per_bin(line);
  double all = 0.0;
  double mean = 0.0;
  for (std::size_t b = 0; b < rows.size(); ++b) all += rows[b];
  for (std::size_t b = 0; b < rows.size(); ++b) mean += rows[b] / all * line.grid.values[b];
  double variance = 0.0;
  for (std::size_t b = 0; b < rows.size(); ++b) {
    variance += rows[b] / all * (line.grid.values[b] - mean) * (line.grid.values[b] - mean);
  }
  return std::sqrt(variance);
}

// Sizes of a difference along a line, in the units of the data.
struct Sizes {
  double wasserstein = 0.0;
  double deviation = 0.0;
  double shift = 0.0;
  QuantileProfile profile;
};

Sizes sizes_along(const GroupedLine& line, const ExaminedLine& of, const LabelBatch& observed,
                  std::span<const double> unit_rows) {
  Sizes sizes;
  std::vector<double> tau(1);
  grouped_gaps(line, GapWeight::size, UnitPermutations({&observed, 1}, 1, unit_rows), tau);
  sizes.wasserstein = tau[0] * of.unit;
  sizes.deviation = pooled_deviation_of(line) * of.unit;
  const std::vector<double> x = counts_of(line, observed, true);
  const std::vector<double> y = counts_of(line, observed, false);
  const auto difference = [&](double level) {
    return (quantile_at(line.grid, y, level) - quantile_at(line.grid, x, level)) * of.unit;
  };
  sizes.shift = difference(0.5);
  for (std::size_t k = 1; k <= kLevelsOfProfile; ++k) {
    const double level = static_cast<double>(k) / static_cast<double>(kLevelsOfProfile + 1);
    sizes.profile.levels.push_back(level);
    sizes.profile.difference.push_back(difference(level));
  }
  return sizes;
}

// The columns that a spec has lines of, each once.
std::vector<ExaminedLine> columns_of(const ProfileSpec& spec, const ProfileUnits& units) {
  std::vector<ExaminedLine> columns;
  std::vector<bool> found(spec.num_columns, false);
  for (std::size_t set = 0; set < spec.functions.size(); ++set) {
    const std::vector<std::size_t> places = columns_of_lines(spec.functions[set]);
    const auto& scales = spec.functions[set].set.scales;
    for (std::size_t k = 0; k < places.size(); ++k) {
      if (found[places[k]]) continue;
      found[places[k]] = true;
      ColumnScale scale{.column = places[k]};
      for (const ColumnScale& own : scales) {
        if (own.column == places[k]) scale = own;
      }
      columns.push_back({.name = name_of_column(spec, places[k]),
                         .line = units.first_lines[set] + k,
                         .column = places[k],
                         .unit = std::scalbn(scale.scale, scale.exponent),
                         .origin = std::scalbn(scale.center, scale.exponent)});
    }
  }
  return columns;
}

// Lines along the principal functions whose quantiles have the largest weight.
std::vector<ExaminedLine> principal_directions(const ProfileSpec& spec, const ProfileUnits& units, KernelSpec& kernel) {
  const ProfiledStatistics* strongest = nullptr;
  const auto weight_of = [](const ProfiledStatistics& s) { return s.forms.front().weight; };
  for (const ProfiledStatistics& s : spec.statistics) {
    const bool of_kernel = std::holds_alternative<KernelFunctions>(spec.functions[s.functions].set.functions);
    if (s.of_means || !of_kernel) continue;
    if (strongest == nullptr || weight_of(s) > weight_of(*strongest)) strongest = &s;
  }
  std::vector<ExaminedLine> directions;
  if (strongest == nullptr) return directions;
  const std::size_t set = strongest->functions;
  kernel = std::get<KernelFunctions>(spec.functions[set].set.functions).kernel;
  for (std::size_t k = 0; k < spec.functions[set].lines.size(); ++k) {
    directions.push_back({.name = fmt::format("principal {}", k + 1), .line = units.first_lines[set] + k, .column = k});
  }
  return directions;
}

// A product of two columns whose means per group a spec has.
struct ProfiledPair {
  std::size_t first;
  std::size_t second;
  std::size_t set;       // of functions
  std::size_t function;  // of the set
};

std::vector<ProfiledPair> pairs_of(const ProfileSpec& spec) {
  std::vector<ProfiledPair> pairs;
  for (std::size_t set = 0; set < spec.functions.size(); ++set) {
    const auto* const products = std::get_if<PairProducts>(&spec.functions[set].set.functions);
    if (products == nullptr || !spec.functions[set].sums) continue;
    const auto& scales = spec.functions[set].set.scales;
    const auto column_of = [&](std::size_t place) { return scales.empty() ? place : scales[place].column; };
    for (std::size_t k = 0; k < products->pairs.size(); ++k) {
      const auto [a, b] = products->pairs[k];
      if (a == b) continue;
      const ProfiledPair pair{std::min(column_of(a), column_of(b)), std::max(column_of(a), column_of(b)), set, k};
      const auto same = [&](const ProfiledPair& p) { return p.first == pair.first && p.second == pair.second; };
      if (std::ranges::none_of(pairs, same)) pairs.push_back(pair);
    }
  }
  return pairs;
}

// The mean products of pairs of columns, by the largest difference over all pairs in each permutation. Columns are
// measured from their means in the rows that the spec was made from, so a product changes by a relation, or where both
// columns change by themselves.
std::vector<RelationExplanation> relations_of(const ProfileSpec& spec, const ProfileUnits& units,
                                              const UnitPermutations& permutations, double alpha,
                                              std::size_t& num_examined) {
  const std::vector<ProfiledPair> pairs = pairs_of(spec);
  num_examined = pairs.size();
  std::vector<RelationExplanation> relations;
  if (pairs.empty()) return relations;
  const GroupedData& data = *units.data;
  Matrix<double> weighted(data.num_units(), pairs.size());
  for (std::size_t u = 0; u < data.num_units(); ++u) {
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      weighted(u, k) = data.unit_rows[u] * data.unit_means[pairs[k].set](u, pairs[k].function);
    }
  }
  // Means of all units together are 0, so the sum over those of X is in proportion to the difference.
  Matrix<double> sums(permutations.count(), pairs.size(), 0.0);
  simd::add_labelled_rows(weighted, permutations.labels(), 0, sums);
  std::vector<double> largest(permutations.count(), 0.0);
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    double squares = 0.0;
    for (std::size_t b = 0; b < sums.rows(); ++b) squares += sums(b, k) * sums(b, k);
    const double scale = squares > 0.0 ? std::sqrt(static_cast<double>(sums.rows()) / squares) : 0.0;
    for (std::size_t b = 0; b < sums.rows(); ++b) {
      sums(b, k) = std::abs(sums(b, k)) * scale;
      largest[b] = std::max(largest[b], sums(b, k));
    }
  }
  const double slack = 1e-9;
  const auto share = [&](const auto& exceeds) {
    std::uint64_t count = 0;
    for (std::size_t b = 1; b < sums.rows(); ++b) count += exceeds(b) ? 1U : 0U;
    return permutation_pvalue({sums.rows() - 1, count});
  };
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const double observed = sums(0, k) - slack;
    RelationExplanation relation;
    relation.first = name_of_column(spec, pairs[k].first);
    relation.second = name_of_column(spec, pairs[k].second);
    relation.score = sums(0, k);
    relation.pvalue = share([&](std::size_t b) { return sums(b, k) >= observed; });
    relation.pvalue_adjusted = share([&](std::size_t b) { return largest[b] >= observed; });
    relation.reject = relation.pvalue_adjusted <= alpha;
    relations.push_back(std::move(relation));
  }
  std::ranges::stable_sort(relations, [](const auto& a, const auto& b) { return a.score > b.score; });
  if (relations.size() > kMostRelations) relations.resize(kMostRelations);
  return relations;
}

std::string note_on(std::string_view what, std::size_t count, double num_permutations, double alpha) {
  const double smallest = static_cast<double>(count) / (1.0 + num_permutations);
  if (count == 0 || smallest <= alpha) return "";
  return fmt::format("too few permutations to call any of {} {} different: the smallest adjusted p-value is {:.2g}",
                     count, what, smallest);
}

}  // namespace

Explanation explain(const Profile& x, const Profile& y, const ExplainOptions& options, const RunControl* control) {
  const StopScope stoppable(control);
  require_comparable(x, y);
  require_option(options.alpha > 0.0 && options.alpha < 1.0, "alpha", options.alpha, "a number > 0 and < 1");
  const ProfileSpec& spec = *x.spec();
  const Seed seed = permutation_seed(x, y, options.seed);
  const ProfileUnits units = units_of(x, y, seed);
  Explanation result;
  result.n_x = x.num_counted();
  result.n_y = y.num_counted();
  result.dim = x.num_columns();
  result.seed = options.seed;
  result.threads = options.threads;
  result.alpha = options.alpha;
  std::vector<ExaminedLine> lines = columns_of(spec, units);
  const std::size_t num_columns = lines.size();
  for (ExaminedLine& direction : principal_directions(spec, units, result.kernel))
    lines.push_back(std::move(direction));
  result.n_directions_examined = lines.size();
  const double needed = std::min(kMostGroupPermutations, std::ceil(static_cast<double>(lines.size()) / options.alpha));
  const double num_permutations =
      options.num_permutations > 0 ? static_cast<double>(options.num_permutations) : std::max(999.0, needed);
  const PermutationSource source(Design::independent(), {units.num_x, units.num_y}, units.order, seed);
  // Of few permutations the observed one would be drawn again and again; they are counted as they come, which is valid.
  PermutationRun run(source, static_cast<std::uint64_t>(num_permutations), 0);
  std::vector<LabelBatch> batches;
  for (auto some = run.next(64, options.threads); !some.empty(); some = run.next(64, options.threads)) {
    batches.insert(batches.end(), some.begin(), some.end());
  }
  result.n_resamples = run.permutation_count() - 1;
  const UnitPermutations permutations(batches, run.permutation_count(), units.data->unit_rows);
  std::vector<TestedLine> tests(lines.size());
  parallel_for_blocks(lines.size(), 1, options.threads, [&](std::size_t k, std::size_t) {
    tests[k] = tested(units.data->lines[lines[k].line], permutations, options.alpha);
  });
  if (options.relations_of_profiles)
    result.relations = relations_of(spec, units, permutations, options.alpha, result.n_relations_examined);
  result.columns_note = note_on("columns", num_columns, num_permutations, options.alpha);
  result.directions_note = note_on("directions", lines.size(), num_permutations, options.alpha);
  std::vector<double> pvalues;
  for (const TestedLine& test : tests) pvalues.push_back(test.pvalue);
  const std::vector<double> of_columns = benjamini_hochberg_adjusted(std::span(pvalues).first(num_columns));
  const std::vector<double> of_all = holm_adjusted(pvalues);
  std::vector<std::size_t> order(lines.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return std::pair(tests[a].pvalue, -tests[a].score) < std::pair(tests[b].pvalue, -tests[b].score);
  });
  for (const std::size_t k : order) {
    const Sizes sizes = sizes_along(units.data->lines[lines[k].line], lines[k], batches.front(), units.data->unit_rows);
    const double effect = sizes.deviation > 0.0 ? sizes.wasserstein / sizes.deviation : 0.0;
    if (k < num_columns) {
      ColumnExplanation& column = result.columns.emplace_back();
      column.name = lines[k].name;
      column.index = lines[k].column;
      column.wasserstein = sizes.wasserstein;
      column.effect = effect;
      column.shift = sizes.shift;
      column.pvalue = tests[k].pvalue;
      column.pvalue_adjusted = of_columns[k];
      column.reject = result.columns_note.empty() && of_columns[k] <= options.alpha;
      column.where = tests[k].where;
      column.sensitivity = std::numeric_limits<double>::quiet_NaN();
      column.profile = sizes.profile;
    }
    if (result.directions.size() == kProfiledDirections) continue;
    DirectionExplanation& direction = result.directions.emplace_back();
    direction.name = k < num_columns ? "column " + lines[k].name : lines[k].name;
    direction.family = k < num_columns ? "column" : "principal";
    direction.statistic = sizes.wasserstein;
    direction.effect = effect;
    direction.pvalue = tests[k].pvalue;
    direction.pvalue_adjusted = of_all[k];
    direction.reject = result.directions_note.empty() && of_all[k] <= options.alpha;
    direction.where = tests[k].where;
    direction.profile = sizes.profile;
  }
  return result;
}

}  // namespace kqd
