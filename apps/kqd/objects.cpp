#include "objects.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fstream>
#include <iterator>
#include <numeric>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

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

// Numbers of objects, in one list for all samples.
std::vector<Sample> numbered(std::span<const std::size_t> sizes) {
  std::vector<Sample> samples;
  std::size_t first = 0;
  for (const std::size_t size : sizes) {
    samples.push_back(numbered_rows(first, size));
    first += size;
  }
  return samples;
}

// The kernel of objects that are written one in each line, and the numbers of each sample's objects.
ObjectList list_of(std::vector<std::vector<std::string>> samples, const std::vector<std::string>& places,
                   const std::string& kernel) {
  std::vector<std::string> lines;
  std::vector<std::size_t> sizes;
  ObjectList list;
  for (std::vector<std::string>& sample : samples) {
    sizes.push_back(sample.size());
    list.data.rows.push_back({.read = sample.size()});
    std::ranges::move(sample, std::back_inserter(lines));
  }
  try {
    list.kernel = object_kernel(kernel, lines);
  } catch (const Error& error) {
    ErrorParts parts = error.parts();
    if (parts.row == 0) throw;
    std::size_t sample = 0;
    while (parts.row > sizes[sample]) parts.row -= sizes[sample++];
    parts.place = fmt::format("{}: object {}", printable(places[sample]), parts.row);
    throw Error(error.code(), parts);
  }
  list.data.samples = numbered(sizes);
  return list;
}

