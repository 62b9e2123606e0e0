#include "experiments/study.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kqd/metrics/methods.hpp"

namespace kqd::lab {

const KernelSpec& Draw::resolved(const KernelSpec& kernel, BandwidthRule rule, Seed seed) const {
  const std::string text = to_string(kernel);
  const auto same = [&](const Resolved& entry) { return entry.text == text && entry.rule == rule; };
  const auto found = std::ranges::find_if(known, same);
  if (found != known.end()) return found->kernel;
  Warnings warnings;
  known.push_back({text, rule, resolve(kernel, x, y, rule, seed, warnings)});
  return known.back().kernel;
}

bool rejects(const Draw& data, TwoSampleOptions options, Seed seed) {
  options.statistic.seed = seed;
  options.statistic.threads = ThreadCount{1};
  options.statistic.allow_quadratic = true;
  options.test.alpha = kLevel;
  return two_sample_test(data.x, data.y, options).test.reject;
}

void add_test_row(Study& study, Row row, std::function<TwoSampleOptions(const Column& column)> options,
                  std::size_t largest_n) {
  study.bundles.push_back({.rows = {study.rows.size()},
                           .reject = [options = std::move(options)](const Column& column, const Draw& data,
                                                                    Seed seed) -> std::vector<bool> {
                             TwoSampleOptions chosen = options(column);
                             MethodOptions& statistic = chosen.statistic;
                             if (find_method(chosen.method).uses.kernel) {
                               statistic.kernel = data.resolved(statistic.kernel, statistic.bandwidth_rule, seed);
                             }
                             return {rejects(data, std::move(chosen), seed)};
                           },
                           .largest_n = largest_n});
  study.rows.push_back(std::move(row));
}

std::string file_stem(const Study& study) {
  const std::string stem = study.scheme.empty() ? study.id : study.id + "." + study.scheme;
  return study.settings.contains("quick") ? stem + ".quick" : stem;
}

std::size_t floor_log(std::size_t n) {
  return static_cast<std::size_t>(std::log(static_cast<double>(n)));
}

}  // namespace kqd::lab
