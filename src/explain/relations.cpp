#include "explain/relations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "core/executor.hpp"
#include "core/names.hpp"
#include "core/summation.hpp"
#include "explain/relation_pairs.hpp"
#include "simd/label_sums.hpp"

namespace kqd {
namespace {

constexpr std::size_t kMostPairs = 800;
constexpr double kMostPairRows = 4e6;  // pairs times rows
constexpr std::size_t kLeastRows = 2000;
constexpr std::size_t kScreeningRows = 1000;
constexpr std::size_t kMostColumns = 1000;  // of more, as of embeddings, no pair is examined
constexpr std::size_t kMostCells = 100;
constexpr std::size_t kStretches = 8;  // of the first of two numbers
constexpr std::size_t kBatchesOfRelations = 32;
constexpr std::uint64_t kMostRelationPermutations = 9999;

constexpr std::array<Name<RelationForm>, 3> kKindNames = {{
    {RelationForm::numbers, "numbers"},
    {RelationForm::number_by_level, "number by level"},
    {RelationForm::levels, "levels"},
}};

// The normal score of a chi-square value over its degrees of freedom [WH31].
double normal_score(double ratio, std::size_t freedom) {
  const double spread = 2.0 / (9.0 * static_cast<double>(freedom));
  return (std::cbrt(ratio) - (1.0 - spread)) / std::sqrt(spread);
}

struct Candidate {
  std::size_t a = 0;
  std::size_t b = 0;
  double strength = 0.0;  // of the relation in the pool
};

// The strength of the relation of two columns in the pool.
double pooled_strength(const RelationVariable& a, const RelationVariable& b) {
  if (a.is_number() && b.is_number() && !a.has_missing && !b.has_missing) {
    const double mean = std::inner_product(a.scores.begin(), a.scores.end(), b.scores.begin(), 0.0) /
                        static_cast<double>(a.scores.size());
    return mean * mean;
  }
  const RelationPair pair = pair_of(a, b, {});
  const std::vector<double> variances = cell_variances(pair);
  const std::vector<double> relation = relation_of(pair, pair.totals);
  double value = 0.0;
  for (std::size_t c = 0; c < relation.size(); ++c) {
    if (variances[c] > 0.0) value += relation[c] * relation[c] / variances[c];
  }
  return value / static_cast<double>(std::max<std::size_t>(1, pair.freedom));
}

// All pairs of columns of different sources; if there are too many, those with the strongest relation in the pool.
std::vector<Candidate> candidates(const std::vector<RelationVariable>& variables, ThreadCount threads) {
  std::vector<Candidate> pairs;
  for (std::size_t a = 0; a < variables.size(); ++a) {
    for (std::size_t b = a + 1; b < variables.size(); ++b) {
      if (variables[a].source != variables[b].source) pairs.push_back({a, b});
    }
  }
  if (pairs.size() <= kMostPairs) return pairs;
  std::vector<RelationVariable> screened = variables;
  for (RelationVariable& variable : screened) {
    variable.cells.resize(std::min(variable.cells.size(), kScreeningRows));
    variable.scores.resize(std::min(variable.scores.size(), kScreeningRows));
  }
  parallel_for_blocks(pairs.size(), 64, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      pairs[k].strength = pooled_strength(screened[pairs[k].a], screened[pairs[k].b]);
    }
  });
  std::ranges::stable_sort(pairs, std::greater{}, &Candidate::strength);
  pairs.resize(kMostPairs);
  return pairs;
}

// The sums over the rows of X of every number: of the weights, then for each column of its scores and their squares.
struct NumberSums {
  Matrix<double> of_x;  // permutation x (1 + 2 per column)
  std::vector<double> totals;
};

constexpr std::size_t kPairsAtATime = 16;
constexpr std::size_t kRowsAtATime = 256;  // a multiple of simd::RowGroupLabels::kRows

