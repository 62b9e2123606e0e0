#include "metrics/mean/monk.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/executor.hpp"
#include "core/random.hpp"
#include "metrics/mean/mean_embedding.hpp"

namespace kqd {
namespace {

// The rows of both samples in random order, cut into blocks. Samples of equal size are cut alike, pair by pair.
class Partition {
 public:
  Partition(std::span<const std::size_t> x, std::span<const std::size_t> y, const MonkOptions& options,
            std::size_t number)
      : num_blocks_(options.num_blocks) {
    x_ = shuffled(x, options.seed, 2 * number);
    y_ = shuffled(y, options.seed, x.size() == y.size() ? 2 * number : 2 * number + 1);
  }

  [[nodiscard]] std::span<const std::size_t> x(std::size_t q) const { return block(x_, q); }
  [[nodiscard]] std::span<const std::size_t> y(std::size_t q) const { return block(y_, q); }

 private:
  static std::vector<std::size_t> shuffled(std::span<const std::size_t> rows, Seed seed, std::size_t index) {
    RandomStream stream(seed, Purpose::partition, index);
    std::vector<std::size_t> order = sample_without_replacement(rows.size(), rows.size(), stream);
    for (std::size_t& place : order) place = rows[place];
    return order;
  }
  [[nodiscard]] std::span<const std::size_t> block(std::span<const std::size_t> rows, std::size_t q) const {
    const std::size_t begin = q * rows.size() / num_blocks_;
    return rows.subspan(begin, (q + 1) * rows.size() / num_blocks_ - begin);
  }

