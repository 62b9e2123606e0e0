#include "kqd/kernel/kernel.hpp"

#include <algorithm>
#include <cmath>

#include "core/fail.hpp"
#include "core/vectors.hpp"
#include "kernel/custom_kernel.hpp"
#include "kernel/families.hpp"
#include "kernel/kernel_block.hpp"
#include "kernel/kernel_traits.hpp"

namespace kqd {
namespace {

void diagonal_of_leaf(const KernelSpec& spec, MatrixView<const double> x, std::span<double> values) {
  if (spec.family == KernelFamily::custom) return custom_pairs(spec, x, x, values);
  const auto diagonal = family_info(spec.family).diagonal;
  for (std::size_t i = 0; i < x.rows(); ++i) values[i] = diagonal == nullptr ? 1.0 : diagonal(spec, x.row(i));
}

// The number per point that the formula needs besides the pair quantity; empty for most families.
std::vector<double> point_terms(const KernelSpec& spec, MatrixView<const double> points) {
  const auto term = family_info(spec.family).point_term;
  if (term == nullptr) return {};
  std::vector<double> terms(points.rows());
  for (std::size_t i = 0; i < points.rows(); ++i) terms[i] = term(spec, points.row(i));
  return terms;
}

double pair_quantity(PairQuantity quantity, std::span<const double> scales, std::span<const double> a,
                     std::span<const double> b) {
  if (quantity == PairQuantity::dot) return dot(a, b);
  double total = 0.0;
  if (quantity == PairQuantity::mixed_distance) {
    for (std::size_t k = 0; k < a.size(); ++k) {
      const double gap = (a[k] - b[k]) / scales[k];
      total += scales[k] < 0.0 ? std::abs(gap) : gap * gap;
    }
    return total;
  }
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double gap = a[k] - b[k];
    total += quantity == PairQuantity::l1_distance ? std::abs(gap) : gap * gap;
  }
  return total;
}

void leaf_of_pairs(const KernelSpec& spec, MatrixView<const double> x, MatrixView<const double> z,
                   std::span<double> values) {
  if (spec.family == KernelFamily::custom) return custom_pairs(spec, x, z, values);
  const FamilyInfo& family = family_info(spec.family);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = pair_quantity(family.quantity, spec.column_scales, x.row(i), z.row(i));
  const std::vector<double> x_terms = point_terms(spec, x);
  const std::vector<double> z_terms = point_terms(spec, z);
  const auto apply = [&](FamilyInfo::RowStep step) {  // each pair is a row of one value
    if (step == nullptr) return;
    for (std::size_t i = 0; i < values.size(); ++i) {
      step(spec, x_terms[i], std::span(z_terms).subspan(i, 1), values.subspan(i, 1));
    }
  };
  apply(family.before_map);
  family.map(spec, values);
  apply(family.after_map);
}

// Adds and multiplies the values that leaf_values(leaf, out) writes for each leaf.
template <class LeafValues>
void combine_leaves(const KernelSpec& spec, std::span<double> values, const LeafValues& leaf_values) {
  if (!is_composite(spec.family)) return leaf_values(spec, values);
  const bool is_sum = spec.family == KernelFamily::sum;
  std::vector<double> own(values.size());
  std::ranges::fill(values, is_sum ? 0.0 : 1.0);
  for (const KernelSpec& part : spec.parts) {
    combine_leaves(part, own, leaf_values);
    for (std::size_t i = 0; i < own.size(); ++i) {
      values[i] = is_sum ? values[i] + part.weight * own[i] : values[i] * own[i];
    }
  }
}

}  // namespace

void require_origin(const KernelSpec& spec, std::size_t dim) {
  for_each_leaf(spec, [&](const KernelSpec& leaf) {
    if (has_origin(leaf.family) && leaf.origin.size() != dim) {
      fail(ErrorCode::shape_mismatch, "the origin of kernel {} has {} coordinates, expected {}", to_string(leaf),
           leaf.origin.size(), dim);
    }
    if (has_column_scales(leaf.family) && leaf.column_scales.size() != dim) {
      fail(ErrorCode::shape_mismatch, "kernel {} has scales of {} columns, the points have {}", to_string(leaf),
           leaf.column_scales.size(), dim);
    }
  });
}

KernelBlock::KernelBlock(const Kernel& kernel, MatrixView<const double> z)
    : spec_(kernel.spec()), num_points_(z.rows()) {
  require_origin(spec_, z.cols());
  for_each_leaf(spec_, [&](const KernelSpec& leaf) {
    Part& part = parts_.emplace_back(Part{leaf, {}, {}, {}});
    if (leaf.family == KernelFamily::custom) {
      part.z = Matrix<double>(z);
    } else {
      part.pairs.emplace(family_info(leaf.family).quantity, z, leaf.column_scales);
      part.z_terms = point_terms(leaf, z);
    }
  });
}

