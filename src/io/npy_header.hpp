#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kqd {

/// The header of an NPY file.
struct NpyHeader {
  std::string dtype;  ///< as written, such as "<f8"
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
};

/// Reads the header's text: a Python dictionary with the keys descr, fortran_order and shape, in any order, each once
/// and no other, then blanks and a line feed. `name` starts a message.
/// Throws Error{unreadable_input} with the byte, from 1, where the text is not what it should be.
[[nodiscard]] NpyHeader parse_npy_header(std::string_view text, const std::string& name);

}  // namespace kqd
