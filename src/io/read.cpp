#include "kqd/io/read.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <numeric>
#include <span>
#include <unordered_map>
#include <utility>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "core/warning.hpp"
#include "io/booleans.hpp"
#include "io/categorical.hpp"
#include "io/cell_checks.hpp"
#include "io/column_types.hpp"
#include "io/header_doubts.hpp"
#include "io/like_encoding.hpp"
#include "io/pooled_columns.hpp"
#include "io/readers.hpp"
#include "io/roles.hpp"
#include "io/row_files.hpp"
#include "io/rows.hpp"
#include "io/table.hpp"
#include "io/text.hpp"
#include "kqd/io/frame.hpp"

namespace kqd {
namespace {

TextRules rules_of(const ReadOptions& options) {
  TextRules rules{.default_missing = options.default_na,
                  .dates = options.dates || options.categorical == Categorical::automatic,
                  .types = parse_type_rules(options.types)};
  if (options.like) {
    for (TypeRule& rule : type_rules_of(*options.like)) rules.types.push_back(std::move(rule));
  }
  const TextRules spelling{.decimal_comma = options.csv.decimal_comma};
  for (const std::string& value : options.na_values) {
    const std::string_view text = trim(value);  // as cells are before they are compared
    rules.missing.emplace_back(text);
    if (const Cell cell = parse_cell(text, spelling); cell.kind == CellKind::number) {
      rules.missing_numbers.push_back(cell.value);
    }
  }
  return rules;
}

void keep_numbers_only(std::vector<Input>& inputs, Preparation& preparation) {
  std::vector<std::size_t> numbers;
  const Input& front = inputs.front();
  for (std::size_t k = 0; k < front.roles.points.size(); ++k) {
    const std::size_t j = front.roles.points[k];
    if (is_text_column(inputs, k) && !front.table.columns[j].declared) {
      for (ColumnSource& source : preparation.sources) {
        if (source.name == front.table.name_of(j)) source.excluded = true;
      }
      preparation.dropped_texts.push_back(front.table.name_of(front.roles.points[k]));
    } else {
      numbers.push_back(k);
    }
  }
  if (numbers.empty()) {
    fail_at(ErrorCode::empty_sample, front.table.source,
            "all columns hold text, so " KQD_OPTION("categorical=drop") " leaves none", "",
            "To turn texts into numbers: " KQD_OPTION("categorical=onehot") " or " KQD_OPTION("categorical=hash"));
  }
  for (Input& input : inputs) {
    std::vector<std::size_t> points;
    for (const std::size_t k : numbers) points.push_back(input.roles.points[k]);
    input.roles.points = std::move(points);
  }
}

// Completes the description of a column for reports.
void describe_encoding(const ColumnEncoder& encoder, ColumnSource& source) {
  if (!encoder.encodes_text()) return;
  source.levels = encoder.levels();
  if (encoder.hashes()) {
    source.type = ColumnType::text;
    source.note = fmt::format("{} texts in {} hashed columns", encoder.num_texts(), kHashedColumns);
  } else if (encoder.num_rare() > 0) {
    source.note = fmt::format("{} rare texts are one level{}{}", encoder.num_rare(), source.note.empty() ? "" : "; ",
                              source.note);
  }
}

std::vector<ColumnEncoder> make_encoders(std::vector<Input>& inputs, const RowPlan& rows, const ReadOptions& options,
                                         Preparation& preparation) {
  std::vector<ColumnEncoder> encoders;
  const Input& front = inputs.front();
  auto source = preparation.sources.begin();
  for (std::size_t k = 0; k < front.roles.points.size(); ++k, ++source) {
    const ColumnEncoder& encoder = encoders.emplace_back(inputs, k, rows, options);
    if (encoder.encodes_text()) {
      preparation.encoded.push_back({front.table.name_of(front.roles.points[k]), encoder.width()});
    }
    while (source->excluded) ++source;
    describe_encoding(encoder, *source);
  }
  return encoders;
}

// Where the columns of the samples come from; none when each is a number and a column of the table.
std::vector<ColumnRole> roles_of(const std::vector<ColumnEncoder>& encoders, const std::vector<ColumnSource>& sources) {
  std::vector<ColumnRole> roles;
  const bool excluded = std::ranges::any_of(sources, &ColumnSource::excluded);
  if (!excluded && std::ranges::all_of(encoders, &ColumnEncoder::passes)) return roles;
  std::size_t source = 0;
  for (const ColumnEncoder& encoder : encoders) {
    while (sources[source].excluded) ++source;
    for (std::size_t c = 0; c < encoder.width(); ++c) roles.push_back({encoder.kind_of(c), source});
    ++source;
  }
  return roles;
}

// As columns of 0 and 1, two dates are equally far apart whether a day or a year passes between them.
void note_dates_as_text(const std::vector<Input>& inputs, Warnings& notes) {
  const Input& front = inputs.front();
  std::vector<std::string> names;
  for (std::size_t k = 0; k < front.roles.points.size(); ++k) {
    if (is_column_of_date_texts(inputs, k)) names.push_back(front.table.name_of(front.roles.points[k]));
  }
  if (names.empty()) return;
  warn(notes, WarningId::dates_as_text, front.table.source, list_of({names.begin(), names.end()}));
}

void warn_about_collisions(const Input& front, const std::vector<ColumnEncoder>& encoders, Warnings& warnings) {
  constexpr std::size_t kShown = 3;
  for (std::size_t k = 0; k < encoders.size(); ++k) {
    const std::vector<std::string>& all = encoders[k].collisions();
    if (all.empty()) continue;
    const std::span<const std::string> shown = std::span(all).first(std::min(all.size(), kShown));
    warn(warnings, WarningId::hash_collisions, front.table.label_of(front.roles.points[k]), all.size(), kHashedColumns,
         fmt::format("{}", fmt::join(shown, ", ")));
  }
}

std::vector<std::string> names_of_points(const std::vector<Input>& inputs, const std::vector<ColumnEncoder>& encoders) {
  const auto named = std::ranges::find_if(inputs, [](const Input& input) { return input.table.has_names; });
  std::vector<std::string> names;
  const bool all_pass = std::ranges::all_of(encoders, &ColumnEncoder::passes);
  if (named == inputs.end() && all_pass) return names;
  const Input& from = named == inputs.end() ? inputs.front() : *named;
  std::vector<std::string_view> taken;
  for (const Column& column : from.table.columns) taken.push_back(column.name);
  for (std::size_t k = 0; k < encoders.size(); ++k) {
    const std::string base = from.table.name_of(from.roles.points[k]);
    for (std::string& name : encoders[k].names(base)) {
      // An encoded text may make the name that another column has: place=Rome.
      while (name != base && std::ranges::find(taken, name) != taken.end()) name += "'";
      names.push_back(std::move(name));
    }
  }
  return names;
}

// The block or cluster of rows, as numbers: equal for equal values in all inputs.
class UnitCodes {
 public:
  // `offset` is what was subtracted from the units; empty: nothing.
  UnitCodes(std::vector<Input>& inputs, std::string offset)
      : offset_(std::move(offset)), whole_(inputs.front().roles.unit.has_value() && offset_.empty()) {
    for (Input& input : inputs) {
      if (!input.roles.unit) continue;
      const Column& column = input.table.columns[*input.roles.unit];
      if (column.has_text() && column.texts->overfull()) {
        fail_at(ErrorCode::invalid_option, input.table.source,
                fmt::format("column {} has more than {} different texts, too many for blocks or clusters",
                            input.table.label_of(*input.roles.unit), column.texts->size()));
      }
      whole_ = whole_ && all_whole(input);
    }
  }

