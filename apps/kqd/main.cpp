#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "flags.hpp"
#include "run.hpp"

namespace kqd::app {
namespace {

enum ExitCode { kDone = 0, kUsage = 2, kOurFault = 3, kResourceLimit = 4, kInterrupted = 130 };

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::resource_limit:
      return kResourceLimit;
    case ErrorCode::internal:
      return kOurFault;
    case ErrorCode::interrupted:
      return kInterrupted;  // what a shell expects after Ctrl-C
    default:
      return kUsage;
  }
}

std::string version_text() {
  return fmt::format("kqd {} ({}, {})", kVersion, simd_name(), blas_name());
}

int run(int argc, char** argv) {
  CLI::App program("kqd compares two samples: are they from the same distribution, how far apart are they?", "kqd");
  program.set_version_flag("--version", version_text);
  program.require_subcommand(1);
  program.footer("Examples:\n  kqd test old.csv new.csv\n  kqd distance old.csv new.csv\n  kqd methods ekqd");
  int code = kDone;

  Flags flags;
  CLI::App* const test = program.add_subcommand("test", "are two samples from the same distribution?");
  add_comparison_flags(*test, flags);
  add_test_flags(*test, flags);
  test->footer(
      "Examples:\n  kqd test old.csv new.csv\n  kqd test before.csv after.csv --design paired --permutations 9999\n"
      "  kqd test a.npy b.npy --method mmd --json --exit-code");
  test->callback([&] { code = run_test(flags); });

  CLI::App* const distance = program.add_subcommand("distance", "how far apart two samples are");
  add_comparison_flags(*distance, flags);
  distance->footer(
      "Examples:\n  kqd distance old.csv new.csv\n  kqd distance a.npy b.npy --power 2 --weighting triangle\n"
      "  kqd distance a.csv b.csv --kernel linear --directions linear   # sliced Wasserstein");
  distance->callback([&] { code = run_distance(flags); });

  std::string id;
  CLI::App* const list = program.add_subcommand("methods", "the methods, or one of them explained");
  list->add_option("ID", id, "the method to explain");
  list->callback([&] { code = run_methods(id); });

  SampleFlags sample_flags;
  CLI::App* const sample = program.add_subcommand("sample", "write two samples of known laws");
  add_sample_flags(*sample, sample_flags);
  sample->footer(
      "Examples:\n  kqd sample list\n  kqd sample power-decay -n 200 -d 64 --seed 1 -o x.csv y.csv\n"
      "  kqd sample mixture --set sd=1.6 -o x.npy y.npy");
  sample->callback([&] { code = run_sample(sample_flags); });

  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? kDone : kUsage;
  }
  return code;
}

}  // namespace
}  // namespace kqd::app

int main(int argc, char** argv) {
  try {
    return kqd::app::run(argc, argv);
  } catch (const kqd::Error& error) {
    fmt::print(stderr, "kqd: {}\n", error.what());
    return kqd::app::exit_code(error.code());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "kqd: out of memory\n");
    return kqd::app::kResourceLimit;
  } catch (const std::exception& error) {
    fmt::print(stderr, "kqd: internal error: {}\n", error.what());
    return kqd::app::kOurFault;
  }
}
