#include "kqd/io/preparation.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

constexpr std::array<Name<Categorical>, 5> kCategoricals = {{{Categorical::automatic, "auto"},
                                                             {Categorical::raise, "raise"},
                                                             {Categorical::onehot, "onehot"},
                                                             {Categorical::hash, "hash"},
                                                             {Categorical::drop, "drop"}}};
constexpr std::array<Name<NaPolicy>, 4> kNaPolicies = {{{NaPolicy::indicator, "indicator"},
                                                        {NaPolicy::raise, "raise"},
                                                        {NaPolicy::omit, "omit"},
                                                        {NaPolicy::impute_median, "impute-median"}}};
constexpr std::array<Name<ColumnType>, 10> kColumnTypes = {{{ColumnType::number, "number"},
                                                            {ColumnType::integer, "integer"},
                                                            {ColumnType::ordered, "ordered"},
                                                            {ColumnType::category, "category"},
                                                            {ColumnType::text, "text"},
                                                            {ColumnType::boolean, "boolean"},
                                                            {ColumnType::date, "date"},
                                                            {ColumnType::id, "id"},
                                                            {ColumnType::constant, "constant"},
                                                            {ColumnType::empty, "empty"}}};

constexpr std::array<Name<Standardize>, 4> kStandardizes = {{{Standardize::automatic, "auto"},
                                                             {Standardize::none, "none"},
                                                             {Standardize::zscore, "zscore"},
                                                             {Standardize::iqr, "iqr"}}};

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string all_of_them(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (const std::string& name : names) shown.push_back(shortened(name));
  return fmt::format("{}", fmt::join(shown, ", "));
}

std::string describe_texts(const Preparation& p) {
  std::vector<std::string> shown;
  for (const EncodedColumn& column : p.encoded) {
    shown.push_back(fmt::format("{} ({})", shortened(column.name), column.num_columns));
  }
  return fmt::format("text as columns of 0 and 1 ({}): {}", to_string(p.categorical), fmt::join(shown, ", "));
}

// "income number (922 and 1825 missing)".
std::string describe_column(const ColumnSource& source) {
  std::string text = fmt::format("{} {}", shortened(source.name), to_string(source.type));
  if (!source.levels.empty()) text += fmt::format(" of {}", source.levels.size());
  std::vector<std::string> remarks;
  if (source.missing_x + source.missing_y > 0) {
    remarks.push_back(fmt::format("{} and {} missing", source.missing_x, source.missing_y));
  }
  if (!source.note.empty()) remarks.push_back(source.note);
  if (source.excluded) text += ", excluded";
  if (!remarks.empty()) text += fmt::format(" ({})", fmt::join(remarks, ", "));
  return text;
}

// Numbers without missing values are as in the file.
bool is_plain(const ColumnSource& source, const Preparation& p) {
  const bool of_words = std::ranges::find(p.booleans, source.name) != p.booleans.end();
  const bool number = source.type == ColumnType::number || source.type == ColumnType::integer ||
                      source.type == ColumnType::constant || (source.type == ColumnType::boolean && !of_words);
  return number && !source.excluded && source.missing_x + source.missing_y == 0 && source.note.empty();
}

// Some columns of numbers have missing values, and a column of marks.
bool has_filled_numbers(const Preparation& p) {
  return p.na == NaPolicy::indicator && std::ranges::any_of(p.sources, [](const ColumnSource& source) {
           const bool of_texts = source.type == ColumnType::category || source.type == ColumnType::text;
           return !source.excluded && !of_texts && source.missing_x + source.missing_y > 0;
         });
}

// One line with all that was decided about columns; empty when each is a number as it is in the table.
std::string describe_types(const Preparation& p, OptionNames names) {
  constexpr std::size_t kListed = 30;
  std::vector<std::string> shown;
  std::size_t plain = 0;
  std::size_t more = 0;
  for (const ColumnSource& source : p.sources) {
    if (is_plain(source, p)) {
      ++plain;
    } else if (shown.size() == kListed) {
      ++more;
    } else {
      shown.push_back(describe_column(source));
    }
  }
  if (shown.empty()) return "";
  if (more > 0) shown.push_back(fmt::format("{} more", more));
  if (plain > 0) shown.push_back(counted(plain, "number"));
  const std::string_view missing =
      has_filled_numbers(p) ? "missing numbers are marked, and kernels and distances see the pooled median there"
                            : "missing values";
  const std::string advice = fmt::format("to change a type: " KQD_OPTION("types") "; {}: " KQD_OPTION("na"), missing);
  return fmt::format("columns: {} ({})", fmt::join(shown, ", "), render(advice, names));
}