// sums(b, k) over the rows that permutation b labels X, and their totals, of values(row, k).
NumberSums sums_of_columns(std::size_t num_rows, std::size_t count, const simd::RowGroupLabels& labels,
                           const auto& value) {
  NumberSums sums{Matrix<double>(labels.permutation_count(), count, 0.0), std::vector<double>(count, 0.0)};
  Matrix<double> values(kRowsAtATime, count);
  for (std::size_t first = 0; first < num_rows; first += kRowsAtATime) {
    const std::size_t rows = std::min(kRowsAtATime, num_rows - first);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t k = 0; k < count; ++k) {
        values(i, k) = value(first + i, k);
        sums.totals[k] += values(i, k);
      }
    }
    simd::add_labelled_rows(values.view().row_range(0, rows), labels, first, sums.of_x);
  }
  return sums;
}

NumberSums sums_of_numbers(const std::vector<RelationVariable>& variables, std::span<const double> weights,
                           const simd::RowGroupLabels& labels) {
  return sums_of_columns(variables.front().cells.size(), 1 + 2 * variables.size(), labels,
                         [&](std::size_t i, std::size_t k) {
                           const double weight = weights.empty() ? 1.0 : weights[i];
                           if (k == 0) return weight;
                           const RelationVariable& variable = variables[(k - 1) / 2];
                           const double z = variable.is_number() ? variable.scores[i] : 0.0;
                           return weight * (k % 2 == 1 ? z : z * z);
                         });
}

// The moments of one sample as `relation_of` takes them, from its sums.
RelationMoments number_moments(const Candidate& pair, double product, const auto& sum_of) {
  return {{sum_of(0)},
          {sum_of(1 + 2 * pair.a)},
          {sum_of(1 + 2 * pair.b)},
          {sum_of(2 + 2 * pair.a)},
          {sum_of(2 + 2 * pair.b)},
          {product}};
}

// Numbers of which all rows have a value: only the sums of products are their own.
bool is_plain(const Candidate& pair, const std::vector<RelationVariable>& variables) {
  const RelationVariable& a = variables[pair.a];
  const RelationVariable& b = variables[pair.b];
  return a.is_number() && b.is_number() && !a.has_missing && !b.has_missing;
}

// Some permutations of all pairs.
class RelationBatches {
 public:
  RelationBatches(const std::vector<Candidate>& pairs, const std::vector<RelationVariable>& variables,
                  const DirectionTestOptions& options, std::span<const LabelBatch> batches, std::size_t count)
      : pairs_(pairs),
        variables_(variables),
        options_(options),
        batches_(first_rows(batches, variables.front().cells.size())),
        labels_(batches_, count),
        sums_(sums_of_numbers(variables, options.weights, labels_)) {}

  // Writes columns [first, first + count) of the scores.
  void evaluate(std::size_t first, Matrix<double>& scores) const {
    std::vector<std::size_t> plain;
    std::vector<std::size_t> others;
    for (std::size_t k = 0; k < pairs_.size(); ++k) (is_plain(pairs_[k], variables_) ? plain : others).push_back(k);
    parallel_for_blocks(plain.size(), kPairsAtATime, options_.threads, [&](std::size_t begin, std::size_t end) {
      evaluate_numbers(std::span(plain).subspan(begin, end - begin), first, scores);
    });
    parallel_for_blocks(others.size(), 1, options_.threads,
                        [&](std::size_t k, std::size_t) { evaluate_pair(others[k], first, scores); });
  }

 private:
  static std::vector<LabelBatch> first_rows(std::span<const LabelBatch> batches, std::size_t num_rows) {
    std::vector<LabelBatch> some(batches.size());
    for (std::size_t k = 0; k < batches.size(); ++k) {
      some[k].count = batches[k].count;
      some[k].words.assign(batches[k].words.begin(), batches[k].words.begin() + static_cast<std::ptrdiff_t>(num_rows));
    }
    return some;
  }

