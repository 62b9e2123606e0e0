#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/table.hpp"

namespace kqd {

/// A name such as "file.npz:key", taken apart. The key is empty when none is given.
struct NpzName {
  std::string path;
  std::string key;
};

/// The parts of a name of an array in an archive; nothing when the name is of another kind.
[[nodiscard]] std::optional<NpzName> parse_npz_name(const std::string& name);

/// The names of the arrays in an archive written by numpy.savez, without .npy, in the order of the archive.
/// Throws Error{unreadable_input}.
[[nodiscard]] std::vector<std::string> npz_keys(const std::string& path);

/// The first of these names, shortened and safe to print, and how many more there are.
[[nodiscard]] std::string list_of_keys(const std::vector<std::string>& keys);

/// One array of an archive, stored or deflated, as read_npy reads it. Without a key there must be one array only.
/// No more is inflated than the header of the array asks for, and the checksum is compared.
/// Throws Error{unreadable_input} listing the keys when none, an unknown or a needed key is given; what read_npy
/// throws.
[[nodiscard]] Table read_npz(const NpzName& name, const TextRules& rules);

}  // namespace kqd
