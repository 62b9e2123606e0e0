#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/core/warning.hpp"
#include "kqd/metrics/methods.hpp"
#include "kqd/report/report.hpp"
#include "report/rows.hpp"

namespace kqd {

/// JSON in the order in which it is built.
using Json = nlohmann::ordered_json;

/// JSON on one line; bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string compact(const Json& json);

/// "s" unless there is one.
[[nodiscard]] std::string_view plural(std::size_t count);

/// "gaussian, bandwidth 1.5", or the whole text of a kernel of several parts or without a bandwidth.
[[nodiscard]] std::string kernel_phrase(const KernelSpec& kernel);

/// A number, or "inf": JSON has no infinity.
[[nodiscard]] Json power_json(double power);

/// What a report says of how a number was made, whatever kind of result it comes from.
struct Made {
  const MethodInfo& method;
  const KernelSpec& kernel;  ///< with the bandwidths that were used
  std::size_t num_directions;
  std::size_t num_reference;
  std::size_t num_set_aside;
  const MethodOptions& options;
  const std::vector<Detail>& details;
};

/// The fields that every result of two samples has, after its own: sizes, then those below.
void add_setting_fields(Json& json, const Made& made, const RunInfo& run, const Warnings& warnings);

/// Kernel, directions, settings, seed, machine, warnings.
void add_made_fields(Json& json, const Made& made, double elapsed_s, const Warnings& warnings, OptionNames names);

/// [{"id": "one-row", "text": "X has only one row, ..."}, ...].
[[nodiscard]] Json warnings_json(const Warnings& warnings, OptionNames names);

/// What was done to the data before: of two samples if `rows` is empty, else of as many as it has.
[[nodiscard]] Json preparation_json(const Preparation& prepared, const std::vector<RowCounts>& rows = {});

/// The text of an object, with a newline at the end.
[[nodiscard]] std::string dump(const Json& json);

/// The lines on data, kernel, directions, levels and the run that every block has.
[[nodiscard]] Rows data_rows(const RunInfo& run);
[[nodiscard]] Rows setting_rows(const Made& made);
[[nodiscard]] Rows note_rows(const Warnings& notes, OptionNames names);
[[nodiscard]] Rows warning_rows(const Warnings& warnings, OptionNames names);
[[nodiscard]] Row run_row(Seed seed, ThreadCount threads, double elapsed_s);

}  // namespace kqd
