#include "io/like_encoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "core/fail.hpp"
#include "core/scale.hpp"
#include "core/warning.hpp"
#include "io/booleans.hpp"
#include "io/byte_format.hpp"
#include "io/cell_checks.hpp"
#include "io/column_list.hpp"
#include "io/level_counts.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

constexpr std::string_view kSource = "the baseline";
constexpr std::string_view kKind = "encoding of a table";

Table header_of(const TableEncoding& encoding) {
  if (!encoding.named) return {std::string(kSource), encoding.table_columns.size(), {}};
  return {std::string(kSource), encoding.table_columns, {}};
}

[[noreturn]] void fail_text(const Table& table, std::size_t j, const std::string& expected) {
  const TextDictionary::Entry& entry = (*table.columns[j].texts)[0];
  const std::string text(entry.text);
  fail_at(ErrorCode::unreadable_input, table.place_of(entry.line),
          fmt::format("{} is {}", table.cell_of(j, entry.line), in_quotes(text)),
          fmt::format("{}, as in the baseline", expected),
          fmt::format("To treat it as missing: {}", option_reference("na_values", text)));
}

void take_type(const ColumnEncoding& column, Table& table, std::size_t j) {
  Column& books = table.columns[j];
  if (column.text) {
    if (!books.has_text()) books.texts = std::make_unique<TextDictionary>();
    table.spell_out(j);
    return;
  }
  const bool has_texts = books.has_text() && books.texts->size() > 0;
  if (column.type == ColumnType::boolean && has_texts) {
    if (!holds_yes_or_no(table, j)) fail_text(table, j, "true or false");
    turn_cells_into_numbers(table, j);
    books.texts.reset();
    books.num_texts = 0;
  } else if (has_texts && books.declared != ColumnType::number && books.declared != ColumnType::date) {
    fail_text(table, j, column.type == ColumnType::date ? "a date" : "a number");
  }
}

// Of the rows that are used: those without a value in a column, and those whose text is not a level.
struct NewCells {
  std::size_t missing = 0;
  std::size_t texts = 0;
  std::string example;
};

NewCells new_cells(const ColumnEncoding& column, std::vector<Input>& inputs, std::size_t place, const RowPlan& rows) {
  NewCells found;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::size_t j = inputs[i].roles.points[place];
    std::size_t row = 0;
    for (std::size_t b = 0; b < inputs[i].table.cells.num_blocks(); ++b) {
      const MatrixView<double> block = inputs[i].table.cells.block(b);
      for (std::size_t k = 0; k < block.rows(); ++k, ++row) {
        if (rows.sample_of_row[i][row] != RowPlan::kNowhere && is_missing(block(k, j))) ++found.missing;
      }
    }
  }
  if (!column.text || column.hashed || column.has_other) return found;
  const LevelCounts counts(inputs, place, rows);
  for (const auto& [text, count] : counts.by_text) {
    if (std::ranges::find(column.levels, text) != column.levels.end()) continue;
    found.texts += count;
    if (found.example.empty() || text < found.example) found.example = text;
  }
  return found;
}

}  // namespace

std::vector<TypeRule> type_rules_of(const TableEncoding& encoding) {
  const Table header = header_of(encoding);
  std::vector<TypeRule> rules;
  for (const ColumnEncoding& column : encoding.columns) {
    if (!column.text || column.excluded) continue;
    for (std::size_t j = 0; j < header.columns.size(); ++j) {
      if (header.name_of(j) == column.name)
        rules.push_back({.columns = item_of(header, j), .type = ColumnType::category});
    }
  }
  return rules;
}

void assign_roles_like(const TableEncoding& encoding, std::vector<Input>& inputs, const ReadOptions& options,
                       Warnings& notes) {
  std::vector<Input> all;
  all.push_back({header_of(encoding), {}});
  for (Input& input : inputs) all.push_back(std::move(input));
  assign_roles(all, options, "", notes);
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = std::move(all[i + 1]);
}

void take_types(const TableEncoding& encoding, std::vector<Input>& inputs, Preparation& preparation) {
  if (!encoding.offsets.empty()) {
    fail(ErrorCode::invalid_option,
         "column {} has whole numbers beyond 2^53, which later batches cannot be compared with; exclude it from the "
         "baseline by " KQD_OPTION("drop"),
         in_quotes(encoding.offsets.front()));
  }
  for (Input& input : inputs) {
    if (input.roles.points.size() != encoding.columns.size()) {
      fail_at(ErrorCode::shape_mismatch, input.table.source,
              fmt::format("has {} columns to compare", input.roles.points.size()),
              fmt::format("{} as in the baseline", encoding.columns.size()));
    }
    std::vector<std::size_t> kept;
    for (std::size_t k = 0; k < encoding.columns.size(); ++k) {
      if (encoding.columns[k].excluded) continue;
      take_type(encoding.columns[k], input.table, input.roles.points[k]);
      kept.push_back(input.roles.points[k]);
    }
    input.roles.points = std::move(kept);
  }
  for (const ColumnEncoding& column : encoding.columns) {
    preparation.sources.push_back({.name = column.name,
                                   .type = column.type,
                                   .excluded = column.excluded,
                                   .levels = column.levels,
                                   .note = column.excluded ? "as in the baseline" : ""});
  }
}

std::vector<ColumnEncoder> encoders_like(const TableEncoding& encoding, std::vector<Input>& inputs, const RowPlan& rows,
                                         const ReadOptions& options, Warnings& warnings) {
  std::vector<ColumnEncoder> encoders;
  for (const ColumnEncoding& column : encoding.columns) {
    if (column.excluded) continue;
    const std::size_t place = encoders.size();
    encoders.emplace_back(column, inputs, place, rows);
    if (options.na == NaPolicy::omit) continue;
    const NewCells found = new_cells(column, inputs, place, rows);
    const std::string& source = inputs.front().table.source;
    if (found.texts > 0)
      warn(warnings, WarningId::new_levels, source, found.texts, column.name, in_quotes(found.example));
    if (found.missing > 0 && !column.marks_missing && options.na == NaPolicy::indicator) {
      warn(warnings, WarningId::new_missing_values, source, found.missing, column.name);
    }
  }
  return encoders;
}