  void evaluate_numbers(std::span<const std::size_t> chosen, std::size_t first, Matrix<double>& scores) const {
    const NumberSums products =
        sums_of_columns(variables_.front().cells.size(), chosen.size(), labels_, [&](std::size_t i, std::size_t k) {
          const Candidate& pair = pairs_[chosen[k]];
          const double weight = options_.weights.empty() ? 1.0 : options_.weights[i];
          return weight * variables_[pair.a].scores[i] * variables_[pair.b].scores[i];
        });
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      const Candidate& candidate = pairs_[chosen[k]];
      RelationPair pair{.a = &variables_[candidate.a], .b = &variables_[candidate.b]};
      for (std::size_t b = 0; b < labels_.permutation_count(); ++b) {
        const RelationMoments x =
            number_moments(candidate, products.of_x(b, k), [&](std::size_t c) { return sums_.of_x(b, c); });
        const RelationMoments y = number_moments(candidate, products.totals[k] - products.of_x(b, k),
                                                 [&](std::size_t c) { return sums_.totals[c] - sums_.of_x(b, c); });
        scores(chosen[k], first + b) = statistic_of(pair, kUnitVariance, x, y);
      }
    }
  }

  void evaluate_pair(std::size_t k, std::size_t first, Matrix<double>& scores) const {
    const RelationPair pair = pair_of(variables_[pairs_[k].a], variables_[pairs_[k].b], options_.weights);
    const std::vector<double> variances = cell_variances(pair);
    for (const LabelBatch& batch : batches_) {
      const auto sums = sums_of(pair, batch);
      for (unsigned b = 0; b < batch.count; ++b) {
        const auto [x, y] = moments_of(pair, sums, b);
        scores(k, first++) = statistic_of(pair, variances, x, y);
      }
    }
  }

  static constexpr std::array<double, 1> kUnitVariance = {1.0};

  const std::vector<Candidate>& pairs_;
  const std::vector<RelationVariable>& variables_;
  const DirectionTestOptions& options_;
  std::vector<LabelBatch> batches_;
  simd::RowGroupLabels labels_;
  NumberSums sums_;
};

// Scores of all pairs in all permutations, the observed one first: pair x permutation.
Matrix<double> scores_of(const std::vector<Candidate>& pairs, const std::vector<RelationVariable>& variables,
                         const PermutationSource& source, const DirectionTestOptions& options) {
  DirectionTestOptions fewer = options;
  fewer.num_permutations = std::min(options.num_permutations, kMostRelationPermutations);
  PermutationRun run = direction_permutations(source, fewer);
  Matrix<double> scores(pairs.size(), run.permutation_count());
  while (run.num_done() < run.permutation_count()) {
    stop_point();
    const std::uint64_t first = run.num_done();
    const auto batches = run.next(kBatchesOfRelations, options.threads);
    RelationBatches(pairs, variables, options, batches, run.num_done() - first).evaluate(first, scores);
  }
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const RelationPair pair = pair_of(variables[pairs[k].a], variables[pairs[k].b], {});
    const auto row = scores.row(k);
    const double mean = sum(row) / static_cast<double>(row.size());
    for (double& value : row)
      value = normal_score(mean > 0.0 ? value / mean : 0.0, std::max<std::size_t>(1, pair.freedom));
  }
  return scores;
}

// Two evaluations of the same score differ by the rounding of sums over the rows, far less than this.
bool as_extreme(double value, double observed) {
  return value >= observed - 1e-7 * (1.0 + std::abs(observed));
}

// The first value is the observed one, which is one of the permutations that are enumerated, or comes in addition.
double pvalue_of(std::span<const double> values, double observed) {
  const auto count = std::ranges::count_if(values.subspan(1), [&](double v) { return as_extreme(v, observed); });
  return (1.0 + static_cast<double>(count)) / static_cast<double>(values.size());
}

