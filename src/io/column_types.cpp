#include "io/column_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/fail.hpp"
#include "core/function_ref.hpp"
#include "core/text.hpp"
#include "io/booleans.hpp"
#include "io/cell_checks.hpp"
#include "io/column_list.hpp"
#include "io/level_counts.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

constexpr std::size_t kFewValues = 20;        // so many different values are levels, or an integer with few values
constexpr double kFewestTexts = 0.05;         // fewer among numbers are typing errors, not levels
constexpr double kMostlyTexts = 0.9;          // a number among so many texts is a text
constexpr double kMostlyDifferent = 0.9;      // of the rows of an id have a text that is rare
constexpr std::size_t kFewestRowsOfIds = 50;  // among fewer rows, texts may differ by chance

struct TypeWord {
  std::string_view word;
  ColumnType type;
  DateOrder date_order;
};
constexpr std::array<TypeWord, 11> kTypeWords = {{{"number", ColumnType::number, DateOrder::unknown},
                                                  {"integer", ColumnType::integer, DateOrder::unknown},
                                                  {"ordered", ColumnType::ordered, DateOrder::unknown},
                                                  {"boolean", ColumnType::boolean, DateOrder::unknown},
                                                  {"category", ColumnType::category, DateOrder::unknown},
                                                  {"text", ColumnType::text, DateOrder::unknown},
                                                  {"date", ColumnType::date, DateOrder::unknown},
                                                  {"date-dmy", ColumnType::date, DateOrder::day_first},
                                                  {"date-mdy", ColumnType::date, DateOrder::month_first},
                                                  {"id", ColumnType::id, DateOrder::unknown},
                                                  {"constant", ColumnType::constant, DateOrder::unknown}}};

// Of "size=ordered:S<M<L".
constexpr std::string_view kOrderedLevels = "=ordered:";

TypeRule parse_ordered_levels(std::string_view item, std::size_t place) {
  TypeRule rule{.columns = std::string(trim(item.substr(0, place))), .type = ColumnType::ordered};
  std::string_view left = item.substr(place + kOrderedLevels.size());
  for (bool more = true; more;) {
    const std::size_t end = left.find('<');
    more = end != std::string_view::npos;
    std::string level(trim(left.substr(0, end)));
    if (level.empty() || std::ranges::find(rule.levels, level) != rule.levels.end()) {
      fail_option("types", std::string(item), "different levels in their order, such as size=ordered:S<M<L");
    }
    rule.levels.push_back(std::move(level));
    if (more) left = left.substr(end + 1);
  }
  return rule;
}

TypeRule parse_type_rule(std::string_view item) {
  if (const auto place = item.find(kOrderedLevels); place != std::string_view::npos && place > 0) {
    return parse_ordered_levels(item, place);
  }
  const auto equals = item.rfind('=');
  if (equals == std::string_view::npos || trim(item.substr(0, equals)).empty()) {
    fail_option("types", std::string(item), "columns and a type, such as plan=category");
  }
  const std::string_view word = trim(item.substr(equals + 1));
  std::vector<std::string_view> known;
  for (const TypeWord& type : kTypeWords) {
    if (type.word == word) return {std::string(trim(item.substr(0, equals))), type.type, type.date_order, {}};
    known.push_back(type.word);
  }
  fail_option("types", std::string(item), fmt::format("one of {}{}", join(known), suggestion(word, known)));
}

// The cells of a column of points in all inputs, by kind.
struct CellCounts {
  std::size_t numbers = 0;
  std::size_t texts = 0;
  std::size_t dates = 0;
  std::size_t missing = 0;

  [[nodiscard]] std::size_t present() const { return numbers + texts + dates; }
};

CellCounts count_cells(const std::vector<Input>& inputs, std::size_t place) {
  CellCounts counts;
  for (const Input& input : inputs) {
    const Column& column = input.table.columns[input.roles.points[place]];
    counts.texts += column.num_texts;
    counts.dates += column.num_dates;
    counts.missing += column.num_missing;
    counts.numbers += input.table.rows_read() - column.num_texts - column.num_dates - column.num_missing;
  }
  return counts;
}

