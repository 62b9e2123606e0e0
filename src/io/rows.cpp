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
  const bool too_many = more || values.size() > 2;
  const Column& column = table.columns[j];
  const std::string missing =
      values.size() < 2 && column.num_missing > 0
          ? fmt::format("; {} cell{} such as {} count{} as missing: --no-default-na takes texts as they are",
                        column.num_missing, column.num_missing == 1 ? "" : "s", in_quotes(column.first_missing.text),
                        column.num_missing == 1 ? "s" : "")
          : "";
  fail(ErrorCode::invalid_option,
       "{}: column {} has {}{} different value{} ({}{}), expected two, one for each sample{}", table.source,
       table.label_of(j), more ? "more than " : "", values.size(), values.size() == 1 && !more ? "" : "s",
       list_of({texts.begin(), texts.end()}), more ? ", ..." : "",
       !missing.empty() ? missing
       : too_many ? R"(; to compare two of them, give two files, or two queries such as "sql:SELECT ... WHERE ...")"
                  : "");
}

// Sends each row to the sample of its group. The first value met is X.
void split_by_group(Table& table, std::size_t j, RowPlan& plan) {
  constexpr std::size_t kValuesListed = 8;
  const auto same = [](double a, double b) {
    return std::isnan(a) ? std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) : a == b;
  };
  std::vector<double> values;
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
  if (more || values.size() != 2) fail_not_two_groups(table, j, values, more);
  for (std::size_t s = 0; s < 2; ++s) plan.group_values[s] = text_of(table.columns[j], values[s]);
}

bool has_missing(const Input& input) {
  const auto missing_in = [&](std::size_t j) { return input.table.columns[j].num_missing > 0; };
  return std::ranges::any_of(input.roles.points, missing_in) ||
         (input.roles.weights && missing_in(*input.roles.weights)) ||
         (input.roles.unit && missing_in(*input.roles.unit));
}

// Counts missing cells, and marks the rows to leave out if such rows shall be.
std::vector<bool> find_missing(Input& input, NaPolicy na, const std::vector<RowPlan::SampleNumber>& sample_of_row,
                               RowPlan& plan) {
  std::vector<bool> left_out(sample_of_row.size(), false);
  if (!has_missing(input)) return left_out;
  const Roles& roles = input.roles;
  for_each_row(input.table, [&](std::size_t row, std::span<const double> cells) {
    if (sample_of_row[row] == RowPlan::kNowhere) return;
    const auto missing = static_cast<std::size_t>(
        std::ranges::count_if(roles.points, [&](std::size_t j) { return is_missing(cells[j]); }));
    plan.counts[sample_of_row[row]].missing_cells += missing;
    const bool own_part_missing =
        (roles.weights && is_missing(cells[*roles.weights])) || (roles.unit && is_missing(cells[*roles.unit]));
    left_out[row] = na == NaPolicy::omit && (missing > 0 || own_part_missing);
  });
  return left_out;
}

// The rows of a sample, in order, as places to look at: (input, row).
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

// What leaves one row of a pair out leaves out the other.
void leave_out_pairs(const RowPlan& plan, std::vector<std::vector<bool>>& left_out) {
  const std::vector<RowPlace> x = rows_of(plan, 0);
  const std::vector<RowPlace> y = rows_of(plan, 1);
  if (x.size() != y.size()) {
    fail(ErrorCode::shape_mismatch, "paired design: X has {} rows and Y has {}, needs equal numbers", x.size(),
         y.size());
  }
  for (std::size_t k = 0; k < x.size(); ++k) {
    const bool either = left_out[x[k].input][x[k].row] || left_out[y[k].input][y[k].row];
    left_out[x[k].input][x[k].row] = left_out[y[k].input][y[k].row] = either;
  }
}

