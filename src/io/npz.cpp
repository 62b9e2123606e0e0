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
    fail_at(ErrorCode::unreadable_input, archive.name(), "the archive holds no array", "one written by numpy.savez");
  }
  std::vector<std::string> sorted = keys;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end()) {
    fail_at(ErrorCode::unreadable_input, archive.name(),
            fmt::format("the archive holds two arrays {}", in_quotes(*twice)), "different names", "Write it again");
  }
  return keys;
}

std::string chosen_key(const NpzName& name, const ZipArchive& archive) {
  const std::vector<std::string> keys = keys_of(archive);
  if (name.key.empty()) {
    if (keys.size() == 1) return keys.front();
    fail_at(ErrorCode::unreadable_input, archive.name(),
            fmt::format("holds {} arrays ({})", keys.size(), list_of_keys(keys)), "",
            fmt::format("Name one as in {}:{}", archive.name(), shortened(keys.front())));
  }
  if (std::ranges::find(keys, name.key) == keys.end()) {
    const std::vector<std::string_view> known(keys.begin(), keys.end());
    fail_at(ErrorCode::unreadable_input, archive.name(), fmt::format("holds no array {}", in_quotes(name.key)),
            fmt::format("one of {}{}", list_of_keys(keys), suggestion(name.key, known)));
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