// The values of a column of numbers: a few of them, or that they are many.
class Values {
 public:
  void add(double value) {
    whole_ = whole_ && value == std::floor(value);
    if (many_ || std::ranges::find(few_, value) != few_.end()) return;
    many_ = few_.size() == kFewValues;
    if (!many_) few_.push_back(value);
  }
  [[nodiscard]] ColumnType type() const {
    if (!many_ && few_.size() == 1) return ColumnType::constant;
    if (many_ || !whole_) return ColumnType::number;
    const bool binary = std::ranges::all_of(few_, [](double value) { return value == 0.0 || value == 1.0; });
    return binary ? ColumnType::boolean : ColumnType::integer;
  }
  [[nodiscard]] bool whole() const { return whole_; }
  [[nodiscard]] bool all_in(std::initializer_list<double> values) const {
    return !many_ && std::ranges::all_of(few_, [&](double v) { return std::ranges::find(values, v) != values.end(); });
  }

 private:
  std::vector<double> few_;
  bool many_ = false;
  bool whole_ = true;
};

// Calls visit(number of the sample, place among points, cell) for every cell of rows that are used.
template <class Visit>
void for_each_cell(std::vector<Input>& inputs, const RowPlan& rows, Visit visit) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<std::size_t>& points = inputs[i].roles.points;
    std::size_t row = 0;
    for (std::size_t b = 0; b < inputs[i].table.cells.num_blocks(); ++b) {
      const MatrixView<double> block = inputs[i].table.cells.block(b);
      for (std::size_t k = 0; k < block.rows(); ++k, ++row) {
        const RowPlan::SampleNumber sample = rows.sample_of_row[i][row];
        if (sample == RowPlan::kNowhere) continue;
        for (std::size_t p = 0; p < points.size(); ++p) visit(sample, p, block(k, points[p]));
      }
    }
  }
}

bool is_named_like_id(std::string_view name) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  std::string small(name);
  std::ranges::transform(small, small.begin(), lower);
  return small == "id" || small == "index" || small.ends_with("_id") || small.ends_with("-id") ||
         small.ends_with(" id") || name.ends_with("Id") || name.ends_with("ID");
}

// Whether no number occurs more often than there are samples. Ids of samples may be those of the same customers.
bool has_distinct_numbers(std::vector<Input>& inputs, std::size_t place, const RowPlan& rows) {
  const LevelCounts counts(inputs, place, rows);
  return counts.total >= kFewestRowsOfIds && counts.rows_of_rare(rows.counts.size()) == counts.total;
}

// A place and an example of the texts of a column.
struct Example {
  const Table* table;
  std::size_t column;
  Place place;
};

// The first text, of those that are wanted if there are any.
Example example_of_text(
    const std::vector<Input>& inputs, std::size_t place,
    FunctionRef<bool(std::string_view)> wanted = [](std::string_view) { return true; }) {
  for (const Input& input : inputs) {
    const std::size_t j = input.roles.points[place];
    const Column& column = input.table.columns[j];
    for (std::size_t code = 0; column.has_text() && code < column.texts->size(); ++code) {
      const TextDictionary::Entry& entry = (*column.texts)[code];
      if (wanted(entry.text)) return {&input.table, j, {entry.line, std::string(entry.text)}};
    }
  }
  return {&inputs.front().table, inputs.front().roles.points[place], {}};
}

[[noreturn]] void fail_mixed(const std::vector<Input>& inputs, std::size_t place, std::string_view others,
                             std::size_t count, std::string_view as) {
  const auto [table, j, text] = example_of_text(inputs, place);
  const std::string name = item_of(*table, j);
  const bool slashes = has_unknown_date_order(text.text);
  const std::string dates =
      slashes
          ? fmt::format("To read dates with the day first: {}, the month first: {}; otherwise",
                        option_reference("types", name + "=date-dmy"), option_reference("types", name + "=date-mdy"))
          : "To";
  fail_at(ErrorCode::unreadable_input, table->place_of(text.line),
          fmt::format("{} is {}, but {} other cells of the column are {}", table->cell_of(j, text.line),
                      in_quotes(text.text), count, others),
          fmt::format("{} or texts, not both", others),
          fmt::format("{} treat texts as missing: {}; to compare all as texts: {}; to exclude the column: {}", dates,
                      option_reference("types", fmt::format("{}={}", name, as)),
                      option_reference("types", name + "=category"), option_reference("drop", name)));
}

