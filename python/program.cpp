// The command `kqd` of the Python package: the program, inside the interpreter that it was installed for. A program of
// its own could not load DuckDB's package for Python, which is a library that needs an interpreter.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "duckdb_package.hpp"
#include "entry.hpp"

namespace py = pybind11;

namespace {

int main_of_program() {
  const py::object fsencode = py::module_::import("os").attr("fsencode");
  std::vector<std::string> words{"kqd"};
  const py::list given = py::module_::import("sys").attr("argv");
  for (std::size_t i = 1; i < given.size(); ++i) {
    words.push_back(py::cast<std::string>(py::bytes(fsencode(given[i]))));
  }
  kqd::offer_duckdb_package();
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const py::gil_scoped_release not_needed;
  return kqd::app::run_program(static_cast<int>(words.size()), arguments.data());
}

}  // namespace

PYBIND11_MODULE(_kqd_program, m) {
  m.doc() = "The program kqd, for its command and `python -m kqd`.";
  m.def("main", &main_of_program, "Runs the program with sys.argv and returns its exit code.");
}
