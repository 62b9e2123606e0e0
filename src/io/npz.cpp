#include "io/npz.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/fail.hpp"
#include "io/npy.hpp"
#include "io/text.hpp"
#include "io/zip_archive.hpp"
#include "kqd/core/suggestion.hpp"

namespace kqd {
namespace {

constexpr std::string_view kSuffix = ".npz";
constexpr std::string_view kMemberSuffix = ".npy";
constexpr std::size_t kKeysListed = 20;

std::string key_of(const ZipMember& member) {
  return member.name.substr(0, member.name.size() - kMemberSuffix.size());
}

std::vector<std::string> keys_of(const ZipArchive& archive) {
  std::vector<std::string> keys;
  for (const ZipMember& member : archive.members()) {
    if (has_suffix(member.name, kMemberSuffix)) keys.push_back(key_of(member));
  }
  if (keys.empty()) {
    fail(ErrorCode::unreadable_input, "{}: the archive holds no array, expected one written by numpy.savez",
         archive.name());
  }
  std::vector<std::string> sorted = keys;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end()) {
    fail(ErrorCode::unreadable_input, "{}: the archive holds two arrays {}, expected different names; write it again",
         archive.name(), in_quotes(*twice));
  }
  return keys;
}

std::string chosen_key(const NpzName& name, const ZipArchive& archive) {
  const std::vector<std::string> keys = keys_of(archive);
  if (name.key.empty()) {
    if (keys.size() == 1) return keys.front();
    fail(ErrorCode::unreadable_input, "{}: holds {} arrays ({}), name one as in {}:{}", archive.name(), keys.size(),
         list_of_keys(keys), archive.name(), shortened(keys.front()));
  }
  if (std::ranges::find(keys, name.key) == keys.end()) {
    const std::vector<std::string_view> known(keys.begin(), keys.end());
    fail(ErrorCode::unreadable_input, "{}: holds no array {}, the arrays are {}{}", archive.name(), in_quotes(name.key),
         list_of_keys(keys), suggestion(name.key, known));
  }
  return name.key;
}

}  // namespace

std::string list_of_keys(const std::vector<std::string>& keys) {
  std::vector<std::string> shown;
  for (const std::string& key : keys) {
    if (shown.size() == kKeysListed) break;
    shown.push_back(shortened(key));
  }
  const std::size_t rest = keys.size() - shown.size();
  return fmt::format("{}{}", fmt::join(shown, ", "), rest > 0 ? fmt::format(" and {} more", rest) : "");
}

std::optional<NpzName> parse_npz_name(const std::string& name) {
  if (has_suffix(name, kSuffix)) return NpzName{name, {}};
  // The last ".npz:" parts file and key: a folder may be called so too, and then comes earlier.
  for (std::size_t end = name.size(); end > kSuffix.size(); --end) {
    const std::string_view path = std::string_view(name).substr(0, end - 1);
    if (name[end - 1] == ':' && has_suffix(path, kSuffix)) return NpzName{std::string(path), name.substr(end)};
  }
  return std::nullopt;
}

std::vector<std::string> npz_keys(const std::string& path) {
  return keys_of(ZipArchive(path));
}

Table read_npz(const NpzName& name, const TextRules& rules) {
  const ZipArchive archive(name.path);
  const std::string key = chosen_key(name, archive);
  // The suffix may be written in capitals.
  const auto member = std::ranges::find_if(
      archive.members(), [&](const ZipMember& m) { return has_suffix(m.name, kMemberSuffix) && key_of(m) == key; });
  const auto source = archive.open(*member, fmt::format("{}:{}", archive.name(), printable(key)));
  return read_npy(*source, rules);
}

}  // namespace kqd
