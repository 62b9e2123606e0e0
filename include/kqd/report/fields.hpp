#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kqd/core/visibility.hpp"
#include "kqd/report/report.hpp"

namespace kqd KQD_PUBLIC {

/// The part of a report that shows a field: its numbers, its data, or how it was computed. `none` is for JSON only.
enum class Block { none, result, data, setting };

/// One field of a result. JSON, CSV, text, Markdown, page and Python take their names and order from the same rows.
struct FieldInfo {
  std::string_view name;     ///< in JSON and CSV
  std::string_view meaning;  ///< one line, as docs/guide/json.md shows it
  Block block = Block::none;
  std::string_view label = name;   ///< on screen and page
  bool in_csv = true;              ///< false for lists and objects that do not fit a cell
  std::string_view python = name;  ///< attribute of the Python result; empty: not there
};

/// The objects that --json prints.
enum class ResultKind { test, distance, matrix, explanation, embedding, monitor };

/// The fields of an object, in the order in which JSON has them.
[[nodiscard]] std::vector<FieldInfo> result_fields(ResultKind kind);

/// A value of a field: nothing, a truth value, a number, a text, a list, or named values.
struct NamedValue;
struct Value {
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, std::vector<Value>,
               std::vector<NamedValue>>
      content;
};
struct NamedValue {
  std::string name;
  Value value;
};

/// A line "label: text" of a report. The label of the first one is empty if it is the verdict.
using ReportLine = std::pair<std::string, std::string>;

/// A result for other languages: the values of its fields under their Python names, and the lines of the report
/// without those on the run and the warnings.
struct ResultValues {
  std::vector<NamedValue> fields;
  std::vector<ReportLine> lines;
};
[[nodiscard]] ResultValues test_values(const TwoSampleResult& result, const TwoSampleOptions& options,
                                       const RunInfo& run);
[[nodiscard]] ResultValues distance_values(const DistanceResult& result, const MethodOptions& options,
                                           const RunInfo& run);

}  // namespace kqd
