#include "io/text_dictionary.hpp"

namespace kqd {

std::optional<std::uint32_t> TextDictionary::code_of(std::string_view text, std::size_t line, std::size_t& bytes_left) {
  // A key, its node, its share of the buckets and its entry.
  constexpr std::size_t kOverhead = 128;
  if (const auto found = codes_.find(text); found != codes_.end()) return found->second;
  const std::size_t bytes = text.size() + kOverhead;
  if (entries_.size() == most_texts_ || bytes > bytes_left || bytes_ + bytes > bytes_left - bytes) {
    overfull_ = true;
    return std::nullopt;
  }
  bytes_left -= bytes;
  bytes_ += bytes;
  const auto code = static_cast<std::uint32_t>(entries_.size());
  const auto added = codes_.emplace(text, code).first;
  entries_.push_back({added->first, line});
  return code;
}

std::uint64_t hash_of_text(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

}  // namespace kqd
