#include "metrics/sample_list.hpp"

#include <algorithm>

#include "core/fail.hpp"

namespace kqd {

CheckedList::CheckedList(std::span<const SampleView> given, std::span<const std::string> names, ThreadCount threads)
    : storage_(given.size()) {
  if (names.size() != given.size()) {
    fail(ErrorCode::shape_mismatch, "{} names for {} samples, expected one each", names.size(), given.size());
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    validate(given[i], names[i], threads);
    if (given[i].dim() != given[0].dim()) {
      fail(ErrorCode::shape_mismatch, "{} has {} column{} and {} has {}, expected the same number",
           no_references(names[0]), given[0].dim(), given[0].dim() == 1 ? "" : "s", no_references(names[i]),
           given[i].dim());
    }
    samples_.push_back(without_zero_weights(given[i], storage_[i]));
  }
}

Sample gather_all(std::span<const SampleView> samples) {
  std::size_t rows = 0;
  for (const SampleView& sample : samples) rows += sample.size();
  const bool weighted = std::ranges::any_of(samples, &SampleView::weighted);
  Sample all{Matrix<double>(rows, samples.front().dim()), {}, {}};
  std::size_t row = 0;
  for (const SampleView& sample : samples) {
    for (std::size_t i = 0; i < sample.size(); ++i)
      std::ranges::copy(sample.points.row(i), all.points.row(row++).begin());
    if (!weighted) continue;
    for (std::size_t i = 0; i < sample.size(); ++i) all.weights.push_back(sample.weighted() ? sample.weights[i] : 1.0);
  }
  return all;
}

}  // namespace kqd
