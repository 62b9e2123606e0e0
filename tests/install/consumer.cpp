// A program that depends on kqd: it includes one header and links kqd::kqd, nothing else.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <kqd/kqd.hpp>

int main() {
  // Wasserstein-1 of {0, 1} and {0.5, 2, 3} is 4/3: the linear kernel in one dimension.
  const kqd::Sample x{kqd::Matrix<double>(2, 1, {0.0, 1.0}), {}, {}};
  const kqd::Sample y{kqd::Matrix<double>(3, 1, {0.5, 2.0, 3.0}), {}, {}};
  kqd::TwoSampleOptions options;
  options.statistic.kernel = kqd::parse_kernel("linear");
  if (std::abs(kqd::ekqd(x, y, options.statistic).statistic - 4.0 / 3.0) > 1e-12) return 1;
  if (!kqd::two_sample_test(x, y, options).test.enumerated) return 1;
  try {
    kqd::validate(kqd::Sample{}, "nothing");
  } catch (const kqd::Error& error) {
    // The exception must keep its type across the library's border.
    std::printf("kqd %s: %s\n", kqd::kVersion, error.what());
    return error.code() == kqd::ErrorCode::empty_sample && std::strlen(kqd::kVersion) > 0 ? 0 : 1;
  }
  return 1;
}
