#pragma once
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kqd/core/visibility.hpp"
#include "kqd/io/read.hpp"  // ReadOptions, SamplePair

namespace kqd KQD_PUBLIC {

/// A column of a table in memory: numbers, where NaN is missing, or texts, where no value is missing. A text that
/// spells a number is a text.
struct FrameColumn {
  std::string name;
  std::variant<std::vector<double>, std::vector<std::optional<std::string>>> cells;
};

/// A table in memory, as other languages have it. All columns have the same number of rows.
struct Frame {
  std::string name;  ///< starts every message about the table
  std::vector<FrameColumn> columns;
};

/// Two samples from two tables in memory, prepared as read_pair() prepares files. Throws what read_pair throws.
[[nodiscard]] SamplePair prepare_pair(const Frame& x, const Frame& y, const ReadOptions& options = {});

/// One sample from a table in memory, as read_sample() makes it from a file.
[[nodiscard]] Sample prepare_sample(const Frame& frame, const ReadOptions& options = {});

}  // namespace kqd
