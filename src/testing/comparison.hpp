#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/finite.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/testing/permutation_test.hpp"
#include "testing/sequential.hpp"

namespace kqd {

/// Mean and standard deviation of any number of values, of which a few thousand are held at a time. Sums are in units
/// of a power of two near the largest value: neither they nor the squares leave the range of numbers.
class RunningMoments {
 public:
  void add(double value) {
    block_.push_back(value);
    if (block_.size() == kBlock) merge_block();
  }
  [[nodiscard]] double mean();
  [[nodiscard]] double sd(double lost_degrees_of_freedom);

 private:
  static constexpr std::size_t kBlock = 4096;
  void merge_block();

  std::vector<double> block_;
  double count_ = 0.0;
  double mean_ = 0.0;     // of what is merged, in units of 2^unit_
  double squares_ = 0.0;  // sum of squared deviations, in units of 4^unit_
  int unit_ = 0;
};

/// The number of permutations of a test, the observed one included, and whether these are all permutations.
struct PermutationSet {
  std::uint64_t count = 0;
  bool enumerated = false;
};

/// Compares the values of the permutations with the observed one, in permutation order.
class Comparison {
 public:
  /// `tie_slack`: the largest difference from the observed value that counts as a tie. Values are kept only on request,
  /// because there may be 10^9 of them. They include the observed one if all permutations were enumerated.
  Comparison(std::function<double(double)> tie_slack, std::unique_ptr<SequentialTest> test, bool enumerated, bool keep)
      : tie_slack_(std::move(tie_slack)), test_(std::move(test)), enumerated_(enumerated), keep_(keep) {}

  /// True when no further value is needed.
  bool add(double value) {
    require_finite_statistic(value);
    if (!std::exchange(has_observed_, true)) {
      slack_ = tie_slack_(value);
      observed_ = value;
      if (enumerated_) count(value);
      return false;
    }
    // A permutation that merely reorders the observed sums gives the observed value up to rounding; calling it smaller
    // would make p too small.
    const bool exceeds = value >= observed_ - slack_;
    if (exceeds && value <= observed_ + slack_) ++num_tied_;
    count(value);
    return test_->add(exceeds);
  }

  [[nodiscard]] double observed() const { return observed_; }
  [[nodiscard]] const SequentialTest& test() const { return *test_; }
  [[nodiscard]] std::uint64_t num_tied() const { return num_tied_; }
  [[nodiscard]] RunningMoments& moments() { return moments_; }
  /// Empty unless they were to be kept.
  [[nodiscard]] std::vector<double>& values() { return values_; }

 private:
  void count(double value) {
    moments_.add(value);
    if (keep_) values_.push_back(value);
  }

  std::function<double(double)> tie_slack_;
  std::unique_ptr<SequentialTest> test_;
  bool enumerated_;
  bool keep_;
  bool has_observed_ = false;
  double observed_ = 0.0;
  double slack_ = 0.0;
  std::uint64_t num_tied_ = 0;
  RunningMoments moments_;
  std::vector<double> values_;
};

/// The outcome of a comparison; its values are moved out when they are to be kept.
[[nodiscard]] TestOutcome summarise(const PermutationSet& permutations, const TestOptions& options,
                                    EarlyStop early_stop, Seed seed, Comparison& comparison);

/// Adds a warning when the test cannot reject at this level: for any data, or for these because of ties.
void warn_about_resolution(const PermutationSet& permutations, const TestOptions& options, EarlyStop early_stop,
                           const Comparison& comparison, Warnings& warnings);

}  // namespace kqd
