#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/metrics/methods.hpp"
#include "report/fields.hpp"

namespace kqd {
namespace {

std::span<const MethodInfo> chosen(std::string_view id) {
  return id.empty() ? methods() : std::span<const MethodInfo>(&find_method(id), 1);
}

using MethodCells = std::vector<std::vector<std::string>>;

MethodCells cells_of(std::span<const MethodInfo> list) {
  MethodCells lines = {
      {"id", "family", "summary", "reports", "cost", "permutation", "calibrations", "details", "reference"}};
  for (const MethodInfo& m : list) {
    lines.emplace_back();
    for (const std::string_view text :
         {m.id, m.family, m.summary, m.reports, m.cost, m.permutation, m.calibrations, m.details, m.reference}) {
      lines.back().push_back(render(text));
    }
  }
  return lines;
}

Json parameters_of(const MethodInfo& method) {
  Json list = Json::array();
  for (const ParameterInfo& parameter : method.parameters) {
    list.push_back({{"name", parameter.name},
                    {"meaning", parameter.meaning},
                    {"default", parameter_text(parameter, parameter.default_value)},
                    {"range", parameter_range(parameter)}});
  }
  return list;
}

}  // namespace

std::string methods_json(std::string_view id) {
  const auto list = chosen(id);
  const MethodCells lines = cells_of(list);
  Json json = Json::array();
  for (std::size_t i = 0; i < list.size(); ++i) {
    Json method;
    for (std::size_t k = 0; k < lines[0].size(); ++k) method[lines[0][k]] = lines[i + 1][k];
    method["parameters"] = parameters_of(list[i]);
    json.push_back(std::move(method));
  }
  return dump(json);
}

std::string methods_csv(std::string_view id) {
  std::string text;
  for (const auto& line : cells_of(chosen(id))) text += csv_line(line);
  return text;
}

std::string methods_markdown(std::string_view id) {
  MethodCells lines = cells_of(chosen(id));
  for (auto& line : lines) line.resize(3);  // the long texts do not fit a table
  return markdown_table(lines);
}

}  // namespace kqd
