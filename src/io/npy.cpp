#include "io/npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/fail.hpp"
#include "io/npy_header.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
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
void convert(const char* bytes, std::span<double> values) {
  for (double& value : values) {
    std::array<char, sizeof(T)> item{};
    std::memcpy(item.data(), bytes, sizeof(T));
    if constexpr (kReversed) std::ranges::reverse(item);
    value = to_double(std::bit_cast<T>(item));
    bytes += sizeof(T);
  }
}

using Convert = void (*)(const char* bytes, std::span<double> values);

struct ItemType {
  std::string_view code;  // kind and size, as NumPy writes them
  std::size_t bytes;
  Convert convert_native;
  Convert convert_reversed;
};

template <class T>
constexpr ItemType item_type(std::string_view code) {
  return {code, sizeof(T), convert<T, false>, convert<T, true>};
}

constexpr std::array kItemTypes = {
    item_type<Boolean>("b1"),       item_type<std::int8_t>("i1"),   item_type<std::int16_t>("i2"),
    item_type<std::int32_t>("i4"),  item_type<std::int64_t>("i8"),  item_type<std::uint8_t>("u1"),
    item_type<std::uint16_t>("u2"), item_type<std::uint32_t>("u4"), item_type<std::uint64_t>("u8"),
    item_type<Half>("f2"),          item_type<float>("f4"),         item_type<double>("f8"),
};

struct Encoding {
  std::size_t item_bytes = 0;
  Convert convert = nullptr;
};

[[noreturn]] void fail_dtype(std::string_view dtype, const std::string& name) {
  const std::string_view kind = dtype.substr(std::min<std::size_t>(1, dtype.size()));
  if (kind.starts_with('O')) {
    fail(ErrorCode::unreadable_input, "{}: holds Python objects, which are never loaded, expected numbers", name);
  }
  if (kind.starts_with('c')) {
    fail(ErrorCode::unreadable_input, "{}: holds complex numbers ({}), expected real ones", name, in_quotes(dtype));
  }
  fail(ErrorCode::unreadable_input,
       "{}: holds items of type {}, expected booleans, integers of 1 to 8 bytes or floats of 2 to 8 bytes", name,
       in_quotes(dtype));
}

Encoding find_encoding(std::string_view dtype, const std::string& name) {
  if (dtype.empty()) fail_dtype(dtype, name);
  const char order = dtype.front();
  const auto type = std::ranges::find(kItemTypes, dtype.substr(1), &ItemType::code);
  if (type == kItemTypes.end()) fail_dtype(dtype, name);
  const bool order_needed = type->bytes > 1;
  if (order != '<' && order != '>' && (order != '|' || order_needed)) fail_dtype(dtype, name);
  const bool native = !order_needed || (order == '<') == (std::endian::native == std::endian::little);
  return {type->bytes, native ? type->convert_native : type->convert_reversed};
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = (value << 8U) | static_cast<unsigned char>(bytes[i]);
  return value;
}

// Bytes up to the end of the header, counted while they are read.
class Preamble {
 public:
  explicit Preamble(ByteSource& source) : source_(source) {}

  std::string read(std::size_t count, std::string_view what) {
    std::string bytes(count, '\0');
    if (source_.read(bytes) < count) {
      fail(ErrorCode::unreadable_input, "{}: ends within {}, expected a whole NPY file", source_.name(), what);
    }
    place_ += count;
    return bytes;
  }

  [[nodiscard]] std::uint64_t bytes_left() const { return *source_.size() - place_; }

 private:
  ByteSource& source_;
  std::uint64_t place_ = 0;
};

NpyHeader read_header(Preamble& preamble, const std::string& name) {
  if (preamble.bytes_left() == 0) fail(ErrorCode::empty_sample, "{}: the file is empty, expected an NPY file", name);
  if (preamble.read(std::min<std::uint64_t>(kMagic.size(), preamble.bytes_left()), "its first bytes") != kMagic) {
    fail(ErrorCode::unreadable_input, "{}: does not start like an NPY file, expected one written by numpy.save", name);
  }
  const std::string version = preamble.read(2, "its version");
  const int major = static_cast<unsigned char>(version[0]);
  if (major < 1 || major > 3 || version[1] != 0) {
    fail(ErrorCode::unreadable_input, "{}: is of NPY version {}.{}, expected 1.0, 2.0 or 3.0", name, major,
         static_cast<unsigned char>(version[1]));
  }
  const std::uint64_t length = little_endian(preamble.read(major == 1 ? 2 : 4, "the length of its header"));
  if (length > preamble.bytes_left()) {
    fail(ErrorCode::unreadable_input, "{}: claims a header of {} bytes, but only {} follow", name, length,
         preamble.bytes_left());
  }
  return parse_npy_header(preamble.read(length, "its header"), name);
}

