// Two-sample tests of texts, graphs and sets: significance level under the null hypothesis, power against alternatives.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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

constexpr std::size_t kNodes = 12;

// Erdos and Renyi: independent edges, 24 on average.
Graph independent_edges(Engine& engine) {
  Graph graph{.num_nodes = kNodes};
  for (std::size_t i = 0; i < kNodes; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (happens(4.0 / (kNodes - 1), engine)) graph.edges.emplace_back(i, j);
    }
  }
  return graph;
}

// Watts and Strogatz: a ring in which each node knows its two neighbours on either side, 24 edges; the far end of each
// edge moves, with probability 0.1, to a node drawn among those that are not neighbours yet.
Graph small_world(Engine& engine) {
  std::array<std::array<bool, kNodes>, kNodes> known{};
  const auto join = [&](std::size_t a, std::size_t b, bool yes) { known[a][b] = known[b][a] = yes; };
  for (std::size_t i = 0; i < kNodes; ++i) {
    for (std::size_t step = 1; step <= 2; ++step) join(i, (i + step) % kNodes, true);
  }
  for (std::size_t step = 1; step <= 2; ++step) {
    for (std::size_t i = 0; i < kNodes; ++i) {
      if (!happens(0.1, engine)) continue;
      std::size_t other = engine() % kNodes;
      while (other == i || known[i][other]) other = engine() % kNodes;
      join(i, (i + step) % kNodes, false);
      join(i, other, true);
    }
  }
  Graph graph{.num_nodes = kNodes};
  for (std::size_t i = 0; i < kNodes; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (known[i][j]) graph.edges.emplace_back(i, j);
    }
  }
  return graph;
}

std::vector<Graph> graphs_of(Graph (*model)(Engine&), std::size_t n, Engine& engine) {
  std::vector<Graph> graphs;
  for (std::size_t g = 0; g < n; ++g) graphs.push_back(model(engine));
  return graphs;
}

// Sets of about half of the members a to h; the first of them with a probability of its own.
std::vector<std::vector<std::string>> sets_of_letters(std::size_t n, double with_first, Engine& engine) {
  std::vector<std::vector<std::string>> sets(n);
  for (auto& set : sets) {
    for (const char letter : std::string("abcdefgh")) {
      if (happens(letter == 'a' ? with_first : 0.5, engine)) set.emplace_back(1, letter);
    }
  }
  return sets;
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

// Exact tests of 19 permutations reject in 0.05 of all runs, less often only with ties: the statistics of these objects
// have next to none. Binomial(400, 0.05) is outside [3, 44] with probability below 1e-6 on either side. One seed for
// all data sets.
constexpr int kLevelRuns = 400;

template <class DrawFeatures>
void expect_level(const DrawFeatures& draw_features, const char* what) {
  for (const char* method : {"ekqd", "adaptive"}) {
    int rejected = 0;
    for (std::uint64_t run = 0; run < kLevelRuns; ++run) {
      Engine engine(run);
      if (pvalue_of(draw_features(engine), 19, 0, method) <= 0.05) ++rejected;
    }
    EXPECT_GE(rejected, 3) << what << ", " << method;
    EXPECT_LE(rejected, 44) << what << ", " << method;
  }
}

TEST(ObjectKernels, keep_the_level_on_texts_of_one_distribution) {
  expect_level([](Engine& engine) { return spectrum_features(markov_chains(24, 20, 0.3, engine), 2); }, "texts");
}

TEST(ObjectKernels, keep_the_level_on_graphs_of_one_model) {
  expect_level([](Engine& engine) { return subtree_features(graphs_of(independent_edges, 24, engine), 2); },
               "independent edges");
  expect_level([](Engine& engine) { return subtree_features(graphs_of(small_world, 24, engine), 2); }, "small worlds");
}

TEST(ObjectKernels, keep_the_level_on_sets_of_one_distribution) {
  expect_level([](Engine& engine) { return member_features(sets_of_letters(24, 0.5, engine)); }, "sets");
}

TEST(ObjectKernels, have_power_on_two_markov_chains_two_models_of_graphs_and_sets) {
  for (const char* method : {"ekqd", "adaptive"}) {
    Engine engine(1);
    const auto texts = joined(markov_chains(60, 50, 0.6, engine), markov_chains(60, 50, 0.1, engine));
    EXPECT_LE(pvalue_of(spectrum_features(texts, 2), 199, 1, method), 0.01) << method;
    const auto graphs = joined(graphs_of(independent_edges, 40, engine), graphs_of(small_world, 40, engine));
    EXPECT_LE(pvalue_of(subtree_features(graphs, 2), 199, 1, method), 0.01) << method;
    const auto sets = joined(sets_of_letters(60, 0.9, engine), sets_of_letters(60, 0.2, engine));
    EXPECT_LE(pvalue_of(member_features(sets), 199, 1, method), 0.01) << method;
  }
}

// Objects that no kernel value tells apart have one p-value, whatever their numbers.
TEST(ObjectKernels, alike_have_the_pvalue_one) {
  EXPECT_EQ(pvalue_of(spectrum_features(std::vector<std::string>(20, "abc"), 2), 99, 1, "adaptive"), 1.0);
}

// The smallest adjusted p-value of the directions that explain() examines: Holm's rule, so at most 0.05 of the runs.
// Binomial(150, 0.05) exceeds 23 with probability below 1e-6, and Binomial(150, 0.1) is 0 with probability below 1e-6:
// adjusted p-values up to 0.25 are not as rare as that.
TEST(ObjectKernels, directions_that_explain_them_keep_the_level) {
  int rejected = 0;
  int small = 0;
  for (std::uint64_t run = 0; run < 150; ++run) {
    Engine engine(run);
    ExplainOptions options;
    options.kernel = feature_kernel("features", spectrum_features(markov_chains(24, 20, 0.3, engine), 2));
    options.num_permutations = 399;
    const Explanation found = explain(numbered_rows(0, 12), numbered_rows(12, 12), options);
    EXPECT_TRUE(found.columns.empty());
    if (std::ranges::any_of(found.directions, &DirectionExplanation::reject)) ++rejected;
    if (std::ranges::any_of(found.directions, [](const auto& one) { return one.pvalue_adjusted <= 0.25; })) ++small;
  }
  EXPECT_LE(rejected, 23);
  EXPECT_GE(small, 1);
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
// one seed serves all of them. Bounds as above.
TEST(ObjectKernels, keep_the_level_where_numbers_begin_elsewhere) {
  int rejected = 0;
  for (std::uint64_t run = 0; run < kLevelRuns; ++run) {
    Engine engine(run);
    TwoSampleOptions options;
    options.method = "adaptive";
    options.statistic.kernel = feature_kernel("features", spectrum_features(markov_chains(30, 20, 0.3, engine), 2));
    options.test.num_permutations = 19;
    if (two_sample_test(numbered_rows(6, 12), numbered_rows(18, 12), options).test.pvalue <= 0.05) ++rejected;
  }
  EXPECT_GE(rejected, 3);
  EXPECT_LE(rejected, 44);
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
