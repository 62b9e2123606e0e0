#pragma once
#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace kqd {

/// How often each sentence was said, over many pairs of samples.
class SentenceCounts {
 public:
  void add(const std::vector<std::string>& sentences) {
    for (const std::string& sentence : sentences) ++counts_[sentence];
  }

  /// "sentence (3 of 10 pairs)" for each.
  void append_to(std::vector<std::string>& warnings, std::size_t num_pairs) const {
    for (const auto& [sentence, count] : counts_) {
      warnings.push_back(fmt::format("{} ({} of {} pairs)", sentence, count, num_pairs));
    }
  }

 private:
  std::map<std::string, std::size_t> counts_;
};

}  // namespace kqd