void omit_missing(std::vector<Input>& inputs, const ReadOptions& options, RowPlan& plan) {
  std::vector<std::vector<bool>> left_out;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    left_out.push_back(find_missing(inputs[i], options.na, plan.sample_of_row[i], plan));
  }
  if (options.paired) leave_out_pairs(plan, left_out);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (std::size_t row = 0; row < left_out[i].size(); ++row) {
      if (!left_out[i][row]) continue;
      RowPlan::SampleNumber& sample = plan.sample_of_row[i][row];
      ++plan.counts[sample].omitted;
      sample = RowPlan::kNowhere;
    }
  }
}

// Draws rows of one sample. The draw looks at the place of a row among those of its sample and at nothing else: pairs
// stay together, and samples that change their names for each other keep their rows.
void draw_rows(std::size_t sample, const ReadOptions& options, RowPlan& plan) {
  const std::size_t available = plan.kept(sample);
  if (options.max_rows == 0 || available <= options.max_rows) return;
  RandomStream stream(options.seed, Purpose::row_subsample, 0);
  std::vector<bool> drawn(available, false);
  for (const std::size_t row : sample_without_replacement(available, options.max_rows, stream)) drawn[row] = true;
  std::size_t place = 0;
  for (auto& samples : plan.sample_of_row) {
    for (RowPlan::SampleNumber& of_row : samples) {
      if (of_row == sample && !drawn[place++]) of_row = RowPlan::kNowhere;
    }
  }
  plan.counts[sample].not_drawn = available - options.max_rows;
}

// Here the row can still be named by its place in the input.
void check_weights(Input& input, const std::vector<RowPlan::SampleNumber>& sample_of_row) {
  if (!input.roles.weights) return;
  for_each_row(input.table, [&](std::size_t row, std::span<const double> cells) {
    const double weight = cells[*input.roles.weights];
    if (sample_of_row[row] == RowPlan::kNowhere || weight >= 0.0) return;
    fail(ErrorCode::invalid_weights, "{}: weight of row {} is {}, expected a finite number >= 0", input.table.source,
         row + 1, weight);
  });
}

void check_not_empty(const std::vector<Input>& inputs, const RowPlan& plan, bool paired) {
  for (std::size_t s = 0; s < plan.counts.size(); ++s) {
    if (plan.kept(s) > 0) continue;
    if (paired) {
      fail(ErrorCode::empty_sample,
           "{} and {}: each of the {} pairs has a missing value, so --na omit leaves none; --drop leaves columns out",
           inputs.front().table.source, inputs.back().table.source, plan.counts[s].read);
    }
    const bool grouped = inputs.front().roles.group.has_value();
    fail(ErrorCode::empty_sample,
         "{}: all {} rows{} have missing values, so --na omit leaves none; --drop leaves columns out",
         inputs[std::min(s, inputs.size() - 1)].table.source, plan.counts[s].read,
         grouped ? fmt::format(" of group {}", in_quotes(plan.group_values[s])) : "");
  }
}

}  // namespace

RowPlan split_rows(std::vector<Input>& inputs) {
  RowPlan plan;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    plan.sample_of_row.emplace_back(inputs[i].table.cells.rows(), static_cast<RowPlan::SampleNumber>(i));
  }
  plan.counts.resize(inputs.front().roles.group ? 2 : inputs.size());
  if (const auto group = inputs.front().roles.group) split_by_group(inputs.front().table, *group, plan);
  for (const auto& samples : plan.sample_of_row) {
    for (const RowPlan::SampleNumber sample : samples) {
      ++(sample == RowPlan::kNowhere ? plan.ungrouped : plan.counts[sample].read);
    }
  }
  return plan;
}

void choose_rows(std::vector<Input>& inputs, const ReadOptions& options, RowPlan& plan) {
  omit_missing(inputs, options, plan);
  check_not_empty(inputs, plan, options.paired);
  for (std::size_t i = 0; i < inputs.size(); ++i) check_weights(inputs[i], plan.sample_of_row[i]);
  for (std::size_t s = 0; s < plan.counts.size(); ++s) draw_rows(s, options, plan);
}

}  // namespace kqd
