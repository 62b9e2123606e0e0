#include "simd/sort.hpp"

#include <hwy/contrib/sort/vqsort.h>

#include "simd/target.hpp"

namespace kqd::simd {
namespace {

template <class T>
void sort_numbers(std::span<T> values) {
  if (values.size() < 2) return;
  obey_environment();
  hwy::Sorter()(values.data(), values.size(), hwy::SortAscending());
}

}  // namespace

void sort_ascending(std::span<double> values) {
  sort_numbers(values);
}

void sort_ascending(std::span<std::uint64_t> values) {
  sort_numbers(values);
}

}  // namespace kqd::simd
