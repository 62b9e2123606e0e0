#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "kqd/core/error.hpp"

/// A reference to an option in the text of a message, by its id: KQD_OPTION("power") is its name, KQD_OPTION("power=2")
/// a setting. A front end writes "--power 2" or "power=2" (render()). Texts of a user must not contain these bytes:
/// printable() and no_references() escape them.
#define KQD_OPTION(setting) "\x01" setting "\x02"

namespace kqd {

/// KQD_OPTION with an id and a value that are known at run time.
[[nodiscard]] inline std::string option_reference(std::string_view id, std::string_view value = {}) {
  return value.empty() ? fmt::format(KQD_OPTION("{}"), id) : fmt::format(KQD_OPTION("{}={}"), id, value);
}

constexpr char kReferenceBegin = '\x01';
constexpr char kReferenceEnd = '\x02';

/// A text of a user, in which nothing passes for a reference to an option.
[[nodiscard]] std::string no_references(std::string_view text);

/// Throws Error{code} with a formatted sentence. It may refer to options by KQD_OPTION.
template <class... Args>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

/// Throws Error{code} with the parts of its message.
[[noreturn]] inline void fail(ErrorCode code, ErrorParts parts) {
  throw Error(code, std::move(parts));
}

/// Throws Error{code} about a place in the data: "sales.csv:17: column 3 is "n/a", expected a number. remedy".
[[noreturn]] inline void fail_at(ErrorCode code, std::string_view place, std::string problem, std::string expected = {},
                                 std::string remedy = {}) {
  fail(code, {.place = std::string(place),
              .value = std::move(problem),
              .expected = std::move(expected),
              .remedy = std::move(remedy)});
}

/// Throws Error{invalid_option} for a value of an option: "power = 0.5: expected a number >= 1".
template <class Value>
[[noreturn]] void fail_option(std::string_view id, const Value& value, std::string expected, std::string remedy = {}) {
  fail(ErrorCode::invalid_option, {.subject = std::string(id),
                                   .value = fmt::format("{}", value),
                                   .expected = std::move(expected),
                                   .remedy = std::move(remedy)});
}

/// fail_option() unless `holds`.
template <class Value>
void require_option(bool holds, std::string_view id, const Value& value, std::string_view expected) {
  if (!holds) fail_option(id, value, std::string(expected));
}

}  // namespace kqd

/// A condition that inner loops rely on, checked in debug builds only.
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
