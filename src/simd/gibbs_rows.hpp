#pragma once
#include <span>

#include "kqd/core/matrix_view.hpp"

namespace kqd::simd {

/// values[j] = exp(row_term + column_terms[j] - rate costs[j]): a row of exp((f_i + g_j - c_ij) / eps) with rate =
/// 1/eps and both potentials divided by eps. Below exp(-708) it is 0.
void gibbs_row(std::span<const double> costs, std::span<const double> column_terms, double row_term, double rate,
               std::span<double> values);

/// log sum_j exp(terms[j] - rate costs[j]), from the largest exponent down: no overflow, no loss of small sums.
[[nodiscard]] double log_sum_exp(std::span<const double> costs, std::span<const double> terms, double rate);

/// maxima[j] = max(maxima[j], term - rate costs[j]): the first pass of log_sum_exp over columns.
void raise_maxima(std::span<const double> costs, double term, double rate, std::span<double> maxima);

/// sums[j] += exp(term - rate costs[j] - maxima[j]): the second pass.
void add_exponentials(std::span<const double> costs, double term, double rate, std::span<const double> maxima,
                      std::span<double> sums);

/// row_sums[i] = sum_j kernel(i, j) factors[j].
void multiply_rows(MatrixView<const double> kernel, std::span<const double> factors, std::span<double> row_sums);

/// The same, and then column_sums[j] += sum_i masses[i] / row_sums[i] kernel(i, j): both halves of a sweep of matrix
/// scaling in one pass over the kernel, whose rows are in the cache when they are used the second time.
void sweep_rows(MatrixView<const double> kernel, std::span<const double> factors, std::span<const double> masses,
                std::span<double> row_sums, std::span<double> column_sums);

}  // namespace kqd::simd
