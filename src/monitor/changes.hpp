#pragma once
#include <optional>

#include "kqd/explain/explain.hpp"
#include "kqd/io/encoding.hpp"
#include "kqd/monitor/monitor.hpp"

namespace kqd {

/// Fills in what changed in a batch. Columns of numbers that belong to one column of the table count together.
void describe_change(const Explanation& explanation, const std::optional<TableEncoding>& encoding, MonitorEntry& entry);

}  // namespace kqd
