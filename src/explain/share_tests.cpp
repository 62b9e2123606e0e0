#include "explain/share_tests.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/executor.hpp"
#include "core/summation.hpp"
#include "testing/permutation_run.hpp"
#include "testing/sequential.hpp"

namespace kqd {
namespace {

// Two evaluations of chi-square from the same counts differ by rounding only: a few eps per level.
constexpr double kRelativeSlack = 1e-9;
constexpr std::size_t kBatchesAtATime = 8;

// The counts of a category and the state of its sequential test.
class Category {
 public:
  Category(const std::vector<std::uint16_t>& codes, std::size_t num_levels, std::span<const double> weights,
           std::unique_ptr<SequentialTest> test)
      : rows_{codes, num_levels, {weights.begin(), weights.end()}}, totals_(rows_.totals()), test_(std::move(test)) {
    total_ = sum(totals_);
    num_present_ = static_cast<std::size_t>(std::ranges::count_if(totals_, [](double t) { return t > 0.0; }));
  }

  [[nodiscard]] bool is_done() const { return is_done_ || (has_observed_ && num_present_ < 2); }

  void add(const LabelBatch& batch) {
    const Matrix<double> of_x = sums_of_x(rows_, batch);
    for (unsigned b = 0; b < batch.count && !is_done_; ++b) {
      const double value = chi_square(of_x, b);
      if (has_observed_) {
        is_done_ = test_->add(value >= threshold_);
        continue;
      }
      has_observed_ = true;
      observed_ = value;
      threshold_ = value - kRelativeSlack * value;
      for (std::size_t l = 0; l < rows_.count; ++l) {
        x_.push_back(of_x(l, b));
        y_.push_back(totals_[l] - of_x(l, b));
      }
    }
  }

  [[nodiscard]] ShareTest result() const {
    ShareTest found;
    if (num_present_ >= 2) {
      found.pvalue = test_->pvalue();
      found.score = std::sqrt(observed_ / static_cast<double>(num_present_ - 1));
    }
    const auto shares = [&](const std::vector<double>& counts) {
      std::vector<double> parts = counts;
      const double all = sum(counts);
      for (double& part : parts) part = all > 0.0 ? part / all : 0.0;
      return parts;
    };
    found.x = shares(x_);
    found.y = shares(y_);
    found.pooled = shares(totals_);
    return found;
  }

 private:
  [[nodiscard]] double chi_square(const Matrix<double>& of_x, unsigned b) const {
    double weight_x = 0.0;
    for (std::size_t l = 0; l < rows_.count; ++l) weight_x += of_x(l, b);
    const double weight_y = total_ - weight_x;
    if (!(weight_x > 0.0 && weight_y > 0.0)) return 0.0;
    double value = 0.0;
    for (std::size_t l = 0; l < rows_.count; ++l) {
      if (!(totals_[l] > 0.0)) continue;
      const double gap = of_x(l, b) / weight_x - (totals_[l] - of_x(l, b)) / weight_y;
      value += gap * gap / (totals_[l] / total_);
    }
    return value * weight_x * weight_y / total_;
  }

  RowCells rows_;
  std::vector<double> totals_;
  std::unique_ptr<SequentialTest> test_;
  double total_ = 0.0;
  std::size_t num_present_ = 0;
  bool has_observed_ = false;
  bool is_done_ = false;
  double observed_ = 0.0;
  double threshold_ = 0.0;
  std::vector<double> x_;
  std::vector<double> y_;
};

}  // namespace

double ShareTest::total_variation() const {
  double distance = 0.0;
  for (std::size_t l = 0; l < x.size(); ++l) distance += 0.5 * std::abs(y[l] - x[l]);
  return distance;
}

double ShareTest::cohens_w() const {
  double squares = 0.0;
  for (std::size_t l = 0; l < x.size(); ++l) {
    if (pooled[l] > 0.0) squares += (y[l] - x[l]) * (y[l] - x[l]) / pooled[l];
  }
  return std::sqrt(squares);
}

std::vector<ShareTest> test_shares(std::span<const std::vector<std::uint16_t>> codes,
                                   std::span<const std::size_t> num_levels, const PermutationSource& source,
                                   const DirectionTestOptions& options) {
  std::vector<ShareTest> results;
  if (codes.empty()) return results;
  PermutationRun run = direction_permutations(source, options);
  std::vector<Category> categories;
  for (std::size_t k = 0; k < codes.size(); ++k) {
    categories.emplace_back(codes[k], num_levels[k], options.weights, direction_stopping(run));
  }
  while (run.num_done() < run.permutation_count() && !std::ranges::all_of(categories, &Category::is_done)) {
    stop_point();
    const auto batches = run.next(kBatchesAtATime, options.threads);
    parallel_for_blocks(categories.size(), 1, options.threads, [&](std::size_t k, std::size_t) {
      for (const LabelBatch& batch : batches) {
        if (!categories[k].is_done()) categories[k].add(batch);
      }
    });
  }
  for (const Category& category : categories) results.push_back(category.result());
  return results;
}

}  // namespace kqd
