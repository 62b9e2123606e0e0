#include "io/duckdb_reader.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"
#include "io/byte_source.hpp"
#include "io/duckdb_library.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

using duck::Handle;
using duck::Library;

// A decimal of at most this many digits is a quotient of two exact doubles: DuckDB's cast rounds once.
constexpr int kExactDigits = 15;
// Columns are turned into rows a few rows at a time, so that these stay in the first cache while all columns come.
constexpr std::size_t kRowsPerTile = 64;
// Characters that make a pattern of a file name.
constexpr std::string_view kPatternCharacters = "*?[";

const Library& library_or_fail(const std::string& source) {
  const duck::Found found = duck::find_library();
  if (found.library == nullptr) {
    fail_at(ErrorCode::unreadable_input, source, fmt::format("is read by DuckDB, and {}", found.reason));
  }
  return *found.library;
}

// Owns a handle of the library and gives it back.
class Owned {
 public:
  explicit Owned(void (*destroy)(Handle*)) : destroy_(destroy) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { reset(); }
  void reset() {
    if (handle_ != nullptr) destroy_(&handle_);
    handle_ = nullptr;
  }
  [[nodiscard]] Handle get() const { return handle_; }
  [[nodiscard]] Handle* out() { return &handle_; }

 private:
  void (*destroy_)(Handle*);
  Handle handle_ = nullptr;
};

class OwnedResult {
 public:
  explicit OwnedResult(const Library& library) : library_(library) {}
  OwnedResult(const OwnedResult&) = delete;
  OwnedResult& operator=(const OwnedResult&) = delete;
  ~OwnedResult() { library_.destroy_result(&result_); }
  [[nodiscard]] duck::Result* get() { return &result_; }

 private:
  const Library& library_;
  duck::Result result_{};
};

// DuckDB points at the place with further lines; its first one is the sentence.
[[noreturn]] void fail_by_duckdb(const std::string& source, const char* message) {
  std::string_view text = message != nullptr ? message : "no reason given";
  text = text.substr(0, text.find('\n'));
  while (text.ends_with(' ')) text.remove_suffix(1);
  fail_at(ErrorCode::unreadable_input, source, fmt::format("DuckDB reports: {}", printable(text)));
}

// A database in memory, and one connection to it.
class Session {
 public:
  Session(const Library& library, const std::string& source, ThreadCount threads)
      : library_(library), source_(source), database_(library.close), connection_(library.disconnect) {
    Owned config(library.destroy_config);
    static_cast<void>(library.create_config(config.out()));
    // Nothing is fetched from the network behind the user's back.
    set(config, "autoinstall_known_extensions", "false");
    set(config, "autoload_known_extensions", "false");
    set(config, "threads", std::to_string(resolve(threads)));
    char* reason = nullptr;
    if (library.open_ext(nullptr, database_.out(), config.get(), &reason) == duck::kError) {
      const std::string text = reason != nullptr ? reason : "";
      library.free(reason);
      fail_by_duckdb(source, text.c_str());
    }
    if (library.connect(database_.get(), connection_.out()) == duck::kError) fail_by_duckdb(source, "no connection");
  }

  [[nodiscard]] Handle connection() const { return connection_.get(); }
  [[nodiscard]] const Library& library() const { return library_; }
  [[nodiscard]] const std::string& source() const { return source_; }

  // Number of statements in a text; 0 when it is empty or does not parse.
  [[nodiscard]] duck::Index num_statements(const std::string& text) const {
    Owned statements(library_.destroy_extracted);
    return library_.extract_statements(connection(), text.c_str(), statements.out());
  }

  void refuse_unless_it_parses(const std::string& text) const {
    Owned statements(library_.destroy_extracted);
    if (library_.extract_statements(connection(), text.c_str(), statements.out()) > 0) return;
    const char* const reason = library_.extract_statements_error(statements.get());
    if (reason != nullptr) fail_by_duckdb(source_, reason);
    fail_at(ErrorCode::unreadable_input, source_, "holds no query", "one as in sql:SELECT * FROM 'x.parquet'");
  }

  void run(const std::string& statements) const {
    OwnedResult result(library_);
    if (library_.query(connection(), statements.c_str(), result.get()) == duck::kError) {
      fail_by_duckdb(source_, library_.result_error(result.get()));
    }
  }

