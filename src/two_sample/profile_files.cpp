#include "kqd/two_sample/profile_files.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
#include <numeric>
#include <span>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/warning.hpp"
#include "io/block_reader.hpp"
#include "io/row_files.hpp"
#include "kqd/io/files.hpp"
#include "kqd/io/printable.hpp"
#include "profile/profile_spec.hpp"
#include "profile/row_counter.hpp"
#include "profile/row_groups.hpp"
#include "profile/row_places.hpp"
#include "two_sample/make_spec.hpp"

namespace kqd {
namespace {

// The files of one sample as parts of it.
struct FileSample {
  RowFiles files;
  SampleSources sources;
  std::vector<std::uint64_t> first_rows;  // of each file, in the sample
  std::vector<std::string> dropped;       // columns of text
  std::uint64_t num_omitted = 0;
  std::vector<std::uint32_t> ranks = {};  // with blocks, of each row by the column
};

// Paths as source_names() takes them.
std::vector<std::string> absolute_paths(const std::vector<std::string>& files) {
  std::vector<std::string> paths;
  for (const std::string& file : files) {
    paths.push_back(std::filesystem::absolute(file).lexically_normal().generic_string());
  }
  return paths;
}

FileSample as_sample(RowFiles files, std::span<const std::string> names, ThreadCount threads) {
  files.count_rows(threads);
  std::vector<RowSource> list;
  for (std::size_t k = 0; k < files.files().size(); ++k) {
    const RowFiles::File& file = files.files()[k];
    list.push_back({names[k], file.num_bytes, file.num_rows.value()});
  }
  FileSample sample{std::move(files), SampleSources(std::move(list)), {}, {}, 0, {}};
  for (const std::string& name : names) sample.first_rows.push_back(sample.sources.first_row(name));
  return sample;
}

std::vector<FileSample> open_samples(const std::vector<std::vector<std::string>>& files,
                                     const ExpectedColumns& expected, const ReadOptions& read, ThreadCount threads,
                                     Warnings& notes) {
  std::vector<std::string> all;
  for (const auto& some : files) {
    if (some.empty()) fail(ErrorCode::invalid_option, "a sample has no files, expected at least one");
    all.insert(all.end(), some.begin(), some.end());
  }
  // By the folder of all samples, so that a file of one sample is never taken for a file of the other.
  const std::vector<std::string> names = source_names(absolute_paths(all));
  std::vector<FileSample> samples;
  std::size_t first = 0;
  for (RowFiles& opened : open_row_files(files, expected, read, notes)) {
    const std::size_t count = opened.files().size();
    samples.push_back(as_sample(std::move(opened), std::span(names).subspan(first, count), threads));
    first += count;
  }
  return samples;
}

// The ranks of all rows by the column of their order: of doubles, as code_units() has them.
void rank_rows(FileSample& sample, const GroupRule& rule, ThreadCount threads) {
  constexpr auto kMissing = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());
  std::vector<std::uint64_t> values(sample.sources.extent().num_rows, kMissing);
  RowFiles order = sample.files;
  order.code_units([&](std::string_view text) { return std::bit_cast<std::uint64_t>(order_of(rule, text)); });
  order.keep_columns(std::array<std::size_t, 1>{0});
  std::vector<bool> marks(1);  // a text in this column is the business of later passes
  order.read(threads, &marks, [&](const FileRows& block) {
    std::ranges::copy(block.units,
                      values.begin() + static_cast<std::ptrdiff_t>(sample.first_rows[block.file] + block.first_row));
  });
  std::vector<std::uint32_t> rows(values.size());
  std::iota(rows.begin(), rows.end(), std::uint32_t{0});
  std::ranges::sort(rows, {}, [&](std::uint32_t row) { return std::pair(std::bit_cast<double>(values[row]), row); });
  sample.ranks.resize(rows.size());
  for (std::size_t rank = 0; rank < rows.size(); ++rank) sample.ranks[rows[rank]] = static_cast<std::uint32_t>(rank);
}

// Prepares RowBlock::keys, if rows need any.
void prepare_keys(FileSample& sample, const GroupRule& rule, std::size_t most, ThreadCount threads) {
  if (rule.assignment == GroupAssignment::key) sample.files.code_units(key_of);
  if (rule.assignment != GroupAssignment::blocks) return;
  const std::uint64_t num_rows = sample.sources.extent().num_rows;
  constexpr std::size_t kBytesOfRow = 16;  // while rows are sorted
  if (num_rows > kMostRowsOfSample || (most > 0 && num_rows * kBytesOfRow > most)) {
    fail(ErrorCode::resource_limit, "the order of {} rows takes {} MB of memory, more than the limit", num_rows,
         num_rows * kBytesOfRow / 1'000'000 + 1);
  }
  rank_rows(sample, rule, threads);
}

// A held-out row by its place and number, by which held-out rows are sorted.
struct PilotRow {
  std::uint64_t place = 0;
  std::uint64_t number = 0;
  std::vector<double> values = {};
};

// The held-out rows of a sample, and in `marks` which of its columns are text.
Matrix<double> draw_pilot(const FileSample& sample, const ProfileSpec& spec, ThreadCount threads,
                          std::vector<bool>& marks) {
  const RowPlaces place(spec, sample.sources.extent());
  std::vector<PilotRow> drawn;
  std::mutex mutex;
  const bool by_key = spec.rule.assignment == GroupAssignment::key;
  sample.files.read(threads, &marks, [&](const FileRows& block) {
    const std::uint64_t first = sample.first_rows[block.file] + block.first_row;
    std::vector<std::uint64_t> places(block.rows.rows());
    if (!by_key) place.random_places(first, places);
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (by_key && !block.missing.empty() && block.missing[i] != 0) continue;  // may have no key
      if (by_key) places[i] = place(first + i, block.units[i]);
      if (places[i] >= place.num_held_out()) continue;
      const auto row = block.rows.row(i);
      const std::scoped_lock lock(mutex);
      drawn.push_back({places[i], first + i, {row.begin(), row.end()}});
    }
  });
  std::ranges::sort(drawn, {}, [](const PilotRow& row) { return std::pair(row.place, row.number); });
  Matrix<double> pilot(drawn.size(), sample.files.num_columns());
  for (std::size_t i = 0; i < drawn.size(); ++i) std::ranges::copy(drawn[i].values, pilot.row(i).begin());
  return pilot;
}

