#include "testing/sequential.hpp"

#include <algorithm>
#include <cmath>

#include "testing/binomial.hpp"

namespace kqd {
namespace {

class FixedNumber final : public SequentialTest {
 public:
  [[nodiscard]] double pvalue() const override { return permutation_pvalue(draws()); }

 private:
  bool is_enough(Exceedances) override { return false; }
};

// Stops at the h-th exceedance, at draw tau, with p = h/tau; without it p = (L + 1)/(B + 1) after all B draws [BC91].
// With h = alpha (B + 1) both agree with a test of fixed size: h/tau > alpha as tau <= B, and L < h means p <= alpha.
class BesagClifford final : public SequentialTest {
 public:
  explicit BesagClifford(std::uint64_t limit) : limit_(limit) {}
  [[nodiscard]] double pvalue() const override {
    const auto [num_draws, num_exceed] = draws();
    if (num_exceed < limit_) return permutation_pvalue(draws());
    return static_cast<double>(limit_) / static_cast<double>(num_draws);
  }

 private:
  bool is_enough(Exceedances draws) override { return draws.num_exceed == limit_; }
  std::uint64_t limit_;
};

// Under the null hypothesis the wealth is a martingale that starts at 1 (with ties: stays below one), so it ever
// reaches 1/a with probability at most a: 1/(largest wealth so far) is a p-value at any time [FR24]. When the wealth is
// below alpha, a rejection is very unlikely. The first draw is excepted: if it exceeds, the wealth is 0.9 alpha.
class Betting final : public SequentialTest {
 public:
  explicit Betting(double alpha) : alpha_(alpha) {}
  [[nodiscard]] double pvalue() const override { return std::min(1.0, 1.0 / largest_wealth_); }

 private:
  bool is_enough(Exceedances draws) override {
    const double wealth = betting_wealth(draws, alpha_);
    largest_wealth_ = std::max(largest_wealth_, wealth);
    const bool futile = wealth < alpha_ && draws.num_draws > 1;
    return futile || pvalue() <= alpha_;
  }

  double alpha_;
  double largest_wealth_ = 1.0;
};

}  // namespace

bool SequentialTest::add(bool exceeds) {
  ++draws_.num_draws;
  if (exceeds) ++draws_.num_exceed;
  return is_enough(draws_);
}

std::unique_ptr<SequentialTest> make_sequential_test(EarlyStop rule, double alpha, std::uint64_t num_permutations) {
  switch (rule) {
    case EarlyStop::besag_clifford:
      return std::make_unique<BesagClifford>(besag_clifford_limit(alpha, num_permutations));
    case EarlyStop::betting:
      return std::make_unique<Betting>(alpha);
    case EarlyStop::none:
      break;
  }
  return std::make_unique<FixedNumber>();
}

std::unique_ptr<SequentialTest> make_besag_clifford_test(std::uint64_t limit) {
  return std::make_unique<BesagClifford>(limit);
}

std::uint64_t besag_clifford_limit(double alpha, std::uint64_t num_permutations) {
  const double limit = alpha * (static_cast<double>(num_permutations) + 1.0);
  // alpha is the double next to a decimal fraction, so the product is within two roundings of the number meant.
  const double nearest = std::round(limit);
  return std::abs(limit - nearest) <= 0x1p-51 * limit ? static_cast<std::uint64_t>(nearest) : 0;
}

double betting_wealth(Exceedances draws, double alpha) {
  const double c = 0.9 * alpha;
  return binomial_upper_tail(draws.num_draws + 1, c, draws.num_exceed + 1) / c;
}

double smallest_pvalue(EarlyStop rule, double alpha, std::uint64_t num_permutations) {
  const Exceedances none_of_them = {num_permutations, 0};
  return rule == EarlyStop::betting ? 1.0 / betting_wealth(none_of_them, alpha) : permutation_pvalue(none_of_them);
}

}  // namespace kqd
