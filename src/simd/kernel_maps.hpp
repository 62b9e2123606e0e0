#pragma once
#include <span>

#include "kqd/core/matrix_view.hpp"

namespace kqd::simd {

/// Functions from squared distances, L1 distances or inner products to kernel values (methods table F).
enum class Map {
  exponential,       ///< exp(-a v): Gaussian of r^2 with a = 1/(2 s^2), Laplace of the L1 distance with a = 1/s
  exponential_root,  ///< exp(-a sqrt v): Matern 1/2 of r^2 with a = 1/s
  matern32,          ///< (1 + t) exp(-t), t = a sqrt v, a = sqrt3/s
  matern52,          ///< (1 + t + t^2/3) exp(-t), t = a sqrt v, a = sqrt5/s
  inverse_power,     ///< (1 + a v)^-b: rational quadratic and inverse multiquadric of r^2
  integer_power,     ///< (v + a)^b, b a whole number >= 1: polynomial of the inner product
  distance_power,    ///< v^(b/2): r^b of r^2, b > 0
};

/// values[i] = map(values[i]) with the map's parameters a and b.
void apply_map(Map map, double a, double b, std::span<double> values);

/// out(i, j) = sum_k (x(i, k) - z(k, j))^2: a point per row of x, a point per column of z.
/// Exact differences: no cancellation, whatever the offset of the data.
void squared_distances(MatrixView<const double> x, MatrixView<const double> z, MatrixView<double> out);

/// out(i, j) = sum_k |x(i, k) - z(k, j)|.
void l1_distances(MatrixView<const double> x, MatrixView<const double> z, MatrixView<double> out);

/// out = x - origin; returns the squared length of out.
double center(std::span<const double> x, std::span<const double> origin, std::span<double> out);

/// dots[j] = max(0, x_norm + z_norms[j] - 2 dots[j]): squared distances from inner products of centred points.
/// Returns the smallest ratio result / (x_norm + z_norms[j]) met: a tiny one means that its digits are lost to
/// cancellation.
double distances_from_dots(double x_norm, std::span<const double> z_norms, std::span<double> dots);

}  // namespace kqd::simd