[[noreturn]] void fail_date_order(const std::vector<Input>& inputs, std::size_t place) {
  const auto [table, j, text] = example_of_text(inputs, place);
  const std::string name = item_of(*table, j);
  fail_at(ErrorCode::unreadable_input, table->place_of(text.line),
          fmt::format("{} is {}, a date whose order of day and month is not known", table->cell_of(j, text.line),
                      in_quotes(text.text)),
          "",
          fmt::format("If the day is first: {}; if the month is: {}; to compare as texts: {}",
                      option_reference("types", name + "=date-dmy"), option_reference("types", name + "=date-mdy"),
                      option_reference("types", name + "=category")));
}

// Whether all values are texts that would be numbers with a decimal comma, in all inputs.
bool all_have_decimal_commas(const std::vector<Input>& inputs, std::size_t place) {
  return std::ranges::all_of(inputs, [&](const Input& input) {
    const Column& column = input.table.columns[input.roles.points[place]];
    return column.has_text() && column.texts->size() > 0 && all_have_decimal_commas(*column.texts);
  });
}

[[noreturn]] void fail_decimal_commas(const std::vector<Input>& inputs, std::size_t place) {
  const auto [table, j, text] = example_of_text(inputs, place);
  fail_at(ErrorCode::unreadable_input, table->place_of(text.line),
          fmt::format("{} is {}, a number with a decimal comma", table->cell_of(j, text.line), in_quotes(text.text)),
          "",
          fmt::format("To read such numbers: {}; to compare as texts: {}", option_reference("decimal_comma", "yes"),
                      option_reference("types", item_of(*table, j) + "=category")));
}

bool all_lack_date_order(const std::vector<Input>& inputs, std::size_t place) {
  return std::ranges::all_of(inputs, [&](const Input& input) {
    const Column& column = input.table.columns[input.roles.points[place]];
    if (!column.has_text()) return true;
    for (std::size_t code = 0; code < column.texts->size(); ++code) {
      if (!has_unknown_date_order((*column.texts)[code].text)) return false;
    }
    return true;
  });
}

// Texts of a column of numbers or dates become missing.
void drop_texts(std::vector<Input>& inputs, std::size_t place) {
  for (Input& input : inputs) {
    const std::size_t j = input.roles.points[place];
    Column& column = input.table.columns[j];
    if (!column.has_text()) continue;
    for (std::size_t b = 0; b < input.table.cells.num_blocks(); ++b) {
      const MatrixView<double> block = input.table.cells.block(b);
      for (std::size_t i = 0; i < block.rows(); ++i) {
        if (is_text(block(i, j))) block(i, j) = missing_cell();
      }
    }
    if (column.texts->size() > 0 && column.first_missing.line == 0) {
      column.first_missing = {(*column.texts)[0].line, std::string((*column.texts)[0].text)};
    }
    column.num_missing += std::exchange(column.num_texts, 0);
    column.texts.reset();
  }
}

// Numbers of a declared category are texts.
void mark_as_texts(std::vector<Input>& inputs, std::size_t place) {
  for (Input& input : inputs) {
    Column& column = input.table.columns[input.roles.points[place]];
    if (!column.has_text()) column.texts = std::make_unique<TextDictionary>();
    input.table.spell_out(input.roles.points[place]);
  }
}

