// The kernel "mixed": products over the columns of a table.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/pool.hpp"
#include "kernel/kernel_gradient.hpp"
#include "kernel/resolve.hpp"
#include "kqd/kernel/kernel.hpp"
#include "kqd/metrics/discrepancy.hpp"
#include "kqd/metrics/methods.hpp"
#include "support/errors.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

constexpr std::size_t kLevels = 4;

// Columns: a number with missing values, its marks, four levels of a category, whole numbers 0..4, a number.
struct MixedTable {
  Sample sample;
  std::vector<std::size_t> level;
  std::vector<bool> missing;
};

MixedTable mixed_table(std::size_t rows, std::uint64_t seed) {
  test::Source source(seed);
  MixedTable table{{Matrix<double>(rows, 8, 0.0), {}, {}}, {}, {}};
  using enum ColumnKind;
  table.sample.roles = {{number, 0}, {missing, 0}, {level, 1},  {level, 1},
                        {level, 1},  {level, 1},   {number, 2}, {number, 3}};
  for (std::size_t i = 0; i < rows; ++i) {
    auto row = table.sample.points.row(i);
    table.missing.push_back(source.uniform() < 0.1);
    table.level.push_back(source.below(kLevels));
    row[0] = table.missing[i] ? 50.0 : 50.0 + 10.0 * source.normal();
    row[1] = table.missing[i] ? 1.0 : 0.0;
    row[2 + table.level[i]] = 1.0;
    row[6] = static_cast<double>(source.below(5));
    row[7] = 1e-3 * source.normal();
  }
  return table;
}

KernelSpec resolved(const Sample& sample, double bandwidth) {
  KernelSpec spec = parse_kernel("mixed");
  spec.bandwidth = bandwidth;
  Warnings warnings;
  const Sample none{Matrix<double>(0, sample.points.cols()), {}, {}};
  return resolve(spec, sample, none, BandwidthRule::median, Seed{1}, warnings);
}

double quartile(std::vector<double> values, double fraction) {
  std::ranges::sort(values);
  const double place = fraction * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double rest = place - static_cast<double>(below);
  return values[below] + (rest > 0.0 ? rest * (values[below + 1] - values[below]) : 0.0);
}

// The kernel as products over columns of the table, written out.
double product_of_kernels(const MixedTable& table, std::size_t a, std::size_t b, double s) {
  const Matrix<double>& points = table.sample.points;
  const auto robust_scale = [&](std::size_t column, bool skips_missing) {
    std::vector<double> values;
    for (std::size_t i = 0; i < points.rows(); ++i) {
      if (!skips_missing || !table.missing[i]) values.push_back(points(i, column));
    }
    return (quartile(values, 0.75) - quartile(values, 0.25)) / 1.349;
  };
  const auto gaussian = [&](std::size_t column, bool skips_missing) {
    const double gap = (points(a, column) - points(b, column)) / robust_scale(column, skips_missing);
    return std::exp(-gap * gap / (2.0 * s * s));
  };
  const double missing = table.missing[a] == table.missing[b] ? 1.0 : std::exp(-2.0 / (2.0 * s * s));
  // Aitchison and Aitken, over its largest value.
  const double levels = static_cast<double>(kLevels);
  const double r = std::exp(-levels / ((levels - 1.0) * s * s));
  const double lambda = (levels - 1.0) * r / (1.0 + (levels - 1.0) * r);
  const double category = (table.level[a] == table.level[b] ? 1.0 - lambda : lambda / (levels - 1.0)) / (1.0 - lambda);
  // Two numbers of 0..4 differ by 1.6 on average.
  const double ordered = std::exp(-std::abs(points(a, 6) - points(b, 6)) * (2.0 / 1.6) / (2.0 * s * s));
  return gaussian(0, true) * missing * category * ordered * gaussian(7, false);
}

TEST(MixedKernel, is_the_product_of_a_kernel_per_column_of_the_table) {
  const MixedTable table = mixed_table(60, 4);
  const double s = 1.7;
  const Kernel kernel(resolved(table.sample, s));
  Matrix<double> values(60, 60);
  kernel.evaluate(table.sample.points, table.sample.points, values);
  for (std::size_t i = 0; i < 60; ++i) {
    for (std::size_t j = 0; j < 60; ++j) EXPECT_NEAR(values(i, j), product_of_kernels(table, i, j, s), 1e-12) << i << j;
  }
}

TEST(MixedKernel, is_positive_definite) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const MixedTable table = mixed_table(80, seed);
    const Kernel kernel(resolved(table.sample, 0.8 + 0.5 * static_cast<double>(seed)));
    Matrix<double> values(80, 80);
    kernel.evaluate(table.sample.points, table.sample.points, values);
    // A Cholesky factorisation exists; rounding of 80 products of values up to 1 is far below the added 1e-10.
    for (std::size_t j = 0; j < 80; ++j) {
      for (std::size_t i = j; i < 80; ++i) {
        double rest = values(i, j) + (i == j ? 1e-10 : 0.0);
        for (std::size_t k = 0; k < j; ++k) rest -= values(i, k) * values(j, k);
        if (i == j) {
          ASSERT_GT(rest, 0.0) << seed;
          values(j, j) = std::sqrt(rest);
        } else {
          values(i, j) = rest / values(j, j);
        }
      }
    }
  }
}