// Rows of each sample, and the sum of a's values, in one part of the rows.
struct Share {
  double weight_x = 0.0;
  double weight_y = 0.0;
  double sum_x = 0.0;
  double sum_y = 0.0;
  std::size_t n_x = 0;
  std::size_t n_y = 0;

  void add(bool in_x, double weight, double value) {
    (in_x ? weight_x : weight_y) += weight;
    (in_x ? sum_x : sum_y) += weight * value;
    ++(in_x ? n_x : n_y);
  }
};

double ratio(double a, double b) {
  return b > 0.0 ? a / b : 0.0;
}

// Cells of a number by level, or of two categories.
void add_level_cells(const RelationPair& pair, const LabelBatch& observed, std::span<const double> weights,
                     RelationExplanation& result) {
  const bool is_number = pair.a->is_number();
  const std::size_t num_b = pair.b->names.size();
  std::vector<Share> parts(pair.counts.count);
  Share all;
  for (std::size_t i = 0; i < pair.counts.of_row.size(); ++i) {
    if (pair.counts.of_row[i] == RowCells::kSkipped) continue;
    const double weight = weights.empty() ? 1.0 : weights[i];
    const double value = is_number ? pair.a->values[i] : 0.0;
    parts[pair.counts.of_row[i]].add(observed.is_x(i, 0), weight, value);
    all.add(observed.is_x(i, 0), weight, value);
  }
  const auto [x, y] = moments_of(pair, sums_of(pair, observed), 0);
  const std::vector<double> of_x = relation_of(pair, x);
  const std::vector<double> of_y = relation_of(pair, y);
  const std::vector<double> variances = cell_variances(pair);
  std::vector<std::pair<double, RelationCell>> cells;
  for (std::size_t c = 0; c < parts.size() && !of_x.empty() && !of_y.empty(); ++c) {
    const Share& part = parts[c];
    if (part.n_x + part.n_y == 0) continue;
    RelationCell cell{.first = is_number ? "" : pair.a->names[c / num_b],
                      .second = pair.b->names[c % num_b],
                      .x = is_number ? ratio(part.sum_x, part.weight_x) : ratio(part.weight_x, all.weight_x),
                      .y = is_number ? ratio(part.sum_y, part.weight_y) : ratio(part.weight_y, all.weight_y),
                      .change = of_y[c] - of_x[c],
                      .n_x = part.n_x,
                      .n_y = part.n_y};
    const double size = variances[c] > 0.0 ? std::abs(cell.change) / std::sqrt(variances[c]) : 0.0;
    // A covariance with a level over the share of that level is a mean within it.
    if (is_number) {
      cell.change = ratio(of_y[c] * all.weight_y, part.weight_y) - ratio(of_x[c] * all.weight_x, part.weight_x);
    }
    cells.emplace_back(size, std::move(cell));
  }
  std::ranges::stable_sort(cells, std::greater{}, &std::pair<double, RelationCell>::first);
  for (auto& [size, cell] : cells) {
    if (result.cells.size() < kMostCells) result.cells.push_back(std::move(cell));
  }
}

