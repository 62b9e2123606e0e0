// The part of the R package that is written in C++. The interface is in R/*.R; here options become settings, data
// frames become samples, and results become lists of their fields.
#include <R_ext/Visibility.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cpp11.hpp>
#include <cpp11/declarations.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "kqd/kqd.hpp"

namespace kqd {
namespace {

using cpp11::as_cpp;
using cpp11::as_sexp;
using cpp11::doubles;
using cpp11::list;
using cpp11::strings;

// ---- From R ----

Command command_of(const std::string& call) {
  return call == "test"       ? kTestCommand
         : call == "distance" ? kDistanceCommand
         : call == "explain"  ? kExplainCommand
                              : kEmbedCommand;
}

// Options of data that make sense for tables in memory.
bool is_data_option(std::string_view id) {
  return id == "columns" || id == "drop" || id == "weights_column" || id == "categorical" || id == "na" ||
         id == "standardize" || id == "max_rows";
}

bool has_option(const OptionInfo& option, Command command) {
  // Arguments of the R functions.
  if (option.id == "design" || option.id == "keep_null_distribution" || option.id == "group_column") return false;
  return (option.calls & command) != 0 || is_data_option(option.id);
}

const OptionInfo& option_of(const std::string& name, Command command) {
  for (const OptionInfo& option : options()) {
    if (has_option(option, command) && r_names(option.id, "") == name) return option;
  }
  throw Error(ErrorCode::internal, "no option " + name);
}

Matrix<double> matrix_of(SEXP values) {
  Matrix<double> rows(static_cast<std::size_t>(Rf_nrows(values)), static_cast<std::size_t>(Rf_ncols(values)));
  const double* const data = REAL(values);
  for (std::size_t j = 0; j < rows.cols(); ++j) {
    for (std::size_t i = 0; i < rows.rows(); ++i) rows(i, j) = data[j * rows.rows() + i];
  }
  return rows;
}

// Settings from a list: a text, texts for a list, or a matrix of points for each option; then those of the method.
Settings settings_of(const std::string& call, const list& given, const strings& parameters) {
  const Command command = command_of(call);
  Settings settings = default_settings(command);
  const strings names(given.names());
  for (R_xlen_t i = 0; i < given.size(); ++i) {
    const OptionInfo& option = option_of(names[i], command);
    if (Rf_isString(given[i])) {
      for (const cpp11::r_string& text : strings(given[i])) set_option(settings, option, std::string(text));
    } else {
      option.set_points(settings, matrix_of(given[i]));
    }
  }
  for (const cpp11::r_string& text : parameters) settings.parameters.emplace_back(text);
  require_no_files(settings);
  if (!settings.object_kernel.empty()) {
    throw Error(ErrorCode::invalid_option,
                {.subject = "kernel", .value = settings.object_kernel, .expected = "a kernel of rows of numbers"});
  }
  return settings;
}

FrameColumn column_of(SEXP values, std::string name) {
  if (Rf_isReal(values)) {
    return {std::move(name), std::vector<double>(REAL(values), REAL(values) + Rf_xlength(values))};
  }
  std::vector<std::optional<std::string>> texts;
  for (R_xlen_t i = 0; i < Rf_xlength(values); ++i) {
    const SEXP text = STRING_ELT(values, i);
    texts.push_back(text == NA_STRING ? std::nullopt : std::optional<std::string>(Rf_translateCharUTF8(text)));
  }
  return {std::move(name), std::move(texts)};
}

// From a list of columns with names; each is numbers or texts.
Frame frame_of(const list& columns, const std::string& name) {
  Frame frame{.name = name, .columns = {}};
  const strings names(columns.names());
  for (R_xlen_t j = 0; j < columns.size(); ++j) frame.columns.push_back(column_of(columns[j], std::string(names[j])));
  return frame;
}

// "blocks" or "clusters" with a whole number for each row of x, then of y, and the names of the groups.
Design design_of(const list& given) {
  const auto kind = as_cpp<std::string>(given["kind"]);
  Design design;
  for (const DesignKind known :
       {DesignKind::independent, DesignKind::paired, DesignKind::blocks, DesignKind::clusters}) {
    if (to_string(known) == kind) design.kind = known;
  }
  for (const double group : doubles(given["groups"])) design.group_ids.push_back(static_cast<std::int64_t>(group));
  for (const cpp11::r_string& name : strings(given["names"])) design.group_names.emplace_back(name);
  return design;
}

// ---- To R ----

SEXP to_r(const Value& value);

struct RVisitor {
  SEXP operator()(std::monostate) const { return R_NilValue; }
  SEXP operator()(bool value) const { return as_sexp(value); }
  SEXP operator()(std::int64_t value) const { return as_sexp(static_cast<double>(value)); }
  SEXP operator()(std::uint64_t value) const { return as_sexp(static_cast<double>(value)); }
  SEXP operator()(double value) const { return as_sexp(value); }
  SEXP operator()(const std::string& value) const { return as_sexp(value); }
  SEXP operator()(const std::vector<Value>& values) const {
    if (values.empty()) return cpp11::safe[Rf_allocVector](VECSXP, 0);
    cpp11::writable::list found;
    for (const Value& value : values) found.push_back(cpp11::sexp(to_r(value)));
    return found;
  }
  SEXP operator()(const std::vector<NamedValue>& values) const {
    if (values.empty()) return cpp11::safe[Rf_allocVector](VECSXP, 0);
    cpp11::writable::list found;
    cpp11::writable::strings names;
    for (const NamedValue& entry : values) {
      found.push_back(cpp11::sexp(to_r(entry.value)));
      names.push_back(entry.name);
    }
    found.names() = names;
    return found;
  }
};

SEXP to_r(const Value& value) {
  return std::visit(RVisitor{}, value.content);
}

cpp11::writable::strings to_r(const std::vector<std::string>& texts) {
  cpp11::writable::strings found;
  for (const std::string& text : texts) found.push_back(text);
  return found;
}

cpp11::writable::strings sentences(const Warnings& warnings) {
  cpp11::writable::strings found;
  for (const Warning& warning : warnings) found.push_back(render(warning, r_names));
  return found;
}

cpp11::writable::strings ids(const Warnings& warnings) {
  cpp11::writable::strings found;
  for (const Warning& warning : warnings) found.push_back(std::string(warning_name(warning.id)));
  return found;
}

cpp11::writable::doubles to_r(const std::vector<double>& values) {
  cpp11::writable::doubles found(static_cast<R_xlen_t>(values.size()));
  std::copy(values.begin(), values.end(), found.begin());
  return found;
}

SEXP to_r(const Matrix<double>& values) {
  cpp11::sexp found(
      cpp11::safe[Rf_allocMatrix](REALSXP, static_cast<int>(values.rows()), static_cast<int>(values.cols())));
  double* const data = REAL(found);
  for (std::size_t i = 0; i < values.rows(); ++i) {
    for (std::size_t j = 0; j < values.cols(); ++j) data[j * values.rows() + i] = values(i, j);
  }
  return found;
}

// The fields of a result, and the lines of its report as labels and texts.
cpp11::writable::list fields_of(const ResultValues& values, const Warnings& warnings) {
  std::vector<NamedValue> fields = values.fields;
  std::erase_if(fields, [](const NamedValue& field) {  // these come as vectors, below
    return field.name == "warnings" || field.name == "warning_ids" || field.name == "notes" ||
           field.name == "per_direction" || field.name == "null_distribution";
  });
  cpp11::writable::list found(RVisitor{}(fields));
  cpp11::writable::strings labels;
  cpp11::writable::strings texts;
  for (const auto& [label, text] : values.lines) {
    labels.push_back(label);
    texts.push_back(text);
  }
  found.push_back({cpp11::named_arg("labels") = labels});
  found.push_back({cpp11::named_arg("texts") = texts});
  found.push_back({cpp11::named_arg("warnings") = sentences(warnings)});
  found.push_back({cpp11::named_arg("warning_ids") = ids(warnings)});
  return found;
}

// ---- Runs ----

void check_interrupt(void* /*unused*/) {
  R_CheckUserInterrupt();
}

// Computes on another thread while this one, R's own, looks for interrupts a few times a second. False: interrupted.
bool while_watching(const std::function<void(const RunControl*)>& work) {
  constexpr auto kLook = std::chrono::milliseconds(50);
  std::atomic<bool> stop{false};
  const RunControl control{.stop = &stop};
  std::mutex mutex;
  std::condition_variable over;
  bool is_over = false;
  std::exception_ptr failure;
  std::thread worker([&] {
    try {
      work(&control);
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    is_over = true;
    over.notify_all();
  });
  const auto wait = [&] {
    std::unique_lock lock(mutex);
    return over.wait_for(lock, kLook, [&] { return is_over; });
  };
  while (!wait()) {
    if (!stop && R_ToplevelExec(check_interrupt, nullptr) == FALSE) stop = true;
  }
  worker.join();
  if (stop) return false;
  if (failure) std::rethrow_exception(failure);
  return true;
}

// The value of `body`; errors of the library become errors of R, in R's words. NULL: interrupted.
template <class Body>
SEXP guarded(const Body& body) {
  try {
    return body();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::interrupted) return R_NilValue;
    throw std::runtime_error(printable(render(error.parts(), r_names)));
  } catch (const cpp11::unwind_exception&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw std::runtime_error("out of memory");
  }
}

RunInfo run_info(const std::string& method, const SamplePair& pair, const strings& names) {
  return {.method = method,
          .x_name = std::string(names[0]),
          .y_name = std::string(names[1]),
          .n_x = pair.x.points.rows(),
          .n_y = pair.y.points.rows(),
          .dim = pair.x.points.cols(),
          .preparation = pair.preparation,
          .option_names = r_names,
          .explain_call = "kqd_explain"};
}

// Both samples and the complete settings of a call; the names of x and y are those of messages.
struct Comparison {
  Settings settings;
  SamplePair pair;
  Warnings warnings;

