// What a program that depends on kqd looks like: it includes one header and links kqd::kqd, nothing else.
#include <cstdio>
#include <cstring>
#include <kqd/kqd.hpp>

int main() {
  const kqd::Sample sample{kqd::Matrix<double>(2, 2, {1.0, 2.0, 3.0, 4.0}), {}, {"a", "b"}};
  kqd::validate(sample, "sample");
  try {
    kqd::validate(kqd::Sample{}, "nothing");
  } catch (const kqd::Error& error) {
    // The exception must keep its type across the library's border.
    std::printf("kqd %s: %s\n", kqd::kVersion, error.what());
    return error.code() == kqd::ErrorCode::empty_sample && std::strlen(kqd::kVersion) > 0 ? 0 : 1;
  }
  return 1;
}
