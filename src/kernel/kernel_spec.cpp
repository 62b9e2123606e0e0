#include <algorithm>
#include <cmath>
#include <utility>

#include "core/names.hpp"
#include "kernel/families.hpp"
#include "kernel/kernel_traits.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd {
namespace {

[[noreturn]] void fail_parameter(const FamilyParameter& parameter, std::string_view kernel) {
  fail_option("kernel", kernel, fmt::format("{} {}", parameter.name, parameter.range));
}

// The bandwidth is at fault in an option: the kernel's text, or the bandwidth itself.
void require_bandwidth(const KernelSpec& spec, std::string_view option, std::string_view value) {
  const double smallest = smallest_bandwidth(spec.family);
  if (*spec.bandwidth >= smallest && *spec.bandwidth <= 1.0 / smallest) return;
  const int digits = static_cast<int>(std::lround(-std::log10(smallest)));
  fail_option(option, value, fmt::format("a bandwidth in 1e-{} .. 1e{}", digits, digits));
}

const FamilyInfo& family_named(std::string_view name) {
  const auto families = kernel_families();
  const auto found = std::ranges::find(families, name, &FamilyInfo::name);
  if (found == families.end()) fail_unknown("kernel", name, kernel_names());
  return *found;
}

void set_parameter(KernelSpec& spec, const FamilyParameter& parameter, double value, std::string_view text) {
  if (parameter.field != nullptr) return void(spec.*parameter.field = value);
  if (!parameter.allows(value)) fail_parameter(parameter, text);  // it may not fit the type of the field
  spec.*parameter.whole_field = static_cast<int>(value);
}

double number(std::string_view part, std::string_view text) {
  const auto value = parse_number(trim(part));
  if (!value) fail_option("kernel", text, fmt::format("a number in place of \"{}\"", no_references(part)));
  return *value;
}

KernelSpec parse_leaf(std::string_view leaf, std::string_view text) {
  const auto at = leaf.find('@');
  const auto fields = split(leaf.substr(0, at), ':');
  const FamilyInfo& family = family_named(trim(fields[0]));
  KernelSpec spec;
  spec.family = family.family;
  if (fields.size() > family.parameters.size() + 1) {
    fail_option("kernel", text,
                family.parameters.empty() ? fmt::format("no parameter of {}", family.name)
                                          : fmt::format("at most {} parameter{} of {}", family.parameters.size(),
                                                        family.parameters.size() == 1 ? "" : "s", family.name),
                has_bandwidth(spec.family) ? fmt::format("A bandwidth follows @, as in {}@2", family.name) : "");
  }
  for (std::size_t i = 0; i < family.parameters.size(); ++i) {
    const FamilyParameter& parameter = family.parameters[i];
    const bool given = i + 1 < fields.size();
    set_parameter(spec, parameter, given ? number(fields[i + 1], text) : parameter.default_value, text);
  }
  if (at != std::string_view::npos) {
    if (!has_bandwidth(spec.family)) fail_option("kernel", text, fmt::format("no @: {} has no bandwidth", family.name));
    spec.bandwidth = number(leaf.substr(at + 1), text);
    require_bandwidth(spec, "kernel", text);
  }
  return spec;
}

KernelSpec parse_product(std::string_view term, std::string_view text) {
  const auto factors = split_terms(term, '*');
  if (factors.size() == 1) return parse_leaf(term, text);
  KernelSpec product;
  product.family = KernelFamily::product;
  for (const auto factor : factors) product.parts.push_back(parse_leaf(trim(factor), text));
  return product;
}

KernelSpec parse_summand(std::string_view term, std::string_view text) {
  term = trim(term);
  const auto blank = term.find(' ');
  const auto weight = blank == std::string_view::npos ? std::nullopt : parse_number(term.substr(0, blank));
  KernelSpec spec = parse_product(weight ? trim(term.substr(blank)) : term, text);
  spec.weight = weight.value_or(1.0);
  return spec;
}

std::string leaf_to_string(const KernelSpec& spec) {
  if (spec.family == KernelFamily::custom) return spec.name;
  const FamilyInfo& family = family_info(spec.family);
  std::string text(family.name);
  for (const FamilyParameter& parameter : family.parameters) {
    const double value = parameter.of(spec);
    if (!parameter.omits_default || value != parameter.default_value) text += ":" + shortest(value);
  }
  return text;
}

// `whole` is the kernel that `spec` is a part of, for messages.
void validate_part(const KernelSpec& spec, const KernelSpec& whole) {
  const auto require = [&](bool holds, std::string expected) {
    if (!holds) fail_option("kernel", to_string(whole), std::move(expected));
  };
  require(std::isfinite(spec.weight) && spec.weight >= 0.0, "weight >= 0");
  if (is_composite(spec.family)) {
    require(!spec.parts.empty(), "a sum or product with at least one part");
    for (const KernelSpec& part : spec.parts) {
      // The text form has no parentheses, so the structure may not need them: a product has plain factors.
      require(spec.family == KernelFamily::sum || !is_composite(part.family), "plain kernels as factors of a product");
      require(part.family != KernelFamily::sum, "products or plain kernels as parts of a sum");
      validate_part(part, whole);
    }
    return;
  }
  if (spec.family == KernelFamily::custom) {
    require(!spec.name.empty() && spec.function != nullptr, "a custom kernel with a name and a function");
    return;
  }
  if (has_bandwidth(spec.family) && spec.bandwidth) {
    require_bandwidth(spec, "bandwidth", shortest(*spec.bandwidth));
  }
  for (const FamilyParameter& parameter : family_info(spec.family).parameters) {
    if (!parameter.allows(parameter.of(spec))) fail_parameter(parameter, to_string(whole));
  }
}

// True when origins and functions, which the text does not spell, are the same at the same place of two specifications.
bool same_unspelt(const KernelSpec& a, const KernelSpec& b) {
  if (has_origin(a.family)) return a.origin == b.origin;
  if (has_column_scales(a.family)) return a.column_scales == b.column_scales;
  if (a.family == KernelFamily::custom) return a.function == b.function;
  return std::ranges::equal(a.parts, b.parts, same_unspelt);
}

}  // namespace