// The columns at some places of rows without missing values, of all pilots one after another.
Matrix<double> complete_rows(std::span<const Matrix<double>> pilots, std::span<const std::size_t> columns) {
  std::vector<double> cells;
  std::size_t count = 0;
  for (const Matrix<double>& pilot : pilots) {
    for (std::size_t i = 0; i < pilot.rows(); ++i) {
      const auto row = pilot.row(i);
      if (std::ranges::any_of(columns, [&](std::size_t k) { return std::isnan(row[k]); })) continue;
      for (const std::size_t k : columns) cells.push_back(row[k]);
      ++count;
    }
  }
  Matrix<double> rows(count, columns.size());
  std::ranges::copy(cells, rows.values().begin());
  return rows;
}

// Columns that are not text in any sample; the others are dropped.
std::vector<std::size_t> keep_numbers(std::vector<FileSample>& samples, const std::vector<bool>& is_text) {
  std::vector<std::size_t> kept;
  std::vector<std::string> dropped;
  const std::vector<std::string> names = samples.front().files.column_names();
  for (std::size_t k = 0; k < is_text.size(); ++k) {
    if (!is_text[k]) {
      kept.push_back(k);
    } else {
      dropped.push_back(names.empty() ? std::to_string(k + 1) : names[k]);
    }
  }
  if (kept.empty()) {
    fail_at(ErrorCode::empty_sample, printable(samples.front().files.files().front().path),
            "all columns hold text, so " KQD_OPTION("categorical=drop") " leaves none", "at least one of numbers");
  }
  for (FileSample& sample : samples) {
    if (!dropped.empty()) sample.files.keep_columns(kept);
    sample.dropped = dropped;
  }
  return kept;
}

