#pragma once
#include <string_view>

namespace kqd {

/// The page without data, as web/ builds it (web/dist/template.html), part of the library.
[[nodiscard]] std::string_view page_template();

}  // namespace kqd
