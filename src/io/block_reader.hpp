#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/readers.hpp"
#include "io/table.hpp"

namespace kqd {

/// The rows of a file, a block at a time in the order of the file: what a reader of the whole file returns, in a
/// bounded amount of memory. Not for several threads at once.
class BlockReader {
 public:
  BlockReader() = default;
  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;
  virtual ~BlockReader() = default;

  /// The columns, and after next() the rows of one block, the first of which is row table().dropped.count of the file.
  /// Counts of cells in the columns are those of all rows so far.
  [[nodiscard]] virtual Table& table() = 0;

  /// The number of rows, where the file has it apart from them.
  [[nodiscard]] virtual std::optional<std::uint64_t> num_rows() const { return std::nullopt; }
  /// The number of rows of a file none of which was read yet; none can be read afterwards.
  [[nodiscard]] virtual std::size_t count_rows() = 0;

  /// Before the first block: only these columns, in this order, are needed. Returns where they will be in the table.
  [[nodiscard]] virtual std::vector<std::size_t> select(std::vector<std::size_t> columns) { return columns; }

  /// Replaces the rows of the table by the next ones, about `most_rows` at most; false when there are none.
  virtual bool next(std::size_t most_rows) = 0;
};

/// True for a file whose format can be read in blocks: CSV and TSV, NPY, both also compressed, and Parquet.
[[nodiscard]] bool reads_in_blocks(const std::string& path);

/// Opens such a file. Throws Error{unreadable_input} for others, and what the readers of whole files throw.
[[nodiscard]] std::unique_ptr<BlockReader> open_in_blocks(const std::string& path, const ReaderOptions& options);

}  // namespace kqd
