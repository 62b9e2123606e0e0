#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "kqd/core/error.hpp"

namespace kqd::lab {

/// The results of an earlier run; null if there is no such file. Throws Error{unreadable_input} for a file with other
/// content.
[[nodiscard]] nlohmann::ordered_json read_results(const std::string& path);

/// Throws Error{unreadable_input}: "PATH: <problem>. Move the file, or choose another --out".
[[noreturn]] void refuse_results(const std::string& path, const std::string& problem);

/// Throws Error{unreadable_input} unless the results have all the entries of `wanted`, which must be equal for results
/// to be combined.
void require_same(const std::string& path, const nlohmann::ordered_json& results, const nlohmann::ordered_json& wanted);

/// If the error is an interruption, throws one that also says that the results are kept in this file.
void rethrow_interruption(const Error& error, const std::string& path);

/// Excludes other processes from the results in the folder of this file during its lifetime.
class ResultsLock {
 public:
  explicit ResultsLock(const std::string& path);
  ~ResultsLock();
  ResultsLock(const ResultsLock&) = delete;
  ResultsLock& operator=(const ResultsLock&) = delete;

 private:
  int folder_;
};

}  // namespace kqd::lab
