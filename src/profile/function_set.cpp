#include "profile/function_set.hpp"

#include <memory>
#include <utility>

#include "kernel/kernel_block.hpp"
#include "simd/matrix_product.hpp"

namespace kqd {

RowFunctions make_functions(FunctionSet set) {
  const std::size_t count = set.count();
  if (!set.columns.empty()) {
    return std::make_shared<const FeatureMap>(
        FeatureMap{count, [columns = std::move(set.columns)](MatrixView<const double> rows, MatrixView<double> values) {
                     for (std::size_t i = 0; i < values.rows(); ++i) {
                       for (std::size_t k = 0; k < values.cols(); ++k) values(i, k) = rows(i, columns[k]);
                     }
                   }});
  }
  const auto block = std::make_shared<const KernelBlock>(Kernel(set.kernel), set.points);
  return std::make_shared<const FeatureMap>(FeatureMap{
      count,
      [block, coefficients = std::move(set.coefficients)](MatrixView<const double> rows, MatrixView<double> values) {
        Matrix<double> kernel_values(rows.rows(), block->num_points());
        block->evaluate(rows, kernel_values);
        simd::multiply(kernel_values, simd::Op::none, coefficients.view().column_range(0, values.cols()),
                       simd::Op::none, values);
      }});
}

}  // namespace kqd
