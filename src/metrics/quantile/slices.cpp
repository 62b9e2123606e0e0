#include "metrics/quantile/slices.hpp"
#include "simd/matrix_product.hpp"

#include <algorithm>
#include <cmath>

namespace kqd {
namespace {

constexpr std::size_t kRowBlock = 256;

}  // namespace

std::vector<std::size_t> row_blocks(std::size_t first, std::size_t total) {
  std::vector<std::size_t> blocks;
  for (std::size_t begin = 0; begin < first; begin += kRowBlock) blocks.push_back(begin);
  for (std::size_t begin = first; begin < total; begin += kRowBlock) blocks.push_back(begin);
  blocks.push_back(total);
  return blocks;
}

void FeatureSlices::evaluate(std::span<const double> w, std::span<double> values) const {
  Matrix<double> scratch;
  for (std::size_t b = 0; b + 1 < blocks_.size(); ++b) {
    const auto block = features(blocks_[b], blocks_[b + 1], scratch);
    simd::multiply(block, simd::Op::none, w, values.subspan(blocks_[b], block.rows()));
  }
}

void FeatureSlices::pull_back(std::span<const double> /*w*/, std::span<const double> /*values*/,
                              std::span<const double> slopes, std::span<double> gradient) const {
  Matrix<double> scratch;
  for (std::size_t b = 0; b + 1 < blocks_.size(); ++b) {
    const auto block = features(blocks_[b], blocks_[b + 1], scratch);
    simd::multiply(block, simd::Op::transpose, slopes.subspan(blocks_[b], block.rows()), gradient,
                   b == 0 ? simd::Into::overwrite : simd::Into::add);
  }
}

double bring_near_one(Matrix<double>& matrix) {
  double largest = 0.0;
  for (const double v : matrix.values()) largest = std::max(largest, std::abs(v));
  if (!(largest > 0.0) || !std::isfinite(largest)) return 1.0;
  const int exponent = std::ilogb(largest);
  for (double& v : matrix.values()) v = std::scalbn(v, -exponent);
  return std::scalbn(1.0, exponent);
}

}  // namespace kqd
