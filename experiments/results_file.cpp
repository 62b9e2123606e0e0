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
  if (!std::filesystem::is_regular_file(path)) refuse_results(path, "not a regular file");
  std::ifstream file(path);
  if (!file) refuse_results(path, "cannot be read: " + std::generic_category().message(errno));
  auto json = nlohmann::ordered_json::parse(file, nullptr, false);
  const bool ours = json.is_object() && json.contains("schema") && json["schema"] == "kqd.experiment/1";
  if (!ours) refuse_results(path, "not a file of experiment results");
  return json;
}

void refuse_results(const std::string& path, const std::string& problem) {
  fail(ErrorCode::unreadable_input,
       {.place = path, .value = problem, .remedy = "Move the file, or choose another " KQD_OPTION("out")});
}

void require_same(const std::string& path, const nlohmann::ordered_json& results,
                  const nlohmann::ordered_json& wanted) {
  for (const auto& [key, value] : wanted.items()) {
    const nlohmann::ordered_json found = results.value(key, nlohmann::ordered_json(nullptr));
    if (found == value) continue;
    refuse_results(path, fmt::format("results of {} {}, expected {}", key, found.dump(), value.dump()));
  }
}

void rethrow_interruption(const Error& error, const std::string& path) {
  if (error.code() != ErrorCode::interrupted) return;
  fail(ErrorCode::interrupted, "{}; finished runs are kept in {}, and the same command continues from there",
       error.what(), path);
}

ResultsLock::ResultsLock(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  folder_ = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_ >= 0) ::flock(folder_, LOCK_EX);  // not supported by every file system
}

ResultsLock::~ResultsLock() {
  if (folder_ >= 0) ::close(folder_);
}

}  // namespace kqd::lab
