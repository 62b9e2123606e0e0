#include "experiments/pooled_kernel.hpp"

#include <algorithm>
#include <cmath>

#include "core/vectors.hpp"
#include "simd/matrix_product.hpp"

namespace kqd::lab {
namespace {

void scale_row(std::span<double> values, double squared_norm) {
  const double scale = 1.0 / std::sqrt(squared_norm);
  for (double& value : values) value *= scale;
}

class GramKernel : public PooledKernel {
 public:
  GramKernel(const Kernel& kernel, MatrixView<const double> pool)
      : gram_(pool.rows(), pool.rows()), row_sums_(pool.rows()) {
    constexpr std::size_t kRows = 256;
    const std::size_t n = pool.rows();
    for (std::size_t first = 0; first < n; first += kRows) {
      const std::size_t count = std::min(kRows, n - first);
      kernel.evaluate(pool.row_range(first, count), pool, gram_.view().row_range(first, count));
    }
    std::vector<double> diagonal(n);
    kernel.diagonal(pool, diagonal);
    for (std::size_t i = 0; i < n; ++i) gram_(i, i) = diagonal[i];
    const std::vector<double> ones(n, 1.0);
    simd::multiply(gram_.view(), simd::Op::none, ones, row_sums_);
    for (const double sum : row_sums_) total_ += sum;
  }

  void project(std::span<const std::size_t> rows, MatrixView<const double> coefficients, double jitter,
               MatrixView<double> values) const override {
    Matrix<double> at_rows(rows.size(), gram_.cols());
    for (std::size_t j = 0; j < rows.size(); ++j) std::ranges::copy(gram_.row(rows[j]), at_rows.row(j).begin());
    simd::multiply(coefficients, simd::Op::transpose, at_rows.view(), simd::Op::none, values);
    for (std::size_t i = 0; i < values.rows(); ++i) {
      // ||f||^2 = sum_j c_j f(z_j)
      double squared_norm = jitter;
      for (std::size_t j = 0; j < rows.size(); ++j) squared_norm += coefficients(j, i) * values(i, rows[j]);
      scale_row(values.row(i), squared_norm);
    }
  }

  [[nodiscard]] std::vector<HalfSums> half_sums(std::span<const Order> orders) const override {
    constexpr std::size_t kOrders = 128;
    std::vector<HalfSums> sums;
    for (std::size_t first = 0; first < orders.size(); first += kOrders) {
      append_half_sums(orders.subspan(first, std::min(kOrders, orders.size() - first)), sums);
    }
    return sums;
  }

  [[nodiscard]] double near_pairs(const Order& order, std::size_t subdiagonals) const override {
    const std::size_t n = order.size() / 2;
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i + 1; j < n && j <= i + subdiagonals; ++j) sum += pair(order, i, j);
    }
    return sum;
  }

  [[nodiscard]] double split_pairs(const Order& order) const override {
    const std::size_t half = order.size() / 4;
    double sum = 0.0;
    for (std::size_t i = 0; i < half; ++i) sum += pair(order, i, i + half);
    return sum;
  }

 private:
  [[nodiscard]] double pair(const Order& order, std::size_t i, std::size_t j) const {
    const std::size_t n = order.size() / 2;
    const auto x_row = gram_.row(order[i]);
    const auto y_row = gram_.row(order[n + i]);
    return x_row[order[j]] + y_row[order[n + j]] - x_row[order[n + j]] - y_row[order[j]];
  }

  void append_half_sums(std::span<const Order> orders, std::vector<HalfSums>& sums) const {
    const std::size_t n = gram_.rows();
    Matrix<double> is_x(orders.size(), n, 0.0);
    for (std::size_t b = 0; b < orders.size(); ++b) {
      for (std::size_t i = 0; i < n / 2; ++i) is_x(b, orders[b][i]) = 1.0;
    }
    Matrix<double> product(orders.size(), n);
    simd::multiply(is_x.view(), simd::Op::none, gram_.view(), simd::Op::none, product.view());
    for (std::size_t b = 0; b < orders.size(); ++b) {
      HalfSums sum;
      double rows_of_x = 0.0;
      for (std::size_t i = 0; i < n; ++i) {
        const bool x = is_x(b, i) != 0.0;
        if (x) sum.within_x += product(b, i);
        if (x) rows_of_x += row_sums_[i];
        (x ? sum.diagonal_x : sum.diagonal_y) += gram_(i, i);
      }
      sum.between = rows_of_x - sum.within_x;
      sum.within_y = total_ - 2.0 * rows_of_x + sum.within_x;
      sums.push_back(sum);
    }
  }

  Matrix<double> gram_;
  std::vector<double> row_sums_;
  double total_ = 0.0;
};

class FeatureKernel : public PooledKernel {
 public:
  explicit FeatureKernel(Matrix<double> features)
      : by_feature_(features.cols(), features.rows()), features_(std::move(features)) {
    for (std::size_t i = 0; i < features_.rows(); ++i) {
      for (std::size_t k = 0; k < features_.cols(); ++k) by_feature_(k, i) = features_(i, k);
    }
  }

