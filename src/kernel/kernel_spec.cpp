#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/names.hpp"
#include "kernel/kernel_traits.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd {
namespace {

constexpr std::array<Name<KernelFamily>, 11> kFamilies = {{
    {KernelFamily::gaussian, "gaussian"},
    {KernelFamily::laplace, "laplace"},
    {KernelFamily::matern12, "matern12"},
    {KernelFamily::matern32, "matern32"},
    {KernelFamily::matern52, "matern52"},
    {KernelFamily::rq, "rq"},
    {KernelFamily::imq, "imq"},
    {KernelFamily::linear, "linear"},
    {KernelFamily::polynomial, "polynomial"},
    {KernelFamily::normalised_polynomial, "normalised-polynomial"},
    {KernelFamily::energy, "energy"},
}};

// The defaults that differ between families.
KernelSpec default_spec(KernelFamily family) {
  KernelSpec spec;
  spec.family = family;
  if (family == KernelFamily::linear) spec.offset = 0.0;
  if (family == KernelFamily::energy) spec.beta = 1.0;
  return spec;
}

int whole_number(double value, std::string_view text) {
  if (value != std::floor(value) || std::abs(value) > 1e6) {
    fail(ErrorCode::invalid_option, "kernel \"{}\": degree {}, needs a whole number in 1..64", text, value);
  }
  return static_cast<int>(value);
}

// Sets the family's parameters in the order that `family:first:second` names them.
void set_parameter(KernelSpec& spec, std::size_t position, double value, std::string_view text) {
  const bool first = position == 0;
  if (spec.family == KernelFamily::rq && first) return void(spec.alpha = value);
  if ((spec.family == KernelFamily::imq || spec.family == KernelFamily::energy) && first)
    return void(spec.beta = value);
  if (spec.family == KernelFamily::linear && first) return void(spec.offset = value);
  if (spec.family == KernelFamily::polynomial || spec.family == KernelFamily::normalised_polynomial) {
    if (first) return void(spec.degree = whole_number(value, text));
    if (position == 1) return void(spec.offset = value);
  }
  fail(ErrorCode::invalid_option, "kernel \"{}\": {} takes {} parameter{}", text, name_of(kFamilies, spec.family),
       position, position == 1 ? "" : "s");
}

double number(std::string_view part, std::string_view text) {
  const auto value = parse_number(trim(part));
  if (!value) fail(ErrorCode::invalid_option, "kernel \"{}\": \"{}\" is not a number", text, part);
  return *value;
}

KernelSpec parse_leaf(std::string_view leaf, std::string_view text) {
  const auto at = leaf.find('@');
  const auto fields = split(leaf.substr(0, at), ':');
  KernelSpec spec = default_spec(value_of(kFamilies, trim(fields[0]), "kernel"));
  for (std::size_t i = 1; i < fields.size(); ++i) set_parameter(spec, i - 1, number(fields[i], text), text);
  if (at != std::string_view::npos) {
    if (!has_bandwidth(spec.family)) {
      fail(ErrorCode::invalid_option, "kernel \"{}\": {} has no bandwidth", text, name_of(kFamilies, spec.family));
    }
    spec.bandwidth = number(leaf.substr(at + 1), text);
  }
  return spec;
}

// Where `text` is cut by `separator`; a sign within a number such as 1e+3 is not a separator.
std::vector<std::string_view> split_terms(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool in_exponent = i >= 2 && (text[i - 1] == 'e' || text[i - 1] == 'E') &&
                             (std::isdigit(static_cast<unsigned char>(text[i - 2])) != 0 || text[i - 2] == '.');
    if (text[i] != separator || in_exponent) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
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

void require(bool holds, std::string_view field, double value, std::string_view bound) {
  if (!holds) fail(ErrorCode::invalid_option, "{} = {}, needs {}", field, value, bound);
}

std::string leaf_to_string(const KernelSpec& spec) {
  if (spec.family == KernelFamily::custom) return spec.name;
  std::string text(name_of(kFamilies, spec.family));
  switch (spec.family) {
    case KernelFamily::rq:
      text += ":" + shortest(spec.alpha);
      break;
    case KernelFamily::imq:
    case KernelFamily::energy:
      text += ":" + shortest(spec.beta);
      break;
    case KernelFamily::linear:
      if (spec.offset != 0.0) text += ":" + shortest(spec.offset);
      break;
    case KernelFamily::polynomial:
    case KernelFamily::normalised_polynomial:
      text += fmt::format(":{}:{}", spec.degree, spec.offset);
      break;
    default:
      break;
  }
  return text;
}

}  // namespace

KernelSpec KernelSpec::custom(std::string name, KernelFunction function) {
  KernelSpec spec;
  spec.family = KernelFamily::custom;
  spec.name = std::move(name);
  if (function) spec.function = std::make_shared<const KernelFunction>(std::move(function));
  return spec;
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
  const KernelFamily family = spec.family;
  require(std::isfinite(spec.weight) && spec.weight >= 0.0, "weight", spec.weight, "a finite number >= 0");
  if (is_composite(family)) {
    if (spec.parts.empty()) fail(ErrorCode::invalid_option, "parts is empty, a sum or product needs parts");
    for (const KernelSpec& part : spec.parts) {
      // What the text form cannot say, the structure may not say either: products hold leaves, sums hold no sums.
      if (family == KernelFamily::product && is_composite(part.family)) {
        fail(ErrorCode::invalid_option, "parts of a product holds a sum or product, needs plain kernels");
      }
      if (part.family == KernelFamily::sum) {
        fail(ErrorCode::invalid_option, "parts of a sum holds a sum, needs products or plain kernels");
      }
      validate(part);
    }
    return;
  }
  if (has_bandwidth(family) && spec.bandwidth) {
    const double s = *spec.bandwidth;
    const double smallest = smallest_bandwidth(family);
    require(s >= smallest && s <= 1.0 / smallest, "bandwidth", s,
            smallest > 1e-200 ? "a number in 1e-150 .. 1e150" : "a number in 1e-300 .. 1e300");
  }
  if (family == KernelFamily::custom && (spec.name.empty() || spec.function == nullptr)) {
    fail(ErrorCode::invalid_option, "custom needs a name and a function that can be called");
  }
  if (family == KernelFamily::rq)
    require(spec.alpha >= 1e-6 && spec.alpha <= 1e6, "alpha", spec.alpha, "a number in 1e-6 .. 1e6");
  if (family == KernelFamily::imq) require(std::isfinite(spec.beta) && spec.beta > 0.0, "beta", spec.beta, "> 0");
  if (family == KernelFamily::energy) require(spec.beta > 0.0 && spec.beta <= 2.0, "beta", spec.beta, "in (0, 2]");
  const bool polynomial = family == KernelFamily::polynomial || family == KernelFamily::normalised_polynomial;
  if (polynomial) require(spec.degree >= 1 && spec.degree <= 64, "degree", spec.degree, "a whole number in 1..64");
  if (polynomial || family == KernelFamily::linear) {
    require(std::isfinite(spec.offset) && spec.offset >= 0.0, "offset", spec.offset, "a finite number >= 0");
  }
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

std::optional<double> first_bandwidth(const KernelSpec& spec) {
  if (!is_composite(spec.family)) return has_bandwidth(spec.family) ? spec.bandwidth : std::nullopt;
  for (const KernelSpec& part : spec.parts) {
    if (const auto bandwidth = first_bandwidth(part)) return bandwidth;
  }
  return std::nullopt;
}

}  // namespace kqd
