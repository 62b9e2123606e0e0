#include "metrics/adaptive/relations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/random.hpp"
#include "core/summation.hpp"
#include "metrics/adaptive/mean_bundle.hpp"
#include "simd/matrix_product.hpp"

namespace kqd {
namespace {

constexpr std::size_t kMostLevels = 32;              // of a category next to a number
constexpr std::size_t kMostLevelsOfBoth = 12;        // of two categories
constexpr std::size_t kFewestLevelsOfRelations = 4;  // if that is not enough, some relations are left out
constexpr std::size_t kLevelsForStrength = 4;        // that show how strong a relation is in the pool
constexpr std::size_t kRowsForStrength = 1000;
constexpr std::size_t kColumnsForStrength = 1500;
constexpr double kFunctionBudget = 1.6e6;  // pooled rows times products of relations
constexpr double kFewestFunctions = 256.0;
constexpr double kMostFunctions = 2000.0;

bool is_number(const TablePart& part) {
  return part.kind == ColumnKind::number;
}

bool wanted(RelationKind kind, const TablePart& a, const TablePart& b) {
  const int num_numbers = (is_number(a) ? 1 : 0) + (is_number(b) ? 1 : 0);
  switch (kind) {
    case RelationKind::numbers:
      return num_numbers == 2;
    case RelationKind::number_and_category:
      return num_numbers == 1;
    case RelationKind::categories:
      return num_numbers == 0;
    case RelationKind::any:
      return true;
  }
  return false;
}

// The columns of a part that are compared: its most frequent levels. One of two levels says all.
TablePart compared(const TablePart& part, std::size_t most, const std::vector<LevelColumn>& levels) {
  return most_frequent(part, part.columns.size() == 2 ? 1 : most, levels);
}

// Covariances of the columns of a part: of indicators with these shares, or 1 of a number.
Matrix<double> covariances(const TablePart& part, const std::vector<LevelColumn>& levels) {
  const std::size_t size = part.columns.size();
  Matrix<double> made(size, size, 1.0);
  if (is_number(part)) return made;
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      const double p = levels[part.columns[i]].share;
      made(i, j) = (i == j ? p : 0.0) - p * levels[part.columns[j]].share;
    }
  }
  return made;
}

// Of the sum of weighted squares of the products of two parts that are about independent: a sum sum_j w_j v_j c_j
// varies as chi-square with (sum w_j v_j)^2 / sum w_j w_k cov_jk^2 degrees of freedom [Satterthwaite].
double degrees_of(const Relation& relation, const std::vector<LevelColumn>& levels) {
  const Matrix<double> a = covariances(relation.first, levels);
  const Matrix<double> b = covariances(relation.second, levels);
  std::vector<double> weights;
  double mean_variance = 0.0;
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < b.rows(); ++j) mean_variance += a(i, i) * b(j, j);
  }
  mean_variance /= static_cast<double>(a.rows() * b.rows());
  double mean = 0.0;
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < b.rows(); ++j) {
      const double variance = a(i, i) * b(j, j);
      weights.push_back(mean_variance > 0.0 ? 1.0 / (variance + kRareShare * mean_variance) : 0.0);
      mean += weights.back() * variance;
    }
  }
  double half_variance = 0.0;
  for (std::size_t f = 0; f < weights.size(); ++f) {
    for (std::size_t g = 0; g < weights.size(); ++g) {
      const double covariance = a(f / b.rows(), g / b.rows()) * b(f % b.rows(), g % b.rows());
      half_variance += weights[f] * weights[g] * covariance * covariance;
    }
  }
  return half_variance > 0.0 ? std::max(1.0, mean * mean / half_variance) : 1.0;
}

std::size_t num_functions(const Relation& relation) {
  return relation.first.columns.size() * relation.second.columns.size();
}

// All relations of these kinds between parts, each with at most so many levels.
std::vector<Relation> all_relations(const std::vector<TablePart>& parts, RelationKind kind, std::size_t most_levels,
                                    const std::vector<LevelColumn>& levels) {
  std::vector<Relation> made;
  for (std::size_t a = 0; a < parts.size(); ++a) {
    for (std::size_t b = a + 1; b < parts.size(); ++b) {
      if (parts[a].source == parts[b].source || !wanted(kind, parts[a], parts[b])) continue;
      const bool both = !is_number(parts[a]) && !is_number(parts[b]);
      const std::size_t most = both ? std::min(most_levels, kMostLevelsOfBoth) : most_levels;
      made.push_back({compared(parts[a], most, levels), compared(parts[b], most, levels)});
    }
  }
  return made;
}

