#include "explain/relation_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "core/random.hpp"
#include "core/summation.hpp"

namespace kqd {
namespace {

constexpr std::size_t kApartLevels = 11;  // the others are one level together
constexpr double kLeastShare = 0.005;     // of a missing value, to be a column of its own

// Normal scores of mean ranks, with mean 0 and variance 1 over the rows that have a value.
std::vector<double> normal_scores(const std::vector<double>& values, const std::vector<std::uint16_t>& cells) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (cells[i] != RowCells::kSkipped) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> scores(values.size(), 0.0);
  const auto n = static_cast<double>(order.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double score = normal_quantile(0.5 * static_cast<double>(begin + end) / n);
    for (; begin < end; ++begin) scores[order[begin]] = score;
  }
  double mean = 0.0;
  for (const std::size_t i : order) mean += scores[i] / n;
  double square = 0.0;
  for (const std::size_t i : order) square += (scores[i] - mean) * (scores[i] - mean) / n;
  const double unit = square > 0.0 ? 1.0 / std::sqrt(square) : 0.0;
  for (const std::size_t i : order) scores[i] = (scores[i] - mean) * unit;
  return scores;
}

// The most frequent levels apart, in their order, and the others together.
void merge_rare_levels(RelationVariable& variable) {
  const std::vector<double> counts = RowCells{variable.cells, variable.names.size()}.totals();
  std::vector<std::size_t> order;
  for (std::size_t l = 0; l < counts.size(); ++l) {
    if (counts[l] > 0.0) order.push_back(l);
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
  const bool merges = order.size() > kApartLevels + 1;
  if (merges) order.resize(kApartLevels);
  std::ranges::sort(order);
  std::vector<std::uint16_t> place(counts.size(), static_cast<std::uint16_t>(order.size()));
  std::vector<std::string> names;
  for (std::size_t k = 0; k < order.size(); ++k) {
    place[order[k]] = static_cast<std::uint16_t>(k);
    names.push_back(variable.names[order[k]]);
  }
  if (merges) names.emplace_back("other levels");
  for (std::uint16_t& cell : variable.cells) cell = place[cell];
  variable.names = std::move(names);
}

// The two values of a number that has no more, as levels; none if it has another number of values.
std::optional<RelationVariable> two_levels(const RelationVariable& number) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (std::size_t i = 0; i < number.values.size(); ++i) {
    if (number.cells[i] == RowCells::kSkipped) continue;
    low = std::min(low, number.values[i]);
    high = std::max(high, number.values[i]);
  }
  RelationVariable levels{.name = number.name, .source = number.source, .type = number.type};
  levels.names = {value_text(number.type, low), value_text(number.type, high)};
  for (std::size_t i = 0; i < number.values.size(); ++i) {
    const bool has_value = number.cells[i] != RowCells::kSkipped;
    if (has_value && number.values[i] != low && number.values[i] != high) return std::nullopt;
    levels.cells.push_back(!has_value ? 2 : number.values[i] == low ? 0 : 1);
  }
  if (number.has_missing) levels.names.emplace_back("missing");
  return levels;
}

void add_number(const TableColumn& column, std::size_t source, const Pool& pool, const Marks& marks,
                std::vector<RelationVariable>& variables) {
  RelationVariable number{.name = column.name, .source = source, .type = column.type};
  RelationVariable missing{.name = column.name + " is missing", .source = source, .type = ColumnType::boolean};
  missing.names = {"present", "missing"};
  std::size_t num_missing = 0;
  for (std::size_t i = 0; i < pool.size(); ++i) {
    const auto row = pool.row(i);
    const bool is_missing = column.missing && marks.is_set(row, *column.missing);
    number.values.push_back(row[*column.value]);
    number.cells.push_back(is_missing ? RowCells::kSkipped : 0);
    missing.cells.push_back(is_missing ? 1 : 0);
    num_missing += is_missing ? 1U : 0U;
  }
  number.has_missing = num_missing > 0;
  const auto share = static_cast<double>(num_missing) / static_cast<double>(pool.size());
  if (auto levels = two_levels(number)) {
    merge_rare_levels(*levels);
    if (levels->names.size() > 1) variables.push_back(std::move(*levels));
    return;
  }
  number.names = {""};
  number.scores = normal_scores(number.values, number.cells);
  variables.push_back(std::move(number));
  if (share >= kLeastShare && share <= 1.0 - kLeastShare) variables.push_back(std::move(missing));
}

// Values times weights, in the cells of the pair.
RowCells weighted_cells(const RowCells& like, std::span<const double> weights, const auto& value) {
  RowCells rows{like.of_row, like.count, std::vector<double>(like.of_row.size())};
  for (std::size_t i = 0; i < rows.values.size(); ++i) rows.values[i] = (weights.empty() ? 1.0 : weights[i]) * value(i);
  return rows;
}

}  // namespace

std::vector<RelationVariable> variables_of(std::span<const TableColumn> columns, const Pool& pool, const Marks& marks) {
  std::vector<RelationVariable> variables;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (!columns[k].is_category()) {
      add_number(columns[k], k, pool, marks, variables);
      continue;
    }
    LevelCodes codes = level_codes(columns[k], pool, marks);
    RelationVariable levels{.name = columns[k].name, .source = k, .type = columns[k].type};
    levels.cells = std::move(codes.of_row);
    levels.names = std::move(codes.names);
    merge_rare_levels(levels);
    if (levels.names.size() > 1) variables.push_back(std::move(levels));
  }
  return variables;
}

