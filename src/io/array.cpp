#include "io/array.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

// A table keeps books of each column.
constexpr std::size_t kMostColumns = std::size_t{1} << 22U;
constexpr std::size_t kMostColumnsOnTrust = std::size_t{1} << 16U;
constexpr std::size_t kRowsPerStop = 4096;
constexpr std::size_t kBufferBytes = std::size_t{1} << 20U;

struct Half {
  std::uint16_t bits;
};
struct Boolean {
  std::uint8_t byte;
};

template <class T>
requires std::is_arithmetic_v<T>
double to_double(T value) {
  return static_cast<double>(value);
}

double to_double(Boolean value) {
  return value.byte != 0 ? 1.0 : 0.0;
}

// IEEE 754 binary16: 1 bit sign, 5 bits exponent, 10 bits fraction.
double to_double(Half value) {
  const int exponent = (value.bits >> 10U) & 0x1f;
  const int fraction = value.bits & 0x3ff;
  const double sign = (value.bits >> 15U) != 0 ? -1.0 : 1.0;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  if (exponent < 31) return sign * std::ldexp(1024 + fraction, exponent - 25);
  return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
}

template <class T, bool kReversed>
T item_at(const char* bytes) {
  std::array<char, sizeof(T)> item{};
  std::memcpy(item.data(), bytes, sizeof(T));
  if constexpr (kReversed) std::ranges::reverse(item);
  return std::bit_cast<T>(item);
}

template <class T, bool kReversed>
void convert(const char* bytes, std::span<double> values) {
  for (double& value : values) {
    value = to_double(item_at<T, kReversed>(bytes));
    bytes += sizeof(T);
  }
}

template <class T, bool kReversed>
void keep_exact(const char* item, Table& table, std::size_t column, std::size_t row) {
  table.keep_exact(column, item_at<T, kReversed>(item), row);
}

template <class T, bool kReversed>
constexpr ItemType item_type() {
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    return {sizeof(T), convert<T, kReversed>, keep_exact<T, kReversed>};
  } else {
    return {sizeof(T), convert<T, kReversed>};
  }
}

struct KnownType {
  std::string_view code;  // kind and size, as NumPy writes them
  ItemType native;
  ItemType reversed;
};

template <class T>
constexpr KnownType known_type(std::string_view code) {
  return {code, item_type<T, false>(), item_type<T, true>()};
}

constexpr std::array kKnownTypes = {
    known_type<Boolean>("b1"),       known_type<std::int8_t>("i1"),   known_type<std::int16_t>("i2"),
    known_type<std::int32_t>("i4"),  known_type<std::int64_t>("i8"),  known_type<std::uint8_t>("u1"),
    known_type<std::uint16_t>("u2"), known_type<std::uint32_t>("u4"), known_type<std::uint64_t>("u8"),
    known_type<Half>("f2"),          known_type<float>("f4"),         known_type<double>("f8"),
};

// The rows and columns of a shape.
class Layout {
 public:
  Layout(const ArrayHeader& header, const std::string& name)
      : fortran_order_(header.fortran_order), shape_(header.shape), rows_(1), cols_(1) {
    if (shape_.empty()) {
      fail_at(ErrorCode::unreadable_input, name, "holds a single number of shape ()", "rows");
    }
    if (std::ranges::find(shape_, 0U) != shape_.end()) {
      fail_at(ErrorCode::empty_sample, name, fmt::format("has shape {}", to_string(shape_)),
              "at least one row and one column");
    }
    std::uint64_t count = 1;
    for (const std::uint64_t size : shape_) {
      if (__builtin_mul_overflow(count, size, &count)) fail_too_many(name);
    }
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(double)) fail_too_many(name);
    rows_ = shape_.front();
    cols_ = count / rows_;
    if (cols_ > kMostColumns) {
      fail_at(ErrorCode::unreadable_input, name, fmt::format("has shape {}, {} columns", to_string(shape_), cols_),
              fmt::format("at most {}", kMostColumns), "Rows come first: transpose the array if its columns do");
    }
  }

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t cols() const { return cols_; }
  [[nodiscard]] bool by_columns() const { return fortran_order_ && cols_ > 1; }

  // The column of the table for the k-th column of a file in Fortran order. There the second dimension runs fastest;
  // in the table, as in reshape(n, -1), the last one does.
  [[nodiscard]] std::size_t column_in_table(std::size_t k) const {
    std::size_t column = 0;
    std::size_t weight = cols_;
    for (std::size_t d = 1; d < shape_.size(); ++d) {
      weight /= shape_[d];
      column += k % shape_[d] * weight;
      k /= shape_[d];
    }
    return column;
  }

  [[noreturn]] void fail_too_many(const std::string& name) const {
    fail_at(ErrorCode::unreadable_input, name,
            fmt::format("has shape {}, more values than memory can address", to_string(shape_)));
  }

 private:
  bool fortran_order_;
  std::vector<std::uint64_t> shape_;
  std::size_t rows_;
  std::size_t cols_;
};