  std::int64_t code_of(const Input& input, double cell) {
    if (whole_) return static_cast<std::int64_t>(cell);
    const Column& column = input.table.columns[*input.roles.unit];
    std::string text = is_text(cell)     ? std::string((*column.texts)[text_payload(cell)].text)
                       : offset_.empty() ? shortest(cell + 0.0)
                                         : sum_of_wholes(offset_, cell);
    const auto [found, is_new] = codes_.emplace(std::move(text), static_cast<std::int64_t>(names_.size()));
    if (is_new) names_.push_back(offset_.empty() ? in_quotes(found->first) : found->first);
    return found->second;
  }

  // By code; none when codes are the numbers themselves.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  static bool all_whole(Input& input) {
    constexpr double kLargest = 9e15;  // beyond it not every whole number is a double
    for (std::size_t b = 0; b < input.table.cells.num_blocks(); ++b) {
      const MatrixView<double> block = input.table.cells.block(b);
      for (std::size_t i = 0; i < block.rows(); ++i) {
        const double cell = block(i, *input.roles.unit);
        if (!is_missing(cell) && !(cell == std::floor(cell) && std::abs(cell) <= kLargest)) return false;
      }
    }
    return true;
  }

  std::string offset_;
  bool whole_;
  std::unordered_map<std::string, std::int64_t> codes_;
  std::vector<std::string> names_;
};

// Converts cells to samples. Each block of cells is freed after it was read.
class Filler {
 public:
  Filler(std::vector<Input>& inputs, const RowPlan& rows, const std::vector<ColumnEncoder>& encoders,
         std::size_t num_samples, std::string unit_offset)
      : encoders_(encoders),
        unit_codes_(inputs, std::move(unit_offset)),
        next_row_(num_samples, 0),
        units_(num_samples),
        samples_(num_samples) {
    std::size_t width = 0;
    for (const ColumnEncoder& encoder : encoders) width += encoder.width();
    for (std::size_t s = 0; s < num_samples; ++s) {
      if (inputs.size() == num_samples && take_over(inputs[s], s, rows.sample_of_row[s])) continue;
      samples_[s].points = Matrix<double>(rows.kept(s), width);
      if (inputs.front().roles.weights) samples_[s].weights.reserve(rows.kept(s));
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) drain(inputs[i], i, rows.sample_of_row[i]);
  }

