#pragma once

namespace kqd {

/// Offers the library of PyPI's package duckdb (`pip install "kqd[parquet]"`) to the readers, if it is installed.
/// Called before files are read, by the module and by the command: each has a library of its own in a wheel.
void offer_duckdb_package();

}  // namespace kqd
