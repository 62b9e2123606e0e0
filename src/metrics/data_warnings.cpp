#include "metrics/data_warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/random.hpp"
#include "core/warning.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

// Points that differ, by so little that the squares of their distances are not normal numbers.
bool squares_underflow(const Pool& pool) {
  constexpr double kSmallest = 1e-150;
  bool differ = false;
  for (std::size_t i = 1; i < pool.size(); ++i) {
    for (std::size_t k = 0; k < pool.dim(); ++k) {
      const double gap = std::abs(pool.row(i)[k] - pool.row(0)[k]);
      if (gap >= kSmallest) return false;
      differ = differ || gap > 0.0;
    }
  }
  return differ;
}

std::span<const std::string> names_of(const SampleView& x, const SampleView& y) {
  return x.column_names.empty() ? y.column_names : x.column_names;
}

}  // namespace

void warn_about_flat_directions(std::size_t num_flat, std::size_t num_directions, const KernelSpec& kernel,
                                Warnings& warnings) {
  if (num_flat == 0) return;
  if (const auto bandwidth = first_bandwidth(kernel)) {
    warn(warnings, WarningId::flat_directions_bandwidth, num_flat, num_directions, *bandwidth);
  } else {
    warn(warnings, WarningId::flat_directions, num_flat, num_directions);
  }
}

void warn_about_one_row(const SampleView& sample, std::string_view name, Warnings& warnings) {
  if (sample.size() == 1) warn(warnings, WarningId::one_row, name);
}

void warn_about_data(const SampleView& x, const SampleView& y, Warnings& warnings) {
  warn_about_one_row(x, "X", warnings);
  warn_about_one_row(y, "Y", warnings);
  warn_about_pool({x.points, y.points}, names_of(x, y), warnings);
}

std::string column_label(std::span<const std::string> names, std::size_t column) {
  return column < names.size() ? in_quotes(names[column]) : std::to_string(column + 1);
}

std::optional<DominatingColumns> dominating_columns(std::span<const double> deviations) {
  constexpr double kMostOfIt = 0.999;
  constexpr double kFarAbove = 10.0;  // the next one; without such a gap it is not clear where they end
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < deviations.size(); ++k) {
    if (deviations[k] > 0.0) order.push_back(k);
  }
  std::ranges::sort(order, std::ranges::greater{}, [&](std::size_t k) { return deviations[k]; });
  std::vector<double> shares;  // of variances up to each column, in units of the largest
  double total = 0.0;
  for (const std::size_t k : order) {
    const double ratio = deviations[k] / deviations[order.front()];
    shares.push_back(total += ratio * ratio);
  }
  for (std::size_t count = 1; 2 * count <= order.size(); ++count) {
    const double share = shares[count - 1] / total;
    if (!(share > kMostOfIt) || deviations[order[count - 1]] < kFarAbove * deviations[order[count]]) continue;
    DominatingColumns found{{order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count)}, share};
    std::ranges::sort(found.indices);
    return found;
  }
  return std::nullopt;
}

void warn_about_scales(std::span<const double> deviations, FunctionRef<std::string(std::size_t)> label_of,
                       Warnings& warnings) {
  const auto found = dominating_columns(deviations);
  if (!found) return;
  std::vector<std::string> names;
  for (const std::size_t index : found->indices) names.push_back(label_of(index));
  warn(warnings, WarningId::dominating_columns, fmt::format("{}", fmt::join(names, ", ")), 100.0 * found->share,
       deviations.size());
}

void warn_about_scales(const Pool& pool, std::span<const std::string> column_names, Warnings& warnings) {
  const std::size_t dim = pool.dim();
  if (dim < 2) return;
  // Deviations from the first row, in one pass; their squares may overflow, and then there is more to say than this.
  std::vector<double> sums(dim, 0.0);
  std::vector<double> squares(dim, 0.0);
  for (std::size_t i = 1; i < pool.size(); ++i) {
    for (std::size_t k = 0; k < dim; ++k) {
      const double deviation = pool.row(i)[k] - pool.row(0)[k];
      sums[k] += deviation;
      squares[k] += deviation * deviation;
    }
  }
  const auto n = static_cast<double>(pool.size());
  std::vector<double> deviations(dim);
  for (std::size_t k = 0; k < dim; ++k) deviations[k] = std::sqrt(std::max(0.0, squares[k] - sums[k] / n * sums[k]));
  if (!std::ranges::all_of(deviations, [](double s) { return std::isfinite(s); })) return;
  warn_about_scales(
      deviations, [&](std::size_t column) { return column_label(column_names, column); }, warnings);
}

