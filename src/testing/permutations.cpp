#include "kqd/testing/permutations.hpp"

#include <algorithm>

#include "core/fail.hpp"
#include "core/random.hpp"
#include "testing/enumeration.hpp"
#include "testing/exchange.hpp"
#include "testing/random_labels.hpp"

namespace kqd {
namespace {

void draw_all_strata(const Exchange& exchange, RandomStream stream, std::span<std::uint64_t> units) {
  for (const Stratum& stratum : exchange.strata) {
    draw_labels(stratum.num_x, units.subspan(stratum.first, stratum.size), stream);
  }
}

void put_observed_first(const Exchange& exchange, std::span<std::uint64_t> units) {
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    units[unit] = (units[unit] & ~std::uint64_t{1}) | exchange.observed_is_x[unit];
  }
}

void set_num_x(const Exchange& exchange, LabelBatch& batch) {
  batch.num_x.fill(0);
  if (!exchange.units_are_rows) {
    batch.num_x = count_bits_by_column(batch.words);
    return;
  }
  std::size_t num_x = 0;
  for (const Stratum& stratum : exchange.strata) num_x += stratum.num_x;
  std::fill_n(batch.num_x.begin(), batch.count, num_x);
}

}  // namespace

PermutationSource::PermutationSource(const Design& design, SampleSizes sizes, std::span<const std::size_t> row_order,
                                     Seed seed)
    : exchange_(std::make_unique<const Exchange>(make_exchange(design, sizes, row_order))),
      num_rows_(row_order.size()),
      permutation_count_(count_permutations(exchange_->strata)),
      seed_(seed) {}

PermutationSource::~PermutationSource() = default;
PermutationSource::PermutationSource(PermutationSource&&) noexcept = default;
PermutationSource& PermutationSource::operator=(PermutationSource&&) noexcept = default;

const Warnings& PermutationSource::warnings() const {
  return exchange_->warnings;
}

void PermutationSource::fill(PermutationMode mode, std::uint64_t batch_number, unsigned count,
                             LabelBatch& batch) const {
  KQD_ASSERT(count >= 1 && count <= LabelBatch::kCapacity);
  const bool unit_is_position = exchange_->unit_of_position.empty();
  batch.words.resize(num_rows_);
  batch.count = count;
  std::vector<std::uint64_t> storage(unit_is_position ? 0 : exchange_->observed_is_x.size());
  const auto units = std::span(unit_is_position ? batch.words : storage);
  if (mode == PermutationMode::random) {
    // All 64 are drawn even when fewer are requested: a permutation depends on its number only.
    draw_all_strata(*exchange_, RandomStream(seed_, Purpose::permutations, batch_number), units);
    if (batch_number == 0) put_observed_first(*exchange_, units);
  } else {
    enumerate_labels(*exchange_, batch_number * LabelBatch::kCapacity, count, units);
  }
  if (count < LabelBatch::kCapacity) {
    const std::uint64_t in_use = (std::uint64_t{1} << count) - 1;
    for (std::uint64_t& word : units) word &= in_use;
  }
  if (!unit_is_position) {
    std::ranges::transform(exchange_->unit_of_position, batch.words.begin(),
                           [&](std::size_t unit) { return units[unit]; });
  }
  set_num_x(*exchange_, batch);
}

}  // namespace kqd
