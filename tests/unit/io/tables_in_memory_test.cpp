#include "kqd/io/frame.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/scratch_folder.hpp"

namespace kqd {
namespace {

using Texts = std::vector<std::optional<std::string>>;

Frame cities(std::string name, std::vector<double> ages, Texts towns) {
  return {.name = std::move(name), .columns = {{"age", std::move(ages)}, {"town", std::move(towns)}}};
}

std::vector<double> cells_in(const Sample& sample) {
  std::vector<double> values;
  for (std::size_t i = 0; i < sample.points.rows(); ++i) {
    for (const double value : sample.points.row(i)) values.push_back(value);
  }
  return values;
}

// The same tables as text go through the CSV reader, which shares nothing with frames before the preparation.
TEST(Frame, is_prepared_as_a_file_with_the_same_cells) {
  const test::ScratchFolder folder;
  const std::string x_file = folder.write("x.csv", "age,town\n31,Rome\n,Oslo\n45,Rome\n");
  const std::string y_file = folder.write("y.csv", "town,age\nOslo,28\nBern,60.5\n");
  const Frame x = cities("x", {31.0, std::nan(""), 45.0}, {"Rome", "Oslo", "Rome"});
  const Frame y{.name = "y", .columns = {{"town", Texts{"Oslo", "Bern"}}, {"age", std::vector{28.0, 60.5}}}};
  for (const Categorical categorical : {Categorical::onehot, Categorical::hash, Categorical::drop}) {
    for (const NaPolicy na : {NaPolicy::omit, NaPolicy::impute_median}) {
      const ReadOptions options{.categorical = categorical, .na = na, .standardize = Standardize::zscore};
      const SamplePair of_frames = prepare_pair(x, y, options);
      const SamplePair of_files = read_pair(x_file, y_file, options);
      EXPECT_EQ(cells_in(of_frames.x), cells_in(of_files.x));
      EXPECT_EQ(cells_in(of_frames.y), cells_in(of_files.y));
      EXPECT_EQ(of_frames.x.column_names, of_files.x.column_names);
      EXPECT_EQ(of_frames.rows_x, of_files.rows_x);
    }
  }
}

TEST(Frame, text_that_spells_a_number_stays_text) {
  const Frame x = cities("x", {1.0, 2.0}, {"1", "2"});
  const SamplePair pair = prepare_pair(x, x, {.categorical = Categorical::onehot});
  EXPECT_EQ(pair.x.column_names, (std::vector<std::string>{"age", "town=1", "town=2"}));
  EXPECT_EQ(cells_in(pair.x), (std::vector<double>{1, 1, 0, 2, 0, 1}));
}

TEST(Frame, one_sample_is_prepared_too) {
  EXPECT_EQ(
      cells_in(prepare_sample({.name = "x", .columns = {{"a", std::vector{1.0, 2.0}}, {"b", std::vector{3.0, 4.0}}}})),
      (std::vector<double>{1, 3, 2, 4}));
}

std::string refusal_of(const Frame& x) {
  const Frame y{.name = "y", .columns = {{"a", std::vector{1.0}}}};
  try {
    static_cast<void>(prepare_pair(x, y, {.categorical = Categorical::raise, .na = NaPolicy::raise}));
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Frame, cells_that_cannot_be_compared_are_refused_with_their_place) {
  const Frame text{.name = "x", .columns = {{"a", Texts{"Rome"}}}};
  EXPECT_NE(refusal_of(text).find("row 1, column \"a\""), std::string::npos) << refusal_of(text);
  const Frame missing{.name = "x", .columns = {{"a", std::vector{1.0, std::nan("")}}}};
  EXPECT_NE(refusal_of(missing).find("row 2, column \"a\""), std::string::npos) << refusal_of(missing);
  const Frame infinite{.name = "x", .columns = {{"a", std::vector{std::numeric_limits<double>::infinity()}}}};
  EXPECT_NE(refusal_of(infinite).find("inf"), std::string::npos) << refusal_of(infinite);
  EXPECT_EQ(refusal_of({.name = "x", .columns = {}}), "x: no columns, expected at least one");
  EXPECT_EQ(refusal_of({.name = "x", .columns = {{"a", std::vector<double>{}}}}), "x: no rows, expected at least one");
  EXPECT_EQ(refusal_of({.name = "x", .columns = {{"a", std::vector{1.0}}, {"b", Texts{"u", "v"}}}}),
            "x: column \"b\" has 2 rows and column \"a\" has 1, expected the same number");
}

}  // namespace
}  // namespace kqd
