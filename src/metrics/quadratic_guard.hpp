#pragma once
#include <cstddef>
#include <string_view>

namespace kqd {

/// Throws Error{resource_limit} with an estimate when N^2 kernel values of dimension d would take minutes, unless that
/// was allowed (--yes-quadratic).
void require_affordable(std::size_t num_rows, std::size_t dim, bool allowed, std::string_view what);

}  // namespace kqd
