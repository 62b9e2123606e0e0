#include "io/npy.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/fail.hpp"
#include "io/array.hpp"
#include "io/npy_header.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

// Headers take some hundred bytes; only a list of fields, which we refuse anyway, could be longer than this.
constexpr std::uint64_t kLongestHeader = std::uint64_t{1} << 20U;

[[noreturn]] void fail_dtype(std::string_view dtype, const std::string& name) {
  const std::string_view kind = dtype.substr(std::min<std::size_t>(1, dtype.size()));
  if (kind.starts_with('O')) {
    fail_at(ErrorCode::unreadable_input, name, "holds Python objects, which are never loaded", "numbers");
  }
  if (kind.starts_with('c')) {
    fail_at(ErrorCode::unreadable_input, name, fmt::format("holds complex numbers ({})", in_quotes(dtype)),
            "real ones");
  }
  fail_at(ErrorCode::unreadable_input, name, fmt::format("holds items of type {}", in_quotes(dtype)),
          "booleans, integers of 1 to 8 bytes or floats of 2 to 8 bytes");
}

ItemType item_type_or_fail(std::string_view dtype, const std::string& name) {
  if (dtype.empty()) fail_dtype(dtype, name);
  const char order = dtype.front();
  const auto type = find_item_type(dtype.substr(1), order == '>' ? std::endian::big : std::endian::little);
  if (!type) fail_dtype(dtype, name);
  if (order != '<' && order != '>' && (order != '|' || type->bytes > 1)) fail_dtype(dtype, name);
  return *type;
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = (value << 8U) | static_cast<unsigned char>(bytes[i]);
  return value;
}

NpyHeader read_header(HeaderBytes& bytes, const std::string& name) {
  const std::uint64_t magic_bytes =
      std::clamp<std::uint64_t>(bytes.bytes_left().value_or(kNpyMagic.size()), 1, kNpyMagic.size());
  if (bytes.read(magic_bytes, "its first bytes") != kNpyMagic) {
    fail_at(ErrorCode::unreadable_input, name, "does not start like an NPY file", "one written by numpy.save");
  }
  const std::string version = bytes.read(2, "its version");
  const int major = static_cast<unsigned char>(version[0]);
  if (major < 1 || major > 3 || version[1] != 0) {
    fail_at(ErrorCode::unreadable_input, name,
            fmt::format("is of NPY version {}.{}", major, static_cast<unsigned char>(version[1])), "1.0, 2.0 or 3.0");
  }
  const std::uint64_t length = little_endian(bytes.read(major == 1 ? 2 : 4, "the length of its header"));
  if (const auto left = bytes.bytes_left(); left && length > *left) {
    fail_at(ErrorCode::unreadable_input, name,
            fmt::format("claims a header of {} bytes, but only {} follow", length, *left));
  }
  if (length > kLongestHeader) {
    fail_at(ErrorCode::unreadable_input, name, fmt::format("claims a header of {} bytes", length),
            fmt::format("at most {}", kLongestHeader));
  }
  return parse_npy_header(bytes.read(length, "its header"), name);
}

ArrayHeader array_header(HeaderBytes& bytes, const std::string& name) {
  NpyHeader header = read_header(bytes, name);
  const ItemType items = item_type_or_fail(header.dtype, name);
  return {std::move(header.dtype), items, std::move(header.shape), header.fortran_order};
}

}  // namespace

Table read_npy(ByteSource& source, const TextRules& rules) {
  HeaderBytes bytes(source, "NPY file");
  const ArrayHeader header = array_header(bytes, source.name());
  return read_array(source, header, bytes.bytes_left(), rules);
}

std::unique_ptr<BlockReader> read_npy_in_blocks(std::unique_ptr<ByteSource> source, const TextRules& rules) {
  HeaderBytes bytes(*source, "NPY file");
  const ArrayHeader header = array_header(bytes, source->name());
  const auto bytes_left = bytes.bytes_left();
  return read_array_in_blocks(std::move(source), header, bytes_left, rules);
}

}  // namespace kqd
