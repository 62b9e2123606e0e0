#include "metrics/checked_samples.hpp"

#include "metrics/data_warnings.hpp"

namespace kqd {

CheckedSamples::CheckedSamples(const SampleView& x_given, const SampleView& y_given, const MethodOptions& options,
                               Warnings& warnings) {
  validate(options);
  validate_pair(x_given, y_given, options.threads);
  x = without_zero_weights(x_given, x_storage_);
  y = without_zero_weights(y_given, y_storage_);
  warn_about_data(x, y, warnings);
}

}  // namespace kqd
