#include "io/column_list.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

// From first to last, both from 0 and both in.
struct Range {
  std::size_t first = 0;
  std::size_t last = 0;
};

// The columns of a table by name and by number. Looked up often where a list is long, so names are hashed.
class Finder {
 public:
  explicit Finder(const Table& table) : num_columns_(table.columns.size()) {
    if (!table.has_names) return;
    for (std::size_t j = 0; j < num_columns_; ++j) by_name_.emplace(table.columns[j].name, j);
  }

  [[nodiscard]] std::optional<std::size_t> by_name(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? std::nullopt : std::optional(found->second);
  }

  // Digits and nothing else, from 1 to the number of columns.
  [[nodiscard]] std::optional<std::size_t> by_number(std::string_view text) const {
    std::size_t number = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, number);
    if (error != std::errc{} || end != last || number < 1 || number > num_columns_) return std::nullopt;
    return number - 1;
  }

 private:
  std::size_t num_columns_;
  std::unordered_map<std::string_view, std::size_t> by_name_;
};

std::optional<Range> in_order(std::optional<std::size_t> a, std::optional<std::size_t> b) {
  if (!a || !b) return std::nullopt;
  return Range{std::min(*a, *b), std::max(*a, *b)};
}

// A single number, "3-7" or "a..d". Names may hold dots themselves, so each place of ".." is tried.
std::optional<Range> by_position(const Finder& columns, std::string_view text) {
  if (const auto single = columns.by_number(text)) return Range{*single, *single};
  if (const auto hyphen = text.find('-'); hyphen != std::string_view::npos) {
    const auto range = in_order(columns.by_number(text.substr(0, hyphen)), columns.by_number(text.substr(hyphen + 1)));
    if (range) return range;
  }
  const auto end_of_range = [&](std::string_view word) {
    const auto named = columns.by_name(word);
    return named ? named : columns.by_number(word);
  };
  for (auto dots = text.find(".."); dots != std::string_view::npos; dots = text.find("..", dots + 1)) {
    const auto range = in_order(end_of_range(trim(text.substr(0, dots))), end_of_range(trim(text.substr(dots + 2))));
    if (range) return range;
  }
  return std::nullopt;
}

// * matches any characters, ? any one. Only the last * ever has to match more.
bool matches_glob(std::string_view text, std::string_view pattern) {
  std::size_t t = 0;
  std::size_t p = 0;
  std::optional<std::pair<std::size_t, std::size_t>> star;  // where to go on in text and pattern
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = {t, ++p};
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++t;
      ++p;
    } else if (star) {
      t = ++star->first;
      p = star->second;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace

ColumnList::ColumnList(std::string option, std::string_view text) : option_(std::move(option)) {
  const auto refuse = [&](std::string_view why) {
    fail_option(option_, printable(text), fmt::format("a list such as a,b..d,temp_*,3-7 ({})", why));
  };
  std::string_view rest = trim(text);
  while (!rest.empty()) {
    Item item;
    if (rest.front() == '"') {
      const auto close = rest.find('"', 1);
      if (close == std::string_view::npos) refuse("a quote is not closed");
      item = {.text = std::string(rest.substr(1, close - 1)), .quoted = true};
      rest = trim(rest.substr(close + 1));
      if (!rest.empty() && rest.front() != ',') refuse("a comma is missing after a quote");
    } else {
      const auto comma = std::min(rest.find(','), rest.size());
      item.text = trim(rest.substr(0, comma));
      rest = rest.substr(comma);
    }
    if (item.text.empty() && !item.quoted) refuse("an item is empty");
    items_.push_back(std::move(item));
    if (rest.empty()) return;
    rest = trim(rest.substr(1));
    if (rest.empty()) refuse("an item is empty");
  }
}

void ColumnList::pin_positions(const Table& table) {
  if (!table.has_names) return;
  const Finder columns(table);
  std::vector<Item> pinned;
  for (Item& item : items_) {
    const bool is_name = item.quoted || columns.by_name(item.text);
    const auto range = is_name ? std::nullopt : by_position(columns, item.text);
    if (!range) {
      pinned.push_back(std::move(item));
      continue;
    }
    for (std::size_t j = range->first; j <= range->last; ++j) {
      const std::string& name = table.columns[j].name;
      pinned.push_back({name, true, true, name.empty() ? std::optional(j) : std::nullopt});
    }
  }
  items_ = std::move(pinned);
}

std::vector<bool> ColumnList::marks(const Table& table) {
  const Finder columns(table);
  std::vector<bool> marks(table.columns.size(), false);
  for (Item& item : items_) {
    const auto mark = [&](std::size_t j) {
      marks[j] = true;
      item.found = true;
    };
    if (item.position) {
      if (*item.position < marks.size() && table.columns[*item.position].name.empty()) mark(*item.position);
    } else if (item.text.empty()) {
      for (std::size_t j = 0; table.has_names && j < marks.size(); ++j) {
        if (table.columns[j].name.empty()) mark(j);
      }
    } else if (const auto named = columns.by_name(item.text)) {
      mark(*named);
    } else if (item.quoted) {
      continue;
    } else if (const auto range = by_position(columns, item.text)) {
      for (std::size_t j = range->first; j <= range->last; ++j) mark(j);
    } else if (table.has_names && item.text.find_first_of("*?") != std::string::npos) {
      for (std::size_t j = 0; j < marks.size(); ++j) {
        if (matches_glob(table.columns[j].name, item.text)) mark(j);
      }
    }
  }
  return marks;
}

void ColumnList::check_all_found(const Table& table) const {
  const auto unknown = std::ranges::find_if_not(items_, &Item::found);
  if (unknown == items_.end()) return;
  fail_at(ErrorCode::invalid_option, table.source,
          fmt::format("there is no column {}, listed in {}", in_quotes(unknown->text), option_reference(option_)),
          expected_columns(table, unknown->text));
}

std::string list_of(const std::vector<std::string_view>& names) {
  constexpr std::size_t kNamesListed = 8;
  std::vector<std::string> shown;
  for (const std::string_view name : names) {
    if (shown.size() == kNamesListed) break;
    shown.push_back(in_quotes(name));
  }
  const std::size_t rest = names.size() - shown.size();
  return fmt::format("{}{}", fmt::join(shown, ", "), rest > 0 ? fmt::format(" and {} more", rest) : "");
}

std::string expected_columns(const Table& table, std::string_view wanted) {
  if (!table.has_names) {
    return fmt::format("a number from 1 to {}, because the columns have no names", table.columns.size());
  }
  const std::vector<std::string_view> names = names_of(table);
  return fmt::format("one of {}{}", list_of(names), suggestion(wanted, names));
}

std::string item_of(const Table& table, std::size_t column) {
  const std::string name = printable(table.name_of(column));
  const bool plain = name.find_first_of(", \"*?") == std::string::npos && !name.empty();
  return plain ? name : fmt::format("\"{}\"", name);
}

std::vector<std::string_view> names_of(const Table& table) {
  std::vector<std::string_view> names;
  if (!table.has_names) return names;
  for (const Column& column : table.columns) names.push_back(column.name);
  return names;
}

}  // namespace kqd
