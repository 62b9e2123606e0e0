// Time to read a Parquet file into a sample, and of DuckDB's streaming read of the same file without keeping any chunk.
//
//   bench_parquet [ROWS [COLUMNS]]     default 1000000 20
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "io/duckdb_library.hpp"
#include "kqd/core/types.hpp"
#include "kqd/io/read.hpp"
#include "side_by_side.hpp"

namespace {

using namespace kqd;

constexpr int kTurns = 9;

[[noreturn]] void give_up(const std::string& reason) {
  throw std::runtime_error(reason);
}

// DuckDB without kqd around it.
class BareDuck {
 public:
  explicit BareDuck(const duck::Library& library) : library_(library) {
    duck::Handle config = nullptr;
    const bool open = library_.create_config(&config) == duck::kSuccess &&
                      library_.set_config(config, "threads", "2") == duck::kSuccess &&
                      library_.open_ext(nullptr, &database_, config, nullptr) == duck::kSuccess &&
                      library_.connect(database_, &connection_) == duck::kSuccess;
    library_.destroy_config(&config);
    if (!open) give_up("DuckDB does not open");
  }
  BareDuck(const BareDuck&) = delete;
  BareDuck& operator=(const BareDuck&) = delete;
  ~BareDuck() {
    library_.disconnect(&connection_);
    library_.close(&database_);
  }

  void run(const std::string& statement) {
    duck::Result result{};
    if (library_.query(connection_, statement.c_str(), &result) != duck::kSuccess) {
      give_up(library_.result_error(&result));
    }
    library_.destroy_result(&result);
  }

  std::size_t count_streamed_rows(const std::string& path) {
    duck::Handle statement = nullptr;
    duck::Handle pending = nullptr;
    duck::Result result{};
    if (library_.prepare(connection_, "SELECT * FROM read_parquet(?)", &statement) != duck::kSuccess ||
        library_.bind_varchar_length(statement, 1, path.data(), path.size()) != duck::kSuccess ||
        library_.pending_prepared_streaming(statement, &pending) != duck::kSuccess ||
        library_.execute_pending(pending, &result) != duck::kSuccess) {
      give_up("the query fails");
    }
    std::size_t rows = 0;
    for (;;) {
      duck::Handle chunk = library_.fetch_chunk(result);
      if (chunk == nullptr) break;
      const std::size_t count = library_.data_chunk_get_size(chunk);
      library_.destroy_data_chunk(&chunk);
      if (count == 0) break;
      rows += count;
    }
    library_.destroy_result(&result);
    library_.destroy_pending(&pending);
    library_.destroy_prepare(&statement);
    return rows;
  }

 private:
  const duck::Library& library_;
  duck::Handle database_ = nullptr;
  duck::Handle connection_ = nullptr;
};

std::string columns(std::size_t count) {
  std::string list = "random() AS x1";
  for (std::size_t j = 2; j <= count; ++j) list += fmt::format(", random() AS x{}", j);
  return list;
}

}  // namespace

int main(int argc, char** argv) {
  return kqd::bench::run([&] {
    const std::size_t rows = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
    const std::size_t cols = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20;
    const duck::Found& found = duck::find_library();
    if (found.library == nullptr) give_up("DuckDB is needed, and " + found.reason);
    const std::string path = (std::filesystem::temp_directory_path() / "kqd-bench.parquet").string();
    BareDuck(*found.library).run(fmt::format("COPY (SELECT {} FROM range({})) TO '{}'", columns(cols), rows, path));

    std::size_t seen = 0;
    // Both open their own database, which is part of reading one file.
    const std::vector<double> seconds =
        bench::take_turns({{"duckdb", [&] { seen += BareDuck(*found.library).count_streamed_rows(path); }},
                           {"kqd", [&] { seen += read_sample(path, {.threads = ThreadCount{2}}).points.rows(); }}},
                          kTurns);
    const double file_mb = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
    std::filesystem::remove(path);
    fmt::print("Parquet of {} x {} doubles, {:.0f} MB, two threads, medians of {} turns ({} rows seen)\n", rows, cols,
               file_mb, kTurns, seen);
    fmt::print("  DuckDB {}, streamed  {:.3f} s\n", found.library->library_version(), seconds[0]);
    fmt::print("  kqd, to a sample       {:.3f} s  {:.2f} x\n", seconds[1], seconds[1] / seconds[0]);
  });
}
