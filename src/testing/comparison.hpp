#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/finite.hpp"
#include "kqd/testing/permutation_test.hpp"
#include "testing/sequential.hpp"

namespace kqd {

/// Compares the values of the labellings with the observed one, in labelling order.
class Comparison {
 public:
  /// `tie_slack`: how far from the observed value another one may lie and still be the same.
  Comparison(std::function<double(double)> tie_slack, std::unique_ptr<SequentialTest> test)
      : tie_slack_(std::move(tie_slack)), test_(std::move(test)) {}

  /// True when no further value is needed.
  bool add(double value) {
    require_finite_statistic(value);
    if (values_.empty()) {
      slack_ = tie_slack_(value);
      values_.push_back(value);
      return false;
    }
    // A labelling that merely reorders the observed sums gives the observed value up to rounding; calling it smaller
    // would make p too small.
    const bool exceeds = value >= observed() - slack_;
    if (exceeds && value <= observed() + slack_) ++num_tied_;
    values_.push_back(value);
    return test_->add(exceeds);
  }

  [[nodiscard]] double observed() const { return values_.front(); }
  [[nodiscard]] const SequentialTest& test() const { return *test_; }
  [[nodiscard]] std::uint64_t num_tied() const { return num_tied_; }
  [[nodiscard]] std::vector<double>& values() { return values_; }

 private:
  std::function<double(double)> tie_slack_;
  std::unique_ptr<SequentialTest> test_;
  double slack_ = 0.0;
  std::uint64_t num_tied_ = 0;
  std::vector<double> values_;  // the observed one first
};

/// How many labellings a test has, the observed one included, and whether they are all there are.
struct Labellings {
  std::uint64_t count = 0;
  bool enumerated = false;
};

/// The outcome of a comparison; its values are moved out when they are to be kept.
[[nodiscard]] TestOutcome summarise(const Labellings& labellings, const TestOptions& options, EarlyStop early_stop,
                                    Seed seed, Comparison& comparison);

/// Adds a sentence when no data could be rejected at this level, or these could not because others tie with them.
void warn_about_resolution(const Labellings& labellings, const TestOptions& options, EarlyStop early_stop,
                           const Comparison& comparison, std::vector<std::string>& warnings);

}  // namespace kqd
