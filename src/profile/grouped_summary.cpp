#include "profile/grouped_summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/summation.hpp"

namespace kqd {
namespace {

// The first `count` functions at the pilot rows, one row per function.
Matrix<double> pilot_lines(const Pool& pilot, const FeatureMap& functions, std::size_t count, ThreadCount threads) {
  Matrix<double> lines(count, pilot.size());
  parallel_for_blocks(pilot.size(), kFeatureRows, threads, [&](std::size_t begin, std::size_t end) {
    Matrix<double> values(end - begin, count);
    functions.evaluate(pilot.x.row_range(begin, end - begin), values);
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t k = 0; k < count; ++k) lines(k, i) = values(i - begin, k);
    }
  });
  return lines;
}

// Values of rows in which a function is a number, moved to the front; one 0 if there are none.
std::span<double> known_values(std::span<double> values) {
  const auto end = std::remove_if(values.begin(), values.end(), [](double value) { return std::isnan(value); });
  if (end == values.begin()) values.front() = 0.0;
  return values.first(std::max<std::size_t>(1, static_cast<std::size_t>(end - values.begin())));
}

}  // namespace

std::vector<double> GroupedLine::unit_rows() const {
  std::vector<double> rows(counts.rows(), 0.0);
  for (std::size_t unit = 0; unit < rows.size(); ++unit) {
    for (const std::uint32_t count : counts.row(unit)) rows[unit] += static_cast<double>(count);
  }
  return rows;
}

GroupedSummary::Source& GroupedSummary::source_of(const RowFunctions& functions) {
  const auto found = std::ranges::find(sources_, functions, &Source::functions);
  return found != sources_.end() ? *found : sources_.emplace_back(Source{.functions = functions});
}

std::size_t GroupedSummary::add_lines(const RowFunctions& functions, std::size_t count, ThreadCount threads) {
  Source& source = source_of(functions);
  if (source.num_lines > 0) {
    KQD_ASSERT(source.num_lines == count);
    return source.first_line;
  }
  std::vector<GroupedLine>& lines = data_->lines;
  source.first_line = lines.size();
  source.num_lines = count;
  Matrix<double> pilot = pilot_lines(rows_->pilot(), *functions, count, threads);
  lines.resize(lines.size() + count);
  parallel_for_blocks(count, 1, threads, [&](std::size_t k, std::size_t) {
    GroupedLine& line = lines[source.first_line + k];
    line.grid = make_line_grid(known_values(pilot.row(k)));
    line.counts = Matrix<std::uint32_t>(rows_->num_units(), line.grid.num_bins(), 0);
  });
  return source.first_line;
}

std::size_t GroupedSummary::add_means(const RowFunctions& functions, ThreadCount threads) {
  Source& source = source_of(functions);
  if (source.means != kNone) return source.means;
  source.means = centres_.size();
  centres_.push_back(rows_->pilot_means(*functions, threads));
  data_->unit_means.emplace_back(rows_->num_units(), functions->count, 0.0);
  return source.means;
}

void GroupedSummary::collect(ThreadCount threads) {
  std::vector<BinFinder> finders;
  std::vector<GroupedLine>& lines = data_->lines;
  finders.reserve(lines.size());
  for (const GroupedLine& line : lines) finders.emplace_back(line.grid);
  rows_->visit(threads, [&](std::size_t unit, MatrixView<const double> rows) {
    for (const Source& source : sources_) {
      const std::size_t columns = source.means != kNone ? source.functions->count : source.num_lines;
      Matrix<double> values(rows.rows(), columns);
      source.functions->evaluate(rows, values);
      for (std::size_t k = 0; k < source.num_lines; ++k) {
        const auto counts = lines[source.first_line + k].counts.row(unit);
        std::array<std::uint8_t, kFeatureRows> bins{};
        finders[source.first_line + k].find(values, k, std::span(bins).first(values.rows()));
        for (std::size_t i = 0; i < values.rows(); ++i) {
          if (!std::isnan(values(i, k))) ++counts[bins[i]];
        }
      }
      if (source.means == kNone) continue;
      // Differences from a value near the mean: sums then have the size of what they are compared by.
      const std::vector<double>& centre = centres_[source.means];
      for (std::size_t i = 0; i < values.rows(); ++i) {
        for (std::size_t k = 0; k < columns; ++k) values(i, k) -= centre[k];
      }
      add_rows(values, data_->unit_means[source.means].row(unit));
    }
  });
  for (Matrix<double>& means : data_->unit_means) centre_unit_means(means, data_->unit_rows);
}

std::size_t GroupedData::num_rows() const {
  return static_cast<std::size_t>(std::accumulate(unit_rows.begin(), unit_rows.end(), 0.0));
}

bool GroupedData::equal_units() const {
  return std::ranges::adjacent_find(unit_rows, std::not_equal_to<>()) == unit_rows.end();
}

void centre_unit_means(Matrix<double>& sums, std::span<const double> unit_rows) {
  const double rows = std::accumulate(unit_rows.begin(), unit_rows.end(), 0.0);
  const double mean_rows = rows / static_cast<double>(unit_rows.size());
  for (std::size_t k = 0; k < sums.cols(); ++k) {
    CompensatedSum total;
    for (std::size_t unit = 0; unit < sums.rows(); ++unit) total.add(sums(unit, k));
    const double centre = total.value() / static_cast<double>(sums.rows());
    for (std::size_t unit = 0; unit < sums.rows(); ++unit) {
      sums(unit, k) = (sums(unit, k) - centre * (unit_rows[unit] / mean_rows)) / unit_rows[unit];
    }
  }
}

}  // namespace kqd
