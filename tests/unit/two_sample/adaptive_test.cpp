// The adaptive test: its bundles against brute force, and what it promises as a whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "core/random.hpp"
#include "kqd/kqd.hpp"
#include "kqd/testing/permutations.hpp"
#include "metrics/adaptive/column_shapes.hpp"
#include "metrics/adaptive/directional_bundle.hpp"
#include "metrics/adaptive/mean_bundle.hpp"
#include "metrics/adaptive/second_order.hpp"
#include "support/drawn_sample.hpp"
#include "support/errors.hpp"
#include "support/warnings.hpp"

namespace kqd {
namespace {

Sample draw(std::size_t n, std::size_t dim, std::uint64_t index, bool weighted = false, bool ties = false) {
  return test::drawn_sample(n, dim, {"", n, n, weighted, ties}, index, Seed{7});
}

struct Labelled {
  Sample x;
  Sample y;
  TestPool pool;
  LabelBatch batch;

  Labelled(std::size_t nx, std::size_t ny, std::size_t dim, bool weighted, bool ties)
      : x(draw(nx, dim, 1, weighted, ties)),
        y(draw(ny, dim, 2, weighted, ties)),
        pool(make_test_pool(x, y, ThreadCount{1})) {
    const PermutationSource source(Design::independent(), {nx, ny}, pool.order, Seed{3});
    source.fill(PermutationMode::random, 0, 6, batch);
  }
};

// The columns as functions of a row.
SharedFunctions columns(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return SharedFunctions(FunctionSet{.functions = ColumnValues{std::move(all)}});
}

// The principal functions of a kernel.
MeanFeatures principal_features(std::string name, const Kernel& kernel, const PrincipalBasis& basis,
                                std::vector<MeanSummary> statistics) {
  const SharedFunctions functions(
      FunctionSet{.functions = KernelFunctions{kernel.spec(), basis.landmarks, basis.coefficients}});
  return {std::move(name), functions.map->count, functions, std::move(statistics), basis.variances};
}

// The sum over gaps of |F - G| times the weight of the gap, over its permutation mean up to a factor. By sorting values
// of each permutation again, and the empirical distribution functions of both groups at each point.
double standardised_gap(std::span<const double> values, std::span<const double> weights, const LabelBatch& batch,
                        unsigned b, GapWeight gap_weight) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  const auto weight = [&](std::size_t i) { return weights.empty() ? 1.0 : weights[i]; };
  const auto below = [&](double value, bool is_x) {
    double inside = 0.0;
    double total = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (batch.is_x(i, b) != is_x) continue;
      total += weight(i);
      if (values[i] <= value) inside += weight(i);
    }
    return inside / total;
  };
  const auto n = static_cast<double>(values.size());
  double gap = 0.0;
  double expected = 0.0;
  for (std::size_t k = 0; k + 1 < order.size(); ++k) {
    const double share = static_cast<double>(k + 1) / n;
    const double low = values[order[k]];
    const double high = values[order[k + 1]];
    const double width =
        gap_weight == GapWeight::size ? high - low : (high > low ? 1.0 / std::sqrt(share * (1.0 - share)) : 0.0);
    gap += std::abs(below(low, true) - below(low, false)) * width;
    expected += std::sqrt(share * (1.0 - share)) * width;
  }
  return gap / expected;
}

TEST(DirectionalBundle, equals_brute_force_for_any_sizes_ties_and_weights) {
  for (const bool weighted : {false, true}) {
    for (const bool ties : {false, true}) {
      for (const GapWeight gap_weight : {GapWeight::size, GapWeight::anderson_darling}) {
        const Labelled data(17, 26, 3, weighted, ties);
        const Pool rows = data.pool.rows();
        const auto weights = data.pool.weights_of(data.pool.order);
        const DirectionalBundle bundle({"columns", 3, columns(3)}, {GapSummary::average, GapSummary::largest},
                                       gap_weight, rows, weights, {}, {});
        Matrix<double> values(2, 6);
        bundle.evaluate({&data.batch, 1}, values, ThreadCount{2});
        for (unsigned b = 0; b < 6; ++b) {
          double mean = 0.0;
          double largest = 0.0;
          for (std::size_t k = 0; k < 3; ++k) {
            std::vector<double> column(rows.size());
            for (std::size_t i = 0; i < rows.size(); ++i) column[i] = rows.row(i)[k];
            const double gap = standardised_gap(column, weights, data.batch, b, gap_weight);
            mean += gap / 3.0;
            largest = std::max(largest, gap);
          }
          EXPECT_NEAR(values(0, b), mean, bundle.tie_slack(0, mean) + 1e-12);
          EXPECT_NEAR(values(1, b), largest, bundle.tie_slack(1, largest) + 1e-12);
        }
      }
    }
  }
}

