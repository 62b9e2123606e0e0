#pragma once
#include <string_view>

namespace kqd {

/// The delimiter of a CSV text, judged by its beginning: tab, semicolon, bar or comma.
///
/// A candidate that stands equally often (outside quotes) in each of the first rows wins; commas come last, because
/// next to another regular candidate they are decimal commas. Without a regular candidate the most frequent of the
/// first row wins. `complete` says that the last row of `beginning` is not cut off.
[[nodiscard]] char sniff_delimiter(std::string_view beginning, bool complete);

}  // namespace kqd