void KernelBlock::evaluate(MatrixView<const double> x, MatrixView<double> values) const {
  std::size_t next_part = 0;
  evaluate_tree(spec_, next_part, x, values);
}

void KernelBlock::evaluate_leaf(const Part& part, MatrixView<const double> x, MatrixView<double> values) {
  if (part.spec.family == KernelFamily::custom) return custom_values(part.spec, x, part.z, values);
  part.pairs->evaluate(x, values);
  const FamilyInfo& family = family_info(part.spec.family);
  const std::vector<double> x_terms = point_terms(part.spec, x);
  const auto apply = [&](FamilyInfo::RowStep step) {
    if (step == nullptr) return;
    for (std::size_t i = 0; i < x.rows(); ++i) step(part.spec, x_terms[i], part.z_terms, values.row(i));
  };
  apply(family.before_map);
  if (values.row_stride() == values.cols()) {
    family.map(part.spec, {values.data(), values.rows() * values.cols()});  // all rows in one call, where they touch
  } else {
    for (std::size_t i = 0; i < x.rows(); ++i) family.map(part.spec, values.row(i));
  }
  apply(family.after_map);
}

void KernelBlock::evaluate_tree(const KernelSpec& spec, std::size_t& next_part, MatrixView<const double> x,
                                MatrixView<double> values) const {
  if (!is_composite(spec.family)) return evaluate_leaf(parts_[next_part++], x, values);
  const bool is_sum = spec.family == KernelFamily::sum;
  Matrix<double> part_values(values.rows(), values.cols());
  for (std::size_t i = 0; i < values.rows(); ++i) std::ranges::fill(values.row(i), is_sum ? 0.0 : 1.0);
  for (const KernelSpec& part : spec.parts) {
    evaluate_tree(part, next_part, x, part_values);
    for (std::size_t i = 0; i < values.rows(); ++i) {
      const auto total = values.row(i);
      const auto own = part_values.row(i);
      for (std::size_t j = 0; j < total.size(); ++j) {
        total[j] = is_sum ? total[j] + part.weight * own[j] : total[j] * own[j];
      }
    }
  }
}

void evaluate_pairs(const Kernel& kernel, MatrixView<const double> x, MatrixView<const double> z,
                    std::span<double> values) {
  require_origin(kernel.spec(), x.cols());
  combine_leaves(kernel.spec(), values,
                 [&](const KernelSpec& leaf, std::span<double> out) { leaf_of_pairs(leaf, x, z, out); });
}

Kernel::Kernel(KernelSpec spec) : spec_(std::move(spec)) {
  validate(spec_);
  for_each_leaf(spec_, [](const KernelSpec& leaf) {
    if (has_bandwidth(leaf.family) && !leaf.bandwidth) {
      fail(ErrorCode::invalid_option, "the bandwidth of kernel {} is not set, expected a number > 0", to_string(leaf));
    }
    if (has_origin(leaf.family) && leaf.origin.empty()) {
      fail(ErrorCode::invalid_option, "the origin of kernel {} is not set, expected one coordinate per column",
           to_string(leaf));
    }
    if (has_column_scales(leaf.family) && leaf.column_scales.empty()) {
      fail(ErrorCode::invalid_option, "the column scales of kernel {} are not set, expected one number per column",
           to_string(leaf));
    }
  });
}

void Kernel::evaluate(MatrixView<const double> x, MatrixView<const double> z, MatrixView<double> values) const {
  if (x.cols() != z.cols()) {
    fail(ErrorCode::shape_mismatch, "kernel arguments have {} and {} columns, expected the same number", x.cols(),
         z.cols());
  }
  if (values.rows() != x.rows() || values.cols() != z.rows()) {
    fail(ErrorCode::shape_mismatch, "kernel values are {} x {}, expected {} x {}", values.rows(), values.cols(),
         x.rows(), z.rows());
  }
  if (!values.empty()) KernelBlock(*this, z).evaluate(x, values);
}

void Kernel::diagonal(MatrixView<const double> x, std::span<double> values) const {
  if (values.size() != x.rows()) {
    fail(ErrorCode::shape_mismatch, "{} diagonal values for {} rows, expected one per row", values.size(), x.rows());
  }
  require_origin(spec_, x.cols());
  combine_leaves(spec_, values, [&](const KernelSpec& leaf, std::span<double> out) { diagonal_of_leaf(leaf, x, out); });
}

bool Kernel::shift_invariant() const {
  bool all = true;
  for_each_leaf(spec_, [&](const KernelSpec& leaf) { all = all && has_bandwidth(leaf.family); });
  return all;
}

}  // namespace kqd
