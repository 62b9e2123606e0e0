#include "io/text_rules.hpp"

#include <algorithm>

#include "io/date.hpp"

namespace kqd {

Cell parse_cell(std::string_view text, const TextRules& rules) {
  if (std::ranges::find(rules.missing, text) != rules.missing.end()) return {CellKind::missing};
  const Cell cell = parse_cell(text);
  if (cell.kind != CellKind::text || !rules.dates) return cell;
  const auto days = parse_date(text);
  return days ? Cell{CellKind::date, *days} : cell;
}

}  // namespace kqd
