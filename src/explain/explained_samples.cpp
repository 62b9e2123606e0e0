#include "explain/explained_samples.hpp"

#include <algorithm>
#include <cmath>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "directions/principal.hpp"
#include "kernel/kernel_traits.hpp"
#include "metrics/adaptive/table_parts.hpp"
#include "metrics/quantile/pooled_projections.hpp"
#include "profile/column_scales.hpp"

namespace kqd {
namespace {

constexpr std::size_t kNumPrincipal = 20;
constexpr std::size_t kMostRows = 20'000;  // for principal functions
constexpr std::size_t kRowsPerTask = 4096;

TestSamples samples_of(const SampleView& x, const SampleView& y, const ExplainOptions& options) {
  require_weights(x, y, options.weights_as);
  if (options.weights_as == WeightsAs::precision && (x.weighted() || y.weighted())) {
    fail(ErrorCode::invalid_weights, {.subject = "weights_as",
                                      .value = "precision",
                                      .expected = "frequency or sampling",
                                      .remedy = "Explanations do not support precision weights; tests do"});
  }
  return make_test_samples(x, y, options.design, options.weights_as, options.seed, options.threads);
}

// Samples before they were standardised; nothing if they were not.
RowsInUnits in_table_units(const TestPool& pool, const ExplainOptions& options) {
  RowsInUnits rows;
  if (options.units.empty()) return rows;
  const auto original = [&](MatrixView<const double> given) {
    Matrix<double> made(given.rows(), given.cols());
    parallel_for_blocks(given.rows(), kRowsPerTask, options.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        for (std::size_t c = 0; c < given.cols(); ++c) made(i, c) = options.units[c].original(given(i, c));
      }
    });
    return made;
  };
  rows.x = original(pool.x.points);
  rows.y = original(pool.y.points);
  for (const ColumnUnits& column : options.units) {
    rows.lengths.push_back(column.spread > 0.0 ? std::scalbn(1.0 / column.spread, -column.exponent) : 1.0);
  }
  return rows;
}

// Kernels of the caller's own, and those that measure columns themselves, see rows as they are.
bool measures_columns(const KernelSpec& kernel) {
  bool found = false;
  for_each_leaf(kernel, [&](const KernelSpec& leaf) {
    found = found || leaf.family == KernelFamily::custom || has_column_scales(leaf.family);
  });
  return found;
}

// Every column in its own scale, as in the adaptive test; nothing where columns keep their units.
RowsInUnits in_own_scales(const TestPool& pool, const ExplainOptions& options) {
  RowsInUnits rows;
  if (!options.own_scales || options.image || is_of_objects(options.kernel) || measures_columns(options.kernel)) {
    return rows;
  }
  auto scales = fit_column_scales(pool.x.points, pool.y.points, ConstantColumns::kept, options.threads);
  scale_parts(pool.rows(), roles_of_columns(pool.rows(), pool.roles()), scales);
  rows.x = scaled_rows(scales, pool.x.points, options.threads);
  rows.y = scaled_rows(scales, pool.y.points, options.threads);
  for (const ColumnScale& column : scales) {
    rows.lengths.push_back(std::scalbn(column.scale, column.exponent));
  }
  return rows;
}

}  // namespace

ExplainedSamples::ExplainedSamples(const SampleView& x, const SampleView& y, const ExplainOptions& options)
    : options_(options),
      samples_(samples_of(x, y, options)),
      pool_(make_test_pool(samples_.x, samples_.y, options.threads, identity_of(x, y, options.kernel))),
      table_units_(in_table_units(pool_, options)),
      kernel_units_(in_own_scales(pool_, options)),
      source_(samples_.design, {num_x(), num_y()}, pool_.order, pool_.permutation_seed),
      weights_(pool_.weights_of(pool_.order)),
      table_(table_columns(dim(), x.roles.empty() ? y.roles : x.roles, options.sources,
                           [this](std::size_t column) { return column_name(column); })),
      missing_marks_(dim(), dim()),
      marks_(pool()) {
  source_.fill(PermutationMode::random, 0, 1, observed_);
  for (const TableColumn& column : table_) {
    if (column.value && column.missing) missing_marks_[*column.value] = *column.missing;
  }
}

