#include "kqd/core/sample.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/summation.hpp"

namespace kqd {
namespace {

constexpr std::size_t kRowsPerCheck = 4096;

// True when every value is finite. No early exit: the loop stays free of branches, and bad input is rare.
bool all_finite(std::span<const double> values) {
  bool finite = true;
  for (const double v : values) finite &= std::abs(v) <= std::numeric_limits<double>::max();
  return finite;
}

void refuse_non_finite_points(MatrixView<const double> points, std::string_view name, ThreadCount threads) {
  std::atomic<bool> all_good{true};
  parallel_for_blocks(points.rows(), kRowsPerCheck, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!all_finite(points.row(i))) all_good = false;
    }
  });
  if (all_good) return;
  for (std::size_t i = 0; i < points.rows(); ++i) {
    for (std::size_t j = 0; j < points.cols(); ++j) {
      if (!std::isfinite(points(i, j))) {
        fail(ErrorCode::non_finite_value, {.place = std::string(name),
                                           .row = i + 1,
                                           .column = j + 1,
                                           .value = fmt::format("{}", points(i, j)),
                                           .expected = "a finite number"});
      }
    }
  }
}

void refuse_bad_weights(const SampleView& sample, std::string_view name) {
  if (sample.weights.size() != sample.size()) {
    fail_at(ErrorCode::shape_mismatch, name,
            fmt::format("{} weights for {} rows", sample.weights.size(), sample.size()), "one weight per row");
  }
  double largest = 0.0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double w = sample.weights[i];
    if (!(w >= 0.0) || std::isinf(w)) {
      fail_at(ErrorCode::invalid_weights, name, fmt::format("weight of row {} is {}", i + 1, w),
              "a finite number >= 0");
    }
    largest = std::max(largest, w);
  }
  if (largest == 0.0)
    fail_at(ErrorCode::invalid_weights, name, fmt::format("all {} weights are 0", sample.size()), "at least one > 0");
}

}  // namespace

void validate(const SampleView& sample, std::string_view given_name, ThreadCount threads) {
  const std::string name = no_references(given_name);
  if (sample.size() == 0) fail_at(ErrorCode::empty_sample, name, "no rows", "at least one");
  if (sample.dim() == 0) fail_at(ErrorCode::empty_sample, name, "no columns", "at least one");
  if (!sample.roles.empty() && sample.roles.size() != sample.dim()) {
    fail_at(ErrorCode::shape_mismatch, name, fmt::format("{} roles for {} columns", sample.roles.size(), sample.dim()),
            "one role per column, or none");
  }
  refuse_non_finite_points(sample.points, name, threads);
  if (sample.weighted()) refuse_bad_weights(sample, name);
}

void validate_pair(const SampleView& x, const SampleView& y, ThreadCount threads) {
  validate(x, "X", threads);
  validate(y, "Y", threads);
  if (x.dim() != y.dim()) {
    fail(ErrorCode::shape_mismatch, "X has {} column{} and Y has {}, expected the same number", x.dim(),
         x.dim() == 1 ? "" : "s", y.dim());
  }
  if (!x.roles.empty() && !y.roles.empty() && !std::ranges::equal(x.roles, y.roles)) {
    fail(ErrorCode::shape_mismatch, "the columns of X have other roles than those of Y, expected the same");
  }
}

std::vector<double> normalised_weights(const SampleView& sample) {
  if (!sample.weighted()) return std::vector<double>(sample.size(), 1.0 / static_cast<double>(sample.size()));
  std::vector<double> weights = scaled_near_one(sample.weights);
  const double total = sum(weights);
  for (double& w : weights) w /= total;
  return weights;
}

SampleView without_zero_weights(const SampleView& sample, Sample& storage) {
  const auto num_kept =
      static_cast<std::size_t>(std::ranges::count_if(sample.weights, [](double w) { return w > 0.0; }));
  if (!sample.weighted() || num_kept == sample.size()) return sample;
  storage = Sample{Matrix<double>(num_kept, sample.dim()),
                   std::vector<double>(num_kept),
                   {},
                   {sample.roles.begin(), sample.roles.end()}};
  std::size_t kept = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    if (!(sample.weights[i] > 0.0)) continue;
    std::ranges::copy(sample.points.row(i), storage.points.row(kept).begin());
    storage.weights[kept++] = sample.weights[i];
  }
  SampleView view = storage.view();
  view.column_names = sample.column_names;
  return view;
}

}  // namespace kqd
