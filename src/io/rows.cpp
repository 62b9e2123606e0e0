#include "io/rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <span>

#include "core/fail.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

// Calls visit(row number from 0, cells of the row) for every row.
template <class Visit>
void for_each_row(Table& table, Visit visit) {
  std::size_t row = 0;
  for (std::size_t b = 0; b < table.cells.num_blocks(); ++b) {
    const MatrixView<double> block = table.cells.block(b);
    for (std::size_t i = 0; i < block.rows(); ++i) visit(row++, block.row(i));
  }
}

std::string text_of(const Column& column, double cell) {
  return is_dictionary_text(cell) ? std::string((*column.texts)[text_payload(cell)].text) : shortest(cell);
}

[[noreturn]] void fail_not_two_groups(const Table& table, std::size_t j, const std::vector<double>& values, bool more) {
  std::vector<std::string> texts;
  for (const double value : values) texts.push_back(text_of(table.columns[j], value));
  const Column& column = table.columns[j];
  std::string remedy;
  if (values.size() < 2 && column.num_missing > 0) {
    remedy = fmt::format("{} such as {} {} as missing. To take texts as they are: " KQD_OPTION("default_na=no"),
                         column.num_missing == 1 ? "1 cell" : fmt::format("{} cells", column.num_missing),
                         in_quotes(column.first_missing.text), column.num_missing == 1 ? "counts" : "count");
  } else if (more || values.size() > 2) {
    remedy = R"(To compare two of them, give two files, or two queries such as "sql:SELECT ... WHERE ...")";
  }
  fail_at(ErrorCode::invalid_option, table.source,
          fmt::format("column {} has {}{} different value{} ({}{})", table.label_of(j), more ? "more than " : "",
                      values.size(), values.size() == 1 && !more ? "" : "s", list_of({texts.begin(), texts.end()}),
                      more ? ", ..." : ""),
          "two, one for each sample", std::move(remedy));
}

// Sends each row to the sample of its group. The first value met is X. Returns the values.
std::vector<double> split_by_group(Table& table, std::size_t j, RowPlan& plan, bool more_rows_follow) {
  constexpr std::size_t kValuesListed = 8;
  const auto same = [](double a, double b) {
    return std::isnan(a) ? std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) : a == b;
  };
  std::vector<double> values = table.dropped.group_values;
  bool more = false;
  auto& sample_of_row = plan.sample_of_row.front();
  for_each_row(table, [&](std::size_t row, std::span<const double> cells) {
    const double cell = cells[j];
    if (is_missing(cell)) {
      sample_of_row[row] = RowPlan::kNowhere;
      return;
    }
    auto found = std::ranges::find_if(values, [&](double value) { return same(value, cell); });
    if (found == values.end()) {
      more = more || values.size() == kValuesListed || is_hashed_text(cell);
      if (more) return;
      found = values.insert(values.end(), cell);
    }
    sample_of_row[row] = static_cast<RowPlan::SampleNumber>(found - values.begin());
  });
  const bool may_become_two = more_rows_follow && values.size() < 2;
  if (more || (values.size() != 2 && !may_become_two)) fail_not_two_groups(table, j, values, more);
  for (std::size_t s = 0; s < values.size(); ++s) plan.group_values[s] = text_of(table.columns[j], values[s]);
  return values;
}

// The samples of the rows, of all that were read.
std::vector<double> split(std::vector<Input>& inputs, const ReadOptions& options, RowPlan& plan,
                          bool more_rows_follow) {
  std::vector<double> group_values;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    plan.sample_of_row.emplace_back(inputs[i].table.cells.rows(), static_cast<RowPlan::SampleNumber>(i));
  }
  const auto group = inputs.front().roles.group;
  plan.counts.resize(group ? 2 : inputs.size());
  if (group) group_values = split_by_group(inputs.front().table, *group, plan, more_rows_follow);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const DroppedRows& dropped = inputs[i].table.dropped;
    for (std::size_t s = 0; s < dropped.counts.size(); ++s) plan.counts[group ? s : i] = dropped.counts[s];
    plan.ungrouped += dropped.ungrouped;
    const std::size_t num_rows = plan.sample_of_row[i].size();
    std::vector<std::size_t>& places = plan.place_of_row.emplace_back(options.max_rows > 0 ? num_rows : 0);
    for (std::size_t row = 0; row < num_rows; ++row) {
      const RowPlan::SampleNumber sample = plan.sample_of_row[i][row];
      std::size_t& count = sample == RowPlan::kNowhere ? plan.ungrouped : plan.counts[sample].read;
      if (!places.empty()) places[row] = row < dropped.held.size() ? dropped.held[row].place : count;
      ++count;
    }
  }
  return group_values;
}

bool has_missing(const Input& input) {
  const auto missing_in = [&](std::size_t j) { return input.table.columns[j].num_missing > 0; };
  return std::ranges::any_of(input.roles.points, missing_in) ||
         (input.roles.weights && missing_in(*input.roles.weights)) ||
         (input.roles.unit && missing_in(*input.roles.unit));
}

