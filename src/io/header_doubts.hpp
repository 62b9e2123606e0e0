#pragma once
#include <vector>

#include "io/roles.hpp"
#include "kqd/core/warning.hpp"

namespace kqd {

/// A first row of numbers may be names, such as years. Warns when there is a reason to doubt that it is data.
void warn_about_headers(std::vector<Input>& inputs, Warnings& warnings);

}  // namespace kqd
