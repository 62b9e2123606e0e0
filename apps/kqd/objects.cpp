#include "objects.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>

namespace kqd::app {
namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Error(ErrorCode::unreadable_input, fmt::format("{}: no such file, or it cannot be read", printable(path)));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) lines.push_back(std::move(line));
  }
  if (lines.empty())
    throw Error(ErrorCode::empty_sample, fmt::format("{}: no lines, expected one for each object", printable(path)));
  return lines;
}

ObjectPair read_lines(const std::vector<std::string>& files, const Settings& settings) {
  if (files.size() != 2) {
    throw Error(ErrorCode::invalid_option,
                {.subject = "group_column",
                 .value = settings.group_column,
                 .expected = fmt::format("two files of lines, for kernel {}", settings.object_kernel)});
  }
  std::vector<std::string> lines = lines_of(files.front());
  const std::size_t n_x = lines.size();
  for (std::string& line : lines_of(files.back())) lines.push_back(std::move(line));
  ObjectPair pair;
  try {
    pair.kernel = object_kernel(settings.object_kernel, lines);
  } catch (const Error& error) {
    ErrorParts parts = error.parts();
    if (parts.row == 0) throw;
    const bool in_x = parts.row <= n_x;
    parts.place = fmt::format("{}: object {}", printable(in_x ? files.front() : files.back()),
                              in_x ? parts.row : parts.row - n_x);
    throw Error(error.code(), parts);
  }
  pair.data.x = numbered_rows(0, n_x);
  pair.data.y = numbered_rows(n_x, lines.size() - n_x);
  return pair;
}

ObjectPair read_gram(const std::vector<std::string>& files, const Settings& settings) {
  ObjectPair pair;
  SamplePair read = settings.group_column.empty() ? read_pair(files.front(), files.back(), settings.read)
                                                  : read_grouped(files.front(), settings.group_column, settings.read);
  const std::size_t n_x = read.x.points.rows();
  const std::size_t n = n_x + read.y.points.rows();
  if (read.x.points.cols() != n) {
    throw Error(
        ErrorCode::shape_mismatch,
        fmt::format("kernel precomputed: {} pooled rows with {} columns, expected a square Gram matrix: X holds its "
                    "first rows and Y the others, with a column for each pooled row",
                    n, read.x.points.cols()));
  }
  // Columns are in the order of the file; with a group column its rows are divided between X and Y.
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < n_x; ++i) order.push_back(read.rows_x.empty() ? i : read.rows_x[i] - 1);
  for (std::size_t i = 0; i < n - n_x; ++i) {
    const bool grouped = !settings.group_column.empty();
    order.push_back(read.rows_y.empty() || !grouped ? n_x + i : read.rows_y[i] - 1);
  }
  Matrix<double> gram(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = i < n_x ? read.x.points.row(i) : read.y.points.row(i - n_x);
    for (std::size_t j = 0; j < n; ++j) gram(i, j) = row[order[j]];
  }
  pair.kernel = gram_kernel(std::move(gram));
  pair.data = std::move(read);
  std::vector<double> weights_x = std::move(pair.data.x.weights);
  std::vector<double> weights_y = std::move(pair.data.y.weights);
  pair.data.x = numbered_rows(0, n_x);
  pair.data.y = numbered_rows(n_x, n - n_x);
  pair.data.x.weights = std::move(weights_x);
  pair.data.y.weights = std::move(weights_y);
  return pair;
}

}  // namespace

ObjectPair read_objects(const std::vector<std::string>& files, const Settings& settings) {
  return settings.object_kernel == "precomputed" ? read_gram(files, settings) : read_lines(files, settings);
}

void number_reference_rows(std::size_t num_objects, Matrix<double>& points) {
  for (double& number : points.values()) {
    if (!(number >= 1.0 && number <= static_cast<double>(num_objects)) || number != std::floor(number)) {
      throw Error(
          ErrorCode::invalid_option,
          fmt::format("a reference point is {}, expected the number of a pooled row, 1..{}", number, num_objects));
    }
    number -= 1.0;
  }
}

}  // namespace kqd::app
