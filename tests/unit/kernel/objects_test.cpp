#include "kqd/kernel/objects.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/metrics/methods.hpp"
#include "kqd/two_sample/two_sample_test.hpp"
#include "support/errors.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

using test::expect_error;

Matrix<double> values_of(const KernelSpec& kernel, std::size_t count) {
  const Sample rows = numbered_rows(0, count);
  Matrix<double> values(count, count);
  Kernel(kernel).evaluate(rows.points, rows.points, values);
  return values;
}

TEST(NumberedRows, count_from_the_first) {
  const Sample rows = numbered_rows(3, 2);
  EXPECT_EQ(rows.points(0, 0), 3.0);
  EXPECT_EQ(rows.points(1, 0), 4.0);
}

TEST(GramKernel, has_the_values_of_the_matrix) {
  const Matrix<double> gram(3, 3, {2, 1, 0, 1, 2, 1, 0, 1, 2});
  const Matrix<double> values = values_of(gram_kernel(gram), 3);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(values.values()[i], gram.values()[i]);
}

TEST(GramKernel, is_unknown_elsewhere) {
  const Kernel kernel(gram_kernel(Matrix<double>(2, 2, {1, 0, 0, 1})));
  double value = 0.0;
  const double known = 0.0;
  const double unknown = 2.5;
  expect_error(ErrorCode::invalid_option,
               "kernel precomputed is known only for 2 objects, but is needed at 2.5; take reference points from the "
               "pool, reference = pooled, or another method",
               [&] {
                 kernel.evaluate({&known, 1, 1}, {&unknown, 1, 1}, {&value, 1, 1});
               });
}

// The distances of a kernel of rows and of its Gram matrix are the same numbers.
TEST(GramKernel, gives_the_distances_of_the_kernel_behind_it) {
  test::Source source(1);
  const Sample pool = test::normal_sample({30, 2}, source);
  const Sample x{Matrix<double>(pool.points.view().row_range(0, 12)), {}, {}};
  const Sample y{Matrix<double>(pool.points.view().row_range(12, 18)), {}, {}};
  Matrix<double> gram(30, 30);
  Kernel(parse_kernel("gaussian@1")).evaluate(pool.points, pool.points, gram);
  MethodOptions of_rows;
  of_rows.kernel = parse_kernel("gaussian@1");
  MethodOptions of_gram;
  of_gram.kernel = gram_kernel(gram);
  for (const char* const id : {"mmd", "mmd-v", "kce"}) {
    const double expected = distance(id, x, y, of_rows).statistic;
    EXPECT_NEAR(distance(id, numbered_rows(0, 12), numbered_rows(12, 18), of_gram).statistic, expected,
                1e-12 * std::abs(expected) + 1e-15)
        << id;
  }
  of_rows.directions.reference = of_gram.directions.reference = ReferenceMeasure::points;
  of_rows.directions.reference_points = Matrix<double>(pool.points.view().row_range(3, 2));
  of_gram.directions.reference_points = numbered_rows(3, 2).points;
  of_rows.directions.coefficients = of_gram.directions.coefficients = Matrix<double>(2, 2, {1, 0.5, -1, 2});
  EXPECT_NEAR(distance("ekqd", numbered_rows(0, 12), numbered_rows(12, 18), of_gram).statistic,
              distance("ekqd", x, y, of_rows).statistic, 1e-12);
}

// Values 1 within and 0 between the samples. With every permutation but the observed one the samples are closer, so
// that the p-value is the smallest that 19 permutations have; in a pool of equal objects nothing differs, and it is 1.
TEST(GramKernel, gives_the_smallest_and_the_largest_pvalue_where_samples_are_apart_and_alike) {
  Matrix<double> apart(30, 30, 0.0);
  for (std::size_t i = 0; i < 30; ++i) {
    for (std::size_t j = 0; j < 30; ++j) apart(i, j) = (i < 12) == (j < 12) ? 1.0 : 0.0;
  }
  for (const char* const method : {"ekqd", "supkqd", "mmd"}) {
    TwoSampleOptions test;
    test.method = method;
    test.statistic.directions.reference = ReferenceMeasure::pooled;
    test.test.num_permutations = 19;
    const auto pvalue = [&](Matrix<double> gram) {
      test.statistic.kernel = gram_kernel(std::move(gram));
      return two_sample_test(numbered_rows(0, 12), numbered_rows(12, 18), test).test.pvalue;
    };
    EXPECT_EQ(pvalue(apart), 0.05) << method;
    EXPECT_EQ(pvalue(Matrix<double>(30, 30, 1.0)), 1.0) << method;
  }
}

