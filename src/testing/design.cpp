#include "kqd/testing/design.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/fail.hpp"
#include "core/names.hpp"

namespace kqd {
namespace {

constexpr std::array<Name<WeightsAs>, 3> kWeightsAs = {{
    {WeightsAs::frequency, "frequency"},
    {WeightsAs::precision, "precision"},
    {WeightsAs::sampling, "sampling"},
}};

}  // namespace

WeightsAs parse_weights_as(std::string_view text) {
  return value_of(kWeightsAs, text, "weights_as");
}

std::string to_string(WeightsAs weights_as) {
  return weights_as == WeightsAs::checked ? "checked" : std::string(name_of(kWeightsAs, weights_as));
}

std::string to_string(DesignKind kind) {
  switch (kind) {
    case DesignKind::independent:
      return "independent";
    case DesignKind::paired:
      return "paired";
    case DesignKind::blocks:
      return "blocks";
    case DesignKind::clusters:
      return "clusters";
  }
  return "";
}

Design Design::blocks(std::vector<std::int64_t> block_of_row) {
  return {DesignKind::blocks, std::move(block_of_row)};
}

Design Design::clusters(std::vector<std::int64_t> cluster_of_row) {
  return {DesignKind::clusters, std::move(cluster_of_row)};
}

void validate(const Design& design, SampleSizes sizes) {
  const bool needs_ids = design.kind == DesignKind::blocks || design.kind == DesignKind::clusters;
  const std::size_t num_needed = needs_ids ? sizes.total() : 0;
  if (design.group_ids.size() != num_needed) {
    fail(ErrorCode::shape_mismatch, "{} ids of blocks or clusters for {} rows of X and {} of Y, needs {}",
         design.group_ids.size(), sizes.x, sizes.y, num_needed);
  }
  if (design.kind == DesignKind::paired && sizes.x != sizes.y) {
    fail(ErrorCode::shape_mismatch, "paired design: X has {} rows and Y has {}, needs equal numbers", sizes.x, sizes.y);
  }
}

std::vector<std::size_t> whole_units(const Design& design, SampleSizes sizes, std::span<const std::size_t> rows) {
  validate(design, sizes);
  for (const std::size_t row : rows) {
    if (row >= sizes.total()) fail(ErrorCode::shape_mismatch, "row {} of a pool of {} rows", row, sizes.total());
  }
  std::vector<std::size_t> expanded(rows.begin(), rows.end());
  if (design.kind == DesignKind::paired) {
    for (const std::size_t row : rows) expanded.push_back(row < sizes.x ? row + sizes.x : row - sizes.x);
  } else if (design.kind == DesignKind::clusters) {
    std::vector<std::int64_t> wanted;
    for (const std::size_t row : rows) wanted.push_back(design.group_ids[row]);
    std::ranges::sort(wanted);
    for (std::size_t row = 0; row < sizes.total(); ++row) {
      if (std::ranges::binary_search(wanted, design.group_ids[row])) expanded.push_back(row);
    }
  }
  std::ranges::sort(expanded);
  expanded.erase(std::unique(expanded.begin(), expanded.end()), expanded.end());
  return expanded;
}

}  // namespace kqd
