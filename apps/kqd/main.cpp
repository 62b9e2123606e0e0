#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <exception>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>

#include "flags.hpp"
#include "output.hpp"
#include "run.hpp"
#include "usage.hpp"

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

// Said once the method is known: a flag that changes nothing should not look as if it did.
void note_unused(const CLI::App& command, const Flags& flags) {
  if (flags.quiet) return;
  for (const std::string& flag : unused_flags(command, find_method(flags.method))) {
    note(fmt::format("{} has no effect on method {}", flag, flags.method));
  }
}

// Two files, one that a column splits, or an archive of both.
void check_files(const CLI::App& command, Flags& flags) {
  if (flags.group.empty() && command.count("Y") == 0) {
    const auto both = samples_within(flags.x);
    if (!both) throw CLI::RequiredError("Y");
    std::tie(flags.x, flags.y) = *both;
  }
  if (command.count("Y") > 0 && !flags.group.empty()) {
    throw Error(ErrorCode::invalid_option,
                fmt::format("--group {} takes both samples from one file, but a second one is given: {}", flags.group,
                            flags.y));
  }
}

int run(int argc, char** argv) {
  CLI::App program("kqd compares two samples: are they from the same distribution, how far apart are they?", "kqd");
  program.set_version_flag("--version", version_text, "show version, instruction set and BLAS");
  program.set_help_flag("-h,--help", "show this text");
  program.formatter(std::make_shared<HelpFormatter>());
  program.option_defaults()->disable_flag_override();
  program.option_defaults()->take_last();
  program.require_subcommand(1);
  program.footer("Examples:\n  kqd test old.csv new.csv\n  kqd distance old.csv new.csv\n  kqd methods ekqd");
  int code = kDone;

  Flags flags;
  CLI::App* const test =
      program.add_subcommand("test", "are two samples from the same distribution?")->group("Commands");
  add_comparison_flags(*test, flags);
  add_data_flags(*test, flags);
  add_test_flags(*test, flags);
  test->footer(
      "Examples:\n  kqd test old.csv new.csv\n  kqd test before.csv after.csv --design paired --permutations 9999\n"
      "  kqd test a.npy b.npy --method mmd --json --exit-code\n"
      "  kqd test trial.csv --group arm --drop id --categorical onehot --na omit --standardize iqr");
  test->callback([&] {
    check_files(*test, flags);
    choose_method(*test, flags);
    note_unused(*test, flags);
    code = run_test(flags);
  });

  CLI::App* const distance = program.add_subcommand("distance", "how far apart two samples are")->group("Commands");
  add_comparison_flags(*distance, flags);
  add_data_flags(*distance, flags);
  distance->footer(
      "Examples:\n  kqd distance old.csv new.csv\n  kqd distance a.npy b.npy --power 2 --weighting triangle\n"
      "  kqd distance a.csv b.csv --kernel linear --directions linear   # sliced Wasserstein");
  distance->callback([&] {
    check_files(*distance, flags);
    note_unused(*distance, flags);
    code = run_distance(flags);
  });

  std::string id;
  CLI::App* const list = program.add_subcommand("methods", "the methods, or one of them explained")->group("Commands");
  list->add_option("ID", id, "the method to explain");
  list->callback([&] { code = run_methods(id); });

  SampleFlags sample_flags;
  CLI::App* const sample = program.add_subcommand("sample", "write two samples of known laws")->group("Commands");
  add_sample_flags(*sample, sample_flags);
  sample->footer(
      "Examples:\n  kqd sample list\n  kqd sample power-decay -n 200 -d 64 --seed 1 -o x.csv y.csv\n"
      "  kqd sample mixture --set sd=1.6 -o x.npy y.npy");
  sample->callback([&] { code = run_sample(sample_flags); });

  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& request) {  // --help or --version
    std::ostringstream text;
    program.exit(request, text);
    print(text.str());
  } catch (const CLI::ParseError& error) {
    note(usage_error(program, error));
    return kUsage;
  }
  return code;
}

// Input files may be mapped (ReadOptions::map_files). When someone shortens one meanwhile the system sends this signal,
// and nothing but to end is left.
extern "C" void on_bus_error(int /*signal*/) {
  constexpr std::string_view kSentence =
      "kqd: an input file became shorter while it was in use; run again when no one writes it\n";
  static std::atomic_flag said;  // several threads may touch what is gone
  while (said.test_and_set()) ::pause();
  const auto written = ::write(STDERR_FILENO, kSentence.data(), kSentence.size());
  ::_exit(written < 0 ? kOurFault : kUsage);
}

}  // namespace
}  // namespace kqd::app

int main(int argc, char** argv) {
  using kqd::app::note;
  std::signal(SIGBUS, kqd::app::on_bus_error);
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is told by print(), in words
  try {
    return kqd::app::run(argc, argv);
  } catch (const kqd::Error& error) {
    note(error.what());
    return kqd::app::exit_code(error.code());
  } catch (const std::bad_alloc&) {
    note("out of memory");
    return kqd::app::kResourceLimit;
  } catch (const std::exception& error) {
    note(fmt::format("internal error: {}", error.what()));
    return kqd::app::kOurFault;
  }
}
