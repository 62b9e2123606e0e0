#include "io/column_list.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kqd/core/error.hpp"

namespace kqd {
namespace {

using Names = std::vector<std::string>;

Names chosen(const std::string& list, const Names& names) {
  const Table table("x.csv", names, {});
  ColumnList columns("columns", list);
  const std::vector<bool> marks = columns.marks(table);
  columns.check_all_found(table);
  Names found;
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (marks[j]) found.push_back(names[j]);
  }
  return found;
}

std::string message(const std::string& list, const Names& names) {
  try {
    static_cast<void>(chosen(list, names));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_option);
    return error.what();
  }
  return "no error";
}

const Names kNames = {"age", "temp_in", "temp_out", "a-b", "c..d", "e", "f, g", "*", "12"};

TEST(ColumnList, takes_names_in_any_order) {
  EXPECT_EQ(chosen("e , age", kNames), (Names{"age", "e"}));
}

TEST(ColumnList, takes_ranges_between_names_in_either_direction) {
  EXPECT_EQ(chosen("temp_in..a-b", kNames), (Names{"temp_in", "temp_out", "a-b"}));
  EXPECT_EQ(chosen("a-b .. temp_in", kNames), (Names{"temp_in", "temp_out", "a-b"}));
  EXPECT_EQ(chosen("c..d..e", kNames), (Names{"c..d", "e"}));
}

TEST(ColumnList, takes_numbers_and_ranges_of_numbers_from_1) {
  EXPECT_EQ(chosen("1,3-5", kNames), (Names{"age", "temp_out", "a-b", "c..d"}));
  EXPECT_EQ(chosen("2..3", kNames), (Names{"temp_in", "temp_out"}));
}

TEST(ColumnList, takes_globs) {
  EXPECT_EQ(chosen("temp_*", kNames), (Names{"temp_in", "temp_out"}));
  EXPECT_EQ(chosen("?g?", kNames), (Names{"age"}));
  EXPECT_EQ(chosen("*e*", kNames), (Names{"age", "temp_in", "temp_out", "e"}));
}

TEST(ColumnList, a_name_goes_before_everything_else_it_could_mean) {
  EXPECT_EQ(chosen("a-b", kNames), (Names{"a-b"}));
  EXPECT_EQ(chosen("c..d", kNames), (Names{"c..d"}));
  EXPECT_EQ(chosen("*", kNames), (Names{"*"}));
  EXPECT_EQ(chosen("12", kNames), (Names{"12"}));
}

TEST(ColumnList, quotes_make_a_name_of_anything) {
  EXPECT_EQ(chosen("\"f, g\",e", kNames), (Names{"e", "f, g"}));
  EXPECT_EQ(message("\"1\"", kNames).substr(0, 58), "x.csv: there is no column \"1\", listed in columns, expected");
}

TEST(ColumnList, takes_only_numbers_where_there_are_no_names) {
  const Table table("x.npy", 4, {});
  ColumnList list("drop", "2-3");
  EXPECT_EQ(list.marks(table), (std::vector<bool>{false, true, true, false}));
  ColumnList unknown("drop", "a");
  static_cast<void>(unknown.marks(table));
  EXPECT_THROW(unknown.check_all_found(table), Error);
}

TEST(ColumnList, pinned_positions_are_names_in_the_next_table) {
  const Table x("x.csv", Names{"a", "b", "c"}, {});
  const Table y("y.csv", Names{"c", "x", "b", "a"}, {});
  ColumnList list("columns", "2-3");
  list.pin_positions(x);
  EXPECT_EQ(list.marks(y), (std::vector<bool>{true, false, true, false}));
}

TEST(ColumnList, columns_without_a_name_stay_positions) {
  const Table x("x.csv", Names{"", "a", "", "b"}, {});
  for (const char* text : {"1,3", "3,1"}) {
    ColumnList list("drop", text);
    list.pin_positions(x);
    EXPECT_EQ(list.marks(x), (std::vector<bool>{true, false, true, false})) << text;
    list.check_all_found(x);
  }
}

TEST(ColumnList, a_column_without_a_name_is_meant_by_its_number_even_where_another_has_that_for_a_name) {
  const Table x("x.csv", Names{"", "0", "1", "2"}, {});
  ColumnList list("drop", "1-2");
  list.pin_positions(x);
  EXPECT_EQ(list.marks(x), (std::vector<bool>{true, true, false, false}));
  EXPECT_EQ(list.marks(Table("y.csv", Names{"1", "2", "0"}, {})), (std::vector<bool>{false, false, true}));
}

TEST(ColumnList, empty_quotes_mean_the_columns_without_a_name) {
  const Table x("x.csv", Names{"", "0", "1", ""}, {});
  ColumnList list("drop", "\"\",1");
  list.pin_positions(x);
  EXPECT_EQ(list.marks(x), (std::vector<bool>{true, false, true, true}));
  list.check_all_found(x);
  EXPECT_EQ(message("\"\"", {"age", "e"}),
            "x.csv: there is no column \"\", listed in columns, expected one of \"age\", \"e\"");
  ColumnList nowhere("drop", "\"\"");
  EXPECT_EQ(nowhere.marks(Table("x.npy", 2, {})), (std::vector<bool>{false, false}));
}

TEST(ColumnList, an_unknown_name_is_refused_with_the_nearest) {
  EXPECT_EQ(message("e,temp_inn", {"age", "temp_in", "e"}),
            "x.csv: there is no column \"temp_inn\", listed in columns, expected one of \"age\", \"temp_in\", \"e\"; "
            "did you "
            "mean temp_in?");
  EXPECT_EQ(message("press*", {"age", "e"}),
            "x.csv: there is no column \"press*\", listed in columns, expected one of \"age\", \"e\"");
  EXPECT_EQ(message("1-3", {"age", "e"}),
            "x.csv: there is no column \"1-3\", listed in columns, expected one of \"age\", \"e\"");
}

TEST(ColumnList, a_malformed_list_is_refused) {
  for (const char* list : {",", "age,", ",age", "age,,e", "\"age", "\"age\" e", "\"\",", ",\"\""}) {
    EXPECT_NE(message(list, {"age", "e"}).find("expected a list such as a,b..d,temp_*,3-7"), std::string::npos) << list;
  }
}

}  // namespace
}  // namespace kqd
