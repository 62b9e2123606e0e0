#include "program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <sstream>
#include <tuple>
#include <utility>

#include "completions.hpp"
#include "manual.hpp"
#include "output.hpp"
#include "run.hpp"
#include "shell.hpp"
#include "terminal.hpp"
#include "usage.hpp"

namespace kqd::app {
namespace {

constexpr int kUsage = 2;

std::string compiler_name() {
#ifdef __clang__
  return fmt::format("clang {}", __clang_version__);
#else
  return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::string version_text() {
  const std::string duckdb = duckdb_version();
  return fmt::format("kqd {}\nbuild    {}, {}\nSIMD     {} ({})\nDuckDB   {}", kVersion, KQD_BUILD_TYPE,
                     compiler_name(), simd_name(), bits_name(), duckdb.empty() ? "not found" : duckdb);
}

// Said once the method is known: a flag that changes nothing should not look as if it did.
void note_unused(const CLI::App& command, const Flags& flags) {
  if (!flags.quiet && !flags.image_shape.empty() && flags.report.empty()) {
    note("--image-shape has no effect without --report");
  }
  if (flags.quiet) return;
  const auto note_if_any = [](const std::vector<std::string>& unused, const std::string& where) {
    if (unused.empty()) return;
    note(fmt::format("{} {} no effect {}", fmt::join(unused, ", "), unused.size() == 1 ? "has" : "have", where));
  };
  const bool directed = find_method(flags.method).uses.directions;
  note_if_any(unused_flags(command, flags),
              fmt::format("on method {}{}", flags.method,
                          directed ? fmt::format(" with {} directions", flags.directions) : ""));
  note_if_any(flags_unused_by_calibration(command, flags), fmt::format("with --calibration {}", flags.calibration));
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

// An empty text is what an unset variable of a shell leaves, not a wish for the default.
void refuse_empty(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || option->get_positional() || option->get_type_size() == 0) continue;
    if (std::ranges::find(option->results(), "") == option->results().end()) continue;
    throw Error(ErrorCode::invalid_option,
                fmt::format("{} is given an empty text, expected a value", option->get_name(false, false)));
  }
}

// A pattern such as *.csv also gives the names of files that look like options, and whoever made such a file would
// decide what is read and where results are written (SECURITY.md). A word that a shell took from a folder names a file
// there.
void refuse_file_names(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "--") return;
    std::error_code error;
    if (word.size() < 2 || !word.starts_with('-') || !exists(symlink_status(std::filesystem::path(word), error)))
      continue;
    throw Error(
        ErrorCode::invalid_option,
        fmt::format("{0} looks like an option and is also the name of a file here, as a pattern such as *.csv gives "
                    "it; for the file write ./{0} or put -- before all files, for the option rename the file",
                    word));
  }
}

// Those of the tests of a matrix, when none were asked for.
void note_untested(const CLI::App& command, const MatrixFlags& flags) {
  if (flags.with_tests || flags.shared.quiet) return;
  for (const char* flag : {"--permutations", "--alpha"}) {
    if (command.count(flag) > 0) note(fmt::format("{} has no effect without --test", flag));
  }
}

}  // namespace

Program::Program() : app_("kqd compares samples: are they from the same distribution, how far apart are they?", "kqd") {
  app_.set_version_flag("--version", version_text, "show version, build, instruction set and DuckDB");
  app_.set_help_flag("-h,--help", "show this text");
  app_.formatter(std::make_shared<HelpFormatter>(terminal_width(STDOUT_FILENO)));
  app_.option_defaults()->disable_flag_override();
  app_.option_defaults()->take_last();
  app_.require_subcommand(1);
  app_.footer("Examples:\n  kqd test old.csv new.csv\n  kqd distance old.csv new.csv\n  kqd methods ekqd");
  add_test();
  add_explain();
  add_distance();
  add_matrix();
  add_methods();
  add_sample();
  add_experiment();
  add_completions();
  add_manual();
}

CLI::App* Program::add(const std::string& name, const std::string& what, const std::string& examples,
                       std::function<int()> work) {
  CLI::App* const command = app_.add_subcommand(name, what)->group("Commands");
  command->footer("Examples:\n" + examples);
  command->callback([this, work = std::move(work)] {
    try {
      code_ = work();
    } catch (const Error& error) {
      throw told_with_place(error, config_places_);
    }
  });
  return command;
}

void Program::add_test() {
  CLI::App* const command = add("test", "are two samples from the same distribution?",
                                "  kqd test old.csv new.csv\n"
                                "  kqd test before.csv after.csv --design paired --permutations 9999\n"
                                "  kqd test a.npy b.npy --method mmd --json --exit-code\n"
                                "  kqd test trial.csv --group arm --drop id --categorical onehot --na omit",
                                [this] {
                                  CLI::App& test = *app_.get_subcommand("test");
                                  if (!test_.config.empty()) config_places_ = apply_config(test_.config, app_, test);
                                  refuse_empty(test);
                                  check_files(test, test_);
                                  choose_method(test, test_);
                                  note_unused(test, test_);
                                  return run_test(test_);
                                });
  add_comparison_flags(*command, test_);
  add_test_flags(*command, test_);
}

