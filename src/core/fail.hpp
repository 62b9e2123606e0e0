#pragma once
#include <fmt/format.h>

#include <utility>

#include "kqd/core/error.hpp"

namespace kqd {

/// Throws Error{code} with a formatted sentence.
template <class... Args>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace kqd

/// What inner loops take as given, checked in debug builds alone.
#ifdef KQD_DEBUG
#define KQD_ASSERT(condition)                                                                             \
  do {                                                                                                    \
    if (!(condition))                                                                                     \
      ::kqd::fail(::kqd::ErrorCode::internal, "{}:{}: {} does not hold", __FILE__, __LINE__, #condition); \
  } while (false)
#else
#define KQD_ASSERT(condition) \
  do {                        \
  } while (false)
#endif
