#include "simd/matrix_product.hpp"

#include <algorithm>

#include "core/fail.hpp"
#include "simd/target.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/matrix_product.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
// clang-format: the order of these includes matters
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "simd/lane_sum-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kqd::simd::HWY_NAMESPACE {
namespace {

// Sums of kMaxRows x kMaxVectors vectors stay in registers: 16 of 32 with AVX-512, 12 of 16 without.
constexpr std::size_t kMaxRows = 4;
constexpr std::size_t kMaxVectors = HWY_TARGET <= HWY_AVX3 ? 4 : 3;
constexpr std::size_t kRowBlock = 64;     // rows of the left factor that meet a panel while both are in cache
constexpr std::size_t kRowsInCache = 64;  // rows of panels, 256 bytes each, that use half of the first-level cache
constexpr std::size_t kCacheLine = 64;

template <class T>
using Tag = hn::CappedTag<T, kCacheLine / sizeof(T)>;
template <class T>
constexpr std::size_t kLanes = hn::MaxLanes(Tag<T>());

// Rows of the left factor: element (r, k) is at values[r * row_step + k * depth_step].
template <class T>
struct LeftRows {
  const T* values;
  std::size_t row_step;
  std::size_t depth_step;
};

// c(r, 0 .. columns) += sum over k of a(r, k) b(k, ..); from 0 if `fresh`. The last of kVectors vectors ends with the
// last column; columns that it shares with the vector before it get the same bits twice.
template <std::size_t kRows, std::size_t kVectors, class T>
HWY_INLINE void multiply_tile(const LeftRows<T>& a, std::size_t depth, const T* HWY_RESTRICT b, T* HWY_RESTRICT c,
                              std::size_t c_stride, std::size_t columns, bool fresh) {
  const Tag<T> d;
  using V = hn::Vec<Tag<T>>;
  std::size_t at[kVectors];
  HWY_UNROLL(4) for (std::size_t v = 0; v < kVectors; ++v) at[v] = v * kLanes<T>;
  at[kVectors - 1] = columns - kLanes<T>;
  V sums[kRows][kVectors];
  HWY_UNROLL(4) for (std::size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(4) for (std::size_t v = 0; v < kVectors; ++v) {
      sums[r][v] = fresh ? hn::Zero(d) : hn::LoadU(d, c + r * c_stride + at[v]);
    }
  }
  const T* HWY_RESTRICT column = a.values;
  for (std::size_t k = 0; k < depth; ++k, column += a.depth_step, b += PackedFactor<T>::kPanel) {
    V right[kVectors];
    HWY_UNROLL(4) for (std::size_t v = 0; v < kVectors; ++v) right[v] = hn::LoadU(d, b + at[v]);
    HWY_UNROLL(4) for (std::size_t r = 0; r < kRows; ++r) {
      const V left = hn::Set(d, column[r * a.row_step]);
      HWY_UNROLL(4) for (std::size_t v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(left, right[v], sums[r][v]);
    }
  }
  HWY_UNROLL(4) for (std::size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(4) for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sums[r][v], d, c + r * c_stride + at[v]);
  }
}

// The same for fewer columns than a vector has: the elements of c beyond them are neither read nor written.
template <std::size_t kRows, class T>
void multiply_part_of_vector(const LeftRows<T>& a, std::size_t depth, const T* b, T* c, std::size_t c_stride,
                             std::size_t columns, bool fresh) {
  alignas(kCacheLine) T tile[kRows * kLanes<T>] = {};
  if (!fresh) {
    for (std::size_t r = 0; r < kRows; ++r) std::copy_n(c + r * c_stride, columns, tile + r * kLanes<T>);
  }
  multiply_tile<kRows, 1>(a, depth, b, tile, kLanes<T>, kLanes<T>, fresh);
  for (std::size_t r = 0; r < kRows; ++r) std::copy_n(tile + r * kLanes<T>, columns, c + r * c_stride);
}

// One panel of the right factor, in portions of at most kMaxVectors vectors.
template <std::size_t kRows, class T>
void multiply_panel(const LeftRows<T>& a, std::size_t depth, const T* b, T* c, std::size_t c_stride,
                    std::size_t columns, bool fresh) {
  // The next rows of c are prefetched while these are computed.
  for (std::size_t r = kRows; r < 2 * kRows; ++r) {
    for (std::size_t j = 0; j < columns; j += kCacheLine / sizeof(T)) hwy::Prefetch(c + r * c_stride + j);
  }
  constexpr std::size_t kStep = kMaxVectors * kLanes<T>;
  for (std::size_t j = 0; j < columns; j += kStep) {
    const std::size_t width = std::min(kStep, columns - j);
    const auto portion = width > 3 * kLanes<T>   ? multiply_tile<kRows, kMaxVectors, T>
                         : width > 2 * kLanes<T> ? multiply_tile<kRows, 3, T>
                         : width > kLanes<T>     ? multiply_tile<kRows, 2, T>
                         : width == kLanes<T>    ? multiply_tile<kRows, 1, T>
                                                 : multiply_part_of_vector<kRows, T>;
    portion(a, depth, b + j, c + j, c_stride, width, fresh);
  }
}

template <class T>
void multiply_rows(LeftRows<T> a, std::size_t rows, std::size_t depth, const T* b, T* c, std::size_t c_stride,
                   std::size_t columns, bool fresh) {
  while (rows > 0) {
    const std::size_t step = rows >= kMaxRows ? kMaxRows : rows >= 2 ? 2 : 1;
    const auto panel = step == kMaxRows ? multiply_panel<kMaxRows, T>
                       : step == 2      ? multiply_panel<2, T>
                                        : multiply_panel<1, T>;
    panel(a, depth, b, c, c_stride, columns, fresh);
    a.values += step * a.row_step;
    c += step * c_stride;
    rows -= step;
  }
}

template <class T>
void product(MatrixView<const T> a, Op op, const PackedFactor<T>& b, MatrixView<T> c, Into into) {
  // A column of the left factor that is used row by row would touch a cache line per element: it is copied first.
  alignas(64) T copy[kRowBlock * PackedFactor<T>::kDepth];
  for (std::size_t k = 0; k < b.rows(); k += PackedFactor<T>::kDepth) {
    const std::size_t depth = std::min(PackedFactor<T>::kDepth, b.rows() - k);
    const bool fresh = k == 0 && into == Into::overwrite;
    // Panels that fit into the first-level cache together take turns after each few rows: c is written row after row.
    const std::size_t turn = b.num_panels() > 1 && depth * b.num_panels() <= kRowsInCache ? kMaxRows : kRowBlock;
    for (std::size_t i = 0; i < c.rows(); i += kRowBlock) {
      const std::size_t rows = std::min(kRowBlock, c.rows() - i);
      LeftRows<T> left{copy, 1, kRowBlock};
      if (op == Op::none) {
        left = {a.data() + i * a.row_stride() + k, a.row_stride(), 1};
      } else {
        for (std::size_t q = 0; q < depth; ++q) std::copy_n(a.row(k + q).data() + i, rows, copy + q * kRowBlock);
      }
      for (std::size_t r = 0; r < rows; r += turn) {
        const LeftRows<T> left_of_turn{left.values + r * left.row_step, left.row_step, left.depth_step};
        for (std::size_t panel = 0; panel < b.num_panels(); ++panel) {
          const std::size_t j = panel * PackedFactor<T>::kPanel;
          multiply_rows<T>(left_of_turn, std::min(turn, rows - r), depth, b.panel(k, panel),
                           c.data() + (i + r) * c.row_stride() + j, c.row_stride(),
                           std::min(PackedFactor<T>::kPanel, c.cols() - j), fresh);
        }
      }
    }
  }
}

// Dot products of kRows rows with one vector.
template <std::size_t kRows>
HWY_INLINE void dots(const double* HWY_RESTRICT rows, std::size_t stride, std::span<const double> x, double* out) {
  const std::size_t n = x.size();
  LaneSum sums[kRows];
  std::size_t k = 0;
  for (; k + LaneSum::kTerms <= n; k += LaneSum::kTerms) {
    const EightTerms right(x.data(), k, n);
    HWY_UNROLL(4)
    for (std::size_t r = 0; r < kRows; ++r) sums[r].add_products(EightTerms(rows + r * stride, k, n), right);
  }
  if (k < n) {
    const EightTerms right(x.data(), k, n);
    for (std::size_t r = 0; r < kRows; ++r) sums[r].add_products(EightTerms(rows + r * stride, k, n), right);
  }
  for (std::size_t r = 0; r < kRows; ++r) out[r] = sums[r].total();
}

// y += x[0] a(0, ..) + x[1] a(1, ..) + ..., each element in this order.
template <std::size_t kRows, class D>
HWY_INLINE void add_scaled_rows(D d, const double* HWY_RESTRICT rows, std::size_t stride, const double* HWY_RESTRICT x,
                                std::size_t j, double* HWY_RESTRICT y) {
  auto sum = hn::LoadU(d, y + j);
  HWY_UNROLL(4) for (std::size_t r = 0; r < kRows; ++r) {
    sum = hn::MulAdd(hn::Set(d, x[r]), hn::LoadU(d, rows + r * stride + j), sum);
  }
  hn::StoreU(sum, d, y + j);
}

template <std::size_t kRows>
HWY_INLINE void add_scaled_rows(const double* rows, std::size_t stride, const double* x, std::span<double> y) {
  const hn::CappedTag<double, 8> d;
  std::size_t j = 0;
  for (; j + hn::Lanes(d) <= y.size(); j += hn::Lanes(d)) add_scaled_rows<kRows>(d, rows, stride, x, j, y.data());
  for (; j < y.size(); ++j) add_scaled_rows<kRows>(hn::CappedTag<double, 1>(), rows, stride, x, j, y.data());
}

constexpr std::size_t kRowsTogether = 4;

}  // namespace