void Program::add_explain() {
  CLI::App* const command = add("explain", "where two samples differ: columns, levels, directions, rows",
                                "  kqd explain old.csv new.csv\n"
                                "  kqd explain trial.csv --group arm --drop id --na omit --markdown\n"
                                "  kqd explain a.npy b.npy --image-shape 28x28 --json --output where.json",
                                [this] {
                                  CLI::App& explain = *app_.get_subcommand("explain");
                                  if (!explain_.config.empty())
                                    config_places_ = apply_config(explain_.config, app_, explain);
                                  refuse_empty(explain);
                                  check_files(explain, explain_);
                                  return run_explain(explain_);
                                });
  add_explain_flags(*command, explain_);
}

void Program::add_distance() {
  CLI::App* const command = add("distance", "how far apart two samples are",
                                "  kqd distance old.csv new.csv\n"
                                "  kqd distance a.npy b.npy --power 2 --weighting triangle\n"
                                "  kqd distance a.csv b.csv --directions linear   # sliced Wasserstein",
                                [this] {
                                  CLI::App& distance = *app_.get_subcommand("distance");
                                  if (!distance_.config.empty())
                                    config_places_ = apply_config(distance_.config, app_, distance);
                                  refuse_empty(distance);
                                  check_files(distance, distance_);
                                  note_unused(distance, distance_);
                                  return run_distance(distance_);
                                });
  add_comparison_flags(*command, distance_);
}

void Program::add_matrix() {
  CLI::App* const command = add("matrix", "how far apart many samples are, pair by pair",
                                "  kqd matrix january.csv february.csv march.csv\n"
                                "  kqd matrix day-*.npy --test\n"
                                "  kqd matrix a.csv b.csv c.csv --method sw --power 2 --csv --output distances.csv",
                                [this] {
                                  CLI::App& matrix = *app_.get_subcommand("matrix");
                                  if (!matrix_.shared.config.empty()) {
                                    config_places_ = apply_config(matrix_.shared.config, app_, matrix);
                                  }
                                  refuse_empty(matrix);
                                  if (matrix_.with_tests) choose_method(matrix, matrix_.shared);
                                  note_unused(matrix, matrix_.shared);
                                  note_untested(matrix, matrix_);
                                  return run_matrix(matrix_);
                                });
  add_matrix_flags(*command, matrix_);
}

void Program::add_methods() {
  CLI::App* const command = add("methods", "the methods, or one of them explained",
                                "  kqd methods\n"
                                "  kqd methods mmd-rff\n"
                                "  kqd methods --csv | cut -d, -f1",
                                [this] { return run_methods(methods_); });
  add_methods_flags(*command, methods_);
}

void Program::add_sample() {
  CLI::App* const command = add("sample", "write two samples of known distributions",
                                "  kqd sample list\n"
                                "  kqd sample power-decay -n 200 -d 64 --seed 1 -o x.csv y.csv\n"
                                "  kqd sample mixture --set sd=1.6 -o x.npy y.npy",
                                [this] {
                                  if (!sample_.config.empty()) {
                                    config_places_ = apply_config(sample_.config, app_, *app_.get_subcommand("sample"));
                                  }
                                  return run_sample(sample_);
                                });
  add_sample_flags(*command, sample_);
}

void Program::add_experiment() {
  CLI::App* const command = add("experiment", "run a published experiment and set it next to the published numbers",
                                "  kqd experiment list\n"
                                "  kqd experiment power-decay --scheme reference --runs 1000\n"
                                "  kqd experiment laplace-gaussian --methods ekqd-1,ekqd-2 --out results",
                                [this] {
                                  refuse_empty(*app_.get_subcommand("experiment"));
                                  return run_experiment_command(experiment_);
                                });
  add_experiment_flags(*command, experiment_);
}

void Program::add_completions() {
  CLI::App* const command = add("completions", "print completions for a shell",
                                "  kqd completions bash > ~/.local/share/bash-completion/completions/kqd\n"
                                "  kqd completions zsh > ~/.zfunc/_kqd\n"
                                "  kqd completions fish > ~/.config/fish/completions/kqd.fish",
                                [this] {
                                  print(completions(shell_, app_));
                                  return 0;
                                });
  add_shell_argument(*command, shell_);
}

void Program::add_manual() {
  static_cast<void>(add("man", "print the manual page",
                        "  kqd man | man -l -\n"
                        "  kqd man > ~/.local/share/man/man1/kqd.1",
                        [this] {
                          print(manual_page(app_));
                          return 0;
                        }));
}

int Program::run(int argc, char** argv) {
  refuse_file_names({argv + 1, argv + argc});
  test_.command = distance_.command = matrix_.shared.command = shell_line(argc, argv);
  try {
    app_.parse(argc, argv);
  } catch (const CLI::Success& request) {  // --help or --version
    std::ostringstream text;
    app_.exit(request, text);
    print(text.str());
  } catch (const CLI::ParseError& error) {
    note(usage_error(app_, error));
    print_message(usage_help(app_));
    return kUsage;
  }
  return code_;
}

}  // namespace kqd::app
