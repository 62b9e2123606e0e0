#include "kqd/metrics/embedding_table.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "kqd/kernel/objects.hpp"
#include "kqd/metrics/embedding.hpp"
#include "metrics/data_warnings.hpp"
#include "metrics/object_options.hpp"
#include "metrics/quantile/kqd.hpp"
#include "metrics/sample_list.hpp"
#include "metrics/test_pool.hpp"

namespace kqd {
namespace {

std::size_t num_elements(const EmbeddingTable& table) {
  return table.directions->count() * table.levels.size();
}

void copy_block(const Matrix<double>& block, Matrix<double>& values, std::size_t row, std::size_t column) {
  for (std::size_t i = 0; i < block.rows(); ++i) {
    std::ranges::copy(block.row(i), values.row(row + i).begin() + static_cast<std::ptrdiff_t>(column));
  }
}

}  // namespace

std::vector<double> even_levels(std::size_t n) {
  std::vector<double> levels(n);
  for (std::size_t k = 0; k < n; ++k) levels[k] = static_cast<double>(k + 1) / static_cast<double>(n + 1);
  return levels;
}

EmbeddingTable embedding_table(std::span<const SampleView> samples, std::span<const std::string> names,
                               std::span<const double> levels, const MethodOptions& given, const RunControl* control) {
  const StopScope stoppable(control);
  const bool of_objects = is_of_objects(given.kernel);
  MethodOptions options = given;
  if (of_objects) adapt_to_objects(to_string(given.kernel), options.directions);
  validate(options);
  if (samples.empty()) fail(ErrorCode::shape_mismatch, "no samples, expected at least one");
  if (levels.empty()) fail_option("levels", "", "at least one level");
  for (const double level : levels) {
    if (!(level >= 0.0 && level <= 1.0)) fail_option("levels", level, "numbers in [0, 1]");
  }
  if (options.directions.reference == ReferenceMeasure::balanced) {
    fail_option("reference", "balanced", "pooled, gaussian, uniform or a file of points, for embeddings");
  }
  const CheckedList checked(samples, names, options.threads);
  EmbeddingTable table{.names = {names.begin(), names.end()},
                       .sizes = {},
                       .dim = of_objects ? 0 : samples.front().dim(),
                       .levels = {levels.begin(), levels.end()},
                       .quantiles = {},
                       .directions = {},
                       .kernel = {},
                       .warnings = {}};
  const Sample all = gather_all(checked.samples());
  const TestPool pool = make_test_pool(all, {}, options.threads);
  warn_about_pool(pool.rows(), samples.front().column_names, table.warnings);
  SharedSlices slices = draw_slices(pool.rows(), options, Over::mean);
  std::ranges::move(slices.warnings, std::back_inserter(table.warnings));
  table.directions = slices.drawn.directions;
  table.num_reference = slices.drawn.num_reference;
  table.kernel = table.directions->kernel().spec();
  table.quantiles = Matrix<double>(samples.size(), table.directions->count() * levels.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    stop_point();
    table.sizes.push_back(samples[i].size());
    const KernelQuantileEmbedding embedding(checked.samples()[i], table.directions, options.threads);
    std::ranges::copy(embedding.quantiles(levels).values(), table.quantiles.row(i).begin());
    if (control == nullptr || !control->progress) continue;
    control->progress({.done = static_cast<double>(i + 1),
                       .total = static_cast<double>(samples.size()),
                       .what = "data sets",
                       .counted = true});
  }
  return table;
}

Matrix<double> embedding_values(std::span<const SampleView> samples, const EmbeddingTable& table,
                                MatrixView<const double> points, bool centered, ThreadCount threads,
                                const RunControl* control) {
  const StopScope stoppable(control);
  validate(SampleView{points, {}}, "points");
  if (points.cols() != table.directions->dim()) {
    fail(ErrorCode::shape_mismatch, "points have {} column{} and the samples {}, expected the same number",
         points.cols(), points.cols() == 1 ? "" : "s", table.directions->dim());
  }
  const std::size_t size = num_elements(table);
  Matrix<double> values(samples.size() * size, points.rows());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    stop_point();
    const KernelQuantileEmbedding embedding(samples[i], table.directions, threads);
    copy_block(centered ? embedding.evaluate_centered(table.levels, points, threads)
                        : embedding.evaluate(table.levels, points, threads),
               values, i * size, 0);
  }
  return values;
}

Matrix<double> embedding_products(std::span<const SampleView> samples, const EmbeddingTable& table, bool centered,
                                  ThreadCount threads, const RunControl* control) {
  constexpr std::size_t kMostElements = 10'000;
  const StopScope stoppable(control);
  const std::size_t size = num_elements(table);
  if (samples.size() * size > kMostElements) {
    fail(ErrorCode::resource_limit,
         "{} data sets, {} directions and {} levels make {} embeddings, expected at most {} for inner products of all "
         "pairs; take fewer levels or directions",
         samples.size(), table.directions->count(), table.levels.size(), samples.size() * size, kMostElements);
  }
  std::vector<KernelQuantileEmbedding> embeddings;
  for (const SampleView& sample : samples) embeddings.emplace_back(sample, table.directions, threads);
  Matrix<double> products(samples.size() * size, samples.size() * size);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      stop_point();
      copy_block(centered ? inner_products_centered(embeddings[i], table.levels, embeddings[j], table.levels, threads)
                          : inner_products(embeddings[i], table.levels, embeddings[j], table.levels),
                 products, i * size, j * size);
    }
  }
  for (std::size_t i = 0; i < products.rows(); ++i) {
    for (std::size_t j = i + 1; j < products.cols(); ++j) products(i, j) = products(j, i);
  }
  return products;
}

DistributionKernel distribution_kernel(const Matrix<double>& distances, std::optional<double> scale) {
  if (scale && !(*scale > 0.0 && std::isfinite(*scale))) fail_option("gram_scale", *scale, "a number > 0");
  const std::size_t n = distances.rows();
  DistributionKernel kernel{Matrix<double>(n, n, 1.0), 1.0};
  std::vector<double> squares;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) squares.push_back(distances(i, j) * distances(i, j));
  }
  if (scale) {
    kernel.scale = *scale;
  } else if (!squares.empty()) {
    const auto middle = squares.begin() + static_cast<std::ptrdiff_t>(squares.size() / 2);
    std::ranges::nth_element(squares, middle);
    if (*middle > 0.0) kernel.scale = *middle;
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      kernel.values(i, j) = std::exp(-distances(i, j) * distances(i, j) / kernel.scale);
    }
  }
  return kernel;
}

}  // namespace kqd
