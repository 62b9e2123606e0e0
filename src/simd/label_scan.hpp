#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "kqd/core/matrix_view.hpp"
#include "simd/label_words.hpp"
#include "simd/sorted_pool.hpp"

namespace kqd::simd {

/// The number of rows up to which the running values of scans are exact integers, so that their bounds hold.
inline constexpr std::size_t kMaxScanRows = std::size_t{1} << 27U;

/// For each permutation b of N rows, in one pass over the n lowest of them, sorted,
///
///     sums[b] = sum_{k=1}^{n-1} | c_k - k num_x[b]/N | (v_(k+1) - v_(k)),
///
/// where c_k counts the X labels among the k smallest values: with n = N, the whole pool, N / (nx ny) times that is
/// tau_1 with uniform level weights [KQE sec. 3.2]; with fewer it is the part of it below v_(n). Bit b % 64
/// of words(row, b / 64) is set when `row` is labelled X in permutation b; there are N rows of words, sums.size()
/// permutations, at most 64 per column of words, and at most kMaxLabelWords columns.
///
/// The bits of a permutation's sum depend on its own labels only: not on the other permutations of the call, on the
/// order of ties or, with equal sizes, on which sample is called X.
/// Cost: O(n) per permutation, about 0.1 ns per row and permutation while the words are in cache (see side_by_side()).
/// Needs ascending values of finite range, and num_x[b] of the N rows labelled X.
/// Throws Error{resource_limit} above kMaxScanRows rows.
void label_scan(const SortedPool& pool, MatrixView<const std::uint64_t> words, std::span<const std::size_t> num_x,
                std::span<double> sums);

/// The same for permutations that all have num_x = N/2, about 1.5 times as fast by working in single precision.
void label_scan_equal(const SortedPool& pool, MatrixView<const std::uint64_t> words, std::span<double> sums);

/// The same with squares: sums[b] = sum_{k=1}^{n-1} ( c_k - k num_x[b]/N )^2 (v_(k+1) - v_(k)). 2 (N / (nx ny))^2 times
/// that is the energy distance on the line. |c_k N - k num_x| is an exact integer here too.
void label_scan_squares(const SortedPool& pool, MatrixView<const std::uint64_t> words,
                        std::span<const std::size_t> num_x, std::span<double> sums);

/// Bounds on the relative error of a sum, compared with exact arithmetic on the same values; the first bound holds for
/// label_scan and label_scan_squares. (With equal sizes, gaps below 2^-226 of the range of the values may count as 0.)
[[nodiscard]] double label_scan_relative_error(std::size_t num_rows);
[[nodiscard]] double label_scan_equal_relative_error(std::size_t num_rows);

}  // namespace kqd::simd
