#include "kqd/io/read.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include <sys/stat.h>

#include "support/scratch_folder.hpp"
#include "support/warnings.hpp"
#include "unit/io/npy_bytes.hpp"
#include "unit/io/sample_values.hpp"

namespace kqd {
namespace {

class ReadFiles : public testing::Test {
 protected:
  SamplePair pair(std::string_view x, std::string_view y, const ReadOptions& options = {}) const {
    SamplePair result = read_pair(folder_.write("x.csv", x), folder_.write("y.csv", y), strict(options));
    for (Warnings* warnings : {&result.notes, &result.warnings}) {
      for (Warning& warning : *warnings) {
        for (WarningValue& value : warning.values) {
          if (auto* text = std::get_if<std::string>(&value)) *text = folder_.without_folder(*text);
        }
      }
    }
    return result;
  }

  template <class Call>
  std::string message(ErrorCode code, Call call) const {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      return folder_.without_folder(error.what());
    }
    return "no error";
  }

  std::string pair_message(ErrorCode code, std::string_view x, std::string_view y,
                           const ReadOptions& options = {}) const {
    return message(code, [&] { static_cast<void>(pair(x, y, options)); });
  }

  test::ScratchFolder folder_;
};

TEST_F(ReadFiles, the_suffix_chooses_the_format_in_capitals_too) {
  const Values expected = {1, 2, 3, 4};
  EXPECT_EQ(values_of(read_sample(folder_.write("a.csv", "1;2\n3;4\n"))), expected);
  EXPECT_EQ(values_of(read_sample(folder_.write("a.CSV", "1,2\n3,4\n"))), expected);
  EXPECT_EQ(values_of(read_sample(folder_.write("a.Tsv", "1\t2\n3\t4\n"))), expected);
  EXPECT_EQ(values_of(read_sample(folder_.write("a.b.npy", test::npy_file("<f8", "(2, 2)", test::f8(1, 2, 3, 4))))),
            expected);
  EXPECT_EQ(known_suffixes(),
            (Names{".csv", ".tsv", ".npy", ".idx", ".npz", ".parquet", ".json", ".jsonl", ".ndjson"}));
}

TEST_F(ReadFiles, only_tabs_delimit_a_tsv) {
  const Sample sample = read_sample(folder_.write("a.tsv", "length, cm\twidth, cm\n1\t2\n"));
  EXPECT_EQ(sample.column_names, (Names{"length, cm", "width, cm"}));
}

TEST_F(ReadFiles, a_sample_without_weights_has_none) {
  const Sample sample = read_sample(folder_.write("a.csv", "a,w\n1,2\n"));
  EXPECT_TRUE(sample.weights.empty());
  EXPECT_EQ(sample.points.cols(), 2U);
}

TEST_F(ReadFiles, weights_are_taken_out_of_the_points_by_name) {
  const Sample sample = read_sample(folder_.write("a.csv", "a,w,b\n1,0.5,2\n3,0,4\n"), {.weights_column = "w"});
  EXPECT_EQ(sample.weights, (Values{0.5, 0}));
  EXPECT_EQ(sample.column_names, (Names{"a", "b"}));
  EXPECT_EQ(values_of(sample), (Values{1, 2, 3, 4}));
}

TEST_F(ReadFiles, weights_are_taken_by_number_where_there_are_no_names) {
  const Sample sample = read_sample(folder_.write("a.csv", "1,0.5\n3,0.25\n"), {.weights_column = "2"});
  EXPECT_EQ(sample.weights, (Values{0.5, 0.25}));
  EXPECT_EQ(values_of(sample), (Values{1, 3}));
}

TEST_F(ReadFiles, weights_that_are_not_there_are_refused) {
  const std::string named = folder_.write("named.csv", "a,b\n1,2\n");
  const std::string plain = folder_.write("plain.csv", "1,2\n3,4\n");
  const std::string single = folder_.write("single.csv", "w\n1\n");
  const std::string negative = folder_.write("negative.csv", "a,w\n1,1\n2,-1\n");
  const auto with = [&](ErrorCode code, const std::string& path, const std::string& column) {
    return message(code, [&] { static_cast<void>(read_sample(path, {.weights_column = column})); });
  };
  EXPECT_EQ(with(ErrorCode::invalid_option, named, "w"),
            "named.csv: there is no column \"w\" to take weights from, expected one of \"a\", \"b\"");
  for (const std::string column : {"w", "0", "3", "1x", "-1", "99999999999999999999"}) {
    EXPECT_EQ(with(ErrorCode::invalid_option, plain, column),
              "plain.csv: there is no column \"" + column +
                  "\" to take weights from, expected a number from 1 to 2, because the columns have no names");
  }
  EXPECT_EQ(with(ErrorCode::empty_sample, single, "w"),
            "single.csv: the only column holds the weights, expected other columns to compare");
  EXPECT_EQ(with(ErrorCode::invalid_weights, negative, "w"),
            "negative.csv: weight of row 2 is -1, expected a finite number >= 0");
}

TEST_F(ReadFiles, a_named_pipe_is_read_like_a_file) {
  const std::string path = folder_.path("pipe.csv");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { folder_.write("pipe.csv", "a,b\n1,2\n"); });
  const Sample sample = read_sample(path);
  writer.join();
  EXPECT_EQ(values_of(sample), (Values{1, 2}));
}

