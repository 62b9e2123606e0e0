#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "kqd/kqd.hpp"
#include "run.hpp"

namespace kqd::app {

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Prints warnings of reading, unless the user wants the result only.
void print_warnings(const Warnings& warnings, const OutputOptions& output);

/// The table of --weighting FILE: a level and a density in each row.
void add_weighting(const std::string& file, MethodOptions& options);

/// Reads the files of --reference, --coefficients and --weighting. Columns of points are matched by name where the file
/// and the data have names; with a kernel of objects they are numbers of pooled rows.
void add_directions(const Settings& settings, const Sample& data, std::size_t num_pooled,
                    const Preparation& preparation, MethodOptions& options);

/// Points of the file of an option, in the columns of the data, or numbers of pooled objects.
[[nodiscard]] Matrix<double> read_points(const std::string& option, const std::string& file, const Settings& settings,
                                         const Sample& data, std::size_t num_pooled, const Preparation& preparation);

/// Throws for a kernel of objects, which only some commands have.
void refuse_objects(const Settings& settings, const std::string& command);

/// Puts warnings of reading in front of those of a result.
void put_first(const Warnings& of_reading, Warnings& warnings);

/// A result in every form.
struct Forms {
  std::function<std::string()> json;
  std::function<std::string()> csv;
  std::function<std::string()> markdown;
  std::function<std::string()> number;  // --quiet
  std::function<std::string(const TextStyle& style)> text;
};

[[nodiscard]] bool goes_to_file(const OutputOptions& output);
void show(const OutputOptions& output, const Forms& forms);

/// Checks before the work, which may take long, that outputs can be written and overwrite no input.
void require_outputs(const Request& request);

/// The names that the user gives to `count` samples; none when there are none. Throws Error{invalid_option} for others.
[[nodiscard]] std::vector<std::string> given_names(const Settings& settings, std::size_t count);

/// Names of all data sets, given or of their files; different ones, also when a file is given twice.
[[nodiscard]] std::vector<std::string> sample_names(const Settings& settings, const std::vector<std::string>& files);

}  // namespace kqd::app