std::string describe_missing(const Preparation& p, const Wording& words) {
  const std::size_t cells = p.x.missing_cells + p.y.missing_cells;
  if (p.na == NaPolicy::omit) {
    return fmt::format("{} of {} and {} of {} omitted for missing values", counted(p.x.omitted, "row"), words.x,
                       p.y.omitted, words.y);
  }
  return fmt::format("{} filled in by the median of both samples ({} in {}, {} in {})", counted(cells, "missing value"),
                     p.x.missing_cells, words.x, p.y.missing_cells, words.y);
}

std::string describe_subsample(const Preparation& p, const Wording& words) {
  const auto part = [](const RowCounts& rows) {
    const std::size_t available = rows.read - rows.omitted;
    return fmt::format("{} of {}", available - rows.not_drawn, available);
  };
  return fmt::format("random subsample by seed {}: {} rows of {}, {} rows of {}", p.seed, part(p.x), words.x, part(p.y),
                     words.y);
}

std::vector<std::string> columns_taken(const Preparation& p, OptionNames names) {
  std::vector<std::string> lines;
  const std::string types = describe_types(p, names);
  if (!types.empty()) lines.push_back(types);
  if (p.columns_used < p.columns_read) {
    lines.push_back(fmt::format("{} of {} columns compared", p.columns_used, p.columns_read));
  }
  if (!p.weights_column.empty()) {
    lines.push_back(fmt::format("column {} holds the weights of the rows", shortened(p.weights_column)));
  }
  if (!p.unit_column.empty()) {
    lines.push_back(fmt::format("column {} names the block or cluster of each row", shortened(p.unit_column)));
  }
  if (!p.dropped_texts.empty())
    lines.push_back(fmt::format("columns of text excluded: {}", all_of_them(p.dropped_texts)));
  if (!p.encoded.empty() && types.empty()) lines.push_back(describe_texts(p));
  if (!p.booleans.empty() && types.empty())
    lines.push_back(fmt::format("true and false as 1 and 0: {}", all_of_them(p.booleans)));
  for (const OffsetColumn& column : p.offsets) {
    lines.push_back(fmt::format("column {}: {} subtracted, as whole numbers beyond 2^53 would be rounded",
                                shortened(column.name), column.offset));
  }
  if (!p.dates.empty() && types.empty())
    lines.push_back(fmt::format("dates as days since 1970-01-01: {}", all_of_them(p.dates)));
  return lines;
}

void add_scale(const Preparation& p, std::vector<std::string>& lines) {
  if (p.standardize == Standardize::zscore) {
    lines.push_back("columns centred and scaled by the pooled mean and standard deviation (zscore)");
  }
  if (p.standardize == Standardize::iqr) {
    lines.push_back("columns centred and scaled by the pooled median and interquartile range (iqr)");
  }
}

}  // namespace

double ColumnUnits::standardised(double value) const {
  return spread > 0.0 ? (std::scalbn(value, -exponent) - center) / spread : 0.0;
}

// Rounding loses the last digits of some values, so nearby ones with few digits are tried first.
double ColumnUnits::original(double of_standardised) const {
  if (!(spread > 0.0)) return std::scalbn(center, exponent);
  const double value = std::scalbn(center + spread * of_standardised, exponent);
  const double whole = std::nearbyint(value);
  if (standardised(whole) == of_standardised) return whole;
  const std::string digits = fmt::format("{:.15g}", value);
  double rounded = value;
  std::from_chars(digits.data(), digits.data() + digits.size(), rounded);
  return standardised(rounded) == of_standardised ? rounded : value;
}

Categorical parse_categorical(std::string_view text) {
  return value_of(kCategoricals, text, "categorical");
}
NaPolicy parse_na_policy(std::string_view text) {
  return value_of(kNaPolicies, text, "na");
}
Standardize parse_standardize(std::string_view text) {
  return value_of(kStandardizes, text, "standardize");
}
std::string to_string(ColumnType type) {
  return std::string(name_of(kColumnTypes, type));
}
std::string to_string(Categorical categorical) {
  return std::string(name_of(kCategoricals, categorical));
}
std::string to_string(NaPolicy policy) {
  return std::string(name_of(kNaPolicies, policy));
}
std::string to_string(Standardize standardize) {
  return std::string(name_of(kStandardizes, standardize));
}

std::vector<std::string> describe_columns(const Preparation& p, OptionNames names) {
  std::vector<std::string> lines = columns_taken(p, names);
  add_scale(p, lines);
  return lines;
}

std::vector<std::string> describe(const Preparation& p, const Wording& words) {
  std::vector<std::string> lines = columns_taken(p, words.option_names);
  if (p.ungrouped > 0) lines.push_back(fmt::format("{} without a group omitted", counted(p.ungrouped, "row")));
  const bool imputed = p.na == NaPolicy::impute_median && p.x.missing_cells + p.y.missing_cells > 0;
  if (p.na == NaPolicy::omit || imputed) lines.push_back(describe_missing(p, words));
  if (p.x.not_drawn + p.y.not_drawn > 0) lines.push_back(describe_subsample(p, words));
  add_scale(p, lines);
  return lines;
}

}  // namespace kqd
