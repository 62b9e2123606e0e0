// Treatment of columns, texts, missing values and rows between files and samples.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "io/text_dictionary.hpp"
#include "kqd/io/read.hpp"
#include "support/scratch_folder.hpp"
#include "support/warnings.hpp"
#include "unit/io/sample_values.hpp"

namespace kqd {
namespace {

class PrepareSamples : public testing::Test {
 protected:
  SamplePair pair(std::string_view x, std::string_view y, const ReadOptions& options) const {
    return read_pair(folder_.write("x.csv", x), folder_.write("y.csv", y), strict(options));
  }
  SamplePair grouped(std::string_view text, const std::string& column, const ReadOptions& options = {}) const {
    return read_grouped(folder_.write("x.csv", text), column, strict(options));
  }

  template <class Call>
  std::string message(Call call) const {
    try {
      call();
    } catch (const Error& error) {
      return folder_.without_folder(error.what());
    }
    return "no error";
  }
  std::string pair_message(std::string_view x, std::string_view y, const ReadOptions& options) const {
    return message([&] { static_cast<void>(pair(x, y, options)); });
  }

  test::ScratchFolder folder_;
};

// Whole numbers beyond 2^53.

TEST_F(PrepareSamples, whole_numbers_that_are_not_doubles_are_compared_exactly) {
  // 2^53 + 1, 2^60 + 1 and 2^64 - 1 are not doubles. Missing values stay missing.
  const SamplePair near =
      pair("id\n9007199254740993\nNA\n9007199254740992\n", "id\n9007199254740995\n1.8e16\n", {.na = NaPolicy::omit});
  EXPECT_EQ(values_of(near.x), (Values{1, 0}));
  EXPECT_EQ(values_of(near.y), (Values{3, 18000000000000000.0 - 9007199254740992.0}));
  ASSERT_EQ(near.preparation.offsets.size(), 1U);
  EXPECT_EQ(near.preparation.offsets[0].name, "id");
  EXPECT_EQ(near.preparation.offsets[0].offset, "9007199254740992");
  const SamplePair negative = pair("-1152921504606846977\n", "-1152921504606846975\n-1152921504606846976\n", {});
  EXPECT_EQ(values_of(negative.x), (Values{0}));
  EXPECT_EQ(values_of(negative.y), (Values{2, 1}));
  EXPECT_EQ(negative.preparation.offsets[0].offset, "-1152921504606846977");
  const SamplePair largest = pair("18446744073709551615\n", "18446744073709551613\n", {});
  EXPECT_EQ(values_of(largest.x), (Values{2}));
  EXPECT_EQ(largest.preparation.offsets[0].offset, "18446744073709551613");
  const SamplePair doubles = pair("1152921504606846976\n1e300\n", "0.5\n36893488147419103232\n", {});
  EXPECT_TRUE(doubles.preparation.offsets.empty());
  EXPECT_EQ(values_of(doubles.x), (Values{0x1p60, 1e300}));
}

TEST_F(PrepareSamples, whole_numbers_that_cannot_be_compared_exactly_are_refused) {
  const std::string expected =
      ", which would be rounded, expected whole numbers up to 2^53, or larger ones that differ by less. To exclude it, "
      "if it is an id: drop = ";
  const auto refusal = [&](std::string_view place, std::string_view label) {
    return fmt::format("{}{}{}; otherwise write it in a larger unit", place, expected, label);
  };
  EXPECT_EQ(pair_message("9007199254740993\n0\n", "7\n", {}),
            refusal("x.csv:1: column 1 is \"9007199254740993\"", "1"));
  EXPECT_EQ(pair_message("id\n9007199254740992\n", "id\n0.5\n9007199254740993\n", {}),
            refusal("y.csv:3: column \"id\" is \"9007199254740993\"", "id"));
  EXPECT_EQ(pair_message("36893488147419103233\n", "36893488147419103232\n", {}),
            refusal("x.csv:1: column 1 is \"36893488147419103233\"", "1"));
  EXPECT_EQ(message([&] { static_cast<void>(grouped("g,v\n9007199254740993,1\n9007199254740992,2\n", "g")); }),
            refusal("x.csv:2: column \"g\" is \"9007199254740993\"", "g"));
  EXPECT_EQ(message([&] { static_cast<void>(read_sample(folder_.write("x.csv", "9007199254740993\n"))); }),
            refusal("x.csv:1: column 1 is \"9007199254740993\"", "1"));
}

TEST_F(PrepareSamples, clusters_are_distinct_beyond_2_to_the_53) {
  const SamplePair samples =
      pair("v,id\n1,9007199254740993\n2,9007199254740992\n", "v,id\n3,9007199254740994\n", {.unit_column = "id"});
  EXPECT_EQ(std::set<std::int64_t>(samples.units.begin(), samples.units.end()).size(), 3U);
  EXPECT_TRUE(samples.preparation.offsets.empty());
}

// Columns.

TEST_F(PrepareSamples, compares_the_columns_that_are_named) {
  const SamplePair samples = pair("a,b,c\n1,2,3\n", "c,a,b\n30,10,20\n", {.columns = "a,c"});
  EXPECT_EQ(values_of(samples.x), (Values{1, 3}));
  EXPECT_EQ(values_of(samples.y), (Values{10, 30}));
  EXPECT_EQ(samples.x.column_names, (Names{"a", "c"}));
  EXPECT_EQ(samples.preparation.columns_read, 3U);
  EXPECT_EQ(samples.preparation.columns_used, 2U);
}

TEST_F(PrepareSamples, leaves_out_a_column_that_only_one_file_has) {
  const SamplePair samples = pair("a,id\n1,2\n", "a\n10\n", {.drop = "id"});
  EXPECT_EQ(values_of(samples.x), (Values{1}));
  EXPECT_EQ(values_of(samples.y), (Values{10}));
}

TEST_F(PrepareSamples, positions_are_those_in_x) {
  const SamplePair samples = pair("a,b,c\n1,2,3\n", "c,b,a\n30,20,10\n", {.columns = "a..b"});
  EXPECT_EQ(values_of(samples.y), (Values{10, 20}));
}

// The item that a message about a row index advises is one that works.
TEST_F(PrepareSamples, a_row_index_is_excluded_as_the_message_says) {
  const auto advice = [](const std::string& item) {
    return " has no name, expected a name. To exclude it, if it is a row index: drop = " + item +
           "; to list the columns to compare: columns";
  };
  const std::string named = ",a,b\n0,5,6\n";
  EXPECT_EQ(pair_message(named, named, {}), "x.csv: column 1" + advice("1"));
  EXPECT_EQ(values_of(pair(named, named, {.drop = "1"}).y), (Values{5, 6}));
  EXPECT_EQ(pair_message("a,b\n5,6\n", named, {}), "y.csv: column 1" + advice("\"\""));
  EXPECT_EQ(values_of(pair("a,b\n5,6\n", named, {.drop = "\"\""}).y), (Values{5, 6}));
  EXPECT_EQ(values_of(pair(named, "a,b\n5,6\n", {.drop = "1"}).y), (Values{5, 6}));
  const std::string counted = ",0,1\n0,5,6\n";
  EXPECT_EQ(pair_message(counted, counted, {}), "x.csv: column 1" + advice("\"\""));
  EXPECT_EQ(pair_message(counted, counted, {.drop = "1"}), "x.csv: column 1" + advice("\"\""));
  EXPECT_EQ(values_of(pair(counted, counted, {.drop = "\"\""}).y), (Values{5, 6}));
  EXPECT_EQ(pair_message(",0\n0,5\n", ",0\n0,5\n", {}), "x.csv: column 1" + advice("1"));
}

TEST_F(PrepareSamples, a_header_that_is_made_data_gets_no_advice_on_missing_values) {
  const ReadOptions as_data{.csv = {.header = CsvHeader::absent}};
  EXPECT_EQ(pair_message(",0,1\n0,5,6\n", ",0,1\n0,5,6\n", as_data),
            "x.csv:1: column 1 is \"\", expected a number. The line looks like the header of a table with a row index. "
            "To read it so, remove header = no");
  EXPECT_NE(pair_message(",0,2\n0,5,6\n", ",0,2\n0,5,6\n", as_data).find("na = omit"), std::string::npos);
}

TEST_F(PrepareSamples, a_named_column_that_one_file_lacks_is_refused) {
  EXPECT_EQ(
      pair_message("a,b\n1,2\n", "a\n1\n", {.columns = "b"}),
      "x.csv and y.csv: their columns differ; only x.csv has \"b\". Rename columns, exclude these by drop, or list "
      "those to compare by columns");
  EXPECT_EQ(pair_message("a\n1\n", "a\n1\n", {.columns = "aa"}),
            "x.csv: there is no column \"aa\", listed in columns, expected one of \"a\"");
  EXPECT_EQ(pair_message("a,b\n1,2\n", "a,b\n1,2\n", {.drop = "a,b"}),
            "x.csv: none of the 2 columns is left to compare, expected at least one");
}

TEST_F(PrepareSamples, a_column_left_out_may_hold_anything) {
  const SamplePair samples = pair("a,b,c,d\n1,red,NA,inf\n", "a,b,c,d\n2,3,4,5\n", {.drop = "b..d"});
  EXPECT_EQ(values_of(samples.x), (Values{1}));
}

TEST_F(PrepareSamples, a_row_index_without_a_name_is_left_out_by_its_number) {
  const SamplePair samples = pair(",a,b\n0,1,2\n", ",b,a\n0,20,10\n", {.drop = "1"});
  EXPECT_EQ(samples.x.column_names, (Names{"a", "b"}));
  EXPECT_EQ(values_of(samples.y), (Values{10, 20}));
}

// Text.

TEST_F(PrepareSamples, text_is_refused_with_the_columns_and_what_helps) {
  EXPECT_EQ(
      pair_message("a,city,tier\n1,Paris,gold\n2,Rome,tin\n", "a,city,tier\n1,Oslo,tin\n", {}),
      "x.csv:2: column \"city\" is \"Paris\", expected a number. Columns of text: \"city\" (2 different), \"tier\" "
      "(2 different). To make a column of each text: categorical = onehot; to exclude them: categorical = drop");
  EXPECT_EQ(pair_message("a\n1\n", "a\nRome\n", {}).substr(0, 27), "y.csv:2: column \"a\" is \"Rom");
}

TEST_F(PrepareSamples, many_different_texts_are_not_suggested_for_one_hot) {
  std::string text = "id\n";
  for (int i = 0; i < 30; ++i) text += fmt::format("p{}\n", i);
  EXPECT_EQ(
      pair_message(text, "id\nq\n", {}),
      "x.csv:2: column \"id\" is \"p0\", expected a number. Columns of text: \"id\" (30 different). To turn texts into "
      "numbers: categorical = hash; to exclude them: categorical = drop");
}

TEST_F(PrepareSamples, a_text_among_numbers_is_no_category) {
  EXPECT_EQ(
      pair_message("a\n1\n2\nx\n", "a\n1\n", {}),
      "x.csv:4: column \"a\" is \"x\", expected a number. 1 of 3 cells of the column is text. To treat it as missing "
      "and omit such rows: na_values = x na = omit");
  EXPECT_EQ(
      pair_message("a\n1\n2\nx\n", "a\n1\n", {.na = NaPolicy::omit}),
      "x.csv:4: column \"a\" is \"x\", expected a number. 1 of 3 cells of the column is text. To treat it as missing: "
      "na_values = x");
}

TEST_F(PrepareSamples, one_hot_takes_the_sorted_categories_of_the_pool) {
  const SamplePair samples =
      pair("c,a\nred,1\nblue,2\n", "c,a\ngreen,3\nred,4\n", {.categorical = Categorical::onehot});
  EXPECT_EQ(samples.x.column_names, (Names{"c=blue", "c=green", "c=red", "a"}));
  EXPECT_EQ(samples.y.column_names, samples.x.column_names);
  EXPECT_EQ(values_of(samples.x), (Values{0, 0, 1, 1, 1, 0, 0, 2}));
  EXPECT_EQ(values_of(samples.y), (Values{0, 1, 0, 3, 0, 0, 1, 4}));
  ASSERT_EQ(samples.preparation.encoded.size(), 1U);
  EXPECT_EQ(samples.preparation.encoded[0].num_columns, 3U);
}

TEST_F(PrepareSamples, a_number_in_a_column_of_text_is_a_category) {
  const SamplePair samples = pair("c\nred\n1.50\n", "c\n1.50\n1.5\n", {.categorical = Categorical::onehot});
  EXPECT_EQ(samples.x.column_names, (Names{"c=1.5", "c=1.50", "c=red"}));
  EXPECT_EQ(values_of(samples.x), (Values{0, 0, 1, 0, 1, 0}));
  EXPECT_EQ(values_of(samples.y), (Values{0, 1, 0, 1, 0, 0}));
}

// FNV-1a of "a" is 0xaf63dc4c8601ec8c, of "b" 0xaf63df4c8601f1a5 (published test vectors of the hash).
TEST_F(PrepareSamples, hashed_texts_go_to_the_column_of_their_hash) {
  const SamplePair samples = pair("c\na\nb\n", "c\nb\nb\n", {.categorical = Categorical::hash});
  ASSERT_EQ(samples.x.points.cols(), kHashedColumns);
  EXPECT_EQ(samples.x.points(0, 0xc), 1.0);
  EXPECT_EQ(samples.x.points(1, 0x25), 1.0);
  EXPECT_EQ(samples.y.points(0, 0x25), 1.0);
  EXPECT_EQ(std::ranges::count(samples.x.points.values(), 1.0), 2);
  EXPECT_EQ(samples.x.column_names.front(), "c#1");
  EXPECT_EQ(samples.x.column_names.back(), "c#64");
}

// The texts beyond the dictionary are known by their hashes only, and go where they would have gone.
TEST_F(PrepareSamples, hashing_takes_more_texts_than_are_kept) {
  std::string many = "c\n";
  for (std::size_t i = 0; i < TextDictionary::kMostTexts + 1; ++i) many += fmt::format("t{}\n", i);
  const std::string last = fmt::format("c\nt{}\n", TextDictionary::kMostTexts);
  const SamplePair samples = pair(many, last, {.categorical = Categorical::hash});
  const std::size_t n = samples.x.points.rows();
  EXPECT_TRUE(std::ranges::equal(samples.x.points.row(n - 1), samples.y.points.row(0)));
  EXPECT_EQ(pair_message(many, last, {.categorical = Categorical::onehot}),
            "x.csv: column \"c\" has more than 1000 different texts, expected fewer with categorical = onehot. To "
            "turn texts into numbers: categorical = hash; to exclude the column: drop = c");
}

TEST_F(PrepareSamples, text_may_be_dropped) {
  const SamplePair samples = pair("c,a\nred,1\n", "c,a\n7,3\n", {.categorical = Categorical::drop});
  EXPECT_EQ(samples.x.column_names, (Names{"a"}));
  EXPECT_EQ(values_of(samples.y), (Values{3}));
  EXPECT_EQ(samples.preparation.dropped_texts, (Names{"c"}));
  EXPECT_EQ(
      pair_message("c\nred\n", "c\nblue\n", {.categorical = Categorical::drop}),
      "x.csv: all columns hold text, so categorical = drop leaves none. To turn texts into numbers: categorical = "
      "onehot or categorical = hash");
}

// Dates.

TEST_F(PrepareSamples, note_dates_that_are_treated_as_text) {
  const std::string dated = "d,e,a\n2024-01-01,2024,1\nNA,x,2\n2024-01-02,y,3\n";
  for (const Categorical categorical : {Categorical::onehot, Categorical::hash}) {
    const SamplePair samples = pair(dated, dated, {.categorical = categorical, .na = NaPolicy::omit});
    ASSERT_EQ(test::ids(samples.notes), std::vector{WarningId::dates_as_text});
    EXPECT_EQ(samples.notes[0].values[1], WarningValue("\"d\""));
  }
  const ReadOptions dates{.categorical = Categorical::onehot, .dates = true, .na = NaPolicy::omit};
  EXPECT_EQ(pair(dated, dated, dates).notes, Warnings{});
  const ReadOptions onehot{.categorical = Categorical::onehot};
  EXPECT_EQ(pair("d\n2024-01-01\n", "d\nsoon\n", onehot).notes, Warnings{});
  EXPECT_EQ(pair("d\n2024-01-01\n7\n", "d\n2024-01-01\n", onehot).notes, Warnings{});
  std::string minutes = "d\n";
  for (int i = 0; i < 1440; ++i) minutes += fmt::format("2024-01-01T{:02}:{:02}\n", i / 60, i % 60);
  EXPECT_EQ(pair_message(minutes, minutes, onehot),
            "x.csv: column \"d\" has more than 1000 different texts, expected fewer with categorical = onehot. To read "
            "dates as numbers: dates = yes. To turn texts into numbers: categorical = hash; to exclude the column: "
            "drop = d");
}

TEST_F(PrepareSamples, dates_are_days_on_request) {
  const SamplePair samples =
      pair("d\n1970-01-02\n1970-01-03T12:00\n", "d\n1969-12-31\nNA\n", {.dates = true, .na = NaPolicy::omit});
  EXPECT_EQ(values_of(samples.x), (Values{1, 2.5}));
  EXPECT_EQ(values_of(samples.y), (Values{-1}));
  EXPECT_EQ(samples.preparation.dates, (Names{"d"}));
}

TEST_F(PrepareSamples, dates_are_suggested_and_not_mixed_with_numbers) {
  EXPECT_EQ(pair_message("d\n2024-01-01\n2024-01-02\n", "d\n2024-01-01\n", {}),
            "x.csv:2: column \"d\" is \"2024-01-01\", expected a number. Columns of text: \"d\" (2 different). To read "
            "dates as numbers: dates = yes; to exclude columns: drop");
  EXPECT_EQ(pair_message("d\n2024-01-01\n2024\n", "d\n2024-01-01\n", {.dates = true}),
            "x.csv:2: column \"d\" is \"2024-01-01\", a date, and 1 other cell of the column is a number, expected all "
            "dates or none. To keep dates as text, remove dates = yes");
  EXPECT_EQ(
      pair_message("d\n1\n2\n", "d\n2024-01-01\n", {.dates = true}),
      "y.csv:2: column \"d\" is \"2024-01-01\", a date, and 2 other cells of the column are each a number, expected "
      "all dates or none. To keep dates as text, remove dates = yes");
}

// Missing values.

TEST_F(PrepareSamples, rows_with_missing_values_are_left_out_and_counted) {
  const SamplePair samples = pair("a,b\n1,2\nNA,3\n4,?\n,\n", "a,b\n5,6\n7,null\n", {.na = NaPolicy::omit});
  EXPECT_EQ(values_of(samples.x), (Values{1, 2}));
  EXPECT_EQ(values_of(samples.y), (Values{5, 6}));
  EXPECT_EQ(samples.preparation.x.read, 4U);
  EXPECT_EQ(samples.preparation.x.omitted, 3U);
  EXPECT_EQ(samples.preparation.x.missing_cells, 4U);
  EXPECT_EQ(samples.preparation.y.omitted, 1U);
}

TEST_F(PrepareSamples, a_missing_value_in_a_column_left_out_costs_no_row) {
  EXPECT_EQ(pair("a,b\n1,NA\n", "a,b\n2,3\n", {.drop = "b", .na = NaPolicy::omit}).x.points.rows(), 1U);
}

TEST_F(PrepareSamples, medians_are_those_of_both_samples) {
  // a: 1, 10, 2, 3 have the median 2.5; b: 5, 6, 7 have 6.
  const SamplePair samples = pair("a,b\n1,5\nNA,6\n10,NA\n", "a,b\n2,7\n3,NA\n", {.na = NaPolicy::impute_median});
  EXPECT_EQ(values_of(samples.x), (Values{1, 5, 2.5, 6, 10, 6}));
  EXPECT_EQ(values_of(samples.y), (Values{2, 7, 3, 6}));
  EXPECT_EQ(samples.preparation.x.missing_cells, 2U);
  EXPECT_EQ(samples.preparation.y.missing_cells, 1U);
}

TEST_F(PrepareSamples, what_is_imputed_does_not_depend_on_which_sample_is_which) {
  const std::string one = "a\n1\nNA\n10\n";
  const std::string other = "a\n2\n3\nNA\n";
  const ReadOptions options{.na = NaPolicy::impute_median, .standardize = Standardize::iqr};
  const SamplePair forth = pair(one, other, options);
  const SamplePair back = pair(other, one, options);
  EXPECT_EQ(values_of(forth.x), values_of(back.y));
  EXPECT_EQ(values_of(forth.y), values_of(back.x));
}

TEST_F(PrepareSamples, a_median_of_nothing_and_rows_of_nothing_are_refused) {
  EXPECT_EQ(pair_message("a,b\n1,NA\n", "a,b\n2,NA\n", {.na = NaPolicy::impute_median}),
            "x.csv: column \"b\" has no value to take a median of. To exclude it: drop");
  EXPECT_EQ(pair_message("a,b\n1,2\n", "a,b\n2,NA\n3,NA\n", {.na = NaPolicy::omit}),
            "y.csv: all 2 rows have missing values, so na = omit leaves none. To exclude columns: drop");
}

TEST_F(PrepareSamples, further_values_may_mean_missing) {
  const SamplePair samples = pair("a,b\n1,2\n-999,3\n4,x\n5,-999.0\n", "a,b\n-999,1\n1,1\n",
                                  {.na = NaPolicy::omit, .na_values = {"-999", "x"}});
  EXPECT_EQ(values_of(samples.x), (Values{1, 2}));
  EXPECT_EQ(values_of(samples.y), (Values{1, 1}));
  EXPECT_EQ(pair_message("a\n1\n2\n-999\n", "a\n1\n", {.na_values = {"-999"}}).substr(0, 55),
            "x.csv:4: column \"a\" is \"-999\", expected a number. 1 val");
}

TEST_F(PrepareSamples, further_missing_values_are_read_as_cells_are) {
  const auto kept = [&](std::string_view text, const std::string& value, bool decimal_comma = false) {
    ReadOptions options{.na = NaPolicy::omit, .na_values = {"x", value}};
    options.csv.decimal_comma = decimal_comma;
    return values_of(pair(text, "a\n1\n", options).x);
  };
  EXPECT_EQ(kept("a\n1\n2\n-999\n", " -999 "), (Values{1, 2}));
  EXPECT_EQ(kept("a\n1\n999\n", "+999"), (Values{1}));
  EXPECT_EQ(kept("a\n1,5\n-999,9\n", "-999,9", true), (Values{1.5}));
}

// Day 9999 is 1997-05-18: once it was counted as a date and as missing.
TEST_F(PrepareSamples, a_number_that_means_missing_is_no_date) {
  const SamplePair samples = pair("d\n2020-01-01\n1997-05-18\n9999\n", "d\n2020-01-01\n",
                                  {.dates = true, .na = NaPolicy::omit, .na_values = {"9999"}});
  EXPECT_EQ(values_of(samples.x), (Values{18262, 9999}));
}

TEST_F(PrepareSamples, a_column_of_long_texts_leaves_room_for_the_others) {
  std::string text = "note,label,v\n";
  for (int row = 0; row < 60'000; ++row) {
    text += fmt::format("{:01200},{},{}\n", row, row < 50'000 ? "a" : "b", row % 7);
  }
  const SamplePair samples = grouped(text, "label", {.drop = "note"});
  EXPECT_EQ(samples.x.points.rows(), 50'000U);
  EXPECT_EQ(samples.y.points.rows(), 10'000U);
}

TEST_F(PrepareSamples, no_complete_pair_is_no_fault_of_one_file) {
  EXPECT_EQ(pair_message("a\n1\n2\n", "a\nNA\nNA\n", {.na = NaPolicy::omit, .paired = true}),
            "x.csv and y.csv: each of the 2 pairs has a missing value, so na = omit leaves none. To exclude columns: "
            "drop");
}

TEST_F(PrepareSamples, infinite_values_are_never_missing_ones) {
  for (const NaPolicy na : {NaPolicy::omit, NaPolicy::impute_median}) {
    EXPECT_EQ(pair_message("a\n1\ninf\n", "a\n1\n", {.na = na}),
              "x.csv:3: column \"a\" is \"inf\", expected a finite number");
  }
}

TEST_F(PrepareSamples, a_missing_text_is_filled_in_like_its_columns) {
  const SamplePair samples =
      pair("c\nred\nred\nNA\n", "c\nblue\nred\n", {.categorical = Categorical::onehot, .na = NaPolicy::impute_median});
  EXPECT_EQ(values_of(samples.x), (Values{0, 1, 0, 1, 0, 1}));
}

TEST_F(PrepareSamples, a_missing_weight_is_never_made_up) {
  const ReadOptions impute{.weights_column = "w", .na = NaPolicy::impute_median};
  EXPECT_EQ(pair_message("a,w\n1,NA\n", "a,w\n1,1\n", impute),
            "x.csv:2: column \"w\" is \"NA\", expected a number. To omit such rows: na = omit");
  const ReadOptions omit{.weights_column = "w", .na = NaPolicy::omit};
  const SamplePair samples = pair("a,w\n1,NA\n2,3\n", "a,w\n1,1\n", omit);
  EXPECT_EQ(values_of(samples.x), (Values{2}));
  EXPECT_EQ(samples.x.weights, (Values{3}));
}

// Scales.

TEST_F(PrepareSamples, zscore_takes_mean_and_deviation_of_the_pool) {
  // 1, 2, 3, 4, 5: mean 3, variance 2.5.
  const SamplePair samples = pair("a,b\n1,7\n2,7\n3,7\n", "a,b\n4,7\n5,7\n", {.standardize = Standardize::zscore});
  const double sd = std::sqrt(2.5);
  EXPECT_DOUBLE_EQ(samples.x.points(0, 0), -2 / sd);
  EXPECT_DOUBLE_EQ(samples.y.points(1, 0), 2 / sd);
  EXPECT_EQ(samples.x.points(0, 1), 0.0) << "a constant column";
}

TEST_F(PrepareSamples, iqr_takes_median_and_quartiles_of_the_pool) {
  // 1, 2, 3, 4, 100: median 3, quartiles 2 and 4.
  const SamplePair samples = pair("a\n1\n2\n3\n", "a\n4\n100\n", {.standardize = Standardize::iqr});
  EXPECT_EQ(values_of(samples.x), (Values{-1, -0.5, 0}));
  EXPECT_EQ(values_of(samples.y), (Values{0.5, 48.5}));
}

TEST_F(PrepareSamples, the_values_before_standardisation_follow_from_the_units_of_a_column) {
  const std::string x = "a,b,c\n0.1,7,-1e300\n1234567.891,7,2.5e299\n-3,7,1e285\n";
  const std::string y = "a,b,c\n2e-9,7,17\n20454.25,7,-5e298\n";
  const SamplePair given = pair(x, y, {.standardize = Standardize::none});
  EXPECT_TRUE(given.preparation.units.empty());
  for (const Standardize how : {Standardize::zscore, Standardize::iqr}) {
    const SamplePair scaled = pair(x, y, {.standardize = how});
    const std::vector<ColumnUnits>& units = scaled.preparation.units;
    ASSERT_EQ(units.size(), 3U);
    // The first two columns have short decimals that survive, but for 2e-9 next to a million, which differs in its last
    // digits; so do the small values next to 1e300.
    for (const auto& [from, to] : {std::pair{&given.x, &scaled.x}, {&given.y, &scaled.y}}) {
      for (std::size_t i = 0; i < from->points.rows(); ++i) {
        for (std::size_t c = 0; c < 3; ++c) {
          const double value = from->points(i, c);
          const double undone = units[c].original(to->points(i, c));
          EXPECT_DOUBLE_EQ(units[c].standardised(undone), to->points(i, c));
          // Two roundings of a deviation and one of its centre, whose sizes are at most the largest value.
          const double largest = c == 0 ? 1234567.891 : c == 1 ? 7.0 : 1e300;
          EXPECT_NEAR(undone, value, 8.0 * std::numeric_limits<double>::epsilon() * largest);
          if (c == 1 || (c == 0 && std::abs(value) > 0.5)) {
            EXPECT_EQ(undone, value);
          }
        }
      }
    }
  }
}

// Exactness of a test of prepared data: deal the same rows out to X and Y in another way, and every row becomes the
// same numbers, bit for bit.
TEST_F(PrepareSamples, a_row_becomes_the_same_numbers_whichever_sample_it_is_in) {
  std::mt19937_64 draw(5);
  std::vector<std::string> rows;
  for (int i = 0; i < 60; ++i) {
    const double value = std::normal_distribution<double>()(draw);
    rows.push_back(fmt::format("{},{},{}\n", draw() % 5 == 0 ? "NA" : fmt::format("{}", value),
                               fmt::format("{}", std::exp(3.0 * value)), std::string(1, "stuvw"[draw() % 5])));
  }
  const auto prepared = [&](const ReadOptions& options) {
    std::ranges::shuffle(rows, draw);
    std::string x = "a,b,c\n";
    std::string y = x;
    for (std::size_t i = 0; i < rows.size(); ++i) (i < 25 ? x : y) += rows[i];
    const SamplePair samples = pair(x, y, options);
    std::vector<Values> found;
    for (const Sample* sample : {&samples.x, &samples.y}) {
      for (std::size_t i = 0; i < sample->points.rows(); ++i) {
        found.emplace_back(sample->points.row(i).begin(), sample->points.row(i).end());
      }
    }
    std::ranges::sort(found);
    return found;
  };
  for (const Categorical categorical : {Categorical::onehot, Categorical::hash, Categorical::drop}) {
    for (const NaPolicy na : {NaPolicy::omit, NaPolicy::impute_median}) {
      for (const Standardize scale : {Standardize::none, Standardize::zscore, Standardize::iqr}) {
        const ReadOptions options{.categorical = categorical, .na = na, .standardize = scale};
        const std::vector<Values> once = prepared(options);
        for (int turn = 0; turn < 5; ++turn) EXPECT_EQ(prepared(options), once);
      }
    }
  }
}

TEST_F(PrepareSamples, scales_of_huge_numbers_do_not_overflow) {
  for (const Standardize kind : {Standardize::zscore, Standardize::iqr}) {
    const SamplePair samples = pair("a\n1.7e308\n-1.7e308\n", "a\n1.6e308\n-1.6e308\n", {.standardize = kind});
    for (const double value : values_of(samples.x)) EXPECT_LT(std::abs(value), 2.0);
  }
}

TEST_F(PrepareSamples, a_column_that_is_mostly_one_value_is_scaled_by_something_else) {
  const SamplePair samples = pair("a\n1\n1\n1\n", "a\n1\n1\n9\n", {.standardize = Standardize::iqr});
  EXPECT_TRUE(std::isfinite(samples.y.points(2, 0)));
  EXPECT_GT(samples.y.points(2, 0), 0.0);
  EXPECT_EQ(samples.notes, test::only(WarningId::zero_interquartile_range, "\"a\""));
}

// Groups.

TEST_F(PrepareSamples, a_column_with_two_values_splits_the_samples) {
  const SamplePair samples = grouped("arm,a,b\nnew,1,2\nold,3,4\nnew,5,6\n", "arm");
  EXPECT_EQ(values_of(samples.x), (Values{1, 2, 5, 6}));
  EXPECT_EQ(values_of(samples.y), (Values{3, 4}));
  EXPECT_EQ(samples.x.column_names, (Names{"a", "b"}));
  EXPECT_EQ(samples.preparation.group_x, "new");
  EXPECT_EQ(samples.preparation.group_y, "old");
}

TEST_F(PrepareSamples, numbers_tell_the_samples_apart_as_well) {
  const SamplePair samples = grouped("1,0\n2,1\n3,0\n", "2");
  EXPECT_EQ(values_of(samples.x), (Values{1, 3}));
  EXPECT_EQ(samples.preparation.group_x, "0");
}

TEST_F(PrepareSamples, any_other_number_of_groups_is_refused_with_the_values) {
  const auto refusal = [&](std::string_view text) { return message([&] { static_cast<void>(grouped(text, "g")); }); };
  EXPECT_EQ(refusal("g,a\nu,1\nu,2\n"),
            "x.csv: column \"g\" has 1 different value (\"u\"), expected two, one for each sample");
  EXPECT_EQ(refusal("g,a\nu,1\n2,2\nw,3\n"),
            "x.csv: column \"g\" has 3 different values (\"u\", \"2\", \"w\"), expected two, one for each sample"
            ". To compare two of them, give two files, or two queries such as \"sql:SELECT ... WHERE ...\"");
  std::string many = "g,a\n";
  for (int i = 0; i < 20; ++i) many += fmt::format("{},1\n", i);
  EXPECT_EQ(
      refusal(many),
      "x.csv: column \"g\" has more than 8 different values (\"0\", \"1\", \"2\", \"3\", \"4\", \"5\", \"6\", \"7\", "
      "...), expected two, one for each sample. To compare two of them, give two files, or two queries such as "
      "\"sql:SELECT ... WHERE ...\"");
  EXPECT_EQ(refusal("h,a\nu,1\n"),
            "x.csv: there is no column \"g\" to split the samples by, expected one of \"h\", \"a\"");
}

TEST_F(PrepareSamples, rows_without_a_group_are_refused_or_left_out) {
  const std::string_view text = "g,a\nu,1\n,2\nv,3\n";
  EXPECT_EQ(message([&] { static_cast<void>(grouped(text, "g")); }),
            "x.csv:3: column \"g\" is \"\", expected a number or a text. To omit such rows: na = omit");
  const SamplePair samples = grouped(text, "g", {.na = NaPolicy::omit});
  EXPECT_EQ(samples.x.points.rows() + samples.y.points.rows(), 2U);
  EXPECT_EQ(samples.preparation.ungrouped, 1U);
}

TEST_F(PrepareSamples, groups_go_with_weights_text_and_medians) {
  const SamplePair samples =
      grouped("w,c,g,a\n1,red,u,1\n2,blue,v,NA\n0,red,v,100\n3,red,u,3\n", "g",
              {.weights_column = "w", .categorical = Categorical::onehot, .na = NaPolicy::impute_median});
  EXPECT_EQ(samples.x.column_names, (Names{"c=blue", "c=red", "a"}));
  EXPECT_EQ(values_of(samples.x), (Values{0, 1, 1, 0, 1, 3}));
  EXPECT_EQ(values_of(samples.y), (Values{1, 0, 2, 0, 1, 100})) << "a row of weight 0 has no say in the median";
  EXPECT_EQ(samples.y.weights, (Values{2, 0}));
}

// Blocks and clusters.

TEST_F(PrepareSamples, blocks_may_be_numbers_or_texts) {
  const SamplePair whole = pair("a,s\n1,7\n2,9\n", "s,a\n9,3\n", {.unit_column = "s"});
  EXPECT_EQ(whole.units, (std::vector<std::int64_t>{7, 9, 9}));
  EXPECT_EQ(values_of(whole.y), (Values{3}));
  const SamplePair texts = pair("a,s\n1,north\n2,1.5\n", "s,a\n1.50,3\nnorth,4\n1.5,4\n", {.unit_column = "s"});
  EXPECT_EQ(texts.units, (std::vector<std::int64_t>{0, 1, 2, 0, 1}));
  EXPECT_EQ(texts.unit_names, (Names{"\"north\"", "\"1.5\"", "\"1.50\""}));
}

// Subsamples.

std::string counting(int from, int to) {
  std::string text = "a\n";
  for (int i = from; i < to; ++i) text += fmt::format("{}\n", i);
  return text;
}

TEST_F(PrepareSamples, a_subsample_keeps_order_and_follows_the_seed) {
  const ReadOptions options{.max_rows = 20, .seed = {3}};
  const SamplePair samples = pair(counting(0, 100), counting(0, 10), options);
  const Values kept = values_of(samples.x);
  ASSERT_EQ(kept.size(), 20U);
  EXPECT_TRUE(std::ranges::is_sorted(kept));
  EXPECT_EQ(std::set<double>(kept.begin(), kept.end()).size(), 20U);
  EXPECT_EQ(samples.y.points.rows(), 10U) << "a small sample stays whole";
  EXPECT_EQ(samples.preparation.x.not_drawn, 80U);
  EXPECT_EQ(values_of(pair(counting(0, 100), counting(0, 10), options).x), kept);
  EXPECT_NE(values_of(pair(counting(0, 100), counting(0, 10), {.max_rows = 20, .seed = {4}}).x), kept);
}

// Each of 50 rows is kept by 10 of 50 in each of 2000 draws: Binomial(2000, 0.2), outside [300, 500] (5.6 standard
// deviations) for any of the rows with probability below 1e-5.
TEST_F(PrepareSamples, every_row_is_as_likely_to_be_drawn) {
  const std::string x = folder_.write("x.csv", counting(0, 50));
  std::vector<int> drawn(50, 0);
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    for (const double row : values_of(read_sample(x, {.max_rows = 10, .seed = {seed}}))) {
      ++drawn[static_cast<std::size_t>(row)];
    }
  }
  const auto [least, most] = std::ranges::minmax(drawn);
  EXPECT_GE(least, 300);
  EXPECT_LE(most, 500);
}

TEST_F(PrepareSamples, pairs_stay_and_leave_together) {
  const SamplePair drawn = pair(counting(0, 100), counting(1000, 1100), {.max_rows = 20, .paired = true});
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(drawn.y.points(i, 0) - drawn.x.points(i, 0), 1000.0);
  const SamplePair omitted = pair("a\n1\nNA\n3\n4\n", "a\n5\n6\nNA\n8\n", {.na = NaPolicy::omit, .paired = true});
  EXPECT_EQ(values_of(omitted.x), (Values{1, 4}));
  EXPECT_EQ(values_of(omitted.y), (Values{5, 8}));
  EXPECT_EQ(pair_message("a\n1\n2\n", "a\n1\n", {.paired = true}),
            "paired design: X has 2 rows and Y has 1, expected equal numbers");
}

// The report.

TEST_F(PrepareSamples, changes_are_described_in_sentences) {
  EXPECT_TRUE(describe(pair("a\n1\n", "a\n2\n", {}).preparation).empty());
  const SamplePair samples = pair("a,c,d,z\n1,red,2024-01-01,1\nNA,blue,2024-01-02,2\n3,red,2024-01-03,3\n",
                                  "a,c,d,z\n1,red,2024-01-01,1\n2,red,2024-01-02,2\n",
                                  {.drop = "z",
                                   .categorical = Categorical::onehot,
                                   .dates = true,
                                   .na = NaPolicy::omit,
                                   .standardize = Standardize::zscore,
                                   .max_rows = 1,
                                   .seed = {7}});
  EXPECT_EQ(
      describe(samples.preparation),
      (Names{"columns: a integer (1 and 0 missing), c category of 1, d date (to change a type: types; missing values: "
             "na)",
             "3 of 4 columns compared", "1 row of X and 0 of Y omitted for missing values",
             "random subsample by seed 7: 1 of 2 rows of X, 1 of 2 rows of Y",
             "columns centred and scaled by the pooled mean and standard deviation (zscore)"}));
}

}  // namespace
}  // namespace kqd
