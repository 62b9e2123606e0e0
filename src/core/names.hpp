#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "core/fail.hpp"
#include "core/text.hpp"

namespace kqd {

/// One spelling per enumerator, the same on the command line, in JSON and in Python.
template <class Enum>
struct Name {
  Enum value;
  std::string_view text;
};

/// The spelling of an enumerator in its table.
template <class Enum, std::size_t N>
[[nodiscard]] std::string_view name_of(const std::array<Name<Enum>, N>& table, Enum value) {
  for (const auto& name : table) {
    if (name.value == value) return name.text;
  }
  fail(ErrorCode::internal, "enumerator {} has no name", static_cast<int>(value));
}

/// Throws Error{invalid_option} for a word of option `id` that is unknown, with the nearest known one.
[[noreturn]] inline void fail_unknown(std::string_view id, std::string_view word,
                                      std::span<const std::string_view> known) {
  fail_option(id, word, fmt::format("one of {}{}", join(known), suggestion(word, known)));
}

/// The enumerator of a spelling; throws Error{invalid_option} for an unknown one. `id` is the option that has it.
template <class Enum, std::size_t N>
[[nodiscard]] Enum value_of(const std::array<Name<Enum>, N>& table, std::string_view text, std::string_view id) {
  std::array<std::string_view, N> known;
  for (std::size_t i = 0; i < N; ++i) {
    if (table[i].text == text) return table[i].value;
    known[i] = table[i].text;
  }
  fail_unknown(id, text, known);
}

}  // namespace kqd
