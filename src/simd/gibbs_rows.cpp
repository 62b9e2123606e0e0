#include "simd/gibbs_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "simd/target.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/gibbs_rows.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
// clang-format: the order of these includes matters
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "simd/lane_sum-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kqd::simd {
namespace HWY_NAMESPACE {
using D = hn::ScalableTag<double>;
using One = hn::CappedTag<double, 1>;

constexpr std::size_t kRowsTogether = 4;

// Highway's Exp leaves its accurate range below -708, where the value is 0 to every digit kept here.
template <class Tag>
HWY_INLINE hn::Vec<Tag> exponential(Tag d, hn::Vec<Tag> x) {
  return hn::IfThenElseZero(hn::Ge(x, hn::Set(d, -708.0)), hn::Exp(d, x));
}

// body(tag, j) for whole vectors of columns, then for single columns.
template <class Body>
HWY_INLINE void over_columns(std::size_t count, const Body& body) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t j = 0;
  for (; j + lanes <= count; j += lanes) body(d, j);
  for (; j < count; ++j) body(One(), j);
}

void GibbsRow(std::span<const double> costs, std::span<const double> column_terms, double row_term, double rate,
              std::span<double> values) {
  over_columns(costs.size(), [&](auto d, std::size_t j) {
    const auto total = hn::Add(hn::Set(d, row_term), hn::LoadU(d, column_terms.data() + j));
    const auto exponent = hn::NegMulAdd(hn::Set(d, rate), hn::LoadU(d, costs.data() + j), total);
    hn::StoreU(exponential(d, exponent), d, values.data() + j);
  });
}

double LogSumExp(std::span<const double> costs, std::span<const double> terms, double rate) {
  using E = LaneSum::D;
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  const E d;
  const std::size_t n = costs.size();
  // Terms beyond the end are -infinity: they are never the largest, and their exponential is 0.
  const auto exponent = [&](const EightTerms& cost, const EightTerms& term, std::size_t v) {
    return hn::NegMulAdd(hn::Set(d, rate), cost.vectors[v], term.vectors[v]);
  };
  auto largest_lanes = hn::Set(d, kNone);
  for (std::size_t j = 0; j < n; j += LaneSum::kTerms) {
    const EightTerms cost(costs.data(), j, n);
    const EightTerms term(terms.data(), j, n, kNone);
    for (std::size_t v = 0; v < LaneSum::kVectors; ++v) {
      largest_lanes = hn::Max(largest_lanes, exponent(cost, term, v));
    }
  }
  const double largest = hn::GetLane(hn::MaxOfLanes(d, largest_lanes));
  const auto shift = hn::Set(d, largest);
  LaneSum total;
  for (std::size_t j = 0; j < n; j += LaneSum::kTerms) {
    const EightTerms cost(costs.data(), j, n);
    const EightTerms term(terms.data(), j, n, kNone);
    total.add([&](std::size_t v, LaneSum::V sum) {
      return hn::Add(sum, exponential(d, hn::Sub(exponent(cost, term, v), shift)));
    });
  }
  return largest + std::log(total.total());
}

void RaiseMaxima(std::span<const double> costs, double term, double rate, std::span<double> maxima) {
  over_columns(costs.size(), [&](auto d, std::size_t j) {
    const auto exponent = hn::NegMulAdd(hn::Set(d, rate), hn::LoadU(d, costs.data() + j), hn::Set(d, term));
    hn::StoreU(hn::Max(hn::LoadU(d, maxima.data() + j), exponent), d, maxima.data() + j);
  });
}

void AddExponentials(std::span<const double> costs, double term, double rate, std::span<const double> maxima,
                     std::span<double> sums) {
  over_columns(costs.size(), [&](auto d, std::size_t j) {
    const auto exponent = hn::NegMulAdd(hn::Set(d, rate), hn::LoadU(d, costs.data() + j), hn::Set(d, term));
    const auto value = exponential(d, hn::Sub(exponent, hn::LoadU(d, maxima.data() + j)));
    hn::StoreU(hn::Add(hn::LoadU(d, sums.data() + j), value), d, sums.data() + j);
  });
}

