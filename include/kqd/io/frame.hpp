#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kqd/core/visibility.hpp"
#include "kqd/io/read.hpp"  // ReadOptions, SamplePair

namespace kqd KQD_PUBLIC {

/// Texts by number: row i has the text levels[codes[i]], or none for a negative code.
struct CodedTexts {
  std::vector<std::int32_t> codes;
  std::vector<std::string> levels;
  bool as_in_files = false;  ///< texts that spell numbers, dates or missing values are those
};

/// A column of a table in memory: numbers, where NaN is missing, or texts, where no value is missing. A text that
/// spells a number is a text.
struct FrameColumn {
  std::string name;
  std::variant<std::vector<double>, std::vector<std::optional<std::string>>, CodedTexts, std::vector<std::int64_t>>
      cells;
  /// The type that the other language declares: category, ordered (of CodedTexts: their levels are ascending), boolean
  /// or date. None: it is inferred.
  std::optional<ColumnType> type = {};
};

/// A table in memory, as other languages have it. All columns have the same number of rows.
struct Frame {
  std::string name;                  ///< starts every message about the table
  std::vector<FrameColumn> columns;  ///< with names, or none of them with one
};

/// Two samples from two tables in memory, prepared as read_pair() prepares files. Throws what read_pair throws.
[[nodiscard]] SamplePair prepare_pair(const Frame& x, const Frame& y, const ReadOptions& options = {});

/// The same from one table, whose column `group_column` tells the samples apart.
[[nodiscard]] SamplePair prepare_grouped(const Frame& frame, const std::string& group_column,
                                         const ReadOptions& options = {});

/// Several samples from tables in memory, prepared as read_samples() prepares files.
[[nodiscard]] SampleList prepare_samples(const std::vector<Frame>& frames, const ReadOptions& options = {});

/// One sample from a table in memory, as read_sample() makes it from a file.
[[nodiscard]] Sample prepare_sample(const Frame& frame, const ReadOptions& options = {});

}  // namespace kqd
