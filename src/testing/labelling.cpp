#include "kqd/testing/labelling.hpp"

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

LabellingSource::LabellingSource(const Design& design, SampleSizes sizes, std::span<const std::size_t> row_order,
                                 Seed seed)
    : exchange_(std::make_unique<const Exchange>(make_exchange(design, sizes, row_order))),
      num_rows_(row_order.size()),
      num_labellings_(count_labellings(exchange_->strata)),
      seed_(seed) {}

LabellingSource::~LabellingSource() = default;
LabellingSource::LabellingSource(LabellingSource&&) noexcept = default;
LabellingSource& LabellingSource::operator=(LabellingSource&&) noexcept = default;

const std::vector<std::string>& LabellingSource::warnings() const {
  return exchange_->warnings;
}

void LabellingSource::fill(LabellingMode mode, std::uint64_t batch_number, unsigned count, LabelBatch& batch) const {
  KQD_ASSERT(count >= 1 && count <= LabelBatch::kCapacity);
  const bool unit_is_position = exchange_->unit_of_position.empty();
  batch.words.resize(num_rows_);
  batch.count = count;
  std::vector<std::uint64_t> storage(unit_is_position ? 0 : exchange_->observed_is_x.size());
  const auto units = std::span(unit_is_position ? batch.words : storage);
  if (mode == LabellingMode::random) {
    // All 64 are drawn even when fewer are asked for: a labelling depends on its number alone.
    draw_all_strata(*exchange_, RandomStream(seed_, Purpose::labellings, batch_number), units);
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
