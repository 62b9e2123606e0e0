#include "io/pooled_columns.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "core/fail.hpp"
#include "core/scale.hpp"
#include "core/summation.hpp"
#include "core/warning.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

// The values of a column in all samples that are there and that count.
std::vector<double> pooled_values(const std::vector<Sample>& samples, std::size_t j) {
  std::vector<double> values;
  for (const Sample& sample : samples) {
    for (std::size_t i = 0; i < sample.points.rows(); ++i) {
      const bool counts = sample.weights.empty() || sample.weights[i] > 0.0;
      if (counts && !std::isnan(sample.points(i, j))) values.push_back(sample.points(i, j));
    }
  }
  return values;
}

template <class Change>
void change_column(std::vector<Sample>& samples, std::size_t j, Change change) {
  for (Sample& sample : samples) {
    for (std::size_t i = 0; i < sample.points.rows(); ++i) change(sample.points(i, j));
  }
}

bool has_missing(const std::vector<Sample>& samples, std::size_t j) {
  return std::ranges::any_of(samples, [&](const Sample& sample) {
    for (std::size_t i = 0; i < sample.points.rows(); ++i) {
      if (std::isnan(sample.points(i, j))) return true;
    }
    return false;
  });
}

std::string label_of(const std::vector<Sample>& samples, std::size_t j) {
  const auto& names = samples.front().column_names;
  return names.empty() ? fmt::format("{}", j + 1) : in_quotes(names[j]);
}

// Of values in units of 2^exponent.
ColumnUnits units_of(std::vector<double>& values, int exponent, Standardize kind) {
  if (kind == Standardize::iqr) {
    const double median = percentile(values, 0.5);
    return {median, robust_range(values, median), exponent};
  }
  return {sum(values) / static_cast<double>(values.size()), standard_deviation(values), exponent};
}

// The power of two that brings the largest value near 1: sums and squares of what is left cannot overflow, and no digit
// changes.
int exponent_of(const std::vector<double>& values) {
  double largest = 0.0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest > 0.0 ? std::ilogb(largest) : 0;
}

// A whole number as the nearest double and what that lacks. Rounding keeps the order, so pairs compare as the numbers.
using Whole = std::pair<double, std::int64_t>;

// Which column of each input.
using ColumnPerInput = std::vector<std::size_t>;

[[noreturn]] void fail_inexact(const std::vector<Input>& inputs, const ColumnPerInput& columns) {
  std::size_t i = 0;
  while (inputs[i].table.columns[columns[i]].first_rounded.line == 0) ++i;
  const Table& table = inputs[i].table;
  const Place& place = table.columns[columns[i]].first_rounded;
  fail_at(ErrorCode::unreadable_input, table.place_of(place.line),
          fmt::format("{} is {}, which would be rounded", table.cell_of(columns[i], place.line), in_quotes(place.text)),
          "whole numbers up to 2^53, or larger ones that differ by less",
          fmt::format("To exclude it, if it is an id: {}; otherwise write it in a larger unit",
                      option_reference("drop", item_of(table, columns[i]))));
}

// Calls visit(cell, what it lacks) for every cell of the column that is a number.
template <class Visit>
void for_each_number(Input& input, std::size_t j, Visit visit) {
  auto next = input.table.columns[j].remainders.begin();
  const auto end = input.table.columns[j].remainders.end();
  std::size_t row = 0;
  for (std::size_t b = 0; b < input.table.cells.num_blocks(); ++b) {
    const MatrixView<double> block = input.table.cells.block(b);
    for (std::size_t i = 0; i < block.rows(); ++i, ++row) {
      const std::int64_t lacking = next != end && next->row == row ? (next++)->value : 0;
      if (!std::isnan(block(i, j))) visit(block(i, j), lacking);
    }
  }
}

std::string digits_of(const Whole& number) {
  if (number.second == 0) return fmt::format("{:.0f}", number.first);
  // Unsigned arithmetic wraps around: 2^64 is 0, and the sum is right all the same.
  const double size = std::abs(number.first);
  const bool negative = number.first < 0.0;
  const auto lacking = static_cast<std::uint64_t>(negative ? -number.second : number.second);
  return fmt::format("{}{}", negative ? "-" : "", (size < 0x1p64 ? static_cast<std::uint64_t>(size) : 0U) + lacking);
}

