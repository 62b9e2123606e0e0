#include "kqd/explain/explain.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/names.hpp"
#include "core/text.hpp"
#include "core/warning.hpp"
#include "explain/column_results.hpp"
#include "explain/density.hpp"
#include "explain/direction_tests.hpp"
#include "explain/explained_samples.hpp"
#include "explain/witness.hpp"
#include "kernel/resolve.hpp"
#include "kqd/metrics/methods.hpp"
#include "kqd/testing/pvalue.hpp"
#include "metrics/data_warnings.hpp"
#include "metrics/quantile/pooled_projections.hpp"

namespace kqd {
namespace {

constexpr std::size_t kShownDirections = 8;
constexpr std::size_t kShownRows = 10;
constexpr std::size_t kShownCells = 20;
constexpr std::size_t kShownPoints = 2000;  // of either sample
constexpr std::size_t kColumnsOfDirection = 12;
constexpr std::size_t kShownPixels = 200'000;  // of all images together
constexpr std::uint64_t kFewPermutations = 999;
constexpr std::int64_t kMostPermutations = 1'000'000'000;
constexpr double kWorkBudget = 2e12;  // rows times directions times permutations without early stopping: minutes

constexpr std::array<Name<Where>, 7> kWhereNames = {{
    {Where::nowhere, "nowhere"},
    {Where::centre, "centre"},
    {Where::lower_tail, "lower tail"},
    {Where::upper_tail, "upper tail"},
    {Where::both_tails, "both tails"},
    {Where::everywhere, "everywhere"},
    {Where::shares, "shares"},
}};

std::uint64_t chosen_permutations(const ExplainOptions& options, std::size_t num_rows, std::size_t count) {
  if (options.num_permutations > 0) return static_cast<std::uint64_t>(options.num_permutations);
  const double feasible = kWorkBudget / (static_cast<double>(num_rows) * std::max(1.0, static_cast<double>(count)));
  const std::uint64_t wanted = std::max({kFewPermutations, 20 * count, needed_permutations(count, options.alpha)});
  return std::max(kFewPermutations, std::min(wanted, static_cast<std::uint64_t>(feasible)));
}

// The strongest directions as functions of the kernel; columns of the data have coefficients 0.
FunctionsOfKernel functions_of(const ExaminedDirections& examined, std::span<const std::size_t> shown) {
  const KernelDirections& principal = *examined.principal();
  Matrix<double> coefficients(principal.reference().rows(), shown.size(), 0.0);
  for (std::size_t k = 0; k < shown.size(); ++k) {
    if (examined.is_column(shown[k])) continue;
    const std::size_t function = shown[k] - examined.num_columns();
    for (std::size_t j = 0; j < coefficients.rows(); ++j) coefficients(j, k) = principal.coefficients()(j, function);
  }
  return {principal.kernel(), Matrix<double>(principal.reference()), std::move(coefficients)};
}

std::vector<ColumnSensitivity> strongest_columns(const ExplainedSamples& pair, const AveragedGradients& gradients,
                                                 std::size_t function, double sign) {
  std::vector<ColumnSensitivity> columns;
  for (std::size_t c = 0; c < pair.dim(); ++c) {
    columns.push_back({pair.column_name(c), c, sign * gradients.mean(function, c), gradients.magnitude(function, c)});
  }
  std::ranges::stable_sort(columns, std::greater{}, &ColumnSensitivity::magnitude);
  columns.resize(std::min(columns.size(), kColumnsOfDirection));
  return columns;
}

void add_directions(const ExplainedSamples& pair, const ExaminedDirections& examined,
                    std::span<const TestedDirection> tested, std::span<const std::size_t> shown,
                    std::span<const double> scales, Explanation& result) {
  const std::vector<double> adjusted = holm_adjusted(pvalues_of(tested));
  AveragedGradients gradients;  // one row per shown direction
  if (examined.principal() != nullptr && pair.dim() > 0) {
    gradients = averaged_gradients(functions_of(examined, shown), pair.kernel_pool(), scales, pair.options().threads);
  }
  for (std::size_t k = 0; k < shown.size(); ++k) {
    const std::size_t i = shown[k];
    const GapShape& shape = tested[i].shape;
    DirectionExplanation& direction = result.directions.emplace_back();
    direction.name = examined.name(i);
    direction.family = examined.is_column(i) ? "column" : "principal";
    direction.statistic = shape.wasserstein;
    direction.effect = effect_of(shape);
    direction.pvalue = tested[i].pvalue;
    direction.pvalue_adjusted = adjusted[i];
    direction.reject = result.directions_note.empty() && adjusted[i] <= result.alpha;
    direction.where = where_of(tested[i], result.alpha);
    direction.shares = shape.shares;
    direction.profile = shape.profile;
    direction.density = tested[i].density;
    const double sign = shape.mean_shift < 0.0 ? -1.0 : 1.0;
    if (examined.is_column(i)) {
      direction.columns = {{pair.column_name(i), i, sign * shape.scale, shape.scale}};
    } else {
      direction.columns = strongest_columns(pair, gradients, k, sign);
    }
  }
}

struct FittedDirection {
  std::shared_ptr<const Directions> directions;
  std::size_t index = 0;
};

FittedDirection maximiser_of(const SampleView& x, const SampleView& y, const ExplainOptions& options) {
  if (options.maximiser_directions != nullptr) return {options.maximiser_directions, options.maximiser_index};
  const DistanceResult found = distance(options.maximiser, x, y,
                                        {.kernel = options.kernel,
                                         .bandwidth_rule = options.bandwidth_rule,
                                         .seed = options.seed,
                                         .threads = options.threads,
                                         .max_memory = options.max_memory});
  const auto largest = std::ranges::max_element(found.per_direction);
  return {found.directions, static_cast<std::size_t>(largest - found.per_direction.begin())};
}

// The columns behind one direction: weights of a linear one, gradients of a function of the kernel.
std::vector<ColumnSensitivity> columns_of(const ExplainedSamples& pair, const FittedDirection& fitted,
                                          std::span<const double> scales, double sign) {
  if (pair.dim() == 0) return {};
  const auto* const of_kernel = dynamic_cast<const KernelDirections*>(fitted.directions.get());
  AveragedGradients gradients;
  if (of_kernel != nullptr) {
    const Matrix<double> coefficients(of_kernel->coefficients().column_range(fitted.index, 1));
    gradients = averaged_gradients({of_kernel->kernel(), Matrix<double>(of_kernel->reference()), coefficients},
                                   pair.given_pool(), scales, pair.options().threads);
  } else if (fitted.directions->linear()) {
    gradients = {Matrix<double>(1, pair.dim()), Matrix<double>(1, pair.dim())};
    const Matrix<double> weights = fitted.directions->terms().coefficients;
    for (std::size_t c = 0; c < pair.dim(); ++c) {
      gradients.mean(0, c) = weights(c, fitted.index) * scales[c];
      gradients.magnitude(0, c) = std::abs(gradients.mean(0, c));
    }
  } else {
    return {};
  }
  return strongest_columns(pair, gradients, 0, sign);
}

// The direction was fitted to these labels: there is no p-value of its own. The method sees columns as they were given.
void add_maximiser(const ExplainedSamples& pair, const SampleView& x, const SampleView& y,
                   std::span<const double> scales, Explanation& result) {
  const ExplainOptions& options = pair.options();
  const FittedDirection fitted = maximiser_of(x, y, options);
  const auto project = [&](std::size_t, std::size_t) {
    return project_pool(*fitted.directions, pair.given_pool(), fitted.index, 1, options.threads);
  };
  const DirectionTestOptions how{.num_permutations = 1,
                                 .num_shown = 1,
                                 .weights = pair.weights(),
                                 .max_bytes = options.max_memory,
                                 .threads = options.threads};
  const TestedDirection along = test_directions({1, project}, pair.source(), how, nullptr).directions.front();
  DirectionExplanation& direction = result.maximiser.emplace();
  direction.name = "largest gap of " + options.maximiser;
  direction.family = options.maximiser;
  direction.statistic = along.shape.wasserstein;
  direction.effect = effect_of(along.shape);
  direction.pvalue = direction.pvalue_adjusted = std::numeric_limits<double>::quiet_NaN();
  direction.where = along.shape.where;
  direction.shares = along.shape.shares;
  direction.profile = along.shape.profile;
  direction.density = along.density;
  direction.columns = columns_of(pair, fitted, scales, along.shape.mean_shift < 0.0 ? -1.0 : 1.0);
}

// The number of leading rows of the pool that contain enough rows of both samples for a scatter plot.
std::size_t rows_to_scatter(const ExplainedSamples& pair) {
  std::size_t num_x = 0;
  std::size_t num_y = 0;
  std::size_t count = 0;
  while (count < pair.num_rows() && (num_x < kShownPoints || num_y < kShownPoints)) {
    ++(pair.in_y(count++) ? num_y : num_x);
  }
  return count;
}

void add_scatter(const ExplainedSamples& pair, const ExaminedDirections& examined, std::span<const std::size_t> shown,
                 Explanation& result) {
  if (shown.size() < 2) return;
  Scatter& scatter = result.scatter;
  scatter.names = {result.directions[0].name, result.directions[1].name};
  scatter.of_x = pair.num_x();
  scatter.of_y = pair.num_y();
  // The pool is in random order, so its first rows are a random choice.
  const std::size_t num_rows = rows_to_scatter(pair);
  const Matrix<double> first = examined.project(num_rows, shown[0], 1);
  const Matrix<double> second = examined.project(num_rows, shown[1], 1);
  for (std::size_t i = 0; i < num_rows; ++i) {
    auto& firsts = pair.in_y(i) ? scatter.y_first : scatter.x_first;
    auto& seconds = pair.in_y(i) ? scatter.y_second : scatter.x_second;
    if (firsts.size() == kShownPoints) continue;
    firsts.push_back(first(0, i));
    seconds.push_back(second(0, i));
  }
}

ExtremeRow extreme_row(const ExplainedSamples& pair, std::size_t position, double score,
                       std::span<const std::size_t> columns, bool with_pixels) {
  const auto row = pair.pool().row(position);
  ExtremeRow result{.in_y = pair.in_y(position),
                    .index = pair.index_of(position),
                    .row = pair.file_row_of(position),
                    .score = score,
                    .cells = {},
                    .pixels = {}};
  for (const std::size_t c : columns) result.cells.push_back(cell_text(pair.table()[c], row, pair.marks()));
  if (with_pixels) result.pixels.assign(row.begin(), row.end());
  return result;
}

// The columns that differ, those of relations that differ, then the others.
std::vector<std::size_t> columns_of_rows(const ExplainedSamples& pair, const Explanation& result) {
  std::vector<std::size_t> columns;
  const auto add = [&](std::size_t index) {
    if (columns.size() < kShownCells && std::ranges::find(columns, index) == columns.end()) columns.push_back(index);
  };
  for (const ColumnExplanation& column : result.columns) {
    if (column.reject || (column.missing && column.missing->reject)) add(column.index);
  }
  for (const RelationExplanation& relation : result.relations) {
    if (!relation.reject) continue;
    for (const std::string& name : {relation.first, relation.second}) {
      const auto found = std::ranges::find(pair.table(), name, &TableColumn::name);
      if (found != pair.table().end()) add(static_cast<std::size_t>(found - pair.table().begin()));
    }
  }
  for (const ColumnExplanation& column : result.columns) add(column.index);
  return columns;
}

void add_rows(const ExplainedSamples& pair, const Witness& witness, Explanation& result) {
  const std::vector<std::size_t> columns = columns_of_rows(pair, result);
  for (const std::size_t c : columns) result.row_columns.push_back(pair.table()[c].name);
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  result.scores_x.assign(result.n_x, kNone);
  result.scores_y.assign(result.n_y, kNone);
  for (std::size_t i = 0; i < pair.num_rows(); ++i) {
    (pair.in_y(i) ? result.scores_y : result.scores_x)[pair.index_of(i)] = witness.scores[i];
  }
  std::vector<std::size_t> order(pair.num_rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t count = std::min(kShownRows, order.size());
  const std::size_t num_images = pair.options().image ? kShownPixels / std::max<std::size_t>(1, pair.dim()) / 2 : 0;
  const auto pick = [&](auto before, std::vector<ExtremeRow>& rows) {
    std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(count), before);
    for (std::size_t k = 0; k < count; ++k) {
      rows.push_back(extreme_row(pair, order[k], witness.scores[order[k]], columns, k < num_images));
    }
  };
  const auto& scores = witness.scores;
  pick([&](std::size_t a, std::size_t b) { return scores[a] != scores[b] ? scores[a] < scores[b] : a < b; },
       result.most_x);
  pick([&](std::size_t a, std::size_t b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; },
       result.most_y);
}

void add_image(const ImageShape& shape, std::span<const double> sensitivities, Explanation& result) {
  ImageExplanation image{shape, {sensitivities.begin(), sensitivities.end()}};
  bool any = false;
  for (const auto* rows : {&result.most_x, &result.most_y}) {
    for (const ExtremeRow& row : *rows) {
      if (row.pixels.empty()) continue;
      const auto [low, high] = std::ranges::minmax(row.pixels);
      image.low = any ? std::min(image.low, low) : low;
      image.high = any ? std::max(image.high, high) : high;
      any = true;
    }
  }
  if (!any) warn(result.warnings, WarningId::images_not_shown);
  result.image = std::move(image);
}

std::string to_string(const ImageShape& shape) {
  const std::string plane = fmt::format("{}x{}", shape.height, shape.width);
  return shape.channels == 1 ? plane : fmt::format("{}x{}", plane, shape.channels);
}

template <class T>
void require_count(const std::vector<T>& given, std::size_t needed, std::string_view what) {
  if (given.empty() || given.size() == needed) return;
  fail(ErrorCode::shape_mismatch, "{} has {} entries, expected {} or none", what, given.size(), needed);
}

Explanation begin(const SampleView& x, const SampleView& y, const ExplainOptions& options) {
  Explanation result;
  result.n_x = x.size();
  result.n_y = y.size();
  result.dim = is_of_objects(options.kernel) ? 0 : x.dim();
  result.seed = options.seed;
  result.threads = options.threads;
  result.alpha = options.alpha;
  SampleView named = x;
  if (!options.column_names.empty()) named.column_names = options.column_names;
  warn_about_data(named, y, result.warnings);
  return result;
}

// Tests every direction; writes what concerns all of them into the result.
std::vector<TestedDirection> test_all(const ExplainedSamples& pair, const ExaminedDirections& examined,
                                      const RunControl* control, Explanation& result) {
  const ExplainOptions& options = pair.options();
  const DirectionTestOptions how{.num_permutations = chosen_permutations(options, pair.num_rows(), examined.count()),
                                 .num_shown = kShownDirections,
                                 .num_drawn = std::min(pair.dim(), kMostDrawnColumns),
                                 .weights = pair.weights(),
                                 .restricted = options.design.kind != DesignKind::independent,
                                 .max_bytes = options.max_memory,
                                 .threads = options.threads};
  DirectionTests tests = test_directions(
      {.count = examined.count(),
       .project = [&](auto first, auto count) { return examined.project(pair.num_rows(), first, count); },
       .rows_with_value =
           [&](std::size_t i) {
             return examined.is_column(i) ? pair.rows_with_value(i) : std::vector<std::uint32_t>();
           }},
      pair.source(), how, control);
  if (pair.dim() > 0) add_columns(pair, std::span(tests.directions).first(pair.dim()), how, tests, result);
  if (!options.image && pair.dim() > 0) add_relations(pair, how, result);
  result.n_resamples = tests.n_resamples;
  result.enumerated = tests.enumerated;
  result.n_directions_examined = tests.directions.size();
  result.directions_note = resolution_note("directions", tests.directions.size(), tests, options.alpha);
  append(result.warnings, pair.source().warnings());
  return std::move(tests.directions);
}

// The sensitivity of the witness to each column; 0 if there is no witness.
std::vector<double> sensitivities_of(const ExplainedSamples& pair, const Witness& witness,
                                     std::span<const double> scales) {
  if (witness.function.coefficients.empty() || pair.dim() == 0) return std::vector<double>(pair.dim(), 0.0);
  const AveragedGradients gradients =
      averaged_gradients(witness.function, pair.kernel_pool(), scales, pair.options().threads);
  return {gradients.mean.row(0).begin(), gradients.mean.row(0).end()};
}

}  // namespace

std::string to_string(Where where) {
  return std::string(name_of(kWhereNames, where));
}

ImageShape parse_image_shape(std::string_view text) {
  std::vector<std::size_t> sizes;
  for (const std::string_view part : split(text, 'x')) {
    const auto value = parse_number(part);
    const bool whole = value && *value >= 1.0 && *value <= 1e6 && *value == std::floor(*value);
    sizes.push_back(whole ? static_cast<std::size_t>(*value) : 0);
  }
  if (sizes.size() < 2 || sizes.size() > 3 || std::ranges::find(sizes, 0U) != sizes.end()) {
    fail_option("image_shape", text, "HEIGHTxWIDTH or HEIGHTxWIDTHxCHANNELS");
  }
  return {sizes[0], sizes[1], sizes.size() == 3 ? sizes[2] : 1};
}

std::optional<ImageShape> image_shape(const std::vector<std::size_t>& row_shape) {
  if (row_shape.size() == 2) return ImageShape{row_shape[0], row_shape[1]};
  const bool coloured = row_shape.size() == 3 && (row_shape[2] == 1 || row_shape[2] == 3 || row_shape[2] == 4);
  return coloured ? std::optional(ImageShape{row_shape[0], row_shape[1], row_shape[2]}) : std::nullopt;
}

void validate(const ExplainOptions& options, std::size_t dim) {
  if (options.num_permutations < 0 || options.num_permutations > kMostPermutations) {
    fail_option("num_permutations", options.num_permutations,
                fmt::format("a whole number in 0..{}", kMostPermutations));
  }
  if (!(options.alpha > 0.0 && options.alpha < 1.0)) {
    fail_option("alpha", options.alpha, "a number between 0 and 1");
  }
  if (options.image && options.image->size() != dim) {
    fail(ErrorCode::shape_mismatch,
         {.subject = "image_shape",
          .value = to_string(*options.image),
          .expected = fmt::format("a shape of {} values, as many as the rows have (this one has {})", dim,
                                  options.image->size())});
  }
  require_count(options.column_names, dim, "column_names");
  require_count(options.units, dim, "units");
  if (!options.maximiser.empty() && !find_method(options.maximiser).supremum) {
    fail_option("maximiser", options.maximiser, fmt::format("one of {}", fmt::join(methods_with_maximiser(), ", ")));
  }
  validate(options.kernel);
}

Explanation explain(const SampleView& x, const SampleView& y, const ExplainOptions& options,
                    const RunControl* control) {
  const StopScope stoppable(control);
  validate_pair(x, y, options.threads);
  validate(options, is_of_objects(options.kernel) ? 0 : x.dim());
  require_count(options.rows_x, x.size(), "rows_x");
  require_count(options.rows_y, y.size(), "rows_y");
  validate(options.design, {x.size(), y.size()});
  Explanation result = begin(x, y, options);
  const ExplainedSamples pair(x, y, options);
  result.own_scales = pair.own_scales();
  result.notes = pair.samples().notes;
  append(result.warnings, pair.samples().warnings);
  const ExaminedDirections examined = [&] {
    const ProgressScope progress(control, "preparing");
    result.kernel = resolve(options.kernel, pair.kernel_pool(), options.bandwidth_rule, options.seed, result.warnings);
    return ExaminedDirections(pair, result.kernel);
  }();
  result.n_principal_rows = examined.num_principal_rows();
  const std::vector<TestedDirection> tested = test_all(pair, examined, control, result);

  const ProgressScope progress(control, "scoring rows");
  const Witness witness =
      fit_witness({pair.kernel_pool(), pair.observed(), pair.weights(), result.kernel, options.seed, options.threads});
  result.witness_kernel = witness.function.kernel.spec();
  result.witness_share = witness.share;
  result.n_witness_rows = witness.num_rows;
  std::vector<double> scales;  // for the kernel
  std::vector<double> given_scales;
  for (std::size_t c = 0; c < pair.dim(); ++c) {
    scales.push_back(pair.length_for_kernel(c, tested[c].shape.scale));
    given_scales.push_back(pair.given_length(c, tested[c].shape.scale));
  }
  if (!pair.own_scales()) {
    warn_about_scales(
        scales, [&](std::size_t column) { return fmt::format("\"{}\"", pair.column_name(column)); }, result.warnings);
  }
  const std::vector<double> sensitivities = sensitivities_of(pair, witness, scales);
  add_sensitivities(pair, sensitivities, result);
  std::vector<std::size_t> strongest = ranked(tested);
  strongest.resize(std::min(strongest.size(), kShownDirections));
  add_directions(pair, examined, tested, strongest, scales, result);
  if (!options.maximiser.empty()) add_maximiser(pair, x, y, given_scales, result);
  add_scatter(pair, examined, strongest, result);
  add_rows(pair, witness, result);
  if (options.image) add_image(*options.image, sensitivities, result);
  return result;
}

Explanation explain(const Sample& x, const Sample& y, const ExplainOptions& options, const RunControl* control) {
  ExplainOptions named = options;
  if (named.column_names.empty()) named.column_names = x.column_names.empty() ? y.column_names : x.column_names;
  return explain(x.view(), y.view(), named, control);
}

}  // namespace kqd
