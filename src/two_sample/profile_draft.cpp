#include "kqd/two_sample/profile_draft.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/fail.hpp"
#include "profile/profile_spec.hpp"
#include "profile/row_places.hpp"
#include "two_sample/make_spec.hpp"

namespace kqd {

ProfileDraft::ProfileDraft(const ProfileOptions& options, std::vector<SampleExtent> samples) : options_(options) {
  if (options_.groups.assignment == GroupAssignment::blocks) {
    fail_option("groups", to_string(options_.groups), "random or key:COLUMN; blocks need the order of all rows");
  }
  options_.keys = {};
  for (const SampleExtent& sample : samples) {
    if (sample.num_rows <= kMostRowsOfSample) continue;
    fail(ErrorCode::resource_limit, "a sample of {} rows, at most {} are one sample of a profile", sample.num_rows,
         kMostRowsOfSample);
  }
  if (samples.size() == 2 && options_.rows_per_group == 0) {
    options_.rows_per_group = rows_per_group_of(samples.front(), samples.back(), options_.groups.assignment);
  }
  spec_ = std::make_unique<ProfileSpec>(begin_spec(options_));
  for (const SampleExtent& sample : samples) hold_out(*spec_, sample);
}

ProfileDraft::~ProfileDraft() = default;

std::uint64_t ProfileDraft::num_held_out(const SampleExtent& sample) const {
  return spec_->rows_held_out(sample);
}

std::vector<std::uint64_t> ProfileDraft::held_out_rows(const SampleExtent& sample) const {
  const RowPlaces place(*spec_, sample);
  std::vector<std::uint64_t> rows(place.num_held_out());
  for (std::size_t k = 0; k < rows.size(); ++k) rows[k] = place.random_row_at(k);
  return rows;
}

std::vector<std::uint64_t> ProfileDraft::places(const SampleExtent& sample, std::span<const std::uint64_t> keys) const {
  const RowPlaces place(*spec_, sample);
  std::vector<std::uint64_t> places;
  places.reserve(keys.size());
  for (const std::uint64_t key : keys) places.push_back(place(0, key));
  return places;
}

Profile ProfileDraft::finish(MatrixView<const double> held_out, const std::vector<std::string>& column_names) const {
  std::vector<std::size_t> complete;
  for (std::size_t i = 0; i < held_out.rows(); ++i) {
    if (std::ranges::none_of(held_out.row(i), [](double v) { return std::isnan(v); })) complete.push_back(i);
  }
  Matrix<double> pilot(complete.size(), held_out.cols());
  for (std::size_t i = 0; i < complete.size(); ++i) {
    std::ranges::copy(held_out.row(complete[i]), pilot.row(i).begin());
  }
  return Profile(finish_spec(*spec_, pilot, column_names, options_));
}

}  // namespace kqd
