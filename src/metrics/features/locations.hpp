#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "core/feature_map.hpp"
#include "core/pool.hpp"
#include "kqd/core/matrix.hpp"
#include "kqd/core/sample.hpp"
#include "kqd/core/types.hpp"

namespace kqd {

/// J locations v_j and a width s.
struct Locations {
  Matrix<double> points;  ///< J x d
  double width = 1.0;
};

/// Features that depend smoothly on locations and a width.
class LocationFeatures {
 public:
  virtual ~LocationFeatures() = default;

  [[nodiscard]] virtual std::size_t count(std::size_t num_locations) const = 0;
  virtual void evaluate(const Locations& at, MatrixView<const double> rows, MatrixView<double> features) const = 0;

  /// Adds sum_if slopes(i, f) d features(i, f) to a gradient with respect to the locations and to log s.
  virtual void add_gradient(const Locations& at, MatrixView<const double> rows, MatrixView<const double> slopes,
                            MatrixView<double> by_points, double& by_log_width) const = 0;

  /// A length in the space of the locations within which features change.
  [[nodiscard]] virtual double unit(const Locations& at) const = 0;
};

/// g_j(x) = exp(-|x - v_j|^2 / (2 s^2)): the mean embedding at v_j, for the Gaussian kernel.
class GaussianBumps : public LocationFeatures {
 public:
  [[nodiscard]] std::size_t count(std::size_t num_locations) const override { return num_locations; }
  void evaluate(const Locations& at, MatrixView<const double> rows, MatrixView<double> features) const override;
  void add_gradient(const Locations& at, MatrixView<const double> rows, MatrixView<const double> slopes,
                    MatrixView<double> by_points, double& by_log_width) const override;
  [[nodiscard]] double unit(const Locations& at) const override { return at.width; }
};

/// exp(-|t|^2/2) (sin v_j.t, cos v_j.t) with t = (x - o)/s: the smooth characteristic function at v_j.
class WindowedWaves : public LocationFeatures {
 public:
  /// The published form has no origin and assumes data around 0.
  explicit WindowedWaves(std::vector<double> origin) : origin_(std::move(origin)) {}

  [[nodiscard]] std::size_t count(std::size_t num_locations) const override { return 2 * num_locations; }
  void evaluate(const Locations& at, MatrixView<const double> rows, MatrixView<double> features) const override;
  void add_gradient(const Locations& at, MatrixView<const double> rows, MatrixView<const double> slopes,
                    MatrixView<double> by_points, double& by_log_width) const override;
  [[nodiscard]] double unit(const Locations& /*at*/) const override { return 1.0; }

 private:
  [[nodiscard]] Matrix<double> scaled(MatrixView<const double> rows, double width) const;

  std::vector<double> origin_;
};

/// `count` draws from the normal distribution with the mean and the covariance of the rows (weighted, if weights are
/// not empty): combinations of the rows with normal coefficients, O(N d) each in any dimension. Draw j uses stream
/// first + j.
[[nodiscard]] Matrix<double> draw_from_fitted_gaussian(const Pool& rows, std::span<const double> weights,
                                                       std::size_t count, std::size_t first, Seed seed);

/// Hotelling's statistic of two samples and its gradient [Jit16].
struct Criterion {
  double value = 0.0;
  Matrix<double> by_points;
  double by_log_width = 0.0;
};
[[nodiscard]] Criterion criterion(const LocationFeatures& features, const Locations& at, const SampleView& x,
                                  const SampleView& y, double ridge);

/// Gradient ascent from `start`: steps of normalised length that shrink as 1/sqrt(t). Returns the best place seen.
[[nodiscard]] Locations optimise_locations(const LocationFeatures& features, Locations start, const SampleView& x,
                                           const SampleView& y, double ridge, std::size_t max_steps);

}  // namespace kqd
