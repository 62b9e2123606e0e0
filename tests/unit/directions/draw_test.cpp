#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <vector>

#include "directions/reference.hpp"
#include "kqd/directions/directions.hpp"
#include "support/errors.hpp"
#include "support/rounding.hpp"
#include "support/source.hpp"
#include "support/warnings.hpp"

namespace kqd {
namespace {

using test::column;
using test::expect_error;
using test::Real;
using test::roundings;
using test::within;

const Kernel kGaussian(parse_kernel("gaussian@1"));

Sample pool_of(std::size_t n, std::size_t dim, std::uint64_t seed) {
  test::Source source(seed);
  return test::normal_sample({n, dim}, source);
}

SampleView rows(const Sample& all, std::size_t first, std::size_t count) {
  return {all.points.view().row_range(first, count), {}};
}

const KernelDirections& as_kernel(const DrawnDirections& drawn) {
  return dynamic_cast<const KernelDirections&>(*drawn.directions);
}
const LinearDirections& as_linear(const DrawnDirections& drawn) {
  return dynamic_cast<const LinearDirections&>(*drawn.directions);
}

std::vector<double> list(MatrixView<const double> matrix) {
  std::vector<double> values;
  for (std::size_t i = 0; i < matrix.rows(); ++i)
    values.insert(values.end(), matrix.row(i).begin(), matrix.row(i).end());
  return values;
}

Matrix<double> drawn_values(const Directions& directions, MatrixView<const double> points) {
  Matrix<double> values(directions.count(), points.rows());
  directions.evaluate(points, 0, values, ThreadCount{1});
  return values;
}

// --- what overflows ---

TEST(DrawDirections, column_too_wide_for_reference_points_is_named) {
  const Sample pool{Matrix<double>(2, 2, {0.0, -1.7e308, 1.0, 1.7e308}), {}, {}};
  expect_error(ErrorCode::non_finite_value,
               "column 2 spreads too far for reference points next to it; rescale the columns",
               [&] { static_cast<void>(draw_directions(kGaussian, pool, pool, {}, Seed{1})); });
}

// --- the scale of columns ---

// Percentiles by linear interpolation at fraction (n - 1), on a sorted copy.
double plain_percentile(std::vector<double> values, double fraction) {
  std::ranges::sort(values);
  const double place = fraction * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const auto above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - std::floor(place)) * (values[above] - values[below]);
}

TEST(ColumnScale, is_the_median_and_interquartile_range_of_every_pooled_column) {
  for (const std::size_t n : {2UL, 3UL, 4UL, 5UL, 50UL, 101UL}) {
    const Sample all = pool_of(n, 3, n);
    const ColumnScale scale = column_scale({rows(all, 0, 1).points, rows(all, 1, n - 1).points}, Seed{});
    for (std::size_t k = 0; k < 3; ++k) {
      std::vector<double> values;
      for (std::size_t i = 0; i < n; ++i) values.push_back(all.points(i, k));
      EXPECT_DOUBLE_EQ(scale.median[k], plain_percentile(values, 0.5));
      EXPECT_DOUBLE_EQ(scale.iqr[k], plain_percentile(values, 0.75) - plain_percentile(values, 0.25));
    }
  }
}

TEST(ColumnScale, falls_back_on_mad_then_sd_then_zero_when_the_range_is_zero) {
  const auto iqr_of = [](const std::vector<double>& values) {
    const Sample sample = column(values);
    return column_scale({sample.points, Matrix<double>(0, 1)}, Seed{}).iqr[0];
  };
  EXPECT_DOUBLE_EQ(iqr_of({0, 1, 2, 3, 4}), 2.0);
  // The middle half is 5, so IQR and MAD are 0: 1.349 sd with sd^2 = (2/7 * ...) of {0, 5 x 6, 7}.
  const double mean = 37.0 / 8.0;
  const double sd = std::sqrt((mean * mean + 6 * (5 - mean) * (5 - mean) + (7 - mean) * (7 - mean)) / 7.0);
  EXPECT_DOUBLE_EQ(iqr_of({0, 5, 5, 5, 5, 5, 5, 7}), 1.349 * sd);
  EXPECT_EQ(iqr_of({3, 3, 3, 3}), 0.0);
}

TEST(ColumnScale, of_a_large_pool_does_not_depend_on_which_rows_are_called_x) {
  const Sample all = pool_of(40'000, 1, 5);
  const auto at = [&](std::size_t nx, Seed seed) {
    const ColumnScale scale = column_scale({rows(all, 0, nx).points, rows(all, nx, 40'000 - nx).points}, seed);
    return std::pair{scale.median[0], scale.iqr[0]};
  };
  EXPECT_EQ(at(10, Seed{1}), at(39'999, Seed{1}));
  EXPECT_NE(at(10, Seed{1}), at(10, Seed{2}));
  // 32768 of 40000: the sample quartiles are off in level by 0.02 with probability below 4 exp(-2 * 32768 * 0.02^2) =
  // 1.6e-11 (Dvoretzky, Kiefer, Wolfowitz), which moves them by at most 0.02/phi(0.69) = 0.07 each.
  EXPECT_NEAR(at(10, Seed{1}).second, 1.349, 0.14);
}

// --- reference measures ---

// 20000 draws: mean within 5 standard errors, variance within 5 (relative standard error sqrt(2/m) for a normal,
// sqrt(4/5/m) for a uniform distribution).
TEST(ReferenceMeasure, gaussian_has_the_pooled_median_and_the_scale_of_the_range) {
  const std::size_t m = 20'000;
  const Sample x{Matrix<double>(5, 2, {0, 100, 1, 140, 2, 180, 3, 220, 4, 260}), {}, {}};  // medians 2, 180; IQR 2, 80
  DirectionOptions options;
  for (const bool zero_centred : {false, true}) {
    options.zero_centred = zero_centred;
    const auto drawn = draw_reference({x.points, Matrix<double>(0, 2)}, options, m, Seed{1});
    EXPECT_TRUE(drawn.pooled_rows.empty());
    for (std::size_t k = 0; k < 2; ++k) {
      const double center = zero_centred ? 0.0 : (k == 0 ? 2.0 : 180.0);
      const double sd = (k == 0 ? 2.0 : 80.0) / 1.349;
      double sum = 0, squares = 0, inner = 0;
      for (std::size_t j = 0; j < m; ++j) {
        const double z = (drawn.points(j, k) - center) / sd;
        sum += z;
        squares += z * z;
        if (std::abs(z) < 0.6744897501960817) inner += 1.0;
      }
      const auto count = static_cast<double>(m);
      EXPECT_NEAR(sum / count, 0.0, 5.0 / std::sqrt(count));
      EXPECT_NEAR(squares / count, 1.0, 5.0 * std::sqrt(2.0 / count));
      EXPECT_NEAR(inner / count, 0.5,
                  5.0 * 0.5 / std::sqrt(count));  // a normal distribution: half within its quartiles
    }
  }
}

TEST(ReferenceMeasure, uniform_covers_one_range_to_both_sides_of_the_median) {
  const std::size_t m = 20'000;
  const Sample x = column({0, 1, 2, 3, 4});
  DirectionOptions options;
  options.reference = ReferenceMeasure::uniform;
  for (const bool zero_centred : {false, true}) {
    options.zero_centred = zero_centred;
    const double center = zero_centred ? 0.0 : 2.0;
    const auto drawn = draw_reference({x.points, Matrix<double>(0, 1)}, options, m, Seed{2});
    double sum = 0, squares = 0;
    for (const double z : drawn.points.values()) {
      ASSERT_LE(std::abs(z - center), 2.0);
      sum += z - center;
      squares += (z - center) * (z - center);
    }
    const auto count = static_cast<double>(m);
    EXPECT_NEAR(sum / count, 0.0, 5.0 * std::sqrt(4.0 / 3.0 / count));
    EXPECT_NEAR(squares / count, 4.0 / 3.0, 5.0 * 4.0 / 3.0 * std::sqrt(0.8 / count));
  }
}

TEST(ReferenceMeasure, of_a_constant_column_stays_on_it) {
  const Sample x{Matrix<double>(3, 2, {7, 1, 7, 2, 7, 4}), {}, {}};  // the other column is not constant
  for (const ReferenceMeasure measure : {ReferenceMeasure::gaussian, ReferenceMeasure::uniform}) {
    DirectionOptions options;
    options.reference = measure;
    const auto drawn = draw_reference({x.points, x.points}, options, 10, Seed{3});
    for (std::size_t j = 0; j < 10; ++j) EXPECT_EQ(drawn.points(j, 0), 7.0);
  }
}

TEST(ReferenceMeasure, pooled_takes_different_rows_of_the_pool_whatever_their_labels) {
  const Sample all = pool_of(60, 2, 4);
  DirectionOptions options;
  options.reference = ReferenceMeasure::pooled;
  const auto cut_at = [&](std::size_t nx, std::size_t m, Seed seed) {
    return draw_reference({rows(all, 0, nx).points, rows(all, nx, 60 - nx).points}, options, m, seed);
  };
  for (const std::size_t m : {1UL, 3UL, 30UL, 60UL}) {
    const auto drawn = cut_at(20, m, Seed{1});
    ASSERT_EQ(drawn.pooled_rows.size(), m);
    EXPECT_EQ(std::set<std::size_t>(drawn.pooled_rows.begin(), drawn.pooled_rows.end()).size(), m);
    for (std::size_t j = 0; j < m; ++j) {
      ASSERT_LT(drawn.pooled_rows[j], 60U);
      EXPECT_TRUE(std::ranges::equal(drawn.points.row(j), all.points.row(drawn.pooled_rows[j])));
    }
    EXPECT_EQ(cut_at(59, m, Seed{1}).pooled_rows, drawn.pooled_rows);
  }
  EXPECT_NE(cut_at(20, 30, Seed{1}).pooled_rows, cut_at(20, 30, Seed{2}).pooled_rows);
}

// Every row is as likely: 3000 draws of 4 of 12 rows take each row Binomial(3000, 1/3) times, 1000 +- 5 * 25.8.
TEST(ReferenceMeasure, pooled_gives_every_row_the_same_chance) {
  const Sample all = pool_of(12, 1, 6);
  DirectionOptions options;
  options.reference = ReferenceMeasure::pooled;
  std::vector<int> taken(12, 0);
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    for (const std::size_t row :
         draw_reference({rows(all, 0, 3).points, rows(all, 3, 9).points}, options, 4, Seed{seed}).pooled_rows)
      ++taken[row];
  }
  for (const int count : taken) EXPECT_NEAR(count, 1000, 129);
}

TEST(ReferenceMeasure, balanced_takes_half_of_its_rows_from_each_sample) {
  const Sample all = pool_of(50, 2, 7);
  DirectionOptions options;
  options.reference = ReferenceMeasure::balanced;
  const auto from_x = [&](std::size_t nx, std::size_t m) {
    const auto drawn = draw_reference({rows(all, 0, nx).points, rows(all, nx, 50 - nx).points}, options, m, Seed{1});
    EXPECT_EQ(drawn.pooled_rows.size(), m);
    EXPECT_EQ(std::set<std::size_t>(drawn.pooled_rows.begin(), drawn.pooled_rows.end()).size(), m);
    for (std::size_t j = 0; j < m; ++j) {
      EXPECT_TRUE(std::ranges::equal(drawn.points.row(j), all.points.row(drawn.pooled_rows[j])));
    }
    return std::ranges::count_if(drawn.pooled_rows, [&](std::size_t row) { return row < nx; });
  };
  EXPECT_EQ(from_x(25, 10), 5);
  EXPECT_EQ(from_x(25, 11), 5);
  EXPECT_EQ(from_x(25, 1), 0);
  EXPECT_EQ(from_x(2, 10), 2);    // X has no more
  EXPECT_EQ(from_x(48, 10), 8);   // Y has no more
  EXPECT_EQ(from_x(20, 50), 20);  // everything
}

// --- drawing ---

// Many where rows are few; rows of the pool are held out, so there are few of them.
TEST(DrawDirections, defaults_follow_from_the_number_of_rows) {
  struct Counts {
    std::size_t directions;
    std::size_t reference;
    std::size_t pooled;
    bool operator==(const Counts&) const = default;
  };
  const auto counts = [](std::size_t n) {
    const Sample all = pool_of(n, 1, 8);
    const auto drawn_from = [&](ReferenceMeasure measure) {
      const DirectionOptions options{.reference = measure};
      auto drawn = draw_directions(kGaussian, rows(all, 0, 1), rows(all, 1, n - 1), options, Seed{});
      EXPECT_TRUE(drawn.warnings.empty());
      EXPECT_EQ(as_kernel(drawn).reference().rows(), drawn.num_reference);
      return drawn;
    };
    const DrawnDirections gaussian = drawn_from(ReferenceMeasure::gaussian);
    return Counts{gaussian.directions->count(), gaussian.num_reference,
                  drawn_from(ReferenceMeasure::pooled).num_reference};
  };
  EXPECT_EQ(counts(2), (Counts{64, 64, 2}));
  EXPECT_EQ(counts(23), (Counts{184, 92, 2}));
  EXPECT_EQ(counts(24), (Counts{192, 96, 3}));
  EXPECT_EQ(counts(512), (Counts{1024, 512, 64}));
  EXPECT_EQ(counts(2048), (Counts{256, 128, 64}));
  EXPECT_EQ(counts(10'000), (Counts{64, 64, 64}));
}

TEST(DrawDirections, are_a_function_of_the_unlabelled_pool_and_the_seed) {
  const Sample all = pool_of(80, 2, 9);
  for (const ReferenceMeasure measure :
       {ReferenceMeasure::gaussian, ReferenceMeasure::uniform, ReferenceMeasure::pooled}) {
    DirectionOptions options;
    options.reference = measure;
    const auto cut_at = [&](std::size_t nx, Seed seed) {
      const auto drawn = draw_directions(kGaussian, rows(all, 0, nx), rows(all, nx, 80 - nx), options, seed);
      return list(drawn_values(*drawn.directions, all.points));
    };
    const auto values = cut_at(40, Seed{1});
    EXPECT_EQ(cut_at(1, Seed{1}), values) << to_string(measure);
    EXPECT_EQ(cut_at(79, Seed{1}), values) << to_string(measure);
    EXPECT_NE(cut_at(40, Seed{2}), values) << to_string(measure);
  }
}

// Coefficients m^-1/2 lambda are drawn direction by direction, reference points point by point. Eight directions fill
// the tiles of a matrix product (see directions_test), so not a bit changes.
TEST(DrawDirections, more_directions_keep_the_first_ones) {
  const Sample all = pool_of(60, 2, 10);
  for (const DirectionFamily family : {DirectionFamily::gaussian, DirectionFamily::linear}) {
    const auto draw = [&](std::size_t l) {
      DirectionOptions options;
      options.family = family;
      options.num_directions = l;
      const auto drawn = draw_directions(kGaussian, rows(all, 0, 30), rows(all, 30, 30), options, Seed{3});
      return drawn_values(*drawn.directions, all.points);
    };
    const Matrix<double> few = draw(8), many = draw(40);
    for (std::size_t i = 0; i < 8; ++i) {
      EXPECT_TRUE(std::ranges::equal(few.row(i), many.row(i))) << to_string(family) << " " << i;
    }
  }
}

TEST(DrawDirections, more_reference_points_keep_the_first_ones) {
  const Sample all = pool_of(60, 2, 11);
  for (const ReferenceMeasure measure :
       {ReferenceMeasure::gaussian, ReferenceMeasure::uniform, ReferenceMeasure::pooled}) {
    DirectionOptions options;
    options.reference = measure;
    const Pool pool{rows(all, 0, 30).points, rows(all, 30, 30).points};
    const auto few = list(draw_reference(pool, options, 3, Seed{4}).points);
    auto many = list(draw_reference(pool, options, 50, Seed{4}).points);
    many.resize(few.size());
    EXPECT_EQ(few, many) << to_string(measure);
  }
}

TEST(DrawDirections, own_points_and_coefficients_are_taken_as_they_are) {
  const Sample all = pool_of(10, 1, 12);
  DirectionOptions options;
  options.reference = ReferenceMeasure::points;
  options.reference_points = Matrix<double>(3, 1, {-1, 0, 2});
  options.coefficients = Matrix<double>(3, 2, {1, 0, 0, 2, 0, -1});
  options.normalise = false;
  const auto drawn = draw_directions(kGaussian, rows(all, 0, 5), rows(all, 5, 5), options, Seed{});
  EXPECT_EQ(drawn.num_reference, 3U);
  EXPECT_EQ(drawn.directions->count(), 2U);
  const auto values = drawn_values(*drawn.directions, all.points);
  for (std::size_t j = 0; j < 10; ++j) {
    const double x = all.points(j, 0);
    const auto k = [&](double z) { return std::exp(-(x - z) * (x - z) / 2); };
    EXPECT_NEAR(values(0, j), k(-1), 1e-14);
    EXPECT_NEAR(values(1, j), 2 * k(0) - k(2), 1e-14);
  }
  options.coefficients = {};
  options.num_directions = 7;
  EXPECT_EQ(draw_directions(kGaussian, rows(all, 0, 5), rows(all, 5, 5), options, Seed{}).directions->count(), 7U);
}

// Sum_j c_j z_j . x: with the linear kernel a direction is a vector, so nothing is kept of the reference points.
TEST(DrawDirections, of_the_linear_kernel_are_linear_directions) {
  const Sample all = pool_of(40, 3, 13);
  const Kernel linear(parse_kernel("linear"));
  DirectionOptions options;
  options.reference = ReferenceMeasure::points;
  options.reference_points = Matrix<double>(2, 3, {1, 0, 0, 0, 2, 0});
  options.coefficients = Matrix<double>(2, 1, {3, 2});
  const auto drawn = draw_directions(linear, rows(all, 0, 20), rows(all, 20, 20), options, Seed{});
  const auto w = as_linear(drawn).weights();
  EXPECT_DOUBLE_EQ(w(0, 0), 0.6);
  EXPECT_DOUBLE_EQ(w(0, 1), 0.8);
  EXPECT_DOUBLE_EQ(w(0, 2), 0.0);
  // As a kernel direction it is the same function.
  const KernelDirections direct(linear, options.reference_points, options.coefficients);
  const auto a = drawn_values(*drawn.directions, all.points);
  const auto b = drawn_values(direct, all.points);
  for (std::size_t j = 0; j < 40; ++j) {  // a dozen roundings of 0.6 |x_1| + 0.8 |x_2|
    const double size = 0.6 * std::abs(all.points(j, 0)) + 0.8 * std::abs(all.points(j, 1));
    EXPECT_NEAR(a(0, j), b(0, j), roundings(12) * size);
  }
  // With an offset the constant function joins the space: no vector of R^d any more.
  EXPECT_NE(dynamic_cast<const KernelDirections*>(
                draw_directions(Kernel(parse_kernel("linear:1")), rows(all, 0, 20), rows(all, 20, 20), {}, Seed{})
                    .directions.get()),
            nullptr);
}

TEST(DrawDirections, axes_are_the_coordinates_whatever_the_kernel) {
  const Sample all = pool_of(10, 4, 14);
  DirectionOptions options;
  options.family = DirectionFamily::axis;
  options.num_directions = 99;
  const auto drawn = draw_directions(kGaussian, rows(all, 0, 5), rows(all, 5, 5), options, Seed{});
  EXPECT_EQ(drawn.directions->count(), 4U);
  EXPECT_EQ(drawn.num_reference, 0U);
  const auto values = drawn_values(*drawn.directions, all.points);
  for (std::size_t k = 0; k < 4; ++k) {
    for (std::size_t j = 0; j < 10; ++j) EXPECT_EQ(values(k, j), all.points(j, k));
  }
}

// Uniform on the sphere of R^3: E w = 0 and E w w' = I/3, Var w_k^2 = 4/45, Var w_j w_k = 1/15; 5 standard errors each.
TEST(DrawDirections, linear_family_is_uniform_on_the_sphere) {
  const Sample all = pool_of(10, 3, 15);
  DirectionOptions options;
  options.family = DirectionFamily::linear;
  options.num_directions = 20'000;
  const auto drawn = draw_directions(kGaussian, rows(all, 0, 5), rows(all, 5, 5), options, Seed{5});
  const auto w = as_linear(drawn).weights();
  const auto count = static_cast<double>(w.rows());
  for (std::size_t a = 0; a < 3; ++a) {
    double mean = 0;
    for (std::size_t i = 0; i < w.rows(); ++i) mean += w(i, a) / count;
    EXPECT_NEAR(mean, 0.0, 5.0 * std::sqrt(1.0 / 3.0 / count));
    for (std::size_t b = 0; b <= a; ++b) {
      double moment = 0;
      for (std::size_t i = 0; i < w.rows(); ++i) moment += w(i, a) * w(i, b) / count;
      const double variance = a == b ? 4.0 / 45.0 : 1.0 / 15.0;
      EXPECT_NEAR(moment, a == b ? 1.0 / 3.0 : 0.0, 5.0 * std::sqrt(variance / count));
    }
  }
  for (std::size_t i = 0; i < w.rows(); ++i) {
    EXPECT_NEAR(w(i, 0) * w(i, 0) + w(i, 1) * w(i, 1) + w(i, 2) * w(i, 2), 1.0, roundings(12));
  }
}

TEST(DrawDirections, more_reference_points_than_rows_are_held_to_the_rows_with_a_warning) {
  const Sample all = pool_of(10, 1, 16);
  for (const ReferenceMeasure measure : {ReferenceMeasure::pooled, ReferenceMeasure::balanced}) {
    DirectionOptions options;
    options.reference = measure;
    const auto draw = [&](std::size_t m) {
      options.num_reference = m;
      return draw_directions(kGaussian, rows(all, 0, 4), rows(all, 4, 6), options, Seed{});
    };
    EXPECT_TRUE(draw(9).warnings.empty());
    EXPECT_EQ(draw(10).warnings, test::only(WarningId::all_points_are_reference, 10));
    EXPECT_EQ(draw(11).warnings, test::only(WarningId::too_many_reference_points, 11, 10));
    EXPECT_EQ(draw(11).num_reference, 10U);
    EXPECT_EQ(draw(11).pooled_rows.size(), 10U);
  }
  DirectionOptions off_sample;
  off_sample.num_reference = 50;
  EXPECT_TRUE(draw_directions(kGaussian, rows(all, 0, 4), rows(all, 4, 6), off_sample, Seed{}).warnings.empty());
}

TEST(DrawDirections, points_that_span_no_direction_are_refused) {
  const Sample data = column({1, 2, 3, 4});
  for (const char* text : {"polynomial:2:0", "energy", "linear"}) {
    KernelSpec spec = parse_kernel(text);
    if (spec.family == KernelFamily::energy) spec.origin = {0.0};
    DirectionOptions options;
    options.reference = ReferenceMeasure::points;
    options.reference_points = Matrix<double>(2, 1, {0, 0});  // k(0, 0) = 0
    expect_error(ErrorCode::degenerate_directions,
                 "degenerate reference points: direction 1 has norm 0 to rounding (||f||^2 = 0)",
                 [&] { static_cast<void>(draw_directions(Kernel(spec), data, data, options, Seed{})); });
  }
}

// Where all points are one there is nothing to compare, but that is not an error: reference points are drawn around it.
TEST(DrawDirections, one_repeated_point_still_has_directions) {
  const Sample zeros = column({0, 0, 0, 0});
  for (const char* text : {"gaussian@1", "polynomial:2:0", "linear"}) {
    EXPECT_NO_THROW(static_cast<void>(draw_directions(Kernel(parse_kernel(text)), zeros, zeros, {}, Seed{}))) << text;
  }
}

// 0.1 + 0.2 - 0.3 = 5.6e-17: what is left is rounding, not a direction, whichever way the linear kernel is evaluated.
TEST(DrawDirections, a_linear_direction_that_is_zero_to_rounding_is_refused) {
  const Sample data = column({1, 2, 3, 4});
  DirectionOptions options;
  options.reference = ReferenceMeasure::points;
  options.reference_points = Matrix<double>(3, 1, {1, 1, 1});
  options.coefficients = Matrix<double>(3, 2, {1, 0.1, 1, 0.2, 1, -0.3});
  for (const char* text : {"linear", "polynomial:1:0"}) {
    try {
      static_cast<void>(draw_directions(Kernel(parse_kernel(text)), data, data, options, Seed{}));
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::degenerate_directions);
      EXPECT_TRUE(
          std::string(error.what()).starts_with("degenerate reference points: direction 2 has norm 0 to rounding"))
          << error.what();
    }
  }
}

// The product of 5 coefficients with 4 points would read past the end.
TEST(DrawDirections, coefficients_for_more_points_than_there_are_rows_are_refused_for_every_kernel) {
  const Sample data = column({1, 2});
  for (const char* text : {"linear", "gaussian@1"}) {
    for (const ReferenceMeasure measure : {ReferenceMeasure::pooled, ReferenceMeasure::balanced}) {
      DirectionOptions options;
      options.reference = measure;
      options.coefficients = Matrix<double>(5, 1, 1.0);
      expect_error(
          ErrorCode::shape_mismatch, "coefficients have 5 rows for 4 reference points, expected one row per point",
          [&] { static_cast<void>(draw_directions(Kernel(parse_kernel(text)), data, data, options, Seed{})); });
    }
  }
}

// Squares of numbers around 1e-200 are 0: the linear kernel has directions there all the same.
TEST(DrawDirections, of_the_linear_kernel_exist_at_any_scale) {
  for (const double scale : {1e-200, 1e200}) {
    const Sample data = column({1 * scale, 2 * scale, 3 * scale, 5 * scale});
    const auto drawn = draw_directions(Kernel(parse_kernel("linear")), data, data, {}, Seed{});
    for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(std::abs(as_linear(drawn).weights()(i, 0)), 1.0);
  }
}

TEST(DirectionOptions, settings_out_of_range_are_refused) {
  const auto refused = [](ErrorCode code, const char* sentence, const DirectionOptions& options) {
    expect_error(code, sentence, [&] { validate(options, 2); });
  };
  DirectionOptions options;
  options.num_directions = 0;
  refused(ErrorCode::invalid_option, "num_directions = 0: expected a whole number in 1..1048576", options);
  options.num_directions = 1048577;
  refused(ErrorCode::invalid_option, "num_directions = 1048577: expected a whole number in 1..1048576", options);
  options = {};
  options.num_reference = 0;
  refused(ErrorCode::invalid_option, "num_reference = 0: expected a whole number in 1..1048576", options);
  options.num_reference = std::numeric_limits<std::size_t>::max();
  refused(ErrorCode::invalid_option, "num_reference = 18446744073709551615: expected a whole number in 1..1048576",
          options);
  options = {};
  options.jitter = -1e-9;
  refused(ErrorCode::invalid_option, "jitter = -1e-09: expected a number >= 0", options);
  options.jitter = std::nan("");
  refused(ErrorCode::invalid_option, "jitter = nan: expected a number >= 0", options);
  options = {};
  options.reference = ReferenceMeasure::points;
  refused(ErrorCode::invalid_option, "reference = points: expected reference points, and none are given", options);
  options.reference_points = Matrix<double>(3, 1, 0.0);
  refused(ErrorCode::shape_mismatch, "reference points have 1 column and the data 2, expected the same number",
          options);
  options.reference_points = Matrix<double>(3, 2, 0.0);
  options.coefficients = Matrix<double>(4, 1, 1.0);
  refused(ErrorCode::shape_mismatch, "coefficients have 4 rows for 3 reference points, expected one row per point",
          options);
  options.coefficients = Matrix<double>(3, 1, {1, std::nan(""), 1});
  refused(ErrorCode::non_finite_value, "coefficients: row 2, column 1 is nan, expected a finite number", options);
  options.coefficients = {};
  options.reference_points(2, 1) = -HUGE_VAL;
  refused(ErrorCode::non_finite_value, "reference points: row 3, column 2 is -inf, expected a finite number", options);
}

TEST(DirectionOptions, names_go_both_ways) {
  for (const char* name : {"gaussian", "linear", "axis", "principal", "mixed"})
    EXPECT_EQ(to_string(parse_direction_family(name)), name);
  for (const char* name : {"gaussian", "uniform", "pooled", "balanced", "points"}) {
    EXPECT_EQ(to_string(parse_reference_measure(name)), name);
  }
  expect_error(ErrorCode::invalid_option,
               "directions = axes: expected one of gaussian, linear, axis, principal, mixed; did you mean axis?",
               [] { static_cast<void>(parse_direction_family("axes")); });
  expect_error(ErrorCode::invalid_option,
               "reference = pool: expected one of gaussian, uniform, pooled, balanced, points; did you mean "
               "pooled?",
               [] { static_cast<void>(parse_reference_measure("pool")); });
}

}  // namespace
}  // namespace kqd
