#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/readers.hpp"

namespace kqd {
namespace {

// Files written by NumPy and by Python's csv module, and the bits NumPy says they hold (tests/golden/io/make.py).
TEST(GoldenFiles, hold_bit_for_bit_what_numpy_says) {
  const std::string folder = std::string(KQD_TEST_DATA) + "/io/";
  const auto cases = nlohmann::json::parse(std::ifstream(folder + "expected.json"));
  ASSERT_GE(cases.size(), 30U);
  for (const auto& expected : cases) {
    SCOPED_TRACE(expected.at("file").get<std::string>());
    Table table = read_table(folder + expected.at("file").get<std::string>(), {});
    EXPECT_EQ(table.cells.rows(), expected.at("rows").get<std::size_t>());
    EXPECT_EQ(table.cells.cols(), expected.at("cols").get<std::size_t>());
    std::vector<std::string> names;
    for (const Column& column : table.columns) names.push_back(column.name);
    EXPECT_EQ(table.has_names ? names : std::vector<std::string>{},
              expected.at("names").get<std::vector<std::string>>());
    std::vector<std::uint64_t> bits;
    for (const std::string digits : expected.at("bits")) bits.push_back(std::stoull(digits, nullptr, 16));
    std::vector<std::uint64_t> found;
    table.cells.drain([&](std::size_t, MatrixView<const double> block) {
      for (std::size_t i = 0; i < block.rows(); ++i) {
        for (const double value : block.row(i)) found.push_back(std::bit_cast<std::uint64_t>(value));
      }
    });
    EXPECT_EQ(found, bits);
  }
}

}  // namespace
}  // namespace kqd
