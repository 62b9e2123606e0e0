#include "explain/column_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "explain/relations.hpp"
#include "explain/share_tests.hpp"
#include "kqd/testing/pvalue.hpp"

namespace kqd {
namespace {

constexpr std::size_t kShownProfiles = 200;

// The categories to test: those of the table, then the missing values of each column.
struct ShareProblems {
  std::vector<std::vector<std::uint16_t>> codes;
  std::vector<std::size_t> num_levels;
  std::vector<std::optional<std::size_t>> of_category;  // per column of the table
  std::vector<std::optional<std::size_t>> of_missing;
  std::vector<std::vector<std::string>> names;  // of the levels, per column of the table

  explicit ShareProblems(const ExplainedSamples& pair) : names(pair.table().size()) {
    const Pool pool = pair.pool();
    for (std::size_t k = 0; k < pair.table().size(); ++k) {
      const TableColumn& column = pair.table()[k];
      of_category.emplace_back();
      of_missing.emplace_back();
      if (column.is_category()) {
        LevelCodes levels = level_codes(column, pool, pair.marks());
        of_category.back() = codes.size();
        names[k] = levels.names;
        num_levels.push_back(levels.size());
        codes.push_back(std::move(levels.of_row));
      }
      if (!column.missing) continue;
      of_missing.back() = codes.size();
      num_levels.push_back(2);
      std::vector<std::uint16_t> marks;
      for (std::size_t i = 0; i < pool.size(); ++i) {
        marks.push_back(pair.marks().is_set(pool.row(i), *column.missing) ? 1 : 0);
      }
      codes.push_back(std::move(marks));
    }
  }
};

void add_number(const TestedDirection& tested, double alpha, ColumnExplanation& column) {
  const GapShape& shape = tested.shape;
  column.wasserstein = shape.wasserstein;
  column.effect = effect_of(shape);
  column.shift = shape.shift;
  column.pvalue = tested.pvalue;
  column.where = where_of(tested, alpha);
  column.shares = shape.shares;
  if (!tested.density.at.empty()) column.density = tested.density;
}

void add_category(const ShareTest& tested, const std::vector<std::string>& names, double alpha,
                  ColumnExplanation& column) {
  column.wasserstein = tested.total_variation();
  column.effect = tested.cohens_w();
  column.pvalue = tested.pvalue;
  column.where = tested.pvalue <= alpha ? Where::shares : Where::nowhere;
  column.sensitivity = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t l = 0; l < names.size(); ++l) {
    if (tested.pooled[l] > 0.0) column.levels.push_back({names[l], tested.x[l], tested.y[l]});
  }
  std::ranges::stable_sort(column.levels, std::greater{}, [](const LevelShares& l) { return std::abs(l.y - l.x); });
}

void add_ranges(const ExplainedSamples& pair, std::size_t value, std::optional<std::size_t> missing,
                ColumnExplanation& column) {
  const Pool pool = pair.pool();
  for (std::size_t i = 0; i < pool.size(); ++i) {
    const auto row = pool.row(i);
    if (missing && pair.marks().is_set(row, *missing)) continue;
    auto& range = pair.in_y(i) ? column.range_y : column.range_x;
    if (!range) range = ValueRange{row[value], row[value]};
    range->low = std::min(range->low, row[value]);
    range->high = std::max(range->high, row[value]);
  }
}

}  // namespace

std::uint64_t needed_permutations(std::size_t count, double alpha) {
  constexpr double kRounding = 1e-12;
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(count) / alpha * (1.0 - kRounding)));
}

std::string resolution_note(std::string_view what, std::size_t count, const DirectionTests& tests, double alpha) {
  if (count == 0) return "";
  // Enumeration includes the observed labels; random permutations come in addition to them.
  const std::uint64_t needed = needed_permutations(count, alpha) - (tests.enumerated ? 0 : 1);
  if (tests.n_resamples >= needed) return "";
  return fmt::format("{} permutations are too few to call {} different after adjustment for all {}: {} are needed",
                     tests.n_resamples, what, count, needed);
}

