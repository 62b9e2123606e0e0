#pragma once

#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// How the first row of a CSV file is read.
enum class CsvHeader {
  found,    ///< auto-detected: a cell that is neither a number nor a spelling of "missing" makes it a header
  present,  ///< as the names of the columns
  absent,   ///< as data
};

/// The format of CSV and TSV files. The defaults are auto-detected.
struct CsvFormat {
  /// The character between cells; 0: comma, semicolon, tab or bar, auto-detected (always a tab in .tsv).
  char delimiter = 0;
  CsvHeader header = CsvHeader::found;
  /// Numbers are written 1,5; then commas do not delimit, and numbers written 1.5 are texts.
  bool decimal_comma = false;
};

/// Throws Error{invalid_option} for a delimiter that is a letter, a digit, a quote, a sign or a line end, and for a
/// comma that would be both delimiter and decimal comma.
void validate(const CsvFormat& format);

}  // namespace kqd
