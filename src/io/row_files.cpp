#include "io/row_files.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"
#include "io/block_reader.hpp"
#include "io/booleans.hpp"
#include "io/cell_checks.hpp"
#include "io/pooled_columns.hpp"
#include "kqd/core/matrix.hpp"
#include "kqd/io/printable.hpp"

namespace kqd {
namespace {

constexpr std::size_t kMostRowsOfBlock = 16'384;
constexpr std::size_t kFewestRowsOfBlock = 256;
constexpr std::size_t kCellsOfBlock = std::size_t{1} << 19U;  // 4 MB
constexpr std::size_t kMostOpenFiles = 8;

std::size_t rows_of_block(std::size_t num_columns) {
  return std::clamp(kCellsOfBlock / num_columns, kFewestRowsOfBlock, kMostRowsOfBlock);
}

void look_at(const std::string& path, RowFiles::File& file) {
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return;  // opening it says why
  file.num_bytes = static_cast<std::uint64_t>(status.st_size);
  file.changed_at = std::int64_t{status.st_mtim.tv_sec} * kNanoseconds + status.st_mtim.tv_nsec;
}

[[noreturn]] void fail_changed(const std::string& path) {
  fail_at(ErrorCode::unreadable_input, printable(path), "changed while it was read", "files that stay as they are");
}

void require_unchanged(const RowFiles::File& file) {
  RowFiles::File now;
  look_at(file.path, now);
  if (now.num_bytes != file.num_bytes || now.changed_at != file.changed_at) fail_changed(file.path);
}

// Options that need more than one row at a time are refused.
void require_row_by_row(const ReadOptions& options) {
  constexpr std::string_view kOnlyWhole = ", because these files are read in blocks";
  const auto refuse = [&](std::string_view id, const std::string& value, std::string_view expected) {
    fail_option(id, value, fmt::format("{}{}", expected, kOnlyWhole));
  };
  if (options.na == NaPolicy::impute_median) refuse("na", to_string(options.na), "raise or omit");
  if (options.categorical != Categorical::raise && options.categorical != Categorical::drop) {
    refuse("categorical", to_string(options.categorical), "raise or drop");
  }
  if (options.standardize != Standardize::automatic && options.standardize != Standardize::none) {
    refuse("standardize", to_string(options.standardize), "auto or none");
  }
  if (options.max_rows > 0) refuse("max_rows", std::to_string(options.max_rows), "none");
  if (!options.types.empty()) refuse("types", options.types, "none");
  if (!options.weights_column.empty()) refuse("weights_column", options.weights_column, "none");
}

// The columns with the one of units, if there is one.
Table header_of(const ExpectedColumns& expected, const std::string& unit_column) {
  const std::size_t more = unit_column.empty() ? 0 : 1;
  if (expected.names.empty()) return {expected.source, expected.count + more, {}};
  std::vector<std::string> names = expected.names;
  if (more > 0) names.push_back(unit_column);
  return {expected.source, std::move(names), {}};
}

// Holds the texts of columns of true and false while cells are checked: these columns are numbers.
class WithoutBooleans {
 public:
  explicit WithoutBooleans(Table& table, const Roles& roles) : table_(table), texts_(table.columns.size()) {
    for (const std::size_t j : roles.points) {
      if (!holds_booleans(table, j)) continue;
      turn_cells_into_numbers(table, j);
      texts_[j] = std::move(table.columns[j].texts);
    }
  }
  ~WithoutBooleans() {
    for (std::size_t j = 0; j < texts_.size(); ++j) {
      if (texts_[j]) table_.columns[j].texts = std::move(texts_[j]);
    }
  }
  WithoutBooleans(const WithoutBooleans&) = delete;
  WithoutBooleans& operator=(const WithoutBooleans&) = delete;

