#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// Options of an Alarm: one of two promises about false alarms.
struct AlarmOptions {
  /// While nothing changes, the probability that the alarm is ever raised, however long it is watched, is at most this.
  double alpha = 0.05;
  /// Instead: while nothing changes, so many p-values pass on average until the alarm is raised. Unset: alpha holds.
  std::optional<double> average_run_length = {};
  /// With an average run length: Alarm::threshold() as it was found before. Unset: it is found by simulation.
  std::optional<double> threshold = {};
};

/// An alarm that may be looked at after every batch: a bet against p-values that are independent and uniform on (0, 1)
/// while nothing changes, as those of a conformal test are [VNG03].
///
/// For each possible start k of a change, a wealth is the product of bets on the p-values from k on. With the promise
/// `alpha` the evidence is the mean of these wealths over k, weighted by c / ((c + k - 1) (c + k)) with c = 100: a
/// martingale that starts at 1, so P(it ever reaches 1 / alpha) <= alpha [Vil39]. With an average run length it is
/// their sum [SRR24], and the threshold is the one at which the mean time to the alarm is that length, by simulation of
/// uniform p-values (within about 3%).
class Alarm {
 public:
  /// Throws Error{invalid_option} unless 0 < alpha < 1 and an average run length is from 10 to 10^9.
  explicit Alarm(const AlarmOptions& options = {});

  /// Takes the next p-value, in (0, 1].
  void add(double pvalue);

  [[nodiscard]] std::size_t size() const { return evidence_.size(); }
  /// The evidence after each p-value.
  [[nodiscard]] std::span<const double> evidence() const { return evidence_; }
  /// The alarm is raised when the evidence reaches this.
  [[nodiscard]] double threshold() const { return threshold_; }
  /// Number of the first p-value, from 0, at which the alarm was raised.
  [[nodiscard]] std::optional<std::size_t> raised_at() const { return raised_at_; }

 private:
  AlarmOptions options_;
  double threshold_;
  std::vector<double> wealth_;  // of each bet, over all starts
  std::vector<double> evidence_;
  std::optional<std::size_t> raised_at_;
};

}  // namespace kqd