void warn_about_scales(const SampleView& x, const SampleView& y, Warnings& warnings) {
  warn_about_scales({x.points, y.points}, names_of(x, y), warnings);
}

namespace {

double distance_between(std::span<const double> a, std::span<const double> b) {
  double squares = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) squares += (a[k] - b[k]) * (a[k] - b[k]);
  return std::sqrt(squares);
}

// How close rows of a sample are to each other: the distances from some of them to the nearest and second nearest
// other.
struct Closeness {
  double low = 0.0;        // a twentieth of the rows have a neighbour as close as this; 0 for data with many equal rows
  double dimension = 1.0;  // by how the number of neighbours grows with distance [Facco et al. 2017], at most d
};

Closeness closeness(const Pool& pool, Seed seed) {
  constexpr std::size_t kLookedAt = 1000;
  const Matrix<double> rows = subsample(pool, kLookedAt, seed, Purpose::bandwidth_subsample);
  const std::size_t n = rows.rows();
  if (n < 3) return {};
  std::vector<double> nearest(n, std::numeric_limits<double>::infinity());
  std::vector<double> second = nearest;
  const auto note = [&](std::size_t i, double distance) {
    if (distance < nearest[i]) {
      second[i] = std::exchange(nearest[i], distance);
    } else {
      second[i] = std::min(second[i], distance);
    }
  };
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double distance = distance_between(rows.row(i), rows.row(j));
      note(i, distance);
      note(j, distance);
    }
  }
  double logarithms = 0.0;
  for (std::size_t i = 0; i < n; ++i) logarithms += nearest[i] > 0.0 ? std::log(second[i] / nearest[i]) : 0.0;
  Closeness found;
  const auto d = static_cast<double>(pool.dim());
  found.dimension = logarithms > 0.0 ? std::clamp(static_cast<double>(n) / logarithms, 1.0, d) : d;
  std::ranges::nth_element(nearest, nearest.begin() + static_cast<std::ptrdiff_t>(n / 20));
  // All rows are closer together than those of the subsample.
  found.low =
      nearest[n / 20] * std::pow(static_cast<double>(n) / static_cast<double>(pool.size()), 1.0 / found.dimension);
  return found;
}

// The rows that are nearest to a point.
struct Nearest {
  double to_x = 0.0;
  double to_y = 0.0;
  std::vector<std::size_t> rows;  // of (X, Y), the nearest first; rows that are as near come in a random order
  std::vector<double> distances;  // to them
};

std::vector<Nearest> nearest_rows(const MatrixView<const double>& points, const SampleView& x, const SampleView& y,
                                  Seed seed, ThreadCount threads) {
  constexpr std::size_t kKept = 64;
  const std::size_t num_rows = x.size() + y.size();
  std::vector<Nearest> all(points.rows());
  parallel_for_blocks(points.rows(), 1, threads, [&](std::size_t p, std::size_t) {
    struct Row {
      double distance;
      std::uint64_t among_equal;
      std::size_t number;
      auto operator<=>(const Row&) const = default;
    };
    RandomStream stream(seed, Purpose::tie_break, p);
    std::vector<Row> rows(num_rows);
    for (std::size_t i = 0; i < num_rows; ++i) {
      if (i % 65536 == 0) stop_point();
      const auto row = i < x.size() ? x.points.row(i) : y.points.row(i - x.size());
      rows[i] = {distance_between(points.row(p), row), stream.bits64(), i};
    }
    const auto nearest_of = [](auto first, auto last) { return std::min_element(first, last)->distance; };
    const auto border = rows.begin() + static_cast<std::ptrdiff_t>(x.size());
    all[p].to_x = nearest_of(rows.begin(), border);
    all[p].to_y = nearest_of(border, rows.end());
    const auto kept = rows.begin() + static_cast<std::ptrdiff_t>(std::min(kKept, num_rows));
    std::partial_sort(rows.begin(), kept, rows.end());
    for (auto row = rows.begin(); row != kept; ++row) {
      all[p].rows.push_back(row->number);
      all[p].distances.push_back(row->distance);
    }
  });
  return all;
}

constexpr std::string_view kReferenceAdvice =
    "seen from rows of one sample the two differ even where their distributions do not; use " KQD_OPTION(
        "reference=pooled") ", which holds its rows out, or points from elsewhere";