  Comparison(const std::string& call, const list& data, const list& given, const strings& parameters)
      : settings(settings_of(call, given, parameters)) {
    const std::vector<const OptionInfo*> changed = changed_options(settings);
    complete(settings);
    warnings = no_effect_warnings(settings, changed, r_names);
    settings.read.paired = as_cpp<bool>(data["paired"]);
    settings.read.seed = settings.test.statistic.seed;
    pair = prepare_pair(frame_of(list(data["x"]), "x"), frame_of(list(data["y"]), "y"), settings.read);
    add_weights(data["x_weights"], pair.x, pair.rows_x, "x_weights");
    add_weights(data["y_weights"], pair.y, pair.rows_y, "y_weights");
    Design design = design_of(list(data["design"]));
    if (!design.group_ids.empty()) keep_groups(design, as_cpp<double>(data["rows_of_x"]));
    settings.test.test.design = design;
    settings.explain.design = design;
    for (const Warning& warning : pair.warnings) warnings.push_back(warning);
    for (const Warning& warning : pair.notes) warnings.push_back(warning);
    if (pair.preparation.x.omitted > 0) add_omitted("x", pair.preparation.x);
    if (pair.preparation.y.omitted > 0) add_omitted("y", pair.preparation.y);
  }

 private:
  void add_omitted(const char* name, const RowCounts& rows) {
    if (settings.read.paired) return;  // has a warning of its own
    warnings.push_back(
        {.id = WarningId::rows_omitted,
         .values = {std::string(name), static_cast<std::int64_t>(rows.omitted), static_cast<std::int64_t>(rows.read)}});
  }