 private:
  void set(const Owned& config, const char* name, const std::string& value) const {
    static_cast<void>(library_.set_config(config.get(), name, value.c_str()));
  }

  const Library& library_;
  std::string source_;
  Owned database_;
  Owned connection_;
};

struct ColumnInfo {
  std::string name;
  duck::Type type;
  int num_digits = 0;  // of a decimal
};

// The rows of a statement, which may have one parameter, a chunk at a time.
class RowStream {
 public:
  RowStream(const Session& session, const std::string& text, const std::optional<std::string>& parameter)
      : session_(session), library_(session.library()), statement_(library_.destroy_prepare), result_(library_) {
    if (library_.prepare(session.connection(), text.c_str(), statement_.out()) == duck::kError ||
        (parameter &&
         library_.bind_varchar_length(statement_.get(), 1, parameter->data(), parameter->size()) == duck::kError)) {
      fail_by_duckdb(session.source(), library_.prepare_error(statement_.get()));
    }
    start();
  }

  [[nodiscard]] std::vector<ColumnInfo> columns() {
    std::vector<ColumnInfo> columns;
    for (duck::Index j = 0; j < library_.column_count(result_.get()); ++j) {
      columns.push_back({library_.column_name(result_.get(), j), library_.column_type(result_.get(), j)});
      if (columns.back().type != duck::kDecimal) continue;
      Owned logical(library_.destroy_logical_type);
      *logical.out() = library_.column_logical_type(result_.get(), j);
      columns.back().num_digits = library_.decimal_width(logical.get());
    }
    return columns;
  }

  // Puts the next chunk into `chunk`; false when there is none.
  [[nodiscard]] bool next(Owned& chunk) {
    stop_point();
    chunk.reset();
    *chunk.out() = library_.fetch_chunk(*result_.get());
    if (chunk.get() != nullptr && library_.data_chunk_get_size(chunk.get()) > 0) return true;
    if (const char* message = library_.result_error(result_.get()); message != nullptr && *message != '\0') {
      fail_by_duckdb(session_.source(), message);
    }
    return false;
  }

  // Shows the chunks one after another.
  void for_each_chunk(FunctionRef<void(Handle chunk)> visit) {
    Owned chunk(library_.destroy_data_chunk);
    while (next(chunk)) visit(chunk.get());
  }

 private:
  // Task by task, so that a request to stop is seen while DuckDB sorts or joins.
  void start() {
    Owned pending(library_.destroy_pending);
    duck::PendingState state = duck::kNotReady;
    if (library_.pending_prepared_streaming(statement_.get(), pending.out()) == duck::kError) {
      state = duck::kPendingError;
    }
    while (state == duck::kNotReady || state == duck::kNoTasks) {
      stop_point();
      state = library_.pending_execute_task(pending.get());
    }
    if (state == duck::kPendingError) fail_by_duckdb(session_.source(), library_.pending_error(pending.get()));
    if (library_.execute_pending(pending.get(), result_.get()) == duck::kError) {
      fail_by_duckdb(session_.source(), library_.result_error(result_.get()));
    }
  }

  const Session& session_;
  const Library& library_;
  Owned statement_;
  OwnedResult result_;
};

// Names and types of the columns, known once the parameter is: asked for with no rows.
std::vector<ColumnInfo> describe(const Session& session, const std::string& query,
                                 const std::optional<std::string>& parameter) {
  std::vector<ColumnInfo> columns =
      RowStream(session, fmt::format("SELECT * FROM ({}\n) LIMIT 0", query), parameter).columns();
  std::unordered_map<std::string_view, std::size_t> column_of;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const auto [found, is_new] = column_of.emplace(columns[j].name, j);
    if (!is_new) {
      fail_at(ErrorCode::unreadable_input, session.source(),
              fmt::format("columns {} and {} are both named {}", found->second + 1, j + 1, in_quotes(columns[j].name)),
              "different names");
    }
  }
  return columns;
}