[[noreturn]] void fail_size(const ArrayHeader& header, const std::string& name, std::string_view has,
                            std::uint64_t needed) {
  fail_at(ErrorCode::unreadable_input, name, fmt::format("has {} bytes of data", has),
          fmt::format("{} for shape {} of type {}", needed, to_string(header.shape), in_quotes(header.type_name)));
}

// The values of the file one after another, as doubles.
class ValueStream {
 public:
  ValueStream(ByteSource& source, const ArrayHeader& header, std::uint64_t num_bytes)
      : source_(source),
        header_(header),
        num_bytes_(num_bytes),
        buffer_(kBufferBytes / header.items.bytes * header.items.bytes) {}

  // Calls `on_large` with the place among `values` and the bytes of each item that may be more than its double.
  void read(std::span<double> values, FunctionRef<void(std::size_t place, const char* item)> on_large) {
    const std::size_t item_bytes = header_.items.bytes;
    const std::size_t capacity = buffer_.size() / item_bytes;
    for (std::size_t done = 0; done < values.size();) {
      const std::size_t count = std::min(capacity, values.size() - done);
      const std::span<double> part = values.subspan(done, count);
      // Doubles of our own order need no conversion, and so no detour.
      const bool as_it_is = header_.items.convert == convert<double, false>;
      const std::span<char> bytes = as_it_is ? std::span(reinterpret_cast<char*>(part.data()), part.size_bytes())
                                             : std::span(buffer_).first(count * item_bytes);
      const std::size_t got = source_.read(bytes);
      place_ += got;
      if (got < bytes.size()) fail_short();
      if (!as_it_is) header_.items.convert(bytes.data(), part);
      for (std::size_t k = 0; header_.items.keep_exact != nullptr && k < count; ++k) {
        if (std::abs(part[k]) >= kLargestExactWhole) on_large(done + k, bytes.data() + k * item_bytes);
      }
      done += count;
    }
  }

  [[nodiscard]] const ItemType& items() const { return header_.items; }

  // Once all values were read: nothing may follow.
  void check_end() {
    char more = 0;
    if (source_.read({&more, 1}) > 0) {
      fail_size(header_, source_.name(), fmt::format("more than {}", num_bytes_), num_bytes_);
    }
  }

 private:
  [[noreturn]] void fail_short() const {
    if (source_.size()) fail_at(ErrorCode::unreadable_input, source_.name(), "became shorter while it was read");
    fail_size(header_, source_.name(), fmt::to_string(place_), num_bytes_);
  }

  ByteSource& source_;
  const ArrayHeader& header_;
  std::uint64_t num_bytes_;
  std::uint64_t place_ = 0;
  std::vector<char> buffer_;
};

// Block by block, as the bytes come.
void read_by_rows(ValueStream& stream, const Layout& layout, Table& table) {
  for (std::size_t row = 0; row < layout.rows();) {
    const MatrixView<double> block = table.cells.append_within_block(layout.rows() - row);
    stream.read({block.data(), block.rows() * block.cols()}, [&](std::size_t place, const char* item) {
      stream.items().keep_exact(item, table, place % block.cols(), row + place / block.cols());
    });
    for (std::size_t i = 0; i < block.rows(); ++i) {
      ++row;
      for (std::size_t j = 0; j < block.cols(); ++j) block(i, j) = table.from_number(j, block(i, j), row);
    }
  }
}

void read_by_columns(ValueStream& stream, const Layout& layout, Table& table) {
  table.cells.append_rows(layout.rows());
  std::vector<double> piece;
  for (std::size_t k = 0; k < layout.cols(); ++k) {
    const std::size_t column = layout.column_in_table(k);
    std::size_t row = 0;
    for (std::size_t b = 0; b < table.cells.num_blocks(); ++b) {
      const MatrixView<double> block = table.cells.block(b);
      piece.resize(block.rows());
      stream.read(piece, [&](std::size_t place, const char* item) {
        stream.items().keep_exact(item, table, column, row + place);
      });
      for (std::size_t i = 0; i < block.rows(); ++i) block(i, column) = table.from_number(column, piece[i], ++row);
    }
  }
}