// 50 levels are one column of the table: they count as much as a number does.
TEST(MixedKernel, a_category_of_many_levels_counts_as_much_as_a_number) {
  test::Source source(8);
  Sample sample{Matrix<double>(3000, 51, 0.0), {}, {}};
  sample.roles.assign(51, {ColumnKind::level, 1});
  sample.roles[0] = {ColumnKind::number, 0};
  for (std::size_t i = 0; i < 3000; ++i) {
    sample.points(i, 0) = 7.0 * source.normal();
    sample.points(i, 1 + source.below(50)) = 1.0;
  }
  const KernelSpec spec = resolved(sample, 1.0);
  double number = 0.0;
  double category = 0.0;
  for (std::size_t i = 0; i + 1 < 3000; i += 2) {
    for (std::size_t c = 0; c < 51; ++c) {
      const double gap = (sample.points(i, c) - sample.points(i + 1, c)) / spec.column_scales[c];
      (c == 0 ? number : category) += gap * gap / 1500.0;
    }
  }
  // Both have mean 2; their standard errors are 0.08 and, as nearly all rows differ, 0.01.
  EXPECT_NEAR(number, 2.0, 0.4);
  EXPECT_NEAR(category, 2.0, 0.1);
}

TEST(MixedKernel, columns_of_levels_may_be_standardised) {
  const MixedTable table = mixed_table(50, 9);
  Sample standardised = table.sample;
  for (std::size_t c = 0; c < 8; ++c) {
    if (c == 6) continue;  // whole numbers are ordered only as such
    for (std::size_t i = 0; i < 50; ++i) standardised.points(i, c) = 3.0 * (standardised.points(i, c) - 0.25);
  }
  Matrix<double> expected(50, 50);
  Matrix<double> values(50, 50);
  Kernel(resolved(table.sample, 1.2)).evaluate(table.sample.points, table.sample.points, expected);
  Kernel(resolved(standardised, 1.2)).evaluate(standardised.points, standardised.points, values);
  for (std::size_t i = 0; i < values.values().size(); ++i) EXPECT_NEAR(values.values()[i], expected.values()[i], 1e-12);
}

TEST(MixedKernel, gradient_is_the_limit_of_differences) {
  const MixedTable table = mixed_table(20, 5);
  const Kernel kernel(resolved(table.sample, 1.5));
  std::vector<double> x(table.sample.points.row(0).begin(), table.sample.points.row(0).end());
  for (double& v : x) v += 0.01;  // away from the kinks of the ordered column
  Matrix<double> gradients(20, 8);
  kernel_gradient(kernel, x, table.sample.points, gradients);
  for (std::size_t c = 0; c < 8; ++c) {
    const double step = 1e-6 * std::abs(kernel.spec().column_scales[c]);
    Matrix<double> ends(2, 8);
    for (std::size_t side = 0; side < 2; ++side) {
      std::ranges::copy(x, ends.row(side).begin());
      ends(side, c) += side == 0 ? step : -step;
    }
    Matrix<double> values(2, 20);
    kernel.evaluate(ends, table.sample.points, values);
    for (std::size_t j = 0; j < 20; ++j) {
      const double unit = std::abs(kernel.spec().column_scales[c]);
      // Values have errors of some 1e-16, differences over 2e-6 of 1e-10.
      EXPECT_NEAR(gradients(j, c) * unit, (values(0, j) - values(1, j)) / (2.0 * step) * unit, 1e-8) << c;
    }
  }
}

// E cos(w'(x - z)) = k(x, z).
TEST(MixedKernel, random_features_have_its_spectral_distribution) {
  const MixedTable table = mixed_table(400, 6);
  const Sample x{Matrix<double>(table.sample.points.view().row_range(0, 200)), {}, {}, table.sample.roles};
  const Sample y{Matrix<double>(table.sample.points.view().row_range(200, 200)), {}, {}, table.sample.roles};
  MethodOptions options;
  options.kernel = parse_kernel("mixed");
  Sample shifted = y;
  for (std::size_t i = 0; i < 200; ++i) shifted.points(i, 7) += 1e-3;
  const double exact = distance("mmd-v", x, shifted, options).statistic;
  options.parameters["features"] = 20'000;
  const double random = distance("mmd-rff", x, shifted, options).statistic;
  // Errors of kernel values are below 1/sqrt(10000) and average out over rows.
  EXPECT_NEAR(random, exact, 0.1 * exact);
}

TEST(MixedKernel, text_reads_back) {
  EXPECT_EQ(to_string(parse_kernel("mixed@2.5")), "mixed@2.5");
  EXPECT_EQ(to_string(parse_kernel("mixed")), "mixed");
}

TEST(MixedKernel, needs_scales_of_its_columns) {
  test::expect_error(ErrorCode::invalid_option,
                     "the column scales of kernel mixed@1 are not set, expected one number per column",
                     [] { Kernel(parse_kernel("mixed@1")); });
}

// But scf, whose features are those of a window.
TEST(MixedKernel, all_kernel_methods_take_it) {
  const MixedTable table = mixed_table(60, 7);
  const Sample x{Matrix<double>(table.sample.points.view().row_range(0, 30)), {}, {}, table.sample.roles};
  const Sample y{Matrix<double>(table.sample.points.view().row_range(30, 30)), {}, {}, table.sample.roles};
  for (const char* method : {"ekqd", "ekqd-centered", "supkqd", "supkqd-opt", "mmd", "mmd-v", "mmd-lin", "mmd-block",
                             "mmd-nystrom", "mmd-rff", "me", "monk", "kce", "kmedian"}) {
    MethodOptions options;
    options.kernel = parse_kernel("mixed");
    EXPECT_TRUE(std::isfinite(distance(method, x, y, options).statistic)) << method;
  }
}

}  // namespace
}  // namespace kqd
