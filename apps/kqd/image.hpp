#pragma once
#include <optional>
#include <string>

namespace kqd::app {

/// Makes FILE.png of FILE.svg with rsvg-convert, where that is installed; its name when it was made. Nothing for files
/// of another kind, and without a converter: images are optional.
[[nodiscard]] std::optional<std::string> make_png(const std::string& svg_file);

}  // namespace kqd::app