std::string quoted_identifier(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

bool is_read_as_it_is(duck::Type type) {
  return (type >= duck::kBoolean && type <= duck::kDouble) || type == duck::kVarchar;
}

void refuse_nested(duck::Type type, const std::string& name, const std::string& source) {
  constexpr std::array kNested = {std::pair{duck::kList, "lists"},     std::pair{duck::kArray, "arrays"},
                                  std::pair{duck::kStruct, "records"}, std::pair{duck::kMap, "maps"},
                                  std::pair{duck::kUnion, "unions"},   std::pair{duck::kBlob, "bytes"},
                                  std::pair{duck::kBit, "bits"},       std::pair{duck::kInterval, "intervals"}};
  const auto found = std::ranges::find(kNested, type, [](const auto& entry) { return entry.first; });
  if (found == kNested.end()) return;
  fail_at(ErrorCode::unreadable_input, source, fmt::format("column {} holds {}", in_quotes(name), found->second),
          "numbers or texts", "To exclude it or take it apart, use a query (sql:SELECT ...)");
}

// How a column is selected: as it is where we can read its type, else turned into doubles or texts.
std::string selected(const ColumnInfo& column) {
  std::string name = quoted_identifier(column.name);
  if (is_read_as_it_is(column.type)) return name;
  const bool as_double = column.type == duck::kDecimal && column.num_digits <= kExactDigits;
  return fmt::format("CAST({} AS {}) AS {}", name, as_double ? "DOUBLE" : "VARCHAR", name);
}

// The query itself when we can read all of its columns, or one around it.
std::string with_casts(const std::string& query, const std::vector<ColumnInfo>& columns, const std::string& source) {
  for (std::size_t j = 0; j < columns.size(); ++j) refuse_nested(columns[j].type, columns[j].name, source);
  if (std::ranges::all_of(columns, is_read_as_it_is, &ColumnInfo::type)) return query;
  std::vector<std::string> list;
  for (const ColumnInfo& column : columns) list.push_back(selected(column));
  return fmt::format("SELECT {} FROM ({}\n)", fmt::join(list, ", "), query);
}

// The values of one column of a chunk.
struct ChunkColumn {
  duck::Type type;
  const void* data;
  const std::uint64_t* validity;  // a bit per row; none: all are there
  bool is_plain = false;          // numbers that become cells as they are, all of them

  [[nodiscard]] bool is_there(std::size_t row) const {
    return validity == nullptr || ((validity[row / 64] >> (row % 64)) & 1U) != 0;
  }
};

// Calls visit with a std::type_identity of what values of a type are for us: numbers, or else texts.
auto with_type_of(duck::Type type, const auto& visit) {
  switch (type) {
    case duck::kBoolean:
    case duck::kUTinyInt:
      return visit(std::type_identity<std::uint8_t>{});
    case duck::kTinyInt:
      return visit(std::type_identity<std::int8_t>{});
    case duck::kSmallInt:
      return visit(std::type_identity<std::int16_t>{});
    case duck::kInteger:
      return visit(std::type_identity<std::int32_t>{});
    case duck::kBigInt:
      return visit(std::type_identity<std::int64_t>{});
    case duck::kUSmallInt:
      return visit(std::type_identity<std::uint16_t>{});
    case duck::kUInteger:
      return visit(std::type_identity<std::uint32_t>{});
    case duck::kUBigInt:
      return visit(std::type_identity<std::uint64_t>{});
    case duck::kFloat:
      return visit(std::type_identity<float>{});
    case duck::kDouble:
      return visit(std::type_identity<double>{});
    default:
      return visit(std::type_identity<duck::Text>{});
  }
}

bool are_finite(std::span<const double> values) {
  // An exponent of ones carries into the sign bit; a loop without a way out, which a compiler makes vectors of.
  constexpr std::uint64_t kAllButSign = ~std::uint64_t{0} >> 1U;
  constexpr std::uint64_t kLastOfExponent = std::uint64_t{1} << 52U;
  std::uint64_t carried = 0;
  for (const double value : values) carried |= (std::bit_cast<std::uint64_t>(value) & kAllButSign) + kLastOfExponent;
  return (carried & ~kAllButSign) == 0;
}

// Not all of these are doubles.
template <class T>
constexpr bool kIsWide = std::is_integral_v<T> && sizeof(T) == 8;

// True for numbers that need no check of each: nothing is missing, nor could be, and all are finite.
bool is_plain(const ChunkColumn& column, std::size_t num_rows, const Table& table) {
  if (column.validity != nullptr || !table.rules.missing_numbers.empty()) return false;
  return with_type_of(column.type, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, double>) return are_finite({static_cast<const double*>(column.data), num_rows});
    return std::is_integral_v<T> && !kIsWide<T>;
  });
}

