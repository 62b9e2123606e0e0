#pragma once
#include <memory>
#include <string_view>

#include "io/block_reader.hpp"
#include "io/byte_source.hpp"
#include "io/table.hpp"

namespace kqd {

/// How every NPY file starts.
inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

/// The numbers of an NPY file as a table without names: the first dimension counts rows, the others are laid flat.
/// Takes no more memory than the shape needs, and only after the shape was checked against the bytes that are there.
/// Throws Error{unreadable_input, empty_sample}.
[[nodiscard]] Table read_npy(ByteSource& source, const TextRules& rules = {});

/// The same a block of rows at a time.
[[nodiscard]] std::unique_ptr<BlockReader> read_npy_in_blocks(std::unique_ptr<ByteSource> source,
                                                              const TextRules& rules);

}  // namespace kqd