TEST(RequireGram, refuses_what_is_not_a_gram_matrix) {
  const auto refused = [](std::vector<double> values, ErrorCode code, const std::string& sentence) {
    const auto n = static_cast<std::size_t>(std::sqrt(static_cast<double>(values.size())));
    expect_error(code, sentence, [&] { require_gram({values.data(), n, values.size() / n}); });
  };
  refused({1, 2, 0, 1, 0, 1}, ErrorCode::shape_mismatch,
          "the Gram matrix is 2 x 3, expected a square one with a row for each object");
  refused({1, 0, 0.5, 1}, ErrorCode::invalid_option,
          "the Gram matrix is not symmetric: 0.5 in row 2, column 1 and 0 the other way round");
  refused({-1, 0, 0, 1}, ErrorCode::invalid_option, "row 1 of the Gram matrix has -1 on the diagonal, needs >= 0");
  refused({1, NAN, 0, 1}, ErrorCode::non_finite_value,
          "row 1, column 2 of the Gram matrix is nan, expected a finite number");
  refused({1, 0.9, -0.9, 0.9, 1, 0.9, -0.9, 0.9, 1}, ErrorCode::invalid_option,
          "the Gram matrix is not positive semidefinite: it has the eigenvalue -0.8 (the largest is 1.9), needs >= 0; "
          "the kernel behind it is not a kernel");
}

TEST(SpectrumKernel, counts_substrings_of_characters) {
  const std::vector<std::string> texts = {"abab", "ba", "", "ööö"};
  const auto features = spectrum_features(texts, 2);
  ASSERT_EQ(features.size(), 4U);
  EXPECT_EQ(features[0].values, (std::vector<double>{2, 1}));  // ab twice, ba once
  EXPECT_EQ(features[1].keys, (std::vector<std::uint32_t>{1}));
  EXPECT_TRUE(features[2].keys.empty());
  EXPECT_EQ(features[3].values, (std::vector<double>{2}));
  const Matrix<double> values = values_of(object_kernel("spectrum:2", texts), 4);
  EXPECT_DOUBLE_EQ(values(0, 1), 1.0 / std::sqrt(5.0));
  EXPECT_DOUBLE_EQ(values(0, 0), 1.0);
  EXPECT_EQ(values(2, 2), 0.0);
}

// A path and a triangle of three equal nodes: after one round the middle of the path and all of the triangle have two
// neighbours. Round 0: 3 x 3; round 1: 1 x 3. Lengths: path 9 + 4 + 1, triangle 9 + 9.
TEST(SubtreeKernel, refines_labels_by_those_of_neighbours) {
  const std::vector<std::string> lines = {R"({"edges": [[0, 1], [1, 2]]})", R"({"edges": [[0, 1], [1, 2], [2, 0]]})"};
  const Matrix<double> values = values_of(object_kernel("wl:1", lines), 2);
  EXPECT_DOUBLE_EQ(values(0, 1), 12.0 / std::sqrt(14.0 * 18.0));
}

TEST(SubtreeKernel, does_not_see_the_names_of_nodes) {
  const std::vector<std::string> lines = {R"({"edges": [[0, 1], [1, 2]], "labels": ["a", "b", "c"]})",
                                          R"({"edges": [[2, 0], [1, 2]], "labels": ["a", "c", "b"]})"};
  EXPECT_DOUBLE_EQ(values_of(object_kernel("wl:3", lines), 2)(0, 1), 1.0);
}

