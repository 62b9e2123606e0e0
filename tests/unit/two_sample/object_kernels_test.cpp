// Two-sample tests of texts and graphs: significance level under the null hypothesis, power against alternatives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kqd/explain/explain.hpp"
#include "kqd/kernel/objects.hpp"
#include "kqd/metrics/distance_matrix.hpp"
#include "kqd/metrics/embedding_table.hpp"
#include "kqd/report/explanation.hpp"
#include "kqd/two_sample/pairwise_tests.hpp"
#include "kqd/two_sample/two_sample_test.hpp"

namespace kqd {
namespace {

using Engine = std::mt19937_64;  // whose numbers the standard fixes, unlike those of its distributions

bool happens(double probability, Engine& engine) {
  return static_cast<double>(engine() >> 11U) * 0x1p-53 < probability;
}

// Chains of four letters that repeat the last one with probability `stay`.
std::vector<std::string> markov_chains(std::size_t n, std::size_t length, double stay, Engine& engine) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < n; ++i) {
    std::string text(1, "acgt"[engine() % 4]);
    while (text.size() < length) text += happens(stay, engine) ? text.back() : "acgt"[engine() % 4];
    texts.push_back(text);
  }
  return texts;
}

// Graphs of eight nodes with independent edges, or rings with as many edges on average.
std::vector<Graph> graphs_of_eight(std::size_t n, bool rings, Engine& engine) {
  std::vector<Graph> graphs;
  for (std::size_t g = 0; g < n; ++g) {
    Graph graph{.num_nodes = 8};
    for (std::size_t i = 0; i < 8; ++i) {
      if (rings) graph.edges.emplace_back(i, (i + 1) % 8);
      for (std::size_t j = 0; j < i && !rings; ++j) {
        if (happens(2.0 / 7.0, engine)) graph.edges.emplace_back(i, j);
      }
    }
    graphs.push_back(graph);
  }
  return graphs;
}

template <class Objects>
Objects joined(Objects x, const Objects& y) {
  x.insert(x.end(), y.begin(), y.end());
  return x;
}

double pvalue_of(std::vector<SparseVector> features, std::int64_t num_permutations, std::uint64_t seed,
                 const std::string& method = "ekqd") {
  TwoSampleOptions options;
  options.method = method;
  const std::size_t half = features.size() / 2;
  options.statistic.kernel = feature_kernel("features", std::move(features));
  options.statistic.directions.reference = ReferenceMeasure::pooled;
  options.statistic.directions.num_directions = 16;
  options.statistic.seed = Seed{seed};
  options.test.num_permutations = num_permutations;
  return two_sample_test(numbered_rows(0, half), numbered_rows(half, half), options).test.pvalue;
}

// Binomial(200, 0.05) exceeds 28 with probability below 1e-6; ties only lower the rate. One seed for all data sets.
TEST(ObjectKernels, keep_the_level_on_texts_and_graphs_of_one_distribution) {
  for (const char* method : {"ekqd", "adaptive"}) {
    int texts_rejected = 0;
    int graphs_rejected = 0;
    for (std::uint64_t run = 0; run < 200; ++run) {
      Engine engine(run);
      if (pvalue_of(spectrum_features(markov_chains(24, 20, 0.3, engine), 2), 19, 0, method) <= 0.05) ++texts_rejected;
      if (pvalue_of(subtree_features(graphs_of_eight(24, false, engine), 2), 19, 0, method) <= 0.05) ++graphs_rejected;
    }
    EXPECT_LE(texts_rejected, 28) << method;
    EXPECT_LE(graphs_rejected, 28) << method;
  }
}

