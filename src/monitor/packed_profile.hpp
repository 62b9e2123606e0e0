#pragma once
#include <string>
#include <string_view>

#include "kqd/profile/profile.hpp"

namespace kqd {

/// Bytes, compressed, and back. Throws Error{unreadable_input} for what is damaged.
[[nodiscard]] std::string compressed(const std::string& bytes);
[[nodiscard]] std::string expanded(std::string_view bytes);

/// The rows of a profile without its spec, compressed.
[[nodiscard]] std::string packed_rows(const Profile& profile);

}  // namespace kqd
