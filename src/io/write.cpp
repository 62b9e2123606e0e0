#include "kqd/io/write.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "core/fail.hpp"
#include "core/text.hpp"

namespace kqd {
namespace {

// One format: the suffix it is known by, and the way to a file.
struct Writer {
  std::string_view suffix;
  void (*write)(const std::string& path, const Sample& sample);
};

// In the order in which messages list them.
constexpr std::array<Writer, 3> kWriters = {{
    {".csv", [](const std::string& path, const Sample& sample) { write_csv(path, sample); }},
    {".tsv", [](const std::string& path, const Sample& sample) { write_csv(path, sample, '\t'); }},
    {".npy", write_npy},
}};

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

}  // namespace

void write_sample(const std::string& path, const Sample& sample) {
  const std::string suffix = lower_case(std::filesystem::path(path).extension().string());
  const auto* const writer = std::ranges::find(kWriters, suffix, &Writer::suffix);
  if (writer != kWriters.end()) return writer->write(path, sample);
  std::array<std::string_view, kWriters.size()> known;
  std::ranges::transform(kWriters, known.begin(), &Writer::suffix);
  fail(ErrorCode::invalid_option, "{}: the suffix \"{}\" names no format to write, expected one of {}", path, suffix,
       join(known));
}

}  // namespace kqd
