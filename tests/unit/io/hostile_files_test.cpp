#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "kqd/io/read.hpp"
#include "support/scratch_folder.hpp"
#include "support/source.hpp"
#include "unit/io/npy_bytes.hpp"

namespace kqd {
namespace {

using test::f8;
using test::npy_bytes;
using test::npy_file;
using namespace std::string_literals;

struct BadFile {
  std::string name;
  std::string bytes;
  ErrorCode code;
  std::string message;
};

void PrintTo(const BadFile& file, std::ostream* out) {
  *out << file.message;
}

constexpr ErrorCode kUnreadable = ErrorCode::unreadable_input;
constexpr ErrorCode kNotFinite = ErrorCode::non_finite_value;
constexpr ErrorCode kEmpty = ErrorCode::empty_sample;
// The remedies in errors about missing values and about text.
const std::string kOneMissing =
    ". 1 value is missing. To omit such rows: na = omit; to fill in medians: na = impute-median";
std::string text_in(const std::string& column) {
  return ". Columns of text: " + column +
         " (1 different). To make a column of each text: categorical = onehot; to exclude them: categorical = drop";
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using test::kInfinity;

std::vector<BadFile> bad_csv_files() {
  const std::string no_rows = "x.csv: the file is empty or has only blank lines and comments, expected rows of numbers";
  return {
      // Nothing in it.
      {"x.csv", "", kEmpty, no_rows},
      {"x.csv", "\n\n  \n", kEmpty, no_rows},
      {"x.csv", "# only\n# comments", kEmpty, no_rows},
      {"x.csv", "\xef\xbb\xbf", kEmpty, no_rows},
      {"x.csv", "a,b\n", kEmpty, "x.csv: the file has a header and nothing below it, expected rows of numbers"},
      {"x.csv", "a,b", kEmpty, "x.csv: the file has a header and nothing below it, expected rows of numbers"},
      // Missing and infinite values.
      {"x.csv", "a,b\n1,n/a\n", kNotFinite, "x.csv:2: column \"b\" is \"n/a\", expected a number" + kOneMissing},
      {"x.csv", "a,b\n1,2\n,4\n", kNotFinite, "x.csv:3: column \"a\" is \"\", expected a number" + kOneMissing},
      {"x.csv", "a,b\n1,\"\"\n", kNotFinite, "x.csv:2: column \"b\" is \"\", expected a number" + kOneMissing},
      {"x.csv", "a,b\n1,nan\n", kNotFinite, "x.csv:2: column \"b\" is \"nan\", expected a number" + kOneMissing},
      {"x.csv", "a,b\n1,-Inf\n", kNotFinite, "x.csv:2: column \"b\" is \"-Inf\", expected a finite number"},
      {"x.csv", "1,2\n3,NULL\n", kNotFinite, "x.csv:2: column 2 is \"NULL\", expected a number" + kOneMissing},
      {"x.csv", "inf,1\n", kNotFinite, "x.csv:1: column 1 is \"inf\", expected a finite number"},
      {"x.csv", "1,2,\n3,4,\n", kNotFinite,
       "x.csv:1: column 3 is \"\", expected a number. 2 values are missing. To omit such rows: na = omit; to fill in "
       "medians: "
       "na = impute-median"},
      {"x.csv", "a\n1e400\n", kNotFinite,
       "x.csv:2: column \"a\" is \"1e400\", expected a number that fits into a double (below 1.8e308)"},
      {"x.csv", "1\n-1.8e308\n", kNotFinite,
       "x.csv:2: column 1 is \"-1.8e308\", expected a number that fits into a double (below 1.8e308)"},
      // Text where a number should be.
      {"x.csv", "a,b\n1,red\n", kUnreadable, "x.csv:2: column \"b\" is \"red\", expected a number" + text_in("\"b\"")},
      {"x.csv", "a;b\n1,5;2,5\n", kUnreadable,
       "x.csv:2: column \"a\" is \"1,5\", expected a number. If it has a decimal comma, and columns are separated by "
       "another character: decimal_comma = yes"},
      {"x.csv", "a:b\n1:2\n", kUnreadable,
       "x.csv:2: column \"a:b\" is \"1:2\", expected a number. x.csv has only one column. To split it into 2: "
       "delimiter = :"},
      {"x.csv", "a,b\n1,0x1f\n", kUnreadable,
       "x.csv:2: column \"b\" is \"0x1f\", expected a number" + text_in("\"b\"")},
      {"x.csv", "a,b\n1,+-2\n", kUnreadable, "x.csv:2: column \"b\" is \"+-2\", expected a number" + text_in("\"b\"")},
      {"x.csv", "a,b\n1,1 2\n", kUnreadable, "x.csv:2: column \"b\" is \"1 2\", expected a number" + text_in("\"b\"")},
      {"x.csv", "a,b\n1,\"1\"2\n", kUnreadable,
       "x.csv:2: column \"b\" is \"\\\"1\\\"2\", expected a number" + text_in("\"b\"")},
      {"x.csv", "a,b\n1,2e\n", kUnreadable, "x.csv:2: column \"b\" is \"2e\", expected a number" + text_in("\"b\"")},
      {"x.csv", "a,b\n1,\"two\nlines\"\n", kUnreadable,
       "x.csv:2: column \"b\" is \"two\\nlines\", expected a number" + text_in("\"b\"")},
      {"x.csv", "a,b\n1,\x1b[2J\n", kUnreadable,
       "x.csv:2: column \"b\" is \"\\x1b[2J\", expected a number" + text_in("\"b\"")},
      {"x.csv", "a,b\n1,caf\xe9\n", kUnreadable,
       "x.csv:2: column \"b\" is \"caf\\xe9\", expected a number" + text_in("\"b\"")},
      {"x.csv", "a,b\n1," + std::string(100, 'y') + "\n", kUnreadable,
       "x.csv:2: column \"b\" is \"" + std::string(40, 'y') + "...\", expected a number" + text_in("\"b\"")},
      {"x.csv", "a," + std::string(100, 'z') + "\n1,?!\n", kUnreadable,
       "x.csv:2: column \"" + std::string(40, 'z') + "...\" is \"?!\", expected a number" +
           text_in("\""s + std::string(40, 'z') + "...\"")},
      // Rows of the wrong length.
      {"x.csv", "a,b,c\n1,2,3\n4,5\n", kUnreadable, "x.csv:3: the row has 2 cells, expected 3 as in line 1"},
      {"x.csv", "a,b\n1,2\n4\n", kUnreadable, "x.csv:3: the row has 1 cell, expected 2 as in line 1"},
      {"x.csv", "# top\n\n1,2\n3,4,5,6\n", kUnreadable, "x.csv:4: the row has 4 cells, expected 2 as in line 3"},
      {"x.csv", "a,b\n1,2,\n", kUnreadable, "x.csv:2: the row has 3 cells, expected 2 as in line 1"},
      // Headers that name nothing or too much.
      {"x.csv", "a,b,a\n1,2,3\n", kUnreadable,
       "x.csv:1: columns 1 and 3 are both named \"a\", expected different names"},
      {"x.csv", ",a,b\n0,1,2\n", kUnreadable,
       "x.csv: column 1 has no name, expected a name. To exclude it, if it is a row index: drop = 1; to list the "
       "columns to compare: columns"},
      {"x.csv", "a,caf\xe9\n1,2\n", kUnreadable, "x.csv:1: column 2 is named \"caf\\xe9\", expected a name in UTF-8"},
      // Quotes, and files that are not text.
      {"x.csv", "a,b\n1,2\n3,\"4\n5,6\n", kUnreadable, "x.csv:3: column 2 opens a quote that is never closed"},
      {"x.csv", "a,b\n1,2\n3,\"" + std::string(3'000'000, '4'), kUnreadable,
       "x.csv:3: column 2 is longer than 1048576 bytes, expected a number. Look for a quote that is left open"},
      {"x.csv", "a,b\n1,2\0\n"s, kUnreadable,
       "x.csv:2: column 2 holds a NUL byte, expected text. Look whether this is a binary file"},
      {"x.csv", "\x1f\x8b\x08\0\0\0\0\0\0\x03 anything"s, kUnreadable,
       "x.csv: is compressed by gzip in spite of its name. Give its name the suffix .gz"},
      {"x.csv", "\xff\xfe\x61\x00"s, kUnreadable, "x.csv: text in UTF-16, expected UTF-8"},
      {"x.tsv", "a,b\n1,2\n", kUnreadable,
       "x.tsv:2: column \"a,b\" is \"1,2\", expected a number. x.tsv has only one column. To split it into 2: "
       "delimiter = comma"},
  };
}

std::vector<BadFile> bad_npy_files() {
  const auto with_header = [](const std::string& header) { return npy_bytes(1, header, f8(1)); };
  const std::string not_npy = "x.npy: does not start like an NPY file, expected one written by numpy.save";
  return {
      // The first bytes.
      {"x.npy", "", kEmpty, "x.npy: the file is empty, expected an NPY file"},
      {"x.npy", "\x93NUM", kUnreadable, not_npy},
      {"x.npy", "1,2\n3,4\n", kUnreadable, not_npy},
      {"x.npy", "PK\x03\x04 an archive", kUnreadable,
       "x.npy: is a zip archive in spite of its name. Name it .npz if it holds arrays; save a spreadsheet as CSV"},
      {"x.npy", "\x93NUMPY\x01", kUnreadable, "x.npy: ends within its version, expected a whole NPY file"},
      {"x.npy", "\x93NUMPY\x09\x00\x10\x00"s, kUnreadable, "x.npy: is of NPY version 9.0, expected 1.0, 2.0 or 3.0"},
      {"x.npy", "\x93NUMPY\x01\x01\x10\x00"s, kUnreadable, "x.npy: is of NPY version 1.1, expected 1.0, 2.0 or 3.0"},
      {"x.npy", "\x93NUMPY\x02\x00\x10\x00"s, kUnreadable,
       "x.npy: ends within the length of its header, expected a whole NPY file"},
      {"x.npy", "\x93NUMPY\x01\x00\xff\xff{}"s, kUnreadable,
       "x.npy: claims a header of 65535 bytes, but only 2 follow"},
      {"x.npy", "\x93NUMPY\x02\x00\xff\xff\xff\xff{}"s, kUnreadable,
       "x.npy: claims a header of 4294967295 bytes, but only 2 follow"},
      // The header.
      {"x.npy", with_header(""), kUnreadable, "x.npy: the header at byte 1 is its end, expected \"{\""},
      {"x.npy", with_header("[1]\n"), kUnreadable, "x.npy: the header at byte 1 starts \"[1]\\n\", expected \"{\""},
      {"x.npy", with_header("{}\n"), kUnreadable, "x.npy: the header has no \"descr\""},
      {"x.npy", with_header("{'descr': '<f8', 'shape': (1,)}\n"), kUnreadable,
       "x.npy: the header has no \"fortran_order\""},
      {"x.npy", with_header("{'shape': (1,), 'shape': (1,)}\n"), kUnreadable, "x.npy: the header has \"shape\" twice"},
      {"x.npy", with_header("{'size': 1}\n"), kUnreadable,
       "x.npy: the header has \"size\", expected \"descr\", \"fortran_order\" and \"shape\" only"},
      {"x.npy", with_header("{descr: 1}\n"), kUnreadable,
       "x.npy: the header at byte 2 starts \"descr: 1}\\n\", expected a key in quotes"},
      {"x.npy", with_header("{'descr"), kUnreadable,
       "x.npy: the header at byte 2 starts \"'descr\", expected a quote that is closed"},
      {"x.npy", with_header("{'descr': 8}\n"), kUnreadable,
       "x.npy: the header at byte 11 starts \"8}\\n\", expected a type in quotes"},
      {"x.npy", with_header("{'fortran_order': false}\n"), kUnreadable,
       "x.npy: the header at byte 19 starts \"false}\\n\", expected True or False"},
      {"x.npy", with_header("{'shape': (1)}\n"), kUnreadable,
       "x.npy: the header at byte 13 starts \")}\\n\", expected \",\""},
      {"x.npy", with_header("{'shape': (-1,)}\n"), kUnreadable,
       "x.npy: the header at byte 12 starts \"-1,)}\\n\", expected a size"},
      {"x.npy", with_header("{'shape': (18446744073709551616,)}\n"), kUnreadable,
       "x.npy: the header at byte 12 starts \"18446744073709551616,)}\\n\", expected a size below 2^64"},
      {"x.npy", with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}"), kUnreadable,
       "x.npy: the header at byte 56 is its end, expected blanks and a line feed up to the end of the header"},
      {"x.npy", with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} import os\n"), kUnreadable,
       "x.npy: the header at byte 57 starts \"import os\\n\", expected blanks and a line feed up to the end of the "
       "header"},
      // The type.
      {"x.npy", npy_file("|O", "(1,)", f8(1)), kUnreadable,
       "x.npy: holds Python objects, which are never loaded, expected numbers"},
      {"x.npy", npy_file("<c16", "(1,)", f8(1, 2)), kUnreadable,
       "x.npy: holds complex numbers (\"<c16\"), expected real ones"},
      {"x.npy", with_header("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}\n"), kUnreadable,
       "x.npy: holds records of several fields, expected one array of numbers"},
      {"x.npy", npy_file("<U3", "(1,)", std::string(12, '\0')), kUnreadable,
       "x.npy: holds items of type \"<U3\", expected booleans, integers of 1 to 8 bytes or floats of 2 to 8 bytes"},
      {"x.npy", npy_file("<f16", "(1,)", std::string(16, '\0')), kUnreadable,
       "x.npy: holds items of type \"<f16\", expected booleans, integers of 1 to 8 bytes or floats of 2 to 8 bytes"},
      {"x.npy", npy_file("|f8", "(1,)", f8(1)), kUnreadable,
       "x.npy: holds items of type \"|f8\", expected booleans, integers of 1 to 8 bytes or floats of 2 to 8 bytes"},
      {"x.npy", npy_file("", "(1,)", f8(1)), kUnreadable,
       "x.npy: holds items of type \"\", expected booleans, integers of 1 to 8 bytes or floats of 2 to 8 bytes"},
      // The shape.
      {"x.npy", npy_file("<f8", "()", f8(1)), kUnreadable, "x.npy: holds a single number of shape (), expected rows"},
      {"x.npy", npy_file("<f8", "(0, 3)", ""), kEmpty,
       "x.npy: has shape (0, 3), expected at least one row and one column"},
      {"x.npy", npy_file("<f8", "(3, 0)", ""), kEmpty,
       "x.npy: has shape (3, 0), expected at least one row and one column"},
      {"x.npy", npy_file("<f8", "(4294967296, 4294967296)", f8(1)), kUnreadable,
       "x.npy: has shape (4294967296, 4294967296), more values than memory can address"},
      {"x.npy", npy_file("|u1", "(18446744073709551615,)", "x"), kUnreadable,
       "x.npy: has shape (18446744073709551615,), more values than memory can address"},
      // The data.
      {"x.npy", npy_file("<f8", "(2, 2)", f8(1, 2, 3)), kUnreadable,
       "x.npy: has 24 bytes of data, expected 32 for shape (2, 2) of type \"<f8\""},
      {"x.npy", npy_file("<f8", "(2,)", f8(1, 2, 3)), kUnreadable,
       "x.npy: has 24 bytes of data, expected 16 for shape (2,) of type \"<f8\""},
      {"x.npy", npy_file("<f8", "(1000000, 1000000)", f8(1)), kUnreadable,
       "x.npy: has 8 bytes of data, expected 8000000000000 for shape (1000000, 1000000) of type \"<f8\""},
      {"x.npy", npy_file("<f8", "(2, 2)", f8(1, 2, kNan, 4)), kNotFinite,
       "x.npy: row 2, column 1 is \"nan\", expected a number" + kOneMissing},
      {"x.npy", npy_file("<f8", "(2, 2)", f8(1, 2, kInfinity, 4), true), kNotFinite,
       "x.npy: row 1, column 2 is \"inf\", expected a finite number"},
      {"x.npy", npy_file("<f2", "(1, 2)", "\x00\x3c\x00\xfc"s), kNotFinite,
       "x.npy: row 1, column 2 is \"-inf\", expected a finite number"},
  };
}

std::vector<BadFile> badly_named_files() {
  const std::string expected =
      "expected one of .csv, .tsv, .npy, .idx (each may be followed by .gz), .npz, .parquet, .json, .jsonl, .ndjson";
  return {
      {"x.txt", "1,2\n", kUnreadable, "x.txt: has the unknown suffix \".txt\", " + expected},
      {"x", "1,2\n", kUnreadable, "x: has no suffix that names its format, " + expected},
      {"a\x1b[2J.csv", "", kEmpty,
       "a\\x1b[2J.csv: the file is empty or has only blank lines and comments, expected rows of numbers"},
  };
}

class HostileFiles : public testing::TestWithParam<BadFile> {};

TEST_P(HostileFiles, are_refused_with_one_sentence) {
  const BadFile& file = GetParam();
  const test::ScratchFolder folder;
  const std::string path = folder.write(file.name, file.bytes);
  try {
    static_cast<void>(read_sample(path));
    FAIL() << "read without an error, expected: " << file.message;
  } catch (const Error& error) {
    EXPECT_EQ(folder.without_folder(error.what()), file.message);
    EXPECT_EQ(error.code(), file.code);
  }
}

INSTANTIATE_TEST_SUITE_P(Csv, HostileFiles, testing::ValuesIn(bad_csv_files()));
INSTANTIATE_TEST_SUITE_P(Npy, HostileFiles, testing::ValuesIn(bad_npy_files()));
INSTANTIATE_TEST_SUITE_P(Name, HostileFiles, testing::ValuesIn(badly_named_files()));

std::string message_for(const std::string& path) {
  try {
    static_cast<void>(read_sample(path));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kUnreadable);
    return error.what();
  }
  return "no error";
}

