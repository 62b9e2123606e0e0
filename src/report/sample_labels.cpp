#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "io/text.hpp"
#include "kqd/report/report.hpp"

namespace kqd {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80U;
}

bool is_separator(char c) {
  return c == '-' || c == '_' || c == ' ' || c == '.';
}

// "customers-march" of "data/customers-march.csv.gz".
std::string_view stem_of(std::string_view path) {
  if (path.starts_with("sql:")) return "";
  path = path.substr(path.find_last_of('/') == std::string_view::npos ? 0 : path.find_last_of('/') + 1);
  if (const auto key = path.find(".npz:"); key != std::string_view::npos) return path.substr(key + 5);
  return path.substr(0, std::min(path.find('.', 1), path.size()));
}

// Without words at the beginning that both have.
void drop_common_words(std::string_view& x, std::string_view& y) {
  std::size_t common = 0;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()) && x[i] == y[i]; ++i) {
    if (is_separator(x[i])) common = i + 1;
  }
  if (common < x.size() && common < y.size() && is_letter(x[common]) && is_letter(y[common])) {
    x.remove_prefix(common);
    y.remove_prefix(common);
  }
}

bool is_label(std::string_view text) {
  return !text.empty() && text.find_first_of("*?[") == std::string_view::npos && text != "-";
}

}  // namespace

std::pair<std::string, std::string> sample_labels(const std::string& x_name, const std::string& y_name,
                                                  const Preparation& preparation) {
  if (!preparation.group_column.empty()) return {shortened(preparation.group_x), shortened(preparation.group_y)};
  std::string_view x = stem_of(x_name);
  std::string_view y = stem_of(y_name);
  if (!is_label(x) || !is_label(y) || x == y) return {"X", "Y"};
  drop_common_words(x, y);
  return {shortened(x), shortened(y)};
}

}  // namespace kqd