TEST(ObjectKernels, have_power_on_two_markov_chains_and_two_models_of_graphs) {
  for (const char* method : {"ekqd", "adaptive"}) {
    Engine engine(1);
    const auto texts = joined(markov_chains(60, 50, 0.6, engine), markov_chains(60, 50, 0.1, engine));
    EXPECT_LE(pvalue_of(spectrum_features(texts, 2), 199, 1, method), 0.01);
    const auto graphs = joined(graphs_of_eight(40, true, engine), graphs_of_eight(40, false, engine));
    EXPECT_LE(pvalue_of(subtree_features(graphs, 2), 199, 1, method), 0.01);
  }
}

// Objects that no kernel value tells apart have one p-value, whatever their numbers.
TEST(ObjectKernels, alike_have_the_pvalue_one) {
  EXPECT_EQ(pvalue_of(spectrum_features(std::vector<std::string>(20, "abc"), 2), 99, 1, "adaptive"), 1.0);
}

// The smallest adjusted p-value of the directions that explain() examines: Holm's rule, so at most 0.05 of the runs.
// Binomial(150, 0.05) exceeds 23 with probability below 1e-6.
TEST(ObjectKernels, directions_that_explain_them_keep_the_level) {
  int rejected = 0;
  for (std::uint64_t run = 0; run < 150; ++run) {
    Engine engine(run);
    ExplainOptions options;
    options.kernel = feature_kernel("features", spectrum_features(markov_chains(24, 20, 0.3, engine), 2));
    options.num_permutations = 399;
    const Explanation found = explain(numbered_rows(0, 12), numbered_rows(12, 12), options);
    EXPECT_TRUE(found.columns.empty());
    if (std::ranges::any_of(found.directions, &DirectionExplanation::reject)) ++rejected;
  }
  EXPECT_LE(rejected, 23);
}

TEST(ObjectKernels, explanations_rank_the_objects_of_each_sample) {
  Engine engine(1);
  const auto texts = joined(markov_chains(60, 50, 0.6, engine), markov_chains(60, 50, 0.1, engine));
  ExplainOptions options;
  options.kernel = feature_kernel("features", spectrum_features(texts, 2));
  options.maximiser = "supkqd";
  const Explanation found = explain(numbered_rows(0, 60), numbered_rows(60, 60), options);
  EXPECT_EQ(found.dim, 0U);
  ASSERT_FALSE(found.directions.empty());
  EXPECT_TRUE(found.directions.front().reject);
  EXPECT_TRUE(found.directions.front().columns.empty());
  for (const ExtremeRow& row : found.most_x) EXPECT_TRUE(!row.in_y && row.cells.empty() && row.index < 60);
  for (const ExtremeRow& row : found.most_y) EXPECT_TRUE(row.in_y);
  ASSERT_TRUE(found.maximiser.has_value());
  EXPECT_TRUE(std::isnan(found.maximiser->pvalue));
  EXPECT_NO_THROW((void)explanation_json(found, RunInfo{}));
}

TEST(ObjectKernels, explanations_of_objects_have_no_columns_and_no_images) {
  ExplainOptions options;
  options.kernel = feature_kernel("features", spectrum_features(std::vector<std::string>{"ab", "ba", "aa", "bb"}, 1));
  const auto explained = [&] { return explain(numbered_rows(0, 2), numbered_rows(2, 2), options); };
  EXPECT_NO_THROW((void)explained());
  options.column_names = {"number"};
  EXPECT_THROW((void)explained(), Error);
  options.column_names.clear();
  options.image = ImageShape{1, 1};
  EXPECT_THROW((void)explained(), Error);
  options.image.reset();
  options.maximiser = "max-sw";  // needs columns
  EXPECT_THROW((void)explained(), Error);
  options.maximiser = "mmd";  // has no direction
  EXPECT_THROW((void)explained(), Error);
}