  std::vector<Sample>& samples() { return samples_; }
  [[nodiscard]] const std::vector<std::string>& unit_names() const { return unit_codes_.names(); }
  [[nodiscard]] std::vector<std::int64_t> all_units() const {
    std::vector<std::int64_t> all;
    for (const auto& units : units_) all.insert(all.end(), units.begin(), units.end());
    return all;
  }

 private:
  // True when the cells of an input become a sample unchanged: every row, every column, in their order.
  [[nodiscard]] bool passes_whole(const Input& input, std::size_t sample,
                                  const std::vector<RowPlan::SampleNumber>& sample_of_row) const {
    std::vector<std::size_t> all(input.table.cells.cols());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return input.roles.points == all && std::ranges::all_of(encoders_, &ColumnEncoder::passes) &&
           std::ranges::all_of(sample_of_row, [&](RowPlan::SampleNumber s) { return s == sample; });
  }

  // Cells that are in one matrix already, such as those of a mapped file, are not copied.
  bool take_over(Input& input, std::size_t sample, const std::vector<RowPlan::SampleNumber>& sample_of_row) {
    if (!input.table.cells.is_whole() || !passes_whole(input, sample, sample_of_row)) return false;
    samples_[sample].points = input.table.cells.take_whole();
    return true;
  }

  void drain(Input& input, std::size_t index, const std::vector<RowPlan::SampleNumber>& sample_of_row) {
    const bool as_it_is = passes_whole(input, index, sample_of_row);
    input.table.cells.drain([&](std::size_t first_row, MatrixView<const double> block) {
      if (as_it_is) {
        std::copy_n(block.data(), block.rows() * block.cols(), samples_[index].points.row(first_row).data());
        return;
      }
      for (std::size_t i = 0; i < block.rows(); ++i) {
        const RowPlan::SampleNumber sample = sample_of_row[first_row + i];
        if (sample != RowPlan::kNowhere) add_row(input, index, block.row(i), sample);
      }
    });
  }

  void add_row(const Input& input, std::size_t index, std::span<const double> cells, std::size_t sample) {
    std::span<double> out = samples_[sample].points.row(next_row_[sample]++);
    for (std::size_t k = 0; k < encoders_.size(); ++k) {
      const std::size_t width = encoders_[k].width();
      encoders_[k].encode(index, cells[input.roles.points[k]], out.first(width));
      out = out.subspan(width);
    }
    if (input.roles.weights) samples_[sample].weights.push_back(cells[*input.roles.weights]);
    if (input.roles.unit) units_[sample].push_back(unit_codes_.code_of(input, cells[*input.roles.unit]));
  }

