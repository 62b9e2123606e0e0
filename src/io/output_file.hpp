#pragma once
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace kqd {

/// A file that appears under its name when it is complete, or not at all.
///
/// Bytes go to a hidden file of another name in the same folder; commit() renames it. Without commit() the destructor
/// removes it. A link keeps pointing where it points, and a file that was there before keeps its mode. All failures
/// throw Error{unwritable_output} with the path and the system's reason.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  void write(std::string_view bytes);
  void commit();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }  // NOLINT(cppcoreguidelines-owning-memory)
  };

  void open_partial();
  void keep_mode();

  std::filesystem::path path_;     ///< as it was given: how messages call the file
  std::filesystem::path target_;   ///< where its bytes go
  std::filesystem::path partial_;  ///< empty: nothing to remove
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace kqd