TEST(UnreadableFiles, a_missing_file_is_named) {
  const test::ScratchFolder folder;
  EXPECT_EQ(folder.without_folder(message_for(folder.path("nothing.csv"))), "nothing.csv: no such file");
  EXPECT_EQ(folder.without_folder(message_for(folder.path("nothing.npy"))), "nothing.npy: no such file");
}

TEST(UnreadableFiles, a_directory_is_refused_as_such) {
  const test::ScratchFolder folder;
  std::filesystem::create_directory(folder.path("data.csv"));
  EXPECT_EQ(folder.without_folder(message_for(folder.path("data.csv"))), "data.csv: is a directory, expected a file");
}

TEST(UnreadableFiles, a_file_without_permission_says_so) {
  if (::geteuid() == 0) GTEST_SKIP() << "nothing is forbidden to root";
  const test::ScratchFolder folder;
  const std::string path = folder.write("secret.csv", "1,2\n");
  std::filesystem::permissions(path, std::filesystem::perms::none);
  EXPECT_EQ(folder.without_folder(message_for(path)), "secret.csv: cannot be read: Permission denied");
}

// A file that opens and then fails to be read: the memory of a process has nothing at address 0.
TEST(UnreadableFiles, an_error_of_the_system_is_passed_on) {
  const test::ScratchFolder folder;
  std::filesystem::create_symlink("/proc/self/mem", folder.path("broken.csv"));
  EXPECT_EQ(folder.without_folder(message_for(folder.path("broken.csv"))),
            "broken.csv: cannot be read: Input/output error");
}

TEST(UnreadableFiles, a_loop_of_links_is_passed_on) {
  const test::ScratchFolder folder;
  std::filesystem::create_symlink("loop.csv", folder.path("loop.csv"));
  EXPECT_EQ(folder.without_folder(message_for(folder.path("loop.csv"))),
            "loop.csv: cannot be read: Too many levels of symbolic links");
}

}  // namespace
}  // namespace kqd