// What the shape means as rows and columns.
class Layout {
 public:
  Layout(const NpyHeader& header, const std::string& name)
      : fortran_order_(header.fortran_order), shape_(header.shape), rows_(1), cols_(1) {
    if (shape_.empty()) {
      fail(ErrorCode::unreadable_input, "{}: holds a single number of shape (), expected rows", name);
    }
    if (std::ranges::find(shape_, 0U) != shape_.end()) {
      fail(ErrorCode::empty_sample, "{}: has shape {}, expected at least one row and one column", name,
           to_string(shape_));
    }
    std::uint64_t count = 1;
    for (const std::uint64_t size : shape_) {
      if (__builtin_mul_overflow(count, size, &count)) fail_too_many(name);
    }
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(double)) fail_too_many(name);
    rows_ = shape_.front();
    cols_ = count / rows_;
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

 private:
  [[noreturn]] void fail_too_many(const std::string& name) const {
    fail(ErrorCode::unreadable_input, "{}: has shape {}, more values than memory can address", name, to_string(shape_));
  }

  bool fortran_order_;
  std::vector<std::uint64_t> shape_;
  std::size_t rows_;
  std::size_t cols_;
};

void check_size(const NpyHeader& header, const Layout& layout, std::size_t item_bytes, std::uint64_t bytes_left,
                const std::string& name) {
  std::uint64_t needed = 0;
  const bool overflow = __builtin_mul_overflow(layout.rows() * layout.cols(), item_bytes, &needed);
  if (!overflow && needed == bytes_left) return;
  fail(ErrorCode::unreadable_input, "{}: has {} bytes of data, expected {} for shape {} of type {}", name, bytes_left,
       needed, to_string(header.shape), in_quotes(header.dtype));
}

// The values of the file one after another, as doubles.
class ValueStream {
 public:
  ValueStream(ByteSource& source, Encoding encoding)
      : source_(source), encoding_(encoding), buffer_(kBufferBytes / encoding.item_bytes * encoding.item_bytes) {}

  void read(std::span<double> values) {
    const std::size_t capacity = buffer_.size() / encoding_.item_bytes;
    for (std::size_t done = 0; done < values.size();) {
      const std::size_t count = std::min(capacity, values.size() - done);
      const std::span<char> bytes = std::span(buffer_).first(count * encoding_.item_bytes);
      if (source_.read(bytes) < bytes.size()) {
        fail(ErrorCode::unreadable_input, "{}: became shorter while it was read", source_.name());
      }
      encoding_.convert(bytes.data(), values.subspan(done, count));
      done += count;
    }
  }

 private:
  ByteSource& source_;
  Encoding encoding_;
  std::vector<char> buffer_;
};

void read_by_rows(ValueStream& stream, Table& table) {
  std::size_t row = 0;
  for (std::size_t b = 0; b < table.cells.num_blocks(); ++b) {
    const MatrixView<double> block = table.cells.block(b);
    stream.read({block.data(), block.rows() * block.cols()});
    for (std::size_t i = 0; i < block.rows(); ++i) {
      ++row;
      for (std::size_t j = 0; j < block.cols(); ++j) block(i, j) = table.from_number(j, block(i, j), row);
    }
  }
}

void read_by_columns(ValueStream& stream, const Layout& layout, Table& table) {
  std::vector<double> piece;
  for (std::size_t k = 0; k < layout.cols(); ++k) {
    const std::size_t column = layout.column_in_table(k);
    std::size_t row = 0;
    for (std::size_t b = 0; b < table.cells.num_blocks(); ++b) {
      const MatrixView<double> block = table.cells.block(b);
      piece.resize(block.rows());
      stream.read(piece);
      for (std::size_t i = 0; i < block.rows(); ++i) block(i, column) = table.from_number(column, piece[i], ++row);
    }
  }
}

Table read_sized_npy(ByteSource& source, const TextRules& rules) {
  Preamble preamble(source);
  const NpyHeader header = read_header(preamble, source.name());
  const Encoding encoding = find_encoding(header.dtype, source.name());
  const Layout layout(header, source.name());
  check_size(header, layout, encoding.item_bytes, preamble.bytes_left(), source.name());

  Table table(source.name(), layout.cols(), rules);
  table.cells.append_rows(layout.rows());
  ValueStream stream(source, encoding);
  if (layout.by_columns()) {
    read_by_columns(stream, layout, table);
  } else {
    read_by_rows(stream, table);
  }
  return table;
}

}  // namespace

Table read_npy(ByteSource& source, const TextRules& rules) {
  if (source.size()) return read_sized_npy(source, rules);
  // A pipe does not say how much will come, so a shape could claim any amount of memory: take what comes first.
  const std::string bytes = read_all(source);
  MemorySource memory(source.name(), bytes);
  return read_sized_npy(memory, rules);
}

}  // namespace kqd