TEST(DirectionalBundle, does_not_depend_on_how_many_directions_are_kept_or_sorted_at_a_time) {
  const Labelled data(20, 20, 12, false, false);
  const Pool rows = data.pool.rows();
  Matrix<double> few(2, 6);
  Matrix<double> all(2, 6);
  const std::vector both = {GapSummary::average, GapSummary::largest};
  Matrix<double> kept(2, 6);
  const auto evaluate = [&](BundleMemory memory, Matrix<double>& values) {
    const DirectionalBundle bundle({"columns", 12, columns(12)}, both, GapWeight::size, rows, {}, memory, {});
    bundle.evaluate({&data.batch, 1}, values, {});
    return bundle.kept_bytes();
  };
  constexpr std::size_t kEnough = 1U << 30U;
  EXPECT_EQ(evaluate({}, few), 0U);  // one direction at a time
  EXPECT_EQ(evaluate({.at_work = kEnough}, all), 0U);
  EXPECT_EQ(evaluate({.kept = kEnough, .at_work = kEnough}, kept), 12 * KqdPlan::bytes_per_direction(40));
  EXPECT_TRUE(std::ranges::equal(few.values(), all.values()));
  EXPECT_TRUE(std::ranges::equal(kept.values(), all.values()));
}

TEST(MeanBundle, gives_the_statistics_of_all_features_in_order) {
  const Labelled data(15, 18, 2, false, false);
  const Pool rows = data.pool.rows();
  const auto view = [&](const char* kernel, std::vector<MeanSummary> statistics) {
    const Kernel k(parse_kernel(kernel));
    return principal_features(kernel, k, principal_basis(k, rows, {.num_landmarks = 8, .max_rank = 4}, Seed{5}, {}),
                              std::move(statistics));
  };
  const std::vector<MeanSummary> all = {MeanSummary::coarse, MeanSummary::fine, MeanSummary::finest};
  const MeanBundle every({view("gaussian@1", all), view("gaussian@2", all)}, rows, {}, 6, {});
  const MeanBundle some({view("gaussian@1", {MeanSummary::finest}), view("gaussian@2", {MeanSummary::coarse})}, rows,
                        {}, 6, {});
  EXPECT_EQ(some.names(), (std::vector<std::string>{"gaussian@1, finest", "gaussian@2, coarse"}));
  Matrix<double> of_every(6, 6);
  Matrix<double> of_some(2, 6);
  every.evaluate({&data.batch, 1}, of_every, {});
  some.evaluate({&data.batch, 1}, of_some, {});
  EXPECT_TRUE(std::ranges::equal(of_some.row(0), of_every.row(2)));
  EXPECT_TRUE(std::ranges::equal(of_some.row(1), of_every.row(3)));
  EXPECT_EQ(some.tie_slack(0, 2.0), every.tie_slack(2, 2.0));
  EXPECT_EQ(some.tie_slack(1, 2.0), every.tie_slack(3, 2.0));
}

// Issue 22: on one column the last functions are hardly more than rounding; dividing by their variance made ties of all
// values, and a score of 1000 of the observed one. Neighbours among 1000 values have to stay different.
TEST(MeanBundle, finest_look_tells_its_values_apart) {
  constexpr std::size_t kPermutations = 1000;
  const Labelled data(30'000, 30'000, 1, false, false);
  const Pool rows = data.pool.rows();
  const Kernel kernel(parse_kernel("gaussian@0.66"));
  PrincipalBasis basis = principal_basis(kernel, rows, {.num_landmarks = 128, .max_rank = 64}, Seed{5}, {});
  const MeanBundle bundle({principal_features("gaussian", kernel, std::move(basis), {MeanSummary::finest})}, rows, {},
                          kPermutations, {});
  Matrix<double> values(1, 6);
  bundle.evaluate({&data.batch, 1}, values, {});
  double mean = 0.0;
  for (const double value : values.values()) mean += value / 6.0;
  // The sum of q squares has mean q w and standard deviation sqrt(2 q) w with w = 2/30,000.
  const double w = 2.0 / 30'000;
  const double q = std::max(1.0, mean / w);
  EXPECT_LT(bundle.tie_slack(0, mean), std::sqrt(2.0 * q) * w / kPermutations);
  EXPECT_GT(q, 5.0);  // and there is something left to look at
}