std::vector<double> pvalues_of(std::span<const TestedDirection> directions) {
  std::vector<double> pvalues;
  for (const TestedDirection& direction : directions) pvalues.push_back(direction.pvalue);
  return pvalues;
}

double effect_of(const GapShape& shape) {
  return shape.scale > 0.0 ? shape.wasserstein / shape.scale : 0.0;
}

Where where_of(const TestedDirection& direction, double alpha) {
  return direction.pvalue <= alpha ? direction.shape.where : Where::nowhere;
}

void add_columns(const ExplainedSamples& pair, std::span<const TestedDirection> columns,
                 const DirectionTestOptions& options, const DirectionTests& tests, Explanation& result) {
  const std::vector<TableColumn>& table = pair.table();
  const ShareProblems problems(pair);
  const std::vector<ShareTest> shares = test_shares(problems.codes, problems.num_levels, pair.source(), options);
  std::vector<double> scores;   // of the table's columns, for their order
  std::vector<double> pvalues;  // of the table's columns, then of their missing values
  for (std::size_t k = 0; k < table.size(); ++k) {
    ColumnExplanation& column = result.columns.emplace_back();
    column.name = table[k].name;
    column.type = table[k].type;
    column.index = k;
    if (const auto category = problems.of_category[k]) {
      add_category(shares[*category], problems.names[k], result.alpha, column);
      scores.push_back(shares[*category].score);
    } else {
      add_number(columns[*table[k].value], result.alpha, column);
      add_ranges(pair, *table[k].value, table[k].missing, column);
      scores.push_back(columns[*table[k].value].score);
    }
    pvalues.push_back(column.pvalue);
  }
  for (std::size_t k = 0; k < table.size(); ++k) {
    const auto place = problems.of_missing[k];
    if (!place) continue;
    const ShareTest& test = shares[*place];
    result.columns[k].missing = MissingShares{.x = test.x[1], .y = test.y[1], .pvalue = test.pvalue};
    pvalues.push_back(test.pvalue);
  }
  result.columns_note = resolution_note("columns", pvalues.size(), tests, result.alpha);
  const std::vector<double> adjusted = benjamini_hochberg_adjusted(pvalues);
  std::size_t next = table.size();
  for (std::size_t k = 0; k < table.size(); ++k) {
    ColumnExplanation& column = result.columns[k];
    const bool can_reject = result.columns_note.empty();
    column.pvalue_adjusted = adjusted[k];
    column.reject = can_reject && adjusted[k] <= result.alpha;
    if (!column.missing) continue;
    column.missing->pvalue_adjusted = adjusted[next++];
    column.missing->reject = can_reject && column.missing->pvalue_adjusted <= result.alpha;
  }
  std::ranges::stable_sort(result.columns, [&](const ColumnExplanation& a, const ColumnExplanation& b) {
    return a.pvalue != b.pvalue ? a.pvalue < b.pvalue : scores[a.index] > scores[b.index];
  });
  for (std::size_t rank = 0; rank < std::min(result.columns.size(), kShownProfiles); ++rank) {
    const auto value = table[result.columns[rank].index].value;
    if (value && !columns[*value].shape.profile.levels.empty()) {
      result.columns[rank].profile = columns[*value].shape.profile;
    }
  }
}

void add_sensitivities(const ExplainedSamples& pair, std::span<const double> sensitivities, Explanation& result) {
  for (ColumnExplanation& column : result.columns) {
    if (const auto value = pair.table()[column.index].value) column.sensitivity = sensitivities[*value];
  }
}

void add_relations(const ExplainedSamples& pair, const DirectionTestOptions& options, Explanation& result) {
  Relations found = test_relations(pair.table(), pair.pool(), pair.marks(), pair.source(), options, result.alpha);
  result.relations = std::move(found.pairs);
  result.n_relations_examined = found.num_examined;
  result.n_relation_rows = found.num_rows;
}

}  // namespace kqd
