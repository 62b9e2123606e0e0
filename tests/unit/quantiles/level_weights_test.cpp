#include "kqd/quantiles/level_weights.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "support/errors.hpp"
#include "support/levels.hpp"
#include "support/rounding.hpp"

namespace kqd {
namespace {

using test::expect_error;
using test::kUnit;
using test::Real;
using test::within;

// An interval of levels whose ends are rounded has a mass off by the density times that, plus the roundings of the
// formula: at most 8 in all for densities up to 4.
constexpr Real kMassError = 8 * kUnit;

TEST(LevelMasses, are_the_differences_of_the_distribution_function) {
  for (const auto& level : test::levels()) {
    for (const std::size_t n : {1UL, 2UL, 3UL, 4UL, 7UL, 10UL, 64UL, 101UL}) {
      const auto masses = level_masses(parse_level_weights(level.text), n);
      ASSERT_EQ(masses.size(), n);
      for (std::size_t j = 0; j < n; ++j) {
        const Real expected = level.cdf(test::level(j + 1, n)) - level.cdf(test::level(j, n));
        ASSERT_TRUE(within(masses[j], expected, level.density_bound(n) * kMassError))
            << level.text << " " << j << "/" << n;
        ASSERT_GE(masses[j], 0.0);
      }
    }
  }
}

// The masses telescope: their exact sum is 1, and each is rounded once.
TEST(LevelMasses, sum_to_one) {
  for (const auto& level : test::levels()) {
    for (const std::size_t n : {1UL, 2UL, 17UL, 1000UL, 100'000UL}) {
      const auto masses = level_masses(parse_level_weights(level.text), n);
      Real total = 0;
      for (const double mass : masses) total += mass;
      EXPECT_TRUE(within(total, 1, kUnit)) << level.text << " " << n;
      EXPECT_GE(*std::min_element(masses.begin(), masses.end()), 0.0) << level.text << " " << n;
    }
  }
}

TEST(LevelWeights, distribution_functions_match_the_table_and_run_from_0_to_1) {
  for (const auto& level : test::levels()) {
    const LevelWeights weights = parse_level_weights(level.text);
    EXPECT_EQ(weights.cdf(0.0), 0.0) << level.text;
    EXPECT_EQ(weights.cdf(1.0), 1.0) << level.text;
    EXPECT_EQ(weights.cdf(-1.0), 0.0) << level.text;
    EXPECT_EQ(weights.cdf(2.0), 1.0) << level.text;
    double before = 0.0;
    for (int i = 1; i <= 1000; ++i) {
      const double t = i / 1000.0;
      const double value = weights.cdf(t);
      EXPECT_TRUE(within(value, level.cdf(t), level.density_bound(1000) * kMassError)) << level.text << " " << t;
      EXPECT_GE(value, before) << level.text << " " << t;
      before = value;
    }
  }
}

// The slope of F over a short interval is the density in its middle, up to the curvature.
TEST(LevelWeights, densities_are_the_slopes_of_the_distribution_functions) {
  for (const auto& level : test::levels()) {
    const LevelWeights weights = parse_level_weights(level.text);
    if (weights.shape() == LevelShape::atom) continue;
    for (const double t : {0.1171875, 0.3046875, 0.49609375, 0.50390625, 0.73046875, 0.90234375}) {
      const Real h = 0x1p-12L;
      const Real slope = (level.cdf(t + h) - level.cdf(t - h)) / (2 * h);
      // Third derivatives of the Beta densities used here stay below 400: h^2/6 of that.
      EXPECT_TRUE(within(weights.density(t), slope, 400 * h * h / 6 + 64 * kUnit)) << level.text << " " << t;
    }
  }
}

TEST(LevelWeights, ratio_1_makes_every_shape_uniform) {
  for (const char* text : {"triangle:1", "reverse-triangle:1", "slope-up:1", "slope-down:1"}) {
    for (const double mass : level_masses(parse_level_weights(text), 8)) EXPECT_EQ(mass, 0.125) << text;
  }
}

TEST(LevelWeights, an_atom_takes_the_bin_that_holds_the_quantile_of_its_level) {
  const auto bin_of = [](double level, std::size_t n) {
    const auto masses = level_masses(LevelWeights::atom(level), n);
    EXPECT_EQ(std::accumulate(masses.begin(), masses.end(), 0.0), 1.0);
    return std::max_element(masses.begin(), masses.end()) - masses.begin() + 1;
  };
  EXPECT_EQ(bin_of(0.0, 10), 1);
  EXPECT_EQ(bin_of(0.05, 10), 1);
  EXPECT_EQ(bin_of(0.1, 10), 1);
  EXPECT_EQ(bin_of(0.11, 10), 2);
  EXPECT_EQ(bin_of(1.0, 10), 10);
  for (std::size_t n = 1; n <= 300; ++n) {  // rank ceil(alpha n) with alpha = k/n is k
    for (std::size_t k = 1; k <= n; ++k) {
      ASSERT_EQ(bin_of(static_cast<double>(k) / static_cast<double>(n), n), static_cast<std::ptrdiff_t>(k));
    }
  }
}

TEST(LevelWeights, only_interval_and_atom_leave_levels_out) {
  for (const auto& level : test::levels()) {
    const LevelWeights weights = parse_level_weights(level.text);
    const bool partial = weights.shape() == LevelShape::interval || weights.shape() == LevelShape::atom;
    EXPECT_EQ(weights.full_support(), !partial) << level.text;
    EXPECT_EQ(weights.is_uniform(), level.text == "uniform");
  }
}

TEST(LevelWeights, texts_round_trip) {
  for (const char* text : {"uniform", "triangle:0.25", "reverse-triangle:0", "slope-up:1", "slope-down:0.3",
                           "interval:0.1:0.9", "beta:2:5.5", "atom:0.5"}) {
    EXPECT_EQ(to_string(parse_level_weights(text)), text);
  }
  EXPECT_EQ(to_string(parse_level_weights("triangle")), "triangle:0");
  EXPECT_EQ(to_string(parse_level_weights(" triangle : 0.5")), "triangle:0.5");
  EXPECT_EQ(to_string(LevelWeights{}), "uniform");
}

TEST(LevelWeights, bad_texts_are_refused) {
  const auto refused = [](const char* text, const char* sentence) {
    expect_error(ErrorCode::invalid_option, sentence, [&] { static_cast<void>(parse_level_weights(text)); });
  };
  refused("trianle",
          "weighting = trianle: expected one of uniform, triangle, reverse-triangle, slope-up, slope-down, "
          "interval, beta, atom, table; did you mean triangle?");
  refused("triangle:x", "weighting = triangle:x: expected a number in place of \"x\"");
  refused("triangle:", "weighting = triangle:: expected a number in place of \"\"");
  refused("triangle:0.1:0.2", "weighting = triangle:0.1:0.2: expected triangle[:ratio]");
  refused("uniform:1", "weighting = uniform:1: expected uniform");
  refused("interval:0.1", "weighting = interval:0.1: expected interval:low:high");
  refused("beta", "weighting = beta: expected beta:a:b");
  refused("atom", "weighting = atom: expected atom:level");
  refused("triangle:1.5", "weighting = triangle:1.5: expected a ratio in [0, 1]");
  refused("slope-up:-0.1", "weighting = slope-up:-0.1: expected a ratio in [0, 1]");
  refused("interval:0.5:0.5", "weighting = interval:0.5:0.5: expected 0 <= low < high <= 1");
  refused("interval:0.5:1.5", "weighting = interval:0.5:1.5: expected 0 <= low < high <= 1");
  refused("interval:-0.5:0.5", "weighting = interval:-0.5:0.5: expected 0 <= low < high <= 1");
  refused("interval:1:1", "weighting = interval:1:1: expected 0 <= low < high <= 1");
  refused("beta:0:1", "weighting = beta:0:1: expected a > 0 and b > 0");
  refused("beta:1:-2", "weighting = beta:1:-2: expected a > 0 and b > 0");
  refused("atom:1.01", "weighting = atom:1.01: expected a level in [0, 1]");
  expect_error(ErrorCode::invalid_option, "weighting = atom:nan: expected a level in [0, 1]",
               [] { static_cast<void>(LevelWeights::atom(std::nan(""))); });
  expect_error(ErrorCode::invalid_option, "weighting = uniform:0.5: expected a shape that takes a ratio",
               [] { static_cast<void>(LevelWeights::sloped(LevelShape::uniform, 0.5)); });
}

// A density that is linear between levels has the integral of trapezia.
TEST(LevelWeights, of_a_table_integrate_its_density) {
  const std::vector<LevelDensity> densities = {{0.0, 1.0}, {0.25, 3.0}, {0.75, 0.0}, {1.0, 2.0}};
  const LevelWeights weights = LevelWeights::table(densities);
  const Real mass = 0.5 + 0.75 + 0.25;  // of the three trapezia
  EXPECT_TRUE(within(weights.cdf(0.25), 0.5 / mass, kMassError));
  EXPECT_TRUE(within(weights.cdf(0.5), (0.5 + 0.25 * (3.0 + 1.5) / 2) / mass, kMassError));
  EXPECT_TRUE(within(weights.cdf(0.75), 1.25 / mass, kMassError));
  EXPECT_EQ(weights.cdf(1.0), 1.0);
  EXPECT_TRUE(within(weights.density(0.125), 2.0 / mass, 4 * kMassError));
  EXPECT_TRUE(weights.full_support());
  EXPECT_EQ(weights.summary(), "4-level table");
  Real total = 0;
  for (const double part : level_masses(weights, 7)) {
    EXPECT_GE(part, 0.0);
    total += part;
  }
  EXPECT_TRUE(within(total, 1, 8 * kUnit));
}

TEST(LevelWeights, of_tables_with_the_built_in_densities_are_the_built_in_ones) {
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"table:0:1:1:1", "uniform"}, {"table:0:0:0.5:1:1:0", "triangle"}, {"table:0:0.5:1:1", "slope-up:0.5"}};
  for (const auto& [table, shape] : pairs) {
    for (int i = 0; i <= 100; ++i) {
      const double t = i / 100.0;
      EXPECT_NEAR(parse_level_weights(table).cdf(t), parse_level_weights(shape).cdf(t), 1e-15) << table << " " << t;
    }
  }
}

TEST(LevelWeights, of_a_mixture_are_weighted_sums) {
  const LevelWeights mixed = parse_level_weights("3 uniform+1 atom:0.5");
  EXPECT_DOUBLE_EQ(mixed.cdf(0.4), 0.3);
  EXPECT_DOUBLE_EQ(mixed.cdf(0.5), 0.625);
  EXPECT_TRUE(mixed.full_support());
  EXPECT_FALSE(parse_level_weights("1 atom:0.1+2 interval:0.2:0.4").full_support());
  const std::string text = to_string(mixed);
  EXPECT_EQ(text, "0.75 uniform+0.25 atom:0.5");
  EXPECT_EQ(to_string(parse_level_weights(text)), text);
  EXPECT_DOUBLE_EQ(parse_level_weights("uniform+beta:2:2").cdf(0.5), 0.5);
  EXPECT_DOUBLE_EQ(parse_level_weights("triangle+1e+0 atom:0.5").cdf(0.5), 0.75);
  EXPECT_EQ(to_string(parse_level_weights("2 uniform")), "uniform");
}

TEST(LevelWeights, tables_and_mixtures_that_are_no_measure_are_refused) {
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"table:0:1", "weighting = table of 1 levels: expected at least two levels"},
      {"table:0:1:1", "weighting = table:0:1:1: expected table:level:density:level:density..."},
      {"table:0:1:1:-1", "weighting = table with density -1 at level 1: expected finite densities >= 0"},
      {"table:0:0:1:0", "weighting = table of mass 0: expected a density that is above 0 somewhere"},
      {"table:0.1:1:1:1", "weighting = table of levels from 0.1 to 1: expected levels from 0 to 1"},
      {"table:0:1:0.5:1", "weighting = table of levels from 0 to 0.5: expected levels from 0 to 1"},
      {"table:0:1:0.5:1:0.5:2:1:1", "weighting = table with level 0.5 after 0.5: expected ascending levels"},
      {"-1 uniform+2 triangle", "weighting = -1 uniform: expected a weight >= 0"},
      {"-1 uniform", "weighting = -1 uniform: expected a weight >= 0"},
      {"0 uniform+0 triangle", "weighting = mixture of weight 0: expected weights that are not all 0"},
      {"x uniform+triangle",
       "weighting = x uniform: expected one of uniform, triangle, reverse-triangle, slope-up, slope-down, interval, "
       "beta, atom, table; did you mean uniform?"},
  };
  for (const auto& [text, sentence] : refused) {
    expect_error(ErrorCode::invalid_option, sentence, [&] { static_cast<void>(parse_level_weights(text)); });
  }
}

