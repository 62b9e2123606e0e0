#include "kqd/profile/sources.hpp"

#include <algorithm>
#include <utility>

#include "core/fail.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

constexpr std::uint64_t kKeyOfSources = 0xbe5466cf34e90c6cULL;

// The folders of a path.
std::vector<std::string_view> folders_of(std::string_view path) {
  std::vector<std::string_view> parts = split(path, '/');
  parts.pop_back();
  return parts;
}

}  // namespace

SampleSources::SampleSources(std::vector<RowSource> sources) : sources_(std::move(sources)) {
  std::ranges::sort(sources_);
  std::uint64_t id = kKeyOfSources;
  for (std::size_t k = 0; k < sources_.size(); ++k) {
    const auto& [name, num_bytes, num_rows] = sources_[k];
    if (name.empty() || name.size() > kLongestSourceName) {
      fail(ErrorCode::invalid_option, "a part of a sample has a name of {} bytes, expected 1 to {}", name.size(),
           kLongestSourceName);
    }
    if (k > 0 && sources_[k - 1].name == name) {
      fail(ErrorCode::invalid_option, "two parts of a sample are named {}, expected different names", in_quotes(name));
    }
    id = mix(mix(hash_bytes(name, id), num_bytes), num_rows);
    first_rows_.push_back(extent_.num_rows);
    if (__builtin_add_overflow(extent_.num_rows, num_rows, &extent_.num_rows)) {
      fail(ErrorCode::invalid_option, "the sample has more than 2^64 rows");
    }
  }
  if (extent_.num_rows == 0) fail(ErrorCode::empty_sample, "the sample has no rows, expected at least one");
  extent_.id = id;
}

std::uint64_t SampleSources::first_row(std::string_view name) const {
  const auto found = std::ranges::lower_bound(sources_, name, {}, &RowSource::name);
  if (found == sources_.end() || found->name != name) {
    fail(ErrorCode::invalid_option, "the sample has no part named {}", in_quotes(name));
  }
  return first_rows_[static_cast<std::size_t>(found - sources_.begin())];
}

std::vector<std::string> source_names(const std::vector<std::string>& paths) {
  if (paths.empty()) return {};
  std::vector<std::string_view> common = folders_of(paths.front());
  for (const std::string& path : paths) {
    const std::vector<std::string_view> folders = folders_of(path);
    const auto differ = std::ranges::mismatch(common, folders);
    common.erase(differ.in1, common.end());
  }
  const std::size_t num_kept = common.empty() || common.back().empty() ? 0 : 1;  // the root has no name
  std::vector<std::string> names;
  for (const std::string& path : paths) {
    std::string_view rest = path;
    for (std::size_t k = num_kept; k < common.size(); ++k) rest.remove_prefix(rest.find('/') + 1);
    names.emplace_back(rest);
  }
  return names;
}

}  // namespace kqd