std::size_t num_missing(std::span<const double> cells, const Roles& roles) {
  return static_cast<std::size_t>(
      std::ranges::count_if(roles.points, [&](std::size_t j) { return is_missing(cells[j]); }));
}

// Counts missing cells, and marks the rows to omit.
std::vector<bool> find_missing(Input& input, NaPolicy na, const std::vector<RowPlan::SampleNumber>& sample_of_row,
                               RowPlan& plan) {
  std::vector<bool> omitted(sample_of_row.size(), false);
  if (!has_missing(input)) return omitted;
  const Roles& roles = input.roles;
  for_each_row(input.table, [&](std::size_t row, std::span<const double> cells) {
    if (sample_of_row[row] == RowPlan::kNowhere) return;
    const std::size_t missing = num_missing(cells, roles);
    plan.counts[sample_of_row[row]].missing_cells += missing;
    const bool own_part_missing =
        (roles.weights && is_missing(cells[*roles.weights])) || (roles.unit && is_missing(cells[*roles.unit]));
    omitted[row] = na == NaPolicy::omit && (missing > 0 || own_part_missing);
  });
  return omitted;
}

// The place of a row of a sample.
struct RowPlace {
  std::size_t input;
  std::size_t row;
};

std::vector<RowPlace> rows_of(const RowPlan& plan, std::size_t sample) {
  std::vector<RowPlace> places;
  for (std::size_t i = 0; i < plan.sample_of_row.size(); ++i) {
    for (std::size_t row = 0; row < plan.sample_of_row[i].size(); ++row) {
      if (plan.sample_of_row[i][row] == sample) places.push_back({i, row});
    }
  }
  return places;
}

// A pair is omitted when either of its rows is.
void omit_pairs(const RowPlan& plan, NaPolicy na, std::vector<std::vector<bool>>& omitted) {
  if (plan.counts[0].read != plan.counts[1].read) {
    fail(ErrorCode::shape_mismatch, "paired design: X has {} rows and Y has {}, expected equal numbers",
         plan.counts[0].read, plan.counts[1].read);
  }
  if (na != NaPolicy::omit) return;
  const std::vector<RowPlace> x = rows_of(plan, 0);
  const std::vector<RowPlace> y = rows_of(plan, 1);
  for (std::size_t k = 0; k < x.size(); ++k) {
    const bool either = omitted[x[k].input][x[k].row] || omitted[y[k].input][y[k].row];
    omitted[x[k].input][x[k].row] = omitted[y[k].input][y[k].row] = either;
  }
}

void omit_missing(std::vector<Input>& inputs, const ReadOptions& options, RowPlan& plan) {
  std::vector<std::vector<bool>> omitted;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    omitted.push_back(find_missing(inputs[i], options.na, plan.sample_of_row[i], plan));
  }
  if (options.paired) omit_pairs(plan, options.na, omitted);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (std::size_t row = 0; row < omitted[i].size(); ++row) {
      if (!omitted[i][row]) continue;
      RowPlan::SampleNumber& sample = plan.sample_of_row[i][row];
      ++plan.counts[sample].omitted;
      sample = RowPlan::kNowhere;
    }
  }
}

// Draws rows of one sample. The draw depends only on the position of a row in its sample: pairs stay together, and
// samples that are exchanged keep their rows.
void draw_rows(std::size_t sample, const ReadOptions& options, RowPlan& plan) {
  const std::size_t available = plan.kept(sample);
  if (options.max_rows == 0 || available <= options.max_rows) return;
  using Key = std::pair<std::uint64_t, std::size_t>;
  const auto key_of = [&](std::size_t place) {
    return Key{RandomStream(options.seed, Purpose::row_subsample, place).bits64(), place};
  };
  std::vector<Key> keys;
  for (const RowPlace& row : rows_of(plan, sample)) keys.push_back(key_of(plan.place_of_row[row.input][row.row]));
  const auto last_drawn = keys.begin() + static_cast<std::ptrdiff_t>(options.max_rows) - 1;
  std::ranges::nth_element(keys, last_drawn);
  for (const RowPlace& row : rows_of(plan, sample)) {
    if (key_of(plan.place_of_row[row.input][row.row]) > *last_drawn) {
      plan.sample_of_row[row.input][row.row] = RowPlan::kNowhere;
    }
  }
  plan.counts[sample].not_drawn += available - options.max_rows;
}

// Checked here, where the row still has its number in the input.
void check_weights(Input& input, const std::vector<RowPlan::SampleNumber>& sample_of_row) {
  if (!input.roles.weights) return;
  for_each_row(input.table, [&](std::size_t row, std::span<const double> cells) {
    const double weight = cells[*input.roles.weights];
    if (sample_of_row[row] == RowPlan::kNowhere || weight >= 0.0) return;
    fail_at(ErrorCode::invalid_weights, input.table.source,
            fmt::format("weight of row {} is {}", input.table.number_of(row) + 1, weight), "a finite number >= 0");
  });
}

