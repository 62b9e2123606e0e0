#include "io/text_rules.hpp"

#include <algorithm>

#include "io/date.hpp"

namespace kqd {
namespace {

Cell parse_cell_with_comma(std::string_view text) {
  if (text.find('.') != std::string_view::npos) {
    const Cell cell = parse_cell(text);
    return cell.kind == CellKind::missing ? cell : Cell{CellKind::text};
  }
  std::string with_point(text);
  std::ranges::replace(with_point, ',', '.');
  return parse_cell(with_point);
}

}  // namespace

Cell parse_cell(std::string_view text, const TextRules& rules) {
  if (std::ranges::find(rules.missing, text) != rules.missing.end()) return {CellKind::missing};
  const Cell cell = rules.decimal_comma ? parse_cell_with_comma(text) : parse_cell(text);
  if (cell.kind == CellKind::missing && !rules.default_missing && !text.empty()) {
    return {CellKind::text};
  }
  if (cell.kind == CellKind::number && rules.is_missing_number(cell.value)) return {CellKind::missing};
  if (cell.kind != CellKind::text || !rules.dates) return cell;
  const auto days = parse_date(text);
  return days ? Cell{CellKind::date, *days} : cell;
}

}  // namespace kqd
