#include "experiments/columns.hpp"

#include <utility>

namespace kqd::lab {

Column synthetic_column(double x, const ProblemRequest& problem, double work) {
  return {.x = x,
          .n = problem.n_x,
          .draw =
              [problem](Seed seed) {
                ProblemRequest request = problem;
                request.seed = seed;
                SyntheticPair pair = make_problem(request, ThreadCount{1});
                return Draw{std::move(pair.x), std::move(pair.y)};
              },
          .equal_sizes = problem.n_x == problem.n_y,
          .work = work};
}

std::vector<Column> power_decay_columns() {
  std::vector<Column> columns;
  for (const std::size_t dim : {32U, 64U, 128U, 256U, 512U}) {
    const auto x = static_cast<double>(dim);
    columns.push_back(
        synthetic_column(x, {.name = "power-decay", .n_x = 200, .n_y = 200, .dim = dim}, 1.0 + x / 200.0));
  }
  return columns;
}

}  // namespace kqd::lab
