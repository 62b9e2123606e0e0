#pragma once
#include <string>

#include "kqd/core/message.hpp"
#include "kqd/core/warning.hpp"

namespace kqd {

/// The sentence of a warning with the names of the samples, where the catalogue and library code write X and Y.
[[nodiscard]] std::string sentence_about(const std::string& x, const std::string& y, const Warning& warning,
                                         OptionNames names);

}  // namespace kqd
