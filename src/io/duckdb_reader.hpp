#pragma once
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "io/block_reader.hpp"
#include "io/table.hpp"
#include "kqd/core/types.hpp"

namespace kqd {

/// How names of queries start.
inline constexpr std::string_view kQueryPrefix = "sql:";

/// Suffixes of files that DuckDB reads for us, in the order in which messages list them.
inline constexpr std::array<std::string_view, 4> kQueriedSuffixes = {".parquet", ".json", ".jsonl", ".ndjson"};

/// The table in a Parquet or JSON file, in the order of its rows.
///
/// Numbers and booleans become the nearest doubles, texts and dates are texts, NULL is missing. The name of the file is
/// a bound parameter, never a part of a query. Throws Error{unreadable_input} when DuckDB is not at hand, with how to
/// get it, and for what DuckDB refuses; Error{empty_sample}.
[[nodiscard]] Table read_by_duckdb(const std::string& path, const TextRules& rules, ThreadCount threads);

/// The rows of a Parquet file, a block at a time, read by the calling thread. Only columns that are needed are read.
[[nodiscard]] std::unique_ptr<BlockReader> read_parquet_in_blocks(const std::string& path, const TextRules& rules);

/// The rows of a query in DuckDB's SQL, over files it can read and databases it can attach. The query may be several
/// statements; the last one gives the rows. Throws the same.
[[nodiscard]] Table read_query(const std::string& query, const TextRules& rules, ThreadCount threads);

}  // namespace kqd
