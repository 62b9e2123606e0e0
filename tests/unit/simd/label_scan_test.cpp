#include "simd/label_scan.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kqd/core/error.hpp"
#include "simd/label_words.hpp"
#include "unit/simd/each_target.hpp"
#include "unit/simd/labelled_pool.hpp"

namespace kqd {
namespace {

using test::Pool;

// The specification: N times the sum, with |c_k N - k nx| as the integer it is.
long double scan_times_rows(const Pool& pool, const LabelBatch& labels, unsigned permutation) {
  const auto num_rows = static_cast<std::int64_t>(pool.num_rows());
  const auto num_x = static_cast<std::int64_t>(labels.num_x[permutation]);
  std::int64_t count_x = 0;
  long double sum = 0.0L;
  for (std::int64_t k = 1; k < num_rows; ++k) {
    const auto at = static_cast<std::size_t>(k);
    count_x += labels.is_x(pool.row(at - 1), permutation) ? 1 : 0;
    const long double gap = static_cast<long double>(pool.value(at)) - static_cast<long double>(pool.value(at - 1));
    sum += static_cast<long double>(std::abs(count_x * num_rows - k * num_x)) * gap;
  }
  return sum;
}

std::vector<double> scan(const Pool& pool, const LabelBatch& labels) {
  std::vector<double> sums(labels.count);
  simd::label_scan(pool.view(), test::words_of(labels), std::span(labels.num_x).first(labels.count), sums);
  return sums;
}

std::vector<double> scan_equal(const Pool& pool, const LabelBatch& labels) {
  std::vector<double> sums(labels.count);
  simd::label_scan_equal(pool.view(), test::words_of(labels), sums);
  return sums;
}

// Sizes that differ from permutation to permutation, among them 0, 1, N - 1 and N.
std::vector<std::size_t> mixed_sizes(std::size_t num_rows) {
  std::vector<std::size_t> sizes(64);
  for (std::size_t b = 0; b < 64; ++b) sizes[b] = num_rows * b / 63;
  if (num_rows > 0) sizes[1] = 1, sizes[62] = num_rows - 1;
  return sizes;
}

// Whole numbers: every partial sum is exact in float and in double lanes, so only the division by N rounds.
TEST(LabelScan, is_exact_on_integers_for_any_sizes_and_length) {
  test::on_each_target([] {
    for (const std::size_t n : test::awkward_lengths()) {
      const Pool pool(n, 1, test::small_integer);
      const LabelBatch labels = test::random_labels(n, mixed_sizes(n), 2);
      const std::vector<double> sums = scan(pool, labels);
      for (unsigned b = 0; b < labels.count; ++b) {
        const double expected =
            n == 0 ? 0.0 : static_cast<double>(scan_times_rows(pool, labels, b)) / static_cast<double>(n);
        EXPECT_EQ(sums[b], expected) << "rows " << n << ", permutation " << b;
      }
    }
  });
}

TEST(LabelScan, is_exact_on_integers_for_equal_sizes) {
  test::on_each_target([] {
    for (const std::size_t n : test::awkward_lengths()) {
      if (n % 2 != 0) continue;
      const Pool pool(n, 3, test::small_integer);
      for (const std::size_t count : {1UL, 5UL, 33UL, 64UL}) {
        const LabelBatch labels = test::random_labels(n, std::vector<std::size_t>(count, n / 2), 4);
        const std::vector<double> sums = scan_equal(pool, labels);
        for (unsigned b = 0; b < labels.count; ++b) {
          const double expected =
              n == 0 ? 0.0 : static_cast<double>(scan_times_rows(pool, labels, b)) / static_cast<double>(n);
          EXPECT_EQ(sums[b], expected) << "rows " << n << ", permutation " << b;
        }
      }
    }
  });
}

// The lowest rows of a pool only, measured against the sizes of the whole: rows above them do not count. As
// a scan of the whole pool in which all values above are equal to the last of them.
TEST(LabelScan, of_the_lowest_rows_is_the_part_of_the_whole_that_lies_between_them) {
  test::on_each_target([] {
    for (const std::size_t n : {40UL, 514UL}) {
      const Pool pool(n, 13, test::small_integer);
      const LabelBatch labels = test::random_labels(n, mixed_sizes(n), 14);
      const LabelBatch halves = test::random_labels(n, std::vector<std::size_t>(20, n / 2), 15);
      for (const std::size_t lowest : {1UL, 2UL, 17UL, n - 1}) {
        const simd::SortedPool part{pool.view().values.first(lowest), pool.view().order.first(lowest)};
        std::vector<double> values(pool.view().values.begin(), pool.view().values.end());
        for (std::size_t k = lowest; k < n; ++k) values[k] = values[lowest - 1];
        const simd::SortedPool flat_above{values, pool.view().order};
        std::vector<double> sums(labels.count);
        std::vector<double> expected(labels.count);
        simd::label_scan(part, test::words_of(labels), std::span(labels.num_x).first(labels.count), sums);
        simd::label_scan(flat_above, test::words_of(labels), std::span(labels.num_x).first(labels.count), expected);
        EXPECT_EQ(sums, expected) << lowest << " of " << n;
        std::vector<double> equal(halves.count);
        std::vector<double> expected_equal(halves.count);
        simd::label_scan_equal(part, test::words_of(halves), equal);
        simd::label_scan_equal(flat_above, test::words_of(halves), expected_equal);
        EXPECT_EQ(equal, expected_equal) << lowest << " of " << n;
      }
    }
  });
}

// The reference works with 64 bits of precision: what it loses is far below both bounds.
TEST(LabelScan, stays_within_its_bound_on_real_values) {
  test::on_each_target([] {
    for (const std::size_t n : {2UL, 100UL, 1023UL, 20'000UL}) {
      const Pool pool(n, 5, test::normal_value);
      const LabelBatch labels = test::random_labels(n, mixed_sizes(n), 6);
      const std::vector<double> sums = scan(pool, labels);
      for (unsigned b = 0; b < labels.count; ++b) {
        const long double expected = scan_times_rows(pool, labels, b) / static_cast<long double>(n);
        EXPECT_LE(test::relative_error(sums[b], expected), simd::label_scan_relative_error(n)) << n << ' ' << b;
      }
    }
  });
}

TEST(LabelScan, equal_sizes_stay_within_a_millionth_on_real_values) {
  test::on_each_target([] {
    for (const std::size_t n : {2UL, 100UL, 1024UL, 70'000UL}) {
      EXPECT_LT(simd::label_scan_equal_relative_error(n), 1e-6);
      const Pool pool(n, 7, [](RandomStream& stream) { return std::exp(3.0 * stream.normal()); });
      const LabelBatch labels = test::random_labels(n, std::vector<std::size_t>(20, n / 2), 8);
      const std::vector<double> sums = scan_equal(pool, labels);
      for (unsigned b = 0; b < labels.count; ++b) {
        const long double expected = scan_times_rows(pool, labels, b) / static_cast<long double>(n);
        EXPECT_LE(test::relative_error(sums[b], expected), simd::label_scan_equal_relative_error(n)) << n << ' ' << b;
      }
    }
  });
}

// Separated samples: the running value reaches nx ny, the largest it can be.
TEST(LabelScan, separated_samples_differ_by_the_difference_of_their_means) {
  const std::size_t n = 60'000;
  const Pool pool(n, 9, test::normal_value);
  for (const std::size_t num_x : {n / 2, n / 3, std::size_t{1}, n - 1}) {
    LabelBatch labels;
    labels.words.resize(n);
    labels.count = 1;
    labels.num_x[0] = num_x;
    long double mean_x = 0.0L, mean_y = 0.0L;
    for (std::size_t k = 0; k < n; ++k) {
      labels.words[pool.row(k)] = k < num_x ? 1 : 0;
      (k < num_x ? mean_x : mean_y) += pool.value(k);
    }
    mean_x /= static_cast<long double>(num_x);
    mean_y /= static_cast<long double>(n - num_x);
    const long double expected = (mean_y - mean_x) * static_cast<long double>(num_x) *
                                 static_cast<long double>(n - num_x) / static_cast<long double>(n);
    test::on_each_target([&] {
      EXPECT_LE(test::relative_error(scan(pool, labels)[0], expected), simd::label_scan_relative_error(n));
      if (num_x == n / 2) {
        EXPECT_LE(test::relative_error(scan_equal(pool, labels)[0], expected),
                  simd::label_scan_equal_relative_error(n));
      }
    });
  }
}

// The scale of the values must not matter: floats reach from 1e-38 to 1e38 only, and a linear kernel has any scale.
TEST(LabelScan, equal_sizes_bear_values_far_outside_the_range_of_floats) {
  const std::size_t n = 500;
  for (const double scale : {1e-300, 1e-60, 1e60, 1e290}) {
    const Pool pool(n, 11, [&](RandomStream& stream) { return scale * stream.normal(); });
    const LabelBatch labels = test::random_labels(n, {n / 2}, 12);
    const long double expected = scan_times_rows(pool, labels, 0) / static_cast<long double>(n);
    EXPECT_LE(test::relative_error(scan_equal(pool, labels)[0], expected), simd::label_scan_equal_relative_error(n))
        << scale;
    EXPECT_LE(test::relative_error(scan(pool, labels)[0], expected), simd::label_scan_relative_error(n)) << scale;
  }
}

// Two clusters far apart, each with the same number of both labels: what remains is small against the range, and must
// still be right relative to itself.
TEST(LabelScan, a_large_gap_over_a_balanced_count_does_no_harm) {
  const std::size_t n = 400;
  const Pool pool(n, 13, [](RandomStream& stream) { return stream.normal(); });
  LabelBatch labels = test::random_labels(n, {n / 2}, 14);
  std::vector<double> values(n);
  std::vector<std::uint32_t> order(n);
  for (std::size_t k = 0; k < n; ++k) {
    values[k] = k < n / 2 ? 1e-9 * pool.value(k) : 1e12 + pool.value(k);
    order[k] = static_cast<std::uint32_t>(k);
    labels.words[k] = k % 2;
  }
  long double expected = 0.0L;  // the running difference is 1, 0, 1, 0, ...: only gaps after an even k count
  for (std::size_t k = 0; k < n; k += 2) {
    expected += 0.5L * (static_cast<long double>(values[k + 1]) - static_cast<long double>(values[k]));
  }
  std::vector<double> sum(1);
  simd::label_scan_equal({values, order}, test::words_of(labels), sum);
  EXPECT_LE(test::relative_error(sum[0], expected), simd::label_scan_equal_relative_error(n));
}

TEST(LabelScan, one_distinct_value_gives_zero) {
  const Pool pool(300, 15, [](RandomStream&) { return 2.5; });
  const LabelBatch labels = test::random_labels(300, std::vector<std::size_t>(64, 150), 16);
  test::on_each_target([&] {
    for (const double sum : scan(pool, labels)) EXPECT_EQ(sum, 0.0);
    for (const double sum : scan_equal(pool, labels)) EXPECT_EQ(sum, 0.0);
  });
}

// A permutation must not feel its company: eight batches side by side give the bits of eight scans.
TEST(LabelScan, batches_together_give_the_same_bits_as_one_by_one) {
  const std::size_t n = 1500;
  const Pool pool(n, 17, test::normal_value);
  for (const std::size_t num_batches : {1UL, 3UL, 8UL}) {
    std::vector<LabelBatch> batches, equal_batches;
    std::vector<std::size_t> num_x;
    std::vector<double> only, equal_single;
    for (std::size_t i = 0; i < num_batches; ++i) {
      batches.push_back(test::random_labels(n, mixed_sizes(n), 18 + i));
      equal_batches.push_back(test::random_labels(n, std::vector<std::size_t>(64, n / 2), 30 + i));
      num_x.insert(num_x.end(), batches[i].num_x.begin(), batches[i].num_x.end());
      for (const double sum : scan(pool, batches[i])) only.push_back(sum);
      for (const double sum : scan_equal(pool, equal_batches[i])) equal_single.push_back(sum);
    }
    std::vector<double> together(64 * num_batches), equal_together(64 * num_batches);
    simd::label_scan(pool.view(), simd::side_by_side(batches), num_x, together);
    simd::label_scan_equal(pool.view(), simd::side_by_side(equal_batches), equal_together);
    EXPECT_EQ(together, only);
    EXPECT_EQ(equal_together, equal_single);
  }
}

TEST(LabelScan, labels_exchanged_within_a_tie_give_the_same_bits) {
  const std::size_t n = 1000;
  const Pool pool(n, 19, [](RandomStream& stream) { return std::exp(static_cast<double>(stream.below(20))); });
  const LabelBatch labels = test::random_labels(n, std::vector<std::size_t>(64, n / 2), 20);
  std::vector<std::uint32_t> order(pool.view().order.begin(), pool.view().order.end());
  for (std::size_t first = 0; first < n;) {
    std::size_t end = first;
    while (end < n && pool.value(end) == pool.value(first)) ++end;
    std::reverse(order.begin() + static_cast<std::ptrdiff_t>(first), order.begin() + static_cast<std::ptrdiff_t>(end));
    first = end;
  }
  std::vector<double> sums(64), equal_sums(64);
  simd::label_scan({pool.view().values, order}, test::words_of(labels), labels.num_x, sums);
  simd::label_scan_equal({pool.view().values, order}, test::words_of(labels), equal_sums);
  EXPECT_EQ(sums, scan(pool, labels));
  EXPECT_EQ(equal_sums, scan_equal(pool, labels));
}

TEST(LabelScan, equal_sizes_give_the_same_bits_when_X_and_Y_change_names) {
  const std::size_t n = 2000;
  const Pool pool(n, 21, test::normal_value);
  const LabelBatch labels = test::random_labels(n, std::vector<std::size_t>(64, n / 2), 22);
  LabelBatch renamed = labels;
  for (std::uint64_t& word : renamed.words) word = ~word;
  test::on_each_target([&] { EXPECT_EQ(scan_equal(pool, renamed), scan_equal(pool, labels)); });
}

TEST(LabelScan, refuses_more_rows_than_its_integers_hold) {
  const double value = 0.0;
  const std::uint32_t row = 0;
  const std::uint64_t word = 0;
  const std::size_t n = simd::kMaxScanRows + 1;  // never touched
  const simd::SortedPool pool{{&value, n}, {&row, n}};
  double sum = 0.0;
  const std::size_t num_x = 1;
  try {
    simd::label_scan(pool, {&word, n, 1}, {&num_x, 1}, {&sum, 1});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::resource_limit);
  }
}

// N^2 times the sum of squares, with c_k N - k nx as the integer it is.
long double squares_times_rows(const Pool& pool, const LabelBatch& labels, unsigned permutation) {
  const auto num_rows = static_cast<std::int64_t>(pool.num_rows());
  const auto num_x = static_cast<std::int64_t>(labels.num_x[permutation]);
  std::int64_t count_x = 0;
  long double sum = 0.0L;
  for (std::int64_t k = 1; k < num_rows; ++k) {
    const auto at = static_cast<std::size_t>(k);
    count_x += labels.is_x(pool.row(at - 1), permutation) ? 1 : 0;
    const auto running = static_cast<long double>(count_x * num_rows - k * num_x);
    sum +=
        running * running * (static_cast<long double>(pool.value(at)) - static_cast<long double>(pool.value(at - 1)));
  }
  return sum;
}

TEST(LabelScanSquares, is_within_its_bound_for_any_sizes_and_length) {
  test::on_each_target([] {
    for (const std::size_t n : test::awkward_lengths()) {
      const Pool pool(n, 3, test::normal_value);
      const LabelBatch labels = test::random_labels(n, mixed_sizes(n), 4);
      std::vector<double> sums(labels.count);
      simd::label_scan_squares(pool.view(), test::words_of(labels), std::span(labels.num_x).first(labels.count), sums);
      for (unsigned b = 0; b < labels.count; ++b) {
        const auto rows = static_cast<long double>(std::max<std::size_t>(n, 1));
        const auto expected = static_cast<double>(squares_times_rows(pool, labels, b) / rows / rows);
        EXPECT_NEAR(sums[b], expected, simd::label_scan_relative_error(n) * expected) << n << " " << b;
      }
    }
  });
}

}  // namespace
}  // namespace kqd
