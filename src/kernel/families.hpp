#pragma once
#include <span>
#include <string_view>

#include "core/random.hpp"
#include "kernel/pairwise.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd {

/// A number that a family takes, in the order of the text "family:first:second".
struct FamilyParameter {
  std::string_view name;
  double default_value;        ///< of parse_kernel()
  bool (*allows)(double);      ///< false for NaN
  std::string_view range;      ///< follows the name in an error: "in (0, 2]"
  bool omits_default = false;  ///< to_string() omits the default value
  double KernelSpec::*field = nullptr;
  int KernelSpec::*whole_field = nullptr;  ///< in place of `field`, for whole numbers

  [[nodiscard]] double of(const KernelSpec& spec) const { return field != nullptr ? spec.*field : spec.*whole_field; }
};

/// How the median rule sets a bandwidth.
enum class MedianRule {
  none,                     ///< the family has no bandwidth
  distance,                 ///< s = the median distance
  root_of_half_the_square,  ///< s^2 = half the median squared distance
};

/// A kernel family. Sums, products and functions of the caller are not families. The members that are functions are
/// called per block, row or pair of points, never per value of a block.
struct FamilyInfo {
  KernelFamily family;
  std::string_view name;
  std::span<const FamilyParameter> parameters = {};
  MedianRule median_rule = MedianRule::none;
  double smallest_bandwidth = 0.0;  ///< and 1 / the largest: the formula stays within the range of numbers
  bool has_origin = false;          ///< KernelSpec::origin is part of the kernel

  /// The kernel is a function of one quantity of two points. `map` replaces quantities by kernel values.
  PairQuantity quantity;
  void (*map)(const KernelSpec& kernel, std::span<double> values);

  /// A number per point that some formulas need too, such as |x - o|^beta. The steps before and after `map` take it for
  /// one point x and for each point z of a row of values.
  double (*point_term)(const KernelSpec& kernel, std::span<const double> x) = nullptr;
  using RowStep = void (*)(const KernelSpec& kernel, double x_term, std::span<const double> z_terms,
                           std::span<double> row);
  RowStep before_map = nullptr;
  RowStep after_map = nullptr;

  /// k(x, x); null: always 1.
  double (*diagonal)(const KernelSpec& kernel, std::span<const double> x) = nullptr;

  /// The gradient of k(x, z) in x; 0 where the kernel has a kink.
  void (*gradient)(const KernelSpec& kernel, std::span<const double> x, std::span<const double> z,
                   std::span<double> gradient);

  /// Adds a draw from the spectral distribution of a shift-invariant kernel; null: the kernel has none.
  void (*add_frequency)(const KernelSpec& kernel, std::span<double> frequency, RandomStream& stream) = nullptr;

  /// The features are the monomials up to this degree; null: there are infinitely many features.
  int (*feature_degree)(const KernelSpec& kernel) = nullptr;
};

/// One row per family, in the order of the enumerators.
[[nodiscard]] std::span<const FamilyInfo> kernel_families();

/// The row of a family. Throws Error{internal} for sums, products and kernels of the caller, which have none.
[[nodiscard]] const FamilyInfo& family_info(KernelFamily family);

}  // namespace kqd
