// The statistics of the adaptive test against brute force.
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

namespace kqd {
namespace {

struct Labelled {
  Sample x;
  Sample y;
  TestPool pool;
  LabelBatch batch;

  Labelled(std::size_t nx, std::size_t ny, std::size_t dim, bool weighted, bool ties)
      : x(test::drawn_sample(nx, dim, {"", nx, nx, weighted, ties}, 1, Seed{7})),
        y(test::drawn_sample(ny, dim, {"", ny, ny, weighted, ties}, 2, Seed{7})),
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

// Columns that are all numbers.
TableParts numbers(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return table_parts(roles_of_numbers(count), all);
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
    const RowFunctions scores =
        make_functions({.functions = LeverageScores{
                            linear_components(rows, {.num_landmarks = rows.size(), .max_rank = 100}, Seed{2}, {}),
                            {0.1, 1.0, infinite}}});
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
    const LinearComponents components = linear_components(rows, {.num_landmarks = 43, .max_rank = 10}, Seed{2}, {});
    const SharedFunctions functions(
        FunctionSet{.functions = second_moments(components, rows, numbers(4), 3, 100, Seed{2})});
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

// The leading eigenvector by power iteration.
std::vector<double> leading_direction(const Matrix<double>& covariance) {
  std::vector<double> v(covariance.rows(), 1.0);
  for (int step = 0; step < 10'000; ++step) {
    std::vector<double> next(v.size(), 0.0);
    for (std::size_t j = 0; j < v.size(); ++j) {
      for (std::size_t k = 0; k < v.size(); ++k) next[j] += covariance(j, k) * v[k];
    }
    const double length = std::sqrt(std::inner_product(next.begin(), next.end(), next.begin(), 0.0));
    for (double& value : next) value /= length;
    v = std::move(next);
  }
  return v;
}

TEST(ThirdMoments, are_products_of_two_columns_and_the_first_component_by_brute_force) {
  Labelled data(150, 151, 4, false, false);
  for (Sample* sample : {&data.x, &data.y}) {
    for (std::size_t i = 0; i < sample->points.rows(); ++i) {
      sample->points(i, 2) *= 3.0;  // one component leads, or the iteration would not converge
      if (i == 5) sample->points(i, 0) = 40.0;
    }
  }
  const Pool rows = data.pool.rows();
  const LinearComponents components = linear_components(rows, {.num_landmarks = 301, .max_rank = 4}, Seed{2}, {});
  const PairProducts pairs = second_moments(components, rows, numbers(4), 2, 100, Seed{2});
  const RowFunctions triples = make_functions({.functions = third_moments(components, pairs, rows)});
  const RowFunctions squares = make_functions({.functions = squares_of_columns(pairs, rows, numbers(4))});
  ASSERT_EQ(triples->count, 6U);
  ASSERT_EQ(squares->count, 4U);
  const Matrix<double> of_triples = project_pool(*triples, rows, 0, 6, ThreadCount{2});
  const Matrix<double> of_squares = project_pool(*squares, rows, 0, 4, ThreadCount{2});
  const Moments moments = moments_of(rows);
  const std::vector<double> direction = leading_direction(moments.covariance);
  double variance = 0.0;
  for (std::size_t j = 0; j < 4; ++j) {
    for (std::size_t k = 0; k < 4; ++k) variance += direction[j] * moments.covariance(j, k) * direction[k];
  }
  bool cut = false;
  double sign = 0.0;  // of the component, the same for all rows
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<double> column(4);
    double z = 0.0;
    for (std::size_t k = 0; k < 4; ++k) {
      const double deviation = rows.row(i)[k] - moments.mean[k];
      z += direction[k] * deviation / std::sqrt(variance);
      column[k] = std::clamp(deviation / std::sqrt(moments.covariance(k, k)), -4.0, 4.0);
      cut = cut || std::abs(column[k]) == 4.0;
      EXPECT_NEAR(of_squares(k, i), column[k] * column[k], 1e-12 * (1.0 + column[k] * column[k]));
    }
    z = std::clamp(z, -4.0, 4.0);
    std::size_t f = 0;
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t b = a + 1; b < 4; ++b, ++f) {
        const double product = column[a] * column[b] * z;
        if (sign == 0.0) sign = std::copysign(1.0, product * of_triples(f, i));
        EXPECT_NEAR(of_triples(f, i), sign * product, 1e-9 * (1.0 + std::abs(product)));
      }
    }
  }
  EXPECT_TRUE(cut);
}

TEST(ColumnShapes, are_sums_of_differences_of_mean_polynomials_of_ranks) {
  for (const bool ties : {false, true}) {
    const Labelled data(100, 157, 2, false, ties);  // 257 rows: each is a knot
    const Pool rows = data.pool.rows();
    const SharedFunctions functions(FunctionSet{.functions = column_shapes(rows, {0, 1}, {}, 3, ThreadCount{2})});
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
  Sample x = test::drawn_sample(40, 60, {}, 1, Seed{7});
  Sample y = test::drawn_sample(40, 60, {}, 2, Seed{7});
  for (Sample* sample : {&x, &y}) {
    for (std::size_t i = 0; i < 40; ++i) sample->points(i, 31) = sample->points(i, 7) + 0.1 * sample->points(i, 31);
  }
  const TestPool pool = make_test_pool(x, y, ThreadCount{1});
  const Pool rows = pool.rows();
  const LinearComponents components = linear_components(rows, {.num_landmarks = 20, .max_rank = 2}, Seed{2}, {});
  const RowFunctions products =
      make_functions({.functions = second_moments(components, rows, numbers(rows.dim()), 0, 1, Seed{2})});
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

}  // namespace
}  // namespace kqd