RelationPair pair_of(const RelationVariable& a, const RelationVariable& b, std::span<const double> weights) {
  const bool turn = !a.is_number() && b.is_number();
  RelationPair pair{.a = turn ? &b : &a, .b = turn ? &a : &b};
  const std::size_t num_b = pair.b->names.size();
  pair.counts.count = pair.a->names.size() * num_b;
  for (std::size_t i = 0; i < a.cells.size(); ++i) {
    const std::uint16_t of_a = pair.a->cells[i];
    const std::uint16_t of_b = pair.b->cells[i];
    const bool skipped = of_a == RowCells::kSkipped || of_b == RowCells::kSkipped;
    pair.counts.of_row.push_back(skipped ? RowCells::kSkipped : static_cast<std::uint16_t>(of_a * num_b + of_b));
  }
  if (!weights.empty()) pair.counts = weighted_cells(pair.counts, weights, [](std::size_t) { return 1.0; });
  if (pair.kind() != RelationForm::levels) {
    const std::vector<double>& u = pair.a->scores;
    pair.first = weighted_cells(pair.counts, weights, [&](std::size_t i) { return u[i]; });
    pair.first_squared = weighted_cells(pair.counts, weights, [&](std::size_t i) { return u[i] * u[i]; });
    pair.freedom = num_b - 1;
  } else {
    pair.freedom = (pair.a->names.size() - 1) * (num_b - 1);
  }
  if (pair.kind() == RelationForm::numbers) {
    const std::vector<double>& u = pair.a->scores;
    const std::vector<double>& v = pair.b->scores;
    pair.second = weighted_cells(pair.counts, weights, [&](std::size_t i) { return v[i]; });
    pair.second_squared = weighted_cells(pair.counts, weights, [&](std::size_t i) { return v[i] * v[i]; });
    pair.product = weighted_cells(pair.counts, weights, [&](std::size_t i) { return u[i] * v[i]; });
    pair.freedom = 1;
  }
  for (const RowCells* part : pair.parts()) pair.totals.push_back(part->totals());
  return pair;
}

std::vector<double> relation_of(const RelationPair& pair, const RelationMoments& of) {
  const double n = sum(of[0]);
  if (!(n > 0.0)) return {};
  const auto deviation = [&](std::size_t sums, std::size_t squares) {
    const double mean = sum(of[sums]) / n;
    return std::sqrt(std::max(0.0, sum(of[squares]) / n - mean * mean));
  };
  if (pair.kind() == RelationForm::numbers) {
    const double scale = deviation(1, 3) * deviation(2, 4);
    const double covariance = of[5][0] / n - of[1][0] / n * (of[2][0] / n);
    return {scale > 0.0 ? covariance / scale : 0.0};
  }
  std::vector<double> cells(of[0].size());
  if (pair.kind() == RelationForm::number_by_level) {
    const double scale = deviation(1, 2);
    const double mean = sum(of[1]) / n;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      cells[c] = scale > 0.0 ? (of[1][c] - mean * of[0][c]) / (n * scale) : 0.0;
    }
    return cells;
  }
  const std::size_t num_b = pair.b->names.size();
  std::vector<double> of_a(pair.a->names.size(), 0.0);
  std::vector<double> of_b(num_b, 0.0);
  for (std::size_t c = 0; c < cells.size(); ++c) {
    of_a[c / num_b] += of[0][c] / n;
    of_b[c % num_b] += of[0][c] / n;
  }
  for (std::size_t c = 0; c < cells.size(); ++c) cells[c] = of[0][c] / n - of_a[c / num_b] * of_b[c % num_b];
  return cells;
}

std::vector<double> cell_variances(const RelationPair& pair) {
  const std::vector<double>& counts = pair.totals[0];
  const double n = sum(counts);
  std::vector<double> variances(counts.size(), 1.0);
  if (pair.kind() == RelationForm::numbers) return variances;
  const std::size_t num_b = pair.b->names.size();
  std::vector<double> of_a(pair.a->names.size(), 0.0);
  std::vector<double> of_b(num_b, 0.0);
  for (std::size_t c = 0; c < counts.size(); ++c) {
    of_a[c / num_b] += counts[c] / n;
    of_b[c % num_b] += counts[c] / n;
  }
  for (std::size_t c = 0; c < counts.size(); ++c) variances[c] = of_a[c / num_b] * of_b[c % num_b];
  return variances;
}

double statistic_of(const RelationPair& pair, std::span<const double> variances, const RelationMoments& x,
                    const RelationMoments& y) {
  const std::vector<double> of_x = relation_of(pair, x);
  const std::vector<double> of_y = relation_of(pair, y);
  if (of_x.empty() || of_y.empty()) return 0.0;
  double value = 0.0;
  for (std::size_t c = 0; c < of_x.size(); ++c) {
    if (variances[c] > 0.0) value += (of_y[c] - of_x[c]) * (of_y[c] - of_x[c]) / variances[c];
  }
  return value;
}

std::pair<RelationMoments, RelationMoments> moments_of(const RelationPair& pair,
                                                       const std::vector<Matrix<double>>& of_x, unsigned b) {
  RelationMoments x;
  RelationMoments y;
  for (std::size_t k = 0; k < of_x.size(); ++k) {
    x.emplace_back();
    y.emplace_back();
    for (std::size_t c = 0; c < of_x[k].rows(); ++c) {
      x.back().push_back(of_x[k](c, b));
      y.back().push_back(pair.totals[k][c] - of_x[k](c, b));
    }
  }
  return {std::move(x), std::move(y)};
}

std::vector<Matrix<double>> sums_of(const RelationPair& pair, const LabelBatch& batch) {
  std::vector<Matrix<double>> sums;
  for (const RowCells* part : pair.parts()) sums.push_back(sums_of_x(*part, batch));
  return sums;
}

}  // namespace kqd
