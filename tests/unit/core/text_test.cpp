#include "core/text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <clocale>
#include <limits>

#include "core/names.hpp"
#include "support/errors.hpp"

namespace kqd {
namespace {

using Words = std::vector<std::string_view>;

TEST(Split, gives_the_parts_between_separators_and_at_least_one) {
  EXPECT_EQ(split("a:b:c", ':'), (Words{"a", "b", "c"}));
  EXPECT_EQ(split("a", ':'), (Words{"a"}));
  EXPECT_EQ(split("", ':'), (Words{""}));
  EXPECT_EQ(split("::", ':'), (Words{"", "", ""}));
  EXPECT_EQ(split("a,", ','), (Words{"a", ""}));
}

TEST(Trim, removes_blanks_at_both_ends_only) {
  EXPECT_EQ(trim("  a b\t\r\n"), "a b");
  EXPECT_EQ(trim("a"), "a");
  EXPECT_EQ(trim(" \t "), "");
  EXPECT_EQ(trim(""), "");
}

TEST(ParseNumber, reads_what_spells_one_finite_number_and_nothing_else) {
  EXPECT_EQ(parse_number("1.5"), 1.5);
  EXPECT_EQ(parse_number("-2e-3"), -2e-3);
  EXPECT_EQ(parse_number("1e+3"), 1000.0);
  EXPECT_EQ(parse_number("0.1"), 0.1);
  EXPECT_EQ(parse_number("4.9406564584124654e-324"), std::numeric_limits<double>::denorm_min());
  for (const char* text :
       {"", " 1", "1 ", "1,5", "1.5x", "nan", "inf", "-inf", "infinity", "1e400", "0x10", "--1", "e5"})
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
}

TEST(ParseNumber, does_not_follow_the_locale) {
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  for (const char* name : {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8"}) {
    if (std::setlocale(LC_NUMERIC, name) == nullptr) continue;
    EXPECT_EQ(parse_number("1.5"), 1.5);
    EXPECT_EQ(parse_number("1,5"), std::nullopt);
    EXPECT_EQ(shortest(1.5), "1.5");
  }
  std::setlocale(LC_NUMERIC, before.c_str());
}

TEST(Shortest, reads_back_as_the_same_number) {
  for (const double value : {0.1, 1.0 / 3.0, 1e300, 5e-324, 123456789.125, -2.5, 1.0, 100.0}) {
    EXPECT_EQ(parse_number(shortest(value)), value) << shortest(value);
  }
  EXPECT_EQ(shortest(1.0), "1");
  EXPECT_EQ(shortest(0.1), "0.1");
}

TEST(Suggestion, names_the_nearest_known_word_when_it_is_near) {
  constexpr std::array<std::string_view, 3> known = {"gaussian", "laplace", "rq"};
  EXPECT_EQ(suggestion("gausian", known), "; did you mean gaussian?");
  EXPECT_EQ(suggestion("guassian", known), "; did you mean gaussian?");  // two neighbours swapped count as one edit
  EXPECT_EQ(suggestion("laplac", known), "; did you mean laplace?");
  EXPECT_EQ(suggestion("qr", known), "; did you mean rq?");
  EXPECT_EQ(suggestion("wasserstein", known), "");
  EXPECT_EQ(suggestion("anything", {}), "");
  EXPECT_EQ(suggestion("", known), "");
  EXPECT_EQ(suggestion("xy", known), "");
}

TEST(Join, puts_commas_between) {
  constexpr std::array<std::string_view, 3> words = {"a", "b", "c"};
  EXPECT_EQ(join(words), "a, b, c");
  EXPECT_EQ(join(std::span(words).first(1)), "a");
  EXPECT_EQ(join({}), "");
}

enum class Fruit { apple, pear };
constexpr std::array<Name<Fruit>, 2> kFruits = {{{Fruit::apple, "apple"}, {Fruit::pear, "pear"}}};

TEST(Names, go_both_ways) {
  EXPECT_EQ(name_of(kFruits, Fruit::pear), "pear");
  EXPECT_EQ(value_of(kFruits, "apple", "fruit"), Fruit::apple);
}

TEST(Names, an_unknown_word_is_refused_with_option_choices_and_suggestion) {
  test::expect_error(ErrorCode::invalid_option, "fruit = aple: expected one of apple, pear; did you mean apple?",
                     [] { static_cast<void>(value_of(kFruits, "aple", "fruit")); });
  test::expect_error(ErrorCode::invalid_option, "fruit = stone: expected one of apple, pear",
                     [] { static_cast<void>(value_of(kFruits, "stone", "fruit")); });
  test::expect_error(ErrorCode::invalid_option, "fruit = Apple: expected one of apple, pear; did you mean apple?",
                     [] { static_cast<void>(value_of(kFruits, "Apple", "fruit")); });
}

}  // namespace
}  // namespace kqd