  // The weights of the rows that were kept.
  static void add_weights(SEXP given, Sample& sample, const std::vector<std::size_t>& rows, const char* name) {
    if (Rf_isNull(given)) return;
    const doubles weights(given);
    const std::size_t expected = rows.empty() ? sample.points.rows() : rows.back();
    if (static_cast<std::size_t>(weights.size()) < expected) {
      throw Error(ErrorCode::shape_mismatch, std::string(name) + " has fewer weights than the sample has rows");
    }
    for (std::size_t i = 0; i < sample.points.rows(); ++i) {
      sample.weights.push_back(weights[static_cast<R_xlen_t>(rows.empty() ? i : rows[i] - 1)]);
    }
  }

  // The groups of the rows that were kept: those of x come first.
  void keep_groups(Design& design, double rows_of_x) const {
    const std::vector<std::int64_t> all = std::move(design.group_ids);
    design.group_ids.clear();
    const auto keep = [&](const std::vector<std::size_t>& rows, std::size_t count, std::size_t first) {
      for (std::size_t i = 0; i < count; ++i) {
        design.group_ids.push_back(all.at(first + (rows.empty() ? i : rows[i] - 1)));
      }
    };
    keep(pair.rows_x, pair.x.points.rows(), 0);
    keep(pair.rows_y, pair.y.points.rows(), static_cast<std::size_t>(rows_of_x));
  }
};

Warnings joined(Warnings first, const Warnings& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// ---- Calls ----

SEXP test_of(const list& data, const list& given, const strings& parameters, bool keep_null) {
  const Comparison comparison("test", data, given, parameters);
  TwoSampleOptions options = comparison.settings.test;
  options.test.keep_null_distribution = keep_null;
  TwoSampleResult result;
  if (!while_watching([&](const RunControl* control) {
        result = two_sample_test(comparison.pair.x, comparison.pair.y, options, control);
      })) {
    return R_NilValue;
  }
  const RunInfo run = run_info(options.method, comparison.pair, strings(data["names"]));
  cpp11::writable::list found =
      fields_of(test_values(result, options, run), joined(comparison.warnings, result.warnings));
  found.push_back({cpp11::named_arg("notes") = sentences(result.notes)});
  found.push_back({cpp11::named_arg("per_direction") = to_r(result.per_direction)});
  if (keep_null) found.push_back({cpp11::named_arg("null_distribution") = to_r(result.test.null_distribution)});
  return found;
}

SEXP distance_of(const list& data, const list& given, const strings& parameters) {
  const Comparison comparison("distance", data, given, parameters);
  const std::string& method = comparison.settings.test.method;
  const MethodOptions& options = comparison.settings.test.statistic;
  DistanceResult result;
  if (!while_watching([&](const RunControl* control) {
        result = distance(method, comparison.pair.x, comparison.pair.y, options, control);
      })) {
    return R_NilValue;
  }
  const RunInfo run = run_info(method, comparison.pair, strings(data["names"]));
  cpp11::writable::list found =
      fields_of(distance_values(result, options, run), joined(comparison.warnings, result.warnings));
  found.push_back({cpp11::named_arg("per_direction") = to_r(result.per_direction)});
  return found;
}

list profile_of(const QuantileProfile& profile) {
  return cpp11::writable::list(
      {cpp11::named_arg("levels") = to_r(profile.levels), cpp11::named_arg("difference") = to_r(profile.difference)});
}

// The results that columns and directions have in common, one element for each of them.
struct TestedParts {
  cpp11::writable::strings name, where;
  cpp11::writable::doubles effect, pvalue, adjusted;
  cpp11::writable::logicals reject;

  template <class Part>
  void add(const Part& part) {
    name.push_back(part.name);
    effect.push_back(part.effect);
    pvalue.push_back(part.pvalue);
    adjusted.push_back(part.pvalue_adjusted);
    reject.push_back(part.reject ? TRUE : FALSE);
    where.push_back(to_string(part.where));
  }
};

// A data frame of columns, largest difference first, with their profiles next to it.
list columns_of(const Explanation& found) {
  TestedParts parts;
  cpp11::writable::doubles index, wasserstein, shift;
  cpp11::writable::list profiles;
  for (const ColumnExplanation& column : found.columns) {
    parts.add(column);
    index.push_back(static_cast<double>(column.index + 1));
    wasserstein.push_back(column.wasserstein);
    shift.push_back(column.shift);
    if (column.profile) profiles.push_back(profile_of(*column.profile));
  }
  using cpp11::named_arg;
  return cpp11::writable::list({named_arg("name") = parts.name, named_arg("index") = index,
                                named_arg("wasserstein") = wasserstein, named_arg("effect") = parts.effect,
                                named_arg("shift") = shift, named_arg("p.value") = parts.pvalue,
                                named_arg("p.adjusted") = parts.adjusted, named_arg("reject") = parts.reject,
                                named_arg("where") = parts.where, named_arg("profiles") = profiles});
}

list directions_of(const std::vector<DirectionExplanation>& directions) {
  TestedParts parts;
  cpp11::writable::doubles statistic;
  cpp11::writable::list profiles, densities;
  using cpp11::named_arg;
  for (const DirectionExplanation& direction : directions) {
    parts.add(direction);
    statistic.push_back(direction.statistic);
    profiles.push_back(profile_of(direction.profile));
    const ProjectedDensity& density = direction.density;
    densities.push_back(cpp11::writable::list(
        {named_arg("at") = to_r(density.at), named_arg("x") = to_r(density.x), named_arg("y") = to_r(density.y)}));
  }
  return cpp11::writable::list({named_arg("name") = parts.name, named_arg("statistic") = statistic,
                                named_arg("effect") = parts.effect, named_arg("p.value") = parts.pvalue,
                                named_arg("p.adjusted") = parts.adjusted, named_arg("reject") = parts.reject,
                                named_arg("where") = parts.where, named_arg("profiles") = profiles,
                                named_arg("densities") = densities});
}

list rows_of(const std::vector<ExtremeRow>& rows) {
  cpp11::writable::doubles row, score;
  cpp11::writable::strings sample;
  for (const ExtremeRow& entry : rows) {
    row.push_back(static_cast<double>(entry.row));
    score.push_back(entry.score);
    sample.push_back(entry.in_y ? "y" : "x");
  }
  return cpp11::writable::list(
      {cpp11::named_arg("sample") = sample, cpp11::named_arg("row") = row, cpp11::named_arg("score") = score});
}

SEXP explain_of(const list& data, const list& given) {
  const Comparison comparison("explain", data, given, cpp11::writable::strings());
  ExplainOptions options = comparison.settings.explain;
  options.column_names = comparison.pair.x.column_names;
  options.rows_x = comparison.pair.rows_x;
  options.rows_y = comparison.pair.rows_y;
  options.units = comparison.pair.preparation.units;
  Explanation result;
  if (!while_watching([&](const RunControl* control) {
        result = explain(comparison.pair.x, comparison.pair.y, options, control);
      })) {
    return R_NilValue;
  }
  const RunInfo run = run_info("", comparison.pair, strings(data["names"]));
  std::vector<DirectionExplanation> maximiser;
  if (result.maximiser) maximiser.push_back(*result.maximiser);
  using cpp11::named_arg;
  return cpp11::writable::list(
      {named_arg("columns") = columns_of(result), named_arg("directions") = directions_of(result.directions),
       named_arg("maximiser") = directions_of(maximiser), named_arg("most_x") = rows_of(result.most_x),
       named_arg("most_y") = rows_of(result.most_y), named_arg("seed") = static_cast<double>(result.seed.value),
       named_arg("alpha") = result.alpha, named_arg("n_resamples") = static_cast<double>(result.n_resamples),
       named_arg("kernel") = to_string(result.kernel), named_arg("text") = explanation_text(result, run),
       named_arg("warnings") = sentences(joined(comparison.warnings, result.warnings))});
}

// ---- Embeddings ----

struct REmbedding {
  std::shared_ptr<const KernelQuantileEmbedding> embedding;
  ThreadCount threads;
  std::size_t num_reference = 0;
  Warnings warnings;
};
using EmbeddingPointer = cpp11::external_pointer<REmbedding>;

// An embedding that was saved and read again, or sent to another process, has lost its pointer.
const REmbedding& embedding_at(SEXP pointer) {
  const EmbeddingPointer held(pointer);
  if (held.get() == nullptr) {
    throw Error(ErrorCode::invalid_option, "the embedding is from another session, make it again");
  }
  return *held.get();
}

list described(std::unique_ptr<REmbedding> made) {
  const Directions& directions = *made->embedding->directions();
  using cpp11::named_arg;
  cpp11::writable::list found({named_arg("kernel") = to_string(directions.kernel().spec()),
                               named_arg("n_directions") = static_cast<double>(directions.count()),
                               named_arg("n_reference") = static_cast<double>(made->num_reference),
                               named_arg("n_points") = static_cast<double>(made->embedding->sample().size()),
                               named_arg("dim") = static_cast<double>(directions.dim()),
                               named_arg("warnings") = sentences(made->warnings)});
  found.push_back({named_arg("pointer") = EmbeddingPointer(made.release())});
  return found;
}

SEXP embedding_of(const list& columns, const list& given) {
  Settings settings = settings_of("embedding", given, cpp11::writable::strings());
  complete(settings);
  const MethodOptions& options = settings.test.statistic;
  if (options.directions.reference == ReferenceMeasure::balanced) {
    throw Error(ErrorCode::invalid_option, "reference balanced needs two samples, an embedding has one");
  }
  const Sample sample = prepare_sample(frame_of(columns, "x"), settings.read);
  auto made = std::make_unique<REmbedding>();
  made->threads = options.threads;
  const auto draw = [&] {
    const SampleView x = sample;
    const SampleView none{MatrixView<const double>(nullptr, 0, x.dim()), {}};
    const Kernel kernel(has_own_kernel(options.directions.family)
                            ? parse_kernel("linear")
                            : resolve(options.kernel, x, none, options.bandwidth_rule, options.seed, made->warnings));
    DrawnDirections drawn = draw_directions(kernel, x, none, options.directions, options.seed, options.threads);
    made->num_reference = drawn.num_reference;
    made->warnings.insert(made->warnings.end(), drawn.warnings.begin(), drawn.warnings.end());
    made->embedding = std::make_shared<const KernelQuantileEmbedding>(x, std::move(drawn.directions), options.threads);
  };
  if (!while_watching([&](const RunControl* control) { run_stoppable(*control, draw); })) return R_NilValue;
  return described(std::move(made));
}

SEXP embed_of(SEXP pointer, const list& columns) {
  const REmbedding& first = embedding_at(pointer);
  const Sample sample = prepare_sample(frame_of(columns, "x"));
  auto made = std::make_unique<REmbedding>();
  made->threads = first.threads;
  made->num_reference = first.num_reference;
  const auto embed = [&] {
    made->embedding =
        std::make_shared<const KernelQuantileEmbedding>(sample, first.embedding->directions(), first.threads);
  };
  if (!while_watching([&](const RunControl* control) { run_stoppable(*control, embed); })) return R_NilValue;
  return described(std::move(made));
}

SEXP embedding_quantiles(SEXP pointer, const doubles& levels) {
  const KernelQuantileEmbedding& embedding = *embedding_at(pointer).embedding;
  Matrix<double> values(embedding.directions()->count(), static_cast<std::size_t>(levels.size()));
  for (std::size_t i = 0; i < values.rows(); ++i) {
    for (std::size_t k = 0; k < values.cols(); ++k) {
      values(i, k) = embedding.quantile({levels[static_cast<R_xlen_t>(k)], i});
    }
  }
  return to_r(values);
}

// The rows of `columns` as points of the embedding's functions.
Sample points_of(const KernelQuantileEmbedding& embedding, const list& columns) {
  Sample points = prepare_sample(frame_of(columns, "points"));
  const std::size_t dim = embedding.directions()->dim();
  if (points.points.cols() != dim) {
    throw Error(ErrorCode::shape_mismatch, "points have " + std::to_string(points.points.cols()) +
                                               " columns and the sample " + std::to_string(dim) +
                                               ", expected the same number");
  }
  return points;
}

// Runs `work`, which returns a matrix; NULL when it is interrupted.
template <class Work>
SEXP matrix_from(const Work& work) {
  Matrix<double> values;
  const auto run = [&](const RunControl* control) { run_stoppable(*control, [&] { values = work(); }); };
  return while_watching(run) ? to_r(values) : R_NilValue;
}

// A row per direction and level, levels first; a column per point. Without levels the mean embedding.
SEXP values_of_embedding(SEXP pointer, const list& columns, const doubles& given, bool centered) {
  const REmbedding& of = embedding_at(pointer);
  const Sample points = points_of(*of.embedding, columns);
  const std::vector<double> levels(given.begin(), given.end());
  return matrix_from([&] {
    if (levels.empty()) {
      const std::vector<double> means = of.embedding->mean_embeddings(points.points, of.threads);
      Matrix<double> row(1, means.size());
      std::copy(means.begin(), means.end(), row.row(0).begin());
      return row;
    }
    return centered ? of.embedding->evaluate_centered(levels, points.points, of.threads)
                    : of.embedding->evaluate(levels, points.points, of.threads);
  });
}

SEXP products_of_embeddings(SEXP first, SEXP second, const doubles& given, bool centered) {
  const REmbedding& p = embedding_at(first);
  const REmbedding& q = embedding_at(second);
  const std::vector<double> levels(given.begin(), given.end());
  return matrix_from([&] {
    return centered ? inner_products_centered(*p.embedding, levels, *q.embedding, levels, p.threads)
                    : inner_products(*p.embedding, levels, *q.embedding, levels);
  });
}

SEXP embedding_terms(SEXP pointer) {
  const DirectionTerms terms = embedding_at(pointer).embedding->directions()->terms();
  using cpp11::named_arg;
  const cpp11::sexp reference(terms.reference.empty() ? R_NilValue : to_r(terms.reference));
  return cpp11::writable::list(
      {named_arg("reference") = reference, named_arg("coefficients") = cpp11::sexp(to_r(terms.coefficients))});
}

SEXP embedding_distance(SEXP first, SEXP second, double power, const std::string& method) {
  const REmbedding& one = embedding_at(first);
  const REmbedding& two = embedding_at(second);
  if (one.embedding->directions() != two.embedding->directions()) {
    throw Error(ErrorCode::invalid_option,
                "the embeddings have directions of their own; make the second one by predict(first, newdata)");
  }
  MethodOptions options;
  options.power = power;
  DistanceResult result;
  const auto compare = [&] { result = distance(method, *one.embedding, *two.embedding, options); };
  if (!while_watching([&](const RunControl* control) { run_stoppable(*control, compare); })) return R_NilValue;
  return as_sexp(result.statistic);
}

// ---- Tables ----

SEXP option_table(const std::string& call) {
  constexpr const char* kTypes[] = {"flag", "count", "real", "word", "text", "list", "size", "points"};
  const Command command = command_of(call);
  const Settings defaults = default_settings(command);
  cpp11::writable::strings names, types, values, helps, accepted;
  for (const OptionInfo& option : options()) {
    if (!has_option(option, command)) continue;
    names.push_back(r_names(option.id, ""));
    types.push_back(kTypes[static_cast<std::size_t>(option.type)]);
    values.push_back(option.get != nullptr ? option.get(defaults) : "");
    helps.push_back(render(option.help, r_names));
    accepted.push_back(accepted_values(option));
  }
  using cpp11::named_arg;
  return cpp11::writable::list({named_arg("name") = names, named_arg("type") = types, named_arg("default") = values,
                                named_arg("meaning") = helps, named_arg("accepts") = accepted});
}

SEXP method_table() {
  cpp11::writable::strings id, family, summary, reports, cost, calibrations, reference, parameters;
  cpp11::writable::logicals has_distance;
  for (const MethodInfo& method : methods()) {
    id.push_back(std::string(method.id));
    family.push_back(std::string(method.family));
    summary.push_back(std::string(method.summary));
    reports.push_back(std::string(method.reports));
    cost.push_back(std::string(method.cost));
    calibrations.push_back(std::string(method.calibrations));
    reference.push_back(std::string(method.reference));
    has_distance.push_back(method.has_distance ? TRUE : FALSE);
    std::string own;
    for (const ParameterInfo& parameter : method.parameters) {
      own += (own.empty() ? "" : ", ") + std::string(parameter.name);
    }
    parameters.push_back(own);
  }
  using cpp11::named_arg;
  return cpp11::writable::list({named_arg("id") = id, named_arg("family") = family, named_arg("summary") = summary,
                                named_arg("reports") = reports, named_arg("cost") = cost,
                                named_arg("parameters") = parameters, named_arg("calibrations") = calibrations,
                                named_arg("has_distance") = has_distance, named_arg("reference") = reference});
}

std::string suggested(const std::string& word, const strings& known) {
  std::vector<std::string> texts;
  for (const cpp11::r_string& text : known) texts.emplace_back(text);
  return suggestion(word, std::vector<std::string_view>(texts.begin(), texts.end()));
}

}  // namespace
}  // namespace kqd

// ---- Entry points ----

// An entry point for .Call: its arguments, and the expression it returns.
#define KQD_ENTRY(name, arguments, value)                 \
  extern "C" SEXP name arguments {                        \
    BEGIN_CPP11                                           \
    return kqd::guarded([&]() -> SEXP { return value; }); \
    END_CPP11                                             \
  }

KQD_ENTRY(kqd_r_test, (SEXP data, SEXP given, SEXP parameters, SEXP keep_null),
          kqd::test_of(cpp11::list(data), cpp11::list(given), cpp11::strings(parameters),
                       cpp11::as_cpp<bool>(keep_null)))
KQD_ENTRY(kqd_r_distance, (SEXP data, SEXP given, SEXP parameters),
          kqd::distance_of(cpp11::list(data), cpp11::list(given), cpp11::strings(parameters)))
KQD_ENTRY(kqd_r_explain, (SEXP data, SEXP given), kqd::explain_of(cpp11::list(data), cpp11::list(given)))
KQD_ENTRY(kqd_r_embedding, (SEXP columns, SEXP given), kqd::embedding_of(cpp11::list(columns), cpp11::list(given)))
KQD_ENTRY(kqd_r_embed, (SEXP pointer, SEXP columns), kqd::embed_of(pointer, cpp11::list(columns)))
KQD_ENTRY(kqd_r_quantiles, (SEXP pointer, SEXP levels), kqd::embedding_quantiles(pointer, cpp11::doubles(levels)))
KQD_ENTRY(kqd_r_embedding_values, (SEXP pointer, SEXP points, SEXP levels, SEXP centered),
          kqd::values_of_embedding(pointer, cpp11::list(points), cpp11::doubles(levels), cpp11::as_cpp<bool>(centered)))
KQD_ENTRY(kqd_r_embedding_products, (SEXP first, SEXP second, SEXP levels, SEXP centered),
          kqd::products_of_embeddings(first, second, cpp11::doubles(levels), cpp11::as_cpp<bool>(centered)))
KQD_ENTRY(kqd_r_embedding_terms, (SEXP pointer), kqd::embedding_terms(pointer))
KQD_ENTRY(kqd_r_embedding_distance, (SEXP first, SEXP second, SEXP power, SEXP method),
          kqd::embedding_distance(first, second, cpp11::as_cpp<double>(power), cpp11::as_cpp<std::string>(method)))
KQD_ENTRY(kqd_r_options, (SEXP call), kqd::option_table(cpp11::as_cpp<std::string>(call)))
KQD_ENTRY(kqd_r_methods, (), kqd::method_table())
KQD_ENTRY(kqd_r_suggestion, (SEXP word, SEXP known),
          cpp11::as_sexp(kqd::suggested(cpp11::as_cpp<std::string>(word), cpp11::strings(known))))
KQD_ENTRY(kqd_r_version, (), cpp11::as_sexp(kqd::kVersion))

#define KQD_CALL(name, count) \
  { #name, reinterpret_cast < DL_FUNC>(&name), count }
static const R_CallMethodDef kCalls[] = {KQD_CALL(kqd_r_test, 4),
                                         KQD_CALL(kqd_r_distance, 3),
                                         KQD_CALL(kqd_r_explain, 2),
                                         KQD_CALL(kqd_r_embedding, 2),
                                         KQD_CALL(kqd_r_embed, 2),
                                         KQD_CALL(kqd_r_quantiles, 2),
                                         KQD_CALL(kqd_r_embedding_values, 4),
                                         KQD_CALL(kqd_r_embedding_products, 4),
                                         KQD_CALL(kqd_r_embedding_terms, 1),
                                         KQD_CALL(kqd_r_embedding_distance, 4),
                                         KQD_CALL(kqd_r_options, 1),
                                         KQD_CALL(kqd_r_methods, 0),
                                         KQD_CALL(kqd_r_suggestion, 2),
                                         KQD_CALL(kqd_r_version, 0),
                                         {nullptr, nullptr, 0}};

extern "C" attribute_visible void R_init_kqd(DllInfo* dll) {
  R_registerRoutines(dll, nullptr, kCalls, nullptr, nullptr);
  R_useDynamicSymbols(dll, FALSE);
  R_forceSymbols(dll, TRUE);
}