// A remark on levels such as "Pro" and "pro ", which may be meant to be one; empty when there are none.
std::string similar_levels(const LevelCounts& counts) {
  const auto folded = [](std::string_view text) {
    std::string small;
    for (const char c : text) {
      const bool blank = c == ' ' || c == '\t';
      if (!blank) small += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return small;
  };
  std::map<std::string, std::string> first_of;
  std::vector<std::string_view> texts;
  for (const auto& [text, count] : counts.by_text) texts.push_back(text);
  std::ranges::sort(texts);
  for (const std::string_view text : texts) {
    const auto [found, is_new] = first_of.emplace(folded(text), text);
    if (is_new) continue;
    return fmt::format("{} and {} differ only by case or blanks", in_quotes(found->second), in_quotes(text));
  }
  return "";
}

// The levels of an ordered column, ascending: as declared, or the texts of the different numbers.
std::vector<std::string> ordered_levels(std::vector<Input>& inputs, std::size_t place, const RowPlan& rows) {
  const Input& front = inputs.front();
  const std::vector<std::string>& declared = front.table.columns[front.roles.points[place]].levels;
  if (!declared.empty()) return declared;
  const LevelCounts counts(inputs, place, rows);
  std::vector<double> numbers;
  for (const auto& [number, count] : counts.by_number) numbers.push_back(number);
  std::ranges::sort(numbers);
  std::vector<std::string> levels;
  for (const double number : numbers) levels.push_back(shortest(number));
  return levels;
}

[[noreturn]] void fail_order(const std::vector<Input>& inputs, std::size_t place, const Example& example,
                             std::string_view expected) {
  const auto& [table, j, text] = example;
  const std::string name = item_of(inputs.front().table, inputs.front().roles.points[place]);
  fail_at(
      ErrorCode::unreadable_input, table->place_of(text.line),
      fmt::format("{} is {}", table->cell_of(j, text.line), in_quotes(text.text)), std::string(expected),
      fmt::format("To state the order of all levels: {}; to compare levels without an order: {}",
                  option_reference("types", name + "=ordered:S<M<L"), option_reference("types", name + "=category")));
}

// Levels become their ranks.
void turn_into_ranks(std::vector<Input>& inputs, std::size_t place, const std::vector<std::string>& levels) {
  std::unordered_map<std::string_view, double> ranks;
  for (const std::string& level : levels) ranks.emplace(level, static_cast<double>(ranks.size()));
  for (Input& input : inputs) {
    const std::size_t j = input.roles.points[place];
    Column& column = input.table.columns[j];
    std::vector<double> rank_of_code;
    for (std::size_t code = 0; column.has_text() && code < column.texts->size(); ++code) {
      const TextDictionary::Entry& entry = (*column.texts)[code];
      const auto found = ranks.find(entry.text);
      if (found == ranks.end()) {
        fail_order(inputs, place, {&input.table, j, {entry.line, std::string(entry.text)}}, "a level of its order");
      }
      rank_of_code.push_back(found->second);
    }
    for (std::size_t b = 0; b < input.table.cells.num_blocks(); ++b) {
      const MatrixView<double> block = input.table.cells.block(b);
      for (std::size_t i = 0; i < block.rows(); ++i) {
        double& cell = block(i, j);
        if (is_missing(cell)) continue;
        if (is_hashed_text(cell)) fail_order(inputs, place, example_of_text(inputs, place), "one of few levels");
        cell = is_text(cell) ? rank_of_code[text_payload(cell)] : ranks.at(shortest(cell + 0.0));
      }
    }
    column.num_texts = 0;
    column.texts.reset();
  }
}

// "S < M < L are 0, 1, 2".
std::string note_of_order(const std::vector<std::string>& levels) {
  constexpr std::size_t kShown = 10;
  if (levels.size() > kShown) return fmt::format("{} levels are 0 to {}", levels.size(), levels.size() - 1);
  std::string ranks;
  std::string text;
  for (std::size_t rank = 0; rank < levels.size(); ++rank) {
    text += fmt::format("{}{}", rank == 0 ? "" : " < ", printable(levels[rank]));
    ranks += fmt::format("{}{}", rank == 0 ? "" : ", ", rank);
  }
  return fmt::format("{} are {}", text, ranks);
}

class TypeFinder {
 public:
  TypeFinder(std::vector<Input>& inputs, const RowPlan& rows, const ReadOptions& options)
      : inputs_(inputs), rows_(rows), automatic_(options.categorical == Categorical::automatic) {}

  void look_at_numbers() {
    const std::size_t num_points = inputs_.front().roles.points.size();
    values_.resize(num_points);
    missing_.assign(num_points, {0, 0});
    const bool any_missing = std::ranges::any_of(inputs_, [](const Input& input) {
      return std::ranges::any_of(input.table.columns, [](const Column& column) { return column.num_missing > 0; });
    });
    // Arrays, whose columns have no names, are taken as they are.
    const bool named = std::ranges::any_of(inputs_, [](const Input& input) { return input.table.has_names; });
    if (!any_missing && !named) return;
    for_each_cell(inputs_, rows_, [&](std::size_t sample, std::size_t place, double cell) {
      if (is_missing(cell)) {
        if (sample < 2) ++missing_[place][sample];
      } else if (!is_text(cell)) {
        values_[place].add(cell);
      }
    });
    add_missing_of_dropped_rows();
    looked_ = true;
  }

  ColumnSource source_at(std::size_t place) {
    const Input& front = inputs_.front();
    const Column& column = front.table.columns[front.roles.points[place]];
    ColumnSource source{.name = front.table.name_of(front.roles.points[place])};
    source.missing_x = missing_[place][0];
    source.missing_y = missing_[place][1];
    const CellCounts cells = count_cells(inputs_, place);
    if (column.declared) {
      source.type = *column.declared;
      apply_declared(place, source, cells);
    } else {
      infer(place, source, cells);
    }
    return source;
  }

 private:
  // Rows that a reader no longer holds, because others were drawn, were read as well.
  void add_missing_of_dropped_rows() {
    for (std::size_t i = 0; i < std::min<std::size_t>(2, inputs_.size()); ++i) {
      const auto& [table, roles] = inputs_[i];
      if (table.dropped.missing.empty()) continue;
      for (std::size_t place = 0; place < missing_.size(); ++place) {
        const std::array<std::size_t, 2>& dropped = table.dropped.missing[roles.points[place]];
        missing_[place][i] += dropped[0];
        if (roles.group) missing_[place][1] += dropped[1];
      }
    }
  }

  void apply_declared(std::size_t place, ColumnSource& source, const CellCounts& cells) {
    if (source.type == ColumnType::id || source.type == ColumnType::constant) {
      exclude(source, "as declared");
    } else if (source.type == ColumnType::ordered) {
      apply_order(place, source, cells);
    } else if (source.type == ColumnType::boolean) {
      require_boolean(place, cells);
    } else if (source.type == ColumnType::number || source.type == ColumnType::integer ||
               source.type == ColumnType::date) {
      if (source.type == ColumnType::integer) require_whole(place);
      if (cells.texts == 0) return;
      source.missing_x += text_rows(place, 0);
      source.missing_y += text_rows(place, 1);
      source.note = fmt::format("texts count as missing: {}", cells.texts);
      drop_texts(inputs_, place);
    } else if (source.type == ColumnType::category || source.type == ColumnType::text) {
      mark_as_texts(inputs_, place);
    }
  }

  void apply_order(std::size_t place, ColumnSource& source, const CellCounts& cells) {
    const Input& front = inputs_.front();
    const bool declared = !front.table.columns[front.roles.points[place]].levels.empty();
    if (!declared && cells.texts > 0) {
      fail_order(inputs_, place, example_of_text(inputs_, place), "a number, because no order of levels is given");
    }
    const std::vector<std::string> levels = ordered_levels(inputs_, place, rows_);
    if (declared) mark_as_texts(inputs_, place);
    turn_into_ranks(inputs_, place, levels);
    source.note = note_of_order(levels);
  }

  void require_boolean(std::size_t place, const CellCounts& cells) {
    if (cells.texts > 0) {
      const auto [table, j, text] =
          example_of_text(inputs_, place, [](std::string_view word) { return !is_boolean_word(word); });
      fail_at(ErrorCode::unreadable_input, table->place_of(text.line),
              fmt::format("{} is {}", table->cell_of(j, text.line), in_quotes(text.text)),
              "true or false, yes or no, 1 or 0",
              "To compare any two texts: " + option_reference("types", item_of(*table, j) + "=category"));
    }
    if (values_[place].all_in({0.0, 1.0})) return;
    fail_values(place, "1 and 0 of a boolean", "integer");
  }

  void require_whole(std::size_t place) {
    if (!values_[place].whole()) fail_values(place, "whole numbers of an integer", "number");
  }

  [[noreturn]] void fail_values(std::size_t place, std::string_view expected, std::string_view type) {
    const Input& front = inputs_.front();
    const std::size_t j = front.roles.points[place];
    fail_at(ErrorCode::unreadable_input, front.table.source,
            fmt::format("column {} has other values", front.table.label_of(j)), std::string(expected),
            "To compare all values: " + option_reference("types", fmt::format("{}={}", item_of(front.table, j), type)));
  }

  void infer(std::size_t place, ColumnSource& source, const CellCounts& cells) {
    if (cells.present() == 0) {
      source.type = ColumnType::empty;
      if (automatic_) exclude(source, "no value in any row");
    } else if (cells.texts > 0) {
      if (automatic_ && cells.dates > 0) fail_mixed(inputs_, place, "dates", cells.dates, "date");
      if (automatic_ && all_have_decimal_commas(inputs_, place)) fail_decimal_commas(inputs_, place);
      source.type = ColumnType::category;
      if (automatic_) infer_from_texts(place, source, cells);
    } else if (cells.dates > 0) {
      source.type = ColumnType::date;
    } else if (looked_) {
      infer_from_numbers(place, source);
    }
  }

  void infer_from_numbers(std::size_t place, ColumnSource& source) {
    // Values that are not doubles look equal as doubles.
    const bool rounded = std::ranges::any_of(inputs_, [place](const Input& input) {
      return input.table.columns[input.roles.points[place]].first_rounded.line > 0;
    });
    if (rounded) return;
    source.type = values_[place].type();
    const bool constant = source.type == ColumnType::constant;
    if (constant && source.missing_x + source.missing_y > 0) source.type = ColumnType::integer;
    if (automatic_ && source.type == ColumnType::number && values_[place].whole() && is_named_like_id(source.name) &&
        has_distinct_numbers(inputs_, place, rows_)) {
      source.type = ColumnType::id;
      exclude(source, "different in all rows of a sample");
    }
  }

  void infer_from_texts(std::size_t place, ColumnSource& source, const CellCounts& cells) {
    const LevelCounts counts(inputs_, place, rows_);
    const double share = static_cast<double>(cells.texts) / static_cast<double>(cells.present());
    const bool few =
        share >= kFewestTexts && counts.num_levels() <= kFewValues && 2 * counts.num_levels() <= counts.total;
    if (cells.numbers > 0 && share < kMostlyTexts && !few) {
      fail_mixed(inputs_, place, "numbers", cells.numbers, "number");
    }
    if (cells.numbers == 0 && all_lack_date_order(inputs_, place)) fail_date_order(inputs_, place);
    const bool complete = source.missing_x + source.missing_y == 0;
    if (counts.num_levels() == 1 && complete) {
      source.type = ColumnType::constant;
    } else if (counts.total >= kFewestRowsOfIds && static_cast<double>(counts.rows_of_rare(rows_.counts.size())) >=
                                                       kMostlyDifferent * static_cast<double>(counts.total)) {
      source.type = ColumnType::id;
      exclude(source, fmt::format("{} different texts in {} rows", counts.num_levels(), counts.total));
    }
    if (counts.complete() && !source.excluded) source.note = similar_levels(counts);
  }

  [[nodiscard]] std::size_t text_rows(std::size_t place, std::size_t sample) {
    std::size_t count = 0;
    for_each_cell(inputs_, rows_, [&](std::size_t of, std::size_t at, double cell) {
      count += of == sample && at == place && is_text(cell) ? 1U : 0U;
    });
    return count;
  }

  static void exclude(ColumnSource& source, std::string note) {
    source.excluded = true;
    source.note = std::move(note);
  }

  std::vector<Input>& inputs_;
  const RowPlan& rows_;
  bool automatic_;
  bool looked_ = false;
  std::vector<Values> values_;
  std::vector<std::array<std::size_t, 2>> missing_;
};

// Gives all inputs the levels of the one that has most, if the others have some of them in the same order.
bool agree_on_levels(std::vector<Input>& inputs, std::size_t place) {
  const auto levels = [place](Input& input) -> std::vector<std::string>& {
    return input.table.columns[input.roles.points[place]].levels;
  };
  const auto longest = std::ranges::max_element(inputs, {}, [&](Input& input) { return levels(input).size(); });
  const std::vector<std::string> all = levels(*longest);
  for (Input& input : inputs) {
    auto next = all.begin();
    for (const std::string& level : levels(input)) {
      next = std::find(next, all.end(), level);
      if (next == all.end()) return false;
      ++next;
    }
  }
  for (Input& input : inputs) levels(input) = all;
  return true;
}

// Types of tables in memory that differ between samples declare nothing; ordered levels whose order differs have none.
void agree_on_declared(std::vector<Input>& inputs, std::size_t place) {
  const auto declared = [place](Input& input) -> std::optional<ColumnType>& {
    return input.table.columns[input.roles.points[place]].declared;
  };
  const std::optional<ColumnType> front = declared(inputs.front());
  if (!std::ranges::all_of(inputs, [&](Input& input) { return declared(input) == front; })) {
    for (Input& input : inputs) declared(input).reset();
  } else if (front == ColumnType::ordered && !agree_on_levels(inputs, place)) {
    for (Input& input : inputs) declared(input) = ColumnType::category;
  }
}

// A table of nothing but complete columns of numbers is compared as it is, constant columns as well.
void exclude_constants(std::vector<ColumnSource>& sources) {
  const auto is_number = [](const ColumnSource& source) {
    const bool number = source.type == ColumnType::number || source.type == ColumnType::integer ||
                        source.type == ColumnType::boolean || source.type == ColumnType::constant;
    return number && !source.excluded && source.missing_x + source.missing_y == 0;
  };
  const auto is_constant = [](const ColumnSource& source) { return source.type == ColumnType::constant; };
  if (std::ranges::all_of(sources, is_number)) return;
  const bool all_gone =
      std::ranges::all_of(sources, [&](const ColumnSource& source) { return source.excluded || is_constant(source); });
  if (all_gone) return;
  for (ColumnSource& source : sources) source.excluded = source.excluded || is_constant(source);
}

void require_some_column(const Input& front, const std::vector<ColumnSource>& sources) {
  if (!std::ranges::all_of(sources, &ColumnSource::excluded)) return;
  const ColumnSource& first = sources.front();
  fail_at(ErrorCode::empty_sample, front.table.source,
          fmt::format("no column is left to compare; {} is excluded, its type is {} ({})",
                      front.table.label_of(front.roles.points.front()), to_string(first.type), first.note),
          "at least one",
          fmt::format("To compare it as text: {}",
                      option_reference("types", item_of(front.table, front.roles.points.front()) + "=text")));
}

}  // namespace

