#include "kqd/io/files.hpp"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "core/fail.hpp"
#include "io/block_reader.hpp"
#include "kqd/io/printable.hpp"

namespace kqd {
namespace {

// A file by its device and number, whatever it is called.
using FileId = std::pair<dev_t, ino_t>;

std::optional<FileId> find_file(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileId{status.st_dev, status.st_ino};
}

std::vector<std::string> matches_of(const std::string& pattern) {
  glob_t found{};
  const int outcome = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> files(found.gl_pathv, found.gl_pathv + (outcome == 0 ? found.gl_pathc : 0));
  ::globfree(&found);
  std::erase_if(files, [](const std::string& file) { return std::filesystem::is_directory(file); });
  if (files.empty()) fail_at(ErrorCode::unreadable_input, printable(pattern), "no file matches the pattern");
  return files;
}

}  // namespace

bool is_file_pattern(const std::string& path) {
  return path.find_first_of("*?[") != std::string::npos && !path.starts_with("sql:") && !find_file(path);
}

std::vector<std::string> expand_files(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (is_file_pattern(path)) {
      const std::vector<std::string> matches = matches_of(path);
      files.insert(files.end(), matches.begin(), matches.end());
    } else {
      files.push_back(path);
    }
  }
  std::map<FileId, const std::string*> seen;
  for (const std::string& file : files) {
    const auto id = find_file(file);
    if (!id) continue;  // its reader says why
    const auto [same, is_new] = seen.emplace(*id, &file);
    if (!is_new) {
      fail_at(ErrorCode::invalid_option, printable(file),
              *same->second == file ? "the file is given twice"
                                    : fmt::format("the file is given twice, also as {}", printable(*same->second)),
              "every file once");
    }
  }
  std::ranges::sort(files);
  return files;
}

bool read_in_blocks(const std::vector<std::string>& files) {
  return std::ranges::all_of(files, reads_in_blocks);
}

}  // namespace kqd
