#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "kqd/core/error.hpp"

namespace kqd::lab {

/// The object that an earlier run has left in a file; null when there is no such file. Throws Error{unreadable_input}
/// for a file that holds something else.
[[nodiscard]] nlohmann::ordered_json read_results(const std::string& path);

/// "PATH: <what is wrong>; move it away, or choose another --out", as Error{unreadable_input}.
[[noreturn]] void refuse_results(const std::string& path, const std::string& what);

/// Throws Error{unreadable_input} unless the results have all the entries of `wanted`: what must be the same for new
/// ones to be put with them.
void require_same(const std::string& path, const nlohmann::ordered_json& results, const nlohmann::ordered_json& wanted);

/// Where the error is an interruption, throws one that says how to go on: what was run is kept in this file.
void tell_what_is_kept(const Error& error, const std::string& path);

/// While it lives no other process reads and writes results in the folder of this file.
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