TEST(MeanBundle, equals_mean_differences_of_the_principal_functions_by_brute_force) {
  for (const bool weighted : {false, true}) {
    const Labelled data(19, 24, 2, weighted, false);
    const Kernel kernel(parse_kernel("gaussian@1.2"));
    const Pool rows = data.pool.rows();
    const PrincipalBasis basis = principal_basis(kernel, rows, {.num_landmarks = 12, .max_rank = 6}, Seed{5}, {});
    const auto weights = data.pool.weights_of(data.pool.order);
    const MeanBundle bundle(
        {principal_features("gaussian", kernel, basis, {MeanSummary::coarse, MeanSummary::fine, MeanSummary::finest})},
        rows, weights, 6, ThreadCount{2});
    Matrix<double> values(3, 6);
    bundle.evaluate({&data.batch, 1}, values, ThreadCount{2});
    const auto function = [&](std::size_t j, std::size_t i) {
      double value = 0.0;
      for (std::size_t s = 0; s < basis.landmarks.rows(); ++s) {
        const auto a = rows.row(i);
        const auto z = basis.landmarks.row(s);
        const double r2 = (a[0] - z[0]) * (a[0] - z[0]) + (a[1] - z[1]) * (a[1] - z[1]);
        value += basis.coefficients(s, j) * std::exp(-r2 / (2.0 * 1.2 * 1.2));
      }
      return value;
    };
    for (unsigned b = 0; b < 6; ++b) {
      double coarse = 0.0;
      double fine = 0.0;
      double finest = 0.0;
      for (std::size_t j = 0; j < 6; ++j) {
        std::array<double, 2> sums{};
        std::array<double, 2> totals{};
        for (std::size_t i = 0; i < rows.size(); ++i) {
          const double w = weights.empty() ? 1.0 : weights[i];
          const std::size_t group = data.batch.is_x(i, b) ? 0 : 1;
          sums[group] += w * function(j, i);
          totals[group] += w;
        }
        const double gap = sums[0] / totals[0] - sums[1] / totals[1];
        coarse += gap * gap;
        fine += gap * gap / (basis.variances[j] + 0.03 * basis.variances[0]);
        finest += gap * gap / basis.variances[j];
      }
      // Values of the sixth function are sums of twelve terms up to about 1e3 times its size.
      EXPECT_NEAR(values(0, b), coarse, 1e-10 * coarse + 1e-14);
      EXPECT_NEAR(values(1, b), fine, 1e-9 * fine);
      EXPECT_NEAR(values(2, b), finest, 1e-8 * finest);
    }
  }
}

// Solves A v = b by Gaussian elimination with pivots.
std::vector<double> solved(Matrix<double> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i) {
      if (std::abs(a(i, k)) > std::abs(a(pivot, k))) pivot = i;
    }
    std::swap_ranges(a.row(k).begin(), a.row(k).end(), a.row(pivot).begin());
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a(i, k) / a(k, k);
      for (std::size_t j = k; j < n; ++j) a(i, j) -= factor * a(k, j);
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a(k, j) * b[j];
    b[k] /= a(k, k);
  }
  return b;
}

// Mean and covariance of the pooled rows, by their definition.
struct Moments {
  std::vector<double> mean;
  Matrix<double> covariance;
};

Moments moments_of(const Pool& rows) {
  const std::size_t d = rows.dim();
  const auto n = static_cast<double>(rows.size());
  Moments m{std::vector<double>(d, 0.0), Matrix<double>(d, d, 0.0)};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t k = 0; k < d; ++k) m.mean[k] += rows.row(i)[k] / n;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < d; ++j) {
      for (std::size_t k = 0; k < d; ++k) {
        m.covariance(j, k) += (rows.row(i)[j] - m.mean[j]) * (rows.row(i)[k] - m.mean[k]) / n;
      }
    }
  }
  return m;
}

// Seven rows in nine columns as well: the components cover a part of the space, all other directions have variance 0.
TEST(LeverageScores, equal_the_inverse_of_the_pooled_covariance_with_a_ridge) {
  for (const auto& [nx, dim] : {std::pair{20U, 4U}, std::pair{3U, 9U}}) {
    const Labelled data(nx, nx + 1, dim, false, false);
    const Pool rows = data.pool.rows();
    const double infinite = std::numeric_limits<double>::infinity();
    const RowFunctions scores = make_functions({.functions = LeverageScores{
        linear_components(rows, {.num_landmarks = rows.size(), .max_rank = 100}, Seed{2}, {}), {0.1, 1.0, infinite}}});
    const Matrix<double> found = project_pool(*scores, rows, 0, 3, ThreadCount{2});
    const Moments moments = moments_of(rows);
    double mean_variance = 0.0;
    for (std::size_t k = 0; k < dim; ++k) mean_variance += moments.covariance(k, k) / static_cast<double>(dim);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::vector<double> centred(rows.row(i).begin(), rows.row(i).end());
      for (std::size_t k = 0; k < dim; ++k) centred[k] -= moments.mean[k];
      const double norm = std::inner_product(centred.begin(), centred.end(), centred.begin(), 0.0);
      EXPECT_NEAR(found(2, i), std::cbrt(norm), 1e-12 * std::cbrt(norm));
      for (std::size_t r = 0; r < 2; ++r) {
        Matrix<double> ridged = moments.covariance;
        for (std::size_t k = 0; k < dim; ++k) ridged(k, k) += (r == 0 ? 0.1 : 1.0) * mean_variance;
        const std::vector<double> v = solved(ridged, centred);
        const double leverage = std::inner_product(centred.begin(), centred.end(), v.begin(), 0.0);
        EXPECT_NEAR(found(r, i), std::cbrt(leverage), 1e-9 * std::cbrt(leverage)) << dim << " " << i << " " << r;
      }
    }
  }
}