double Dot(std::span<const double> a, std::span<const double> b) {
  double result = 0.0;
  dots<1>(a.data(), a.size(), b, &result);
  return result;
}

void DotsOfRows(MatrixView<const double> a, std::span<const double> x, std::span<double> y, Into into) {
  for (std::size_t i = 0; i < a.rows(); i += kRowsTogether) {
    const std::size_t rows = std::min(kRowsTogether, a.rows() - i);
    double sums[kRowsTogether];
    if (rows == kRowsTogether) {
      dots<kRowsTogether>(a.row(i).data(), a.row_stride(), x, sums);
    } else {
      for (std::size_t r = 0; r < rows; ++r) dots<1>(a.row(i + r).data(), a.row_stride(), x, sums + r);
    }
    for (std::size_t r = 0; r < rows; ++r) y[i + r] = into == Into::add ? y[i + r] + sums[r] : sums[r];
  }
}

void SumOfRows(MatrixView<const double> a, std::span<const double> x, std::span<double> y) {
  std::size_t i = 0;
  for (; i + kRowsTogether <= a.rows(); i += kRowsTogether) {
    add_scaled_rows<kRowsTogether>(a.row(i).data(), a.row_stride(), x.data() + i, y);
  }
  for (; i < a.rows(); ++i) add_scaled_rows<1>(a.row(i).data(), a.row_stride(), x.data() + i, y);
}