// A spec from held-out rows of all samples.
std::shared_ptr<const ProfileSpec> spec_of(std::vector<FileSample>& samples, ProfileOptions options,
                                           const RunControl* control) {
  const ProgressScope progress(control, "choosing directions");
  ProfileSpec spec = begin_spec(options);
  for (const FileSample& sample : samples) hold_out(spec, sample.sources.extent());
  std::vector<bool> is_text(samples.front().files.num_columns(), false);
  std::vector<Matrix<double>> pilots;
  for (const FileSample& sample : samples) {
    pilots.push_back(draw_pilot(sample, spec, options.statistic.threads, is_text));
  }
  const std::vector<std::size_t> kept = keep_numbers(samples, is_text);
  const Matrix<double> pilot = complete_rows(pilots, kept);
  pilots.clear();
  return finish_spec(std::move(spec), pilot, samples.front().files.column_names(), options);
}

// Rows without those that have missing values.
struct CompleteRows {
  Matrix<double> rows;
  std::vector<std::uint64_t> numbers;
  std::vector<std::uint64_t> keys;
};

CompleteRows complete_rows(const FileRows& block, std::uint64_t first, std::span<const std::uint64_t> keys) {
  CompleteRows complete;
  for (std::size_t i = 0; i < block.missing.size(); ++i) {
    if (block.missing[i] != 0) continue;
    complete.numbers.push_back(first + i);
    if (!keys.empty()) complete.keys.push_back(keys[i]);
  }
  complete.rows = Matrix<double>(complete.numbers.size(), block.rows.cols());
  for (std::size_t k = 0; k < complete.numbers.size(); ++k) {
    std::ranges::copy(block.rows.row(complete.numbers[k] - first), complete.rows.row(k).begin());
  }
  return complete;
}

// Memory of the counts and sums of one sample.
std::size_t bytes_of_profile(const ProfileSpec& spec, const SampleExtent& sample) {
  const std::size_t groups = groups_of_sample(spec, sample) + 1;
  std::size_t bytes = 0;
  for (const ProfiledFunctions& functions : spec.functions) {
    for (const LineGrid& grid : functions.lines) bytes += groups * grid.num_bins() * sizeof(std::uint32_t);
    if (functions.sums) bytes += groups * functions.set.count() * sizeof(std::int64_t);
  }
  return bytes;
}

// Profiles must fit, with the blocks that are read and counted at a time, and the copies that a test of two takes.
void require_memory(const ProfileSpec& spec, std::span<const FileSample> samples, std::size_t most,
                    ThreadCount threads) {
  constexpr std::size_t kBytesOfThread = std::size_t{16} << 20U;  // a block, in two orders, and values of its rows
  constexpr std::size_t kMegabyte = 1'000'000;
  if (most == 0) return;
  std::size_t bytes = 0;
  for (const FileSample& sample : samples) bytes += samples.size() * bytes_of_profile(spec, sample.sources.extent());
  const bool many_threads = resolve(threads) > 1;
  bytes += resolve(threads) * kBytesOfThread;
  if (bytes <= most) return;
  std::string less;
  if (many_threads) less += "; to take less: " KQD_OPTION("threads=1");
  if (!spec.statistics.empty()) less += many_threads ? " or " : "; to take less: ";
  if (!spec.statistics.empty()) less += KQD_OPTION("method=ekqd");
  fail(ErrorCode::resource_limit,
       "files that are read in blocks take {} MB of memory, more than the limit ({} MB). To allow more: " KQD_OPTION(
           "max_memory") "{}",
       (bytes + kMegabyte - 1) / kMegabyte, most / kMegabyte, less);
}

