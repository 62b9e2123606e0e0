#include "io/readers.hpp"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/fail.hpp"
#include "io/block_reader.hpp"
#include "io/byte_source.hpp"
#include "io/csv.hpp"
#include "io/duckdb_reader.hpp"
#include "io/gzip_source.hpp"
#include "io/idx.hpp"
#include "io/npy.hpp"
#include "io/npz.hpp"
#include "io/text.hpp"
#include "kqd/io/read.hpp"

namespace kqd {
namespace {

constexpr std::string_view kCompressed = ".gz";

Table read_csv_text(ByteSource& source, const ReaderOptions& options) {
  return read_csv(source, options.csv, options.rules, options.limits);
}

ReaderOptions with_tabs(ReaderOptions options) {
  if (options.csv.delimiter == 0) options.csv.delimiter = '\t';
  return options;
}

Table read_tsv_text(ByteSource& source, const ReaderOptions& options) {
  return read_csv_text(source, with_tabs(options));
}

Table read_npy_array(ByteSource& source, const ReaderOptions& options) {
  return read_npy(source, options.rules);
}

Table read_idx_array(ByteSource& source, const ReaderOptions& options) {
  return read_idx(source, options.rules);
}

// A CSV text whose rows come in blocks.
class CsvBlocks final : public BlockReader {
 public:
  CsvBlocks(std::unique_ptr<ByteSource> source, const ReaderOptions& options)
      : source_(std::move(source)), reader_(*source_, options.csv, options.rules, {}) {
    for (Column& column : table().columns) column.keeps_spellings = false;  // for texts, which are not read here
  }

  [[nodiscard]] Table& table() override { return reader_.table(); }
  [[nodiscard]] std::size_t count_rows() override { return reader_.count_rows(); }

  bool next(std::size_t most_rows) override {
    // The first row was read already where it holds data.
    if (std::exchange(started_, true)) table().start_next_block();
    static_cast<void>(reader_.read(most_rows));
    return table().cells.rows() > 0;
  }