// The mean of the second number in stretches of the first that have the same number of pooled rows.
void add_curves(const RelationPair& pair, const LabelBatch& observed, std::span<const double> weights,
                RelationExplanation& result) {
  const auto [x, y] = moments_of(pair, sums_of(pair, observed), 0);
  const std::vector<double> of_x = relation_of(pair, x);
  const std::vector<double> of_y = relation_of(pair, y);
  if (of_x.empty() || of_y.empty()) return;
  result.correlation_x = of_x.front();
  result.correlation_y = of_y.front();
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < pair.counts.of_row.size(); ++i) {
    if (pair.counts.of_row[i] != RowCells::kSkipped) order.push_back(i);
  }
  const std::vector<double>& values = pair.a->values;
  std::ranges::stable_sort(order, [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
  for (std::size_t s = 0, begin = 0; s < kStretches && begin < order.size(); ++s) {
    std::size_t end = std::max(begin + 1, order.size() * (s + 1) / kStretches);
    while (end < order.size() && values[order[end]] == values[order[end - 1]]) ++end;
    Share part;
    for (std::size_t k = begin; k < end; ++k) {
      const std::size_t i = order[k];
      part.add(observed.is_x(i, 0), weights.empty() ? 1.0 : weights[i], pair.b->values[i]);
    }
    const std::string middle = value_text(pair.a->type, values[order[(begin + end - 1) / 2]]);
    begin = end;
    if (part.n_x == 0 || part.n_y == 0) continue;
    const double mean_x = ratio(part.sum_x, part.weight_x);
    const double mean_y = ratio(part.sum_y, part.weight_y);
    result.cells.push_back({.first = middle,
                            .second = "",
                            .x = mean_x,
                            .y = mean_y,
                            .change = mean_y - mean_x,
                            .n_x = part.n_x,
                            .n_y = part.n_y});
  }
}

std::size_t rows_for(std::size_t num_columns, std::size_t num_rows) {
  const auto pairs =
      std::min(static_cast<double>(kMostPairs), 0.5 * static_cast<double>(num_columns * (num_columns - 1)));
  const auto feasible = static_cast<std::size_t>(kMostPairRows / std::max(1.0, pairs));
  return std::min(num_rows, std::max(kLeastRows, feasible));
}

}  // namespace

std::string to_string(RelationForm kind) {
  return std::string(name_of(kKindNames, kind));
}

Relations test_relations(std::span<const TableColumn> columns, const Pool& pool, const Marks& marks,
                         const PermutationSource& source, const DirectionTestOptions& options, double alpha) {
  Relations result;
  if (columns.size() < 2 || columns.size() > kMostColumns) return result;
  const std::size_t num_rows = rows_for(columns.size(), pool.size());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < num_rows; ++i) order.push_back(pool.order.empty() ? i : pool.order[i]);
  const Pool some{pool.x, pool.y, order};
  DirectionTestOptions some_options = options;
  if (!some_options.weights.empty()) some_options.weights.resize(num_rows);
  const std::vector<double>& weights = some_options.weights;
  const std::vector<RelationVariable> variables = variables_of(columns, some, marks);
  const std::vector<Candidate> pairs = candidates(variables, options.threads);
  if (pairs.empty()) return result;
  result.num_examined = pairs.size();
  result.num_rows = num_rows;

  const Matrix<double> scores = scores_of(pairs, variables, source, some_options);
  std::vector<double> largest(scores.cols(), -std::numeric_limits<double>::infinity());
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const auto row = scores.row(k);
    for (std::size_t b = 0; b < row.size(); ++b) largest[b] = std::max(largest[b], row[b]);
  }
  std::vector<std::size_t> ranking(pairs.size());
  std::iota(ranking.begin(), ranking.end(), std::size_t{0});
  std::ranges::stable_sort(ranking, [&](std::size_t a, std::size_t b) { return scores(a, 0) > scores(b, 0); });
  ranking.resize(std::min(ranking.size(), kShownRelations));
  LabelBatch observed;
  source.fill(PermutationMode::random, 0, 1, observed);
  for (const std::size_t k : ranking) {
    const RelationPair pair = pair_of(variables[pairs[k].a], variables[pairs[k].b], weights);
    RelationExplanation& relation = result.pairs.emplace_back();
    relation.first = pair.a->name;
    relation.second = pair.b->name;
    relation.kind = pair.kind();
    relation.score = scores(k, 0);
    relation.pvalue = pvalue_of(scores.row(k), relation.score);
    relation.pvalue_adjusted = pvalue_of(largest, relation.score);
    relation.reject = relation.pvalue_adjusted <= alpha;
    if (relation.kind == RelationForm::numbers) {
      add_curves(pair, observed, weights, relation);
    } else {
      add_level_cells(pair, observed, weights, relation);
    }
  }
  return result;
}

}  // namespace kqd
