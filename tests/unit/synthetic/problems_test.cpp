#include "kqd/synthetic/problems.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "kqd/core/error.hpp"

namespace kqd {
namespace {

std::vector<double> first_rows(const Sample& sample, std::size_t count) {
  const auto values = sample.points.values().first(count * sample.points.cols());
  return {values.begin(), values.end()};
}

std::vector<double> all_rows(const Sample& sample) {
  return first_rows(sample, sample.points.rows());
}

// The sentence of the error that a call throws, after a check of its code.
template <class Call>
std::string refusal(Call call, ErrorCode code = ErrorCode::invalid_option) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}

std::string refusal_of(const ProblemRequest& request, ErrorCode code = ErrorCode::invalid_option) {
  return refusal([&] { (void)make_problem(request); }, code);
}

std::string refusal_of_setting(const std::string& problem, const std::string& assignment) {
  ProblemRequest request{.name = problem};
  return refusal([&] { set_parameter(request, assignment); });
}

// Fewer coordinates than the default where there are hundreds: draws take the same path.
std::size_t small_dim(const ProblemInfo& problem) {
  return std::min<std::size_t>(problem.default_dim, 40);
}

TEST(Problems, registry_lists_each_id_once_with_defaults_in_range) {
  std::vector<std::string_view> ids;
  for (const ProblemInfo& problem : problems()) {
    ids.push_back(problem.id);
    EXPECT_EQ(find_problem(problem.id).id, problem.id);
    EXPECT_LE(problem.lowest_dim, problem.default_dim);
    EXPECT_LE(problem.default_dim, problem.highest_dim);
    EXPECT_FALSE(problem.summary.empty() || problem.x_distribution.empty() || problem.y_distribution.empty());
    std::set<std::string_view> names;
    for (const ParameterInfo& parameter : problem.parameters) {
      EXPECT_TRUE(names.insert(parameter.name).second) << parameter.name;
      EXPECT_LE(parameter.lowest, parameter.default_value);
      EXPECT_LE(parameter.default_value, parameter.highest);
      EXPECT_FALSE(parameter.meaning.empty());
    }
  }
  EXPECT_EQ(ids, (std::vector<std::string_view>{"power-decay", "laplace-gaussian", "mixture", "perturbed-uniform",
                                                "blobs", "mean-shift", "spiked-covariance", "equicorrelation",
                                                "ar-correlation", "spheres", "thin-cube", "two-clusters", "scale",
                                                "scaled-t", "hdgm", "mixed-table", "null"}));
}

TEST(Problems, defaults_give_samples_of_the_sizes_asked_for_and_report_every_parameter) {
  for (const ProblemInfo& problem : problems()) {
    const auto pair = make_problem({.name = std::string(problem.id), .n_x = 30, .n_y = 40});
    EXPECT_EQ(pair.x.points.rows(), 30U);
    EXPECT_EQ(pair.y.points.rows(), 40U);
    EXPECT_EQ(pair.x.points.cols(), problem.default_dim);
    EXPECT_NO_THROW(validate_pair(pair.x, pair.y));
    EXPECT_EQ(pair.parameters.size(), problem.parameters.size());
    for (const ParameterInfo& parameter : problem.parameters) {
      EXPECT_TRUE(pair.parameters.contains(std::string(parameter.name)));
    }
  }
}

TEST(Problems, more_rows_keep_the_first_ones) {
  for (const ProblemInfo& problem : problems()) {
    const std::string name(problem.id);
    const std::size_t dim = small_dim(problem);
    const auto few = make_problem({.name = name, .n_x = 7, .n_y = 11, .dim = dim, .seed = Seed{4}});
    const auto many = make_problem({.name = name, .n_x = 3000, .n_y = 1100, .dim = dim, .seed = Seed{4}});
    EXPECT_EQ(all_rows(few.x), first_rows(many.x, 7)) << name;
    EXPECT_EQ(all_rows(few.y), first_rows(many.y, 11)) << name;
  }
}

TEST(Problems, thread_count_changes_no_bit) {
  for (const ProblemInfo& problem : problems()) {
    const ProblemRequest request{
        .name = std::string(problem.id), .n_x = 5000, .n_y = 2049, .dim = small_dim(problem), .seed = Seed{8}};
    const auto one = make_problem(request, ThreadCount{1});
    for (unsigned threads = 2; threads <= 8; ++threads) {
      const auto more = make_problem(request, ThreadCount{threads});
      EXPECT_EQ(all_rows(one.x), all_rows(more.x)) << problem.id;
      EXPECT_EQ(all_rows(one.y), all_rows(more.y)) << problem.id;
    }
  }
}

// Continuous distributions: two equal numbers in different rows would betray a shared stream. Coordinates of one row
// may be equal (spiked-covariance), and indicators are 0 or 1 (mixed-table).
TEST(Problems, no_number_returns_in_another_row_sample_or_seed) {
  for (const ProblemInfo& problem : problems()) {
    std::set<double> seen;
    std::size_t drawn = 0;
    for (const std::uint64_t seed : {0ULL, 1ULL, 1ULL << 63U}) {
      const auto pair = make_problem(
          {.name = std::string(problem.id), .n_x = 100, .n_y = 100, .dim = small_dim(problem), .seed = Seed{seed}});
      for (const Sample* sample : {&pair.x, &pair.y}) {
        for (std::size_t i = 0; i < sample->points.rows(); ++i) {
          const auto values = sample->points.row(i);
          std::set<double> row(values.begin(), values.end());
          std::erase_if(row, [](double v) { return v == 0.0 || v == 1.0; });
          drawn += row.size();
          seen.merge(row);
        }
      }
    }
    EXPECT_EQ(seen.size(), drawn) << problem.id;
  }
}

TEST(Problems, parameters_at_either_end_of_their_range_give_finite_numbers) {
  for (const ProblemInfo& problem : problems()) {
    for (const ParameterInfo& parameter : problem.parameters) {
      for (const double value : {parameter.lowest, parameter.highest}) {
        ProblemRequest request{.name = std::string(problem.id), .n_x = 200, .n_y = 200};
        request.parameters[std::string(parameter.name)] = value;
        const bool has_distribution =
            std::ranges::find(problem.parameters, "distribution", &ParameterInfo::name) != problem.parameters.end();
        if (has_distribution && parameter.name == "df") set_parameter(request, "distribution=student");
        if (has_distribution && parameter.name == "levels") set_parameter(request, "distribution=discrete");
        if (parameter.name == "k" && value > 0.0) request.parameters["k"] = static_cast<double>(problem.default_dim);
        const auto pair = make_problem(request);
        EXPECT_NO_THROW(validate_pair(pair.x, pair.y)) << problem.id << " " << parameter.name << " " << value;
      }
    }
  }
}

TEST(SetParameter, takes_numbers_and_words) {
  ProblemRequest request{.name = "null"};
  set_parameter(request, "distribution=student");
  set_parameter(request, " df = 2.5 ");
  EXPECT_EQ(request.parameters, (std::map<std::string, double>{{"df", 2.5}, {"distribution", 1.0}}));
  set_parameter(request, "distribution=cauchy");
  EXPECT_EQ(request.parameters.at("distribution"), 3.0);
}

TEST(SetParameter, refuses_unknown_names_and_values) {
  EXPECT_EQ(refusal_of_setting("mixture", "sd"), "mixture: \"sd\" does not set a parameter, expected name=value");
  EXPECT_EQ(refusal_of_setting("mixture", "sd=wide"), "mixture: sd = wide, expected a number in [0, 1e+100]");
  EXPECT_EQ(refusal_of_setting("null", "distribution=studnet"),
            "null: distribution = studnet, expected one of normal, student, discrete, cauchy, laplace; did you mean "
            "student?");
  EXPECT_EQ(refusal_of_setting("null", "fd=3"),
            "null: unknown parameter \"fd\", expected one of distribution, df, levels; did you mean df?");
  EXPECT_EQ(refusal_of_setting("mixtrue", "sd=1"),
            "unknown problem \"mixtrue\", expected one of power-decay, laplace-gaussian, mixture, "
            "perturbed-uniform, blobs, mean-shift, spiked-covariance, equicorrelation, ar-correlation, spheres, "
            "thin-cube, two-clusters, scale, scaled-t, hdgm, mixed-table, null; did you mean mixture?");
}

TEST(ParameterText, is_what_a_user_writes) {
  const ParameterInfo& distribution = find_problem("null").parameters[0];
  EXPECT_EQ(parameter_text(distribution, 1.0), "student");
  EXPECT_EQ(parameter_text(distribution, 17.0), "17");
  EXPECT_EQ(parameter_range(distribution), "one of normal, student, discrete, cauchy, laplace");
  const ParameterInfo& perturbations = find_problem("perturbed-uniform").parameters[0];
  EXPECT_EQ(parameter_text(perturbations, 2.0), "2");
  EXPECT_EQ(parameter_range(perturbations), "a whole number in [1, 1000]");
}

TEST(MakeProblem, refuses_with_option_value_and_range) {
  EXPECT_EQ(refusal_of({.name = "null", .n_x = 0}), "n_x = 0: expected at least 1");
  EXPECT_EQ(refusal_of({.name = "null", .n_y = 0}), "n_y = 0: expected at least 1");
  EXPECT_EQ(refusal_of({.name = "blobs", .dim = 3}), "blobs: dim = 3, expected 2");
  EXPECT_EQ(refusal_of({.name = "perturbed-uniform", .dim = 3}), "perturbed-uniform: dim = 3, expected 1 to 2");
  EXPECT_EQ(refusal_of({.name = "mixture", .dim = 1}), "mixture: dim = 1, expected >= 2");
  EXPECT_EQ(refusal_of({.name = "power-decay", .dim = 2}), "power-decay: k = 3, expected at most dim = 2");
  EXPECT_EQ(refusal_of({.name = "mixed-table", .dim = 7, .parameters = {{"m", 2}}}),
            "mixed-table: dim = 7, expected k levels + m = 6");
  EXPECT_EQ(refusal_of({.name = "mixture", .parameters = {{"sd", -1}}}),
            "mixture: sd = -1, expected a number in [0, 1e+100]");
  EXPECT_EQ(refusal_of({.name = "mixture", .parameters = {{"sd", std::nan("")}}}),
            "mixture: sd = nan, expected a number in [0, 1e+100]");
  EXPECT_EQ(refusal_of({.name = "mixture", .parameters = {{"mean", std::numeric_limits<double>::infinity()}}}),
            "mixture: mean = inf, expected a number in [0, 1e+100]");
  EXPECT_EQ(refusal_of({.name = "blobs", .parameters = {{"grid", 2.5}}}),
            "blobs: grid = 2.5, expected a whole number in [1, 1000]");
  EXPECT_EQ(
      refusal_of({.name = "blobs", .parameters = {{"strech", 2}}}),
      "blobs: unknown parameter \"strech\", expected one of stretch, angle, grid, spacing; did you mean stretch?");
  EXPECT_EQ(refusal_of({.name = "null", .parameters = {{"df", 5}}}),
            "null: df is set but distribution = normal does not use it, expected distribution = student");
  EXPECT_EQ(refusal_of({.name = "null", .parameters = {{"distribution", 3}, {"levels", 5}}}),
            "null: levels is set but distribution = cauchy does not use it, expected distribution = discrete");
}

TEST(MakeProblem, refuses_rows_beyond_the_memory) {
  const std::size_t too_many = std::numeric_limits<std::size_t>::max() / 4;
  EXPECT_EQ(refusal_of({.name = "null", .n_x = too_many}, ErrorCode::resource_limit),
            "n_x = 4611686018427387903 rows of 10 numbers do not fit in memory");
}

}  // namespace
}  // namespace kqd
