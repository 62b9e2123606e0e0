// Prints the result of read_sample for tests: a line of JSON (rows, columns, names), then the doubles as they are.
#include <cstdio>
#include <exception>

#include "kqd/io/read.hpp"

int main(int argc, char** argv) {
  try {
    kqd::ReadOptions options;
    options.csv.decimal_comma = argc > 2;
    options.map_files = true;
    const kqd::Sample sample = kqd::read_sample(argv[1], options);
    std::printf("{\"rows\": %zu, \"cols\": %zu, \"names\": [", sample.points.rows(), sample.points.cols());
    for (std::size_t j = 0; j < sample.column_names.size(); ++j) {
      std::printf("%s\"%s\"", j > 0 ? ", " : "", sample.column_names[j].c_str());
    }
    std::printf("]}\n");
    std::fwrite(sample.points.data(), sizeof(double), sample.points.values().size(), stdout);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  return 0;
}