// Sums over the columns for kRows rows at once: every factor is loaded once for all of them.
template <std::size_t kRows>
HWY_INLINE void multiply(MatrixView<const double> kernel, std::size_t row, std::span<const double> factors,
                         double* HWY_RESTRICT row_sums) {
  const std::size_t n = factors.size();
  LaneSum sums[kRows];
  for (std::size_t j = 0; j < n; j += LaneSum::kTerms) {
    const EightTerms factor(factors.data(), j, n);
    for (std::size_t r = 0; r < kRows; ++r) {
      sums[r].add_products(EightTerms(kernel.row(row + r).data(), j, n), factor);
    }
  }
  for (std::size_t r = 0; r < kRows; ++r) row_sums[r] = sums[r].total();
}

template <std::size_t kRows>
HWY_INLINE void accumulate(MatrixView<const double> kernel, std::size_t row, const double* HWY_RESTRICT scales,
                           std::span<double> column_sums) {
  over_columns(column_sums.size(), [&](auto d, std::size_t j) {
    auto total = hn::LoadU(d, column_sums.data() + j);
    for (std::size_t r = 0; r < kRows; ++r) {
      total = hn::MulAdd(hn::LoadU(d, kernel.row(row + r).data() + j), hn::Set(d, scales[r]), total);
    }
    hn::StoreU(total, d, column_sums.data() + j);
  });
}

void MultiplyRows(MatrixView<const double> kernel, std::span<const double> factors, std::span<double> row_sums) {
  std::size_t i = 0;
  for (; i + kRowsTogether <= kernel.rows(); i += kRowsTogether) {
    multiply<kRowsTogether>(kernel, i, factors, row_sums.data() + i);
  }
  for (; i < kernel.rows(); ++i) multiply<1>(kernel, i, factors, row_sums.data() + i);
}

template <std::size_t kRows>
HWY_INLINE void sweep(MatrixView<const double> kernel, std::size_t row, std::span<const double> factors,
                      std::span<const double> masses, std::span<double> row_sums, std::span<double> column_sums) {
  multiply<kRows>(kernel, row, factors, row_sums.data() + row);
  double scales[kRows];
  for (std::size_t r = 0; r < kRows; ++r) scales[r] = masses[row + r] / row_sums[row + r];
  accumulate<kRows>(kernel, row, scales, column_sums);
}

void SweepRows(MatrixView<const double> kernel, std::span<const double> factors, std::span<const double> masses,
               std::span<double> row_sums, std::span<double> column_sums) {
  std::size_t i = 0;
  for (; i + kRowsTogether <= kernel.rows(); i += kRowsTogether) {
    sweep<kRowsTogether>(kernel, i, factors, masses, row_sums, column_sums);
  }
  for (; i < kernel.rows(); ++i) sweep<1>(kernel, i, factors, masses, row_sums, column_sums);
}

}  // namespace HWY_NAMESPACE
}  // namespace kqd::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kqd::simd {

HWY_EXPORT(GibbsRow);
HWY_EXPORT(LogSumExp);
HWY_EXPORT(RaiseMaxima);
HWY_EXPORT(AddExponentials);
HWY_EXPORT(MultiplyRows);
HWY_EXPORT(SweepRows);

void gibbs_row(std::span<const double> costs, std::span<const double> column_terms, double row_term, double rate,
               std::span<double> values) {
  KQD_DISPATCH(GibbsRow)(costs, column_terms, row_term, rate, values);
}
double log_sum_exp(std::span<const double> costs, std::span<const double> terms, double rate) {
  return KQD_DISPATCH(LogSumExp)(costs, terms, rate);
}
void raise_maxima(std::span<const double> costs, double term, double rate, std::span<double> maxima) {
  KQD_DISPATCH(RaiseMaxima)(costs, term, rate, maxima);
}
void add_exponentials(std::span<const double> costs, double term, double rate, std::span<const double> maxima,
                      std::span<double> sums) {
  KQD_DISPATCH(AddExponentials)(costs, term, rate, maxima, sums);
}
void multiply_rows(MatrixView<const double> kernel, std::span<const double> factors, std::span<double> row_sums) {
  KQD_DISPATCH(MultiplyRows)(kernel, factors, row_sums);
}
void sweep_rows(MatrixView<const double> kernel, std::span<const double> factors, std::span<const double> masses,
                std::span<double> row_sums, std::span<double> column_sums) {
  KQD_DISPATCH(SweepRows)(kernel, factors, masses, row_sums, column_sums);
}

}  // namespace kqd::simd
#endif
