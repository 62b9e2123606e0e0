#include "report/json_csv.hpp"

#include <fmt/format.h>

#include <vector>

namespace kqd {
namespace {

// As JSON writes it, so that numbers read back as the same doubles; texts without their quotes.
std::string cell_of(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_structured()) return value.dump();
  if (value.is_object() && value.contains("id") && value.contains("text")) return cell_of(value["text"]);  // a warning
  std::string cell;
  for (const auto& [key, part] : value.items()) {
    cell += fmt::format("{}{}{}", cell.empty() ? "" : "; ", value.is_object() ? key + "=" : "", cell_of(part));
  }
  return cell;
}

}  // namespace

std::string csv_of(const Json& json, std::span<const std::string_view> names) {
  std::vector<std::string> head;
  std::vector<std::string> cells;
  for (const std::string_view name : names) {
    const Json value = json.value(std::string(name), Json(nullptr));
    if (name.ends_with("_ci")) {
      const std::string what(name.substr(0, name.size() - 3));
      const bool known = value.is_array() && value.size() == 2;
      head.insert(head.end(), {what + "_lower", what + "_upper"});
      cells.insert(cells.end(), {known ? cell_of(value[0]) : "", known ? cell_of(value[1]) : ""});
      continue;
    }
    head.emplace_back(name);
    cells.push_back(cell_of(value));
  }
  return csv_line(head) + csv_line(cells);
}

}  // namespace kqd
