#include "io/number.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace kqd {
namespace {

TEST(ParseCell, reads_every_way_to_write_a_number) {
  const std::pair<const char*, double> cases[] = {
      {"0", 0.0},
      {"-7", -7.0},
      {"+7", 7.0},
      {".5", 0.5},
      {"5.", 5.0},
      {"1e3", 1000.0},
      {"+1.5E-2", 0.015},
      {"007", 7.0},
      {"1e+2", 100.0},
      {"-0.125", -0.125},
      {"3e-324", std::numeric_limits<double>::denorm_min()},
      {"1.7976931348623157e308", std::numeric_limits<double>::max()},
  };
  for (const auto& [text, value] : cases) {
    const Cell cell = parse_cell(text);
    EXPECT_EQ(cell.kind, CellKind::number) << text;
    EXPECT_EQ(cell.value, value) << text;
  }
}

TEST(ParseCell, knows_the_spellings_of_missing) {
  for (const char* text :
       {"",    "NA", "n/a", "#N/A", "NaN",     "-nan",    "null",    "NULL",  "None",    "nil",    "<NA>",
        "NaT", "-",  "?",   ".",    "missing", "#DIV/0!", "#VALUE!", "#REF!", "1.#QNAN", "-1.#IND"}) {
    EXPECT_EQ(parse_cell(text).kind, CellKind::missing) << text;
  }
}

TEST(ParseCell, distinguishes_infinite_from_missing) {
  for (const char* text : {"inf", "+inf", "INFINITY"}) {
    EXPECT_EQ(parse_cell(text).kind, CellKind::infinite) << text;
    EXPECT_EQ(parse_cell(text).value, std::numeric_limits<double>::infinity()) << text;
  }
  EXPECT_EQ(parse_cell("-Inf").value, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse_cell("infinite").kind, CellKind::text);
}

TEST(ParseCell, calls_everything_else_text) {
  for (const char* text : {"a", "1x", "1e", "e5", "0x10", "1,5", "1 2", "+-1", "-+1", "++1", "+", "--1", "1_000",
                           "TRUE", "5%", "1e400x", "nan(1)", "2020-01-01"}) {
    EXPECT_EQ(parse_cell(text).kind, CellKind::text) << text;
  }
}

TEST(ParseCell, distinguishes_too_large_from_too_small) {
  const std::string zeros(400, '0');
  for (const std::string& text :
       {std::string("1e400"), std::string("-1e400"), std::string("+1e309"), "1" + zeros,
        std::string("1e99999999999999999999"), "0." + zeros + "1e99999", "1" + zeros + "e-50"}) {
    EXPECT_EQ(parse_cell(text).kind, CellKind::out_of_range) << text;
  }
  for (const std::string& text :
       {std::string("1e-400"), std::string("+1e-400"), "0." + zeros + "1", "." + zeros + "1e50",
        std::string("1e-99999999999999999999"), "1" + zeros + "e-99999"}) {
    const Cell cell = parse_cell(text);
    EXPECT_EQ(cell.kind, CellKind::number) << text;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(cell.value), 0U) << text;
    EXPECT_TRUE(std::signbit(parse_cell("-" + text).value) || text.front() == '+') << text;
  }
}

TEST(ParseFinite, says_where_the_number_ends) {
  const std::string text = "+12.5;rest";
  double value = 0.0;
  EXPECT_EQ(parse_finite(text.data(), text.data() + text.size(), value), text.data() + 5);
  EXPECT_EQ(value, 12.5);
  EXPECT_EQ(parse_finite(text.data() + 5, text.data() + text.size(), value), nullptr);
  const std::string infinite = "inf,";
  EXPECT_EQ(parse_finite(infinite.data(), infinite.data() + infinite.size(), value), nullptr);
}

TEST(RoundedOff, counts_what_a_double_lacks_of_a_whole_number_in_any_notation) {
  const auto lacking = [](const std::string& text) { return rounded_off(text, std::stod(text)); };
  for (const std::string text : {"9007199254740993", "+9007199254740993.0", "9007199254740993.", "9.007199254740993e15",
                                 "90071992547409930e-1", "0009007199254740.993E+3"}) {
    EXPECT_EQ(lacking(text), 1) << text;
    EXPECT_EQ(lacking("-" + (text.front() == '+' ? text.substr(1) : text)), -1) << text;
  }
  EXPECT_EQ(lacking("18446744073709551615.00"), -1);
  EXPECT_EQ(lacking("1.2345678901234568e+18"), 32);
  for (const char* text : {"9007199254740993.5", "36893488147419103233.0", "3.6893488147419103233e19"}) {
    EXPECT_EQ(lacking(text), std::nullopt) << text;
  }
}

TEST(IsPrintOf, holds_for_what_a_double_prints_as_by_any_number_of_digits) {
  const auto is_print = [](const std::string& text) { return is_print_of(text, std::stod(text)); };
  for (const char* text : {"9007199254740992", "9007199254740992.0", "6.02214076e23", "1.2345678901234568e+18", "1e300",
                           "1.234499999999999970e+25", "-207337743241042700.0"}) {
    EXPECT_TRUE(is_print(text)) << text;
  }
  for (const char* text : {"9007199254740993", "9007199254740993.0", "-9.007199254740993e15", "9007199254740993.5",
                           "207337743241042700", "36893488147419103233"}) {
    EXPECT_FALSE(is_print(text)) << text;
  }
}

}  // namespace
}  // namespace kqd
