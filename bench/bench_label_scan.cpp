// Permuting the labels of a sorted pool and sorting each permutation again, in one run: the ratio is reliable, the
// times depend on other load. Counters are medians per row and permutation, in nanoseconds.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "kqd/core/labels.hpp"
#include "kqd/core/matrix.hpp"
#include "simd/label_scan.hpp"
#include "simd/label_split.hpp"
#include "simd/target.hpp"

namespace kqd {
namespace {

// Processor time, which excludes other programs, though not their use of the caches.
template <class F>
double seconds(const F& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Problem {
  std::vector<double> by_row;
  std::vector<double> values;
  std::vector<std::uint32_t> order;
  Matrix<std::uint64_t> words;
  std::size_t num_x;

  Problem(std::size_t num_rows, std::size_t num_x_rows, std::size_t num_words)
      : by_row(num_rows), order(num_rows), words(num_rows, num_words, 0), num_x(num_x_rows) {
    RandomStream stream(Seed{1}, Purpose::test_data, 0);
    for (double& value : by_row) value = stream.normal();
    for (std::size_t i = 0; i < num_rows; ++i) order[i] = static_cast<std::uint32_t>(i);
    std::ranges::sort(order, {}, [&](std::uint32_t row) { return by_row[row]; });
    for (const std::uint32_t row : order) values.push_back(by_row[row]);
    for (std::size_t b = 0; b < 64 * num_words; ++b) {
      std::size_t left = num_x;  // selection sampling: row by row, each label with its conditional probability
      for (std::size_t row = 0; row < num_rows; ++row) {
        if (stream.below(num_rows - row) >= left) continue;
        words(row, b / 64) |= std::uint64_t{1} << (b % 64);
        --left;
      }
    }
  }
  [[nodiscard]] simd::SortedPool pool() const { return {values, order}; }
};

// A permutation without a plan: sorts both groups and compares their quantiles.
double sort_again(const Problem& problem, std::size_t permutation, double power) {
  std::vector<double> x, y;
  x.reserve(problem.by_row.size());
  y.reserve(problem.by_row.size());
  for (std::size_t row = 0; row < problem.by_row.size(); ++row) {
    ((problem.words(row, permutation / 64) >> (permutation % 64)) & 1U ? x : y).push_back(problem.by_row[row]);
  }
  std::ranges::sort(x);
  std::ranges::sort(y);
  double sum = 0.0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    sum += power == 2.0 ? (x[j] - y[j]) * (x[j] - y[j]) : std::abs(x[j] - y[j]);
  }
  return sum;
}

// Times permute() of all permutations and sort_again() of one of them, repeatedly.
template <class Permute>
void compare(benchmark::State& state, const Problem& problem, double power, std::vector<double>& results,
             double result_scale, const Permute& permute) {
  const std::size_t permutation_count = results.size();
  const auto num_rows = static_cast<double>(problem.values.size());
  std::vector<double> permute_s, sort_s;
  std::size_t permutation = 0;
  for ([[maybe_unused]] auto _ : state) {
    permute_s.push_back(seconds(permute) / static_cast<double>(permutation_count));
    state.SetIterationTime(permute_s.back());
    if (power == 0.0) continue;  // no counterpart among equal sizes
    double sorted = 0.0;
    sort_s.push_back(seconds([&] { sorted = sort_again(problem, permutation, power); }));
    if (std::abs(sorted - result_scale * results[permutation]) > 1e-6 * sorted)
      throw std::runtime_error("wrong result");
    permutation = (permutation + 1) % permutation_count;
  }
  state.SetLabel(simd::target_name());
  state.counters["permute_ns"] = 1e9 * median(permute_s) / num_rows;
  if (sort_s.empty()) return;
  state.counters["sort_ns"] = 1e9 * median(sort_s) / num_rows;
  state.counters["ratio"] = median(sort_s) / median(permute_s);
}

void scan_equal(benchmark::State& state) {
  const auto num_rows = static_cast<std::size_t>(state.range(0));
  const Problem problem(num_rows, num_rows / 2, static_cast<std::size_t>(state.range(1)));
  std::vector<double> sums(64 * problem.words.cols());
  compare(state, problem, 1.0, sums, 2.0, [&] { simd::label_scan_equal(problem.pool(), problem.words, sums); });
}

void scan_any(benchmark::State& state) {
  const auto num_rows = static_cast<std::size_t>(state.range(0));
  const Problem problem(num_rows, num_rows / 3, static_cast<std::size_t>(state.range(1)));
  std::vector<double> sums(64 * problem.words.cols());
  const std::vector<std::size_t> num_x(sums.size(), problem.num_x);
  compare(state, problem, 0.0, sums, 1.0, [&] { simd::label_scan(problem.pool(), problem.words, num_x, sums); });
}

void split_equal(benchmark::State& state) {
  const auto num_rows = static_cast<std::size_t>(state.range(0));
  const double power = 2.0;
  const Problem problem(num_rows, num_rows / 2, static_cast<std::size_t>(state.range(1)));
  const std::vector pieces = {simd::LevelPieces{num_rows / 2, {}, {}}};
  std::vector<double> integrals(64 * problem.words.cols());
  simd::LabelSplitter splitter;
  compare(state, problem, power, integrals, 1.0, [&] {
    splitter.set_labels(problem.order, problem.words, integrals.size());
    splitter.integrate(problem.values, pieces, power, integrals);
  });
}

void split_any(benchmark::State& state) {
  const auto num_rows = static_cast<std::size_t>(state.range(0));
  const auto power = static_cast<double>(state.range(1)) / 10.0;
  const Problem problem(num_rows, num_rows / 3, 1);
  std::vector<double> mass;
  std::vector<std::uint8_t> step;
  const std::size_t num_x = problem.num_x, num_y = num_rows - num_x;
  for (std::size_t i = 1, j = 1; i <= num_x && j <= num_y;) {
    const bool next_x = i * num_y <= j * num_x, next_y = j * num_x <= i * num_y;
    mass.push_back(1.0);
    step.push_back(static_cast<std::uint8_t>((next_x ? 1U : 0U) | (next_y ? 2U : 0U)));
    i += next_x ? 1 : 0;
    j += next_y ? 1 : 0;
  }
  const std::vector pieces = {simd::LevelPieces{mass.size(), mass, step}};
  std::vector<double> integrals(64), sums(64);
  simd::LabelSplitter splitter;
  compare(state, problem, 0.0, integrals, 1.0, [&] {
    splitter.set_labels(problem.order, problem.words, integrals.size());
    splitter.integrate(problem.values, pieces, power, integrals, sums);
  });
}

using Body = void (*)(benchmark::State&);

void add(const char* name, Body body, const char* argument, const std::vector<std::int64_t>& choices) {
  for (const std::int64_t choice : choices) {
    for (const auto& [num_rows, rounds] : {std::pair{65'536, 45}, std::pair{2'000'000, 9}}) {
      benchmark::RegisterBenchmark(name, body)
          ->ArgNames({"n", argument})
          ->Args({num_rows, choice})
          ->Iterations(rounds)
          ->UseManualTime();
    }
  }
}

[[maybe_unused]] const bool kRegistered = [] {
  add("simd/label_scan_equal/power:1", scan_equal, "words", {1, 4, 8});
  add("simd/label_scan/power:1", scan_any, "words", {1, 8});
  add("simd/label_split_equal/power:2", split_equal, "words", {1, 4});
  add("simd/label_split", split_any, "tenfold_power", {20, 15});
  return true;
}();

}  // namespace
}  // namespace kqd
