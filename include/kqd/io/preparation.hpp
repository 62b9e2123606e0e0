#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/core/message.hpp"
#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// Treatment of columns of text.
enum class Categorical {
  automatic,  ///< by their types, which are inferred: levels of a category, dates, ids
  raise,      ///< they are refused
  onehot,     ///< a column of 0 and 1 for each text of the pool
  hash,       ///< kHashedColumns columns of 0 and 1, chosen by a hash of the text
  drop,       ///< they are excluded
};
/// The number of columns that a column of text becomes when it is hashed.
constexpr std::size_t kHashedColumns = 64;
/// Without Categorical::onehot, the largest number of levels of a category; rare ones share the last of them.
constexpr std::size_t kMostLevels = 100;

/// Treatment of missing values.
enum class NaPolicy {
  indicator,      ///< a column of its own is 1 where a value is missing; numbers become the median of both samples
  raise,          ///< they are refused
  omit,           ///< rows that have one are omitted
  impute_median,  ///< they become the median of the column over both samples
};

/// Scaling of columns. Location and scale are those of the pool: they do not depend on labels.
enum class Standardize {
  automatic,  ///< unchanged, but the default test and explain measure each column in its own scale, unless of images
  none,       ///< unchanged, also in these
  zscore,     ///< (value - mean) / standard deviation
  iqr,        ///< (value - median) / interquartile range
};

/// The words of the command line: "raise", "onehot", "impute-median", ... Throws Error{invalid_option} with the nearest
/// word for one that is unknown.
[[nodiscard]] Categorical parse_categorical(std::string_view text);
[[nodiscard]] NaPolicy parse_na_policy(std::string_view text);
[[nodiscard]] Standardize parse_standardize(std::string_view text);
[[nodiscard]] std::string to_string(Categorical categorical);
[[nodiscard]] std::string to_string(NaPolicy policy);
[[nodiscard]] std::string to_string(Standardize standardize);

/// Counts of the rows of one sample.
struct RowCounts {
  std::size_t read = 0;           ///< rows in the input
  std::size_t omitted = 0;        ///< omitted for a missing value
  std::size_t not_drawn = 0;      ///< not in the random subsample
  std::size_t missing_cells = 0;  ///< missing values in the columns that are compared
};

/// A column of text and what it became.
struct EncodedColumn {
  std::string name;
  std::size_t num_columns = 0;
};

/// A column of whole numbers beyond 2^53, and the number that was subtracted from all of its values.
struct OffsetColumn {
  std::string name;
  std::string offset;  ///< in decimal digits, because a double may not hold it
};

/// Type of a column of a table.
enum class ColumnType {
  number,    ///< a quantity
  integer,   ///< whole numbers with few different values: a number
  ordered,   ///< levels in an order, where that is declared: their ranks from 0, a number
  category,  ///< texts: a column of 0 and 1 for each level
  text,      ///< more different texts than levels are feasible: kHashedColumns columns of 0 and 1
  boolean,   ///< 1 and 0
  date,      ///< days since 1970-01-01
  id,        ///< almost all texts are different, so nothing is there to compare: excluded
  constant,  ///< a single value in all samples: excluded
  empty,     ///< no value in any sample: excluded
};
/// The word of a type: "number", "category", ...
[[nodiscard]] std::string to_string(ColumnType type);

/// A column of a table, and what became of it.
struct ColumnSource {
  std::string name;  ///< or its number, from 1
  ColumnType type = ColumnType::number;
  bool excluded = false;
  /// Of a category: the text of each of its columns of kind `level`, in their order.
  std::vector<std::string> levels = {};
  std::size_t missing_x = 0;  ///< rows of X without a value
  std::size_t missing_y = 0;
  std::string note = {};  ///< why it is excluded, or what was done with it; empty: nothing to remark
};

/// How a column was standardised: it became (value / 2^exponent - center) / spread.
struct ColumnUnits {
  double center = 0.0;  ///< in units of 2^exponent
  double spread = 1.0;  ///< the same; 0: all values are equal, and became 0
  int exponent = 0;

  [[nodiscard]] double standardised(double value) const;
  /// The value behind a standardised one: of those that have it, the one with the fewest digits, if at most 15. A step
  /// of the table has a length of spread * 2^exponent.
  [[nodiscard]] double original(double standardised) const;
};

/// Changes made to the input before it became two samples, for reports.
struct Preparation {
  RowCounts x;
  RowCounts y;
  std::string group_column;  ///< empty: the samples come from two inputs
  std::string group_x;       ///< the value of the group column in the rows of X
  std::string group_y;
  std::size_t ungrouped = 0;   ///< rows omitted because they have no value in the group column
  std::string weights_column;  ///< empty: all rows have the same weight
  std::string unit_column;     ///< names the block or cluster of a row; empty: there are none
  std::size_t columns_read = 0;
  std::size_t columns_used = 0;  ///< of those, before text is encoded
  Categorical categorical = Categorical::automatic;
  std::vector<EncodedColumn> encoded;      ///< columns of text that became numbers
  std::vector<std::string> dropped_texts;  ///< columns of text that were excluded
  std::vector<std::string> dates;          ///< columns of dates that became numbers of days
  std::vector<std::string> booleans;       ///< columns of true and false that became 1 and 0
  std::vector<OffsetColumn> offsets;       ///< columns of whole numbers beyond 2^53
  /// The columns of the table that could be compared, in their order; ColumnRole::source counts them. Empty when
  /// nothing is known about columns, as of arrays.
  std::vector<ColumnSource> sources;
  NaPolicy na = NaPolicy::indicator;
  Standardize standardize = Standardize::none;
  std::vector<ColumnUnits> units;  ///< of each column of the samples; empty: none is standardised
  std::uint64_t max_rows = 0;      ///< 0: no bound
  std::uint64_t seed = 0;          ///< of the random subsample
  /// The shape of a row in an array of more than two dimensions, such as (28, 28) for images; empty when the input has
  /// no such shape or not all of its columns are used.
  std::vector<std::size_t> row_shape;
};

/// How sentences write options, and how they call both samples.
struct Wording {
  OptionNames option_names = library_names;
  std::string x = "X";
  std::string y = "Y";
};

/// The changes as sentences for a report; none when the input was taken unchanged.
[[nodiscard]] std::vector<std::string> describe(const Preparation& preparation, const Wording& words = {});
/// Those about columns only, which hold for any number of samples.
[[nodiscard]] std::vector<std::string> describe_columns(const Preparation& preparation,
                                                        OptionNames names = library_names);

}  // namespace kqd