void check_not_empty(const std::vector<Input>& inputs, const RowPlan& plan, bool paired) {
  for (std::size_t s = 0; s < plan.counts.size(); ++s) {
    if (plan.kept(s) > 0) continue;
    if (paired) {
      fail_at(ErrorCode::empty_sample,
              fmt::format("{} and {}", inputs.front().table.source, inputs.back().table.source),
              fmt::format("each of the {} pairs has a missing value, so " KQD_OPTION("na=omit") " leaves none",
                          plan.counts[s].read),
              "", "To exclude columns: " KQD_OPTION("drop"));
    }
    const bool grouped = inputs.front().roles.group.has_value();
    fail_at(
        ErrorCode::empty_sample, inputs[std::min(s, inputs.size() - 1)].table.source,
        fmt::format("all {} rows{} have missing values, so " KQD_OPTION("na=omit") " leaves none", plan.counts[s].read,
                    grouped ? fmt::format(" of group {}", in_quotes(plan.group_values[s])) : ""),
        "", "To exclude columns: " KQD_OPTION("drop"));
  }
}

}  // namespace

RowPlan split_rows(std::vector<Input>& inputs, const ReadOptions& options) {
  RowPlan plan;
  static_cast<void>(split(inputs, options, plan, false));
  return plan;
}

void choose_rows(std::vector<Input>& inputs, const ReadOptions& options, RowPlan& plan) {
  omit_missing(inputs, options, plan);
  check_not_empty(inputs, plan, options.paired);
  for (std::size_t i = 0; i < inputs.size(); ++i) check_weights(inputs[i], plan.sample_of_row[i]);
  for (std::size_t s = 0; s < plan.counts.size(); ++s) draw_rows(s, options, plan);
}

bool can_drop_rows(const ReadOptions& options) {
  // A pair is omitted for either of its rows, and a column of text is dropped for any of its cells.
  return options.max_rows > 0 &&
         (options.na != NaPolicy::omit || (!options.paired && options.categorical != Categorical::drop &&
                                           options.categorical != Categorical::automatic));
}

void drop_rows(Table& table, const Roles& roles, const ReadOptions& options) {
  if (roles.group) {
    Column& group = table.columns[*roles.group];
    if (group.first_rounded.line > 0) return;  // refused in the end
    group.keeps_spellings = false;             // a group keeps the value that it had when rows were dropped
    group.spelled.clear();
  }
  std::vector<Input> inputs;
  inputs.push_back({std::move(table), roles});
  RowPlan plan;
  const std::vector<double> group_values = split(inputs, options, plan, true);
  const std::vector<RowPlan::SampleNumber> sample_of_read = plan.sample_of_row.front();
  omit_missing(inputs, options, plan);
  for (std::size_t s = 0; s < plan.counts.size(); ++s) draw_rows(s, options, plan);
  table = std::move(inputs.front().table);

  const std::vector<RowPlan::SampleNumber>& sample_of_row = plan.sample_of_row.front();
  DroppedRows dropped{.count = table.rows_read(),
                      .first_rows = std::move(table.dropped.first_rows),
                      .counts = plan.counts,
                      .group_values = group_values,
                      .ungrouped = plan.ungrouped,
                      .missing = std::move(table.dropped.missing)};
  dropped.missing.resize(table.columns.size());
  const std::size_t num_first = std::min<std::size_t>(2, table.cells.rows());
  std::vector<std::size_t> new_row(sample_of_row.size(), table.rows_read());
  for_each_row(table, [&](std::size_t row, std::span<const double> cells) {
    if (table.dropped.count == 0 && row < num_first) {
      dropped.first_rows.insert(dropped.first_rows.end(), cells.begin(), cells.end());
    }
    if (sample_of_row[row] == RowPlan::kNowhere) {
      if (sample_of_read[row] == RowPlan::kNowhere) return;
      for (const std::size_t j : roles.points) {
        if (is_missing(cells[j])) ++dropped.missing[j][sample_of_read[row]];
      }
      return;
    }
    new_row[row] = dropped.held.size();
    dropped.held.push_back({table.number_of(row), plan.place_of_row.front()[row]});
    RowCounts& counts = dropped.counts[sample_of_row[row]];
    --counts.read;
    counts.missing_cells -= num_missing(cells, roles);
  });
  dropped.count -= dropped.held.size();
  table.cells.keep_rows([&](std::size_t row) { return sample_of_row[row] != RowPlan::kNowhere; });
  for (Column& column : table.columns) {
    std::erase_if(column.remainders, [&](const Remainder& r) { return new_row[r.row] >= dropped.held.size(); });
    for (Remainder& remainder : column.remainders) remainder.row = new_row[remainder.row];
    std::erase_if(column.spelled, [&](const SpelledNumber& s) { return new_row[s.row] >= dropped.held.size(); });
    for (SpelledNumber& number : column.spelled) number.row = new_row[number.row];
  }
  table.dropped = std::move(dropped);
}

}  // namespace kqd
