#pragma once
#include <string>

#include "kqd/core/sample.hpp"  // Sample

namespace kqd {

/// Writes a sample in the format that the suffix of the path names: .csv, .tsv (tabs) or .npy, in capitals or not.
///
/// The file appears whole or not at all: it is written under another name in the same folder and then renamed, over a
/// file that may be there. On failure nothing is left behind and an older file stays as it was.
/// Throws Error{unwritable_output} with the path and the reason, an unknown suffix among them; Error{invalid_option}
/// for a sample with weights, Error{shape_mismatch} for names that are not one per column, and what validate(sample)
/// throws.
void write_sample(const std::string& path, const Sample& sample);

/// Text: a line of column names (x1, x2, ... for a sample without names), then a line per row. Each number is the
/// shortest text that reads back as the same double. Names that need it are quoted as in RFC 4180.
void write_csv(const std::string& path, const Sample& sample, char delimiter = ',');

/// NPY version 1.0: little-endian doubles, shape (rows, columns), C order. Names are not kept.
void write_npy(const std::string& path, const Sample& sample);

}  // namespace kqd
