// Statistics of group sums: plans against the distance of the rows of each permutation, and distances against sums
// written out in the test from features that the test computes itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "kqd/kqd.hpp"
#include "kqd/testing/permutations.hpp"
#include "metrics/features/landmarks.hpp"
#include "metrics/features/random_features.hpp"
#include "metrics/method.hpp"
#include "support/errors.hpp"
#include "support/plans.hpp"

namespace kqd {
namespace {

using test::PlanCase;

const std::vector<PlanCase>& cases() {
  static const std::vector<PlanCase> all = {{"equal", 40, 40},
                                            {"unequal", 23, 40},
                                            {"more than one block of rows", 200, 150},
                                            {"ties", 31, 27, false, true},
                                            {"weights", 20, 33, true, false},
                                            {"weighted ties", 24, 24, true, true}};
  return all;
}

Sample draw(std::size_t n, std::size_t dim, const PlanCase& c, std::uint64_t index, double shift = 0.0) {
  return test::drawn_sample(n, dim, c, index, Seed{78}, shift);
}

MethodOptions with_settings(Parameters parameters, const std::string& kernel = "gaussian") {
  MethodOptions options;
  options.kernel = parse_kernel(kernel);
  options.parameters = std::move(parameters);
  options.seed = Seed{3};
  return options;
}

void expect_plan_equals_distances(const std::string& id, const PlanCase& c, const MethodOptions& options) {
  test::expect_plan_equals_distance(id, c, 3, options, test::kSameError, Seed{78}, 0.0);
}

void expect_same_bits_for_any_threads(const std::string& id, const MethodOptions& options) {
  const PlanCase c = cases()[2];
  test::expect_same_bits(id, draw(c.nx, 3, c, 1), draw(c.ny, 3, c, 2), options);
}

// ---- Random Fourier features ----

const std::vector<std::string>& spectral_kernels() {
  static const std::vector<std::string> all = {
      "gaussian@1.3", "laplace@2",   "matern12@1.1", "matern32@0.9",         "matern52@1.4",
      "rq:0.7@1.2",   "imq:0.5@0.8", "imq:2@1.5",    "gaussian@2*laplace@3", "0.3 gaussian@1+0.7 matern32@2"};
  return all;
}

// E cos(w.(x - y)) k(0, 0) = k(x, y). By Hoeffding the mean of R cosines is off by more than t with probability at most
// 2 exp(-R t^2 / 2): below 1e-8 for t = 6.2/sqrt(R). k(0, 0) = 1 for all kernels here.
TEST(RandomFourierFeatures, have_the_kernel_as_their_mean_cosine) {
  constexpr std::size_t kCount = 20000;
  const Matrix<double> x(4, 2, {0.0, 0.0, 0.3, -0.2, 1.0, 0.5, -2.0, 1.5});
  const Matrix<double> origin(1, 2, {0.1, 0.1});
  for (const std::string& text : spectral_kernels()) {
    const KernelSpec spec = parse_kernel(text);
    for (const bool orthogonal : {false, true}) {
      if (orthogonal && (spec.family == KernelFamily::laplace || !spec.parts.empty())) continue;
      const Frequencies drawn = draw_frequencies(spec, kCount, 2, orthogonal, Seed{11});
      Matrix<double> expected(4, 1);
      Kernel(spec).evaluate(x, origin, expected);
      for (std::size_t i = 0; i < 4; ++i) {
        double total = 0.0;
        for (std::size_t r = 0; r < kCount; ++r) {
          total += std::cos(drawn.rows(r, 0) * (x(i, 0) - 0.1) + drawn.rows(r, 1) * (x(i, 1) - 0.1));
        }
        // Orthogonal pairs are dependent: half as many independent blocks, hence another factor sqrt(2).
        const double bound = 6.2 / std::sqrt(static_cast<double>(kCount)) * (orthogonal ? std::sqrt(2.0) : 1.0);
        EXPECT_NEAR(drawn.at_zero * total / kCount, expected(i, 0), bound) << text << " " << i;
      }
    }
  }
}

TEST(RandomFourierFeatures, that_are_orthogonal_are_so_in_blocks_of_the_dimension_and_keep_their_lengths) {
  const KernelSpec spec = parse_kernel("matern32@0.7");
  const Matrix<double> plain = draw_frequencies(spec, 11, 4, false, Seed{5}).rows;
  const Matrix<double> turned = draw_frequencies(spec, 11, 4, true, Seed{5}).rows;
  const auto dot = [](std::span<const double> a, std::span<const double> b) {
    double total = 0.0;
    for (std::size_t k = 0; k < a.size(); ++k) total += a[k] * b[k];
    return total;
  };
  for (std::size_t i = 0; i < 11; ++i) {
    const double squared = dot(turned.row(i), turned.row(i));
    EXPECT_NEAR(squared, dot(plain.row(i), plain.row(i)), 1e-13 * squared);
    for (std::size_t j = i - i % 4; j < i; ++j) {
      const double bound = 1e-14 * std::sqrt(squared * dot(turned.row(j), turned.row(j)));
      EXPECT_NEAR(dot(turned.row(i), turned.row(j)), 0.0, 10.0 * bound);
    }
  }
}

// |mean phi_X - mean phi_Y|^2 = sum_ij h_i h_j c(z_i - z_j) with c(t) = mean_r cos(w_r.t): all pairs, no features.
double rff_over_pairs(const Sample& x, const Sample& y, const Frequencies& drawn, bool unbiased) {
  const auto c = [&](std::span<const double> a, std::span<const double> b) {
    double total = 0.0;
    for (std::size_t r = 0; r < drawn.rows.rows(); ++r) {
      double angle = 0.0;
      for (std::size_t k = 0; k < a.size(); ++k) angle += drawn.rows(r, k) * (a[k] - b[k]);
      total += std::cos(angle);
    }
    return drawn.at_zero * total / static_cast<double>(drawn.rows.rows());
  };
  const auto mean = [&](const Sample& p, const Sample& q, bool without_diagonal) {
    const auto a = normalised_weights(p);
    const auto b = normalised_weights(q);
    double total = 0.0;
    double squares = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (std::size_t j = 0; j < b.size(); ++j) {
        if (!without_diagonal || i != j) total += a[i] * b[j] * c(p.points.row(i), q.points.row(j));
      }
      squares += a[i] * a[i];
    }
    return without_diagonal ? total / (1.0 - squares) : total;
  };
  return mean(x, x, unbiased) + mean(y, y, unbiased) - 2.0 * mean(x, y, false);
}

TEST(MmdRff, is_the_mmd_of_the_mean_cosine_over_all_pairs) {
  for (const PlanCase& c : cases()) {
    if (c.nx > 100) continue;
    SCOPED_TRACE(c.name);
    for (const double shift : {0.0, 1000.0}) {  // far from the origin digits are kept
      const Sample x = draw(c.nx, 2, c, 1, shift);
      const Sample y = draw(c.ny, 2, c, 2, shift + 0.5);
      for (const std::string kernel : {"gaussian@1.3", "0.3 gaussian@1+0.7 matern32@2"}) {
        const Frequencies drawn = draw_frequencies(parse_kernel(kernel), 20, 2, false, Seed{3});
        const auto v = distance("mmd-rff", x, y, with_settings({{"features", 20}}, kernel));
        // Rows themselves are rounded to 1e-13 at 1000, and frequencies are below 100.
        EXPECT_NEAR(v.statistic_power, rff_over_pairs(x, y, drawn, false), shift == 0.0 ? 1e-13 : 1e-10);
        EXPECT_NEAR(v.statistic * v.statistic, v.statistic_power, 1e-15);
        const auto u = distance("mmd-rff", x, y, with_settings({{"features", 20}, {"form", 1}}, kernel));
        EXPECT_NEAR(u.statistic, rff_over_pairs(x, y, drawn, true), shift == 0.0 ? 1e-13 : 1e-10);
      }
    }
  }
}

TEST(MmdRff, is_zero_on_equal_samples_and_the_same_for_swapped_ones) {
  const Sample x = draw(30, 3, cases()[0], 1);
  const Sample y = draw(20, 3, cases()[0], 2);
  EXPECT_EQ(distance("mmd-rff", x, x, with_settings({})).statistic, 0.0);
  EXPECT_NEAR(distance("mmd-rff", x, y, with_settings({})).statistic,
              distance("mmd-rff", y, x, with_settings({})).statistic, 1e-15);
}

TEST(MmdRff, plan_equals_the_distance_of_each_permutation) {
  for (const PlanCase& c : cases()) {
    for (const double form : {0.0, 1.0}) {
      expect_plan_equals_distances("mmd-rff", c, with_settings({{"features", 40}, {"form", form}}));
      expect_plan_equals_distances("mmd-rff", c, with_settings({{"features", 7}, {"form", form}}, "laplace"));
    }
  }
  expect_plan_equals_distances("mmd-rff", cases()[1], with_settings({{"features", 9}, {"orthogonal", 1}}, "rq:2"));
  expect_same_bits_for_any_threads("mmd-rff", with_settings({{"features", 16}}));
}

TEST(MmdRff, names_what_it_cannot_do) {
  const Sample x = draw(5, 2, cases()[0], 1);
  const Sample y = draw(6, 2, cases()[0], 2);
  const auto run = [&](const Parameters& parameters, const std::string& kernel) {
    return [&, parameters, kernel] { static_cast<void>(distance("mmd-rff", x, y, with_settings(parameters, kernel))); };
  };
  for (const std::string kernel : {"polynomial", "linear", "energy"}) {
    test::expect_error(ErrorCode::invalid_option,
                       "kernel = " + to_string(parse_kernel(kernel)) +
                           ": expected one with random Fourier features: gaussian, laplace, matern12, matern32, "
                           "matern52, rq, imq, mixed, their sums and products",
                       run({}, kernel));
  }
  test::expect_error(ErrorCode::invalid_option,
                     "kernel = laplace@1: expected one of gaussian, matern12, matern32, matern52, rq, imq for "
                     "orthogonal = 1, which needs a function of the Euclidean distance",
                     run({{"orthogonal", 1}}, "laplace@1"));
  const Sample one = draw(1, 2, cases()[0], 3);
  test::expect_error(ErrorCode::empty_sample, "X has one row, form = u needs at least two", [&] {
    static_cast<void>(distance("mmd-rff", one, y, with_settings({{"form", 1}})));
  });
  EXPECT_GT(distance("mmd-rff", one, y, with_settings({})).statistic, 0.0);
  test::expect_error(ErrorCode::invalid_option, "mmd-rff: features = 0, expected a whole number in [1, 1000000]",
                     run({{"features", 0}}, "gaussian"));
}

TEST(MmdRff, of_one_repeated_point_is_zero_with_a_p_value_of_one) {
  const Sample x{Matrix<double>(6, 2, 1.5), {}, {}};
  TwoSampleOptions options;
  options.method = "mmd-rff";
  const TwoSampleResult result = two_sample_test(x, x, options);
  EXPECT_EQ(result.test.statistic, 0.0);
  EXPECT_EQ(result.test.pvalue, 1.0);
}

// ---- Nystroem ----

// Rows 0..count-1 of (X, Y), to be given as landmarks.
Matrix<double> first_rows(const Sample& x, const Sample& y, std::size_t count) {
  const Pool pool{x.points, y.points};
  Matrix<double> rows(count, pool.dim());
  copy_rows(pool, 0, rows);
  return rows;
}

MethodOptions with_landmarks(Matrix<double> landmarks, const std::string& kernel = "gaussian@1.3") {
  MethodOptions options = with_settings({}, kernel);
  options.directions.reference = ReferenceMeasure::points;
  options.directions.reference_points = std::move(landmarks);
  return options;
}

// The solution of a c = b for a positive definite a, by elimination with complete pivoting in long double.
std::vector<long double> solve(std::vector<std::vector<long double>> a, std::vector<long double> b) {
  const std::size_t n = b.size();
  std::vector<std::size_t> place(n);
  for (std::size_t i = 0; i < n; ++i) place[i] = i;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t p = k;
    for (std::size_t i = k; i < n; ++i) {
      if (std::abs(a[i][i]) > std::abs(a[p][p])) p = i;
    }
    std::swap(a[k], a[p]);
    std::swap(b[k], b[p]);
    for (auto& row : a) std::swap(row[k], row[p]);
    std::swap(place[k], place[p]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const long double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  std::vector<long double> c(n);
  for (std::size_t k = n; k-- > 0;) {
    long double left = b[k];
    for (std::size_t j = k + 1; j < n; ++j) left -= a[k][j] * c[place[j]];
    c[place[k]] = left / a[k][k];
  }
  return c;
}

long double gaussian_value(std::span<const double> a, std::span<const double> b, long double s) {
  long double squared = 0;
  for (std::size_t k = 0; k < a.size(); ++k) squared += (a[k] - b[k]) * static_cast<long double>(a[k] - b[k]);
  return std::exp(-squared / (2 * s * s));
}

std::vector<std::vector<long double>> gaussian_gram(const Matrix<double>& s) {
  std::vector<std::vector<long double>> gram(s.rows(), std::vector<long double>(s.rows()));
  for (std::size_t i = 0; i < s.rows(); ++i) {
    for (std::size_t j = 0; j < s.rows(); ++j) gram[i][j] = gaussian_value(s.row(i), s.row(j), 1.3L);
  }
  return gram;
}

// t_j = sum_i a_i k(x_i, s_j) - sum_i b_i k(y_i, s_j)
std::vector<long double> gaussian_gaps(const Sample& x, std::span<const double> a, const Sample& y,
                                       std::span<const double> b, const Matrix<double>& s) {
  std::vector<long double> t(s.rows());
  for (std::size_t j = 0; j < s.rows(); ++j) {
    for (std::size_t i = 0; i < a.size(); ++i) t[j] += a[i] * gaussian_value(x.points.row(i), s.row(j), 1.3L);
    for (std::size_t i = 0; i < b.size(); ++i) t[j] -= b[i] * gaussian_value(y.points.row(i), s.row(j), 1.3L);
  }
  return t;
}

// MMD^2 = t' K_ss^-1 t. Few landmarks far apart: the condition number of K_ss is below 1e4 here, so 1e-11
// allows for a thousand roundings of kernel values, times it.
TEST(MmdNystrom, is_the_quadratic_form_of_the_inverse_gram_matrix) {
  for (const PlanCase& c : cases()) {
    if (c.ties) continue;  // equal landmarks have no inverse
    SCOPED_TRACE(c.name);
    const Sample x = draw(c.nx, 3, c, 1);
    const Sample y = draw(c.ny, 3, c, 2, 0.3);
    const Matrix<double> s = first_rows(x, y, 6);
    const auto t = gaussian_gaps(x, normalised_weights(x), y, normalised_weights(y), s);
    const auto solved = solve(gaussian_gram(s), t);
    long double form = 0;
    for (std::size_t j = 0; j < t.size(); ++j) form += t[j] * solved[j];
    const DistanceResult found = distance("mmd-nystrom", x, y, with_landmarks(s));
    EXPECT_NEAR(found.statistic_power, static_cast<double>(form), 1e-11);
    EXPECT_EQ(found.num_reference, 6U);
  }
}

// Methods C5: all rows as landmarks give MMD_V. Left-out eigenvalues are below 1e-10 N of the squares of h, |h|^2 =
// 1/nx + 1/ny, so the square is off by less than 1e-9 and the value by 1e-9 / MMD.
TEST(MmdNystrom, with_all_rows_as_landmarks_is_mmd_v) {
  for (const PlanCase& c : cases()) {
    const Sample x = draw(c.nx, 3, c, 1);
    const Sample y = draw(c.ny, 3, c, 2, 0.8);
    for (const std::string kernel : {"gaussian", "laplace", "linear", "polynomial:2:1", "energy"}) {
      const MethodOptions options = with_settings({{"landmarks", static_cast<double>(c.nx + c.ny)}}, kernel);
      const double full = mmd_v(x, y, with_settings({}, kernel)).statistic;
      // Unbounded kernels have eigenvalues, and so rests, in proportion to their values: below 2000 here.
      const double scale = kernel == "gaussian" || kernel == "laplace" ? 1.0 : 2000.0;
      EXPECT_NEAR(distance("mmd-nystrom", x, y, options).statistic, full, 1e-8 * scale) << c.name << " " << kernel;
      MethodOptions by_leverage = options;
      by_leverage.parameters["sampling"] = 1;
      EXPECT_NEAR(distance("mmd-nystrom", x, y, by_leverage).statistic, full, 1e-8 * scale);
    }
  }
}

TEST(MmdNystrom, grows_with_nested_landmarks_up_to_mmd_v) {
  const Sample x = draw(23, 3, cases()[1], 1);
  const Sample y = draw(40, 3, cases()[1], 2, 0.4);
  const double full = mmd_v(x, y, with_settings({}, "gaussian@1.3")).statistic;
  double before = 0.0;
  for (std::size_t r = 1; r <= 63; ++r) {
    const double value = distance("mmd-nystrom", x, y, with_landmarks(first_rows(x, y, r))).statistic;
    EXPECT_GE(value, before - 1e-9) << r;
    EXPECT_LE(value, full + 1e-9) << r;
    before = value;
  }
}

TEST(MmdNystrom, takes_the_rounded_up_root_of_the_pool_as_default_number_of_landmarks) {
  const Sample x = draw(30, 3, cases()[0], 1);
  const Sample y = draw(35, 3, cases()[0], 2);
  EXPECT_EQ(distance("mmd-nystrom", x, y, with_settings({})).num_reference, 9U);  // sqrt(65) = 8.06
}

// A far cluster of three rows among 400. A uniform draw of 10 rows meets it with probability 0.074: 12 times or more in
// 20 with probability below 1e-8. Its scores are near 1 and those of all other rows sum to about 10: drawn by scores,
// all three are missed with probability of about exp(-3), 6 times or more in 20 with probability below 1e-3.
TEST(MmdNystrom, leverage_scores_find_rows_that_few_others_stand_for) {
  RandomStream stream(Seed{5}, Purpose::test_data);
  Matrix<double> rows(400, 2);
  for (double& v : rows.values()) v = 0.02 * stream.normal();
  for (std::size_t i = 100; i < 103; ++i) rows(i, 0) += 50.0;
  const Pool pool{rows, MatrixView<const double>(rows).row_range(0, 0)};
  const auto met = [](const std::vector<std::size_t>& positions) {
    return std::ranges::any_of(positions, [](std::size_t i) { return i >= 100 && i < 103; });
  };
  std::size_t found_by_leverage = 0;
  std::size_t found_by_chance = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Kernel kernel(parse_kernel("gaussian@1"));
    const auto by_leverage = leverage_landmarks(kernel, pool, 10, Seed{seed}, ThreadCount{2});
    EXPECT_EQ(std::set<std::size_t>(by_leverage.begin(), by_leverage.end()).size(), 10U);
    EXPECT_EQ(by_leverage, leverage_landmarks(kernel, pool, 10, Seed{seed}, ThreadCount{1}));
    found_by_leverage += met(by_leverage) ? 1U : 0U;
    found_by_chance += met(uniform_landmarks(pool, 10, Seed{seed})) ? 1U : 0U;
  }
  EXPECT_GE(found_by_leverage, 15U);
  EXPECT_LT(found_by_chance, 12U);
}

TEST(MmdNystrom, plan_equals_the_distance_of_each_permutation) {
  for (const PlanCase& c : cases()) {
    for (const std::string kernel : {"gaussian", "polynomial:2:1", "energy"}) {
      expect_plan_equals_distances("mmd-nystrom", c, with_settings({{"landmarks", 8}}, kernel));
    }
    expect_plan_equals_distances("mmd-nystrom", c, with_settings({{"landmarks", 6}, {"sampling", 1}}));
  }
  expect_same_bits_for_any_threads("mmd-nystrom", with_settings({{"landmarks", 12}, {"sampling", 1}}));
  expect_same_bits_for_any_threads("mmd-nystrom", with_settings({{"landmarks", 12}, {"form", 1}}));
}

// Erratum 30: u = K_ss^-1 (sum_X k_s / r - mean_Y k_s) with landmarks from X.
TEST(MmdNystrom, as_coded_divides_the_sum_over_x_by_the_number_of_landmarks) {
  const Sample x = draw(23, 3, cases()[1], 1);
  const Sample y = draw(30, 3, cases()[1], 2, 0.3);
  const MethodOptions options = with_settings({{"landmarks", 6}, {"form", 1}}, "gaussian@1.3");
  // The rows of X in the order of the pool; which of them are landmarks follows from the seed.
  const TestPool pool = make_test_pool(x, y, ThreadCount{1});
  std::vector<std::size_t> of_x;
  for (const std::size_t row : pool.order) {
    if (row < 23) of_x.push_back(row);
  }
  RandomStream stream(options.seed, Purpose::landmarks);
  std::vector<std::size_t> chosen;
  for (const std::size_t member : sample_without_replacement(23, 6, stream)) chosen.push_back(of_x[member]);
  const Matrix<double> s = gather({x.points, y.points}, chosen);
  const std::vector<double> a(23, 1.0 / 6.0);
  const std::vector<double> b(30, 1.0 / 30.0);
  long double squares = 0;
  for (const long double u : solve(gaussian_gram(s), gaussian_gaps(x, a, y, b, s))) squares += u * u;
  const double expected = static_cast<double>(std::sqrt(squares));
  EXPECT_NEAR(distance("mmd-nystrom", x, y, options).statistic, expected, 1e-9 * expected);
  TwoSampleOptions test;
  test.method = "mmd-nystrom";
  test.statistic = options;
  test.test.num_permutations = 19;
  EXPECT_NEAR(two_sample_test(x, y, test).test.statistic, expected, 1e-9 * expected);
}

TEST(MmdNystrom, names_what_it_cannot_do) {
  const Sample x = draw(5, 2, cases()[0], 1);
  const Sample y = draw(6, 2, cases()[0], 2);
  const auto run = [&](const MethodOptions& options) {
    return [&, options] { static_cast<void>(distance("mmd-nystrom", x, y, options)); };
  };
  test::expect_error(ErrorCode::invalid_option, "mmd-nystrom: landmarks = 12, the pool has 11 rows to draw them from",
                     run(with_settings({{"landmarks", 12}})));
  test::expect_error(ErrorCode::invalid_option, "mmd-nystrom: landmarks = 6, X has 5 rows to draw them from",
                     run(with_settings({{"landmarks", 6}, {"form", 1}})));
  test::expect_error(ErrorCode::shape_mismatch,
                     "reference points have 3 columns and the data 2, expected the same number",
                     run(with_landmarks(Matrix<double>(1, 3, 0.0))));
  MethodOptions both = with_landmarks(Matrix<double>(1, 2, 0.0));
  both.parameters["form"] = 1;
  test::expect_error(ErrorCode::invalid_option,
                     "mmd-nystrom: form = as-coded draws its landmarks from X, reference points cannot be given",
                     run(both));
  const Sample weighted = draw(20, 2, cases()[4], 1);
  test::expect_error(ErrorCode::invalid_weights, "mmd-nystrom: form = as-coded takes no weights, leave them out", [&] {
    static_cast<void>(distance("mmd-nystrom", weighted, y, with_settings({{"form", 1}})));
  });
  TwoSampleOptions interval;
  interval.method = "mmd-nystrom";
  interval.effect_interval = true;
  interval.statistic = with_settings({{"landmarks", 3}, {"form", 1}});
  test::expect_error(ErrorCode::invalid_option,
                     "mmd-nystrom has no interval for the effect size: form = as-coded draws its landmarks from X",
                     [&] { static_cast<void>(two_sample_test(x, y, interval)); });
}

TEST(MmdNystrom, of_rows_without_kernel_values_is_zero) {
  const Sample x{Matrix<double>(6, 1, 0.0), {}, {}};  // the linear kernel without offset is 0 at 0
  EXPECT_EQ(distance("mmd-nystrom", x, x, with_settings({}, "linear:0")).statistic, 0.0);
}

}  // namespace
}  // namespace kqd
