#include "kqd/io/preparation.hpp"

#include <fmt/ranges.h>

#include <array>

#include "core/names.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

constexpr std::array<Name<Categorical>, 4> kCategoricals = {{{Categorical::raise, "raise"},
                                                             {Categorical::onehot, "onehot"},
                                                             {Categorical::hash, "hash"},
                                                             {Categorical::drop, "drop"}}};
constexpr std::array<Name<NaPolicy>, 3> kNaPolicies = {
    {{NaPolicy::raise, "raise"}, {NaPolicy::omit, "omit"}, {NaPolicy::impute_median, "impute-median"}}};
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

std::string describe_missing(const Preparation& p) {
  const std::size_t cells = p.x.missing_cells + p.y.missing_cells;
  if (p.na == NaPolicy::omit) {
    return fmt::format("{} of X and {} of Y omitted for missing values", counted(p.x.omitted, "row"), p.y.omitted);
  }
  return fmt::format("{} filled in by the median of both samples ({} in X, {} in Y)", counted(cells, "missing value"),
                     p.x.missing_cells, p.y.missing_cells);
}

std::string describe_subsample(const Preparation& p) {
  const auto part = [](const RowCounts& rows) {
    const std::size_t available = rows.read - rows.omitted;
    return fmt::format("{} of {}", available - rows.not_drawn, available);
  };
  return fmt::format("random subsample by seed {}: {} rows of X, {} rows of Y", p.seed, part(p.x), part(p.y));
}

std::vector<std::string> columns_taken(const Preparation& p) {
  std::vector<std::string> lines;
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
  if (!p.encoded.empty()) lines.push_back(describe_texts(p));
  if (!p.booleans.empty()) lines.push_back(fmt::format("true and false as 1 and 0: {}", all_of_them(p.booleans)));
  for (const OffsetColumn& column : p.offsets) {
    lines.push_back(fmt::format("column {}: {} subtracted, as whole numbers beyond 2^53 would be rounded",
                                shortened(column.name), column.offset));
  }
  if (!p.dates.empty()) lines.push_back(fmt::format("dates as days since 1970-01-01: {}", all_of_them(p.dates)));
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

Categorical parse_categorical(std::string_view text) {
  return value_of(kCategoricals, text, "categorical");
}
NaPolicy parse_na_policy(std::string_view text) {
  return value_of(kNaPolicies, text, "na");
}
Standardize parse_standardize(std::string_view text) {
  return value_of(kStandardizes, text, "standardize");
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

std::vector<std::string> describe_columns(const Preparation& p) {
  std::vector<std::string> lines = columns_taken(p);
  add_scale(p, lines);
  return lines;
}

std::vector<std::string> describe(const Preparation& p) {
  std::vector<std::string> lines = columns_taken(p);
  if (p.ungrouped > 0) lines.push_back(fmt::format("{} without a group omitted", counted(p.ungrouped, "row")));
  if (p.na == NaPolicy::omit || p.x.missing_cells + p.y.missing_cells > 0) lines.push_back(describe_missing(p));
  if (p.x.not_drawn + p.y.not_drawn > 0) lines.push_back(describe_subsample(p));
  add_scale(p, lines);
  return lines;
}

}  // namespace kqd
