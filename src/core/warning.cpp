#include "core/warning.hpp"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "core/warning_sentence.hpp"

namespace kqd {
namespace {

const WarningEntry& entry_of(WarningId id) {
  return warning_catalogue()[static_cast<std::size_t>(id)];
}

}  // namespace

bool fits_catalogue(const Warning& warning) {
  return std::ranges::equal(warning.values, entry_of(warning.id).example, {}, &WarningValue::index,
                            &WarningValue::index);
}

std::string_view warning_name(WarningId id) {
  return entry_of(id).name;
}

WarningId parse_warning(std::string_view name) {
  const auto found = std::ranges::find(warning_catalogue(), name, &WarningEntry::name);
  if (found == warning_catalogue().end())
    fail(ErrorCode::invalid_option, "unknown warning \"{}\"", no_references(name));
  return found->id;
}

std::string render(const Warning& warning, OptionNames names) {
  return sentence_about("X", "Y", warning, names);
}

std::string sentence_about(const std::string& x, const std::string& y, const Warning& warning, OptionNames names) {
  if (!fits_catalogue(warning)) {
    fail(ErrorCode::internal, "the values of warning {} do not fit its sentence", warning_name(warning.id));
  }
  fmt::dynamic_format_arg_store<fmt::format_context> values;
  for (const WarningValue& value : warning.values) {
    if (const auto* const text = std::get_if<std::string>(&value); text != nullptr && (*text == "X" || *text == "Y")) {
      values.push_back(*text == "X" ? x : y);
    } else {
      std::visit([&](const auto& known) { values.push_back(known); }, value);
    }
  }
  values.push_back(fmt::arg("x", x));
  values.push_back(fmt::arg("y", y));
  // Options first: a text of the data cannot pass for a reference to one.
  std::string text = fmt::vformat(render(entry_of(warning.id).sentence, names), values);
  if (warning.num_pairs > 0) {
    text += fmt::format(" ({} of {} pairs)", warning.num_affected_pairs, warning.num_pairs);
  }
  return text;
}

void PairWarnings::add(const Warnings& warnings) {
  for (const Warning& warning : warnings) {
    const auto same = [&](const Warning& w) { return w.id == warning.id && w.values == warning.values; };
    auto known = std::ranges::find_if(counted_, same);
    if (known == counted_.end()) known = counted_.insert(counted_.end(), warning);
    ++known->num_affected_pairs;
  }
}

void PairWarnings::append_to(Warnings& warnings, std::size_t num_pairs) const {
  for (Warning warning : counted_) {
    warning.num_pairs = num_pairs;
    warnings.push_back(std::move(warning));
  }
}

}  // namespace kqd