  const std::vector<ColumnEncoder>& encoders_;
  UnitCodes unit_codes_;
  std::vector<std::size_t> next_row_;
  std::vector<std::vector<std::int64_t>> units_;
  std::vector<Sample> samples_;
};

void describe_columns(const std::vector<Input>& inputs, Preparation& preparation) {
  const Input& front = inputs.front();
  const Roles& roles = front.roles;
  const auto with_own_part = static_cast<std::size_t>(roles.weights.has_value()) +
                             static_cast<std::size_t>(roles.unit.has_value()) +
                             static_cast<std::size_t>(roles.group.has_value());
  preparation.columns_read = front.table.columns.size() - with_own_part;
  preparation.columns_used = roles.points.size();
  for (const std::size_t j : roles.points) {
    if (front.table.columns[j].num_dates > 0) preparation.dates.push_back(front.table.name_of(j));
  }
}

Preparation begin_preparation(const ReadOptions& options, const std::string& group_column) {
  Preparation preparation;
  preparation.group_column = group_column;
  preparation.weights_column = options.weights_column;
  preparation.unit_column = options.unit_column;
  preparation.categorical = options.categorical;
  preparation.na = options.na;
  preparation.standardize = options.standardize == Standardize::automatic ? Standardize::none : options.standardize;
  preparation.max_rows = options.max_rows;
  preparation.seed = options.seed.value;
  return preparation;
}

void describe_rows(const RowPlan& rows, Preparation& preparation) {
  preparation.x = rows.counts[0];
  if (rows.counts.size() > 1) preparation.y = rows.counts[1];
  preparation.ungrouped = rows.ungrouped;
  preparation.group_x = rows.group_values[0];
  preparation.group_y = rows.group_values[1];
}

// The numbers of a sample's rows in its input, from 1; none when it has all rows in their order.
std::vector<std::size_t> row_numbers(const std::vector<Input>& inputs, const RowPlan& rows, std::size_t sample) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& samples = rows.sample_of_row[i];
    const bool all = std::ranges::all_of(samples, [&](auto of_row) { return of_row == sample; });
    if (all && inputs[i].table.dropped.count == 0) return {};
    for (std::size_t row = 0; row < samples.size(); ++row) {
      if (samples[row] == sample) numbers.push_back(inputs[i].table.number_of(row) + 1);
    }
  }
  return numbers;
}

// The order of the columns of all inputs, as far as every column of it is compared.
std::vector<std::size_t> shape_of_rows(const std::vector<Input>& inputs) {
  const Table& front = inputs.front().table;
  const bool same = std::ranges::all_of(inputs, [&](const Input& input) {
    return input.table.row_shape == front.row_shape && input.roles.points.size() == front.columns.size();
  });
  return same ? front.row_shape : std::vector<std::size_t>{};
}

// A group column that has text distinguishes numbers by how they are written.
void spell_out_groups(std::vector<Input>& inputs) {
  Input& front = inputs.front();
  if (front.roles.group && front.table.columns[*front.roles.group].has_text())
    front.table.spell_out(*front.roles.group);
}

// The same for columns of points and units that have text in any input.
void spell_out_numbers(std::vector<Input>& inputs) {
  for (std::size_t k = 0; k < inputs.front().roles.points.size(); ++k) {
    if (!is_text_column(inputs, k)) continue;
    for (Input& input : inputs) input.table.spell_out(input.roles.points[k]);
  }
  const auto has_text_units = [](const Input& input) {
    return input.roles.unit && input.table.columns[*input.roles.unit].has_text();
  };
  if (std::ranges::none_of(inputs, has_text_units)) return;
  for (Input& input : inputs) input.table.spell_out(*input.roles.unit);
}

// Rows are paired by their position, so a skipped row shifts all that follow.
void warn_about_pairs(const std::vector<Input>& inputs, const RowPlan& rows, Warnings& warnings) {
  for (const Input& input : inputs) {
    const std::size_t count = input.table.skipped_blank_lines;
    if (count > 0) warn(warnings, WarningId::blank_lines_skipped, input.table.source, count);
  }
  if (const RowCounts& x = rows.counts[0]; x.omitted > 0) {
    warn(warnings, WarningId::pairs_omitted, x.omitted, x.read);
  }
}

struct Prepared {
  std::vector<Sample> samples;
  std::vector<std::int64_t> units;
  Warnings notes;
  Preparation preparation;
  std::vector<RowCounts> rows = {};
  std::vector<std::size_t> rows_x = {};
  std::vector<std::size_t> rows_y = {};
  Warnings warnings = {};
  std::vector<std::string> unit_names = {};
  std::optional<TableEncoding> encoding = {};
};

