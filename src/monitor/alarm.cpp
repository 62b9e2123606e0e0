#include "kqd/monitor/alarm.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/fail.hpp"
#include "core/random.hpp"

namespace kqd {
namespace {

// A bet loses kStake of its wealth when p > limit, and wins kStake / limit - kStake of it when p <= limit: its
// mean factor is 1 for a uniform p. Several limits, because a p-value by rank among t batches is at least about 1/t.
constexpr std::array<double, 6> kLimits = {0.01, 0.02, 0.03, 0.05, 0.1, 0.2};
constexpr double kStake = 0.8;

// Weights of starts: changes among the first hundred batches have half of the weight.
constexpr double kChangeHorizon = 100.0;

constexpr double kMostWealth = 1e200;  // products stay finite; an alarm was raised long before

double start_weight(std::size_t k) {  // k from 1
  const double c = kChangeHorizon + static_cast<double>(k);
  return kChangeHorizon / ((c - 1.0) * c);
}

double bet(double limit, double pvalue) {
  return 1.0 - kStake + (pvalue <= limit ? kStake / limit : 0.0);
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The sum over all starts of the wealth of one bet, after one more p-value.
void add_to_sums(double pvalue, std::span<double> sums) {
  for (std::size_t j = 0; j < sums.size(); ++j) sums[j] = (1.0 + sums[j]) * bet(kLimits[j], pvalue);
}

constexpr std::size_t kSimulatedRuns = 4000;
constexpr double kLargestSimulated = 1000.0;  // threshold
constexpr std::uint64_t kSimulationSeed = 0x6b71640a;

// Mean time until the sum of wealths reaches each of these thresholds, which ascend, for uniform p-values.
std::vector<double> mean_run_lengths(std::span<const double> thresholds) {
  std::vector<double> means(thresholds.size(), 0.0);
  for (std::size_t run = 0; run < kSimulatedRuns; ++run) {
    RandomStream stream(Seed{kSimulationSeed}, Purpose::alarm_threshold, run);
    std::array<double, kLimits.size()> sums{};
    std::size_t reached = 0;
    for (std::size_t t = 1; reached < thresholds.size(); ++t) {
      add_to_sums(stream.uniform(), sums);
      for (const double evidence = mean_of(sums); reached < thresholds.size() && evidence >= thresholds[reached];
           ++reached) {
        means[reached] += static_cast<double>(t) / static_cast<double>(kSimulatedRuns);
      }
    }
  }
  return means;
}

// A p-value when the alternative of bet j is true: its density is the factor of the bet.
double pvalue_of_bet(double limit, RandomStream& stream) {
  const bool small = stream.uniform() < kStake;
  return small ? limit * stream.uniform() : stream.uniform();
}

// The same for large thresholds. Reaching one is then a rare event, which needs a few small p-values; times between
// such events are exponential. Their rate is the mean of 1 / evidence at that time when p-values change, from some time
// on, to the alternative of a bet chosen at random: the evidence is the likelihood ratio of that mixture over starts
// and bets [SRR24]. Simulated from sums of uniform p-values that have settled.
std::vector<double> long_run_lengths(std::span<const double> thresholds) {
  constexpr std::size_t kPaths = 40'000;
  constexpr int kSettling = 60;
  std::vector<double> rates(thresholds.size(), 0.0);
  for (std::size_t path = 0; path < kPaths; ++path) {
    RandomStream stream(Seed{kSimulationSeed}, Purpose::alarm_threshold, kSimulatedRuns + path);
    std::array<double, kLimits.size()> sums{};
    for (int t = 0; t < kSettling; ++t) {
      add_to_sums(stream.uniform(), sums);
      if (mean_of(sums) >= thresholds.front()) sums.fill(0.0);
    }
    const double limit = kLimits[stream.below(kLimits.size())];
    for (std::size_t reached = 0; reached < thresholds.size();) {
      add_to_sums(pvalue_of_bet(limit, stream), sums);
      for (const double evidence = mean_of(sums); reached < thresholds.size() && evidence >= thresholds[reached];
           ++reached) {
        rates[reached] += 1.0 / evidence / static_cast<double>(kPaths);
      }
    }
  }
  std::vector<double> means;
  for (const double rate : rates) means.push_back(1.0 / rate);
  return means;
}

std::vector<double> thresholds_between(double first, double last) {
  constexpr double kStep = 1.05;
  std::vector<double> thresholds;
  for (double h = first; h < kStep * last; h *= kStep) thresholds.push_back(h);
  return thresholds;
}

// The threshold at which the mean run length is `wanted`, between those of a list.
double threshold_at(double wanted, std::span<const double> thresholds, std::span<const double> lengths) {
  const auto above = std::ranges::lower_bound(lengths, wanted);
  const auto k = std::min(static_cast<std::size_t>(above - lengths.begin()), lengths.size() - 1);
  if (k == 0) return thresholds.front();
  const double part = (wanted - lengths[k - 1]) / (lengths[k] - lengths[k - 1]);
  return thresholds[k - 1] + part * (thresholds[k] - thresholds[k - 1]);
}

// The mean of the evidence after t p-values is t, so a threshold is below its mean run length.
double threshold_for(double wanted) {
  const std::vector<double> small = thresholds_between(1.0, std::min(wanted, kLargestSimulated));
  const std::vector<double> lengths = mean_run_lengths(small);
  if (lengths.back() >= wanted) return threshold_at(wanted, small, lengths);
  const std::vector<double> large = thresholds_between(0.5 * kLargestSimulated, wanted);
  return threshold_at(wanted, large, long_run_lengths(large));
}

}  // namespace

Alarm::Alarm(const AlarmOptions& options) : options_(options), threshold_(0.0), wealth_(kLimits.size(), 0.0) {
  constexpr double kShortest = 10.0;
  constexpr double kLongest = 1e9;
  require_option(options.alpha > 0.0 && options.alpha < 1.0, "alpha", options.alpha, "a number > 0 and < 1");
  if (!options.average_run_length) {
    threshold_ = 1.0 / options.alpha;
    return;
  }
  const double length = *options.average_run_length;
  require_option(length >= kShortest && length <= kLongest, "average_run_length", length, "a number from 10 to 10^9");
  threshold_ = options.threshold.value_or(0.0);
  if (!(threshold_ >= 1.0)) threshold_ = threshold_for(length);
}

void Alarm::add(double pvalue) {
  if (!(pvalue > 0.0 && pvalue <= 1.0)) fail(ErrorCode::internal, "the alarm was given a p-value of {}", pvalue);
  double evidence = 0.0;
  if (options_.average_run_length) {
    add_to_sums(pvalue, wealth_);
    evidence = mean_of(wealth_);
  } else {
    const double weight = start_weight(size() + 1);
    for (std::size_t j = 0; j < wealth_.size(); ++j) wealth_[j] = (wealth_[j] + weight) * bet(kLimits[j], pvalue);
    // Weights of starts that are still to come, whose wealth is 1.
    evidence = mean_of(wealth_) + kChangeHorizon / (kChangeHorizon + static_cast<double>(size() + 1));
  }
  for (double& wealth : wealth_) wealth = std::min(wealth, kMostWealth);
  if (!raised_at_ && evidence >= threshold_) raised_at_ = size();
  evidence_.push_back(evidence);
}

}  // namespace kqd
