#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "kqd/core/matrix.hpp"

namespace kqd {

/// Real-valued views of N points, one for every vector w of a unit sphere: what a supremum over directions is taken
/// over. A family says what the points look like along w, and how that changes with w.
class Slices {
 public:
  virtual ~Slices() = default;

  [[nodiscard]] virtual std::size_t num_points() const = 0;
  /// Of w.
  [[nodiscard]] virtual std::size_t dim() const = 0;
  /// values[i] = u_w(point i).
  virtual void evaluate(std::span<const double> w, std::span<double> values) const = 0;
  /// gradient = sum_i slopes[i] d u_w(point i) / d w, with `values` as evaluate() gave them for this w.
  virtual void pull_back(std::span<const double> w, std::span<const double> values, std::span<const double> slopes,
                         std::span<double> gradient) const = 0;
  /// True when u_w is linear in w.
  [[nodiscard]] virtual bool linear() const = 0;
  /// Linear slices of the same points and dimension, on which promising directions are found.
  [[nodiscard]] virtual const Slices& linear_slices() const { return *this; }
};

/// The first rows of blocks, and the end: 0, 256, ..., first, first + 256, ..., total. Blocks start again at `first`,
/// the number of rows of X: a matrix product may round a row by its place in a block, and equal samples must have
/// equal values.
[[nodiscard]] std::vector<std::size_t> row_blocks(std::size_t first, std::size_t total);

/// u_w(point i) = phi_i . w for feature vectors phi_i that are at hand a block of rows at a time.
class FeatureSlices : public Slices {
 public:
  explicit FeatureSlices(std::vector<std::size_t> blocks) : blocks_(std::move(blocks)) {}

  [[nodiscard]] std::size_t num_points() const override { return blocks_.back(); }
  void evaluate(std::span<const double> w, std::span<double> values) const override;
  void pull_back(std::span<const double> w, std::span<const double> values, std::span<const double> slopes,
                 std::span<double> gradient) const override;
  [[nodiscard]] bool linear() const override { return true; }

 protected:
  /// Features of the rows [begin, end), one row each; `scratch` may hold them.
  [[nodiscard]] virtual MatrixView<const double> features(std::size_t begin, std::size_t end,
                                                          Matrix<double>& scratch) const = 0;

 private:
  std::vector<std::size_t> blocks_;
};

/// Feature vectors in memory.
class StoredSlices : public FeatureSlices {
 public:
  StoredSlices(Matrix<double> features, std::vector<std::size_t> blocks)
      : FeatureSlices(std::move(blocks)), features_(std::move(features)) {}

  [[nodiscard]] std::size_t dim() const override { return features_.cols(); }
  /// A row per point.
  [[nodiscard]] MatrixView<const double> stored() const { return features_; }

 protected:
  [[nodiscard]] MatrixView<const double> features(std::size_t begin, std::size_t end,
                                                  Matrix<double>& /*scratch*/) const override {
    return features_.view().row_range(begin, end - begin);
  }

 private:
  Matrix<double> features_;
};

/// Multiplies by the power of two that brings the largest number into [1, 2) and returns its inverse: no digit changes,
/// and squares of the numbers stay in range. 1 when there is nothing to bring.
double bring_near_one(Matrix<double>& matrix);

}  // namespace kqd