TEST(ObjectKernel, of_sets_and_categories_is_the_share_in_common) {
  const std::vector<std::string> sets = {"a, b, c", "b,c,d,e", ""};
  EXPECT_DOUBLE_EQ(values_of(object_kernel("sets", sets), 3)(0, 1), 2.0 / std::sqrt(12.0));
  const std::vector<std::string> rows = {"red,1,x", "red,2,x"};
  EXPECT_DOUBLE_EQ(values_of(object_kernel("hamming", rows), 2)(0, 1), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(values_of(object_kernel("aitchison:0.2", rows), 2)(0, 1), 0.25);  // 0.2 / 0.8, two categories
}

TEST(ObjectKernel, refuses_texts_that_it_cannot_read) {
  const std::vector<std::string> lines = {R"({"edges": []})", "x"};
  expect_error(ErrorCode::unreadable_input,
               R"(object 2: not a graph in JSON, expected {"edges": [[0, 1], ...]} with "labels" or "nodes")",
               [&] { static_cast<void>(object_kernel("wl:2", lines)); });
  // A long value is cut, but no character of two bytes.
  std::string edge = "a";
  for (int i = 0; i < 40; ++i) edge += "\xc3\xa9";
  const std::vector<std::string> cut = {"{\"edges\": [[\"" + edge + "\"]]}"};
  expect_error(ErrorCode::unreadable_input,
               R"(object 1: an edge is ["a\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u0 ..., expected )"
               R"({"edges": [[0, 1], ...]} with "labels" or "nodes")",
               [&] { static_cast<void>(object_kernel("wl:2", cut)); });
  // Recursion over values within values would end the process.
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  for (const std::string name : {R"({"edges": )", R"({"edges": [], "labels": )"}) {
    const std::vector<std::string> nested = {name + deep + "}"};
    expect_error(ErrorCode::unreadable_input,
                 "object 1: values are nested more than 64 levels deep, expected {\"edges\": [[0, 1], ...]} with "
                 "\"labels\" or \"nodes\"",
                 [&] { static_cast<void>(object_kernel("wl:2", nested)); });
  }
  expect_error(ErrorCode::invalid_option, "kernel = spectrum:0: expected spectrum:N with a whole number in 1..64",
               [&] { static_cast<void>(object_kernel("spectrum:0", lines)); });
  expect_error(ErrorCode::invalid_option,
               "kernel = gaussian: expected spectrum, wl, sets, hamming or aitchison, for objects",
               [&] { static_cast<void>(object_kernel("gaussian", lines)); });
  EXPECT_TRUE(is_object_kernel("spectrum"));
  EXPECT_FALSE(is_object_kernel("gaussian"));
}

// Each node takes memory, so that few bytes must not name many.
TEST(ParseGraph, bounds_the_number_of_nodes_by_the_length_of_the_line) {
  EXPECT_EQ(parse_graph(R"({"edges": [[0, 99999]]})").num_nodes, 100'000U);
  EXPECT_EQ(parse_graph(R"({"edges": [], "nodes": 100000})").num_nodes, 100'000U);
  const std::string expected = R"(, expected {"edges": [[0, 1], ...]} with "labels" or "nodes")";
  const std::string bound = " for so few edges (nodes are numbered from 0, without gaps)" + expected;
  expect_error(ErrorCode::unreadable_input, "a node is 100000, expected at most 99999" + bound,
               [] { static_cast<void>(parse_graph(R"({"edges": [[0, 100000]]})")); });
  expect_error(ErrorCode::unreadable_input, "a node is 18446744073709551615, expected at most 99999" + bound,
               [] { static_cast<void>(parse_graph(R"({"edges": [[18446744073709551615, 0]]})")); });
  expect_error(ErrorCode::unreadable_input, "the number of nodes is 100001, expected at most 100000" + bound,
               [] { static_cast<void>(parse_graph(R"({"edges": [[0, 1]], "nodes": 100001})")); });
  std::string path = R"({"edges": [[0, 1])";  // a path of 200,000 nodes is as long as that
  for (std::size_t i = 1; i + 1 < 200'000; ++i) path += ",[" + std::to_string(i) + "," + std::to_string(i + 1) + "]";
  EXPECT_EQ(parse_graph(path + "]}").num_nodes, 200'000U);
}

TEST(ObjectData, makes_the_kernel_again) {
  const std::vector<std::string> lines = {"red,1,x", "red,2,x", "blue,1,y"};
  for (const char* const name : {"spectrum:2", "sets", "hamming", "aitchison:0.3", "precomputed"}) {
    const bool is_gram = std::string_view(name) == "precomputed";
    const KernelSpec kernel =
        is_gram ? gram_kernel(Matrix<double>(3, 3, {2, 1, 0, 1, 2, 1, 0, 1, 2})) : object_kernel(name, lines);
    const auto data = object_data(kernel);
    ASSERT_TRUE(data) << name;
    EXPECT_EQ(data().lines, is_gram ? std::vector<std::string>{} : lines) << name;
    EXPECT_EQ(data().gram.rows(), is_gram ? 3U : 0U) << name;
    const Matrix<double> first = values_of(kernel, 3);
    const Matrix<double> again = values_of(object_kernel(name, data()), 3);
    EXPECT_TRUE(std::ranges::equal(first.values(), again.values())) << name;
  }
  EXPECT_FALSE(object_data(parse_kernel("gaussian")));
  EXPECT_FALSE(object_data(feature_kernel("features", spectrum_features(lines, 2))));
}

}  // namespace
}  // namespace kqd