// Files of lines hold an object in each line; those of any other kind are tables.
bool has_lines(const std::string& path) {
  constexpr std::array<std::string_view, 6> kTables = {".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".npy"};
  return !path.starts_with("sql:") &&
         std::ranges::none_of(kTables, [&](std::string_view suffix) { return path.ends_with(suffix); });
}

// A category as a text without commas and blanks, different for different categories.
std::string encoded(std::string_view category) {
  std::string text;
  for (const char c : category) {
    if (c == ',' || c == '%' || std::isspace(static_cast<unsigned char>(c)) != 0) {
      text += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      text += c;
    }
  }
  return text;
}

// A row of a table as one object: its only text, or its categories, one in each column, separated by commas.
std::vector<std::string> objects_of(const std::vector<std::vector<std::string>>& rows, bool of_categories) {
  std::vector<std::string> objects;
  for (const std::vector<std::string>& row : rows) {
    if (!of_categories) {
      objects.push_back(row.front());
      continue;
    }
    std::vector<std::string> categories;
    for (const std::string& text : row) categories.push_back(encoded(text));
    objects.push_back(fmt::format("{}", fmt::join(categories, ",")));
  }
  return objects;
}

ObjectList read_table_objects(const std::vector<std::string>& files, const Settings& settings, SamplePair* pair) {
  TextList texts = read_texts(files, settings.read, settings.group_column);
  const std::string& kernel = settings.object_kernel;
  const bool of_categories = kernel.starts_with("hamming") || kernel.starts_with("aitchison");
  if (texts.columns.size() != 1 && !of_categories) {
    throw Error(ErrorCode::invalid_option,
                {.place = printable(files.front()),
                 .value = fmt::format("{} columns: {}", texts.columns.size(), fmt::join(texts.columns, ", ")),
                 .expected = fmt::format("one column of objects for kernel {}", kernel),
                 .remedy = "Choose it with --columns NAME"});
  }
  std::vector<std::vector<std::string>> samples;
  for (const auto& rows : texts.samples) samples.push_back(objects_of(rows, of_categories));
  const std::vector<std::string> places(samples.size(), files.front());
  ObjectList list = list_of(std::move(samples), files.size() == 1 ? places : files, kernel);
  list.data.notes = texts.notes;
  list.data.preparation = texts.preparation;
  if (pair != nullptr) {
    pair->preparation = texts.preparation;
    pair->notes = texts.notes;
    pair->rows_x = std::move(texts.rows.front());
    pair->rows_y = std::move(texts.rows.back());
  }
  return list;
}

ObjectList read_objects_of_files(const std::vector<std::string>& files, const Settings& settings,
                                 SamplePair* pair = nullptr) {
  const auto num_lines = std::ranges::count_if(files, has_lines);
  if (num_lines == 0) return read_table_objects(files, settings, pair);
  if (num_lines != static_cast<std::ptrdiff_t>(files.size())) {
    throw Error(ErrorCode::invalid_option,
                "objects are in lines of one file and in a table of another, expected one "
                "kind of file");
  }
  if (!settings.group_column.empty()) {
    throw Error(ErrorCode::invalid_option, {.subject = "group_column",
                                            .value = settings.group_column,
                                            .expected = "a table such as a CSV file, or two files of lines"});
  }
  std::vector<std::vector<std::string>> samples;
  for (const std::string& file : files) samples.push_back(lines_of(file));
  return list_of(std::move(samples), files, settings.object_kernel);
}

// The kernel of a Gram matrix whose rows are those of `samples`. `order`: the column of each row.
KernelSpec gram_of(const std::vector<Sample*>& samples, std::span<const std::size_t> order) {
  const std::size_t n = order.size();
  Matrix<double> gram(n, n);
  std::size_t i = 0;
  for (const Sample* sample : samples) {
    if (sample->points.cols() != n) {
      throw Error(ErrorCode::shape_mismatch,
                  fmt::format("kernel precomputed: {} pooled rows with {} columns, expected a square Gram matrix: the "
                              "files hold its rows, one file after the other, with a column for each pooled row",
                              n, sample->points.cols()));
    }
    for (std::size_t r = 0; r < sample->points.rows(); ++r, ++i) {
      const auto row = sample->points.row(r);
      for (std::size_t j = 0; j < n; ++j) gram(i, j) = row[order[j]];
    }
  }
  return gram_kernel(std::move(gram));
}

// Rows of the matrix become their numbers; weights stay.
void number_rows(const std::vector<Sample*>& samples) {
  std::size_t first = 0;
  for (Sample* sample : samples) {
    Sample numbers = numbered_rows(first, sample->points.rows());
    first += sample->points.rows();
    numbers.weights = std::move(sample->weights);
    *sample = std::move(numbers);
  }
}

// A Gram matrix has numbers only, and a column that looks like an id or has one value is one of its columns.
ReadOptions options_of_gram(const Settings& settings) {
  ReadOptions options = settings.read;
  if (options.categorical == Categorical::automatic) options.categorical = Categorical::raise;
  if (options.na == NaPolicy::indicator) options.na = NaPolicy::raise;
  return options;
}

// The rows of a file with the whole Gram matrix, as X and Y.
SamplePair read_whole_gram(const std::string& file, const Settings& settings) {
  SampleList list = read_samples({file}, options_of_gram(settings));
  const Sample& all = list.samples.front();
  const std::size_t n_x = settings.sizes.front();
  const std::size_t n_y = settings.sizes.back();
  if (n_x + n_y != all.points.rows()) {
    throw Error(ErrorCode::invalid_option, {.subject = "sizes",
                                            .value = fmt::format("{},{}", n_x, n_y),
                                            .expected = fmt::format("numbers that add up to the {} rows of {}",
                                                                    all.points.rows(), printable(file))});
  }
  const auto rows_of = [&](std::size_t first, std::size_t count) {
    Sample part{Matrix<double>(all.points.view().row_range(first, count)), {}, all.column_names};
    if (!all.weights.empty()) {
      const auto begin = all.weights.begin() + static_cast<std::ptrdiff_t>(first);
      part.weights.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
    }
    return part;
  };
  SamplePair pair{.x = rows_of(0, n_x), .y = rows_of(n_x, n_y), .notes = std::move(list.notes)};
  pair.preparation = std::move(list.preparation);
  pair.warnings = std::move(list.warnings);
  return pair;
}

ObjectPair read_gram(const std::vector<std::string>& files, const Settings& settings) {
  ObjectPair pair;
  const bool grouped = !settings.group_column.empty();
  if (!settings.sizes.empty()) {
    pair.data = read_whole_gram(files.front(), settings);
  } else {
    pair.data = grouped ? read_grouped(files.front(), settings.group_column, options_of_gram(settings))
                        : read_pair(files.front(), files.back(), options_of_gram(settings));
  }
  const std::vector<Sample*> samples = {&pair.data.x, &pair.data.y};
  // Columns are in the order of the file; with a group column its rows are divided between X and Y.
  std::vector<std::size_t> order;
  const std::size_t n_x = pair.data.x.points.rows();
  const auto& [rows_x, rows_y] = std::tie(pair.data.rows_x, pair.data.rows_y);
  for (std::size_t i = 0; i < n_x; ++i) order.push_back(rows_x.empty() ? i : rows_x[i] - 1);
  for (std::size_t i = 0; i < pair.data.y.points.rows(); ++i) {
    order.push_back(rows_y.empty() || !grouped ? n_x + i : rows_y[i] - 1);
  }
  pair.kernel = gram_of(samples, order);
  number_rows(samples);
  return pair;
}

ObjectList read_gram_list(const std::vector<std::string>& files, const Settings& settings) {
  ObjectList list;
  list.data = read_samples(files, options_of_gram(settings));
  std::vector<Sample*> samples;
  std::size_t n = 0;
  for (Sample& sample : list.data.samples) {
    samples.push_back(&sample);
    n += sample.points.rows();
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  list.kernel = gram_of(samples, order);
  number_rows(samples);
  return list;
}

}  // namespace

ObjectPair read_objects(const std::vector<std::string>& files, const Settings& settings) {
  if (settings.object_kernel == "precomputed") return read_gram(files, settings);
  ObjectPair pair;
  ObjectList list = read_objects_of_files(files, settings, &pair.data);
  pair.data.x = std::move(list.data.samples.front());
  pair.data.y = std::move(list.data.samples.back());
  pair.kernel = std::move(list.kernel);
  return pair;
}

ObjectList read_object_list(const std::vector<std::string>& files, const Settings& settings) {
  return settings.object_kernel == "precomputed" ? read_gram_list(files, settings)
                                                 : read_objects_of_files(files, settings);
}

SampleList read_list(const std::vector<std::string>& files, const Settings& settings, KernelSpec& kernel) {
  if (settings.object_kernel.empty()) return read_samples(files, settings.read);
  ObjectList list = read_object_list(files, settings);
  kernel = std::move(list.kernel);
  return std::move(list.data);
}

std::size_t num_rows(const SampleList& data) {
  std::size_t count = 0;
  for (const Sample& sample : data.samples) count += sample.points.rows();
  return count;
}

void number_objects(const std::string& given, std::size_t num_objects, Matrix<double>& points) {
  for (double& number : points.values()) {
    if (!(number >= 1.0 && number <= static_cast<double>(num_objects)) || number != std::floor(number)) {
      throw Error(
          ErrorCode::invalid_option,
          fmt::format("{}: a number is {}, expected the number of a pooled row, 1..{}", given, number, num_objects));
    }
    number -= 1.0;
  }
}

}  // namespace kqd::app
