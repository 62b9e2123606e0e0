#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/metrics/methods.hpp"
#include "kqd/report/report.hpp"

namespace kqd {

/// JSON in the order in which it is built.
using Json = nlohmann::ordered_json;

/// A number, or "inf": JSON has no infinity.
[[nodiscard]] Json power_json(double power);

/// What a report says of how a number was made, whatever kind of result it comes from.
struct Made {
  const MethodInfo& method;
  const KernelSpec& kernel;  ///< with the bandwidths that were used
  std::size_t num_directions;
  std::size_t num_reference;
  std::size_t num_set_aside;
  const KqdOptions& options;
  const std::vector<Detail>& details;
};

/// The fields that every result has, after its own: sizes, kernel, directions, settings, seed, machine, warnings.
void add_setting_fields(Json& json, const Made& made, const RunInfo& run, const std::vector<std::string>& warnings);

/// A line "  label        text" of a block for people.
[[nodiscard]] std::string line(std::string_view label, std::string_view text);

/// The lines on data, kernel, directions, levels and the run that every block has.
[[nodiscard]] std::string data_lines(const RunInfo& run);
[[nodiscard]] std::string setting_lines(const Made& made);
[[nodiscard]] std::string warning_lines(const std::vector<std::string>& warnings);
[[nodiscard]] std::string run_line(const KqdOptions& options, const RunInfo& run);

}  // namespace kqd
