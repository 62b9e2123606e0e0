#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/pool.hpp"
#include "kernel/kernel_block.hpp"
#include "kqd/core/matrix.hpp"
#include "kqd/core/types.hpp"

namespace kqd {

/// Candidate features of a learner, all functions of the unlabelled pool: columns, leading principal components,
/// products of two columns, these times the first component, and Gaussian bumps around some rows.
///
/// Columns enter as normal scores of their ranks. So units, monotone changes of a column and outliers do not matter,
/// and nothing overflows. With more than 100 columns, products are taken of the leading components instead.
class FeatureDictionary {
 public:
  FeatureDictionary(const Pool& pool, Seed seed, ThreadCount threads);

  [[nodiscard]] std::size_t size() const { return terms_.size(); }
  [[nodiscard]] std::size_t num_rows() const { return scores_.rows(); }
  /// True when all rows of the pool are equal: then no feature varies.
  [[nodiscard]] bool constant() const { return constant_; }

  /// values(i, k) = feature features[k] of row first + i of the pool, on the calling thread. The bits of a value depend
  /// on the row and the feature only.
  void evaluate(std::size_t first, std::span<const std::uint32_t> features, MatrixView<double> values) const;

 private:
  // A feature is a product of three atoms of a row: 1, columns, components, bumps.
  struct Term {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t c = 0;
  };

  void find_components(ThreadCount threads);
  void add_bumps(Seed seed);
  void add_terms();
  [[nodiscard]] std::uint32_t first_component() const { return static_cast<std::uint32_t>(1 + scores_.cols()); }
  [[nodiscard]] std::uint32_t first_bump() const {
    return static_cast<std::uint32_t>(first_component() + components_.cols());
  }

  Matrix<double> scores_;      // rows x columns: normal scores
  Matrix<double> components_;  // columns x components: directions along which the scores have variance 1
  std::vector<KernelBlock> bumps_;
  std::vector<Term> terms_;
  bool constant_ = true;
};

}  // namespace kqd