TEST(SecondMoments, are_differences_of_mean_products_by_brute_force) {
  for (const bool weighted : {false, true}) {
    const Labelled data(19, 24, 4, weighted, false);
    const Pool rows = data.pool.rows();
    const auto weights = data.pool.weights_of(data.pool.order);
    const LinearComponents components =
        linear_components(rows, {.num_landmarks = 43, .max_rank = 10}, Seed{2}, {});
    const SharedFunctions functions(FunctionSet{.functions = second_moments(components, rows, 3, 100, Seed{2})});
    const MeanBundle bundle(
        {{"products", functions.map->count, functions, {MeanSummary::largest, MeanSummary::average}}}, rows, weights, 6,
        ThreadCount{2});
    Matrix<double> values(2, 6);
    bundle.evaluate({&data.batch, 1}, values, ThreadCount{2});
    const Moments moments = moments_of(rows);
    const auto column = [&](std::size_t i, std::size_t k) {
      return std::clamp((rows.row(i)[k] - moments.mean[k]) / std::sqrt(moments.covariance(k, k)), -4.0, 4.0);
    };
    const auto component = [&](std::size_t i, std::size_t j) {
      double z = 0.0;
      for (std::size_t k = 0; k < 4; ++k) z += components.weights(k, j) * (rows.row(i)[k] - moments.mean[k]);
      return z;
    };
    std::vector<std::vector<double>> products;
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t b = a + 1; b < 4; ++b) {
        products.emplace_back();
        for (std::size_t i = 0; i < rows.size(); ++i) products.back().push_back(column(i, a) * column(i, b));
      }
    }
    for (std::size_t a = 0; a < 3; ++a) {
      for (std::size_t b = a; b < 3; ++b) {
        products.emplace_back();
        for (std::size_t i = 0; i < rows.size(); ++i) products.back().push_back(component(i, a) * component(i, b));
      }
    }
    for (unsigned b = 0; b < 6; ++b) {
      double largest = 0.0;
      double total = 0.0;
      for (const auto& product : products) {
        std::array<double, 2> sums{};
        std::array<double, 2> totals{};
        double square = 0.0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
          const double w = weights.empty() ? 1.0 : weights[i];
          const std::size_t group = data.batch.is_x(i, b) ? 0 : 1;
          sums[group] += w * product[i];
          totals[group] += w;
          square += w * product[i] * product[i];
        }
        const double all = totals[0] + totals[1];
        const double mean = (sums[0] + sums[1]) / all;
        const double gap = sums[0] / totals[0] - sums[1] / totals[1];
        const double term = gap * gap / (square / all - mean * mean);
        largest = std::max(largest, term);
        total += term;
      }
      EXPECT_NEAR(values(0, b), std::sqrt(largest), 1e-10 * std::sqrt(largest));
      EXPECT_NEAR(values(1, b), total, 1e-10 * total);
    }
  }
}

TEST(ColumnShapes, are_sums_of_differences_of_mean_polynomials_of_ranks) {
  for (const bool ties : {false, true}) {
    const Labelled data(100, 157, 2, false, ties);  // 257 rows: each is a knot
    const Pool rows = data.pool.rows();
    const SharedFunctions functions(FunctionSet{.functions = column_shapes(rows, {0, 1}, 3, ThreadCount{2})});
    const MeanBundle bundle(
        {{.name = "shapes", .count = 6, .functions = functions, .statistics = {MeanSummary::largest}, .group_size = 3}},
        rows, {}, 6, ThreadCount{2});
    Matrix<double> values(1, 6);
    bundle.evaluate({&data.batch, 1}, values, ThreadCount{2});
    for (unsigned b = 0; b < 6; ++b) {
      double largest = 0.0;
      for (std::size_t k = 0; k < 2; ++k) {
        double total = 0.0;
        for (int degree = 1; degree <= 3; ++degree) {
          std::array<double, 2> sums{};
          std::array<double, 2> counts{};
          double square = 0.0;
          for (std::size_t i = 0; i < rows.size(); ++i) {
            double below = 0.0;
            double equal = 0.0;
            for (std::size_t j = 0; j < rows.size(); ++j) {
              below += rows.row(j)[k] < rows.row(i)[k] ? 1.0 : 0.0;
              equal += rows.row(j)[k] == rows.row(i)[k] ? 1.0 : 0.0;
            }
            const double u = 2.0 * (below + (equal - 1.0) / 2.0) / 256.0 - 1.0;
            const double value = degree == 1   ? u
                                 : degree == 2 ? (3.0 * u * u - 1.0) / 2.0
                                               : (5.0 * u * u * u - 3.0 * u) / 2.0;
            sums[data.batch.is_x(i, b) ? 0 : 1] += value;
            counts[data.batch.is_x(i, b) ? 0 : 1] += 1.0;
            square += value * value / 257.0;
          }
          const double mean = (sums[0] + sums[1]) / 257.0;
          const double gap = sums[0] / counts[0] - sums[1] / counts[1];
          total += gap * gap / (square - mean * mean);
        }
        largest = std::max(largest, total);
      }
      EXPECT_NEAR(values(0, b), std::sqrt(largest), 1e-10 * std::sqrt(largest)) << ties;
    }
  }
}

