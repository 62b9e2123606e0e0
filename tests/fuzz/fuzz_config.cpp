// Any bytes as a config file: entries come out, or one sentence that names the file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "config_file.hpp"
#include "kqd/core/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    for (const kqd::app::ConfigTable& table : kqd::app::parse_config(text, "kqd.toml")) {
      if (table.command.empty() != (table.line == 0)) std::abort();
      for (const kqd::app::ConfigEntry& entry : table.entries) {
        if (entry.line <= table.line || (entry.is_bool && entry.values.size() != 1)) std::abort();
      }
    }
  } catch (const kqd::Error& error) {
    const std::string sentence = error.what();
    if (error.code() != kqd::ErrorCode::unreadable_input || !sentence.starts_with("kqd.toml:")) std::abort();
  }
  return 0;
}
