#include "kqd/io/write.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"
#include "io/output_file.hpp"
#include "io/text.hpp"

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

}  // namespace

void write_text(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

void require_writable(const std::string& path) {
  const OutputFile file(path);
}

void write_sample(const std::string& path, const Sample& sample, const RunControl* control) {
  const StopScope stoppable(control);
  const ProgressScope progress(control, "writing");
  const auto* const writer =
      std::ranges::find_if(kWriters, [&](const Writer& w) { return has_suffix(path, w.suffix); });
  if (writer != kWriters.end()) return writer->write(path, sample);
  std::array<std::string_view, kWriters.size()> known;
  std::ranges::transform(kWriters, known.begin(), &Writer::suffix);
  fail(ErrorCode::unwritable_output,
       {.value = fmt::format("cannot write {}: its suffix names no format", printable(path)),
        .expected = fmt::format("one of {}", join(known))});
}

}  // namespace kqd
