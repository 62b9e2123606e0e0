#include "experiments/results_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/fail.hpp"

namespace kqd::lab {

nlohmann::ordered_json read_results(const std::string& path) {
  if (!std::filesystem::exists(path)) return nullptr;
  if (!std::filesystem::is_regular_file(path)) refuse_results(path, "is not a file");
  std::ifstream file(path);
  if (!file) refuse_results(path, "cannot be read: " + std::generic_category().message(errno));
  auto json = nlohmann::ordered_json::parse(file, nullptr, false);
  const bool ours = json.is_object() && json.contains("schema") && json["schema"] == "kqd.experiment/1";
  if (!ours) refuse_results(path, "holds no results of an experiment");
  return json;
}

void refuse_results(const std::string& path, const std::string& what) {
  fail(ErrorCode::unreadable_input, "{}: {}; move it away, or choose another --out", path, what);
}

void require_same(const std::string& path, const nlohmann::ordered_json& results,
                  const nlohmann::ordered_json& wanted) {
  for (const auto& [key, value] : wanted.items()) {
    const nlohmann::ordered_json found = results.value(key, nlohmann::ordered_json(nullptr));
    if (found == value) continue;
    refuse_results(path, fmt::format("holds results of {} {}, but {} is asked for", key, found.dump(), value.dump()));
  }
}

void tell_what_is_kept(const Error& error, const std::string& path) {
  if (error.code() != ErrorCode::interrupted) return;
  fail(ErrorCode::interrupted, "{}; what was run is kept in {}, and the same command goes on", error.what(), path);
}

ResultsLock::ResultsLock(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  folder_ = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_ >= 0) ::flock(folder_, LOCK_EX);  // file systems without locks go without
}

ResultsLock::~ResultsLock() {
  if (folder_ >= 0) ::close(folder_);
}

}  // namespace kqd::lab
