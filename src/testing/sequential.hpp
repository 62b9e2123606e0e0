#pragma once
#include <cstdint>
#include <memory>

#include "kqd/testing/permutation_test.hpp"
#include "kqd/testing/pvalue.hpp"

namespace kqd {

/// A Monte Carlo test that takes one draw after the other, in permutation order, and decides when to stop.
class SequentialTest {
 public:
  virtual ~SequentialTest() = default;

  /// Adds a draw, which reached the observed value or not. Returns true when no further draw is needed.
  bool add(bool exceeds);
  [[nodiscard]] Exceedances draws() const { return draws_; }
  [[nodiscard]] virtual double pvalue() const = 0;

 private:
  virtual bool is_enough(Exceedances draws) = 0;
  Exceedances draws_;
};

/// The test that `rule` names, for up to `num_permutations` draws.
[[nodiscard]] std::unique_ptr<SequentialTest> make_sequential_test(EarlyStop rule, double alpha,
                                                                   std::uint64_t num_permutations);

/// The Besag-Clifford test that stops at the `limit`-th exceedance, whatever decision it serves: p-values of about
/// 1 / sqrt(limit) relative precision, valid for any limit >= 1 [BC91].
[[nodiscard]] std::unique_ptr<SequentialTest> make_besag_clifford_test(std::uint64_t limit);

/// h = alpha (B + 1), the exceedances after which the Besag-Clifford test stops, or 0 when that is not a whole number.
[[nodiscard]] std::uint64_t besag_clifford_limit(double alpha, std::uint64_t num_permutations);

/// Wealth of the binomial mixture bet after the draws: P(Bin(t + 1, c) > L) / c with c = 0.9 alpha [FR24].
[[nodiscard]] double betting_wealth(Exceedances draws, double alpha);

/// The least p-value the rule can report after up to `num_permutations` draws.
[[nodiscard]] double smallest_pvalue(EarlyStop rule, double alpha, std::uint64_t num_permutations);

}  // namespace kqd
