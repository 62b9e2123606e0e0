#include "simd/label_sums.hpp"

#include <algorithm>
#include <array>

#include "core/fail.hpp"
#include "simd/target.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/label_sums.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kqd::simd::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 4>;
constexpr std::size_t kLanes = hn::MaxLanes(D());
constexpr std::size_t kRows = RowGroupLabels::kRows;
constexpr std::size_t kBits = 4;  // rows of one table
constexpr std::size_t kTables = kRows / kBits;
constexpr std::size_t kPatterns = std::size_t{1} << kBits;
constexpr std::size_t kColumns = 8;         // summed side by side
constexpr std::size_t kPermutations = 192;  // their sums and the tables fit into the first-level cache

using Sums = std::array<double, kPermutations * kColumns>;
using Tables = std::array<std::array<std::array<double, kColumns>, kPatterns>, kTables>;

// 1 for a column that is labelled X, for each pattern of the labels of four columns.
struct alignas(64) Factors {
  constexpr Factors() {
    for (std::size_t pattern = 0; pattern < kPatterns; ++pattern) {
      for (std::size_t i = 0; i < kBits; ++i) of[pattern][i] = ((pattern >> i) & 1U) != 0 ? 1.0 : 0.0;
    }
  }
  std::array<std::array<double, kBits>, kPatterns> of{};
};
constexpr Factors kFactors;

// The sums of rows of every pattern; a pattern with one more row is one addition away from the one without it.
HWY_INLINE void fill_tables(const double* HWY_RESTRICT rows, std::size_t stride, std::size_t num_rows, Tables& tables) {
  const D d;
  for (std::size_t t = 0; t < kTables; ++t) {
    auto& table = tables[t];
    table[0].fill(0.0);
    for (std::size_t i = 0; i < kBits; ++i) {
      const std::size_t row = t * kBits + i;
      for (std::size_t k = 0; k < kColumns; k += kLanes) {
        const auto values = row < num_rows ? hn::LoadU(d, rows + row * stride + k) : hn::Zero(d);
        for (std::size_t pattern = 0; pattern < (std::size_t{1} << i); ++pattern) {
          hn::Store(hn::Add(hn::Load(d, &table[pattern][k]), values), d, &table[pattern | (std::size_t{1} << i)][k]);
        }
      }
    }
  }
}

HWY_INLINE void add_rows(const Tables& tables, std::span<const std::uint16_t> words, double* HWY_RESTRICT sums) {
  const D d;
  for (const unsigned word : words) {
    const auto& a = tables[0][word & 15U];
    const auto& b = tables[1][(word >> 4U) & 15U];
    const auto& c = tables[2][(word >> 8U) & 15U];
    const auto& e = tables[3][word >> 12U];
    for (std::size_t k = 0; k < kColumns; k += kLanes) {
      const auto four =
          hn::Add(hn::Add(hn::Load(d, &a[k]), hn::Load(d, &b[k])), hn::Add(hn::Load(d, &c[k]), hn::Load(d, &e[k])));
      hn::Store(hn::Add(hn::Load(d, sums + k), four), d, sums + k);
    }
    sums += kColumns;
  }
}

// The sums of `num_columns` <= 8 columns over the rows that permutations [first, first + count) label X.
HWY_INLINE void sum_columns(MatrixView<const double> values, std::size_t first_column, std::size_t num_columns,
                            const RowGroupLabels& labels, std::size_t first_row, std::size_t first, std::size_t count,
                            Sums& sums) {
  alignas(64) Tables tables;
  alignas(64) std::array<double, kRows * kColumns> padded{};
  std::fill_n(sums.begin(), count * kColumns, 0.0);
  for (std::size_t i = 0; i < values.rows(); i += kRows) {
    const std::size_t num_rows = std::min(kRows, values.rows() - i);
    const double* rows = values.row(i).data() + first_column;
    std::size_t stride = values.row_stride();
    if (num_columns < kColumns) {
      for (std::size_t r = 0; r < num_rows; ++r) {
        std::copy_n(rows + r * stride, num_columns, padded.data() + r * kColumns);
      }
      rows = padded.data();
      stride = kColumns;
    }
    fill_tables(rows, stride, num_rows, tables);
    add_rows(tables, labels.at(first_row + i).subspan(first, count), sums.data());
  }
}

// Calls use(column, number of columns, permutation, number of permutations, sums) for all of them, permutations
// outside.
template <class Use>
HWY_INLINE void for_each_block(MatrixView<const double> values, const RowGroupLabels& labels, std::size_t first_row,
                               const Use& use) {
  alignas(64) Sums sums;
  for (std::size_t b = 0; b < labels.permutation_count(); b += kPermutations) {
    const std::size_t count = std::min(kPermutations, labels.permutation_count() - b);
    for (std::size_t column = 0; column < values.cols(); column += kColumns) {
      const std::size_t num_columns = std::min(kColumns, values.cols() - column);
      sum_columns(values, column, num_columns, labels, first_row, b, count, sums);
      use(column, num_columns, b, count, sums);
    }
  }
}

}  // namespace