void fill_samples(std::vector<Input>& inputs, const RowPlan& rows, const ReadOptions& options, std::string unit_offset,
                  Prepared& out) {
  const std::vector<ColumnEncoder> encoders = options.like
                                                  ? encoders_like(*options.like, inputs, rows, options, out.warnings)
                                                  : make_encoders(inputs, rows, options, out.preparation);
  const std::vector<ColumnRole> roles = roles_of(encoders, out.preparation.sources);
  if (options.categorical != Categorical::automatic) note_dates_as_text(inputs, out.notes);
  warn_about_collisions(inputs.front(), encoders, out.warnings);
  if (options.keep_encoding) {
    std::vector<std::string> columns;
    for (const Column& column : inputs.front().table.columns) columns.push_back(column.name);
    out.encoding = encoding_of(inputs.front(), encoders, out.preparation, std::move(columns));
  }
  const bool grouped = !out.preparation.group_column.empty();
  Filler filler(inputs, rows, encoders, grouped ? 2 : inputs.size(), std::move(unit_offset));
  out.samples = std::move(filler.samples());
  out.units = filler.all_units();
  out.unit_names = filler.unit_names();
  const std::vector<std::string> names =
      options.like ? options.like->sample_columns : names_of_points(inputs, encoders);
  for (Sample& sample : out.samples) {
    sample.column_names = names;
    sample.roles = roles;
  }
}

// One sample has no pool to take levels and types from.
ReadOptions options_of(const ReadOptions& given, bool single) {
  return single && !given.keep_encoding && !given.like ? without_inference(given) : given;
}

// Chooses columns and finds their types, by the pool or as an earlier table had them.
RowPlan find_columns(std::vector<Input>& inputs, const ReadOptions& options, const std::string& group_column,
                     Prepared& out) {
  if (options.like) {
    assign_roles_like(*options.like, inputs, options, out.notes);
  } else {
    assign_roles(inputs, options, group_column, out.notes);
    const bool automatic = options.categorical == Categorical::automatic;
    for (const std::size_t k : turn_booleans_into_numbers(inputs, automatic)) {
      const Input& front = inputs.front();
      out.preparation.booleans.push_back(front.table.name_of(front.roles.points[k]));
    }
  }
  spell_out_groups(inputs);
  refuse_rounded_groups(inputs);
  RowPlan rows = split_rows(inputs, options);
  if (options.like) {
    take_types(*options.like, inputs, out.preparation);
  } else {
    find_types(inputs, rows, options, out.preparation);
  }
  return rows;
}

// Missing values become medians, of this pool or of an earlier one.
void fill_in(const std::vector<Input>& inputs, const ReadOptions& options, Prepared& out) {
  if (options.like) {
    fill_missing(*options.like, out.samples);
  } else if (options.na == NaPolicy::impute_median || options.na == NaPolicy::indicator) {
    impute_medians(out.samples, inputs.front().table.source);
  }
  if (out.encoding) add_fillers(out.samples, options.na, *out.encoding);
}

// Chooses columns, checks cells, chooses rows, then converts to numbers.
Prepared prepare(std::vector<Table> tables, const ReadOptions& options, const std::string& group_column) {
  Prepared out{{}, {}, {}, begin_preparation(options, group_column)};
  std::vector<Input> inputs;
  for (Table& table : tables) {
    out.notes.insert(out.notes.end(), table.notes.begin(), table.notes.end());
    inputs.push_back({std::move(table), {}});
  }
  warn_about_headers(inputs, out.warnings);
  RowPlan rows = find_columns(inputs, options, group_column, out);
  check_cells(inputs, options);
  if (options.categorical == Categorical::drop && !options.like) keep_numbers_only(inputs, out.preparation);
  spell_out_numbers(inputs);
  const bool pooled = !options.like && (inputs.size() > 1 || !group_column.empty() || options.keep_encoding);
  std::string unit_offset = offset_large_wholes(inputs, pooled, out.preparation);
  describe_columns(inputs, out.preparation);
  choose_rows(inputs, options, rows);
  describe_rows(rows, out.preparation);
  if (options.paired) warn_about_pairs(inputs, rows, out.warnings);
  out.rows = rows.counts;
  out.rows_x = row_numbers(inputs, rows, 0);
  out.rows_y = row_numbers(inputs, rows, 1);
  out.preparation.row_shape = shape_of_rows(inputs);
  const bool named = std::ranges::any_of(inputs, [](const Input& input) { return input.table.has_names; });

  fill_samples(inputs, rows, options, std::move(unit_offset), out);
  if (!named && out.samples.front().roles.empty()) out.preparation.sources.clear();  // an array
  fill_in(inputs, options, out);
  out.preparation.units = standardize(out.samples, options.standardize, out.notes);
  // Each cell was checked, but not yet whether all weights are 0.
  for (std::size_t s = 0; s < out.samples.size(); ++s) {
    if (!options.weights_column.empty()) validate(out.samples[s], inputs[std::min(s, inputs.size() - 1)].table.source);
  }
  return out;
}

