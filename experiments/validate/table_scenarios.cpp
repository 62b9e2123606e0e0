#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "core/random.hpp"
#include "kqd/explain/explain.hpp"
#include "kqd/io/frame.hpp"
#include "scenario.hpp"

namespace kqd::validation {
namespace {

constexpr std::size_t kNulls = 2000;
constexpr std::int64_t kPermutationsOfNulls = 99;
constexpr std::size_t kPowerRuns = 200;
constexpr std::int64_t kPermutationsOfPower = 999;

// Categories c1, c2, ... and numbers v1, v2, ..., all independent.
struct TableShape {
  std::size_t rows_x = 300;
  std::size_t rows_y = 300;
  std::size_t categories = 1;
  std::size_t levels = 4;
  std::size_t numbers = 1;
  double rarity = 0.0;       // level l has a share in proportion to (l + 1)^-rarity
  double missing = 0.0;      // of v1, and of the last category
  bool whole = false;        // numbers are rounded: ties
  bool other_types = false;  // a date, a boolean and a number of few whole values as well
};

// How Y differs from X.
struct TableChange {
  double shift = 0.0;                // of v1, up or down with the parity of c1; mean and variance stay
  double copied = 0.0;               // share of the rows in which c2 has the level of c1
  double extra_missing = 0.0;        // added to the share of missing values of v1
  bool missing_by_category = false;  // missing values of v1 in rows of even levels of c1 only; their share stays
};

std::vector<double> shares_of_levels(const TableShape& shape) {
  std::vector<double> shares;
  double total = 0.0;
  for (std::size_t l = 0; l < shape.levels; ++l) {
    total += shares.emplace_back(std::pow(static_cast<double>(l + 1), -shape.rarity));
  }
  for (double& share : shares) share /= total;
  return shares;
}

double sign_of(std::size_t level) {
  return level % 2 == 0 ? 1.0 : -1.0;
}

class TableSource {
 public:
  TableSource(const TableShape& shape, RandomStream& stream)
      : shape_(shape), stream_(stream), shares_(shares_of_levels(shape)) {
    for (std::size_t l = 0; l < shape.levels; ++l) mean_sign_ += shares_[l] * sign_of(l);
  }

  Frame draw(std::size_t rows, const TableChange& change) {
    std::vector<CodedTexts> categories(shape_.categories, {{}, names_of_levels(), true});
    std::vector<std::vector<double>> numbers(shape_.numbers);
    CodedTexts dates{{}, {}, true};
    CodedTexts words{{}, {"no", "yes"}, true};
    for (int day = 10; day <= 28; ++day) dates.levels.push_back("2026-03-" + std::to_string(day));
    std::vector<double> counts;
    for (std::size_t i = 0; i < rows; ++i) {
      std::vector<std::size_t> levels;
      for (std::size_t k = 0; k < shape_.categories; ++k) levels.push_back(draw_level());
      if (stream_.uniform() < change.copied) levels[1] = levels[0];
      for (std::size_t k = 0; k < shape_.categories; ++k) {
        const bool lacks = k + 1 == shape_.categories && k > 0 && stream_.uniform() < shape_.missing;
        categories[k].codes.push_back(lacks ? -1 : static_cast<std::int32_t>(levels[k]));
      }
      for (std::size_t j = 0; j < shape_.numbers; ++j) {
        numbers[j].push_back(number(j, sign_of(levels.front()), change));
      }
      dates.codes.push_back(static_cast<std::int32_t>(stream_.below(dates.levels.size())));
      words.codes.push_back(stream_.uniform() < 0.3 ? 1 : 0);
      counts.push_back(std::floor(std::exp(0.7 * stream_.normal())));
    }
    Frame frame{"table", {}};
    for (std::size_t k = 0; k < categories.size(); ++k) {
      frame.columns.push_back({"c" + std::to_string(k + 1), std::move(categories[k])});
    }
    for (std::size_t j = 0; j < numbers.size(); ++j) {
      frame.columns.push_back({"v" + std::to_string(j + 1), std::move(numbers[j])});
    }
    if (shape_.other_types) {
      frame.columns.push_back({"day", std::move(dates)});
      frame.columns.push_back({"paid", std::move(words)});
      frame.columns.push_back({"visits", std::move(counts)});
    }
    return frame;
  }

