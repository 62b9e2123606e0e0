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