TEST(SecondMoments, of_many_columns_are_those_of_the_most_correlated_pairs) {
  Sample x = draw(40, 60, 1);
  Sample y = draw(40, 60, 2);
  for (Sample* sample : {&x, &y}) {
    for (std::size_t i = 0; i < 40; ++i) sample->points(i, 31) = sample->points(i, 7) + 0.1 * sample->points(i, 31);
  }
  const TestPool pool = make_test_pool(x, y, ThreadCount{1});
  const Pool rows = pool.rows();
  const LinearComponents components = linear_components(rows, {.num_landmarks = 20, .max_rank = 2}, Seed{2}, {});
  const RowFunctions products = make_functions({.functions = second_moments(components, rows, 0, 1, Seed{2})});
  ASSERT_EQ(products->count, 1U);
  Matrix<double> points(rows.size(), rows.dim());
  copy_rows(rows, 0, points);
  Matrix<double> values(rows.size(), 1);
  products->evaluate(points, values);
  const Moments moments = moments_of(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    double product = 1.0;
    for (const std::size_t k : {7U, 31U}) {
      product *= std::clamp((points(i, k) - moments.mean[k]) / std::sqrt(moments.covariance(k, k)), -4.0, 4.0);
    }
    EXPECT_NEAR(values(i, 0), product, 1e-12 * (1.0 + std::abs(product)));
  }
}

TwoSampleOptions adaptive(std::int64_t permutations = 99) {
  TwoSampleOptions options;
  options.method = "adaptive";
  options.test.num_permutations = permutations;
  return options;
}

SyntheticPair problem(const std::string& name, std::size_t n, std::size_t dim,
                      const std::vector<std::string>& settings) {
  ProblemRequest request{.name = name, .n_x = n, .n_y = n, .dim = dim, .seed = Seed{11}};
  for (const std::string& setting : settings) set_parameter(request, setting);
  return make_problem(request);
}

// Over the configurations whose names have `part`.
double smallest_adjusted(const TwoSampleResult& result, std::string_view part) {
  double smallest = 1.0;
  for (const Configuration& c : result.configurations) {
    if (c.name.find(part) != std::string::npos) smallest = std::min(smallest, c.adjusted_pvalue);
  }
  return smallest;
}

// The p-value is the same in other units of any column, with columns in another order, with a column of one value, and
// for any seed as long as all rows are landmarks.
TEST(AdaptiveTest, depends_on_neither_units_nor_order_of_columns_nor_seed) {
  for (std::uint64_t run = 0; run < 12; ++run) {
    const Sample x = draw(40, 3, 200 + run, false, run % 3 == 2);
    Sample y = draw(50, 3, 300 + run, false, run % 3 == 2);
    for (std::size_t i = 0; i < y.points.rows(); ++i) y.points(i, 1) += 0.4;
    const double pvalue = two_sample_test(x, y, adaptive(199)).test.pvalue;
    const auto changed = [&](const Sample& sample) {
      Sample other{Matrix<double>(sample.points.rows(), 4), {}, {}};
      for (std::size_t i = 0; i < sample.points.rows(); ++i) {
        other.points(i, 0) = 1000.0 * sample.points(i, 2) - 7.0;
        other.points(i, 1) = 5.0;
        other.points(i, 2) = 0.003 * sample.points(i, 0) + 11.0;
        other.points(i, 3) = sample.points(i, 1) / 64.0;
      }
      return other;
    };
    EXPECT_EQ(two_sample_test(changed(x), changed(y), adaptive(199)).test.pvalue, pvalue) << run;
    TwoSampleOptions other_seed = adaptive(199);
    other_seed.statistic.seed = Seed{run + 5};
    EXPECT_EQ(two_sample_test(x, y, other_seed).test.pvalue, pvalue) << run;
    // Units matter where they are meant.
    TwoSampleOptions as_given = adaptive(199);
    as_given.own_scales = false;
    EXPECT_FALSE(two_sample_test(x, y, as_given).own_scales);
    EXPECT_TRUE(two_sample_test(x, y, adaptive(199)).own_scales);
  }
}

