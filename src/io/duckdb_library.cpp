#include "io/duckdb_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "io/text.hpp"
#include "kqd/io/duckdb.hpp"

namespace kqd {
namespace duck {
namespace {

constexpr const char* kVariable = "KQD_DUCKDB";
constexpr const char* kFileName = "libduckdb.so";

// Folders a program or library keeps its own libraries in, seen from the file at `path`.
void add_places_near(const std::filesystem::path& path, std::vector<std::string>& places) {
  if (path.empty()) return;
  const std::filesystem::path folder = path.parent_path();
  for (const char* place : {".", "../duckdb", "../lib/kqd"}) places.push_back((folder / place / kFileName).string());
}

std::vector<std::string> places() {
  std::vector<std::string> places;
  std::error_code ignored;
  add_places_near(std::filesystem::read_symlink("/proc/self/exe", ignored), places);
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&find_library), &info) != 0 && info.dli_fname != nullptr) {
    add_places_near(std::filesystem::weakly_canonical(info.dli_fname, ignored), places);
  }
  std::erase_if(places, [&](const std::string& place) { return !std::filesystem::exists(place, ignored); });
  places.emplace_back(kFileName);  // by the system's loader
  return places;
}

// Finds functions of the library by name, and remembers whether one was missing.
class Loader {
 public:
  explicit Loader(void* handle) : handle_(handle) {}

  template <class Function>
  void operator()(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    if (function == nullptr && missing_.empty()) missing_ = name;
  }

  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  void* handle_;
  std::string missing_;
};

// Name of the first function that the library does not have; empty: it has them all.
std::string load_functions(void* handle, Library& library) {
  Loader load(handle);
  load("duckdb_library_version", library.library_version);
  load("duckdb_create_config", library.create_config);
  load("duckdb_set_config", library.set_config);
  load("duckdb_destroy_config", library.destroy_config);
  load("duckdb_open_ext", library.open_ext);
  load("duckdb_close", library.close);
  load("duckdb_connect", library.connect);
  load("duckdb_disconnect", library.disconnect);
  load("duckdb_query", library.query);
  load("duckdb_result_error", library.result_error);
  load("duckdb_destroy_result", library.destroy_result);
  load("duckdb_extract_statements", library.extract_statements);
  load("duckdb_extract_statements_error", library.extract_statements_error);
  load("duckdb_destroy_extracted", library.destroy_extracted);
  load("duckdb_prepare", library.prepare);
  load("duckdb_prepare_error", library.prepare_error);
  load("duckdb_bind_varchar_length", library.bind_varchar_length);
  load("duckdb_column_count", library.column_count);
  load("duckdb_column_name", library.column_name);
  load("duckdb_column_type", library.column_type);
  load("duckdb_column_logical_type", library.column_logical_type);
  load("duckdb_destroy_logical_type", library.destroy_logical_type);
  load("duckdb_decimal_width", library.decimal_width);
  load("duckdb_destroy_prepare", library.destroy_prepare);
  load("duckdb_pending_prepared_streaming", library.pending_prepared_streaming);
  load("duckdb_pending_execute_task", library.pending_execute_task);
  load("duckdb_pending_error", library.pending_error);
  load("duckdb_execute_pending", library.execute_pending);
  load("duckdb_destroy_pending", library.destroy_pending);
  load("duckdb_fetch_chunk", library.fetch_chunk);
  load("duckdb_data_chunk_get_size", library.data_chunk_get_size);
  load("duckdb_data_chunk_get_vector", library.data_chunk_get_vector);
  load("duckdb_vector_get_data", library.vector_get_data);
  load("duckdb_vector_get_validity", library.vector_get_validity);
  load("duckdb_destroy_data_chunk", library.destroy_data_chunk);
  load("duckdb_free", library.free);
  return load.missing();
}

// Never closed again: what it keeps per thread may end after us.
Found open_at(const std::string& place, Library& library) {
  void* const handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return {nullptr, printable(dlerror())};
  const std::string missing = load_functions(handle, library);
  if (!missing.empty()) return {nullptr, fmt::format("{}: has no {}, expected DuckDB 1.1 or later", place, missing)};
  return {&library, {}};
}

// The search and its result. A search without success is repeated: the library may have been installed since.
struct Search {
  std::mutex mutex;
  std::string offered;
  Library library;
  Found found;
};

Search& the_search() {
  static Search search;
  return search;
}

Found search_in(const std::string& offered, Library& library) {
  if (const char* chosen = std::getenv(kVariable); chosen != nullptr && *chosen != '\0') {
    Found found = open_at(chosen, library);
    if (found.library == nullptr) found.reason = fmt::format("{} does not name it ({})", kVariable, found.reason);
    return found;
  }
  std::string unusable;
  if (!offered.empty()) {
    Found found = open_at(offered, library);
    if (found.library != nullptr) return found;
    unusable = found.reason;
  }
  for (const std::string& place : places()) {
    if (Found found = open_at(place, library); found.library != nullptr) return found;
  }
  if (!unusable.empty()) return {nullptr, fmt::format("the installed one cannot be used ({})", unusable)};
  return {nullptr,
          fmt::format("it was not found; in a clone `./dev duckdb` fetches it, for the Python package `pip install "
                      "\"kqd[parquet]\"` does, or set {} to the path of {}",
                      kVariable, kFileName)};
}

}  // namespace

Found find_library() {
  Search& search = the_search();
  const std::scoped_lock lock(search.mutex);
  if (search.found.library == nullptr) search.found = search_in(search.offered, search.library);
  return search.found;
}

}  // namespace duck

void offer_duckdb(std::string path) {
  duck::Search& search = duck::the_search();
  const std::scoped_lock lock(search.mutex);
  search.offered = std::move(path);
}

std::string duckdb_version() {
  const duck::Library* const library = duck::find_library().library;
  return library == nullptr ? "" : library->library_version();
}

}  // namespace kqd