// The density at (j-1)/(n-1), scaled to sum 1, as the authors' code has it (erratum 29).
TEST(PointEvaluatedMasses, follow_the_authors_code) {
  const auto masses = [](const char* text, std::size_t n) {
    return point_evaluated_masses(parse_level_weights(text), n);
  };
  const auto expect = [&](const char* text, const std::vector<double>& expected) {
    const auto got = masses(text, expected.size());
    for (std::size_t j = 0; j < expected.size(); ++j) EXPECT_DOUBLE_EQ(got[j], expected[j]) << text << j;
  };
  expect("triangle:0", {0, .25, .5, .25, 0});
  expect("reverse-triangle:0", {1.0 / 3, 1.0 / 6, 0, 1.0 / 6, 1.0 / 3});
  expect("slope-up:0", {0, 1.0 / 6, 2.0 / 6, 3.0 / 6});
  expect("slope-down:0", {3.0 / 6, 2.0 / 6, 1.0 / 6, 0});
  expect("slope-up:0.5", {1.0 / 3, 2.0 / 3});
  expect("uniform", {.2, .2, .2, .2, .2});
  expect("interval:0.5:1", {0, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3});
  expect("triangle:0", {.5, .5});  // both points fall where the density is 0: equal weights
  expect("triangle:0", {1});
  expect_error(ErrorCode::invalid_option,
               "weighting = atom:0.5: expected a density for point-evaluated levels, which an atom does not have",
               [&] { static_cast<void>(masses("atom:0.5", 3)); });
}

// A density without bound has no value at the ends; the special functions' own exception must not get out.
TEST(PointEvaluatedMasses, refuse_a_density_that_is_infinite_at_the_ends) {
  const auto refused = [](const char* text, const char* sentence) {
    expect_error(ErrorCode::invalid_option, sentence,
                 [&] { static_cast<void>(point_evaluated_masses(parse_level_weights(text), 4)); });
  };
  refused("beta:0.5:2", "weighting = beta:0.5:2: expected a finite density at level 0 for point-evaluated levels");
  refused("beta:1:0.5", "weighting = beta:1:0.5: expected a finite density at level 1 for point-evaluated levels");
  const auto masses = point_evaluated_masses(parse_level_weights("beta:1:2"), 3);  // densities 2, 1, 0
  EXPECT_DOUBLE_EQ(masses[0], 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(masses[1], 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(masses[2], 0.0);
}

}  // namespace
}  // namespace kqd