 private:
  Table& table_;
  std::vector<std::unique_ptr<TextDictionary>> texts_;
};

// A block on its way from a reader to its use.
struct Block {
  FileRows rows;
  Matrix<double> points;
  std::vector<char> missing;
  std::vector<std::uint64_t> units;
};

// Refuses cells that no option makes numbers.
void check_block(Table& table, const Roles& roles, const ReadOptions& options, std::vector<bool>* marks) {
  const WithoutBooleans only_texts(table, roles);
  std::vector<Input> inputs;
  inputs.push_back({std::move(table), roles});
  ReadOptions own = options;
  own.categorical = marks != nullptr ? options.categorical : Categorical::raise;
  try {
    check_cells(inputs, own);
    Preparation unused;
    static_cast<void>(offset_large_wholes(inputs, false, unused));
  } catch (...) {
    table = std::move(inputs.front().table);
    throw;
  }
  table = std::move(inputs.front().table);
  if (marks == nullptr) return;
  for (std::size_t k = 0; k < roles.points.size(); ++k) {
    if (table.columns[roles.points[k]].has_text()) (*marks)[k] = true;
  }
}

void copy_rows(Table& table, const Roles& roles, Block& block) {
  const std::size_t count = table.cells.rows();
  const std::size_t columns = roles.points.size();
  if (block.points.rows() < count || block.points.cols() != columns) block.points = Matrix<double>(count, columns);
  block.missing.assign(count, 0);
  bool any_missing = false;
  std::size_t row = 0;
  for (std::size_t b = 0; b < table.cells.num_blocks(); ++b) {
    const MatrixView<double> cells = table.cells.block(b);
    for (std::size_t i = 0; i < cells.rows(); ++i, ++row) {
      const auto from = cells.row(i);
      const auto to = block.points.row(row);
      bool missing = false;
      for (std::size_t k = 0; k < columns; ++k) {
        to[k] = from[roles.points[k]];
        missing = missing || std::isnan(to[k]);
      }
      block.missing[row] = missing ? 1 : 0;
      any_missing = any_missing || missing;
    }
  }
  block.rows.units = {};
  block.rows.rows = block.points.view().row_range(0, count);
  block.rows.missing = any_missing ? std::span<const char>(block.missing) : std::span<const char>{};
}

// The text of a unit: numbers in one spelling, whatever other rows have.
std::string unit_text(const Column& column, double cell) {
  constexpr double kLargestWhole = 9e15;  // beyond it not every whole number is a double
  if (is_text(cell)) return std::string((*column.texts)[text_payload(cell)].text);
  const bool whole = cell == std::floor(cell) && std::abs(cell) <= kLargestWhole;
  return whole ? std::to_string(static_cast<std::int64_t>(cell)) : shortest(cell);
}

// Codes of the units of a block; rows without a unit count as rows with a missing value.
void code_rows(Table& table, std::size_t unit, const std::function<std::uint64_t(std::string_view)>& code,
               Block& block) {
  const Column& column = table.columns[unit];
  if (column.has_text() && column.texts->overfull()) {
    fail_at(ErrorCode::invalid_option, printable(table.source),
            fmt::format("column {} has more than {} different texts, too many for files that are read in blocks",
                        table.label_of(unit), column.texts->size()),
            "numbers as keys, or fewer texts");
  }
  block.units.assign(block.missing.size(), 0);
  bool any_missing = !block.rows.missing.empty();
  std::size_t row = 0;
  for (std::size_t b = 0; b < table.cells.num_blocks(); ++b) {
    const MatrixView<double> cells = table.cells.block(b);
    for (std::size_t i = 0; i < cells.rows(); ++i, ++row) {
      const double cell = cells(i, unit);
      if (is_missing(cell)) {
        block.missing[row] = 1;
        any_missing = true;
      } else {
        block.units[row] = code(unit_text(column, cell));
      }
    }
  }
  if (any_missing) block.rows.missing = block.missing;
  block.rows.units = block.units;
}

// Hands out the blocks of all files. Several files are open at a time, each read by one thread at a time.
class BlockQueue {
 public:
  BlockQueue(const std::vector<RowFiles::File>& files, const ReadOptions& options, std::vector<bool>* marks,
             std::size_t most_open, std::size_t rows_per_block,
             const std::function<std::uint64_t(std::string_view)>& unit_code)
      : files_(files),
        options_(options),
        unit_code_(unit_code),
        marks_(marks),
        rows_per_block_(rows_per_block),
        slots_(most_open),
        next_file_(most_open) {
    for (std::size_t k = 0; k < most_open; ++k) slots_[k].first_file = k;
  }

