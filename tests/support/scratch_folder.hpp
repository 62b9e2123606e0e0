#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace kqd::test {

/// A folder of its own for the files of one test; gone with its content at the end.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kqd_io_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    folder_ = pattern;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(std::string_view name) const { return (folder_ / name).string(); }

  /// Writes a file and returns its path.
  std::string write(std::string_view name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path(name);
  }

  /// A sentence with the paths in it cut down to the names of the files.
  [[nodiscard]] std::string without_folder(std::string sentence) const {
    const std::string prefix = folder_.string() + "/";
    for (auto at = sentence.find(prefix); at != std::string::npos; at = sentence.find(prefix)) {
      sentence.erase(at, prefix.size());
    }
    return sentence;
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace kqd::test
