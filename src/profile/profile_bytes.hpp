#pragma once
#include <string>
#include <string_view>

#include "core/fail.hpp"
#include "io/byte_format.hpp"

namespace kqd {

/// Throws Error{unreadable_input}.
[[noreturn]] inline void fail_profile(const std::string& problem) {
  fail(ErrorCode::unreadable_input, "not a valid profile: {}", problem);
}

using ProfileWriter = ByteWriter;

class ProfileReader : public ByteReader {
 public:
  explicit ProfileReader(std::string_view bytes) : ByteReader(bytes, "profile") {}
};

}  // namespace kqd