  /// False when all rows were handed out.
  bool next(std::size_t preferred, Block& block) {
    for (std::size_t k = 0; k < slots_.size(); ++k) {
      Slot& slot = slots_[(preferred + k) % slots_.size()];
      std::unique_lock lock(slot.mutex, std::try_to_lock);
      if (!lock.owns_lock()) {
        // All others may be at their end, or busy as well: waiting for one is as good as for another.
        if (k + 1 < slots_.size()) continue;
        lock.lock();
      }
      if (next_of(slot, block)) return true;
    }
    for (Slot& slot : slots_) {
      const std::unique_lock lock(slot.mutex);
      if (next_of(slot, block)) return true;
    }
    return false;
  }

 private:
  struct Slot {
    std::mutex mutex;
    std::optional<std::size_t> first_file;  // not opened yet; of its own, so that errors do not depend on threads
    std::size_t file = 0;
    std::uint64_t rows = 0;
    Roles roles;
    std::unique_ptr<BlockReader> reader;
  };

  bool next_of(Slot& slot, Block& block) {
    while (slot.reader || open_next(slot)) {
      const RowFiles::File& file = files_[slot.file];
      if (!slot.reader->next(rows_per_block_)) {
        if (slot.rows != file.num_rows) fail_changed(file.path);
        require_unchanged(file);
        slot.reader.reset();
        continue;
      }
      Table& table = slot.reader->table();
      std::vector<bool> marks(slot.roles.points.size());
      check_block(table, slot.roles, options_, marks_ != nullptr ? &marks : nullptr);
      block.rows.file = slot.file;
      block.rows.first_row = std::exchange(slot.rows, slot.rows + table.cells.rows());
      copy_rows(table, slot.roles, block);
      if (unit_code_) code_rows(table, slot.roles.unit.value(), unit_code_, block);
      if (slot.rows > file.num_rows) fail_changed(file.path);
      if (marks_ != nullptr) add(marks);
      return true;
    }
    return false;
  }

  bool open_next(Slot& slot) {
    const std::optional<std::size_t> own = std::exchange(slot.first_file, std::nullopt);
    const std::size_t number = own ? *own : next_file_++;
    if (number >= files_.size()) return false;
    const RowFiles::File& file = files_[number];
    require_unchanged(file);
    slot.reader = open_in_blocks(file.path, reader_options_of(options_));
    std::vector<std::size_t> columns = file.roles.points;
    if (file.roles.unit) columns.push_back(*file.roles.unit);
    slot.roles.points = slot.reader->select(std::move(columns));
    slot.roles.unit = std::nullopt;
    if (file.roles.unit) {
      slot.roles.unit = slot.roles.points.back();
      slot.roles.points.pop_back();
    }
    slot.file = number;
    slot.rows = 0;
    return true;
  }

  void add(const std::vector<bool>& marks) {
    const std::scoped_lock lock(marks_mutex_);
    for (std::size_t k = 0; k < marks.size(); ++k) {
      if (marks[k]) (*marks_)[k] = true;
    }
  }