void ProductOfDoubles(MatrixView<const double> a, Op op, const PackedFactor<double>& b, MatrixView<double> c,
                      Into into) {
  product<double>(a, op, b, c, into);
}
void ProductOfFloats(MatrixView<const float> a, Op op, const PackedFactor<float>& b, MatrixView<float> c, Into into) {
  product<float>(a, op, b, c, into);
}

}  // namespace kqd::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kqd::simd {
HWY_EXPORT(Dot);
HWY_EXPORT(DotsOfRows);
HWY_EXPORT(SumOfRows);
HWY_EXPORT(ProductOfDoubles);
HWY_EXPORT(ProductOfFloats);

template <class T>
const T* PackedFactor<T>::panel(std::size_t row, std::size_t panel) const {
  const std::size_t depth = std::min(kDepth, rows_ - row);
  return values_.data() + (row * num_panels() + panel * depth) * kPanel;
}

template <class T>
void PackedFactor<T>::assign(MatrixView<const T> b, Op op) {
  rows_ = op == Op::none ? b.rows() : b.cols();
  cols_ = op == Op::none ? b.cols() : b.rows();
  const std::size_t size = rows_ * num_panels() * kPanel;
  if (values_.cols() < size) values_ = Matrix<T>(1, size);
  T* to = values_.data();
  for (std::size_t k = 0; k < rows_; k += kDepth) {
    const std::size_t depth = std::min(kDepth, rows_ - k);
    for (std::size_t first = 0; first < cols_; first += kPanel, to += depth * kPanel) {
      const std::size_t width = std::min(kPanel, cols_ - first);
      if (width < kPanel) std::fill_n(to, depth * kPanel, T{0});
      if (op == Op::none) {
        for (std::size_t q = 0; q < depth; ++q) std::copy_n(b.row(k + q).data() + first, width, to + q * kPanel);
      } else {
        for (std::size_t j = 0; j < width; ++j) {
          const T* from = b.row(first + j).data() + k;
          for (std::size_t q = 0; q < depth; ++q) to[q * kPanel + j] = from[q];
        }
      }
    }
  }
}

