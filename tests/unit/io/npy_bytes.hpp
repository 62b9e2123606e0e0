#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kqd::test {

/// The last `count` bytes of a number, the least significant first.
inline std::string little_endian(std::uint64_t value, std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xffU);
  return bytes;
}

/// The bytes of an NPY file: magic, version, the length of the header, the header as given, the data.
inline std::string npy_bytes(int version, std::string_view header, std::string_view data) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  bytes += little_endian(header.size(), version == 1 ? 2 : 4);
  bytes += header;
  bytes += data;
  return bytes;
}

/// An NPY file of version 1 whose header is well-formed.
inline std::string npy_file(std::string_view dtype, std::string_view shape, std::string_view data,
                            bool fortran_order = false) {
  const std::string header = "{'descr': '" + std::string(dtype) +
                             "', 'fortran_order': " + (fortran_order ? "True" : "False") +
                             ", 'shape': " + std::string(shape) + ", }   \n";
  return npy_bytes(1, header, data);
}

/// Doubles as they stand in a file of type '<f8'.
template <class... Doubles>
std::string f8(Doubles... values) {
  return (little_endian(std::bit_cast<std::uint64_t>(static_cast<double>(values)), 8) + ...);
}

}  // namespace kqd::test