SamplePair to_pair(Prepared prepared) {
  return {std::move(prepared.samples[0]), std::move(prepared.samples[1]),  std::move(prepared.notes),
          std::move(prepared.units),      std::move(prepared.preparation), std::move(prepared.rows_x),
          std::move(prepared.rows_y),     std::move(prepared.warnings),    std::move(prepared.unit_names)};
}

SampleList to_list(Prepared prepared, const std::vector<std::string>& names) {
  SampleList list{std::move(prepared.samples),    std::move(prepared.notes),    prepared.rows,
                  prepared.preparation,           std::move(prepared.warnings), std::move(prepared.units),
                  std::move(prepared.unit_names), std::move(prepared.encoding)};
  const bool imputed = list.preparation.na == NaPolicy::impute_median;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const RowCounts& rows = prepared.rows[i];
    const std::string name = printable(names[i]);
    if (rows.omitted > 0) {
      warn(list.notes, WarningId::rows_omitted, name, rows.omitted, rows.read);
    } else if (rows.missing_cells > 0 && imputed) {
      warn(list.notes, WarningId::values_imputed, name, rows.missing_cells);
    }
    if (rows.not_drawn > 0) {
      warn(list.notes, WarningId::rows_drawn, name, list.samples[i].points.rows());
    }
  }
  return list;
}

// A pipe can be read only once: a second reader would wait for ever.
void refuse_same_pipe(const std::vector<std::string>& paths) {
  for (auto path = paths.begin(); path != paths.end(); ++path) {
    std::error_code ignored;
    if (!std::filesystem::is_fifo(*path, ignored) || std::find(paths.begin(), path, *path) == path) continue;
    fail_at(ErrorCode::invalid_option, printable(*path), "a pipe is given twice, but can be read only once", "",
            "Write it to a file");
  }
}

// The roles of the columns of a table, which follow from its header and the first table.
Roles roles_in(const Table& table, const std::vector<Table>& tables_before, const ReadOptions& options,
               const std::string& group_column) {
  std::vector<Input> headers;
  if (!tables_before.empty()) headers.push_back({header_of(tables_before.front()), {}});
  headers.push_back({header_of(table), {}});
  Warnings ignored;
  assign_roles(headers, options, group_column, ignored);
  return headers.back().roles;
}

std::vector<Table> read_tables(const std::vector<std::string>& paths, const ReadOptions& options,
                               const std::string& group_column) {
  if (std::ranges::count_if(paths, is_standard_input) > 1) {
    fail_at(
        ErrorCode::invalid_option, "standard input",
        fmt::format("{} samples are read from it, which is possible only once", paths.size() == 2 ? "both" : "several"),
        "", "Write one of them to a file");
  }
  refuse_same_pipe(paths);
  // At least this many rows are held before any are dropped, so that dropping takes little time.
  constexpr std::size_t kFewestHeld = 8192;
  std::vector<Table> tables;
  for (const std::string& path : paths) {
    ReaderOptions reader = reader_options_of(options);
    std::optional<Roles> roles;
    if (can_drop_rows(options)) {
      reader.limits.thin_from = std::max<std::size_t>(kFewestHeld, 4 * options.max_rows);
      reader.limits.drop_rows = [&](Table& table) {
        if (!roles) roles = roles_in(table, tables, options, group_column);
        drop_rows(table, *roles, options);
      };
    }
    tables.push_back(read_table(path, reader));
  }
  return tables;
}

