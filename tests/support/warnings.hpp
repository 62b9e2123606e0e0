#pragma once
#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "core/warning.hpp"

namespace kqd {

/// How GoogleTest prints a warning.
inline void PrintTo(const Warning& warning, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << warning_name(warning.id) << ": " << render(warning);
}

}  // namespace kqd

namespace kqd::test {

/// The sentences of the warnings.
inline std::vector<std::string> texts(const Warnings& warnings) {
  std::vector<std::string> all;
  for (const Warning& warning : warnings) all.push_back(render(warning));
  return all;
}

inline std::vector<WarningId> ids(const Warnings& warnings) {
  std::vector<WarningId> all;
  for (const Warning& warning : warnings) all.push_back(warning.id);
  return all;
}

/// A list of one warning: only(WarningId::one_row, "X").
template <class... Values>
Warnings only(WarningId id, const Values&... values) {
  return {make_warning(id, values...)};
}

inline auto count(const Warnings& warnings, WarningId id) {
  return std::ranges::count(warnings, id, &Warning::id);
}

}  // namespace kqd::test