  const std::vector<RowFiles::File>& files_;
  const ReadOptions& options_;
  const std::function<std::uint64_t(std::string_view)>& unit_code_;
  std::vector<bool>* marks_;
  std::mutex marks_mutex_;
  std::size_t rows_per_block_;
  std::vector<Slot> slots_;
  std::atomic<std::size_t> next_file_;
};

// Blocks that are used again and again, so that each page is made once.
class BlockStore {
 public:
  std::unique_ptr<Block> take() {
    const std::scoped_lock lock(mutex_);
    if (free_.empty()) return std::make_unique<Block>();
    std::unique_ptr<Block> block = std::move(free_.back());
    free_.pop_back();
    return block;
  }
  void give_back(std::unique_ptr<Block> block) {
    const std::scoped_lock lock(mutex_);
    free_.push_back(std::move(block));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Block>> free_;
};

}  // namespace

ReadOptions without_inference(const ReadOptions& given) {
  ReadOptions options = given;
  if (options.categorical == Categorical::automatic) options.categorical = Categorical::raise;
  if (options.na == NaPolicy::indicator) options.na = NaPolicy::raise;
  return options;
}

RowFiles::RowFiles(std::vector<File> files, const ReadOptions& options, std::vector<std::string> column_names)
    : files_(std::move(files)), options_(options), column_names_(std::move(column_names)) {}

void RowFiles::count_rows(ThreadCount threads) {
  std::vector<File*> unknown;
  for (File& file : files_) {
    if (!file.num_rows) unknown.push_back(&file);
  }
  parallel_for_blocks(unknown.size(), 1, threads, [&](std::size_t k, std::size_t) {
    require_unchanged(*unknown[k]);
    unknown[k]->num_rows = open_in_blocks(unknown[k]->path, reader_options_of(options_))->count_rows();
  });
}

void RowFiles::read(ThreadCount threads, std::vector<bool>* marks, FunctionRef<void(const FileRows& rows)> body) const {
  const std::size_t rows_per_block = rows_of_block(num_columns());
  std::size_t num_blocks = 0;
  for (const File& file : files_) num_blocks += (file.num_rows.value() + rows_per_block - 1) / rows_per_block;
  const std::size_t most_open = std::min({std::size_t{resolve(threads)}, files_.size(), kMostOpenFiles});
  BlockQueue queue(files_, options_, marks, most_open, rows_per_block, unit_code_);
  BlockStore store;
  parallel_for_blocks(num_blocks, 1, threads, [&](std::size_t k, std::size_t) {
    std::unique_ptr<Block> block = store.take();
    if (queue.next(k, *block)) body(block->rows);
    store.give_back(std::move(block));
  });
  // Readers find out that a file has more rows than it had, or fewer, at its end.
  Block more;
  while (queue.next(0, more)) body(more.rows);
}

void RowFiles::keep_columns(std::span<const std::size_t> places) {
  for (File& file : files_) {
    std::vector<std::size_t> points;
    for (const std::size_t k : places) points.push_back(file.roles.points[k]);
    file.roles.points = std::move(points);
  }
  if (column_names_.empty()) return;
  std::vector<std::string> names;
  for (const std::size_t k : places) names.push_back(column_names_[k]);
  column_names_ = std::move(names);
}

std::vector<RowFiles> open_row_files(const std::vector<std::vector<std::string>>& samples,
                                     const ExpectedColumns& expected, const ReadOptions& given, Warnings& notes) {
  const ReadOptions options = without_inference(given);
  require_row_by_row(options);
  std::vector<Input> headers;
  if (expected.count > 0) headers.push_back({header_of(expected, options.unit_column), {}});
  std::vector<std::vector<RowFiles::File>> opened;
  for (const std::vector<std::string>& paths : samples) {
    std::vector<RowFiles::File>& files = opened.emplace_back();
    for (const std::string& path : paths) {
      stop_point();
      RowFiles::File& file = files.emplace_back(RowFiles::File{.path = path});
      look_at(path, file);
      const auto reader = open_in_blocks(path, reader_options_of(options));
      file.num_rows = reader->num_rows();
      headers.push_back({header_of(reader->table()), {}});
      for (Warning& note : reader->table().notes) notes.push_back(std::move(note));
    }
  }
  assign_roles(headers, options, "", notes);
  if (expected.count > 0 && headers.front().roles.points.size() != expected.count) {
    fail_at(ErrorCode::invalid_option, expected.source,
            fmt::format("{} of its {} columns are chosen", headers.front().roles.points.size(), expected.count),
            "all of them, because rows are counted by all");
  }
  std::vector<std::string> names;
  const auto named = std::ranges::find_if(headers, [](const Input& input) { return input.table.has_names; });
  if (named != headers.end()) {
    for (const std::size_t j : named->roles.points) names.push_back(named->table.columns[j].name);
  }
  std::vector<RowFiles> found;
  std::size_t next = expected.count > 0 ? 1 : 0;
  for (std::vector<RowFiles::File>& files : opened) {
    for (RowFiles::File& file : files) file.roles = std::move(headers[next++].roles);
    found.emplace_back(std::move(files), options, names);
  }
  return found;
}

}  // namespace kqd