// The column keeps its mean and variance, and most of it its values.
TEST(AdaptiveTest, finds_a_change_of_shape_in_one_column_and_says_so) {
  const Sample x = draw(300, 6, 1);
  Sample y = draw(300, 6, 2);
  for (std::size_t i = 0; i < 300; ++i) {
    double& value = y.points(i, 3);
    value = value > 0.0 ? 0.798 + (value > 0.674 ? 0.6 : -0.6) : value;
  }
  const TwoSampleResult result = two_sample_test(x, y, adaptive(199));
  EXPECT_LE(result.test.pvalue, 0.01);
  EXPECT_LE(smallest_adjusted(result, "shapes of single columns"), 0.01);
}

TEST(AdaptiveTest, finds_a_change_in_a_column_of_small_units) {
  Sample x = draw(150, 3, 1);
  Sample y = draw(150, 3, 2);
  for (std::size_t i = 0; i < 150; ++i) {  // the relation between the two small columns turns round
    x.points(i, 1) = 1e-6 * (x.points(i, 0) + 0.5 * x.points(i, 1));
    y.points(i, 1) = 1e-6 * (-y.points(i, 0) + 0.5 * y.points(i, 1));
    for (Sample* sample : {&x, &y}) {
      sample->points(i, 0) *= 1e-6;
      sample->points(i, 2) *= 1e6;
    }
  }
  EXPECT_LE(two_sample_test(x, y, adaptive(199)).test.pvalue, 0.005);
}

// Samples of equal size tie with their own exchange: far from 0 rounding must not tell the two apart.
TEST(AdaptiveTest, p_value_does_not_change_when_samples_far_from_0_are_exchanged) {
  TwoSampleOptions options;
  options.method = "adaptive";
  for (std::uint64_t run = 0; run < 20; ++run) {
    Sample x = draw(4, 2, 100 + 2 * run, false, run % 2 == 1);
    Sample y = draw(4, 2, 101 + 2 * run, false, run % 2 == 1);
    for (double& v : x.points.values()) v += 1000.0;
    for (double& v : y.points.values()) v += 1003.0;
    const TestOutcome one = two_sample_test(x, y, options).test;
    ASSERT_TRUE(one.enumerated);
    EXPECT_EQ(one.pvalue, two_sample_test(y, x, options).test.pvalue) << run;
    EXPECT_GE(one.n_exceed, 2U) << run;
  }
}

// One row that differs among 100: every permutation is as far apart as any other.
TEST(AdaptiveTest, permutations_that_all_tie_give_1) {
  Sample x{Matrix<double>(50, 1, 0.0), {}, {}};
  const Sample y = x;
  x.points(17, 0) = 1.0;
  TwoSampleOptions options;
  options.method = "adaptive";
  options.test.num_permutations = 99;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    options.statistic.seed = Seed{seed};
    EXPECT_EQ(two_sample_test(x, y, options).test.pvalue, 1.0) << seed;
  }
}

TEST(AdaptiveTest, finds_a_difference_in_few_of_many_columns_and_says_so) {
  const SyntheticPair data = problem("power-decay", 200, 100, {});
  const TwoSampleResult result = two_sample_test(data.x, data.y, adaptive());
  EXPECT_TRUE(result.test.reject);
  EXPECT_LE(smallest_adjusted(result, "single columns"), 0.02);
}

TEST(AdaptiveTest, finds_a_changed_spread_of_one_cluster_through_a_narrow_kernel_and_says_so) {
  const SyntheticPair data = problem("mixture", 400, 0, {"sd=2"});
  const TwoSampleResult result = two_sample_test(data.x, data.y, adaptive());
  EXPECT_TRUE(result.test.reject);
  EXPECT_LE(smallest_adjusted(result, "gaussian of bandwidth"), 0.02);
  EXPECT_GT(smallest_adjusted(result, "single columns"), 0.02);
}

TEST(AdaptiveTest, lists_every_configuration_with_adjusted_pvalues_at_least_as_large) {
  const Sample x = draw(30, 4, 1);
  const Sample y = draw(25, 4, 2);
  const TwoSampleResult result = two_sample_test(x, y, adaptive());
  EXPECT_GE(result.configurations.size(), 11U);
  for (const Configuration& c : result.configurations) {
    EXPECT_GE(c.pvalue, 0.01);
    EXPECT_GE(c.adjusted_pvalue, c.pvalue);
  }
}

TEST(AdaptiveTest, reports_no_directions_of_one_statistic) {
  const TwoSampleResult result = two_sample_test(draw(20, 2, 1), draw(20, 2, 2), adaptive(19));
  EXPECT_EQ(result.num_directions, 0U);
  EXPECT_TRUE(result.per_direction.empty());
}