 private:
  std::vector<std::string> names_of_levels() const {
    std::vector<std::string> names;
    for (std::size_t l = 0; l < shape_.levels; ++l) names.push_back("level " + std::to_string(l));
    return names;
  }

  std::size_t draw_level() {
    double left = stream_.uniform();
    std::size_t level = 0;
    while (level + 1 < shape_.levels && left >= shares_[level]) left -= shares_[level++];
    return level;
  }

  double number(std::size_t j, double sign, const TableChange& change) {
    double value = stream_.normal();
    if (j == 0 && change.shift != 0.0) {
      const double variance = 1.0 + change.shift * change.shift * (1.0 - mean_sign_ * mean_sign_);
      value = (value + change.shift * (sign - mean_sign_)) / std::sqrt(variance);
    }
    if (shape_.whole) value = std::round(2.0 * value);
    if (j > 0) return value;
    const double share = shape_.missing + change.extra_missing;
    const bool lacks = stream_.uniform() < (change.missing_by_category ? share * (1.0 + sign) : share);
    return lacks ? std::numeric_limits<double>::quiet_NaN() : value;
  }

  TableShape shape_;
  RandomStream& stream_;
  std::vector<double> shares_;
  double mean_sign_ = 0.0;
};

// Tables with the types and levels of the pool, as two files would be prepared.
std::function<Draw(Seed)> tables(const TableShape& shape, const TableChange& change = {}) {
  return [shape, change](Seed seed) {
    RandomStream stream(seed, Purpose::test_data);
    TableSource source(shape, stream);
    const Frame x = source.draw(shape.rows_x, {});
    const Frame y = source.draw(shape.rows_y, change);
    SamplePair pair = prepare_pair(x, y);
    return Draw{std::move(pair.x), std::move(pair.y)};
  };
}

struct NullTable {
  std::string name;
  TableShape shape;
};

std::vector<NullTable> null_tables() {
  return {
      {"ties, 2 x 4 levels + 2, 40 + 40", {.rows_x = 40, .rows_y = 40, .categories = 2, .numbers = 2, .whole = true}},
      {"rare levels, 2 x 12 + 2, a fifth missing, 60 + 35",
       {.rows_x = 60, .rows_y = 35, .categories = 2, .levels = 12, .numbers = 2, .rarity = 1.5, .missing = 0.2}},
      {"all types, rare levels, ties, a tenth missing, 25 + 80",
       {.rows_x = 25,
        .rows_y = 80,
        .categories = 2,
        .levels = 8,
        .numbers = 2,
        .rarity = 1.0,
        .missing = 0.1,
        .whole = true,
        .other_types = true}},
      {"categories only, 4 x 5, 40 + 60", {.rows_x = 40, .rows_y = 60, .categories = 4, .levels = 5, .numbers = 0}},
  };
}

struct ChangedTable {
  std::string name;
  TableShape shape;
  TableChange change;
  std::array<std::string, 2> pair;  // whose relation changes; the second is empty: missing values of the first
  double least_power = 0.0;         // 0: none is required
};

std::vector<ChangedTable> changed_tables() {
  const std::array<std::string, 2> number_and_category = {"v1", "c1"};
  return {
      {"1 x 4 levels + 1, n = 300, shift .4", {}, {.shift = 0.4}, number_and_category, 0.90},
      {"2 x 4 + 3, n = 300, shift .4", {.categories = 2, .numbers = 3}, {.shift = 0.4}, number_and_category, 0.75},
      {"3 x 6 + 8, n = 300, shift .4",
       {.categories = 3, .levels = 6, .numbers = 8},
       {.shift = 0.4},
       number_and_category,
       0.40},
      {"5 x 20 + 10, n = 1000, shift .3",
       {.rows_x = 1000, .rows_y = 1000, .categories = 5, .levels = 20, .numbers = 10},
       {.shift = 0.3},
       number_and_category},
      {"3 x 12 rare levels + 4, n = 400, shift .4",
       {.rows_x = 400, .rows_y = 400, .categories = 3, .levels = 12, .numbers = 4, .rarity = 1.5},
       {.shift = 0.4},
       number_and_category},
      {"4 x 5 + 3, n = 400, c2 is c1 in a seventh of the rows",
       {.rows_x = 400, .rows_y = 400, .categories = 4, .levels = 5, .numbers = 3},
       {.copied = 1.0 / 7.0},
       {"c1", "c2"}},
      {"2 x 4 + 4, n = 500, missing 5% to 10%",
       {.rows_x = 500, .rows_y = 500, .categories = 2, .numbers = 4, .missing = 0.05},
       {.extra_missing = 0.05},
       {"v1", ""}},
      {"3 x 4 + 4, n = 400, 10% missing, in Y by category",
       {.rows_x = 400, .rows_y = 400, .categories = 3, .numbers = 4, .missing = 0.1},
       {.missing_by_category = true},
       {"v1 is missing", "c1"}},
  };
}

// Whether the explanation names the changed pair before all others, or the column whose missing values changed.
bool is_named(const Explanation& explanation, const std::array<std::string, 2>& pair) {
  const auto& [first, second] = pair;
  if (second.empty()) {
    return std::ranges::any_of(explanation.columns, [&](const ColumnExplanation& column) {
      return column.name == first && column.missing && column.missing->reject;
    });
  }
  if (explanation.relations.empty()) return false;
  const RelationExplanation& found = explanation.relations.front();
  return found.reject &&
         ((found.first == first && found.second == second) || (found.first == second && found.second == first));
}

// Rejections in which the explanation names the right pair.
TestOfDraw test_that_names(const std::array<std::string, 2>& pair) {
  return [pair](const Draw& data, const TwoSampleOptions& options) {
    TwoSampleResult result = two_sample_test(data.x, data.y, options);
    if (!result.test.reject) return result;
    const ExplainOptions own{.seed = options.statistic.seed, .threads = options.statistic.threads};
    result.test.reject = is_named(explain(data.x, data.y, own), pair);
    return result;
  };
}

}  // namespace

std::vector<Scenario> table_scenarios() {
  std::vector<Scenario> scenarios;
  for (const NullTable& null : null_tables()) {
    for (const auto& [column, method] :
         {std::pair{"adaptive", "adaptive"}, {"MMD U, kernel mixed", "mmd"}, {"e-KQD, kernel mixed", "ekqd"}}) {
      Scenario scenario{.table = "Mixed tables",
                        .row = null.name,
                        .column = column,
                        .draw = tables(null.shape),
                        .options = {.method = method},
                        .expectation = {},
                        .runs = kNulls};
      scenario.options.test.num_permutations = kPermutationsOfNulls;
      if (scenario.options.method != "adaptive") scenario.options.statistic.kernel = parse_kernel("mixed");
      scenarios.push_back(std::move(scenario));
    }
  }
  for (const ChangedTable& changed : changed_tables()) {
    Scenario scenario{
        .table = "Power on mixed tables",
        .row = changed.name,
        .column = "adaptive",
        .draw = tables(changed.shape, changed.change),
        .options = {.method = "adaptive"},
        .expectation = {.kind = changed.least_power > 0.0 ? Expectation::Kind::at_least : Expectation::Kind::reported,
                        .at_least = changed.least_power},
        .runs = kPowerRuns,
        .row_data = true};
    scenario.options.test.num_permutations = kPermutationsOfPower;
    scenarios.push_back(scenario);
    scenario.column = "and names the change";
    scenario.expectation = {.kind = Expectation::Kind::reported};
    scenario.test = test_that_names(changed.pair);
    scenarios.push_back(std::move(scenario));
  }
  return scenarios;
}

}  // namespace kqd::validation
