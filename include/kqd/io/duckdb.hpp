#pragma once
#include <string>

#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// The version of the DuckDB library that Parquet, JSON and SQL are read with, such as "v1.4.4"; empty when none is
/// found.
///
/// It is searched for when it is first needed: where the variable KQD_DUCKDB points, at the path of offer_duckdb(),
/// next to the program and this library and in ../duckdb and ../lib/kqd from there, then by the system's loader.
[[nodiscard]] std::string duckdb_version();

/// Names a DuckDB library that the caller has, such as that of another package. No effect once one was found.
void offer_duckdb(std::string path);

}  // namespace kqd
