// Time and memory of reading CSV, and the time of counting the bytes of the same file.
//
//   bench_read [ROWS [COLUMNS]]     default 1000000 20
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "io/byte_source.hpp"
#include "io/csv.hpp"
#include "kqd/io/read.hpp"
#include "kqd/io/write.hpp"
#include "side_by_side.hpp"

namespace {

using namespace kqd;

constexpr int kTurns = 9;

// Full precision: about 19 bytes per number.
std::string write_file(std::size_t rows, std::size_t cols) {
  Sample sample{Matrix<double>(rows, cols), {}, {}};
  bench::Noise noise(1);
  for (double& value : sample.points.values()) value = noise();
  std::string path = (std::filesystem::temp_directory_path() / "kqd-bench-read.csv").string();
  write_sample(path, sample);
  return path;
}

// The least work on a file: read and inspect every byte.
std::size_t count_lines(const std::string& path) {
  FileSource source(path);
  std::vector<char> buffer(std::size_t{1} << 20U);
  std::size_t lines = 0;
  while (const std::size_t bytes = source.read(buffer)) {
    lines +=
        static_cast<std::size_t>(std::count(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(bytes), '\n'));
  }
  return lines;
}

}  // namespace

int main(int argc, char** argv) {
  return kqd::bench::run([&] {
    const std::size_t rows = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
    const std::size_t cols = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20;
    const std::string path = write_file(rows, cols);
    const double file_mb = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
    const double matrix_mb = static_cast<double>(rows * cols * sizeof(double)) / 1e6;

    std::size_t seen = 0;
    const auto read_cells = [&] {
      FileSource source(path);
      seen += read_csv(source).cells.rows();
    };
    const std::vector<double> seconds =
        bench::take_turns({{"count", [&] { seen += count_lines(path); }},
                           {"cells", read_cells},
                           {"sample", [&] { seen += read_sample(path).points.rows(); }}},
                          kTurns, bench::processor_seconds_of);
    std::filesystem::remove(path);
    fmt::print("CSV of {} x {} doubles, {:.0f} MB, one thread, processor time, medians of {} turns ({} rows seen)\n",
               rows, cols, file_mb, kTurns, seen);
    fmt::print("  count of bytes      {:.3f} s  {:6.0f} MB/s\n", seconds[0], file_mb / seconds[0]);
    fmt::print("  to a table          {:.3f} s  {:6.0f} MB/s  {:.1f} x the count\n", seconds[1], file_mb / seconds[1],
               seconds[1] / seconds[0]);
    fmt::print("  to a sample         {:.3f} s  {:6.0f} MB/s  {:.1f} x the count\n", seconds[2], file_mb / seconds[2],
               seconds[2] / seconds[0]);
    fmt::print("  peak memory         {:.0f} MB, the matrix only {:.0f} MB: {:.2f} x\n",
               bench::peak_memory_mb() * 1.048576, matrix_mb, bench::peak_memory_mb() * 1.048576 / matrix_mb);
  });
}
