#pragma once
#include <zlib.h>

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/fail.hpp"
#include "kqd/core/matrix.hpp"

namespace kqd {

/// Elements that a list in a file may have, other than counts and sums.
inline constexpr std::uint64_t kMostListed = std::uint64_t{1} << 24U;

/// CRC-32.
[[nodiscard]] inline std::uint32_t checksum_of(std::string_view bytes) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

/// The bytes of a file of at most so many. Throws Error{unreadable_input, resource_limit}.
[[nodiscard]] inline std::string read_bytes(const std::string& path, std::uint64_t most) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) fail_at(ErrorCode::unreadable_input, path, "cannot be opened");
  const auto size = static_cast<std::uint64_t>(file.tellg());
  if (size > most) {
    fail_at(ErrorCode::resource_limit, path, fmt::format("has {} MB, more than allowed", size >> 20U));
  }
  std::string bytes(size, '\0');
  file.seekg(0);
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  if (!file) fail_at(ErrorCode::unreadable_input, path, "cannot be read");
  return bytes;
}

/// Bytes of a file in which equal content has equal bytes. Little endian.
class ByteWriter {
 public:
  template <std::unsigned_integral T>
  void number(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
      bytes_.push_back(static_cast<char>((static_cast<std::uint64_t>(value) >> (8 * i)) & 0xffU));
  }
  void real(double value) { number(std::bit_cast<std::uint64_t>(value)); }
  /// Seven bits at a time, lowest first (LEB128): most counts are small.
  void packed(std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) bytes_.push_back(static_cast<char>((value & 0x7fU) | 0x80U));
    bytes_.push_back(static_cast<char>(value));
  }
  void packed_signed(std::int64_t value) {
    packed((static_cast<std::uint64_t>(value) << 1U) ^ (value < 0 ? ~std::uint64_t{0} : 0));
  }
  void text(std::string_view value) {
    packed(value.size());
    bytes_ += value;
  }
  void reals(std::span<const double> values) {
    packed(values.size());
    for (const double v : values) real(v);
  }
  void matrix(const Matrix<double>& values) {
    packed(values.rows());
    packed(values.cols());
    for (const double v : values.values()) real(v);
  }
  void raw(std::string_view bytes) { bytes_ += bytes; }
  void section(std::string_view tag, const std::string& content) {
    raw(tag);
    number<std::uint64_t>(content.size());
    raw(content);
    number(checksum_of(content));
  }
  [[nodiscard]] std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads what ByteWriter wrote and trusts no byte. Throws Error{unreadable_input}: "not a valid profile: ...".
class ByteReader {
 public:
  /// `kind` of file in errors.
  ByteReader(std::string_view bytes, std::string_view kind) : left_(bytes), kind_(kind) {}

  [[nodiscard]] std::string_view raw(std::uint64_t count) {
    if (count > left_.size()) fail_file("it ends too early");
    const std::string_view found = left_.substr(0, count);
    left_.remove_prefix(count);
    return found;
  }
  template <std::unsigned_integral T>
  [[nodiscard]] T number() {
    const std::string_view bytes = raw(sizeof(T));
    T value = 0;
    for (std::size_t i = sizeof(T); i-- > 0;) {
      value = static_cast<T>((static_cast<std::uint64_t>(value) << 8U) | static_cast<unsigned char>(bytes[i]));
    }
    return value;
  }
  [[nodiscard]] double real() {
    const auto value = std::bit_cast<double>(number<std::uint64_t>());
    if (!std::isfinite(value)) fail_file("a number is not finite");
    return value;
  }
  /// One spelling per number, so that equal content has equal bytes.
  [[nodiscard]] std::uint64_t packed() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(raw(1).front());
      const std::uint64_t bits = byte & 0x7fU;
      if (shift == 63 && bits > 1) break;
      value |= bits << shift;
      if ((byte & 0x80U) != 0) continue;
      if (byte == 0 && shift > 0) break;
      return value;
    }
    fail_file("a number is not written in its shortest form");
  }
  [[nodiscard]] std::int64_t packed_signed() {
    const std::uint64_t value = packed();
    return static_cast<std::int64_t>((value >> 1U) ^ (~(value & 1U) + 1));
  }
  /// The length of a list whose elements take at least `bytes_each`.
  [[nodiscard]] std::size_t length(std::size_t bytes_each) {
    const std::uint64_t count = packed();
    if (count > kMostListed || count * bytes_each > left_.size()) fail_file("a list is longer than the file");
    return count;
  }
  [[nodiscard]] std::string text() { return std::string(raw(length(1))); }
  [[nodiscard]] std::vector<double> reals() {
    std::vector<double> values(length(sizeof(double)));
    for (double& v : values) v = real();
    return values;
  }
  [[nodiscard]] Matrix<double> matrix() {
    const std::uint64_t rows = packed();
    const std::uint64_t cols = packed();
    if (rows > kMostListed || cols > kMostListed || rows * cols > left_.size() / sizeof(double)) {
      fail_file("a matrix is larger than the file");
    }
    Matrix<double> values(rows, cols);
    for (double& v : values.values()) v = real();
    return values;
  }
  /// The content of the next section, which has this tag.
  [[nodiscard]] std::string_view section(std::string_view tag) {
    if (raw(tag.size()) != tag) fail_file(fmt::format("section {} is missing", tag));
    const std::string_view content = raw(number<std::uint64_t>());
    if (number<std::uint32_t>() != checksum_of(content)) fail_file(fmt::format("section {} is damaged", tag));
    return content;
  }
  void require_end(std::string_view what) const {
    if (!left_.empty()) fail_file(fmt::format("{} has {} bytes too many", what, left_.size()));
  }
  [[nodiscard]] bool empty() const { return left_.empty(); }
  [[nodiscard]] std::size_t size() const { return left_.size(); }

 private:
  [[noreturn]] void fail_file(const std::string& problem) const {
    fail(ErrorCode::unreadable_input, "not a valid {}: {}", kind_, problem);
  }

  std::string_view left_;
  std::string_view kind_;
};

}  // namespace kqd
