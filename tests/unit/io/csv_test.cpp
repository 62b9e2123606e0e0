#include "io/csv.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/csv_sniff.hpp"
#include "kqd/core/error.hpp"
#include "support/scratch_folder.hpp"
#include "support/warnings.hpp"

namespace kqd {
namespace {

using Names = std::vector<std::string>;
using Values = std::vector<double>;

struct Content {
  Names names;
  std::size_t cols = 0;
  Values values;
  Warnings notes;
};

Content read(std::string_view text, const CsvFormat& format = {}, const CsvLimits& limits = {}) {
  MemorySource source("x.csv", text);
  Table table = read_csv(source, format, {}, limits);
  Content content{{}, table.cells.cols(), {}, table.notes};
  for (const Column& column : table.columns) {
    if (table.has_names) content.names.push_back(column.name);
  }
  table.cells.drain([&](std::size_t, MatrixView<const double> block) {
    content.values.insert(content.values.end(), block.data(), block.data() + block.rows() * block.cols());
  });
  return content;
}

Column column_of(std::string_view text, std::size_t column, const TextRules& rules = {}) {
  MemorySource source("x.csv", text);
  return std::move(read_csv(source, {}, rules).columns[column]);
}

TEST(ReadCsv, takes_a_first_row_of_text_as_names) {
  const Content content = read("a,b\n1,2\n3,4\n");
  EXPECT_EQ(content.names, (Names{"a", "b"}));
  EXPECT_EQ(content.values, (Values{1, 2, 3, 4}));
  EXPECT_TRUE(content.notes.empty());
}

TEST(ReadCsv, takes_a_first_row_of_numbers_as_data) {
  const Content content = read("1,2\n3,4\n");
  EXPECT_TRUE(content.names.empty());
  EXPECT_EQ(content.values, (Values{1, 2, 3, 4}));
}

TEST(ReadCsv, reads_a_single_column) {
  EXPECT_EQ(read("5\n").values, (Values{5}));
  EXPECT_EQ(read("height\n5\n6").names, (Names{"height"}));
}

TEST(ReadCsv, does_not_need_a_line_end_at_the_end) {
  EXPECT_EQ(read("1,2\n3,4").values, (Values{1, 2, 3, 4}));
}

TEST(ReadCsv, finds_each_delimiter) {
  for (const char* delimiter : {",", ";", "\t", "|"}) {
    const Content content = read(fmt::format("a{0}b\n1{0}2\n", delimiter));
    EXPECT_EQ(content.names, (Names{"a", "b"})) << delimiter;
    EXPECT_EQ(content.values, (Values{1, 2})) << delimiter;
  }
}

TEST(ReadCsv, understands_every_line_end) {
  for (const char* end : {"\n", "\r\n", "\r"}) {
    EXPECT_EQ(read(fmt::format("a,b{0}1,2{0}{0}3,4{0}", end)).values, (Values{1, 2, 3, 4}));
  }
}

TEST(ReadCsv, skips_the_byte_order_mark) {
  EXPECT_EQ(read("\xef\xbb\xbfid,b\n1,2\n").names, (Names{"id", "b"}));
  EXPECT_EQ(read("\xef\xbb\xbf"
                 "1,2\n")
                .values,
            (Values{1, 2}));
}

TEST(ReadCsv, skips_blank_lines_and_comments) {
  const Content content = read("# made on a Monday, by hand\n\n  \na,b\n  # half way; \"\n1,2\n\n3,4\n   \n#end");
  EXPECT_EQ(content.names, (Names{"a", "b"}));
  EXPECT_EQ(content.values, (Values{1, 2, 3, 4}));
}

TEST(ReadCsv, a_blank_line_between_values_of_one_column_is_a_missing_value) {
  const auto values = [](std::string_view text, const CsvFormat& format = {}, const CsvLimits& limits = {}) {
    std::vector<std::string> cells;
    for (const double value : read(text, format, limits).values)
      cells.push_back(std::isnan(value) ? "-" : fmt::format("{}", value));
    return cells;
  };
  using Cells = std::vector<std::string>;
  EXPECT_EQ(values("1\n\n2\n"), (Cells{"1", "-", "2"}));
  EXPECT_EQ(values("\n\n1\n \n\t\n# no row\n\n2\n\n\n"), (Cells{"1", "-", "-", "-", "2"}));
  EXPECT_EQ(values("a\r\n\r\n1\r\n2\r\n\r\n"), (Cells{"-", "1", "2"}));
  EXPECT_EQ(values("1\n\n2", {}, {.buffer_bytes = 8}), (Cells{"1", "-", "2"}));
  EXPECT_EQ(values("1,2\n\n3,4\n"), (Cells{"1", "2", "3", "4"}));
}

TEST(ReadCsv, trims_blanks_and_accepts_a_plus) {
  const Content content = read("  a , b\n\t+1 ,  -2.5\t\n");
  EXPECT_EQ(content.names, (Names{"a", "b"}));
  EXPECT_EQ(content.values, (Values{1, -2.5}));
}

TEST(ReadCsv, takes_quotes_off_names_and_numbers) {
  const Content content = read("\"a, with comma\",\"b \"\"quoted\"\"\",\" c \"\n\"1\", \"2.5\" ,3\n");
  EXPECT_EQ(content.names, (Names{"a, with comma", "b \"quoted\"", "c"}));
  EXPECT_EQ(content.values, (Values{1, 2.5, 3}));
}

TEST(ReadCsv, counts_lines_within_quotes) {
  EXPECT_EQ(read("\"a\nb\",\"c\r\nd\"\n1,2\n").names, (Names{"a\nb", "c\r\nd"}));
  const Column second = column_of("\"a\nb\",\"c\r\nd\"\n1,2\n3,x\n", 1);
  EXPECT_EQ((*second.texts)[0].line, 5U);
}

TEST(ReadCsv, a_text_that_is_not_wholly_quoted_is_kept_as_written) {
  EXPECT_EQ(read("\"a\"b,c\"d\n1,2\n").names, (Names{"\"a\"b", "c\"d"}));
}

TEST(ReadCsv, distinguishes_failed_formulas_from_comments) {
  EXPECT_EQ(column_of("a,b\n#N/A,1\n", 0).first_missing.text, "#N/A");
  EXPECT_EQ(column_of("a,b\n#DIV/0!,1\n", 0).first_missing.text, "#DIV/0!");
  EXPECT_EQ(read("a,b\n#Note\n1,2\n").values, (Values{1, 2}));
}

TEST(ReadCsv, a_missing_value_does_not_make_a_header) {
  const Column second = column_of("1,NA\n2,3\n", 1);
  EXPECT_EQ(second.name, "");
  EXPECT_EQ(second.first_missing.line, 1U);
}

TEST(ReadCsv, a_row_of_empty_cells_between_tabs_is_not_a_blank_line) {
  const Column first = column_of("a\tb\n1\t2\n\t\n", 0);
  EXPECT_EQ(first.num_missing, 1U);
  EXPECT_EQ(first.first_missing.line, 3U);
}

TEST(ReadCsv, codes_what_is_no_number_and_keeps_the_books) {
  const Content content = read("a,b,c\n1,red,2\nNA,blue,-inf\n3,red,\n7,5,1e400\n");
  const auto cell = [&](std::size_t row, std::size_t column) { return content.values[row * 3 + column]; };
  EXPECT_TRUE(is_missing(cell(1, 0)));
  EXPECT_TRUE(is_missing(cell(2, 2)));
  EXPECT_EQ(text_payload(cell(0, 1)), 0U);
  EXPECT_EQ(text_payload(cell(1, 1)), 1U);
  EXPECT_EQ(text_payload(cell(2, 1)), 0U);
  EXPECT_TRUE(is_dictionary_text(cell(0, 1)));
  EXPECT_EQ(cell(3, 1), 5.0) << "a number in a column of text stays one";
  EXPECT_EQ(cell(1, 2), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(cell(3, 2), std::numeric_limits<double>::infinity());

  const std::string_view text = "a,b,c\n1,red,2\nNA,blue,-inf\n3,red,\n7,5,1e400\n";
  const Column b = column_of(text, 1);
  ASSERT_EQ(b.texts->size(), 2U);
  EXPECT_EQ((*b.texts)[1].text, "blue");
  EXPECT_EQ((*b.texts)[1].line, 3U);
  const Column c = column_of(text, 2);
  EXPECT_EQ(c.first_infinite.line, 3U);
  EXPECT_EQ(c.first_infinite.text, "-inf");
  EXPECT_EQ(c.num_missing, 1U);
  EXPECT_FALSE(c.has_text());
}

TEST(ReadCsv, takes_further_spellings_of_missing_and_dates_on_request) {
  const TextRules rules{.missing = {"unknown"}, .dates = true};
  const Column a = column_of("a\nunknown\n1970-01-03\n", 0, rules);
  EXPECT_EQ(a.num_missing, 1U);
  EXPECT_EQ(a.num_dates, 1U);
  EXPECT_EQ(a.first_date.text, "1970-01-03");
  EXPECT_FALSE(a.has_text());
  EXPECT_EQ(column_of("2024-05-01,3\n2024-05-02,4\n", 0, rules).num_dates, 2U) << "dates make no header";
  EXPECT_EQ(column_of("a\nunknown\n1970-01-03\n", 0).texts->size(), 2U);
}

// A text that does not fit into the dictionary is kept as a hash, and memory stays bounded.
TEST(ReadCsv, keeps_hashes_of_texts_beyond_the_bound) {
  std::string text = "id\n";
  for (std::size_t i = 0; i < TextDictionary::kMostTexts + 2; ++i) text += fmt::format("p{}\n", i);
  MemorySource source("x.csv", text);
  Table table = read_csv(source);
  EXPECT_TRUE(table.columns[0].texts->overfull());
  EXPECT_EQ(table.columns[0].texts->size(), TextDictionary::kMostTexts);
  std::vector<double> cells;
  table.cells.drain([&](std::size_t, MatrixView<const double> block) {
    cells.insert(cells.end(), block.data(), block.data() + block.rows());
  });
  EXPECT_TRUE(is_dictionary_text(cells[TextDictionary::kMostTexts - 1]));
  EXPECT_TRUE(is_hashed_text(cells.back()));
  EXPECT_NE(text_payload(cells.back()), text_payload(cells[TextDictionary::kMostTexts]));
}

TEST(ReadCsv, notes_a_header_that_may_be_data) {
  EXPECT_EQ(read("country,2019,2020\n1,2,3\n").notes, test::only(WarningId::numbers_in_header, "x.csv", 1, 2, 3));
  EXPECT_TRUE(read("0,1,2,3\n5,6,7,8\n").notes.empty());
}

// As pandas writes a table whose columns have no names.
TEST(ReadCsv, takes_an_empty_cell_before_0_1_2_for_the_header_of_a_table_with_an_index) {
  for (const char* text : {",0\n0,5\n", ",0,1,2\n0,5,6,7\n", "\"\",\"0\",\"1\"\n0,5,6\n", ";0;1\n0;5;6\n"}) {
    const Content content = read(text);
    ASSERT_GE(content.names.size(), 2U) << text;
    EXPECT_EQ(content.names[0], "") << text;
    EXPECT_EQ(content.names[1], "0") << text;
    EXPECT_EQ(content.values.size(), content.names.size()) << text;
  }
  for (const char* text : {",1,2\n3,5,6\n", ",0,2\n3,5,6\n", "NA,0,1\n3,5,6\n", "0,,1\n3,5,6\n", ",\n3,5\n"}) {
    EXPECT_TRUE(read(text).names.empty()) << text;
  }
  EXPECT_TRUE(read(",0,1\n0,5,6\n", {.header = CsvHeader::absent}).names.empty());
}

// Whatever the size of the buffer, and so wherever it happens to end, the content is the same.
TEST(ReadCsv, does_not_depend_on_where_the_buffer_ends) {
  const std::string text =
      "# a comment that is longer than the buffer is\r\n\"first\r\nname\", second,\"th\"\"ird\"\r\n"
      "1,2,3\r\n\r\n  -4.5 ,\"+5e-3\", 6.25\r\n#N.B. another\r\n7,8,9\r10,11,12\n\n13,\"14\",15";
  const Content whole = read(text, {.delimiter = ','});
  EXPECT_EQ(whole.names, (Names{"first\r\nname", "second", "th\"ird"}));
  EXPECT_EQ(whole.values, (Values{1, 2, 3, -4.5, 0.005, 6.25, 7, 8, 9, 10, 11, 12, 13, 14, 15}));
  for (std::size_t bytes = 18; bytes < text.size() + 2; ++bytes) {
    const Content cut = read(text, {.delimiter = ','}, {.buffer_bytes = bytes});
    EXPECT_EQ(cut.names, whole.names) << bytes;
    EXPECT_EQ(cut.values, whole.values) << bytes;
  }
}

// Blanks before the end of a line delimit nothing, behind numbers and behind texts.
TEST(ReadCsv, takes_runs_of_blanks_for_one_delimiter) {
  const std::string text = "first  second \n 1 2  \n3   x\n4 5 ";
  for (std::size_t bytes = 18; bytes < text.size() + 2; ++bytes) {
    const Content found = read(text, {.delimiter = ' '}, {.buffer_bytes = bytes});
    EXPECT_EQ(found.names, (Names{"first", "second"})) << bytes;
    ASSERT_EQ(found.values.size(), 6U) << bytes;
    EXPECT_EQ(found.values[1], 2.0) << bytes;
    EXPECT_EQ(found.values[4], 4.0) << bytes;
    EXPECT_EQ(found.values[5], 5.0) << bytes;
  }
}

TEST(ReadCsv, messages_do_not_depend_on_where_the_buffer_ends) {
  const std::string text = "\"na\nme\",b\n1,2\n\n#c\n3,4,5\n";
  for (std::size_t bytes = 12; bytes < text.size() + 2; ++bytes) {
    try {
      static_cast<void>(read(text, {.delimiter = ','}, {.buffer_bytes = bytes}));
      FAIL() << "the ragged row was not seen";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "x.csv:6: the row has 3 cells, expected 2 as in line 1") << bytes;
    }
  }
}

// Seventeen significant digits tell any two doubles apart; any finite pattern of 64 bits is tried.
TEST(ReadCsv, brings_back_every_bit_of_seventeen_digits) {
  constexpr std::size_t kCols = 7;
  std::mt19937_64 bits(1);
  Values values;
  std::string text;
  while (values.size() < 10'000 * kCols) {
    const auto value = std::bit_cast<double>(bits());
    if (!std::isfinite(value)) continue;
    char number[40];
    std::snprintf(number, sizeof number, "%.17g", value);
    values.push_back(value);
    text += number;
    text += values.size() % kCols == 0 ? '\n' : ',';
  }
  const test::ScratchFolder folder;
  FileSource source(folder.write("digits.csv", text));
  Table table = read_csv(source);
  ASSERT_EQ(table.cells.cols(), kCols);
  std::size_t different = 0;
  table.cells.drain([&](std::size_t first_row, MatrixView<const double> block) {
    for (std::size_t k = 0; k < block.rows() * kCols; ++k) {
      const double expected = values[first_row * kCols + k];
      different += std::bit_cast<std::uint64_t>(block.data()[k]) != std::bit_cast<std::uint64_t>(expected) ? 1U : 0U;
    }
  });
  EXPECT_EQ(different, 0U);
}

TEST(ReadCsv, reads_a_hundred_thousand_columns) {
  std::string header = "c0";
  std::string row = "0";
  for (int j = 1; j < 100'000; ++j) {
    header += fmt::format(",c{}", j);
    row += fmt::format(",{}", j);
  }
  const Content content = read(header + "\n" + row + "\n" + row + "\n");
  EXPECT_EQ(content.cols, 100'000U);
  EXPECT_EQ(content.values.size(), 200'000U);
  EXPECT_EQ(content.values.back(), 99'999.0);
}

TEST(ReadCsv, reads_decimal_commas_on_request) {
  for (const char* delimiter : {";", "\t", "|"}) {
    const Content content = read(fmt::format("a{0}b\n1,5{0}-2\n\"3,25\"{0}1e3\n", delimiter), {.decimal_comma = true});
    EXPECT_EQ(content.names, (Names{"a", "b"}));
    EXPECT_EQ(content.values, (Values{1.5, -2, 3.25, 1000})) << delimiter;
  }
  EXPECT_EQ(read("1,5\n2,5\n", {.decimal_comma = true}).values, (Values{1.5, 2.5})) << "no delimiter at all";
}

TEST(ReadCsv, takes_a_point_for_text_where_commas_are_decimal) {
  MemorySource source("x.csv", "a;b\n1.5;2\n1.234,5;3\n.;4\n");
  const Table table = read_csv(source, {.decimal_comma = true});
  EXPECT_EQ(table.columns[0].texts->size(), 2U);
  EXPECT_EQ(table.columns[0].num_missing, 1U);
}

TEST(ReadCsv, header_option_overrides_detection) {
  EXPECT_EQ(read("1,2\n3,4\n", {.header = CsvHeader::present}).names, (Names{"1", "2"}));
  EXPECT_EQ(read("1,2\n3,4\n", {.header = CsvHeader::present}).values, (Values{3, 4}));
  EXPECT_EQ(read("1,2,3\n3,4,5\n", {.header = CsvHeader::absent}).values, (Values{1, 2, 3, 3, 4, 5}));
  EXPECT_EQ(read("a,2\n3,4\n", {.header = CsvHeader::absent}).values.size(), 4U);
}

TEST(ReadCsv, finds_single_quotes) {
  EXPECT_EQ(read("'a;x','b'\n'1','2'\n").names, (Names{"a;x", "b"}));
  EXPECT_EQ(read("'a','it''s'\n1,2\n").names, (Names{"a", "it's"}));
  EXPECT_EQ(read("'tis,b\n1,2\n").names, (Names{"'tis", "b"})) << "a quote that is not closed is none";
  EXPECT_EQ(read("\"a\",'b'\n1,2\n").names, (Names{"a", "'b'"})) << "double quotes come first";
}

TEST(CsvFormat, refuses_delimiters_that_stand_within_cells) {
  for (const char delimiter : {'a', '7', '.', '-', '"', '\n', '#'}) {
    EXPECT_THROW(validate(CsvFormat{.delimiter = delimiter}), Error) << delimiter;
  }
  EXPECT_THROW(validate(CsvFormat{.delimiter = ',', .decimal_comma = true}), Error);
  for (const char delimiter : {',', ';', '\t', '|', ':', ' ', '^'}) validate(CsvFormat{.delimiter = delimiter});
}

TEST(SniffDelimiter, prefers_the_character_that_appears_equally_often_in_each_row) {
  EXPECT_EQ(sniff_delimiter({"a,b|c\n1|2\n", true}), '|');
  EXPECT_EQ(sniff_delimiter({"x;y\n1,5;2,5\n", true}), ';');
  EXPECT_EQ(sniff_delimiter({"1,5;2,5\n3,5;4,5\n", true}), ';') << "decimal commas";
  EXPECT_EQ(sniff_delimiter({"\"a;b\",c\n1,2\n", true}), ',') << "quoted text does not count";
  EXPECT_EQ(sniff_delimiter({"# a;b;c\na,b\n\n1,2\n", true}), ',') << "neither do comments";
}

TEST(SniffDelimiter, falls_back_on_the_first_row_of_a_ragged_text) {
  EXPECT_EQ(sniff_delimiter({"a;b;c\n1;2\n", true}), ';');
  EXPECT_EQ(sniff_delimiter({"1\n2\n", true}), ',');
  EXPECT_EQ(sniff_delimiter({"", true}), ',');
}

TEST(SniffDelimiter, leaves_out_a_row_that_is_cut_off) {
  EXPECT_EQ(sniff_delimiter({"a;b;c\n1;2;3\n4;", false}), ';');
  EXPECT_EQ(sniff_delimiter({"a;b,", false}), ';');
}

}  // namespace
}  // namespace kqd