std::vector<TypeRule> parse_type_rules(std::string_view text) {
  std::vector<TypeRule> rules;
  while (!trim(text).empty()) {
    bool quoted = false;
    std::size_t end = 0;
    for (; end < text.size() && (quoted || text[end] != ','); ++end) quoted = quoted != (text[end] == '"');
    rules.push_back(parse_type_rule(text.substr(0, end)));
    text = end < text.size() ? text.substr(end + 1) : "";
  }
  return rules;
}

void find_types(std::vector<Input>& inputs, const RowPlan& rows, const ReadOptions& options, Preparation& preparation) {
  for (const TypeRule& rule : parse_type_rules(options.types)) {
    ColumnList list("types", rule.columns);
    static_cast<void>(list.marks(inputs.front().table));
    list.check_all_found(inputs.front().table);
  }
  for (std::size_t k = 0; k < inputs.front().roles.points.size(); ++k) agree_on_declared(inputs, k);
  TypeFinder finder(inputs, rows, options);
  finder.look_at_numbers();
  std::vector<ColumnSource> sources;
  for (std::size_t k = 0; k < inputs.front().roles.points.size(); ++k) sources.push_back(finder.source_at(k));
  if (options.categorical == Categorical::automatic && !options.keep_encoding) exclude_constants(sources);
  require_some_column(inputs.front(), sources);
  for (Input& input : inputs) {
    std::vector<std::size_t> kept;
    for (std::size_t k = 0; k < sources.size(); ++k) {
      if (!sources[k].excluded) kept.push_back(input.roles.points[k]);
    }
    input.roles.points = std::move(kept);
  }
  preparation.sources = std::move(sources);
}

}  // namespace kqd
