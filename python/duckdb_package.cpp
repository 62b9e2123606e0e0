#include "duckdb_package.hpp"

#include <pybind11/pybind11.h>

#include <string>

#include "kqd/io/duckdb.hpp"

namespace py = pybind11;

namespace kqd {

void offer_duckdb_package() {
  const py::object found = py::module_::import("importlib.util").attr("find_spec")("_duckdb");
  if (found.is_none() || found.attr("origin").is_none()) return;
  offer_duckdb(py::cast<std::string>(found.attr("origin")));
}

}  // namespace kqd
