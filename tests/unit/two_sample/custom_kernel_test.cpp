// Kernels of the caller's own: the same numbers as the library's where they are the same function, and what is refused.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "kernel/kernel_block.hpp"
#include "kqd/kqd.hpp"
#include "support/errors.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

using test::expect_error;

double squared_distance(std::span<const double> a, std::span<const double> b) {
  double total = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) total += (a[k] - b[k]) * (a[k] - b[k]);
  return total;
}

// A kernel from its value at a pair of points.
template <class Value>
KernelSpec by_pairs(const std::string& name, const Value& value) {
  return KernelSpec::custom(name, [value](auto x, auto z, auto values) {
    for (std::size_t i = 0; i < values.rows(); ++i) {
      for (std::size_t j = 0; j < values.cols(); ++j) values(i, j) = value(x.row(i), z.row(j));
    }
  });
}

KernelSpec own_gaussian() {
  return by_pairs("own", [](auto a, auto b) { return std::exp(-squared_distance(a, b) / 8.0); });
}

struct Data {
  Sample x;
  Sample y;
  MethodOptions options;
};

Data data(std::size_t n = 70) {
  test::Source source(17);
  Data d{test::normal_sample({n, 3}, source), test::normal_sample({n - 10, 3}, source, 0.4), {}};
  d.options.directions.num_directions = 6;
  return d;
}

TEST(CustomKernel, gives_the_numbers_of_the_same_kernel_of_the_library) {
  const Data d = data();
  for (const MethodInfo& method : methods()) {
    if (!method.uses.kernel || method.id == "mmd-rff" || method.id == "scf" || !method.has_distance) continue;
    MethodOptions ours = d.options;
    MethodOptions theirs = d.options;
    ours.kernel = parse_kernel("gaussian@2");
    theirs.kernel = own_gaussian();
    const double expected = distance(method.id, d.x, d.y, ours).statistic;
    // Kernel values agree to a few roundings; suprema by ascent and eigenvalues amplify them.
    EXPECT_NEAR(distance(method.id, d.x, d.y, theirs).statistic, expected, 1e-6 * (1.0 + std::abs(expected)))
        << method.id;
    TwoSampleOptions test{.method = std::string(method.id), .statistic = theirs};
    test.test.num_permutations = 19;
    EXPECT_EQ(to_string(two_sample_test(d.x, d.y, test).kernel), "own") << method.id;
  }
}

TEST(CustomKernel, takes_part_in_sums_and_products) {
  const Data d = data();
  KernelSpec sum;
  sum.family = KernelFamily::sum;
  sum.parts = {own_gaussian(), parse_kernel("linear:1")};
  sum.parts[0].weight = 0.5;
  const Kernel mixed(sum);
  const Kernel plain(parse_kernel("0.5 gaussian@2+linear:1"));
  EXPECT_EQ(to_string(sum), "0.5 own+linear:1");
  Matrix<double> a(70, 60);
  Matrix<double> b(70, 60);
  mixed.evaluate(d.x.points, d.y.points, a);
  plain.evaluate(d.x.points, d.y.points, b);
  std::vector<double> da(70);
  std::vector<double> db(70);
  mixed.diagonal(d.x.points, da);
  plain.diagonal(d.x.points, db);
  std::vector<double> pa(60);
  evaluate_pairs(mixed, d.x.points.view().row_range(0, 60), d.y.points, pa);
  for (std::size_t i = 0; i < 70; ++i) EXPECT_NEAR(da[i], db[i], 1e-12);
  for (std::size_t i = 0; i < 60; ++i) EXPECT_NEAR(pa[i], a(i, i), 1e-12);
  for (std::size_t i = 0; i < a.values().size(); ++i) EXPECT_NEAR(a.values()[i], b.values()[i], 1e-12);
  EXPECT_FALSE(mixed.shift_invariant());
}

TEST(CustomKernel, gives_the_same_bits_for_any_number_of_threads) {
  const Data d = data(700);
  MethodOptions options = d.options;
  options.kernel = own_gaussian();
  options.threads = ThreadCount{1};
  const auto one = ekqd(d.x, d.y, options);
  options.threads = ThreadCount{3};
  EXPECT_EQ(ekqd(d.x, d.y, options).per_direction, one.per_direction);
}