void AddLabelledRows(MatrixView<const double> values, const RowGroupLabels& labels, std::size_t first_row,
                     MatrixView<double> out) {
  for_each_block(values, labels, first_row,
                 [&](std::size_t column, std::size_t num_columns, std::size_t b, std::size_t count, const Sums& sums) {
                   for (std::size_t k = 0; k < count; ++k) {
                     const auto to = out.row(b + k).subspan(column, num_columns);
                     for (std::size_t c = 0; c < num_columns; ++c) to[c] += sums[k * kColumns + c];
                   }
                 });
}

void AddQuadraticForms(double factor, MatrixView<const double> values, const RowGroupLabels& labels,
                       std::size_t first_row, std::size_t first_column, std::span<double> forms) {
  alignas(64) Sums lanes;  // terms that the columns of a lane add to each permutation
  for_each_block(
      values, labels, first_row,
      [&](std::size_t column, std::size_t /*num_columns*/, std::size_t b, std::size_t count, const Sums& sums) {
        const D d;
        if (column == 0) std::fill_n(lanes.begin(), count * kColumns, 0.0);
        const std::size_t own = first_column + column;
        const auto words = labels.at(own / kRows * kRows).subspan(b, count);
        for (std::size_t k = 0; k < count; ++k) {
          const unsigned bits = static_cast<unsigned>(words[k]) >> (own % kRows);
          for (std::size_t c = 0; c < kColumns; c += kLanes) {
            const auto label = hn::Load(d, &kFactors.of[(bits >> (c / kBits * kBits)) & 15U][c % kBits]);
            double* lane = &lanes[k * kColumns + c];
            hn::Store(hn::Add(hn::Load(d, lane), hn::Mul(label, hn::Load(d, &sums[k * kColumns + c]))), d, lane);
          }
        }
        if (column + kColumns < values.cols()) return;
        for (std::size_t k = 0; k < count; ++k) {
          const double* lane = &lanes[k * kColumns];
          forms[b + k] +=
              factor * (((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7])));
        }
      });
}

}  // namespace kqd::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kqd::simd {
namespace {

// Bit j of byte i becomes bit i of byte j [War12, sec. 7-3].
constexpr std::uint64_t transposed(std::uint64_t bytes) {
  const auto swap = [&](unsigned distance, std::uint64_t mask) {
    const std::uint64_t differing = (bytes ^ (bytes >> distance)) & mask;
    bytes ^= differing ^ (differing << distance);
  };
  swap(7, 0x00aa00aa00aa00aaU);
  swap(14, 0x0000cccc0000ccccU);
  swap(28, 0x00000000f0f0f0f0U);
  return bytes;
}

}  // namespace

HWY_EXPORT(AddLabelledRows);
HWY_EXPORT(AddQuadraticForms);

RowGroupLabels::RowGroupLabels(std::span<const LabelBatch> batches, std::size_t permutation_count)
    : words_(batches.empty() ? 0 : (batches.front().num_rows() + kRows - 1) / kRows, permutation_count, 0) {
  KQD_ASSERT(permutation_count <= batches.size() * LabelBatch::kCapacity);
  for (std::size_t b = 0; b < permutation_count; b += 8) {
    const LabelBatch& batch = batches[b / LabelBatch::kCapacity];
    const unsigned shift = b % LabelBatch::kCapacity;
    const std::size_t count = std::min<std::size_t>(8, permutation_count - b);
    for (std::size_t row = 0; row < batch.num_rows(); row += 8) {
      std::uint64_t bytes = 0;
      for (std::size_t i = 0; i < std::min<std::size_t>(8, batch.num_rows() - row); ++i) {
        bytes |= ((batch.words[row + i] >> shift) & 0xffU) << (8 * i);
      }
      bytes = transposed(bytes);
      const auto words = words_.row(row / kRows);
      for (std::size_t k = 0; k < count; ++k) {
        words[b + k] |= static_cast<std::uint16_t>(((bytes >> (8 * k)) & 0xffU) << (row % kRows));
      }
    }
  }
}

void add_labelled_rows(MatrixView<const double> values, const RowGroupLabels& labels, std::size_t first_row,
                       MatrixView<double> sums) {
  KQD_ASSERT(first_row % RowGroupLabels::kRows == 0 && sums.rows() == labels.permutation_count() &&
             sums.cols() == values.cols());
  KQD_DISPATCH(AddLabelledRows)(values, labels, first_row, sums);
}

void add_quadratic_forms(double factor, MatrixView<const double> values, const RowGroupLabels& labels,
                         std::size_t first_row, std::size_t first_column, std::span<double> forms) {
  KQD_ASSERT(first_row % RowGroupLabels::kRows == 0 && first_column % RowGroupLabels::kRows == 0 &&
             forms.size() == labels.permutation_count());
  KQD_DISPATCH(AddQuadraticForms)(factor, values, labels, first_row, first_column, forms);
}

}  // namespace kqd::simd
#endif
