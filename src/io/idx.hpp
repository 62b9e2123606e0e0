#pragma once
#include <string_view>

#include "io/byte_source.hpp"
#include "io/table.hpp"

namespace kqd {

/// Whether bytes start like an idx file: two zeros, the code of a type, the number of dimensions.
[[nodiscard]] bool starts_like_idx(std::string_view beginning);

/// Whether a path ends as idx files are called: .idx, or as MNIST's are, train-images-idx3-ubyte.
[[nodiscard]] bool is_named_like_idx(std::string_view path);

/// The numbers of an idx file (the format of MNIST: any type and number of dimensions) as a table without names: the
/// first dimension counts rows, the others are laid flat, so an image of 28 x 28 points is a row of 784 numbers.
/// Throws Error{unreadable_input, empty_sample}.
[[nodiscard]] Table read_idx(ByteSource& source, const TextRules& rules = {});

}  // namespace kqd
