// Time and peak memory of `kqd test` on wide tables of mixed columns, as a child process.
//
//   bench_wide PROGRAM [COLUMNS [ROWS [FOLDER [FLAG ...]]]]     default 500 50000, temporary folder
//
// Of ten columns: five numbers, one of which lacks 3% of its values, a whole number of few values, a date, a boolean,
// categories of 6 and of 20 levels (rare ones below 1%). The files stay in FOLDER if it is given, and are used again.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/os.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/random.hpp"

namespace {

using namespace kqd;

constexpr std::size_t kKinds = 10;

std::string cell_of(std::size_t column, RandomStream& stream) {
  constexpr double kMissing = 0.03;
  switch (column % kKinds) {
    case 0:
      if (stream.uniform() < kMissing) return "";
      [[fallthrough]];
    case 1:
    case 2:
    case 3:
    case 4:
      return fmt::format("{:.3f}", 10.0 * stream.normal());
    case 5:
      return fmt::format("{}", stream.below(8));
    case 6:
      return fmt::format("2026-{:02}-{:02}", 1 + stream.below(12), 1 + stream.below(28));
    case 7:
      return stream.uniform() < 0.3 ? "yes" : "no";
    case 8:
      return fmt::format("m{}", stream.below(6));
    default: {
      const double u = stream.uniform();
      return fmt::format("r{}", static_cast<int>(20.0 * u * u * u));
    }
  }
}

void write_table(const std::string& path, std::size_t columns, std::size_t rows, std::uint64_t seed) {
  if (std::filesystem::exists(path)) return;
  RandomStream stream(Seed{seed}, Purpose::synthetic_x);
  auto file = fmt::output_file(path);
  std::string line;
  for (std::size_t j = 0; j < columns; ++j) line += fmt::format("{}c{}", j == 0 ? "" : ",", j);
  for (std::size_t i = 0; i < rows; ++i) {
    file.print("{}\n", line);
    line.clear();
    for (std::size_t j = 0; j < columns; ++j) {
      if (j > 0) line += ',';
      line += cell_of(j, stream);
    }
  }
  file.print("{}\n", line);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print("usage: bench_wide PROGRAM [COLUMNS [ROWS [FOLDER [FLAG ...]]]]\n");
    return EXIT_FAILURE;
  }
  const std::size_t columns = argc > 2 ? std::stoul(argv[2]) : 500;
  const std::size_t rows = argc > 3 ? std::stoul(argv[3]) : 50'000;
  const std::string folder = argc > 4 ? argv[4] : std::filesystem::temp_directory_path().string();
  std::vector<std::string> words = {argv[1], "test"};
  for (const std::uint64_t sample : {1U, 2U}) {
    words.push_back(fmt::format("{}/wide-{}-{}-{}.csv", folder, columns, rows, sample));
    write_table(words.back(), columns, rows, sample);
  }
  words.insert(words.end(), argv + std::min(argc, 5), argv + argc);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    execv(arguments.front(), arguments.data());
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) != child) throw std::runtime_error("the program does not start");
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  fmt::print("{} columns, {} + {} rows: exit {}, {:.1f} s, processor time {:.1f} s, peak memory {:.2f} GB\n", columns,
             rows, rows, WEXITSTATUS(status), seconds.count(), of(usage.ru_utime) + of(usage.ru_stime),
             static_cast<double>(usage.ru_maxrss) * 1024e-9);
  return WEXITSTATUS(status);
}