std::vector<std::uint32_t> ExplainedSamples::rows_with_value(std::size_t column) const {
  std::vector<std::uint32_t> rows;
  if (missing_marks_[column] == dim()) return rows;
  const Pool all = pool();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!marks_.is_set(all.row(i), missing_marks_[column])) rows.push_back(static_cast<std::uint32_t>(i));
  }
  return rows;
}

Pool ExplainedSamples::in_units(const RowsInUnits& units) const {
  if (units.x.rows() == 0) return given_pool();
  return {units.x, units.y, pool_.order, pool_.roles()};
}

double ExplainedSamples::given_length(std::size_t column, double length) const {
  return table_units_.lengths.empty() ? length : length * table_units_.lengths[column];
}

double ExplainedSamples::length_for_kernel(std::size_t column, double length) const {
  const double given = given_length(column, length);
  return kernel_units_.lengths.empty() ? given : given / kernel_units_.lengths[column];
}

Pool first_rows(const Pool& pool, std::size_t count) {
  return {pool.x, pool.y, pool.order.first(std::min(count, pool.order.size())), pool.roles};
}

std::size_t ExplainedSamples::index_of(std::size_t position) const {
  const std::size_t row = pool_.order[position];
  const bool in_x = row < num_x();
  const std::vector<std::size_t>& given = in_x ? samples_.x_rows : samples_.y_rows;
  const std::size_t place = in_x ? row : row - num_x();
  return given.empty() ? place : given[place];
}

std::size_t ExplainedSamples::file_row_of(std::size_t position) const {
  const auto& rows = in_y(position) ? options_.rows_y : options_.rows_x;
  return rows.empty() ? index_of(position) + 1 : rows[index_of(position)];
}

std::string ExplainedSamples::column_name(std::size_t column) const {
  if (!options_.column_names.empty()) return options_.column_names[column];
  if (!options_.image) return fmt::format("column {}", column + 1);
  const auto& [height, width, channels] = *options_.image;
  const std::size_t point = column / channels;
  const std::string name = fmt::format("pixel {},{}", point / width + 1, point % width + 1);
  return channels == 1 ? name : fmt::format("{} of channel {}", name, column % channels + 1);
}

ExaminedDirections::ExaminedDirections(const ExplainedSamples& pair, const KernelSpec& kernel) : pair_(pair) {
  const std::size_t landmarks = default_num_landmarks(kernel, pair.num_rows(), pair.dim());
  const PrincipalBasis basis = principal_basis(Kernel(kernel), first_rows(pair.kernel_pool(), kMostRows),
                                               {.num_landmarks = landmarks, .max_rank = kNumPrincipal},
                                               pair.options().seed, pair.options().threads);
  if (basis.variances.empty()) return;  // the kernel takes the same value for all pairs of points
  principal_ = std::make_unique<KernelDirections>(Kernel(kernel), Matrix<double>(basis.landmarks.view()),
                                                  Matrix<double>(basis.coefficients.view()), false);
}

std::size_t ExaminedDirections::num_principal_rows() const {
  return std::min(kMostRows, pair_.num_rows());
}

std::string ExaminedDirections::name(std::size_t i) const {
  if (!is_column(i)) return fmt::format("principal {}", i - num_columns() + 1);
  return pair_.options().column_names.empty() ? pair_.column_name(i) : "column " + pair_.column_name(i);
}

Matrix<double> ExaminedDirections::project(std::size_t num_rows, std::size_t first, std::size_t count) const {
  const Pool rows = first_rows(pair_.pool(), num_rows);
  const ThreadCount threads = pair_.options().threads;
  const std::size_t num_axes = first < num_columns() ? std::min(count, num_columns() - first) : 0;
  Matrix<double> values(count, rows.size());
  parallel_for_blocks(num_axes > 0 ? rows.size() : 0, kRowsPerTask, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto row = rows.row(i);
      for (std::size_t k = 0; k < num_axes; ++k) values(k, i) = row[first + k];
    }
  });
  if (num_axes < count) {
    project_pool(*principal_, first_rows(pair_.kernel_pool(), num_rows), first + num_axes - num_columns(),
                 values.view().row_range(num_axes, count - num_axes), threads);
  }
  return values;
}

}  // namespace kqd
