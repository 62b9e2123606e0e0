// Any bytes as a config file: CLI11's reader gives items, and their options are set or refused in one sentence.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "config.hpp"
#include "kqd/core/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path = "/tmp/kqd-fuzz-" + std::to_string(::getpid()) + ".toml";
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  CLI::App program;
  CLI::App* const command = program.add_subcommand("test");
  command->add_flag("--json");
  command->add_option("--seed")->take_last();
  try {
    static_cast<void>(kqd::app::apply_config(path, program, *command));
  } catch (const kqd::Error& error) {
    if (!error.parts().place.starts_with(path)) std::abort();  // a line may follow
  }
  return 0;
}