 private:
  std::unique_ptr<ByteSource> source_;
  CsvReader reader_;
  bool started_ = false;
};

std::unique_ptr<BlockReader> read_csv_blocks(std::unique_ptr<ByteSource> source, const ReaderOptions& options) {
  return std::make_unique<CsvBlocks>(std::move(source), options);
}

std::unique_ptr<BlockReader> read_tsv_blocks(std::unique_ptr<ByteSource> source, const ReaderOptions& options) {
  return read_csv_blocks(std::move(source), with_tabs(options));
}

std::unique_ptr<BlockReader> read_npy_blocks(std::unique_ptr<ByteSource> source, const ReaderOptions& options) {
  return read_npy_in_blocks(std::move(source), options.rules);
}

bool is_npy(std::string_view path) {
  return has_suffix(path, ".npy");
}

bool is_csv(std::string_view path) {
  return has_suffix(path, ".csv");
}

bool is_tsv(std::string_view path) {
  return has_suffix(path, ".tsv");
}

// A format that is read in one pass, so that it may be compressed and come through a pipe.
struct StreamFormat {
  std::string_view suffix;
  bool (*is_named_so)(std::string_view path);
  Table (*read)(ByteSource& source, const ReaderOptions& options);
  /// Null: only as a whole.
  std::unique_ptr<BlockReader> (*read_in_blocks)(std::unique_ptr<ByteSource> source, const ReaderOptions& options);
};

// In the order in which messages list them.
constexpr std::array<StreamFormat, 4> kStreamFormats = {{
    {".csv", is_csv, read_csv_text, read_csv_blocks},
    {".tsv", is_tsv, read_tsv_text, read_tsv_blocks},
    {".npy", is_npy, read_npy_array, read_npy_blocks},
    {".idx", is_named_like_idx, read_idx_array, nullptr},
}};

// The first bytes of other kinds of files, to recognise a file with a wrong suffix. They are longer than the name of a
// column is likely to match.
struct Magic {
  std::string_view bytes;
  std::string_view what;
  std::string_view advice;
};

constexpr std::array<Magic, 8> kMagics = {{
    {kGzipMagic, "compressed by gzip", "Give its name the suffix .gz"},
    {kNpyMagic, "an NPY file", "Give its name the suffix .npy"},
    {"PK\x03\x04", "a zip archive", "Name it .npz if it holds arrays; save a spreadsheet as CSV"},
    {"PAR1\x15", "a Parquet file", "Give its name the suffix .parquet"},
    {"\x89HDF", "an HDF5 file", "Save its table as CSV, NPY or Parquet"},
    {"\xd0\xcf\x11\xe0", "a spreadsheet of an office program", "Save it as CSV"},
    {"SQLite f", "an SQLite database", "Save its table as CSV, NPY or Parquet"},
    {"%PDF-", "a PDF document", "Save its table as CSV"},
}};

[[noreturn]] void fail_unknown_format(const std::string& path) {
  if (path.empty()) fail(ErrorCode::unreadable_input, "the name of a file is empty, expected a path");
  const std::string suffix = std::filesystem::path(path).extension().string();
  const std::string found =
      suffix.empty() ? "has no suffix that names its format" : "has the unknown suffix " + in_quotes(suffix);
  const std::vector<std::string> suffixes = known_suffixes();
  const auto streams = static_cast<std::ptrdiff_t>(kStreamFormats.size());
  fail_at(ErrorCode::unreadable_input, printable(path), found,
          fmt::format("one of {} (each may be followed by {}), {}",
                      fmt::join(suffixes.begin(), suffixes.begin() + streams, ", "), kCompressed,
                      fmt::join(suffixes.begin() + streams, suffixes.end(), ", ")));
}

void refuse_other_format(const PeekedSource& source, std::string_view own_magic) {
  for (const Magic& magic : kMagics) {
    if (magic.bytes == own_magic || !source.beginning().starts_with(magic.bytes)) continue;
    fail_at(ErrorCode::unreadable_input, source.name(), fmt::format("is {} in spite of its name", magic.what), "",
            std::string(magic.advice));
  }
}

std::unique_ptr<PeekedSource> peeked(std::unique_ptr<ByteSource> source) {
  return std::make_unique<PeekedSource>(std::move(source));
}

std::unique_ptr<PeekedSource> inflated(std::unique_ptr<ByteSource> source) {
  return peeked(std::make_unique<GzipSource>(std::move(source)));
}

Table read_stream(const StreamFormat& format, std::unique_ptr<PeekedSource> source, const ReaderOptions& options) {
  refuse_other_format(*source, format.read == read_npy_array ? kNpyMagic : "");
  return format.read(*source, options);
}

const StreamFormat* find_stream_format(std::string_view path) {
  const auto format = std::ranges::find_if(kStreamFormats, [&](const StreamFormat& f) { return f.is_named_so(path); });
  return format == kStreamFormats.end() ? nullptr : &*format;
}

// The format of a path and whether it is compressed; null for another one.
std::pair<const StreamFormat*, bool> stream_format_of(std::string_view path) {
  const bool compressed = has_suffix(path, kCompressed);
  if (compressed) path.remove_suffix(kCompressed.size());
  return {find_stream_format(path), compressed};
}

// The format of bytes without a suffix follows from their beginning; the default is CSV.
Table read_unnamed(std::unique_ptr<ByteSource> bytes, const ReaderOptions& options) {
  std::unique_ptr<PeekedSource> source = peeked(std::move(bytes));
  if (source->beginning().starts_with(kGzipMagic)) source = inflated(std::move(source));
  if (source->beginning().starts_with(kNpyMagic)) return read_npy_array(*source, options);
  if (starts_like_idx(source->beginning())) return read_idx_array(*source, options);
  for (const Magic& magic : kMagics) {
    if (!source->beginning().starts_with(magic.bytes)) continue;
    fail_at(ErrorCode::unreadable_input, source->name(), fmt::format("is {}", magic.what), "CSV, NPY or idx",
            "Write it to a file and pass its name");
  }
  return read_csv_text(*source, options);
}

}  // namespace

bool is_standard_input(std::string_view path) {
  return path == "-" || path == "/dev/stdin";
}

Table read_table(const std::string& path, const ReaderOptions& options) {
  validate(options.csv);
  if (is_standard_input(path)) {
    return read_unnamed(std::make_unique<FileSource>("standard input", STDIN_FILENO), options);
  }
  // The path that a shell passes for <(...).
  if (path.starts_with("/dev/fd/")) return read_unnamed(std::make_unique<FileSource>(path), options);
  if (path.starts_with(kQueryPrefix)) {
    return read_query(path.substr(kQueryPrefix.size()), options.rules, options.threads);
  }
  const auto is_suffix = [&](std::string_view suffix) { return has_suffix(path, suffix); };
  if (std::ranges::any_of(kQueriedSuffixes, is_suffix)) return read_by_duckdb(path, options.rules, options.threads);
  if (const auto name = parse_npz_name(path)) return read_npz(*name, options.rules);
  const auto [format, compressed] = stream_format_of(path);
  if (format == nullptr) fail_unknown_format(path);
  auto file = std::make_unique<FileSource>(path);
  if (options.map_files) file->allow_mapping();
  return read_stream(*format, compressed ? inflated(std::move(file)) : peeked(std::move(file)), options);
}

bool reads_in_blocks(const std::string& path) {
  if (is_standard_input(path) || path.starts_with("/dev/fd/") || path.starts_with(kQueryPrefix)) return false;
  const StreamFormat* const format = stream_format_of(path).first;
  return has_suffix(path, ".parquet") || (format != nullptr && format->read_in_blocks != nullptr);
}

std::unique_ptr<BlockReader> open_in_blocks(const std::string& path, const ReaderOptions& options) {
  validate(options.csv);
  if (!reads_in_blocks(path)) {
    fail_at(ErrorCode::unreadable_input, printable(path), "cannot be read in blocks",
            "a file of type .csv, .tsv, .npy (each may be followed by .gz) or .parquet");
  }
  if (has_suffix(path, ".parquet")) return read_parquet_in_blocks(path, options.rules);
  const auto [format, compressed] = stream_format_of(path);
  auto file = std::make_unique<FileSource>(path);
  if (!compressed && format->read == read_npy_array) return format->read_in_blocks(std::move(file), options);
  auto source = compressed ? inflated(std::move(file)) : peeked(std::move(file));
  refuse_other_format(*source, format->read == read_npy_array ? kNpyMagic : "");
  return format->read_in_blocks(std::move(source), options);
}

std::optional<std::pair<std::string, std::string>> samples_within(const std::string& path) {
  const auto name = parse_npz_name(path);
  if (!name || !name->key.empty()) return std::nullopt;
  const std::vector<std::string> keys = npz_keys(name->path);
  const auto has = [&](std::string_view key) { return std::ranges::find(keys, key) != keys.end(); };
  if (!has("x") || !has("y")) {
    fail_at(ErrorCode::unreadable_input, printable(name->path),
            fmt::format("holds no arrays x and y to compare (but {})", list_of_keys(keys)), "",
            fmt::format("Name both samples, as in {}:{}", printable(name->path), shortened(keys.front())));
  }
  return std::pair(name->path + ":x", name->path + ":y");
}

std::vector<std::string> known_suffixes() {
  std::vector<std::string> suffixes;
  for (const StreamFormat& format : kStreamFormats) suffixes.emplace_back(format.suffix);
  suffixes.emplace_back(".npz");
  for (const std::string_view suffix : kQueriedSuffixes) suffixes.emplace_back(suffix);
  return suffixes;
}

}  // namespace kqd