// RowBlock::keys of a block.
std::vector<std::uint64_t> keys_of(const FileSample& sample, const FileRows& block, std::uint64_t first) {
  if (sample.ranks.empty()) return {block.units.begin(), block.units.end()};
  const auto ranks = std::span(sample.ranks).subspan(first, block.rows.rows());
  return {ranks.begin(), ranks.end()};
}

FilesProfile count(Profile profile, FileSample& sample, const Warnings& notes, const ReadOptions& read,
                   ThreadCount threads, const RunControl* control) {
  const ProgressScope progress(control, "counting rows");
  {
    RowCounter counter = ProfileAccess::counter(profile, sample.sources.extent());
    sample.files.read(threads, nullptr, [&](const FileRows& block) {
      const std::uint64_t first = sample.first_rows[block.file] + block.first_row;
      const std::vector<std::uint64_t> keys = keys_of(sample, block, first);
      if (block.missing.empty()) return counter.count({.rows = block.rows, .first_row = first, .keys = keys});
      const CompleteRows complete = complete_rows(block, first, keys);
      counter.count({.rows = complete.rows,
                     .first_row = first,
                     .num_read = block.rows.rows(),
                     .numbers = complete.numbers,
                     .keys = complete.keys});
    });
  }
  profile.name_sources(sample.sources);
  const std::uint64_t num_rows = sample.sources.extent().num_rows;
  sample.num_omitted = num_rows - profile.num_counted();
  FilesProfile result{std::move(profile), {}, notes};
  result.preparation.categorical = without_inference(read).categorical;
  result.preparation.na = without_inference(read).na;
  result.preparation.dropped_texts = sample.dropped;
  result.preparation.x.read = num_rows;
  result.preparation.x.omitted = sample.num_omitted;
  if (sample.num_omitted > 0) {
    const std::string& path = sample.files.files().front().path;
    const std::size_t others = sample.files.files().size() - 1;
    const std::string name = others == 0 ? printable(path) : fmt::format("{} and {} more", printable(path), others);
    warn(result.notes, WarningId::rows_omitted, name, sample.num_omitted, num_rows);
  }
  return result;
}

// Bytes of a row of a text, by the first of them.
double bytes_of_line(const std::string& path) {
  std::array<char, std::size_t{1} << 16U> begin{};
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), begin.size());
  const auto size = static_cast<double>(file.gcount());
  return size / std::max(1.0, static_cast<double>(std::count(begin.begin(), begin.begin() + file.gcount(), '\n')));
}

// About the memory of a test of the rows of a file, the rows included.
double bytes_in_memory(const std::string& path, const ReadOptions& read, double most) {
  constexpr double kBytesOfTest = 54.0;        // of a row, in orders, groups and values
  constexpr double kMostCompression = 1000.0;  // of the file, at which the rows are sure to fit
  constexpr double kUsualCompression = 3.0;
  std::error_code error;
  const auto size = static_cast<double>(std::filesystem::file_size(path, error));
  if (error || size * kMostCompression <= most) return 0.0;
  try {
    const auto reader = open_in_blocks(path, reader_options_of(without_inference(read)));
    const auto columns = static_cast<double>(reader->table().columns.size());
    const double of_text =
        path.ends_with(".gz") ? kUsualCompression * size / (8.0 * columns) : size / bytes_of_line(path);
    const auto rows = reader->num_rows() ? static_cast<double>(*reader->num_rows()) : of_text;
    return rows * (8.0 * columns + kBytesOfTest);
  } catch (const Error&) {
    return 0.0;  // reading it says what is wrong
  }
}

ReadOptions with_units(ReadOptions read, const GroupRule& rule) {
  read.unit_column = rule.column;
  return read;
}

ExpectedColumns columns_of(const Profile& profile) {
  return {"the profile", profile.num_columns(), profile.column_names()};
}

}  // namespace