TEST_F(ReadFiles, a_pair_in_the_same_order_needs_no_note) {
  const SamplePair samples = pair("a,b\n1,2\n", "a,b\n3,4\n5,6\n");
  EXPECT_EQ(values_of(samples.x), (Values{1, 2}));
  EXPECT_EQ(values_of(samples.y), (Values{3, 4, 5, 6}));
  EXPECT_TRUE(samples.notes.empty());
}

TEST_F(ReadFiles, columns_of_a_pair_are_matched_by_name) {
  const SamplePair samples = pair("a,b,c\n1,2,3\n", "c,a,b\n30,10,20\n31,11,21\n");
  EXPECT_EQ(values_of(samples.y), (Values{10, 20, 30, 11, 21, 31}));
  EXPECT_EQ(samples.y.column_names, (Names{"a", "b", "c"}));
  EXPECT_EQ(samples.notes, test::only(WarningId::columns_reordered, "y.csv", "x.csv"));
}

TEST_F(ReadFiles, weights_of_a_pair_may_stand_in_different_places) {
  const SamplePair samples = pair("w,a,b\n7,1,2\n", "a,b,w\n3,4,8\n", {.weights_column = "w"});
  EXPECT_EQ(samples.x.weights, (Values{7}));
  EXPECT_EQ(samples.y.weights, (Values{8}));
  EXPECT_EQ(values_of(samples.y), (Values{3, 4}));
  EXPECT_EQ(samples.notes, Warnings{});
}

TEST_F(ReadFiles, a_pair_with_names_on_one_side_is_matched_by_position) {
  for (const bool names_in_x : {true, false}) {
    const SamplePair samples = names_in_x ? pair("a,b\n1,2\n", "3,4\n") : pair("1,2\n", "a,b\n3,4\n");
    EXPECT_EQ(samples.x.column_names, (Names{"a", "b"}));
    EXPECT_EQ(samples.y.column_names, (Names{"a", "b"}));
    EXPECT_EQ(samples.notes, test::only(WarningId::columns_by_position, names_in_x ? "y.csv" : "x.csv",
                                        names_in_x ? "x.csv" : "y.csv"));
  }
}

TEST_F(ReadFiles, a_pair_passes_on_the_notes_and_warnings_of_both_readers) {
  const SamplePair noted = pair("a,1\n5,6\n", "a,1\n5,6\n");
  EXPECT_EQ(noted.notes, (Warnings{make_warning(WarningId::numbers_in_header, "x.csv", 1, 1, 2),
                                   make_warning(WarningId::numbers_in_header, "y.csv", 1, 1, 2)}));
  EXPECT_EQ(noted.warnings, Warnings{});
  const SamplePair warned = pair("0,1,2\n5,6,7\n", "1,2,3\n5,6,7\n");
  EXPECT_EQ(warned.notes, Warnings{});
  EXPECT_EQ(warned.warnings, (Warnings{make_warning(WarningId::first_row_counts, "x.csv", 1),
                                       make_warning(WarningId::first_row_counts, "y.csv", 1)}));
}

TEST_F(ReadFiles, columns_that_only_one_file_has_are_listed) {
  EXPECT_EQ(pair_message(ErrorCode::shape_mismatch, "a,b,c\n1,2,3\n", "d,a\n1,2\n"),
            "x.csv and y.csv: their columns differ; only x.csv has \"b\", \"c\"; only y.csv has \"d\". Rename columns, "
            "exclude these by drop, or "
            "list those to compare by columns");
  EXPECT_EQ(
      pair_message(ErrorCode::shape_mismatch, "a\n1\n", "a,b\n1,2\n"),
      "x.csv and y.csv: their columns differ; only y.csv has \"b\". Rename columns, exclude these by drop, or list "
      "those to compare by columns");
  EXPECT_EQ(
      pair_message(ErrorCode::shape_mismatch, "a,c1,c2,c3,c4,c5,c6,c7,c8,c9,c10\n1,1,1,1,1,1,1,1,1,1,1\n", "a\n1\n"),
      "x.csv and y.csv: their columns differ; only x.csv has \"c1\", \"c2\", \"c3\", \"c4\", \"c5\", \"c6\", "
      "\"c7\", \"c8\" and 2 more. Rename columns, exclude these by drop, or list "
      "those to compare by columns");
}

TEST_F(ReadFiles, unequal_counts_without_names_are_refused) {
  EXPECT_EQ(pair_message(ErrorCode::shape_mismatch, "1,2\n", "1,2,3\n"),
            "x.csv has 2 columns of points and y.csv has 3, expected the same number");
  EXPECT_EQ(pair_message(ErrorCode::shape_mismatch, "a,b\n1,2\n", "1,2,3\n"),
            "x.csv has 2 columns of points and y.csv has 3, expected the same number");
}

TEST_F(ReadFiles, weights_must_be_in_both_files) {
  EXPECT_EQ(pair_message(ErrorCode::invalid_option, "a,w\n1,2\n", "a\n1\n", {.weights_column = "w"}),
            "y.csv: there is no column \"w\" to take weights from, expected one of \"a\"");
}

}  // namespace
}  // namespace kqd