// Points that are as good as rows of one sample: closer to one than a fresh point comes to any row with a probability
// of about 1e-4 for all of them together.
void refuse_rows_of_one_sample(std::span<const Nearest> nearest, const Closeness& close) {
  constexpr double kFalseAlarm = 1e-4;
  constexpr double kLowShare = 0.05;  // of the rows have a neighbour within close.low
  const double share = std::pow(kFalseAlarm / (kLowShare * static_cast<double>(nearest.size())), 1.0 / close.dimension);
  const double tolerance = std::min(0.5, share) * close.low;
  // Data with many equal rows have no such scale, and a point may well be one of their values.
  if (!(tolerance > 0.0)) return;
  const auto near_one = [&](double Nearest::*one, double Nearest::*other) {
    return std::ranges::count_if(nearest,
                                 [&](const Nearest& n) { return n.*one < tolerance && n.*other >= tolerance; });
  };
  const auto of_x = near_one(&Nearest::to_x, &Nearest::to_y);
  const auto of_y = near_one(&Nearest::to_y, &Nearest::to_x);
  if (of_x + of_y == 0) return;
  const bool more_x = of_x >= of_y;
  fail(ErrorCode::invalid_option,
       "{} of {} reference points are rows of {} and not of {}, or closer to them than {:.3g}: {}",
       more_x ? of_x : of_y, nearest.size(), more_x ? "X" : "Y", more_x ? "Y" : "X", tolerance, kReferenceAdvice);
}

// Are points much nearer to rows of a sample than these rows are to each other? In d dimensions the number of rows
// within a distance grows as its d-th power: of a point that is a row like any other, (distance to its nearest row /
// distance of that row to the next)^d is about 1.
bool much_nearer_than_its_rows(const MatrixView<const double>& points, const SampleView& sample, Seed seed) {
  constexpr double kMuchNearer = 0.05;
  if (sample.size() < 3) return false;
  const Closeness close = closeness({sample.points, MatrixView<const double>(nullptr, 0, sample.dim())}, seed);
  const auto nearest_to = [&](std::span<const double> point, std::size_t but) {
    std::size_t nearest = but == 0 ? 1 : 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < sample.size(); ++i) {
      if (i == but) continue;
      const double distance = distance_between(point, sample.points.row(i));
      if (distance >= least) continue;
      least = distance;
      nearest = i;
    }
    return std::pair{nearest, least};
  };
  std::vector<double> ratios;
  for (std::size_t p = 0; p < points.rows(); ++p) {
    stop_point();
    const auto [row, distance] = nearest_to(points.row(p), sample.size());
    const double next = nearest_to(sample.points.row(row), row).second;
    ratios.push_back(next > 0.0 ? std::pow(distance / next, close.dimension) : 1.0);
  }
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::ranges::nth_element(ratios, middle);
  return *middle < kMuchNearer;
}

// The p-value of "the points are as near to X as to Y", by permutations of the labels of the rows around them.
double closeness_pvalue(std::span<const Nearest> nearest, const SampleView& x, const SampleView& y, Seed seed) {
  constexpr std::size_t kPermutations = 9999;
  std::vector<std::size_t> rows;
  for (const Nearest& n : nearest) rows.insert(rows.end(), n.rows.begin(), n.rows.end());
  std::ranges::sort(rows);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  std::vector<std::vector<std::size_t>> places;  // in `rows`
  for (const Nearest& n : nearest) {
    places.emplace_back();
    for (const std::size_t row : n.rows) {
      places.back().push_back(static_cast<std::size_t>(std::ranges::lower_bound(rows, row) - rows.begin()));
    }
  }
  std::vector<bool> is_x(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) is_x[i] = rows[i] < x.size();
  const auto difference = [&] {
    double total = 0.0;
    for (std::size_t p = 0; p < nearest.size(); ++p) {
      const std::vector<double>& distances = nearest[p].distances;
      const auto first_of = [&](bool of_x) {
        for (std::size_t k = 0; k < distances.size(); ++k) {
          if (is_x[places[p][k]] == of_x) return distances[k];
        }
        return distances.back();
      };
      const double to_x = first_of(true);
      const double to_y = first_of(false);
      if (to_x + to_y > 0.0) total += (to_x - to_y) / (to_x + to_y);
    }
    return total;
  };
  const double observed = difference();
  const double slack = 1e-9 * static_cast<double>(nearest.size());
  std::size_t below = 1;
  std::size_t above = 1;
  RandomStream stream(seed, Purpose::tie_break, nearest.size());
  for (std::size_t b = 0; b < kPermutations; ++b) {
    std::size_t left_x = x.size();
    std::size_t left = x.size() + y.size();
    for (std::size_t i = 0; i < rows.size(); ++i, --left) {
      is_x[i] = stream.below(left) < left_x;
      if (is_x[i]) --left_x;
    }
    const double value = difference();
    if (value <= observed + slack) ++below;
    if (value >= observed - slack) ++above;
  }
  return 2.0 * static_cast<double>(std::min(below, above)) / static_cast<double>(kPermutations + 1);
}