std::string text_in_cell(const Table& table, std::size_t column, double cell) {
  if (is_missing(cell)) {
    const std::size_t line = table.columns[column].first_missing.line;
    fail_at(ErrorCode::non_finite_value, table.place_of(line), table.cell_of(column, line) + " is empty", "a text");
  }
  if (is_hashed_text(cell)) {
    fail_at(ErrorCode::resource_limit, table.source,
            fmt::format("column {} has more than {} different texts, or too long ones", table.label_of(column),
                        TextDictionary::kMostTexts),
            "fewer", "Write them to a .txt file, one in each line");
  }
  if (!is_text(cell)) return shortest(cell);
  return std::string((*table.columns[column].texts)[text_payload(cell)].text);
}

std::size_t rows_of(const FrameColumn& column) {
  if (const auto* const coded = std::get_if<CodedTexts>(&column.cells)) return coded->codes.size();
  if (const auto* const numbers = std::get_if<std::vector<double>>(&column.cells)) return numbers->size();
  if (const auto* const whole = std::get_if<std::vector<std::int64_t>>(&column.cells)) return whole->size();
  return std::get<std::vector<std::optional<std::string>>>(column.cells).size();
}

// The cells of one column of a table in memory; `rows` are those of the table.
void fill_column(const FrameColumn& column, std::size_t j, Table& table, std::span<double* const> rows) {
  if (const auto* const numbers = std::get_if<std::vector<double>>(&column.cells)) {
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i][j] = table.from_number(j, (*numbers)[i], i + 1);
    return;
  }
  if (const auto* const whole = std::get_if<std::vector<std::int64_t>>(&column.cells)) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i][j] = table.from_number(j, static_cast<double>((*whole)[i]), i + 1);
      table.keep_exact(j, (*whole)[i], i);
    }
    return;
  }
  const auto cell_of = [&](const std::string* text, std::size_t i) {
    return text != nullptr ? table.from_word(j, *text, i + 1) : table.from_nothing(j, "NA", i + 1);
  };
  if (const auto* const coded = std::get_if<CodedTexts>(&column.cells)) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::int32_t code = coded->codes[i];
      const bool present = code >= 0 && static_cast<std::size_t>(code) < coded->levels.size();
      const std::string* const text = present ? &coded->levels[static_cast<std::size_t>(code)] : nullptr;
      const bool spelled = coded->as_in_files && text != nullptr;
      rows[i][j] = spelled ? table.from_text(j, trim(*text), i + 1) : cell_of(text, i);
    }
    return;
  }
  const auto& texts = std::get<std::vector<std::optional<std::string>>>(column.cells);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i][j] = cell_of(texts[i] ? &*texts[i] : nullptr, i);
  }
}

Table table_of(const Frame& frame, const ReadOptions& options) {
  if (frame.columns.empty()) fail_at(ErrorCode::empty_sample, frame.name, "no columns", "at least one");
  std::vector<std::string> names;
  for (const FrameColumn& column : frame.columns) names.push_back(column.name);
  const std::size_t num_rows = rows_of(frame.columns.front());
  for (const FrameColumn& column : frame.columns) {
    if (rows_of(column) == num_rows) continue;
    fail_at(ErrorCode::shape_mismatch, frame.name,
            fmt::format("column {} has {} rows and column {} has {}", in_quotes(column.name), rows_of(column),
                        in_quotes(frame.columns.front().name), num_rows),
            "the same number");
  }
  if (num_rows == 0) fail_at(ErrorCode::empty_sample, frame.name, "no rows", "at least one");
  const bool named = std::ranges::any_of(names, [](const std::string& name) { return !name.empty(); });
  const std::size_t cols = names.size();
  Table table =
      named ? Table(frame.name, std::move(names), rules_of(options)) : Table(frame.name, cols, rules_of(options));
  table.cells = BlockedRows(frame.columns.size());
  std::vector<double*> rows;
  for (std::size_t i = 0; i < num_rows; ++i) rows.push_back(table.cells.append_row());
  for (std::size_t j = 0; j < frame.columns.size(); ++j) {
    std::optional<ColumnType>& declared = table.columns[j].declared;
    if (declared) continue;
    declared = frame.columns[j].type;
    const auto* const coded = std::get_if<CodedTexts>(&frame.columns[j].cells);
    if (declared == ColumnType::ordered && coded != nullptr) table.columns[j].levels = coded->levels;
  }
  for (std::size_t j = 0; j < frame.columns.size(); ++j) fill_column(frame.columns[j], j, table, rows);
  return table;
}

