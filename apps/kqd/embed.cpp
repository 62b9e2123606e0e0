#include "embed.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "interrupt.hpp"
#include "objects.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "run_parts.hpp"

namespace kqd::app {
namespace {

struct DirectionFiles {
  std::string reference;
  std::string coefficients;
};

DirectionFiles direction_files(const std::string& name) {
  return {name + "-reference.csv", name + "-coefficients.csv"};
}

void require_direction_files(const Request& request) {
  const std::string& name = request.settings.embed.directions_file;
  if (name.empty()) return;
  const DirectionOptions& directions = request.settings.test.statistic.directions;
  const bool of_pool = directions.family == DirectionFamily::principal || directions.family == DirectionFamily::mixed;
  if (of_pool && directions.whiten) {
    throw Error(ErrorCode::invalid_option,
                {.subject = "write_directions",
                 .value = name,
                 .expected = "directions without --whiten, because those read from files are scaled to norm 1"});
  }
  const DirectionFiles files = direction_files(name);
  for (const std::string& file : {files.reference, files.coefficients}) {
    for (const std::string& input : request.files) {
      if (!is_one_file(file, input)) continue;
      throw Error(ErrorCode::invalid_option,
                  {.subject = "write_directions",
                   .value = name,
                   .expected = fmt::format("another name, {} is an input", printable(input))});
    }
    require_writable(file);
  }
}

// Linear and axis directions are coefficients of the columns: the reference points are then the unit vectors.
void write_directions(const std::string& name, const EmbeddingTable& table, const std::vector<std::string>& columns) {
  if (name.empty()) return;
  DirectionTerms terms = table.directions->terms();
  if (terms.reference.empty()) {
    terms.reference = Matrix<double>(table.dim, table.dim, 0.0);
    for (std::size_t k = 0; k < table.dim; ++k) terms.reference(k, k) = 1.0;
  }
  terms.reference = as_written(terms.reference, table.kernel);
  const DirectionFiles files = direction_files(name);
  const StopRequest until_they_are_whole;
  write_csv(files.reference, {std::move(terms.reference), {}, columns});
  std::vector<std::string> directions;
  for (std::size_t i = 0; i < terms.coefficients.cols(); ++i) directions.push_back(fmt::format("u{}", i + 1));
  write_csv(files.coefficients, {std::move(terms.coefficients), {}, directions});
}

// The suffix of the output file says what it holds, where no flag does.
OutputOptions output_of(const Settings& settings) {
  OutputOptions output = settings.output;
  const std::string suffix = std::filesystem::path(output.file).extension().string();
  if (!output.json && !output.csv && !output.quiet) {
    output.json = suffix == ".json";
    output.csv = suffix == ".csv";
    if (!output.json && !output.csv && !output.markdown && suffix != ".npy" && goes_to_file(output)) {
      throw Error(ErrorCode::invalid_option,
                  {.subject = "output",
                   .value = output.file,
                   .expected = "a file name ending in .csv, .npy or .json, or --csv, --json or --quiet"});
    }
  }
  return output;
}

}  // namespace

int run_embed(const Request& request) {
  const Stopwatch watch;
  const Settings& settings = request.settings;
  require_outputs(request);
  require_direction_files(request);
  MethodOptions options = settings.test.statistic;
  const OutputOptions output = output_of(settings);
  const SampleList data = read_list(request.files, settings, options.kernel);
  const bool as_array = output.file.ends_with(".npy") && !output.json && !output.csv;
  print_warnings(data.notes, output);
  if (output.csv || as_array) print_warnings(data.warnings, output);  // these have no place for them
  add_directions(settings, data.samples.front(), num_rows(data), data.preparation, options);
  const std::vector<SampleView> samples(data.samples.begin(), data.samples.end());
  const std::vector<std::string> names = sample_names(settings, request.files);
  EmbeddingTable table;
  std::optional<DistributionKernel> gram;
  EmbeddingFunctions functions;
  functions.centered = settings.embed.centered;
  if (!settings.embed.points_file.empty()) {
    functions.points = read_points("points", settings.embed.points_file, settings, data.samples.front(), num_rows(data),
                                   data.preparation);
  }
  {
    const ProgressLine progress(!output.quiet);
    table = embedding_table(samples, names, settings.embed.levels, options, &progress.control());
    if (!functions.points.empty()) {
      functions.values =
          embedding_values(samples, table, functions.points, functions.centered, options.threads, &progress.control());
    }
    if (settings.embed.inner_products) {
      functions.inner_products =
          embedding_products(samples, table, functions.centered, options.threads, &progress.control());
    }
    if (settings.embed.gram) {
      Matrix<double> distances(1, 1, 0.0);
      if (samples.size() > 1) {
        MethodOptions squares = options;
        squares.power = 2.0;
        distances = distance_matrix(samples, names, {"ekqd", squares}, &progress.control()).values;
      }
      gram = distribution_kernel(distances, settings.embed.gram_scale);
    }
  }
  put_first(data.warnings, table.warnings);
  write_directions(settings.embed.directions_file, table, data.samples.front().column_names);
  const EmbeddingReport report{.table = table,
                               .gram = gram ? &*gram : nullptr,
                               .functions = &functions,
                               .options = options,
                               .elapsed_s = watch.seconds(),
                               .preparation = data.preparation,
                               .rows = data.rows,
                               .option_names = program_names,
                               .settings = request.given};
  if (as_array) {
    const StopRequest until_it_is_whole;
    write_sample(output.file, embedding_sample(report));
    return 0;
  }
  show(output, {.json = [&] { return embedding_json(report); },
                .csv = [&] { return embedding_csv(report); },
                .markdown = [&] { return embedding_csv(report); },
                .number = [&] { return embedding_numbers(report); },
                .text = [&](const TextStyle& style) { return embedding_text(report, style); }});
  return 0;
}

}  // namespace kqd::app