KernelSpec KernelSpec::custom(std::string name, KernelFunction function) {
  KernelSpec spec;
  spec.family = KernelFamily::custom;
  spec.name = std::move(name);
  if (function) spec.function = std::make_shared<const KernelFunction>(std::move(function));
  return spec;
}

std::span<const std::string_view> kernel_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const FamilyInfo& family : kernel_families()) all.push_back(family.name);
    return all;
  }();
  return names;
}

KernelSpec parse_kernel(std::string_view text) {
  const auto terms = split_terms(text, '+');
  if (terms.size() == 1 && trim(terms[0]).find(' ') == std::string_view::npos) {
    KernelSpec spec = parse_product(trim(terms[0]), text);
    validate(spec);
    return spec;
  }
  KernelSpec sum;
  sum.family = KernelFamily::sum;
  for (const auto term : terms) sum.parts.push_back(parse_summand(term, text));
  validate(sum);
  return sum;
}

std::string to_string(const KernelSpec& spec) {
  const bool is_sum = spec.family == KernelFamily::sum;
  if (is_composite(spec.family)) {
    std::string text;
    for (const KernelSpec& part : spec.parts) {
      if (!text.empty()) text += is_sum ? "+" : "*";
      if (is_sum && part.weight != 1.0) text += shortest(part.weight) + " ";
      text += to_string(part);
    }
    return text;
  }
  std::string text = leaf_to_string(spec);
  if (has_bandwidth(spec.family) && spec.bandwidth) text += "@" + shortest(*spec.bandwidth);
  return text;
}

void validate(const KernelSpec& spec) {
  validate_part(spec, spec);
}

bool needs_bandwidth(const KernelSpec& spec) {
  if (is_composite(spec.family)) return std::ranges::any_of(spec.parts, needs_bandwidth);
  return has_bandwidth(spec.family) && !spec.bandwidth;
}

KernelSpec with_bandwidth(KernelSpec spec, double bandwidth) {
  for (KernelSpec& part : spec.parts) part = with_bandwidth(std::move(part), bandwidth);
  if (has_bandwidth(spec.family) && !spec.bandwidth) spec.bandwidth = bandwidth;
  return spec;
}

bool same_kernel(const KernelSpec& a, const KernelSpec& b) {
  return to_string(a) == to_string(b) && same_unspelt(a, b);
}

std::optional<double> first_bandwidth(const KernelSpec& spec) {
  if (!is_composite(spec.family)) return has_bandwidth(spec.family) ? spec.bandwidth : std::nullopt;
  for (const KernelSpec& part : spec.parts) {
    if (const auto bandwidth = first_bandwidth(part)) return bandwidth;
  }
  return std::nullopt;
}

}  // namespace kqd