  std::size_t num_blocks_;
  std::vector<std::size_t> x_;
  std::vector<std::size_t> y_;
};

// The sums of the Gram matrix of a block. l is +1/|X| on its rows of X and -1/|Y| on those of Y.
struct BlockForms {
  double difference = 0.0;  // l' K l = MMD_V^2 of the block
  double cross = 0.0;       // l' K 1
  double total = 0.0;       // 1' K 1
  double jitter = 0.0;      // what the jitter adds to l' K l
};

std::vector<BlockForms> forms_of_blocks(const Kernel& kernel, const Pool& pool, const Partition& partition,
                                        const MonkOptions& options, ThreadCount threads) {
  std::vector<BlockForms> forms(options.num_blocks);
  parallel_for_blocks(forms.size(), 1, threads, [&](std::size_t q, std::size_t) {
    const Matrix<double> x = gather(pool, partition.x(q));
    const Matrix<double> y = gather(pool, partition.y(q));
    const MeanProducts mean = mean_products(kernel, {x, {}}, {y, {}}, ThreadCount{1});
    const auto nx = static_cast<double>(x.rows());
    const auto ny = static_cast<double>(y.rows());
    forms[q] = {.difference = std::max(0.0, (mean.xx - mean.xy) + (mean.yy - mean.xy)),
                .cross = (nx * mean.xx + ny * mean.xy) - (nx * mean.xy + ny * mean.yy),
                .total = nx * nx * mean.xx + 2.0 * nx * ny * mean.xy + ny * ny * mean.yy + options.jitter * (nx + ny),
                .jitter = options.jitter * (1.0 / nx + 1.0 / ny)};
  });
  return forms;
}

// The index of the median of an odd number of values; the first of equal values counts as smaller.
std::size_t median_place(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
  std::ranges::nth_element(order, middle, [&](std::size_t a, std::size_t b) {
    return values[a] != values[b] ? values[a] < values[b] : a < b;
  });
  return *middle;
}

double step_length(const MonkOptions& options, std::size_t t) {
  return 1.0 / (1.0 + options.beta * static_cast<double>(t));
}

double inverse_norm(double squared) {
  return squared > 0.0 ? 1.0 / std::sqrt(squared) : 0.0;
}

double block_median(const Kernel& kernel, const Pool& pool, std::span<const std::size_t> x,
                    std::span<const std::size_t> y, const MonkOptions& options, ThreadCount threads) {
  std::vector<double> values;
  for (const BlockForms& form : forms_of_blocks(kernel, pool, Partition(x, y, options, 0), options, threads)) {
    values.push_back(std::sqrt(form.difference));
  }
  return values[median_place(values)];
}

// Coefficients start constant and move towards l of their own block only, so those of block q are alpha_q 1 + beta_q l
// at all times: the iteration needs three numbers per block and partition, no vectors. They are kept when the blocks
// are drawn again. The value is that after the last step (erratum 32: the authors' code returns the one before).
double bcd_fast(const Kernel& kernel, const Pool& pool, std::span<const std::size_t> x, std::span<const std::size_t> y,
                const MonkOptions& options, ThreadCount threads) {
  std::size_t num_drawn = 0;
  const auto draw = [&] {
    return forms_of_blocks(kernel, pool, Partition(x, y, options, num_drawn++), options, threads);
  };
  std::vector<BlockForms> forms = draw();
  std::vector<double> alpha;
  for (const BlockForms& form : forms) alpha.push_back(inverse_norm(form.total));
  std::vector<double> beta(forms.size(), 0.0);
  std::vector<double> gains(forms.size());  // mean f(x) - mean f(y) per block
  const auto measure = [&] {
    for (std::size_t q = 0; q < forms.size(); ++q) {
      gains[q] = alpha[q] * forms[q].cross + beta[q] * (forms[q].difference + forms[q].jitter);
    }
    return median_place(gains);
  };
  const std::size_t num_left = options.iterations > options.stall ? options.iterations - options.stall : 0;
  const std::size_t period = options.reshuffles > 1 ? std::max<std::size_t>(1, num_left / (options.reshuffles - 1)) : 0;
  for (std::size_t t = 0; t < options.iterations; ++t) {
    if (period > 0 && t > options.stall && (t - options.stall) % period == 0 && num_drawn < options.reshuffles) {
      forms = draw();
    }
    const std::size_t median = measure();
    const double step = step_length(options, t);
    const BlockForms& form = forms[median];
    alpha[median] *= 1.0 - step;
    beta[median] += step * (inverse_norm(form.difference + form.jitter) - beta[median]);
  }
  return gains[measure()];
}

double bcd(MatrixView<const double> gram, std::span<const std::size_t> x, std::span<const std::size_t> y,
           const MonkOptions& options) {
  const std::size_t n = gram.rows();
  // c starts constant on the rows of both samples; only K c is ever needed.
  std::vector<double> values(n, 0.0);  // f = K c at every row
  double total = options.jitter * static_cast<double>(x.size() + y.size());
  for (const auto& sample : {x, y}) {
    for (const std::size_t i : sample) {
      for (std::size_t j = 0; j < n; ++j) values[j] += gram(i, j);
      values[i] += options.jitter;
    }
  }
  for (const auto& sample : {x, y}) {
    for (const std::size_t i : sample) total += values[i] - options.jitter;
  }
  for (double& v : values) v *= inverse_norm(total);

  const auto mean_over = [](std::span<const std::size_t> rows, std::span<const double> of) {
    double sum = 0.0;
    for (const std::size_t i : rows) sum += of[i];
    return sum / static_cast<double>(rows.size());
  };
  std::vector<double> gains(options.num_blocks);
  const auto measure = [&](const Partition& partition) {
    for (std::size_t q = 0; q < gains.size(); ++q) {
      gains[q] = mean_over(partition.x(q), values) - mean_over(partition.y(q), values);
    }
    return median_place(gains);
  };
  std::vector<double> witness(n);  // K l of the median block
  double value = 0.0;
  for (std::size_t t = 0; t < options.iterations; ++t) {
    const Partition partition(x, y, options, t);
    const std::size_t median = measure(partition);
    std::ranges::fill(witness, 0.0);
    const auto add = [&](std::span<const std::size_t> rows, double sign) {
      const double share = sign / static_cast<double>(rows.size());
      for (const std::size_t i : rows) {
        const auto row = gram.row(i);
        for (std::size_t j = 0; j < n; ++j) witness[j] += share * row[j];
        witness[i] += share * options.jitter;
      }
    };
    add(partition.x(median), 1.0);
    add(partition.y(median), -1.0);
    const double norm = mean_over(partition.x(median), witness) - mean_over(partition.y(median), witness);
    const double step = step_length(options, t);
    const double scale = inverse_norm(norm);
    for (std::size_t j = 0; j < n; ++j) values[j] += step * (scale * witness[j] - values[j]);
    if (t + 1 == options.iterations) value = gains[measure(partition)];
  }
  return value;
}

}  // namespace

double monk(const Kernel& kernel, const Pool& pool, std::span<const std::size_t> x, std::span<const std::size_t> y,
            MatrixView<const double> gram, const MonkOptions& options, ThreadCount threads) {
  switch (options.form) {
    case MonkForm::block_median:
      return block_median(kernel, pool, x, y, options, threads);
    case MonkForm::bcd_fast:
      return bcd_fast(kernel, pool, x, y, options, threads);
    case MonkForm::bcd:
      break;
  }
  return bcd(gram, x, y, options);
}

}  // namespace kqd
