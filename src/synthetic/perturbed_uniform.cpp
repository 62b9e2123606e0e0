#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "synthetic/distributions.hpp"

namespace kqd {
namespace {

// e G(t - 1) of [Sch23, Section 5.4]: a smooth bump of height 1 on (0, 1/2), the same upside down on (1/2, 1). It is 0
// with all its derivatives at 0, 1/2 and 1, and integrates to 0.
double double_bump(double t) {
  const bool first_half = t < 0.5;
  const double s = 4.0 * t - (first_half ? 1.0 : 3.0);
  const double bump = std::exp(1.0 - 1.0 / (1.0 - s * s));
  return first_half ? bump : -bump;
}

// The unit cube is cut into p^d cells; the density is 1 plus, in each cell, a signed product of double bumps, times an
// amplitude of at most 1.
class PerturbedUniform {
 public:
  PerturbedUniform(std::size_t cells_per_axis, std::size_t dim, double amplitude, RandomStream stream)
      : cells_per_axis_(cells_per_axis), amplitude_(amplitude) {
    std::size_t num_cells = 1;
    for (std::size_t r = 0; r < dim; ++r) num_cells *= cells_per_axis;
    signs_.resize(num_cells);
    std::ranges::generate(signs_, [&] { return stream.below(2) == 0 ? 1.0 : -1.0; });
  }

  // Rejection from the uniform distribution under the bound 1 + amplitude: at most two tries on average.
  void draw(RandomStream& stream, std::span<double> row) const {
    do {
      for (double& value : row) value = stream.uniform();
    } while (stream.uniform() * (1.0 + amplitude_) > density(row));
  }

 private:
  [[nodiscard]] double density(std::span<const double> point) const {
    std::size_t cell = 0;
    double perturbation = amplitude_;
    for (const double coordinate : point) {
      const double scaled = coordinate * static_cast<double>(cells_per_axis_);
      // A coordinate just below 1 may round up to the far end of the last cell.
      const std::size_t step = std::min(static_cast<std::size_t>(scaled), cells_per_axis_ - 1);
      perturbation *= double_bump(scaled - static_cast<double>(step));
      cell = cell * cells_per_axis_ + step;
    }
    return 1.0 + signs_[cell] * perturbation;
  }

  std::size_t cells_per_axis_;
  double amplitude_;
  std::vector<double> signs_;
};

}  // namespace

DistributionPair perturbed_uniform(ProblemSettings& settings) {
  const std::size_t cells_per_axis = settings.count("perturbations");
  const double amplitude =
      settings.value("scale") * std::pow(static_cast<double>(cells_per_axis), -settings.value("smoothness"));
  PerturbedUniform perturbed(cells_per_axis, settings.dim(), amplitude, settings.run_stream());
  return {[distribution = std::move(perturbed)](RandomStream& stream, std::span<double> row) {
            distribution.draw(stream, row);
          },
          [](RandomStream& stream, std::span<double> row) {
            for (double& value : row) value = stream.uniform();
          }};
}

}  // namespace kqd