FilesProfile make_profile_of_files(const std::vector<std::string>& files, const ReadOptions& read,
                                   const ProfileOptions& options, const RunControl* control) {
  const StopScope stoppable(control);
  Warnings notes;
  const ThreadCount threads = options.statistic.threads;
  std::vector<FileSample> samples = open_samples({files}, {}, with_units(read, options.groups), threads, notes);
  prepare_keys(samples.front(), options.groups, read.max_memory, threads);
  Profile profile(spec_of(samples, options, control));
  require_memory(*profile.spec(), samples, read.max_memory, threads);
  return count(std::move(profile), samples.front(), notes, read, threads, control);
}

FilesProfile make_profile_of_files(const std::vector<std::string>& files, const ReadOptions& read, const Profile& like,
                                   ThreadCount threads, const RunControl* control) {
  const StopScope stoppable(control);
  Warnings notes;
  const ReadOptions own = with_units(read, like.group_rule());
  std::vector<FileSample> samples = open_samples({files}, columns_of(like), own, threads, notes);
  prepare_keys(samples.front(), like.group_rule(), read.max_memory, threads);
  require_memory(*like.spec(), samples, read.max_memory, threads);
  return count(like.without_rows(), samples.front(), notes, read, threads, control);
}

std::optional<Warning> files_in_blocks(const std::vector<std::string>& files, const ReadOptions& read) {
  constexpr double kMostOfMemory = 0.7;
  constexpr double kFewestBytes = 64e6;
  constexpr double kMegabyte = 1e6;
  const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  const double most =
      read.max_memory > 0 ? std::max(kFewestBytes, static_cast<double>(read.max_memory)) : kMostOfMemory * memory;
  double bytes = 0.0;
  for (const std::string& file : files) bytes += bytes_in_memory(file, read, most);
  if (!(bytes > most)) return std::nullopt;
  return make_warning(WarningId::files_in_blocks, static_cast<std::int64_t>(std::ceil(bytes / kMegabyte)),
                      static_cast<std::int64_t>(most / kMegabyte));
}

FilesTest two_sample_test_of_files(const std::vector<std::string>& files_x, const std::vector<std::string>& files_y,
                                   const ReadOptions& read, const TwoSampleOptions& options,
                                   const std::vector<std::string>& batches, const RunControl* control) {
  const StopScope stoppable(control);
  std::vector<std::string> all = files_x;
  all.insert(all.end(), files_y.begin(), files_y.end());
  static_cast<void>(expand_files(all));  // refuses a file that is in both
  Warnings notes;
  const ThreadCount threads = options.statistic.threads;
  const ReadOptions own = with_units(read, options.groups);
  std::vector<FileSample> samples = open_samples({files_x, files_y}, {}, own, threads, notes);
  for (FileSample& sample : samples) prepare_keys(sample, options.groups, read.max_memory, threads);
  ProfileOptions profile_options;
  profile_options.statistic = options.statistic;
  profile_options.method = options.method;
  profile_options.own_scales = options.own_scales;
  profile_options.groups = options.groups;
  profile_options.rows_per_group =
      rows_per_group_of(samples.front().sources.extent(), samples.back().sources.extent(), options.groups.assignment);
  const std::shared_ptr<const ProfileSpec> spec = spec_of(samples, profile_options, control);
  require_memory(*spec, samples, read.max_memory, threads);
  FilesProfile of_x = count(Profile(spec), samples.front(), notes, read, threads, control);
  FilesProfile of_y = count(Profile(spec), samples.back(), {}, read, threads, control);
  TwoSampleOptions judged = options;
  for (const std::string& batch : batches) {
    const FilesProfile counted = make_profile_of_files({batch}, read, of_x.profile, threads, control);
    const DifferenceSizeOptions size{.seed = options.statistic.seed, .threads = threads};
    judged.margin.batch_effects.push_back(difference_size(of_x.profile, counted.profile, size).effect);
  }
  TwoSampleResult result = two_sample_test(of_x.profile, of_y.profile, judged, control);
  return {std::move(result), std::move(of_x), std::move(of_y)};
}

}  // namespace kqd
