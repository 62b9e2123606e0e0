// Two-sample tests of texts and graphs: significance level under the null hypothesis, power against alternatives.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kqd/kernel/objects.hpp"
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

double pvalue_of(std::vector<SparseVector> features, std::int64_t num_permutations, std::uint64_t seed) {
  TwoSampleOptions options;
  options.method = "ekqd";
  const std::size_t half = features.size() / 2;
  options.statistic.kernel = feature_kernel("features", std::move(features));
  options.statistic.directions.reference = ReferenceMeasure::pooled;
  options.statistic.directions.num_directions = 16;
  options.statistic.seed = Seed{seed};
  options.test.num_permutations = num_permutations;
  return two_sample_test(numbered_rows(0, half), numbered_rows(half, half), options).test.pvalue;
}

// Binomial(200, 0.05) exceeds 28 with probability below 1e-6; ties only lower the rate.
TEST(ObjectKernels, keep_the_level_on_texts_and_graphs_of_one_distribution) {
  int texts_rejected = 0;
  int graphs_rejected = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Engine engine(seed);
    if (pvalue_of(spectrum_features(markov_chains(24, 20, 0.3, engine), 2), 19, seed) <= 0.05) ++texts_rejected;
    if (pvalue_of(subtree_features(graphs_of_eight(24, false, engine), 2), 19, seed) <= 0.05) ++graphs_rejected;
  }
  EXPECT_LE(texts_rejected, 28);
  EXPECT_LE(graphs_rejected, 28);
}

TEST(ObjectKernels, have_power_on_two_markov_chains_and_two_models_of_graphs) {
  Engine engine(1);
  const auto texts = joined(markov_chains(60, 50, 0.6, engine), markov_chains(60, 50, 0.1, engine));
  EXPECT_LE(pvalue_of(spectrum_features(texts, 2), 199, 1), 0.01);
  const auto graphs = joined(graphs_of_eight(40, true, engine), graphs_of_eight(40, false, engine));
  EXPECT_LE(pvalue_of(subtree_features(graphs, 2), 199, 1), 0.01);
}

}  // namespace
}  // namespace kqd
