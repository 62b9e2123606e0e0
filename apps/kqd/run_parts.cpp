#include "run_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "interrupt.hpp"
#include "objects.hpp"
#include "output.hpp"
#include "terminal.hpp"

namespace kqd::app {
namespace {

// Points of a file are in the units of the data, so they do not fit data from which something was subtracted.
void require_same_units(const Preparation& preparation, const std::string& given) {
  if (preparation.offsets.empty()) return;
  const OffsetColumn& column = preparation.offsets.front();
  throw Error(ErrorCode::invalid_option,
              fmt::format("{} is in other units than the data: {} was subtracted from column {}, "
                          "whose whole numbers are beyond 2^53; --drop excludes the column",
                          given, column.offset, printable(column.name)));
}

// The points with their columns in the order of `names`, which are those of the data.
Matrix<double> in_order_of(const std::vector<std::string>& names, const Sample& points, const std::string& given) {
  const auto missing_from = [](const std::vector<std::string>& there, const std::vector<std::string>& wanted) {
    std::vector<std::string> missing;
    for (const std::string& name : wanted) {
      if (std::ranges::find(there, name) == there.end()) missing.push_back(fmt::format("\"{}\"", printable(name)));
    }
    return missing;
  };
  const auto only_data = missing_from(points.column_names, names);
  const auto only_points = missing_from(names, points.column_names);
  if (!only_data.empty() || !only_points.empty()) {
    const auto has = [](std::string_view owner, const std::vector<std::string>& only) {
      return only.empty() ? "" : fmt::format("; only {} has {}", owner, fmt::join(only, ", "));
    };
    throw Error(ErrorCode::shape_mismatch,
                fmt::format("{} and the data have different columns{}{}; make the names agree", given,
                            has("the data", only_data), has("the file", only_points)));
  }
  Matrix<double> ordered(points.points.rows(), names.size());
  for (std::size_t j = 0; j < names.size(); ++j) {
    const auto from =
        static_cast<std::size_t>(std::ranges::find(points.column_names, names[j]) - points.column_names.begin());
    for (std::size_t i = 0; i < ordered.rows(); ++i) ordered(i, j) = points.points(i, from);
  }
  return ordered;
}

void require_output(const std::string& option, const std::string& output, const std::vector<std::string>& inputs) {
  if (output.empty()) return;
  for (const std::string& input : inputs) {
    const auto key = input.find(".npz:");  // of an array in an archive
    const std::string file = key == std::string::npos ? input : input.substr(0, key + 4);
    std::error_code not_there;
    if (!std::filesystem::equivalent(output, file, not_there)) continue;
    throw Error(ErrorCode::invalid_option,
                {.subject = option,
                 .value = output,
                 .expected = fmt::format("another file than the input {}", printable(input))});
  }
  require_writable(output);
}

bool names_a_page(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  return ending == ".html" || ending == ".htm";
}

// The coefficients of --coefficients FILE.
void add_coefficients(const std::string& file, DirectionOptions& options) {
  if (file.empty()) return;
  Sample read = read_sample(file);
  options.coefficients = std::move(read.points);
}

}  // namespace

void print_warnings(const Warnings& warnings, const OutputOptions& output) {
  if (output.quiet) return;
  for (const Warning& warning : warnings) note(sentence(warning));
}

void add_weighting(const std::string& file, MethodOptions& options) {
  if (file.empty()) return;
  const Sample read = read_sample(file);
  if (read.points.cols() != 2) {
    throw Error(ErrorCode::shape_mismatch,
                fmt::format("{}: {} columns, expected two: level and density", printable(file), read.points.cols()));
  }
  std::vector<LevelDensity> densities;
  for (std::size_t k = 0; k < read.points.rows(); ++k) densities.push_back({read.points(k, 0), read.points(k, 1)});
  options.weighting = LevelWeights::table(densities);
}

Matrix<double> read_points(const std::string& option, const std::string& file, const Settings& settings,
                           const Sample& data, std::size_t num_pooled, const Preparation& preparation) {
  Sample points = read_sample(file);
  const std::string given = program_names(option, file);
  if (!settings.object_kernel.empty()) {
    number_objects(given, num_pooled, points.points);
    return std::move(points.points);
  }
  require_same_units(preparation, given);
  const bool by_name = !data.column_names.empty() && !points.column_names.empty();
  return by_name ? in_order_of(data.column_names, points, given) : std::move(points.points);
}

void add_directions(const Settings& settings, const Sample& data, std::size_t num_pooled,
                    const Preparation& preparation, MethodOptions& options) {
  add_coefficients(settings.coefficients_file, options.directions);
  add_weighting(settings.weighting_file, options);
  const std::string& file = settings.reference_file;
  if (file.empty()) return;
  options.directions.reference_points = read_points("reference", file, settings, data, num_pooled, preparation);
}

void refuse_objects(const Settings& settings, const std::string& command) {
  if (settings.object_kernel.empty()) return;
  throw Error(
      ErrorCode::invalid_option,
      {.subject = "kernel",
       .value = settings.object_kernel,
       .expected = fmt::format(
           "a kernel of columns, for kqd {}; test, distance, explain, matrix and embed take objects", command)});
}

void put_first(const Warnings& of_reading, Warnings& warnings) {
  warnings.insert(warnings.begin(), of_reading.begin(), of_reading.end());
}

bool goes_to_file(const OutputOptions& output) {
  return !output.file.empty() && output.file != "-";
}

void show(const OutputOptions& output, const Forms& forms) {
  const TextStyle style = goes_to_file(output) ? TextStyle{} : screen_style();
  const std::string result = output.json       ? forms.json()
                             : output.csv      ? forms.csv()
                             : output.markdown ? forms.markdown()
                             : output.quiet    ? forms.number()
                                               : forms.text(style);
  if (!goes_to_file(output)) return print(result);
  const StopRequest until_it_is_whole;
  write_text(output.file, result);
}

void require_outputs(const Request& request) {
  const OutputOptions& output = request.settings.output;
  std::vector<std::string> inputs = request.files;
  inputs.insert(inputs.end(), {request.settings.reference_file, request.settings.coefficients_file,
                               request.settings.weighting_file, request.settings.embed.points_file, output.config});
  {
    const StopRequest until_test_files_are_removed;
    if (goes_to_file(output)) require_output("output", output.file, inputs);
    require_output("report", output.report, inputs);
    require_output("rows_csv", output.rows_csv, inputs);
  }
  if (StopRequest::flag()) throw Error(ErrorCode::interrupted, "stopped on request");
  if (output.report.empty()) return;
  // A page over data that were meant to be read is a mistake in the order of the arguments.
  if (!names_a_page(output.report)) {
    throw Error(ErrorCode::invalid_option,
                {.subject = "report", .value = output.report, .expected = "a file name ending in .html"});
  }
  if (is_one_file(output.report, output.file)) {
    throw Error(ErrorCode::invalid_option,
                {.subject = "report", .value = output.report, .expected = "another file than that of --output"});
  }
}

std::vector<std::string> given_names(const Settings& settings, std::size_t count) {
  std::vector<std::string> names;
  std::string_view rest = settings.names;
  while (!rest.empty()) {
    const auto comma = std::min(rest.find(','), rest.size());
    names.push_back(printable(rest.substr(0, comma)));
    rest = rest.substr(std::min(comma + 1, rest.size()));
  }
  const auto is_bad = [](const std::string& name) { return name.find_first_not_of(' ') == std::string::npos; };
  if (names.empty() || (names.size() == count && std::ranges::none_of(names, is_bad))) return names;
  throw Error(ErrorCode::invalid_option,
              {.subject = "names",
               .value = settings.names,
               .expected = fmt::format("{} names with commas between them, one for each sample", count)});
}

std::vector<std::string> sample_names(const Settings& settings, const std::vector<std::string>& files) {
  std::vector<std::string> names = given_names(settings, files.size());
  if (!names.empty()) return names;
  for (const std::string& file : files) {
    std::string name = file;
    for (int copy = 2; std::ranges::find(names, name) != names.end(); ++copy) name = fmt::format("{} ({})", file, copy);
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace kqd::app