// Fills column j of some rows of the table, the first of them `table_row` from 1, with the values from `first` on.
void copy_column(const ChunkColumn& column, std::size_t first, std::size_t j, MatrixView<double> into,
                 std::size_t table_row, Table& table) {
  with_type_of(column.type, [&]<class T>(std::type_identity<T>) {
    const T* const values = static_cast<const T*>(column.data) + first;
    const std::size_t num_rows = into.rows();
    if constexpr (std::is_arithmetic_v<T>) {
      if (column.is_plain) {
        for (std::size_t i = 0; i < num_rows; ++i) into(i, j) = static_cast<double>(values[i]);
        return;
      }
    }
    for (std::size_t i = 0; i < num_rows; ++i) {
      const std::size_t row = table_row + i;
      if (!column.is_there(first + i)) {
        into(i, j) = table.from_nothing(j, "NULL", row);
      } else if constexpr (std::is_arithmetic_v<T>) {
        if constexpr (kIsWide<T>) table.keep_exact(j, values[i], row - 1);
        into(i, j) = table.from_number(j, static_cast<double>(values[i]), row);
      } else {
        into(i, j) = table.from_text(j, trim(values[i].view()), row);
      }
    }
  });
}

std::vector<ChunkColumn> columns_of(const Library& library, Handle chunk, const std::vector<duck::Type>& types,
                                    const Table& table) {
  std::vector<ChunkColumn> columns;
  for (std::size_t j = 0; j < types.size(); ++j) {
    Handle vector = library.data_chunk_get_vector(chunk, j);
    columns.push_back({types[j], library.vector_get_data(vector), library.vector_get_validity(vector)});
    columns[j].is_plain = is_plain(columns[j], library.data_chunk_get_size(chunk), table);
  }
  return columns;
}

// Appends rows [first, last) of a chunk.
void append_rows(const Library& library, Handle chunk, const std::vector<duck::Type>& types, std::size_t first,
                 std::size_t last, Table& table) {
  const std::vector<ChunkColumn> columns = columns_of(library, chunk, types, table);
  while (first < last) {
    const std::size_t table_row = table.rows_read() + 1;
    const MatrixView<double> rows = table.cells.append_within_block(std::min(kRowsPerTile, last - first));
    for (std::size_t j = 0; j < columns.size(); ++j) copy_column(columns[j], first, j, rows, table_row, table);
    first += rows.rows();
  }
}

// The result of "SELECT count(*)".
std::size_t read_count(const Session& session, const std::string& query, const std::optional<std::string>& parameter) {
  std::int64_t count = 0;
  const Library& library = session.library();
  RowStream(session, query, parameter).for_each_chunk([&](Handle chunk) {
    count = *static_cast<const std::int64_t*>(library.vector_get_data(library.data_chunk_get_vector(chunk, 0)));
  });
  return static_cast<std::size_t>(std::max<std::int64_t>(0, count));
}

// The rows of `query`, whose columns are named as in `columns`.
Table fill_table(const Session& session, const std::string& query, const std::optional<std::string>& parameter,
                 const std::vector<ColumnInfo>& columns, const TextRules& rules, std::size_t expected_rows = 0) {
  const std::string& source = session.source();
  std::vector<std::string> names;
  for (const ColumnInfo& column : columns) names.push_back(column.name);
  Table table(source, std::move(names), rules);
  if (expected_rows > 0) table.cells.expect_rows(expected_rows);

  RowStream rows(session, query, parameter);
  std::vector<duck::Type> types;
  for (const ColumnInfo& column : rows.columns()) types.push_back(column.type);
  const Library& library = session.library();
  rows.for_each_chunk(
      [&](Handle chunk) { append_rows(library, chunk, types, 0, library.data_chunk_get_size(chunk), table); });
  if (table.cells.rows() == 0) fail_at(ErrorCode::empty_sample, source, "has no rows", "at least one");
  return table;
}

Table read_rows(const Session& session, const std::string& query, const std::optional<std::string>& parameter,
                const TextRules& rules, std::size_t expected_rows = 0) {
  const std::vector<ColumnInfo> columns = describe(session, query, parameter);
  return fill_table(session, with_casts(query, columns, session.source()), parameter, columns, rules, expected_rows);
}

// ---- JSON ----

