#include "io/readers.hpp"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "core/fail.hpp"
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

Table read_tsv_text(ByteSource& source, const ReaderOptions& options) {
  ReaderOptions with_tabs = options;
  if (with_tabs.csv.delimiter == 0) with_tabs.csv.delimiter = '\t';
  return read_csv_text(source, with_tabs);
}

Table read_npy_array(ByteSource& source, const ReaderOptions& options) {
  return read_npy(source, options.rules);
}

Table read_idx_array(ByteSource& source, const ReaderOptions& options) {
  return read_idx(source, options.rules);
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
};

// In the order in which messages list them.
constexpr std::array<StreamFormat, 4> kStreamFormats = {{
    {".csv", is_csv, read_csv_text},
    {".tsv", is_tsv, read_tsv_text},
    {".npy", is_npy, read_npy_array},
    {".idx", is_named_like_idx, read_idx_array},
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
  const bool compressed = has_suffix(path, kCompressed);
  const auto plain = std::string_view(path).substr(0, path.size() - (compressed ? kCompressed.size() : 0));
  const StreamFormat* format = find_stream_format(plain);
  if (format == nullptr) fail_unknown_format(path);
  auto file = std::make_unique<FileSource>(path);
  if (options.map_files) file->allow_mapping();
  return read_stream(*format, compressed ? inflated(std::move(file)) : peeked(std::move(file)), options);
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