  void project(std::span<const std::size_t> rows, MatrixView<const double> coefficients, double jitter,
               MatrixView<double> values) const override {
    Matrix<double> at_rows(rows.size(), features_.cols());
    for (std::size_t j = 0; j < rows.size(); ++j) std::ranges::copy(features_.row(rows[j]), at_rows.row(j).begin());
    Matrix<double> weights(values.rows(), features_.cols());
    simd::multiply(coefficients, simd::Op::transpose, at_rows.view(), simd::Op::none, weights.view());
    simd::multiply(weights.view(), simd::Op::none, by_feature_.view(), simd::Op::none, values);
    for (std::size_t i = 0; i < values.rows(); ++i) {
      scale_row(values.row(i), jitter + dot(weights.row(i), weights.row(i)));
    }
  }

  [[nodiscard]] std::vector<HalfSums> half_sums(std::span<const Order> orders) const override {
    std::vector<HalfSums> sums;
    std::vector<double> x(features_.cols());
    std::vector<double> y(features_.cols());
    for (const Order& order : orders) {
      std::ranges::fill(x, 0.0);
      std::ranges::fill(y, 0.0);
      HalfSums sum;
      for (std::size_t i = 0; i < order.size(); ++i) {
        const auto row = features_.row(order[i]);
        const bool is_x = i < order.size() / 2;
        std::vector<double>& total = is_x ? x : y;
        for (std::size_t k = 0; k < row.size(); ++k) total[k] += row[k];
        (is_x ? sum.diagonal_x : sum.diagonal_y) += dot(row, row);
      }
      sum.within_x = dot(x, x);
      sum.within_y = dot(y, y);
      sum.between = dot(x, y);
      sums.push_back(sum);
    }
    return sums;
  }

  // h_ij is an inner product of differences, so a moving sum over them replaces the pairs.
  [[nodiscard]] double near_pairs(const Order& order, std::size_t subdiagonals) const override {
    const std::size_t n = order.size() / 2;
    const Matrix<double> differences = row_differences(order);
    std::vector<double> window(features_.cols(), 0.0);
    const auto add = [&](std::size_t row, double sign) {
      for (std::size_t k = 0; k < window.size(); ++k) window[k] += sign * differences(row, k);
    };
    for (std::size_t j = 1; j <= std::min(subdiagonals, n - 1); ++j) add(j, 1.0);
    double sum = 0.0;
    for (std::size_t i = 0; i + 1 < n; ++i) {
      sum += dot(differences.row(i), window);
      add(i + 1, -1.0);
      if (i + 1 + subdiagonals < n) add(i + 1 + subdiagonals, 1.0);
    }
    return sum;
  }

  [[nodiscard]] double split_pairs(const Order& order) const override {
    const std::size_t half = order.size() / 4;
    const Matrix<double> differences = row_differences(order);
    double sum = 0.0;
    for (std::size_t i = 0; i < half; ++i) sum += dot(differences.row(i), differences.row(i + half));
    return sum;
  }

 private:
  [[nodiscard]] Matrix<double> row_differences(const Order& order) const {
    const std::size_t n = order.size() / 2;
    Matrix<double> differences(n, features_.cols());
    for (std::size_t i = 0; i < n; ++i) {
      const auto x = features_.row(order[i]);
      const auto y = features_.row(order[n + i]);
      for (std::size_t k = 0; k < x.size(); ++k) differences(i, k) = x[k] - y[k];
    }
    return differences;
  }

  Matrix<double> by_feature_;  // features_ transposed: products with it read whole rows
  Matrix<double> features_;
};

}  // namespace

double mmd_v_squared(const HalfSums& sums, std::size_t n) {
  const auto size = static_cast<double>(n);
  return (sums.within_x + sums.within_y - 2.0 * sums.between) / (size * size);
}

double mmd_unbiased(const HalfSums& sums, std::size_t n) {
  const auto size = static_cast<double>(n);
  const double within = sums.within_x - sums.diagonal_x + sums.within_y - sums.diagonal_y;
  return within / (size * (size - 1.0)) - 2.0 * sums.between / (size * size);
}

std::unique_ptr<const PooledKernel> gram_kernel(const Kernel& kernel, MatrixView<const double> pool) {
  return std::make_unique<GramKernel>(kernel, pool);
}

std::unique_ptr<const PooledKernel> feature_kernel(Matrix<double> features) {
  return std::make_unique<FeatureKernel>(std::move(features));
}

Matrix<double> cubic_features(MatrixView<const double> line) {
  const double root = std::sqrt(3.0);
  Matrix<double> features(line.rows(), 4);
  for (std::size_t i = 0; i < line.rows(); ++i) {
    const double x = line(i, 0);
    features(i, 0) = x * x * x;
    features(i, 1) = root * x * x;
    features(i, 2) = root * x;
    features(i, 3) = 1.0;
  }
  return features;
}

}  // namespace kqd::lab