// DuckDB's parser calls itself for every level: some ten thousand of them end the process.
void refuse_deep_nesting(const std::string& path) {
  constexpr std::size_t kDeepest = 64;
  FileSource file(path);
  if (!file.size()) return;
  std::vector<char> bytes(std::size_t{1} << 16U);
  std::size_t depth = 0;
  bool in_text = false;
  bool escaped = false;
  for (std::size_t count = bytes.size(); count == bytes.size();) {
    stop_point();
    count = file.read(bytes);
    for (const char c : std::span(bytes).first(count)) {
      if (in_text) {
        in_text = escaped || c != '"';
        escaped = !escaped && c == '\\';
      } else if (c == '"') {
        in_text = true;
      } else if (c == '{' || c == '[') {
        if (++depth > kDeepest) {
          fail_at(ErrorCode::unreadable_input, file.name(),
                  fmt::format("values are nested more than {} levels deep", kDeepest), "rows of numbers and texts");
        }
      } else if ((c == '}' || c == ']') && depth > 0) {
        --depth;
      }
    }
  }
}

// The member of an object as a text: by JSON pointer [RFC 6901], within quotes of SQL.
std::string member(std::string_view name) {
  std::string pointer = "/";
  for (const char c : name) {
    pointer += c == '~' ? "~0" : c == '/' ? "~1" : c == '\'' ? "''" : std::string(1, c);
  }
  return fmt::format("json->>'{}'", pointer);
}

// DuckDB would make times, dates and identifiers of texts where all texts of a file look like them, and write them in
// its own way: the same text would be one category in this file and another in the next. So cells come as they are
// written, and are judged as those of a CSV file are.
Table read_json(const Session& session, const std::string& path, const std::string& pattern, const TextRules& rules) {
  refuse_deep_nesting(path);
  const bool lines = !has_suffix(path, ".json");
  const std::string form = lines ? ", format = 'newline_delimited'" : "";
  const std::string described = fmt::format("SELECT * FROM read_json(?{}, maximum_depth = 2)", form);
  const std::vector<ColumnInfo> columns = describe(session, described, pattern);
  const bool no_objects = columns.size() == 1 && columns.front().name == "json";
  if (no_objects) return read_rows(session, described, pattern, rules);
  std::vector<std::string> list;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const ColumnInfo& column = columns[j];
    refuse_nested(column.type, column.name, session.source());
    const std::string text = member(column.name);
    list.push_back(fmt::format("{} AS {}",
                               column.type == duck::kBoolean ? fmt::format("CAST({} AS BOOLEAN)", text) : text,
                               quoted_identifier(column.name)));
  }
  return fill_table(session, fmt::format("SELECT {} FROM read_json_objects(?{})", fmt::join(list, ", "), form), pattern,
                    columns, rules);
}

// The name of a file as a pattern that no other file matches.
std::string as_pattern(const std::string& path) {
  std::string pattern;
  for (const char c : path) {
    pattern += kPatternCharacters.find(c) == std::string_view::npos ? std::string(1, c) : fmt::format("[{}]", c);
  }
  return pattern;
}

// The name of a file in messages. DuckDB would call a missing file a pattern without matches, and read folders and
// addresses.
std::string name_of_file(const std::string& path, bool is_parquet) {
  const std::string source = FileSource(path).name();
  if (!is_utf8(path)) {
    fail_at(ErrorCode::unreadable_input, source, "DuckDB takes names in UTF-8 only", "", "Give the file another name");
  }
  if (is_parquet && !std::filesystem::is_regular_file(path)) {
    fail_at(ErrorCode::unreadable_input, source, "is not a regular file", "one: Parquet is read from its end");
  }
  return source;
}

// ---- Parquet in blocks ----

Table table_of(const std::vector<ColumnInfo>& columns, const std::string& source, const TextRules& rules) {
  std::vector<std::string> names;
  for (const ColumnInfo& column : columns) names.push_back(column.name);
  return {source, std::move(names), rules};
}

class ParquetBlocks final : public BlockReader {
 public:
  ParquetBlocks(std::unique_ptr<const Session> session, std::string pattern, const TextRules& rules)
      : session_(std::move(session)),
        pattern_(std::move(pattern)),
        columns_(describe(*session_, "SELECT * FROM read_parquet(?)", pattern_)),
        table_(table_of(columns_, session_->source(), rules)),
        num_rows_(read_count(*session_, "SELECT count(*) FROM read_parquet(?)", pattern_)) {}

