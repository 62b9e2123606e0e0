#include "kqd/core/message.hpp"

#include <fmt/format.h>

#include "core/fail.hpp"
#include "kqd/core/error.hpp"

namespace kqd {

std::string library_names(std::string_view id, std::string_view value) {
  return value.empty() ? std::string(id) : fmt::format("{} = {}", id, value);
}

std::string no_references(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == kReferenceBegin || c == kReferenceEnd) {
      escaped += fmt::format("\\x{:02x}", static_cast<int>(c));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string render(std::string_view text, OptionNames names) {
  std::string rendered;
  while (true) {
    const std::size_t begin = text.find(kReferenceBegin);
    const std::size_t end = text.find(kReferenceEnd, begin);
    if (end == std::string_view::npos) return rendered.append(text);
    rendered += text.substr(0, begin);
    const std::string_view setting = text.substr(begin + 1, end - begin - 1);
    const std::size_t equals = setting.find('=');
    const bool has_value = equals != std::string_view::npos;
    rendered += names(setting.substr(0, equals), has_value ? setting.substr(equals + 1) : std::string_view{});
    text.remove_prefix(end + 1);
  }
}

std::string render(const ErrorParts& parts, OptionNames names) {
  std::string text = parts.place.empty() ? "" : render(parts.place, names) + ": ";
  if (parts.row > 0 && parts.column > 0) text += fmt::format("row {}, column {} is ", parts.row, parts.column);
  text += parts.subject.empty() ? render(parts.value, names) : names(parts.subject, parts.value);
  if (!parts.expected.empty()) {
    text += (parts.subject.empty() ? ", expected " : ": expected ") + render(parts.expected, names);
  }
  if (!parts.remedy.empty()) text += ". " + render(parts.remedy, names);
  return text;
}

Error::Error(ErrorCode code, ErrorParts parts)
    : std::runtime_error(render(parts)), code_(code), parts_(std::move(parts)) {}

}  // namespace kqd
