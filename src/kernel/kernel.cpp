#include "kqd/kernel/kernel.hpp"

#include <algorithm>
#include <cmath>

#include "core/fail.hpp"
#include "core/vectors.hpp"
#include "kernel/custom_kernel.hpp"
#include "kernel/kernel_block.hpp"
#include "kernel/kernel_traits.hpp"
#include "simd/kernel_maps.hpp"

namespace kqd {
namespace {

// |x - o|^beta of the distance-induced kernel.
double distance_to_origin(const KernelSpec& spec, std::span<const double> x) {
  return std::pow(squared_distance(x, spec.origin), spec.beta / 2.0);
}

// k(x, x) of a leaf, by its formula.
double leaf_diagonal(const KernelSpec& spec, std::span<const double> x) {
  switch (spec.family) {
    case KernelFamily::linear:
      return dot(x, x) + spec.offset;
    case KernelFamily::polynomial:
      return std::pow(dot(x, x) + spec.offset, spec.degree);
    case KernelFamily::energy:
      return distance_to_origin(spec, x);
    default:
      return 1.0;
  }
}

void diagonal_of_leaf(const KernelSpec& spec, MatrixView<const double> x, std::span<double> values) {
  if (spec.family == KernelFamily::custom) return custom_pairs(spec, x, x, values);
  for (std::size_t i = 0; i < x.rows(); ++i) values[i] = leaf_diagonal(spec, x.row(i));
}

// |(x, sqrt c)|: a normalised polynomial is the cosine of two such vectors, to the power of its degree.
double extended_length(const KernelSpec& spec, std::span<const double> x) {
  const double length = std::sqrt(dot(x, x) + spec.offset);
  if (!(length > 0.0)) {
    fail(ErrorCode::invalid_option,
         "normalised-polynomial with offset 0 is undefined at a point of length 0; use an offset > 0");
  }
  return length;
}

PairQuantity quantity_of(KernelFamily family) {
  switch (family) {
    case KernelFamily::laplace:
      return PairQuantity::l1_distance;
    case KernelFamily::linear:
    case KernelFamily::polynomial:
    case KernelFamily::normalised_polynomial:
      return PairQuantity::dot;
    default:
      return PairQuantity::squared_distance;
  }
}

void apply_formula(const KernelSpec& spec, std::span<double> v) {
  using simd::Map;
  const double s = spec.bandwidth.value_or(1.0);
  switch (spec.family) {
    case KernelFamily::gaussian:
      return simd::apply_map(Map::exponential, 1.0 / (2.0 * s * s), 0.0, v);
    case KernelFamily::laplace:
      return simd::apply_map(Map::exponential, 1.0 / s, 0.0, v);
    case KernelFamily::matern12:
      return simd::apply_map(Map::exponential_root, 1.0 / s, 0.0, v);
    case KernelFamily::matern32:
      return simd::apply_map(Map::matern32, std::sqrt(3.0) / s, 0.0, v);
    case KernelFamily::matern52:
      return simd::apply_map(Map::matern52, std::sqrt(5.0) / s, 0.0, v);
    case KernelFamily::rq:
      return simd::apply_map(Map::inverse_power, 1.0 / (2.0 * spec.alpha * s * s), spec.alpha, v);
    case KernelFamily::imq:
      return simd::apply_map(Map::inverse_power, 1.0 / (s * s), spec.beta, v);
    case KernelFamily::linear:
      return simd::apply_map(Map::integer_power, spec.offset, 1.0, v);
    case KernelFamily::polynomial:
      return simd::apply_map(Map::integer_power, spec.offset, spec.degree, v);
    case KernelFamily::normalised_polynomial:  // of the cosine
      return simd::apply_map(Map::integer_power, 0.0, spec.degree, v);
    case KernelFamily::energy:
      return simd::apply_map(Map::distance_power, 0.0, spec.beta, v);
    case KernelFamily::sum:
    case KernelFamily::product:
    case KernelFamily::custom:
      break;
  }
  fail(ErrorCode::internal, "kernel {} has no formula of its own", to_string(spec));
}

template <class Visit>
void for_each_leaf(const KernelSpec& spec, const Visit& visit) {
  if (!is_composite(spec.family)) return visit(spec);
  for (const KernelSpec& part : spec.parts) for_each_leaf(part, visit);
}

// What the formula needs per point besides the pair quantity; empty for most families.
std::vector<double> point_terms(const KernelSpec& spec, MatrixView<const double> points) {
  std::vector<double> terms;
  const auto fill = [&](auto term) {
    terms.resize(points.rows());
    for (std::size_t i = 0; i < points.rows(); ++i) terms[i] = term(spec, points.row(i));
  };
  if (spec.family == KernelFamily::energy) fill(distance_to_origin);
  if (spec.family == KernelFamily::normalised_polynomial) fill(extended_length);
  return terms;
}

double pair_quantity(PairQuantity quantity, std::span<const double> a, std::span<const double> b) {
  if (quantity == PairQuantity::dot) return dot(a, b);
  double total = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double gap = a[k] - b[k];
    total += quantity == PairQuantity::l1_distance ? std::abs(gap) : gap * gap;
  }
  return total;
}

void leaf_of_pairs(const KernelSpec& spec, MatrixView<const double> x, MatrixView<const double> z,
                   std::span<double> values) {
  if (spec.family == KernelFamily::custom) return custom_pairs(spec, x, z, values);
  const PairQuantity quantity = quantity_of(spec.family);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = pair_quantity(quantity, x.row(i), z.row(i));
  const std::vector<double> x_terms = point_terms(spec, x);
  const std::vector<double> z_terms = point_terms(spec, z);
  if (spec.family == KernelFamily::normalised_polynomial) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = (values[i] + spec.offset) / (x_terms[i] * z_terms[i]);
  }
  apply_formula(spec, values);
  if (spec.family == KernelFamily::energy) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.5 * (x_terms[i] + z_terms[i] - values[i]);
  }
}

