#pragma once
#include <string>
#include <string_view>

#include "kqd/report/page.hpp"
#include "report/fields.hpp"

namespace kqd {

/// The page of a result of some kind, from its JSON object and, for tests, its null distribution.
[[nodiscard]] std::string page_of(std::string_view kind, Json result, Json null, const Fields& fields,
                                  const PageInfo& info, const RunInfo& of);

}  // namespace kqd