std::size_t total_functions(const std::vector<Relation>& relations) {
  std::size_t total = 0;
  for (const Relation& relation : relations) total += num_functions(relation);
  return total;
}

// How much more the squared correlations of the columns of both parts add up to in the pool than they would if the
// parts were independent.
double strength(const Relation& relation, const Matrix<double>& correlations, double num_rows,
                const std::vector<std::size_t>& place) {
  double squares = 0.0;
  for (const std::size_t a : relation.first.columns) {
    for (const std::size_t b : relation.second.columns) {
      const double r = correlations(place[a], place[b]);
      squares += r * r;
    }
  }
  const auto count = static_cast<double>(num_functions(relation));
  return (num_rows * squares - count) / std::sqrt(count);
}

// Those that are strongest in the pool, as many as have at most so many products, in their order.
void keep_strongest(std::vector<Relation>& relations, const PairProducts& columns, const Pool& rows,
                    const std::vector<LevelColumn>& levels, std::size_t most_functions, Seed seed) {
  Matrix<double> some = subsample(rows, kRowsForStrength, seed, Purpose::landmarks);
  standardise(columns.mean, columns.deviation, some);
  std::vector<Relation> of_few_levels;
  std::vector<std::size_t> used;
  for (const Relation& relation : relations) {
    of_few_levels.push_back(
        {compared(relation.first, kLevelsForStrength, levels), compared(relation.second, kLevelsForStrength, levels)});
    for (const TablePart* part : {&of_few_levels.back().first, &of_few_levels.back().second}) {
      used.insert(used.end(), part->columns.begin(), part->columns.end());
    }
  }
  std::ranges::sort(used);
  used.erase(std::unique(used.begin(), used.end()), used.end());
  std::vector<std::size_t> place(rows.dim(), 0);
  Matrix<double> unit(some.rows(), used.size(), 0.0);
  for (std::size_t k = 0; k < used.size(); ++k) {
    place[used[k]] = k;
    double total = 0.0;
    for (std::size_t i = 0; i < some.rows(); ++i) total += some(i, used[k]) * some(i, used[k]);
    for (std::size_t i = 0; i < some.rows() && total > 0.0; ++i) unit(i, k) = some(i, used[k]) / std::sqrt(total);
  }
  Matrix<double> correlations(used.size(), used.size());
  simd::multiply(unit, simd::Op::transpose, unit, simd::Op::none, correlations);
  std::vector<double> strengths;
  for (const Relation& relation : of_few_levels) {
    strengths.push_back(strength(relation, correlations, static_cast<double>(some.rows()), place));
  }
  std::vector<std::size_t> order(relations.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return strengths[a] != strengths[b] ? strengths[a] > strengths[b] : a < b;
  });
  std::size_t num_kept = 0;
  std::size_t total = 0;
  while (num_kept < order.size() && total + num_functions(relations[order[num_kept]]) <= most_functions) {
    total += num_functions(relations[order[num_kept++]]);
  }
  order.resize(std::max<std::size_t>(1, num_kept));
  std::ranges::sort(order);
  std::vector<Relation> kept;
  for (const std::size_t r : order) kept.push_back(std::move(relations[r]));
  relations = std::move(kept);
}

// As many parts as have few columns enough for their correlations.
std::vector<TablePart> chosen_parts(const TableParts& table, Seed seed) {
  std::size_t num_columns = 0;
  for (const TablePart& part : table.parts) num_columns += std::min(part.columns.size(), kLevelsForStrength);
  if (num_columns <= kColumnsForStrength) return table.parts;
  RandomStream stream(seed, Purpose::linear_directions);
  auto some =
      sample_without_replacement(table.parts.size(), table.parts.size() * kColumnsForStrength / num_columns, stream);
  std::ranges::sort(some);
  std::vector<TablePart> chosen;
  for (const std::size_t p : some) chosen.push_back(table.parts[p]);
  return chosen;
}

}  // namespace

// The text of a level may contain the separator as well, so the first one counts.
std::string part_label(const TablePart& part, std::span<const std::string> names) {
  const std::string& first = names[part.columns.front()];
  constexpr std::string_view kMissing = " missing";
  if (part.kind == ColumnKind::missing && first.ends_with(kMissing)) {
    return fmt::format("{} is missing", std::string_view(first).substr(0, first.size() - kMissing.size()));
  }
  if (part.kind != ColumnKind::level) return first;
  const std::size_t end = std::min(first.find('='), first.rfind('#'));
  if (end != std::string::npos) return first.substr(0, end);
  return part.columns.size() == 1 ? first : fmt::format("{} to {}", first, names[part.columns.back()]);
}