  [[nodiscard]] Table& table() override { return table_; }
  [[nodiscard]] std::optional<std::uint64_t> num_rows() const override { return num_rows_; }
  [[nodiscard]] std::size_t count_rows() override { return num_rows_; }

  [[nodiscard]] std::vector<std::size_t> select(std::vector<std::size_t> columns) override {
    std::vector<ColumnInfo> chosen;
    for (const std::size_t j : columns) chosen.push_back(columns_[j]);
    columns_ = std::move(chosen);
    table_ = table_of(columns_, session_->source(), table_.rules);
    std::iota(columns.begin(), columns.end(), std::size_t{0});
    return columns;
  }

  bool next(std::size_t most_rows) override {
    if (!rows_) start();
    table_.start_next_block();
    while (table_.cells.rows() < most_rows) {
      if (used_ == size_) {
        used_ = size_ = 0;
        if (!rows_->next(chunk_)) break;
        size_ = session_->library().data_chunk_get_size(chunk_.get());
      }
      const std::size_t last = std::min(size_, used_ + most_rows - table_.cells.rows());
      append_rows(session_->library(), chunk_.get(), types_, used_, last, table_);
      used_ = last;
    }
    return table_.cells.rows() > 0;
  }

 private:
  void start() {
    std::vector<std::string> list;
    for (const ColumnInfo& column : columns_) {
      refuse_nested(column.type, column.name, session_->source());
      list.push_back(selected(column));
    }
    rows_.emplace(*session_, fmt::format("SELECT {} FROM read_parquet(?)", fmt::join(list, ", ")), pattern_);
    for (const ColumnInfo& column : rows_->columns()) types_.push_back(column.type);
  }

  std::unique_ptr<const Session> session_;
  std::string pattern_;
  std::vector<ColumnInfo> columns_;
  Table table_;
  std::size_t num_rows_;
  std::optional<RowStream> rows_;
  std::vector<duck::Type> types_;
  Owned chunk_{session_->library().destroy_data_chunk};
  std::size_t used_ = 0;  // rows of the chunk
  std::size_t size_ = 0;
};

// Parts "ATTACH ...; SELECT ..." in front of the last statement, as DuckDB's own parser sees it. A semicolon may also
// be within a text or after the end, so those are tried from the last one on.
std::pair<std::string, std::string> split_last_statement(const Session& session, std::string query) {
  session.refuse_unless_it_parses(query);
  const auto num_statements = session.num_statements(query);
  for (auto at = query.rfind(';'); at != std::string::npos && at > 0; at = query.rfind(';', at - 1)) {
    const std::string front = query.substr(0, at);
    const std::string last = query.substr(at + 1);
    if (session.num_statements(last) == 1 && session.num_statements(front) == num_statements - 1) return {front, last};
    if (session.num_statements(last) == 0 && session.num_statements(front) == num_statements) query = front;
  }
  return {"", query};
}

}  // namespace

Table read_by_duckdb(const std::string& path, const TextRules& rules, ThreadCount threads) {
  const bool is_parquet = has_suffix(path, ".parquet");
  const std::string source = name_of_file(path, is_parquet);
  const Session session(library_or_fail(source), source, threads);
  const std::string pattern = as_pattern(path);
  if (!is_parquet) return read_json(session, path, pattern, rules);
  // A Parquet file has the number of its rows in its footer.
  const std::size_t count = read_count(session, "SELECT count(*) FROM read_parquet(?)", pattern);
  return read_rows(session, "SELECT * FROM read_parquet(?)", pattern, rules, count);
}

std::unique_ptr<BlockReader> read_parquet_in_blocks(const std::string& path, const TextRules& rules) {
  auto session = std::make_unique<Session>(library_or_fail(name_of_file(path, true)), name_of_file(path, true),
                                           ThreadCount{1});  // of which the caller may have several
  return std::make_unique<ParquetBlocks>(std::move(session), as_pattern(path), rules);
}

Table read_query(const std::string& query, const TextRules& rules, ThreadCount threads) {
  const std::string source = shortened(std::string(kQueryPrefix) + query);
  const Session session(library_or_fail(source), source, threads);
  const auto [front, last] = split_last_statement(session, query);
  if (!front.empty()) session.run(front);
  return read_rows(session, last, std::nullopt, rules);
}

}  // namespace kqd
