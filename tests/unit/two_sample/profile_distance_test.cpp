// Distances of profiles: the interval contains the distance of the rows along the directions of the spec.
#include "kqd/two_sample/profile_distance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/random.hpp"
#include "kqd/two_sample/profile_test.hpp"
#include "metrics/quantile/kqd.hpp"
#include "profile/profile_spec.hpp"
#include "quantiles/quantile_gap.hpp"
#include "quantiles/sort.hpp"
#include "support/errors.hpp"

namespace kqd {
namespace {

// Column 0 is heavy-tailed, column 1 has five values; a few rows are far outside whatever a pilot may hold.
Sample draw_for_distance(std::size_t n, std::uint64_t index, double shift) {
  RandomStream stream(Seed{21}, Purpose::test_data, index);
  Sample sample{Matrix<double>(n, 2), {}, {}};
  for (std::size_t i = 0; i < n; ++i) {
    const double v = stream.normal();
    sample.points(i, 0) = v * v * v + shift + (i % 97 == 0 ? 1e6 : 0.0);
    sample.points(i, 1) = static_cast<double>(stream.below(5));
  }
  return sample;
}

double exact_distance(const ProfileSpec& spec, const Sample& x, const Sample& y, const MethodOptions& options,
                      Over over) {
  const RowFunctions functions = make_functions(spec.functions[spec.effect_functions].set);
  const auto along = [&](const Sample& sample) {
    Matrix<double> values(sample.points.rows(), functions->count);
    functions->evaluate(sample.points, values);
    std::vector<std::vector<double>> lines(functions->count);
    for (std::size_t i = 0; i < values.rows(); ++i) {
      for (std::size_t k = 0; k < values.cols(); ++k) lines[k].push_back(values(i, k));
    }
    for (auto& line : lines) sort_ascending(line);
    return lines;
  };
  const auto of_x = along(x);
  const auto of_y = along(y);
  const LevelGrid grid(x.points.rows(), y.points.rows(), options.weighting);
  std::vector<double> taus;
  for (std::size_t k = 0; k < of_x.size(); ++k)
    taus.push_back(quantile_gap(of_x[k], of_y[k], grid, Power{options.power}));
  return over_directions(over, taus, options.power);
}

TEST(ProfileDistance, is_in_an_interval_that_holds_the_distance_of_the_rows) {
  ProfileOptions options;
  options.rows_per_group = 7;
  options.statistic.parameters = {{"landmarks", 8.0}};
  const Sample x = draw_for_distance(600, 1, 0.0);
  const Profile of_x = make_profile(x, options);
  for (const auto& [rows, shift] : {std::pair<std::size_t, double>{600, 0.0}, {251, 0.1}, {1300, 3.0}, {3, 0.0}}) {
    const Sample y = draw_for_distance(rows, rows, shift);
    const Profile of_y = make_profile(y, of_x);
    for (const char* method : {"ekqd", "supkqd"}) {
      const Over over = std::string_view(method) == "ekqd" ? Over::mean : Over::maximum;
      for (const char* levels : {"uniform", "triangle"}) {
        for (const double power : {1.0, 2.0, 3.5, std::numeric_limits<double>::infinity()}) {
          MethodOptions statistic;
          statistic.power = power;
          statistic.weighting = parse_level_weights(levels);
          const auto [found, interval] = distance(method, of_x, of_y, statistic);
          const double exact = exact_distance(*of_x.spec(), x, y, statistic, over);
          const auto [lower, upper] = interval;
          EXPECT_LE(lower, exact) << method << " " << levels << " " << power << " " << rows;
          EXPECT_GE(upper, exact) << method << " " << levels << " " << power << " " << rows;
          EXPECT_LE(lower, found.statistic);
          EXPECT_GE(upper, found.statistic);
          EXPECT_EQ(found.num_directions, found.per_direction.size());
        }
      }
    }
  }
}

// 2000 pilot rows give 200 bins and more: the interval is then narrow next to a difference that matters.
TEST(ProfileDistance, is_known_well_from_many_rows) {
  RandomStream stream(Seed{22}, Purpose::test_data, 0);
  const auto draw = [&](double shift) {
    Sample sample{Matrix<double>(20'000, 2), {}, {}};
    for (double& v : sample.points.values()) v = stream.normal() + shift;
    return sample;
  };
  const Sample x = draw(0.0);
  const Sample y = draw(0.5);
  const Profile of_x = make_profile(x, {});
  const auto [found, interval] = distance("ekqd", of_x, make_profile(y, of_x));
  const double exact = exact_distance(*of_x.spec(), x, y, {}, Over::mean);
  EXPECT_NEAR(found.statistic / exact, 1.0, 0.01);
  EXPECT_LT(interval.upper - interval.lower, 0.2 * exact);
}

TEST(ProfileDistance, is_the_same_after_a_round_trip_merges_and_coarser_groups) {
  const Sample x = draw_for_distance(400, 1, 0.0);
  const Profile of_x = make_profile(x, {});
  Profile of_y = make_profile(draw_for_distance(300, 2, 0.5), of_x);
  const DistanceResult first = distance("ekqd", of_x, of_y).distance;
  of_y.coarsen(2);
  EXPECT_EQ(distance("ekqd", of_x, Profile::deserialize(of_y.serialize())).distance.statistic, first.statistic);
  EXPECT_EQ(distance("ekqd", of_y, of_x).distance.statistic, first.statistic);
  EXPECT_EQ(distance("ekqd", of_x, of_x).interval.lower, 0.0);
}

TEST(ProfileDistance, of_other_methods_and_specs_is_refused) {
  const Profile a = make_profile(draw_for_distance(300, 1, 0.0), {});
  const Profile b = make_profile(draw_for_distance(300, 2, 0.0), {});
  test::expect_error(ErrorCode::invalid_option,
                     "method = sw: expected ekqd or supkqd for profiles; other methods need rows",
                     [&] { static_cast<void>(distance("sw", a, a)); });
  EXPECT_THROW(static_cast<void>(distance("ekqd", a, b)), Error);
  test::expect_error(ErrorCode::empty_sample, "a profile has no rows",
                     [&] { static_cast<void>(distance("ekqd", a, Profile(a.spec()))); });
  ProfileOptions linear;
  linear.statistic.kernel = parse_kernel("linear");
  const Profile unbounded = make_profile(draw_for_distance(300, 1, 0.0), linear);
  test::expect_error(ErrorCode::invalid_option,
                     "the profiles have directions of kernel linear, whose values have no bound: a distance between "
                     "profiles needs a bounded kernel",
                     [&] { static_cast<void>(distance("ekqd", unbounded, unbounded)); });
}

}  // namespace
}  // namespace kqd
