#include "kernel/kernel_gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "support/source.hpp"

namespace kqd {
namespace {

constexpr std::size_t kDim = 3;
constexpr std::size_t kPoints = 4;

// (k(x + h e_c, z_j) - k(x - h e_c, z_j)) / 2h, by values only.
double differenced(const Kernel& kernel, const Matrix<double>& x, const Matrix<double>& z, std::size_t j,
                   std::size_t c) {
  constexpr double kStep = 1e-5;
  double value[2];
  for (const int side : {0, 1}) {
    Matrix<double> moved(x);
    moved(0, c) += side == 0 ? kStep : -kStep;
    kernel.evaluate(moved, z.view().row_range(j, 1), {&value[side], 1, 1});
  }
  return (value[0] - value[1]) / (2.0 * kStep);
}

void expect_slopes_of_values(const Kernel& kernel, const std::string& name) {
  test::Source source(7);
  const Matrix<double> x = test::normal_matrix({1, kDim}, source);
  const Matrix<double> z = test::normal_matrix({kPoints, kDim}, source);
  Matrix<double> gradients(kPoints, kDim);
  kernel_gradient(kernel, x.row(0), z, gradients);
  for (std::size_t j = 0; j < kPoints; ++j) {
    for (std::size_t c = 0; c < kDim; ++c) {
      // The difference has an error of h^2 k'''/6 + eps k / h, both about 1e-10 of the values' size, here below 100.
      EXPECT_NEAR(gradients(j, c), differenced(kernel, x, z, j, c), 1e-7) << name;
    }
  }
}

TEST(KernelGradient, is_the_slope_of_the_values_for_every_family) {
  for (const std::string text :
       {"gaussian@0.8", "laplace@1.3", "matern12@1.1", "matern32@0.7", "matern52@1.4", "rq:0.7@0.9", "imq:1.5@1.2",
        "linear:0.5", "polynomial:3:1", "normalised-polynomial:4:0.5", "gaussian@0.5+0.3 laplace@2",
        "gaussian@1*linear:1*rq:2@1.5"}) {
    expect_slopes_of_values(Kernel(parse_kernel(text)), text);
  }
}

TEST(KernelGradient, of_the_energy_kernel_has_an_origin) {
  KernelSpec spec = parse_kernel("energy:1.5");
  spec.origin = {0.3, -0.2, 0.1};
  expect_slopes_of_values(Kernel(spec), "energy");
}

TEST(KernelGradient, of_a_kernel_of_the_callers_own_is_differenced) {
  const auto cosine = [](MatrixView<const double> x, MatrixView<const double> z, MatrixView<double> values) {
    for (std::size_t i = 0; i < x.rows(); ++i) {
      for (std::size_t j = 0; j < z.rows(); ++j) {
        values(i, j) = 0.0;
        for (std::size_t c = 0; c < x.cols(); ++c) values(i, j) += std::cos(x(i, c) - z(j, c));
      }
    }
  };
  expect_slopes_of_values(Kernel(KernelSpec::custom("cosine", cosine)), "cosine");
}

TEST(KernelGradient, is_zero_where_a_kernel_has_a_kink) {
  const Matrix<double> x(1, 2, {1.0, 2.0});
  Matrix<double> gradient(1, 2);
  for (const char* text : {"laplace@1", "matern12@1"}) {
    kernel_gradient(Kernel(parse_kernel(text)), x.row(0), x, gradient);
    EXPECT_EQ(gradient(0, 0), 0.0) << text;
    EXPECT_EQ(gradient(0, 1), 0.0) << text;
  }
}

}  // namespace
}  // namespace kqd
