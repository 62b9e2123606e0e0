#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/block_reader.hpp"
#include "io/byte_source.hpp"
#include "io/table.hpp"

namespace kqd {

/// The encoding of the numbers of an array in a file, and their conversion to doubles.
struct ItemType {
  std::size_t bytes = 0;
  void (*convert)(const char* bytes, std::span<double> values) = nullptr;
  /// Table::keep_exact() for an item. None: doubles lose nothing of such numbers.
  void (*keep_exact)(const char* item, Table& table, std::size_t column, std::size_t row) = nullptr;
};

/// The type that NumPy calls `code`, its kind and size: b1, i1 to i8, u1 to u8, f2, f4, f8. None: no such type.
[[nodiscard]] std::optional<ItemType> find_item_type(std::string_view code, std::endian order);

/// The header of a binary array.
struct ArrayHeader {
  std::string type_name;  ///< how messages call the type of the items
  ItemType items;
  std::vector<std::uint64_t> shape;
  bool fortran_order = false;
};

/// The first bytes of a binary format, counted while they are read.
class HeaderBytes {
 public:
  /// `format` is what messages expect: "NPY file".
  HeaderBytes(ByteSource& source, std::string_view format) : source_(source), format_(format) {}

  /// The next `count` bytes; `what` names them in the error for a file that ends within them.
  [[nodiscard]] std::string read(std::size_t count, std::string_view what);

  /// How many bytes follow, if that is known.
  [[nodiscard]] std::optional<std::uint64_t> bytes_left() const;

 private:
  ByteSource& source_;
  std::string_view format_;
  std::uint64_t place_ = 0;
};

/// A shape as Python writes it: "(3, 2)".
[[nodiscard]] std::string to_string(const std::vector<std::uint64_t>& shape);

/// The numbers of an array as a table without names: the first dimension counts rows, the others are laid flat.
///
/// `bytes_left` is what the source has, if that is known: the shape is checked against it. Memory is taken as the bytes
/// come, so a shape that promises too much costs nothing; bytes beyond the shape are refused, not read.
/// Throws Error{unreadable_input, empty_sample}.
[[nodiscard]] Table read_array(ByteSource& source, const ArrayHeader& header, std::optional<std::uint64_t> bytes_left,
                               const TextRules& rules);

/// The same a block of rows at a time; `place` is where the numbers begin in the file. Columns of an array in Fortran
/// order are read from their places in the file; compressed ones are refused.
[[nodiscard]] std::unique_ptr<BlockReader> read_array_in_blocks(std::unique_ptr<ByteSource> source,
                                                                const ArrayHeader& header,
                                                                std::optional<std::uint64_t> bytes_left,
                                                                const TextRules& rules);

}  // namespace kqd