void fill_missing(const TableEncoding& encoding, std::vector<Sample>& samples) {
  for (Sample& sample : samples) {
    for (std::size_t i = 0; i < sample.points.rows(); ++i) {
      const auto row = sample.points.row(i);
      for (std::size_t j = 0; j < row.size(); ++j) {
        if (std::isnan(row[j])) row[j] = encoding.fillers[j];
      }
    }
  }
}

TableEncoding encoding_of(const Input& front, const std::vector<ColumnEncoder>& encoders,
                          const Preparation& preparation, std::vector<std::string> table_columns) {
  TableEncoding encoding{.named = front.table.has_names,
                         .table_columns = std::move(table_columns),
                         .columns = {},
                         .sample_columns = {},
                         .roles = {},
                         .fillers = {},
                         .offsets = {}};
  for (const OffsetColumn& offset : preparation.offsets) encoding.offsets.push_back(offset.name);
  auto encoder = encoders.begin();
  for (const ColumnSource& source : preparation.sources) {
    ColumnEncoding& column = encoding.columns.emplace_back();
    column.name = source.name;
    column.type = source.type;
    column.excluded = source.excluded;
    if (std::ranges::find(preparation.booleans, source.name) != preparation.booleans.end()) {
      column.type = ColumnType::boolean;
    }
    if (source.excluded) continue;
    column.text = encoder->encodes_text();
    column.hashed = encoder->hashes();
    if (!column.hashed) column.levels = encoder->levels();
    column.has_other = encoder->num_rare() > 0;
    column.marks_missing = encoder->marks_missing();
    ++encoder;
  }
  return encoding;
}

void add_fillers(const std::vector<Sample>& samples, NaPolicy na, TableEncoding& encoding) {
  const Sample& front = samples.front();
  encoding.sample_columns = front.column_names;
  encoding.roles = front.roles;
  for (std::size_t j = 0; j < front.points.cols(); ++j) {
    const bool number = front.roles.empty() || front.roles[j].kind == ColumnKind::number;
    double& filler = encoding.fillers.emplace_back(0.0);
    if (!number && na != NaPolicy::impute_median) continue;
    std::vector<double> values;
    for (std::size_t i = 0; i < front.points.rows(); ++i) values.push_back(front.points(i, j));
    filler = median(values);
  }
}

std::string TableEncoding::serialize() const {
  ByteWriter out;
  const auto texts = [&](const std::vector<std::string>& list) {
    out.packed(list.size());
    for (const std::string& text : list) out.text(text);
  };
  out.packed(named ? 1 : 0);
  texts(table_columns);
  out.packed(columns.size());
  for (const ColumnEncoding& column : columns) {
    out.text(column.name);
    out.packed(static_cast<std::uint64_t>(column.type));
    for (const bool yes : {column.excluded, column.text, column.hashed, column.has_other, column.marks_missing}) {
      out.packed(yes ? 1 : 0);
    }
    texts(column.levels);
  }
  texts(sample_columns);
  out.packed(roles.size());
  for (const ColumnRole& role : roles) {
    out.packed(static_cast<std::uint64_t>(role.kind));
    out.packed(role.source);
  }
  out.reals(fillers);
  texts(offsets);
  return std::move(out.bytes());
}

TableEncoding TableEncoding::deserialize(std::string_view bytes) {
  ByteReader in(bytes, kKind);
  const auto texts = [&] {
    std::vector<std::string> list(in.length(1));
    for (std::string& text : list) text = in.text();
    return list;
  };
  const auto number_below = [&](std::uint64_t bound) {
    const std::uint64_t value = in.packed();
    if (value >= bound) fail(ErrorCode::unreadable_input, "not a valid {}: {} is out of range", kKind, value);
    return value;
  };
  TableEncoding encoding;
  encoding.named = number_below(2) == 1;
  encoding.table_columns = texts();
  constexpr std::size_t kFewestBytes = 8;
  encoding.columns.resize(in.length(kFewestBytes));
  for (ColumnEncoding& column : encoding.columns) {
    column.name = in.text();
    column.type = static_cast<ColumnType>(number_below(static_cast<std::uint64_t>(ColumnType::empty) + 1));
    for (bool* const yes : {&column.excluded, &column.text, &column.hashed, &column.has_other, &column.marks_missing}) {
      *yes = number_below(2) == 1;
    }
    column.levels = texts();
  }
  encoding.sample_columns = texts();
  encoding.roles.resize(in.length(2));
  for (ColumnRole& role : encoding.roles) {
    role.kind = static_cast<ColumnKind>(number_below(static_cast<std::uint64_t>(ColumnKind::missing) + 1));
    role.source = number_below(encoding.columns.size());
  }
  encoding.fillers = in.reals();
  encoding.offsets = texts();
  in.require_end("it");
  std::size_t width = 0;
  for (const ColumnEncoding& column : encoding.columns) {
    if (column.excluded) continue;
    const std::size_t of_texts = column.hashed ? kHashedColumns : column.levels.size();
    width += (column.text ? of_texts : 1) + (column.marks_missing ? 1 : 0);
  }
  if (encoding.fillers.size() != width) {
    fail(ErrorCode::unreadable_input, "not a valid {}: its columns do not fit", kKind);
  }
  return encoding;
}

}  // namespace kqd