// A file of at least this size is mapped rather than read, where that is allowed and no value needs converting.
constexpr std::size_t kSmallestMapped = std::size_t{1} << 20U;
constexpr std::size_t kAlignment = 64;  // what Matrix promises; NumPy pads its headers to it

bool stands_as_in_memory(const ArrayHeader& header, const Layout& layout) {
  return header.items.convert == convert<double, false> && !layout.by_columns();
}

// The cells mapped from the file, where that is possible. Pages are copied where a cell is written, and only there.
std::optional<Table> map_values(const ByteSource& source, const ArrayHeader& header, const Layout& layout,
                                std::uint64_t place, std::uint64_t num_bytes, const TextRules& rules) {
  if (num_bytes < kSmallestMapped || place % kAlignment != 0 || !stands_as_in_memory(header, layout)) return {};
  const std::shared_ptr<void> bytes = source.map(place, num_bytes);
  if (!bytes) return {};
  Table table(source.name(), layout.cols(), rules);
  Matrix<double> matrix(static_cast<double*>(bytes.get()), layout.rows(), layout.cols(), bytes);
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    const std::span<double> row = matrix.row(i);
    for (std::size_t j = 0; j < row.size(); ++j) {
      const double cell = table.from_number(j, row[j], i + 1);
      if (!(cell == row[j])) row[j] = cell;
    }
    if (i % kRowsPerStop == 0) stop_point();
  }
  table.cells = BlockedRows(std::move(matrix));
  return table;
}

Table read_values(ByteSource& source, const ArrayHeader& header, const Layout& layout, std::uint64_t num_bytes,
                  const TextRules& rules) {
  Table table(source.name(), layout.cols(), rules);
  ValueStream stream(source, header, num_bytes);
  if (layout.by_columns()) {
    read_by_columns(stream, layout, table);
  } else {
    read_by_rows(stream, layout, table);
  }
  stream.check_end();
  return table;
}

Table read_flat_array(ByteSource& source, const ArrayHeader& header, std::optional<std::uint64_t> bytes_left,
                      const TextRules& rules) {
  const Layout layout(header, source.name());
  std::uint64_t needed = 0;
  if (__builtin_mul_overflow(layout.rows() * layout.cols(), header.items.bytes, &needed)) {
    layout.fail_too_many(source.name());
  }
  if (bytes_left && *bytes_left != needed) fail_size(header, source.name(), fmt::to_string(*bytes_left), needed);
  if (bytes_left) {
    if (auto mapped = map_values(source, header, layout, *source.size() - needed, needed, rules))
      return *std::move(mapped);
  }
  const bool costs_little = !layout.by_columns() && layout.cols() <= kMostColumnsOnTrust;
  if (bytes_left || costs_little) return read_values(source, header, layout, needed, rules);
  // Very many columns, or columns that are scattered over all rows, would take memory for a claim: see first whether
  // the bytes come.
  const std::string bytes = read_all(source, needed == UINT64_MAX ? needed : needed + 1);
  if (bytes.size() < needed) fail_size(header, source.name(), fmt::to_string(bytes.size()), needed);
  if (bytes.size() > needed) fail_size(header, source.name(), fmt::format("more than {}", needed), needed);
  MemorySource memory(source.name(), bytes);
  return read_values(memory, header, layout, needed, rules);
}

// An array whose rows come in blocks.
class ArrayBlocks final : public BlockReader {
 public:
  ArrayBlocks(std::unique_ptr<ByteSource> source, const ArrayHeader& header, std::optional<std::uint64_t> bytes_left,
              const TextRules& rules)
      : source_(std::move(source)),
        header_(header),
        layout_(header_, source_->name()),
        table_(source_->name(), layout_.cols(), rules) {
    if (__builtin_mul_overflow(layout_.rows() * layout_.cols(), header_.items.bytes, &num_bytes_)) {
      layout_.fail_too_many(source_->name());
    }
    if (bytes_left && *bytes_left != num_bytes_) {
      fail_size(header_, source_->name(), fmt::to_string(*bytes_left), num_bytes_);
    }
    if (layout_.by_columns()) {
      file_ = dynamic_cast<const FileSource*>(source_.get());
      if (file_ == nullptr || !source_->size()) {
        fail_at(ErrorCode::unreadable_input, source_->name(),
                "is a compressed array in Fortran order, which cannot be read in blocks", "",
                "Write it in C order, or uncompressed");
      }
      first_byte_ = *source_->size() - num_bytes_;
    }
    stream_.emplace(*source_, header_, num_bytes_);
  }

