#pragma once
#include <cstddef>
#include <vector>

#include "kqd/core/sample.hpp"
#include "metrics/method.hpp"

namespace kqd {

/// A part of the samples on which a direction, locations or a bandwidth may be fitted together with the labels, and the
/// rest, whose labels are then tested. Fitting and testing on the same rows would be invalid.
struct Split {
  Sample train_x;
  Sample train_y;
  std::vector<std::size_t> train_rows;  ///< of (X, Y), ascending
  std::vector<std::size_t> test_rows;   ///< of (X, Y), in the label-blind order of the pool
};

/// Sets about `share` of the rows apart for training. With free labels the same share of each sample is drawn; in
/// designs that bind rows together a label-blind draw from the pool is taken, with whole units. Either way the labels
/// of the rows that are left are as exchangeable as before. Throws Error{empty_sample} when fewer than two rows of a
/// sample are left on a side.
[[nodiscard]] Split split_for_training(const TestPool& pool, double share, const PlanRequest& request, Seed seed);

}  // namespace kqd
