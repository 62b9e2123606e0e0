#include "io/readers.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include "core/fail.hpp"
#include "io/byte_source.hpp"
#include "io/csv.hpp"
#include "io/npy.hpp"
#include "io/text.hpp"
#include "kqd/io/read.hpp"

namespace kqd {
namespace {

// One format: the suffix it is known by, and the way from a path to a table.
struct Reader {
  std::string_view suffix;
  Table (*read)(const std::string& path, const TextRules& rules);
};

Table read_csv_file(const std::string& path, const TextRules& rules) {
  FileSource source(path);
  return read_csv(source, {}, rules);
}

Table read_tsv_file(const std::string& path, const TextRules& rules) {
  FileSource source(path);
  return read_csv(source, {.delimiter = '\t'}, rules);
}

Table read_npy_file(const std::string& path, const TextRules& rules) {
  FileSource source(path);
  return read_npy(source, rules);
}

// In the order in which messages list them.
constexpr std::array<Reader, 3> kReaders = {{
    {".csv", read_csv_file},
    {".tsv", read_tsv_file},
    {".npy", read_npy_file},
}};

[[noreturn]] void fail_unknown_format(const std::string& path) {
  if (path.empty()) fail(ErrorCode::unreadable_input, "the name of a file is empty, expected a path");
  const std::string suffix = std::filesystem::path(path).extension().string();
  const std::string found =
      suffix.empty() ? "has no suffix to tell its format by" : "has the unknown suffix " + in_quotes(suffix);
  fail(ErrorCode::unreadable_input, "{}: {}, expected one of {}", printable(path), found,
       fmt::join(known_suffixes(), ", "));
}

}  // namespace

Table read_table(const std::string& path, const TextRules& rules) {
  const auto reader = std::ranges::find_if(kReaders, [&](const Reader& r) { return has_suffix(path, r.suffix); });
  if (reader == kReaders.end()) fail_unknown_format(path);
  return reader->read(path, rules);
}

std::vector<std::string> known_suffixes() {
  std::vector<std::string> suffixes;
  suffixes.reserve(std::size(kReaders));
  for (const Reader& reader : kReaders) suffixes.emplace_back(reader.suffix);
  return suffixes;
}

}  // namespace kqd
