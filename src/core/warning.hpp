#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/fail.hpp"
#include "kqd/core/warning.hpp"

namespace kqd {

/// One row of the catalogue of warnings.
struct WarningEntry {
  WarningId id = {};
  std::string_view name;              ///< in JSON and in the guide
  std::string_view sentence;          ///< a format for the values; refers to options by KQD_OPTION
  std::vector<WarningValue> example;  ///< values in number and kind as every call of warn() gives them
  std::string_view advice;            ///< for the guide: when it appears and what to do
};

/// All warnings, in the order of WarningId.
[[nodiscard]] std::span<const WarningEntry> warning_catalogue();

/// True if the values are as many as those of the catalogue's example, and of the same kinds.
[[nodiscard]] bool fits_catalogue(const Warning& warning);

[[nodiscard]] inline WarningValue warning_value(std::integral auto value) {
  return static_cast<std::int64_t>(value);
}
[[nodiscard]] inline WarningValue warning_value(std::floating_point auto value) {
  return static_cast<double>(value);
}
[[nodiscard]] inline WarningValue warning_value(std::string_view value) {
  return std::string(value);
}

/// make_warning(WarningId::constant_columns, 2, 3, "1, 2").
template <class... Values>
[[nodiscard]] Warning make_warning(WarningId id, const Values&... values) {
  Warning warning{.id = id, .values = {warning_value(values)...}};
  KQD_ASSERT(fits_catalogue(warning));
  return warning;
}

/// Adds a warning: warn(warnings, WarningId::constant_columns, 2, 3, "1, 2").
template <class... Values>
void warn(Warnings& warnings, WarningId id, const Values&... values) {
  warnings.push_back(make_warning(id, values...));
}

/// Adds all of `more`.
inline void append(Warnings& warnings, const Warnings& more) {
  warnings.insert(warnings.end(), more.begin(), more.end());
}

/// Counts the warnings of many pairs of samples.
class PairWarnings {
 public:
  void add(const Warnings& warnings);

  /// Each different warning once, with the number of pairs that have it, in the order of their first appearance.
  void append_to(Warnings& warnings, std::size_t num_pairs) const;

 private:
  Warnings counted_;
};

}  // namespace kqd
