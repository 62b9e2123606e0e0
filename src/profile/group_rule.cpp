#include "kqd/profile/group_rule.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/hash.hpp"
#include "core/names.hpp"
#include "core/text.hpp"
#include "io/date.hpp"

namespace kqd {
namespace {

constexpr std::array<Name<GroupAssignment>, 3> kAssignments = {{
    {GroupAssignment::random, "random"},
    {GroupAssignment::key, "key"},
    {GroupAssignment::blocks, "blocks"},
}};

constexpr std::uint64_t kKeyOfKeys = 0x082efa98ec4e6c89ULL;

std::string without_quotes(const std::string& name) {
  const bool quoted = name.size() >= 2 && name.front() == '"' && name.back() == '"';
  return quoted ? name.substr(1, name.size() - 2) : name;
}

}  // namespace

GroupRule parse_group_rule(std::string_view text) {
  const auto colon = text.find(':');
  const std::string_view word = text.substr(0, colon);
  const std::string_view column = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  const GroupAssignment assignment = value_of(kAssignments, word, "groups");
  const bool needs_column = assignment != GroupAssignment::random;
  if (column.empty() == needs_column || (colon != std::string_view::npos && !needs_column)) {
    fail_option("groups", text, "random, key:COLUMN or blocks:COLUMN");
  }
  return {assignment, std::string(column)};
}

std::string to_string(const GroupRule& rule) {
  const std::string word(name_of(kAssignments, rule.assignment));
  return rule.column.empty() ? word : word + ":" + rule.column;
}

std::string_view guarantee(GroupAssignment assignment) {
  switch (assignment) {
    case GroupAssignment::random:
      return "exact for independent rows";
    case GroupAssignment::key:
      return "exact for independent keys, if keys of both samples have as many rows";
    case GroupAssignment::blocks:
      return "approximate: for rows that depend on those shortly before, if blocks are long against that";
  }
  return "";
}

std::uint64_t key_of(std::string_view value) {
  std::uint64_t hash = mix(kKeyOfKeys, value.size());
  for (const char c : value) hash = mix(hash, static_cast<unsigned char>(c));
  return hash;
}

double order_of(const GroupRule& rule, std::string_view value) {
  auto place = parse_number(value);
  if (!place) place = parse_date(value);
  if (!place) {
    fail(ErrorCode::invalid_option,
         "column \"{}\" has \"{}\", expected numbers or ISO dates, because groups are blocks in its order",
         no_references(rule.column), no_references(value));
  }
  return *place;
}

std::vector<std::uint64_t> group_keys(const GroupRule& rule, std::span<const std::int64_t> units,
                                      std::span<const std::string> unit_names) {
  if (rule.assignment == GroupAssignment::random) return {};
  std::vector<std::uint64_t> keys;
  std::vector<double> order;
  for (const std::int64_t unit : units) {
    const bool named = !unit_names.empty();
    const std::string text = named ? without_quotes(unit_names[static_cast<std::size_t>(unit)]) : std::to_string(unit);
    if (rule.assignment == GroupAssignment::key) {
      keys.push_back(key_of(text));
      continue;
    }
    order.push_back(order_of(rule, text));
  }
  return rule.assignment == GroupAssignment::key ? keys : ranks_of(order);
}

std::vector<std::uint64_t> ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<std::uint64_t> ranks(values.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) ranks[order[rank]] = rank;
  return ranks;
}

}  // namespace kqd
