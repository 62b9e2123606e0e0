#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kqd {

/// The different texts of a column, numbered in the order in which they were met.
class TextDictionary {
 public:
  static constexpr std::size_t kMostTexts = std::size_t{1} << 16U;

  explicit TextDictionary(std::size_t most_texts = kMostTexts) : most_texts_(most_texts) {}

  struct Entry {
    std::string_view text;
    std::size_t line = 0;  ///< where it was met first
  };

  /// The number of a text. A new one is added if there is room for it and this column then takes no more than what
  /// `bytes_left`, which all columns share, leaves to the others; otherwise nothing comes back, and the dictionary is
  /// overfull from then on.
  [[nodiscard]] std::optional<std::uint32_t> code_of(std::string_view text, std::size_t line, std::size_t& bytes_left);

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] const Entry& operator[](std::size_t code) const { return entries_[code]; }
  [[nodiscard]] bool overfull() const { return overfull_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  // The keys of a node based map stay where they are, so the entries may point at them.
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> codes_;
  std::vector<Entry> entries_;
  std::size_t most_texts_;
  std::size_t bytes_ = 0;
  bool overfull_ = false;
};

/// FNV-1a of 64 bits: the same on every machine, as hashed columns have to be.
[[nodiscard]] std::uint64_t hash_of_text(std::string_view text);

}  // namespace kqd