  [[nodiscard]] Table& table() override { return table_; }
  [[nodiscard]] std::optional<std::uint64_t> num_rows() const override { return layout_.rows(); }
  [[nodiscard]] std::size_t count_rows() override { return layout_.rows(); }

  bool next(std::size_t most_rows) override {
    table_.start_next_block();
    const std::size_t done = table_.dropped.count;
    const std::size_t count = std::min(most_rows, layout_.rows() - done);
    if (count == 0) {
      if (file_ == nullptr) stream_->check_end();
      return false;
    }
    if (file_ != nullptr) {
      read_columns(done, count);
    } else {
      read_rows(done, count);
    }
    return true;
  }

 private:
  void read_rows(std::size_t done, std::size_t count) {
    while (table_.cells.rows() < count) {
      const std::size_t first = done + table_.cells.rows();
      const MatrixView<double> block = table_.cells.append_within_block(count - table_.cells.rows());
      stream_->read({block.data(), block.rows() * block.cols()}, [&](std::size_t place, const char* item) {
        header_.items.keep_exact(item, table_, place % block.cols(), first + place / block.cols());
      });
      for (std::size_t i = 0; i < block.rows(); ++i) {
        for (std::size_t j = 0; j < block.cols(); ++j) block(i, j) = table_.from_number(j, block(i, j), first + i + 1);
      }
    }
  }

  void read_columns(std::size_t done, std::size_t count) {
    const std::size_t item_bytes = header_.items.bytes;
    table_.cells.append_rows(count);
    std::vector<char> bytes(count * item_bytes);
    std::vector<double> values(count);
    for (std::size_t k = 0; k < layout_.cols(); ++k) {
      const std::size_t column = layout_.column_in_table(k);
      if (file_->read_at(first_byte_ + (k * layout_.rows() + done) * item_bytes, bytes) < bytes.size()) {
        fail_at(ErrorCode::unreadable_input, source_->name(), "became shorter while it was read");
      }
      header_.items.convert(bytes.data(), values);
      std::size_t i = 0;
      for (std::size_t b = 0; b < table_.cells.num_blocks(); ++b) {
        const MatrixView<double> block = table_.cells.block(b);
        for (std::size_t r = 0; r < block.rows(); ++r, ++i) {
          if (header_.items.keep_exact != nullptr && std::abs(values[i]) >= kLargestExactWhole) {
            header_.items.keep_exact(bytes.data() + i * item_bytes, table_, column, done + i);
          }
          block(r, column) = table_.from_number(column, values[i], done + i + 1);
        }
      }
    }
  }

  std::unique_ptr<ByteSource> source_;
  ArrayHeader header_;
  Layout layout_;
  Table table_;
  std::uint64_t num_bytes_ = 0;
  std::optional<ValueStream> stream_;
  const FileSource* file_ = nullptr;  // of an array in Fortran order
  std::uint64_t first_byte_ = 0;
};

}  // namespace

std::unique_ptr<BlockReader> read_array_in_blocks(std::unique_ptr<ByteSource> source, const ArrayHeader& header,
                                                  std::optional<std::uint64_t> bytes_left, const TextRules& rules) {
  return std::make_unique<ArrayBlocks>(std::move(source), header, bytes_left, rules);
}

std::optional<ItemType> find_item_type(std::string_view code, std::endian order) {
  const auto type = std::ranges::find(kKnownTypes, code, &KnownType::code);
  if (type == kKnownTypes.end()) return std::nullopt;
  return order == std::endian::native ? type->native : type->reversed;
}

std::string HeaderBytes::read(std::size_t count, std::string_view what) {
  std::string bytes(count, '\0');
  const std::size_t got = source_.read(bytes);
  if (place_ + got == 0 && count > 0) {
    fail_at(ErrorCode::empty_sample, source_.name(), "the file is empty", fmt::format("an {}", format_));
  }
  if (got < count) {
    fail_at(ErrorCode::unreadable_input, source_.name(), fmt::format("ends within {}", what),
            fmt::format("a whole {}", format_));
  }
  place_ += count;
  return bytes;
}

std::optional<std::uint64_t> HeaderBytes::bytes_left() const {
  const auto size = source_.size();
  return size ? std::optional(*size - place_) : std::nullopt;
}

std::string to_string(const std::vector<std::uint64_t>& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

Table read_array(ByteSource& source, const ArrayHeader& header, std::optional<std::uint64_t> bytes_left,
                 const TextRules& rules) {
  Table table = read_flat_array(source, header, bytes_left, rules);
  if (header.shape.size() > 2) table.row_shape.assign(header.shape.begin() + 1, header.shape.end());
  return table;
}

}  // namespace kqd
