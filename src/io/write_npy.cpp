#include <fmt/format.h>

#include <bit>
#include <span>
#include <string>
#include <string_view>

#include "io/output_file.hpp"
#include "io/write_checks.hpp"
#include "kqd/io/write.hpp"

namespace kqd {
namespace {

static_assert(std::endian::native == std::endian::little, "on other machines the bytes of each number must be swapped");

// Magic, version 1.0, length of the dictionary in two bytes, the dictionary; blanks and a newline fill it up to a
// multiple of 64 bytes (NumPy, numpy.lib.format).
std::string npy_header(std::size_t rows, std::size_t cols) {
  constexpr std::size_t kPrefix = 10;
  constexpr std::size_t kAlignment = 64;
  std::string dictionary = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", rows, cols);
  while ((kPrefix + dictionary.size() + 1) % kAlignment != 0) dictionary += ' ';
  dictionary += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dictionary.size() % 256);
  header += static_cast<char>(dictionary.size() / 256);
  return header + dictionary;
}

std::string_view bytes_of(std::span<const double> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

}  // namespace

void write_npy(const std::string& path, const Sample& sample) {
  validate_for_writing(path, sample);
  OutputFile file(path);
  file.write(npy_header(sample.points.rows(), sample.points.cols()));
  file.write(bytes_of(sample.points.values()));
  file.commit();
}

}  // namespace kqd
