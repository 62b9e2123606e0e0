#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "kqd/report/report.hpp"

namespace kqd {

/// JSON in the order in which it is built.
using Json = nlohmann::ordered_json;

/// A number, or "inf": JSON has no infinity.
[[nodiscard]] Json power_json(double power);

/// The fields that every result has, after its own: sizes, kernel, directions, settings, seed, machine, warnings.
void add_setting_fields(Json& json, const KqdResult& result, const KqdOptions& options, const RunInfo& run);

/// A line "  label        text" of a block for people.
[[nodiscard]] std::string line(std::string_view label, std::string_view text);

/// The lines on data, kernel, directions, levels and the run that every block has.
[[nodiscard]] std::string data_lines(const RunInfo& run);
[[nodiscard]] std::string setting_lines(const KqdResult& result, const KqdOptions& options);
[[nodiscard]] std::string run_line(const KqdOptions& options, const RunInfo& run);

}  // namespace kqd
