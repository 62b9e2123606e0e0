#pragma once
#include <string>
#include <string_view>

#include "kqd/core/run_control.hpp"  // RunControl
#include "kqd/core/sample.hpp"       // Sample
#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// Writes a sample in the format that the suffix of the path names: .csv, .tsv (tabs) or .npy, in capitals or not.
///
/// The file appears whole or not at all: it is written under another name in the same folder and then renamed, over a
/// file that may be there. On failure nothing is left behind and an older file stays as it was.
/// Throws Error{unwritable_output} with the path and the reason, an unknown suffix among them; Error{invalid_option}
/// for a sample with weights, Error{shape_mismatch} for names that are not one per column, and what validate(sample)
/// throws.
/// `control` may end it early, by Error{interrupted}: then too nothing is left behind.
void write_sample(const std::string& path, const Sample& sample, const RunControl* control = nullptr);

/// Writes a text in the same way, whole or not at all.
void write_text(const std::string& path, std::string_view text);

/// Throws what write_text would throw when the file cannot be written; leaves no trace. For asking before long work.
void require_writable(const std::string& path);

/// Text: a line of column names (x1, x2, ... for a sample without names), then a line per row. Each number is the
/// shortest text that reads back as the same double. Names that need it are quoted as in RFC 4180.
void write_csv(const std::string& path, const Sample& sample, char delimiter = ',');

/// NPY version 1.0: little-endian doubles, shape (rows, columns), C order. Names are not kept.
void write_npy(const std::string& path, const Sample& sample);

}  // namespace kqd
