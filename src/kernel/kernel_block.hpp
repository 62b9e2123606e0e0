#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "kernel/pairwise.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd {

/// Throws Error{shape_mismatch} when a kernel, or a part of it, has an origin of another dimension.
void require_origin(const KernelSpec& spec, std::size_t dim);

/// A kernel with its second argument fixed to points z_1..z_m: what does not depend on x is computed once.
class KernelBlock {
 public:
  KernelBlock(const Kernel& kernel, MatrixView<const double> z);

  [[nodiscard]] std::size_t num_points() const { return num_points_; }

  /// values(i, j) = k(x_i, z_j), on the calling thread.
  void evaluate(MatrixView<const double> x, MatrixView<double> values) const;

 private:
  // One leaf of a sum or product (or the whole kernel): its pair quantities and, where the formula needs them, k(z, z)
  // or |z - o|^beta per point. A custom kernel has the points themselves instead.
  struct Part {
    KernelSpec spec;
    std::optional<PairwiseBlock> pairs;
    std::vector<double> z_terms;
    Matrix<double> z;
  };

  static void evaluate_leaf(const Part& part, MatrixView<const double> x, MatrixView<double> values);
  void evaluate_tree(const KernelSpec& spec, std::size_t& next_part, MatrixView<const double> x,
                     MatrixView<double> values) const;

  KernelSpec spec_;
  std::size_t num_points_;
  std::vector<Part> parts_;  // the leaves of spec_, depth first
};

/// values[i] = k(x_i, z_i): row with row, nothing crosswise. On the calling thread, O(rows * dim).
void evaluate_pairs(const Kernel& kernel, MatrixView<const double> x, MatrixView<const double> z,
                    std::span<double> values);

}  // namespace kqd