std::string relation_label(const Relation& relation, std::span<const std::string> names) {
  const TablePart* first = &relation.first;
  const TablePart* second = &relation.second;
  if (is_number(*second) && !is_number(*first)) std::swap(first, second);
  return fmt::format("{} {} {}", part_label(*first, names), is_number(*second) ? "and" : "by",
                     part_label(*second, names));
}

PairProducts measured_columns(const Pool& rows, const TableParts& parts) {
  PairProducts columns;
  columns.marks = parts.marks;
  const std::size_t dim = rows.dim();
  columns.mean = pooled_mean(rows);
  std::vector<double> counts(dim, static_cast<double>(rows.size()));
  if (columns.marks.any()) {
    std::vector<std::size_t> all(dim);
    std::iota(all.begin(), all.end(), std::size_t{0});
    const FunctionSet values{{}, ColumnValues{all, columns.marks}};
    columns.mean = means_where_known(values, rows);
    std::ranges::fill(counts, 0.0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t k = 0; k < dim; ++k) counts[k] += columns.marks.missing(rows.row(i), k) ? 0.0 : 1.0;
    }
  }
  std::vector<CompensatedSum> squares(dim);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows.row(i);
    for (std::size_t k = 0; k < dim; ++k) {
      if (columns.marks.missing(row, k)) continue;
      const double deviation = row[k] - columns.mean[k];
      squares[k].add(deviation * deviation);
    }
  }
  for (std::size_t k = 0; k < dim; ++k) {
    columns.deviation.push_back(counts[k] > 0.0 ? std::sqrt(squares[k].value() / counts[k]) : 0.0);
  }
  // Levels are measured in the distance of their two values: rare ones are not cut.
  const std::vector<LevelColumn> levels = level_columns(rows, parts);
  for (const ColumnKind kind : {ColumnKind::level, ColumnKind::missing}) {
    for (const std::size_t k : parts.columns_of(kind)) columns.deviation[k] = levels[k].width();
  }
  return columns;
}

std::vector<double> means_where_known(const FunctionSet& set, const Pool& rows) {
  constexpr std::size_t kRowsAtATime = 256;
  const RowFunctions functions = make_functions(set);
  const std::size_t count = set.count();
  std::vector<CompensatedSum> sums(count);
  std::vector<double> numbers(count, 0.0);
  for (std::size_t first = 0; first < rows.size(); first += kRowsAtATime) {
    const std::size_t size = std::min(kRowsAtATime, rows.size() - first);
    Matrix<double> some(size, rows.dim());
    Matrix<double> values(size, count);
    copy_rows(rows, first, some);
    functions->evaluate(some, values);
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t f = 0; f < count; ++f) {
        if (std::isnan(values(i, f))) continue;
        sums[f].add(values(i, f));
        numbers[f] += 1.0;
      }
    }
  }
  std::vector<double> means(count, 0.0);
  for (std::size_t f = 0; f < count; ++f) {
    if (numbers[f] > 0.0) means[f] = sums[f].value() / numbers[f];
  }
  return means;
}

RelationProducts relation_products(const Pool& rows, const TableParts& parts, RelationKind kind,
                                   std::size_t most_functions, Seed seed) {
  RelationProducts made;
  made.products = measured_columns(rows, parts);
  made.products.components.mean.assign(rows.dim(), 0.0);
  made.products.components.weights = Matrix<double>(rows.dim(), 0);
  const std::vector<LevelColumn> levels = level_columns(rows, parts);
  const std::vector<TablePart> chosen = chosen_parts(parts, seed);
  std::size_t most_levels = kMostLevels;
  made.relations = all_relations(chosen, kind, most_levels, levels);
  while (total_functions(made.relations) > most_functions && most_levels > kFewestLevelsOfRelations) {
    most_levels = std::max(kFewestLevelsOfRelations, most_levels * 3 / 4);
    made.relations = all_relations(chosen, kind, most_levels, levels);
  }
  if (total_functions(made.relations) > most_functions) {
    keep_strongest(made.relations, made.products, rows, levels, most_functions, seed);
  }
  for (const Relation& relation : made.relations) {
    made.groups.push_back({num_functions(relation), degrees_of(relation, levels)});
    for (const std::size_t a : relation.first.columns) {
      for (const std::size_t b : relation.second.columns) made.products.pairs.emplace_back(a, b);
    }
  }
  if (made.products.marks.any()) made.products.centres = means_where_known(FunctionSet{{}, made.products}, rows);
  return made;
}

std::size_t most_relation_functions(std::size_t num_rows) {
  return static_cast<std::size_t>(
      std::clamp(kFunctionBudget / static_cast<double>(num_rows), kFewestFunctions, kMostFunctions));
}

}  // namespace kqd
