#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "kqd/core/matrix_view.hpp"

/// A straightforward e-KQD: scalar exp, std::sort, no blocking.
namespace kqd::bench {

struct StraightforwardDirections {
  MatrixView<const double> reference;     // m x d
  MatrixView<const double> coefficients;  // m x l, already divided by the norms
  double bandwidth;
};

/// values[i][j] = u_i(point j), rows first_row..last_row of the points.
inline void straightforward_project(MatrixView<const double> points, const StraightforwardDirections& directions,
                                    std::size_t first_row, std::size_t last_row,
                                    std::vector<std::vector<double>>& values) {
  const std::size_t m = directions.reference.rows();
  std::vector<double> kernel(m);
  for (std::size_t row = first_row; row < last_row; ++row) {
    for (std::size_t j = 0; j < m; ++j) {
      double squared = 0.0;
      for (std::size_t k = 0; k < points.cols(); ++k) {
        const double difference = points(row, k) - directions.reference(j, k);
        squared += difference * difference;
      }
      kernel[j] = std::exp(-squared / (2.0 * directions.bandwidth * directions.bandwidth));
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      double value = 0.0;
      for (std::size_t j = 0; j < m; ++j) value += directions.coefficients(j, i) * kernel[j];
      values[i][row] = value;
    }
  }
}

/// Mean gap between two sorted samples of equal size, to the power p.
inline double straightforward_gap(std::vector<double>& x, std::vector<double>& y, double p) {
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  double total = 0.0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    const double gap = std::abs(x[j] - y[j]);
    total += p == 1.0 ? gap : p == 2.0 ? gap * gap : std::pow(gap, p);
  }
  return total / static_cast<double>(x.size());
}

/// e-KQD_p^p of two samples of equal size.
inline double straightforward_ekqd(MatrixView<const double> x, MatrixView<const double> y,
                                   const StraightforwardDirections& directions, double p) {
  const std::size_t l = directions.coefficients.cols();
  std::vector<std::vector<double>> px(l, std::vector<double>(x.rows()));
  std::vector<std::vector<double>> py(l, std::vector<double>(y.rows()));
  straightforward_project(x, directions, 0, x.rows(), px);
  straightforward_project(y, directions, 0, y.rows(), py);
  double total = 0.0;
  for (std::size_t i = 0; i < l; ++i) total += straightforward_gap(px[i], py[i], p);
  return total / static_cast<double>(l);
}

}  // namespace kqd::bench