// Points made of rows of one sample, such as averages of two, are nearer to it than to the other, and much nearer than
// its rows are to each other; those of a distribution like its own are not.
void refuse_points_made_of_one_sample(const MatrixView<const double>& points, std::span<const Nearest> nearest,
                                      const SampleView& x, const SampleView& y, Seed seed) {
  constexpr double kByChance = 7e-4;
  const bool near_x = much_nearer_than_its_rows(points, x, seed);
  if (!near_x && !much_nearer_than_its_rows(points, y, seed)) return;
  const double pvalue = closeness_pvalue(nearest, x, y, seed);
  if (pvalue > kByChance) return;
  fail(ErrorCode::invalid_option,
       "the {} reference points seem to be made of rows of {}: they are much nearer to its rows than these are to each "
       "other, and than to the other sample (p = {:.1g} for points from elsewhere): {}",
       points.rows(), near_x ? "X" : "Y", pvalue, kReferenceAdvice);
}

}  // namespace

void check_reference_points(const MatrixView<const double>& points, const SampleView& x, const SampleView& y, Seed seed,
                            ThreadCount threads) {
  if (points.rows() == 0 || points.cols() != x.dim()) return;
  const std::vector<Nearest> nearest = nearest_rows(points, x, y, seed, threads);
  refuse_rows_of_one_sample(nearest, closeness({x.points, y.points}, seed));
  refuse_points_made_of_one_sample(points, nearest, x, y, seed);
}

void warn_about_copies(const SampleView& sample, std::string_view name, Warnings& warnings) {
  constexpr std::size_t kFewestDifferent = 10;
  constexpr double kMostOfThem = 0.9;
  std::vector<std::uint64_t> hashes(sample.size());
  for (std::size_t i = 0; i < sample.size(); ++i) {
    std::uint64_t hash = 0;
    for (const double value : sample.points.row(i)) {  // the rounds of SplitMix64
      hash += std::bit_cast<std::uint64_t>(value + 0.0) + 0x9e3779b97f4a7c15ULL;
      hash = (hash ^ (hash >> 30U)) * 0xbf58476d1ce4e5b9ULL;
      hash = (hash ^ (hash >> 27U)) * 0x94d049bb133111ebULL;
      hash ^= hash >> 31U;
    }
    hashes[i] = hash;
  }
  std::ranges::sort(hashes);
  std::map<std::size_t, std::size_t> rows_by_count;
  for (auto first = hashes.begin(); first != hashes.end();) {
    const auto last = std::upper_bound(first, hashes.end(), *first);
    ++rows_by_count[static_cast<std::size_t>(last - first)];
    first = last;
  }
  std::size_t different = 0;
  std::pair<std::size_t, std::size_t> usual;  // count, and how many rows have it
  for (const auto& [count, rows] : rows_by_count) {
    different += rows;
    if (rows > usual.second) usual = {count, rows};
  }
  const bool most = static_cast<double>(usual.second) >= kMostOfThem * static_cast<double>(different);
  if (different < kFewestDifferent || usual.first < 2 || !most) return;
  warn(warnings, WarningId::copied_rows, name, usual.second, different, usual.first);
}

void warn_about_pool(const Pool& pool, std::span<const std::string> column_names, Warnings& warnings) {
  if (squares_underflow(pool)) {
    warn(warnings, WarningId::squares_underflow);
  }
  std::vector<std::string> constant;
  for (std::size_t k = 0; k < pool.dim(); ++k) {
    std::size_t i = 1;
    while (i < pool.size() && pool.row(i)[k] == pool.row(0)[k]) ++i;
    if (i == pool.size() && pool.size() > 1) constant.push_back(column_label(column_names, k));
  }
  if (constant.empty()) return;
  if (constant.size() == pool.dim()) {
    warn(warnings, WarningId::identical_points, pool.size());
    return;
  }
  const std::size_t shown = std::min<std::size_t>(constant.size(), 10);
  const std::string list =
      fmt::format("{}{}", fmt::join(constant.begin(), constant.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                  constant.size() > shown ? ", ..." : "");
  warn(warnings, WarningId::constant_columns, constant.size(), pool.dim(), list);
}

}  // namespace kqd