// A matrix along shared directions has the distances of its embeddings; pairs are tested with kernels of all objects.
TEST(ObjectKernels, make_matrices_and_tables_of_embeddings) {
  Engine engine(5);
  std::vector<std::string> texts = joined(markov_chains(60, 40, 0.3, engine), markov_chains(50, 40, 0.3, engine));
  texts = joined(texts, markov_chains(60, 40, 0.8, engine));
  MethodOptions options;
  options.kernel = feature_kernel("features", spectrum_features(texts, 2));
  const std::vector<Sample> samples = {numbered_rows(0, 60), numbered_rows(60, 50), numbered_rows(110, 60)};
  const std::vector<SampleView> views(samples.begin(), samples.end());
  const std::vector<std::string> names = {"a", "b", "c"};
  const DistanceMatrix matrix = distance_matrix(views, names, {"ekqd", options});
  EXPECT_EQ(matrix.dim, 0U);
  EXPECT_GT(matrix.values(0, 2), matrix.values(0, 1));
  const EmbeddingTable table = embedding_table(views, names, even_levels(19), options);
  const KernelQuantileEmbedding a(views[0], table.directions);
  const KernelQuantileEmbedding c(views[2], table.directions);
  EXPECT_EQ(table.quantiles(2, 9), c.quantiles(even_levels(19))(0, 9));
  EXPECT_NEAR(ekqd(a, c).statistic, matrix.values(0, 2), 1e-12);
  for (const char* method : {"ekqd", "adaptive"}) {
    TwoSampleOptions test;
    test.method = method;
    test.statistic = options;
    test.test.num_permutations = 199;
    const PairwiseTests tests = pairwise_tests(views, matrix, test);
    EXPECT_GT(tests.pvalues(0, 1), 0.01) << method;  // these texts, not a rate
    EXPECT_LE(tests.pvalues(0, 2), 0.01) << method;
    EXPECT_LE(tests.pvalues(1, 2), 0.01) << method;
  }
}

// The numbers of the second sample do not begin at 0: permutations must still differ from data set to data set, because
// one seed serves all of them. Binomial(200, 0.05) as above.
TEST(ObjectKernels, keep_the_level_where_numbers_begin_elsewhere) {
  int rejected = 0;
  for (std::uint64_t run = 0; run < 200; ++run) {
    Engine engine(run);
    TwoSampleOptions options;
    options.method = "adaptive";
    options.statistic.kernel = feature_kernel("features", spectrum_features(markov_chains(30, 20, 0.3, engine), 2));
    options.test.num_permutations = 19;
    if (two_sample_test(numbered_rows(6, 12), numbered_rows(18, 12), options).test.pvalue <= 0.05) ++rejected;
  }
  EXPECT_LE(rejected, 28);
}

// Their rows are numbers, which tell X from Y: a test of these numbers would reject every null hypothesis.
TEST(ObjectKernels, are_never_compared_by_the_numbers_of_the_objects) {
  Engine engine(3);
  const auto texts = markov_chains(40, 30, 0.3, engine);
  TwoSampleOptions options;
  options.statistic.kernel = feature_kernel("spectrum:2", spectrum_features(texts, 2));
  options.test.num_permutations = 99;
  const Sample x = numbered_rows(0, 20);
  const Sample y = numbered_rows(20, 20);
  const TwoSampleResult result = two_sample_test(x, y, options);
  EXPECT_EQ(result.method, "adaptive");
  EXPECT_GT(result.test.pvalue, 0.01);  // the first of these texts that were drawn, not a rate
  for (const char* method : {"wasserstein", "sw", "classifier", "mmd-agg", "energy"}) {
    options.method = method;
    EXPECT_THROW((void)two_sample_test(x, y, options), Error) << method;
  }
  options.method = "adaptive";
  EXPECT_GT(two_sample_test(x, y, options).test.pvalue, 0.01);
  options.method = "mmd";
  EXPECT_GT(two_sample_test(x, y, options).test.pvalue, 0.01);
  options.method = "ekqd";
  options.statistic.directions.family = DirectionFamily::axis;
  EXPECT_THROW((void)two_sample_test(x, y, options), Error);
}

}  // namespace
}  // namespace kqd