// Leaves columns as they are that hold nothing but doubles; else returns what was subtracted.
std::optional<std::string> offset_column(std::vector<Input>& inputs, const ColumnPerInput& columns, bool may_offset) {
  bool rounded = false;
  bool unknown = false;
  bool has_text = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Column& column = inputs[i].table.columns[columns[i]];
    rounded = rounded || column.first_rounded.line > 0;
    unknown = unknown || column.has_unknown_remainder;
    has_text = has_text || column.has_text();
  }
  if (!rounded) return std::nullopt;
  std::optional<Whole> least;
  bool all_whole = true;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for_each_number(inputs[i], columns[i], [&](double cell, std::int64_t lacking) {
      all_whole = all_whole && cell == std::floor(cell);
      least = std::min(least.value_or(Whole{cell, lacking}), Whole{cell, lacking});
    });
  }
  if (!least) return std::nullopt;  // all of them count as missing
  if (!may_offset || unknown || has_text || !all_whole) fail_inexact(inputs, columns);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for_each_number(inputs[i], columns[i], [&](double& cell, std::int64_t lacking) {
      // A difference of whole doubles below 2^53 is exact, and so is that of their remainders.
      const double difference = cell - least->first + static_cast<double>(lacking - least->second);
      if (!(difference < kLargestExactWhole)) fail_inexact(inputs, columns);
      cell = difference;
    });
  }
  return digits_of(*least);
}

template <class Role>
ColumnPerInput columns_in_role(const std::vector<Input>& inputs, Role role) {
  ColumnPerInput columns;
  for (const Input& input : inputs) columns.push_back(role(input.roles));
  return columns;
}

}  // namespace

void impute_medians(std::vector<Sample>& samples, const std::string& source) {
  for (std::size_t j = 0; j < samples.front().points.cols(); ++j) {
    if (!has_missing(samples, j)) continue;
    std::vector<double> values = pooled_values(samples, j);
    if (values.empty()) {
      fail_at(ErrorCode::empty_sample, source,
              fmt::format("column {} has no value to take a median of", label_of(samples, j)), "",
              "To exclude it: " KQD_OPTION("drop"));
    }
    const int exponent = exponent_of(values);
    for (double& value : values) value = std::scalbn(value, -exponent);
    const double median = std::scalbn(percentile(values, 0.5), exponent);
    change_column(samples, j, [&](double& value) {
      if (std::isnan(value)) value = median;
    });
  }
}

std::vector<ColumnUnits> standardize(std::vector<Sample>& samples, Standardize kind, Warnings& notes) {
  if (kind == Standardize::none || kind == Standardize::automatic) return {};
  std::vector<ColumnUnits> units(samples.front().points.cols());
  std::vector<std::string> mostly_one_value;
  const std::vector<ColumnRole>& roles = samples.front().roles;
  for (std::size_t j = 0; j < samples.front().points.cols(); ++j) {
    if (!roles.empty() && roles[j].kind != ColumnKind::number) continue;  // levels stay 0 and 1
    std::vector<double> values = pooled_values(samples, j);
    if (values.empty()) continue;  // all weights are 0, which is refused elsewhere
    const int exponent = exponent_of(values);
    for (double& value : values) value = std::scalbn(value, -exponent);
    // A sum in the order of the rows would know by its rounding which sample comes first.
    std::ranges::sort(values);
    const bool constant = values.front() == values.back();
    units[j] = constant ? ColumnUnits{values.front(), 0.0, exponent} : units_of(values, exponent, kind);
    if (kind == Standardize::iqr && !constant && percentile(values, 0.75) == percentile(values, 0.25)) {
      mostly_one_value.push_back(label_of(samples, j));
    }
    change_column(samples, j, [&](double& value) { value = units[j].standardised(value); });
  }
  if (!mostly_one_value.empty()) {
    warn(notes, WarningId::zero_interquartile_range, fmt::format("{}", fmt::join(mostly_one_value, ", ")));
  }
  return units;
}

void refuse_rounded_groups(std::vector<Input>& inputs) {
  const auto group_of = [](const Roles& roles) { return *roles.group; };
  if (inputs.front().roles.group) {
    static_cast<void>(offset_column(inputs, columns_in_role(inputs, group_of), false));
  }
}

std::string offset_large_wholes(std::vector<Input>& inputs, bool pooled, Preparation& preparation) {
  const Input& front = inputs.front();
  for (std::size_t k = 0; k < front.roles.points.size(); ++k) {
    const ColumnPerInput columns = columns_in_role(inputs, [k](const Roles& roles) { return roles.points[k]; });
    if (const auto offset = offset_column(inputs, columns, pooled)) {
      preparation.offsets.push_back({front.table.name_of(columns.front()), *offset});
    }
  }
  const auto unit_of = [](const Roles& roles) { return *roles.unit; };
  if (!front.roles.unit) return "";
  return offset_column(inputs, columns_in_role(inputs, unit_of), pooled).value_or("");
}

std::string sum_of_wholes(std::string_view offset, double difference) {
  const bool negative = offset.starts_with('-');
  std::uint64_t size = 0;
  static_cast<void>(std::from_chars(offset.data() + (negative ? 1 : 0), offset.data() + offset.size(), size));
  // Unsigned arithmetic wraps around, and the number has 64 bits.
  const std::uint64_t sum = (negative ? 0U - size : size) + static_cast<std::uint64_t>(difference);
  return negative ? std::to_string(static_cast<std::int64_t>(sum)) : std::to_string(sum);
}

}  // namespace kqd