TEST(AdaptiveTest, is_the_same_for_any_number_of_threads_and_any_order_of_rows) {
  const Sample x = draw(40, 3, 1);
  const Sample y = draw(31, 3, 2);
  Sample reversed = x;
  for (std::size_t i = 0; i < 40; ++i) std::ranges::copy(x.points.row(39 - i), reversed.points.row(i).begin());
  TwoSampleOptions options = adaptive();
  options.statistic.threads = ThreadCount{1};
  const TwoSampleResult one = two_sample_test(x, y, options);
  options.statistic.threads = ThreadCount{2};
  const TwoSampleResult two = two_sample_test(x, y, options);
  const TwoSampleResult turned = two_sample_test(reversed, y, options);
  EXPECT_EQ(one.test.statistic, two.test.statistic);
  EXPECT_EQ(one.test.pvalue, two.test.pvalue);
  EXPECT_EQ(one.effect_size, two.effect_size);
  EXPECT_EQ(turned.test.pvalue, two.test.pvalue);
}

TEST(AdaptiveTest, takes_weights_pairs_blocks_and_all_permutations_of_tiny_samples) {
  const Sample weighted_x = draw(20, 2, 1, true);
  const Sample weighted_y = draw(18, 2, 2, true);
  EXPECT_GT(two_sample_test(weighted_x, weighted_y, adaptive()).test.pvalue, 0.0);
  TwoSampleOptions pairs = adaptive();
  pairs.test.design = Design::paired();
  EXPECT_GT(two_sample_test(draw(20, 2, 1), draw(20, 2, 2), pairs).test.pvalue, 0.0);
  const TwoSampleResult tiny = two_sample_test(draw(4, 1, 1), draw(4, 1, 2), adaptive());
  EXPECT_TRUE(tiny.test.enumerated);
  EXPECT_EQ(tiny.test.n_resamples, 70U);
  EXPECT_NEAR(std::remainder(tiny.test.pvalue * 70.0, 2.0), 0.0,
              1e-12);  // a permutation and its mirror image are equally extreme
}

TEST(AdaptiveTest, of_equal_points_has_pvalue_one) {
  const Sample equal{Matrix<double>(10, 2, 3.0), {}, {}};
  EXPECT_EQ(two_sample_test(equal, equal, adaptive()).test.pvalue, 1.0);
}

// Issue 22: what is returned besides never changes the p-value. The effect size is that of e-KQD, and so is its
// interval.
TEST(AdaptiveTest, effect_interval_and_directions_are_those_of_ekqd_and_change_no_p_value) {
  const Sample x = draw(30, 2, 1);
  const Sample y = draw(30, 2, 2);
  for (const char* method : {"adaptive", "mmd-agg", "mmd-fuse"}) {
    TwoSampleOptions options = adaptive(63);
    options.method = method;
    const TwoSampleResult plain = two_sample_test(x, y, options);
    options.effect_interval = options.effect_directions = true;
    const TwoSampleResult more = two_sample_test(x, y, options);
    EXPECT_EQ(more.test.pvalue, plain.test.pvalue);
    EXPECT_EQ(more.test.statistic, plain.test.statistic);
    ASSERT_TRUE(more.effect_interval);
    options.method = options.method == "adaptive" ? "ekqd" : "mmd";
    if (options.method == "ekqd") options.statistic.directions = {.num_directions = 64, .num_reference = 64};
    const TwoSampleResult of_one = two_sample_test(x, y, options);
    EXPECT_NEAR(more.effect_interval->lower, of_one.effect_interval->lower, 1e-12);
    EXPECT_NEAR(more.effect_interval->upper, of_one.effect_interval->upper, 1e-12);
    EXPECT_EQ(more.per_direction, of_one.per_direction);
    EXPECT_TRUE(plain.per_direction.empty());
  }
}

TEST(DefaultTestMethod, is_adaptive_unless_an_option_of_one_statistic_is_set) {
  MethodOptions options;
  EXPECT_EQ(default_test_method(options), "adaptive");
  EXPECT_EQ(default_test_method(options, true), "ekqd");
  options.kernel = parse_kernel("laplace@2");
  options.seed = Seed{3};
  EXPECT_EQ(default_test_method(options), "adaptive");
  for (const CompatFlag& flag : compat_flags()) {
    MethodOptions compatible;
    flag.apply(compatible);
    EXPECT_EQ(default_test_method(compatible), "ekqd") << flag.name;
  }
  options.power = 2.0;
  EXPECT_EQ(default_test_method(options), "ekqd");
}

TEST(AdaptiveTest, refuses_what_it_cannot_do_in_a_sentence) {
  const Sample x = draw(30, 2, 1);
  const Sample y = draw(30, 2, 2);
  TwoSampleOptions early = adaptive();
  early.test.early_stop = EarlyStop::betting;
  test::expect_error(ErrorCode::invalid_option,
                     "early stopping needs a method with one statistic, adaptive combines several; use method = ekqd",
                     [&] { static_cast<void>(two_sample_test(x, y, early)); });
  test::expect_error(ErrorCode::invalid_option,
                     "method = adaptive: expected a method with a distance; this one is only a test. Use ekqd or "
                     "another method",
                     [&] { static_cast<void>(distance("adaptive", x, y)); });
  TwoSampleOptions weighted = adaptive();
  weighted.method = "mmd-fuse";
  weighted.weights_as = WeightsAs::frequency;
  test::expect_error(ErrorCode::invalid_weights, "aggregated MMD tests take no weights; use mmd or adaptive",
                     [&] { static_cast<void>(two_sample_test(draw(9, 2, 1, true), y, weighted)); });
}

