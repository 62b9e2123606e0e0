#include "io/idx.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "core/fail.hpp"
#include "io/array.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

// The types of the format: the code in its third byte, the name in names of files, NumPy's code.
struct IdxType {
  unsigned char code;
  std::string_view name;
  std::string_view numpy_code;
};

constexpr std::array<IdxType, 6> kTypes = {{
    {0x08, "ubyte", "u1"},
    {0x09, "byte", "i1"},
    {0x0b, "short", "i2"},
    {0x0c, "int", "i4"},
    {0x0d, "float", "f4"},
    {0x0e, "double", "f8"},
}};

unsigned char byte_at(std::string_view bytes, std::size_t i) {
  return static_cast<unsigned char>(bytes[i]);
}

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes) value = (value << 8U) | static_cast<unsigned char>(c);
  return value;
}

const IdxType& type_or_fail(std::string_view magic, const std::string& name) {
  const auto type = std::ranges::find(kTypes, byte_at(magic, 2), &IdxType::code);
  if (byte_at(magic, 0) != 0 || byte_at(magic, 1) != 0 || type == kTypes.end()) {
    fail_at(ErrorCode::unreadable_input, name,
            "does not start like an idx file (two zero bytes, then a type from 0x08 to 0x0e)",
            "one in the format of MNIST");
  }
  return *type;
}

}  // namespace

bool starts_like_idx(std::string_view beginning) {
  return beginning.size() >= 4 && beginning.starts_with(std::string_view("\0\0", 2)) && byte_at(beginning, 3) > 0 &&
         std::ranges::find(kTypes, byte_at(beginning, 2), &IdxType::code) != kTypes.end();
}

bool is_named_like_idx(std::string_view path) {
  if (has_suffix(path, ".idx")) return true;
  for (const IdxType& type : kTypes) {
    const std::string ending = "-" + std::string(type.name);
    if (!has_suffix(path, ending)) continue;
    path.remove_suffix(ending.size());
    const bool counted = !path.empty() && path.back() >= '1' && path.back() <= '9';
    return counted && has_suffix(path.substr(0, path.size() - 1), "idx");
  }
  return false;
}

Table read_idx(ByteSource& source, const TextRules& rules) {
  HeaderBytes bytes(source, "idx file");
  const std::string magic = bytes.read(4, "its first bytes");
  const IdxType& type = type_or_fail(magic, source.name());
  ArrayHeader header{std::string(type.name), *find_item_type(type.numpy_code, std::endian::big), {}, false};
  for (unsigned d = 0; d < byte_at(magic, 3); ++d) header.shape.push_back(big_endian(bytes.read(4, "its sizes")));
  return read_array(source, header, bytes.bytes_left(), rules);
}

}  // namespace kqd