std::vector<Table> tables_of(std::span<const Frame* const> frames, const ReadOptions& options) {
  std::vector<Table> tables;
  for (const Frame* const frame : frames) tables.push_back(table_of(*frame, options));
  return tables;
}

}  // namespace

ReaderOptions reader_options_of(const ReadOptions& options) {
  return {.rules = rules_of(options),
          .csv = options.csv,
          .threads = options.threads,
          .limits = {.max_memory = options.max_memory},
          .map_files = options.map_files};
}

SamplePair prepare_pair(const Frame& x, const Frame& y, const ReadOptions& options) {
  return to_pair(prepare(tables_of(std::vector{&x, &y}, options), options, ""));
}

SamplePair prepare_grouped(const Frame& frame, const std::string& group_column, const ReadOptions& options) {
  return to_pair(prepare(tables_of(std::vector{&frame}, options), options, group_column));
}

Sample prepare_sample(const Frame& frame, const ReadOptions& options) {
  const ReadOptions own = options_of(options, true);
  return std::move(prepare(tables_of(std::vector{&frame}, own), own, "").samples.front());
}

Sample read_sample(const std::string& path, const ReadOptions& options) {
  const ReadOptions own = options_of(options, true);
  return std::move(prepare(read_tables({path}, own, ""), own, "").samples.front());
}

SamplePair read_pair(const std::string& path_x, const std::string& path_y, const ReadOptions& options) {
  return to_pair(prepare(read_tables({path_x, path_y}, options, ""), options, ""));
}

SamplePair read_grouped(const std::string& path, const std::string& group_column, const ReadOptions& options) {
  if (group_column.empty()) fail_option("group", "\"\"", "the name of a column");
  return to_pair(prepare(read_tables({path}, options, group_column), options, group_column));
}

TextList read_texts(const std::vector<std::string>& paths, const ReadOptions& given, const std::string& group_column) {
  ReadOptions options = without_inference(given);  // a text stays as it is written
  options.max_rows = 0;
  TextList list{{}, {}, {}, begin_preparation(options, group_column)};
  std::vector<Input> inputs;
  for (Table& table : read_tables(paths, options, group_column)) {
    list.notes.insert(list.notes.end(), table.notes.begin(), table.notes.end());
    inputs.push_back({std::move(table), {}});
  }
  assign_roles(inputs, options, group_column, list.notes);
  spell_out_groups(inputs);
  const RowPlan plan = split_rows(inputs, options);
  spell_out_numbers(inputs);
  describe_columns(inputs, list.preparation);
  describe_rows(plan, list.preparation);
  const std::size_t num_samples = group_column.empty() ? inputs.size() : 2;
  list.samples.resize(num_samples);
  list.rows.resize(num_samples);
  for (const std::size_t k : inputs.front().roles.points) list.columns.push_back(inputs.front().table.name_of(k));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto& [table, roles] = inputs[i];
    std::size_t row = 0;
    for (std::size_t b = 0; b < table.cells.num_blocks(); ++b) {
      const MatrixView<const double> block = table.cells.block(b);
      for (std::size_t r = 0; r < block.rows(); ++r, ++row) {
        const RowPlan::SampleNumber sample = plan.sample_of_row[i][row];
        if (sample == RowPlan::kNowhere) continue;
        std::vector<std::string>& texts = list.samples[sample].emplace_back();
        for (const std::size_t k : roles.points) texts.push_back(text_in_cell(table, k, block(r, k)));
        list.rows[sample].push_back(table.number_of(row) + 1);
      }
    }
  }
  return list;
}

SampleList prepare_samples(const std::vector<Frame>& frames, const ReadOptions& given) {
  const ReadOptions options = options_of(given, frames.size() == 1);
  std::vector<const Frame*> pointers;
  std::vector<std::string> names;
  for (const Frame& frame : frames) {
    pointers.push_back(&frame);
    names.push_back(frame.name);
  }
  return to_list(prepare(tables_of(pointers, options), options, ""), names);
}

SampleList read_samples(const std::vector<std::string>& paths, const ReadOptions& given) {
  if (paths.empty()) fail(ErrorCode::invalid_option, "no files to read, expected at least one");
  const ReadOptions options = options_of(given, paths.size() == 1);
  return to_list(prepare(read_tables(paths, options, ""), options, ""), paths);
}

}  // namespace kqd