TEST(MmdAggregates, find_a_shift_and_name_their_kernels) {
  const Sample x = draw(60, 2, 1);
  Sample y = draw(60, 2, 2);
  for (double& v : y.points.values()) v += 1.0;
  for (const char* method : {"mmd-agg", "mmd-fuse"}) {
    TwoSampleOptions options = adaptive(199);
    options.method = method;
    const TwoSampleResult result = two_sample_test(x, y, options);
    EXPECT_TRUE(result.test.reject) << method;
    EXPECT_EQ(result.configurations.size(), 20U);
  }
}

// The published grid of MMDAgg starts at 0.05 whatever the unit: a "no difference" for that reason must not pass for
// one.
TEST(MmdAgg, says_that_rows_are_too_close_for_its_kernels) {
  const auto warnings = [](double unit, const char* method) {
    Sample x = draw(30, 2, 1);
    Sample y = draw(30, 2, 2);
    for (Sample* sample : {&x, &y}) {
      for (double& v : sample->points.values()) v *= unit;
    }
    TwoSampleOptions options = adaptive(99);
    options.method = method;
    return test::count(two_sample_test(x, y, options).warnings, WarningId::wide_bandwidths);
  };
  EXPECT_EQ(warnings(1e-20, "mmd-agg"), 2);  // one for each family
  EXPECT_EQ(warnings(1.0, "mmd-agg"), 0);
  EXPECT_EQ(warnings(1e-20, "mmd-fuse"), 0);
}

// The statistics of kernels without a bandwidth follow the unit of the data to a power; once their scores were NaN
// beyond 1e100, and every true null was rejected.
TEST(Adaptive, of_kernels_without_a_bandwidth_does_not_depend_on_the_unit) {
  const auto pvalue = [](const char* kernel, int exponent) {
    Sample x = draw(40, 2, 1);
    Sample y = draw(30, 2, 2);
    for (Sample* sample : {&x, &y}) {
      for (double& v : sample->points.values()) v = std::scalbn(v, exponent);
    }
    TwoSampleOptions options = adaptive(99);
    options.statistic.kernel = parse_kernel(kernel);
    return two_sample_test(x, y, options).test.pvalue;
  };
  // Other numbers are other permutations: with 99 of them p-values move by 0.05, and not to 0.01.
  for (const int exponent : {-200, 200}) {
    EXPECT_NEAR(pvalue("linear", exponent), pvalue("linear", 0), 0.25) << exponent;
  }
  EXPECT_NEAR(pvalue("polynomial:3:0", 66), pvalue("polynomial:3:0", 0), 0.25);
}

// log sum_r w_r exp(lambda MMD_r^2 / sqrt(N_r)) with one kernel is lambda MMD^2 / sqrt(N): from the distance and a
// double loop over the pool.
TEST(MmdFuse, of_one_kernel_is_its_normalised_mmd) {
  const Sample x = draw(12, 1, 1);
  const Sample y = draw(9, 1, 2);
  TwoSampleOptions options = adaptive();
  options.method = "mmd-fuse";
  options.statistic.parameters = {{"bandwidths", 1.0}, {"lambda", 5.0}};
  const TwoSampleResult result = two_sample_test(x, y, options);
  ASSERT_EQ(result.configurations.size(), 2U);
  double sum = 0.0;
  for (const Configuration& c : result.configurations) {
    const KernelSpec spec = parse_kernel(c.name);
    const Kernel kernel(spec);
    Matrix<double> pool(21, 1);
    for (std::size_t i = 0; i < 21; ++i) pool(i, 0) = i < 12 ? x.points(i, 0) : y.points(i - 12, 0);
    Matrix<double> gram(21, 21);
    kernel.evaluate(pool, pool, gram);
    double squares = 0.0;
    for (std::size_t i = 0; i < 21; ++i) {
      for (std::size_t j = 0; j < 21; ++j) squares += i == j ? 0.0 : gram(i, j) * gram(i, j);
    }
    MethodOptions own;
    own.kernel = spec;
    const double expected = 5.0 * mmd(x, y, own).statistic / std::sqrt(squares / (9.0 * 8.0));
    EXPECT_NEAR(c.statistic, expected, 1e-12);
    sum += 0.5 * std::exp(expected);
  }
  EXPECT_NEAR(result.test.statistic, std::log(sum), 1e-12);
}

}  // namespace
}  // namespace kqd