TEST(CustomKernel, what_it_throws_reaches_the_caller) {
  const Data d = data(600);
  MethodOptions options = d.options;
  std::atomic<int> calls{0};
  options.kernel = KernelSpec::custom("late", [&](auto x, auto z, auto values) {
    if (++calls > 3) throw std::domain_error("not there");
    for (std::size_t i = 0; i < values.rows(); ++i) {
      for (std::size_t j = 0; j < values.cols(); ++j) values(i, j) = std::exp(-squared_distance(x.row(i), z.row(j)));
    }
  });
  EXPECT_THROW(static_cast<void>(mmd(d.x, d.y, options)), std::domain_error);
}

TEST(CustomKernel, is_refused_when_it_is_no_kernel) {
  const Sample x = test::column({0.0, 1.0});
  const Sample y = test::column({2.0, 5.0});
  const auto with = [&](const KernelSpec& kernel) {
    return [&x, &y, kernel] { static_cast<void>(mmd_v(x, y, {.kernel = kernel})); };
  };
  expect_error(ErrorCode::invalid_option,
               "kernel lopsided is not symmetric: 1 for the points (1) and (0), 0 the other way round",
               with(by_pairs("lopsided", [](auto a, auto) { return a[0]; })));
  expect_error(ErrorCode::invalid_option, "kernel negative is -1 for the point (1) with itself, needs >= 0",
               with(by_pairs("negative", [](auto a, auto b) { return -a[0] * b[0]; })));
  expect_error(
      ErrorCode::invalid_option,
      "kernel distance is 1 for the points (1) and (0), needs at most 0 in size, the root of k(a, a) k(b, b); a "
      "distance D is not a kernel, but exp(-D^2 / h^2) is",
      with(by_pairs("distance", [](auto a, auto b) { return std::abs(a[0] - b[0]); })));
  expect_error(ErrorCode::non_finite_value, "kernel nan is nan for the points (0) and (0), expected a finite number",
               with(by_pairs("nan", [](auto, auto) { return std::numeric_limits<double>::quiet_NaN(); })));
  expect_error(ErrorCode::invalid_option, "kernel = nothing: expected a custom kernel with a name and a function",
               with(KernelSpec::custom("nothing", {})));
}

TEST(CustomKernel, is_refused_by_methods_that_need_more_than_values) {
  const Data d = data();
  MethodOptions options = d.options;
  options.kernel = own_gaussian();
  expect_error(ErrorCode::invalid_option,
               "kernel = own (a function): expected one with random Fourier features: gaussian, laplace, matern12, "
               "matern32, matern52, rq, imq, mixed, their sums and products",
               [&] { static_cast<void>(distance("mmd-rff", d.x, d.y, options)); });
  expect_error(ErrorCode::invalid_option, "scf: kernel own, needs gaussian: its bandwidth is the width of the window",
               [&] { static_cast<void>(distance("scf", d.x, d.y, options)); });
  options.parameters["optimise"] = 1;
  expect_error(ErrorCode::invalid_option, "me: optimise = 1 with kernel own, needs gaussian",
               [&] { static_cast<void>(distance("me", d.x, d.y, options)); });
}

TEST(CustomKernel, embeddings_share_a_space_only_with_the_same_function) {
  const Data d = data();
  const Kernel one(own_gaussian());
  const Kernel other(own_gaussian());
  const auto directions = [&](const Kernel& kernel) {
    return draw_directions(kernel, d.x, d.y, d.options.directions, Seed{1}).directions;
  };
  EXPECT_NEAR(directions(one)->inner_product(0, *directions(one), 0), 1.0, 1e-12);
  expect_error(ErrorCode::shape_mismatch, "directions of own and own live in different spaces",
               [&] { static_cast<void>(directions(one)->inner_product(0, *directions(other), 0)); });
}

TEST(Directions, of_a_result_are_those_behind_its_gaps) {
  const Data d = data();
  const DistanceResult result = ekqd(d.x, d.y, d.options);
  ASSERT_NE(result.directions, nullptr);
  const KernelQuantileEmbedding p(d.x, result.directions);
  const KernelQuantileEmbedding q(d.y, result.directions);
  EXPECT_EQ(ekqd(p, q, d.options).per_direction, result.per_direction);
  TwoSampleOptions test{.method = "supkqd", .statistic = d.options};
  test.test.num_permutations = 19;
  const TwoSampleResult tested = two_sample_test(d.x, d.y, test);
  ASSERT_NE(tested.directions, nullptr);
  EXPECT_EQ(tested.directions->count(), tested.per_direction.size());
  test.method = "mmd";
  EXPECT_EQ(two_sample_test(d.x, d.y, test).directions, nullptr);
}

}  // namespace
}  // namespace kqd