template class PackedFactor<double>;
template class PackedFactor<float>;

namespace {

template <class T>
void check_shapes([[maybe_unused]] MatrixView<const T> a, [[maybe_unused]] Op op,
                  [[maybe_unused]] const PackedFactor<T>& b, [[maybe_unused]] MatrixView<T> c) {
  KQD_ASSERT((op == Op::none ? a.rows() : a.cols()) == c.rows() && b.cols() == c.cols());
  KQD_ASSERT((op == Op::none ? a.cols() : a.rows()) == b.rows());
}

// An empty sum adds no term to the old value, or to 0.
template <class T>
bool is_empty_sum(const PackedFactor<T>& b, MatrixView<T> c, Into into) {
  if (b.rows() > 0) return false;
  for (std::size_t i = 0; i < c.rows() && into == Into::overwrite; ++i) std::ranges::fill(c.row(i), T{0});
  return true;
}

}  // namespace

void multiply(MatrixView<const double> a, Op op, const PackedFactor<double>& b, MatrixView<double> c, Into into) {
  check_shapes(a, op, b, c);
  if (!is_empty_sum(b, c, into)) KQD_DISPATCH(ProductOfDoubles)(a, op, b, c, into);
}

void multiply(MatrixView<const float> a, Op op, const PackedFactor<float>& b, MatrixView<float> c, Into into) {
  check_shapes(a, op, b, c);
  if (!is_empty_sum(b, c, into)) KQD_DISPATCH(ProductOfFloats)(a, op, b, c, into);
}

void multiply(MatrixView<const double> a, Op op_a, MatrixView<const double> b, Op op_b, MatrixView<double> c,
              Into into) {
  multiply(a, op_a, PackedFactor<double>(b, op_b), c, into);
}

void multiply(MatrixView<const float> a, Op op_a, MatrixView<const float> b, Op op_b, MatrixView<float> c, Into into) {
  multiply(a, op_a, PackedFactor<float>(b, op_b), c, into);
}

void multiply(MatrixView<const double> a, Op op, std::span<const double> x, std::span<double> y, Into into) {
  KQD_ASSERT((op == Op::none ? a.cols() : a.rows()) == x.size());
  KQD_ASSERT((op == Op::none ? a.rows() : a.cols()) == y.size());
  if (op == Op::none) {
    KQD_DISPATCH(DotsOfRows)(a, x, y, into);
  } else {
    if (into == Into::overwrite) std::ranges::fill(y, 0.0);
    KQD_DISPATCH(SumOfRows)(a, x, y);
  }
}

double dot(std::span<const double> a, std::span<const double> b) {
  KQD_ASSERT(a.size() == b.size());
  return KQD_DISPATCH(Dot)(a, b);
}

}  // namespace kqd::simd
#endif
