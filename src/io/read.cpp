#include "kqd/io/read.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <limits>
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
#include "io/pooled_columns.hpp"
#include "io/readers.hpp"
#include "io/roles.hpp"
#include "io/rows.hpp"
#include "io/table.hpp"
#include "io/text.hpp"
#include "kqd/io/frame.hpp"

namespace kqd {
namespace {

TextRules rules_of(const ReadOptions& options) {
  TextRules rules{.default_missing = options.default_na, .dates = options.dates};
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

ReaderOptions reader_options_of(const ReadOptions& options) {
  return {.rules = rules_of(options),
          .csv = options.csv,
          .threads = options.threads,
          .limits = {.max_memory = options.max_memory},
          .map_files = options.map_files};
}

void keep_numbers_only(std::vector<Input>& inputs, Preparation& preparation) {
  std::vector<std::size_t> numbers;
  const Input& front = inputs.front();
  for (std::size_t k = 0; k < front.roles.points.size(); ++k) {
    if (is_text_column(inputs, k)) {
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

std::vector<ColumnEncoder> make_encoders(std::vector<Input>& inputs, Categorical categorical,
                                         Preparation& preparation) {
  std::vector<ColumnEncoder> encoders;
  const Input& front = inputs.front();
  for (std::size_t k = 0; k < front.roles.points.size(); ++k) {
    const ColumnEncoder& encoder = encoders.emplace_back(inputs, k, categorical);
    if (encoder.encodes_text()) {
      preparation.encoded.push_back({front.table.name_of(front.roles.points[k]), encoder.width()});
    }
  }
  return encoders;
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
  if (named == inputs.end()) return names;
  std::vector<std::string_view> taken;
  for (const Column& column : named->table.columns) taken.push_back(column.name);
  for (std::size_t k = 0; k < encoders.size(); ++k) {
    for (std::string& name : encoders[k].names(named->table.columns[named->roles.points[k]].name)) {
      // An encoded text may make the name that another column has: place=Rome.
      while (encoders[k].encodes_text() && std::ranges::find(taken, name) != taken.end()) name += "'";
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
    return input.roles.points == all && std::ranges::none_of(encoders_, &ColumnEncoder::encodes_text) &&
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

std::span<const double> row_of(Input& input, std::size_t index) {
  const std::size_t cols = input.table.cells.cols();
  const std::span<const double> first_rows = input.table.dropped.first_rows;
  if (index < first_rows.size() / cols) return first_rows.subspan(index * cols, cols);
  const MatrixView<double> block = input.table.cells.block(0);
  return index < block.rows() ? block.row(index) : std::span<const double>{};
}

// Tools that name columns by numbers write 0,1,2,... or 1,2,3,... in the first row.
bool counts_up(std::span<const double> row) {
  if (row.size() < 3 || (row[0] != 0.0 && row[0] != 1.0)) return false;
  for (std::size_t j = 0; j < row.size(); ++j) {
    if (row[j] != row[0] + static_cast<double>(j)) return false;
  }
  return true;
}

// Names of columns are usually different: equal numbers are data.
bool may_be_names(std::span<const double> row) {
  std::vector<double> sorted(row.begin(), row.end());
  std::ranges::sort(sorted);
  return std::ranges::none_of(row, [](double value) { return std::isnan(value); }) &&
         std::ranges::adjacent_find(sorted) == sorted.end();
}

// The first row of a file compared with the others: is_far when, in each column, it is further from all other values
// than ten times their range; is_unique when no other row equals it.
struct FirstRowAlone {
  bool is_far = false;
  bool is_unique = true;
};

FirstRowAlone compare_first_row(Input& input) {
  constexpr double kFar = 10.0;
  constexpr std::size_t kFewestRows = 5;
  const std::span<const double> first = row_of(input, 0);
  std::vector<double> low(first.size(), std::numeric_limits<double>::infinity());
  std::vector<double> high(first.size(), -std::numeric_limits<double>::infinity());
  FirstRowAlone found;
  std::size_t row = 0;
  for (std::size_t b = 0; b < input.table.cells.num_blocks(); ++b) {
    const MatrixView<double> block = input.table.cells.block(b);
    for (std::size_t i = 0; i < block.rows(); ++i, ++row) {
      if (input.table.number_of(row) == 0) continue;
      found.is_unique = found.is_unique && !std::ranges::equal(block.row(i), first);
      for (std::size_t j = 0; j < first.size(); ++j) {
        low[j] = std::fmin(low[j], block(i, j));
        high[j] = std::fmax(high[j], block(i, j));
      }
    }
  }
  found.is_far = input.table.cells.rows() > kFewestRows;
  for (std::size_t j = 0; j < first.size(); ++j) {
    const double gap = std::max(low[j] - first[j], first[j] - high[j]);
    found.is_far = found.is_far && gap > kFar * (high[j] - low[j]);
  }
  return found;
}

// A first row of numbers may be names, such as years. Warns when there is a reason to doubt that it is data.
void warn_about_headers(std::vector<Input>& inputs, Warnings& warnings) {
  const auto is_undecided = [](const Input& input) {
    return input.table.undecided_header > 0 && input.table.rows_read() > 1;  // below a header there are rows
  };
  const auto same_row = [&](std::size_t index) {
    const std::span<const double> front = row_of(inputs.front(), index);
    return std::ranges::all_of(inputs, [&](Input& input) { return std::ranges::equal(row_of(input, index), front); });
  };
  // Files with more rows in common have data in common.
  const bool in_common = inputs.size() > 1 && std::ranges::all_of(inputs, is_undecided) && same_row(0) && !same_row(1);
  for (Input& input : inputs) {
    if (!is_undecided(input) || !may_be_names(row_of(input, 0))) continue;
    const FirstRowAlone only = compare_first_row(input);
    const auto add = [&](WarningId id) { warn(warnings, id, input.table.source, input.table.undecided_header); };
    if (counts_up(row_of(input, 0))) {
      add(WarningId::first_row_counts);
    } else if (in_common && only.is_unique) {
      add(WarningId::first_row_shared);
    } else if (only.is_far) {
      add(WarningId::first_row_far);
    }
  }
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
};

void fill_samples(std::vector<Input>& inputs, const RowPlan& rows, const ReadOptions& options, std::string unit_offset,
                  Prepared& out) {
  const std::vector<ColumnEncoder> encoders = make_encoders(inputs, options.categorical, out.preparation);
  note_dates_as_text(inputs, out.notes);
  warn_about_collisions(inputs.front(), encoders, out.warnings);
  const bool grouped = !out.preparation.group_column.empty();
  Filler filler(inputs, rows, encoders, grouped ? 2 : inputs.size(), std::move(unit_offset));
  out.samples = std::move(filler.samples());
  out.units = filler.all_units();
  out.unit_names = filler.unit_names();
  const std::vector<std::string> names = names_of_points(inputs, encoders);
  for (Sample& sample : out.samples) sample.column_names = names;
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
  assign_roles(inputs, options, group_column, out.notes);
  for (const std::size_t k : turn_booleans_into_numbers(inputs)) {
    const Input& front = inputs.front();
    out.preparation.booleans.push_back(front.table.name_of(front.roles.points[k]));
  }
  spell_out_groups(inputs);
  refuse_rounded_groups(inputs);
  RowPlan rows = split_rows(inputs, options);
  check_cells(inputs, options);
  if (options.categorical == Categorical::drop) keep_numbers_only(inputs, out.preparation);
  spell_out_numbers(inputs);
  std::string unit_offset = offset_large_wholes(inputs, inputs.size() > 1 || !group_column.empty(), out.preparation);
  describe_columns(inputs, out.preparation);
  choose_rows(inputs, options, rows);
  describe_rows(rows, out.preparation);
  if (options.paired) warn_about_pairs(inputs, rows, out.warnings);
  out.rows = rows.counts;
  out.rows_x = row_numbers(inputs, rows, 0);
  out.rows_y = row_numbers(inputs, rows, 1);
  out.preparation.row_shape = shape_of_rows(inputs);

  fill_samples(inputs, rows, options, std::move(unit_offset), out);
  if (options.na == NaPolicy::impute_median) impute_medians(out.samples, inputs.front().table.source);
  standardize(out.samples, options.standardize, out.notes);
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

// A pipe can be read only once: a second reader would wait for ever.
void refuse_same_pipe(const std::vector<std::string>& paths) {
  for (auto path = paths.begin(); path != paths.end(); ++path) {
    std::error_code ignored;
    if (!std::filesystem::is_fifo(*path, ignored) || std::find(paths.begin(), path, *path) == path) continue;
    fail_at(ErrorCode::invalid_option, printable(*path), "a pipe is given twice, but can be read only once", "",
            "Write it to a file");
  }
}

// A table of the same columns without rows.
Table header_of(const Table& table) {
  Table header(table.source, table.columns.size(), table.rules);
  header.has_names = table.has_names;
  for (std::size_t j = 0; j < table.columns.size(); ++j) header.columns[j].name = table.columns[j].name;
  return header;
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

std::size_t rows_of(const FrameColumn& column) {
  return std::visit([](const auto& cells) { return cells.size(); }, column.cells);
}

// The cells of one column of a table in memory; `rows` are those of the table.
void fill_column(const FrameColumn& column, std::size_t j, Table& table, std::span<double* const> rows) {
  if (const auto* const numbers = std::get_if<std::vector<double>>(&column.cells)) {
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i][j] = table.from_number(j, (*numbers)[i], i + 1);
    return;
  }
  const auto& texts = std::get<std::vector<std::optional<std::string>>>(column.cells);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i][j] = texts[i] ? table.from_category(j, *texts[i], i + 1) : table.from_nothing(j, "NA", i + 1);
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
  Table table(frame.name, std::move(names), rules_of(options));
  table.cells = BlockedRows(frame.columns.size());
  std::vector<double*> rows;
  for (std::size_t i = 0; i < num_rows; ++i) rows.push_back(table.cells.append_row());
  for (std::size_t j = 0; j < frame.columns.size(); ++j) fill_column(frame.columns[j], j, table, rows);
  return table;
}

std::vector<Table> tables_of(std::span<const Frame* const> frames, const ReadOptions& options) {
  std::vector<Table> tables;
  for (const Frame* const frame : frames) tables.push_back(table_of(*frame, options));
  return tables;
}

}  // namespace

SamplePair prepare_pair(const Frame& x, const Frame& y, const ReadOptions& options) {
  return to_pair(prepare(tables_of(std::vector{&x, &y}, options), options, ""));
}

Sample prepare_sample(const Frame& frame, const ReadOptions& options) {
  return std::move(prepare(tables_of(std::vector{&frame}, options), options, "").samples.front());
}

Sample read_sample(const std::string& path, const ReadOptions& options) {
  return std::move(prepare(read_tables({path}, options, ""), options, "").samples.front());
}

SamplePair read_pair(const std::string& path_x, const std::string& path_y, const ReadOptions& options) {
  return to_pair(prepare(read_tables({path_x, path_y}, options, ""), options, ""));
}

SamplePair read_grouped(const std::string& path, const std::string& group_column, const ReadOptions& options) {
  if (group_column.empty()) fail_option("group", "\"\"", "the name of a column");
  return to_pair(prepare(read_tables({path}, options, group_column), options, group_column));
}

SampleList read_samples(const std::vector<std::string>& paths, const ReadOptions& options) {
  if (paths.empty()) fail(ErrorCode::invalid_option, "no files to read, expected at least one");
  Prepared prepared = prepare(read_tables(paths, options, ""), options, "");
  SampleList list{std::move(prepared.samples), std::move(prepared.notes), prepared.rows, prepared.preparation,
                  std::move(prepared.warnings)};
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const RowCounts& rows = prepared.rows[i];
    const std::string name = printable(paths[i]);
    if (rows.omitted > 0) {
      warn(list.notes, WarningId::rows_omitted, name, rows.omitted, rows.read);
    } else if (rows.missing_cells > 0) {
      warn(list.notes, WarningId::values_imputed, name, rows.missing_cells);
    }
    if (rows.not_drawn > 0) {
      warn(list.notes, WarningId::rows_drawn, name, list.samples[i].points.rows());
    }
  }
  return list;
}

}  // namespace kqd