// Combines what leaf_values(leaf, out) writes for each leaf, as the kernel's sums and products say.
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
    if (leaf.family == KernelFamily::energy && leaf.origin.size() != dim) {
      fail(ErrorCode::shape_mismatch, "origin has {} coordinates, needs {}", leaf.origin.size(), dim);
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
      part.pairs.emplace(quantity_of(leaf.family), z);
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
  const std::vector<double> x_terms = point_terms(part.spec, x);
  if (part.spec.family == KernelFamily::normalised_polynomial) {
    // Normalised before the power is taken, which may overflow where the quotient of powers does not.
    for (std::size_t i = 0; i < x.rows(); ++i) {
      const auto row = values.row(i);
      for (std::size_t j = 0; j < row.size(); ++j) {
        row[j] = (row[j] + part.spec.offset) / (x_terms[i] * part.z_terms[j]);
      }
    }
  }
  if (values.row_stride() == values.cols()) {
    apply_formula(part.spec, {values.data(), values.rows() * values.cols()});  // in one go, where rows touch
  } else {
    for (std::size_t i = 0; i < x.rows(); ++i) apply_formula(part.spec, values.row(i));
  }
  if (part.spec.family == KernelFamily::energy) {
    for (std::size_t i = 0; i < x.rows(); ++i) {
      const auto row = values.row(i);
      for (std::size_t j = 0; j < row.size(); ++j) row[j] = 0.5 * (x_terms[i] + part.z_terms[j] - row[j]);
    }
  }
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
      fail(ErrorCode::invalid_option, "bandwidth of {} is not set, needs a number > 0", to_string(leaf));
    }
    if (leaf.family == KernelFamily::energy && leaf.origin.empty()) {
      fail(ErrorCode::invalid_option, "origin of energy is not set, needs one coordinate per column");
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
    fail(ErrorCode::shape_mismatch, "{} diagonal values for {} rows", values.size(), x.rows());
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
