#pragma once

#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// Whether the first row of a CSV file holds the names of the columns.
enum class CsvHeader {
  found,    ///< by looking: a cell that is neither a number nor a spelling of "missing" makes a header
  present,  ///< it does
  absent,   ///< it holds data
};

/// What a caller may know about the text of CSV and TSV files; the defaults look.
struct CsvFormat {
  /// What stands between cells; 0: comma, semicolon, tab or bar, as found (tab only in .tsv).
  char delimiter = 0;
  CsvHeader header = CsvHeader::found;
  /// Numbers are written 1,5; then commas do not delimit, and numbers written 1.5 are texts.
  bool decimal_comma = false;
};

/// Throws Error{invalid_option} for a delimiter that is a letter, a digit, a quote, a sign or a line end, and for a
/// comma that would be both delimiter and decimal comma.
void validate(const CsvFormat& format);

}  // namespace kqd
