#include "program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <sstream>
#include <utility>

#include "completions.hpp"
#include "config.hpp"
#include "embed.hpp"
#include "flags.hpp"
#include "manual.hpp"
#include "monitor.hpp"
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

void print_no_effect_warnings(const Settings& settings, const std::vector<const OptionInfo*>& given) {
  if (settings.output.quiet) return;
  for (const Warning& warning : no_effect_warnings(settings, given, program_names)) note(sentence(warning));
}

// One Gram matrix, whose first rows are X.
void require_one_gram_matrix(const CLI::App& command, const Settings& settings) {
  const bool is_gram = settings.object_kernel == "precomputed";
  if (is_gram && command.count("Y") == 0 && settings.group_column.empty()) return;
  const char* const expected = is_gram ? "one file, without a second one and without a group column"
                                       : "kernel precomputed, of which they are the rows";
  throw Error(ErrorCode::invalid_option, {.subject = "sizes",
                                          .value = fmt::format("{},{}", settings.sizes.front(), settings.sizes.back()),
                                          .expected = expected});
}

// Two files, one that a column or numbers of rows split, or an archive of both.
std::vector<std::string> pair_of_files(const CLI::App& command, const Settings& settings) {
  const std::string& group_column = settings.group_column;
  const auto x = command.get_option("X")->as<std::string>();
  if (!settings.sizes.empty()) require_one_gram_matrix(command, settings);
  const bool has_y = command.count("Y") > 0;
  if (has_y && group_column.empty()) return {x, command.get_option("Y")->as<std::string>()};
  if (has_y) {
    throw Error(ErrorCode::invalid_option, {.subject = "group_column",
                                            .value = group_column,
                                            .expected = "one file with both samples, but a second one is given: " +
                                                        printable(command.get_option("Y")->as<std::string>())});
  }
  if (!group_column.empty() || !settings.sizes.empty()) return {x};
  const auto both = samples_within(x);
  if (!both) throw CLI::RequiredError("Y");
  return {both->first, both->second};
}

// Sets the options that were typed, or read from a config file, in the order of the table. `given` gets them.
Settings read_options(const CLI::App& command, Command which, std::vector<const OptionInfo*>& given) {
  Settings settings = default_settings(which);
  for (const OptionInfo& option : options()) {
    const CLI::Option* const typed =
        (option.commands & which) == 0 ? nullptr : command.get_option("--" + flag_name(option));
    if (typed == nullptr || typed->count() == 0) continue;
    given.push_back(&option);
    for (const std::string& text : typed->reduced_results()) set_option(settings, option, text);
  }
  return settings;
}

// Commands of any number of data sets.
bool takes_many(Command command) {
  return command == kMatrixCommand || command == kEmbedCommand || command == kMonitorCommand;
}

// An unset variable of a shell leaves an empty text, which is not a request for the default.
void refuse_empty(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || option->get_positional() || option->get_type_size() == 0) continue;
    if (std::ranges::find(option->results(), "") == option->results().end()) continue;
    throw Error(ErrorCode::invalid_option,
                fmt::format("{} is given an empty text, expected a value", option->get_name(false, false)));
  }
}

// A pattern such as *.csv also expands to names of files that look like options, and the author of such a file would
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
                    printable(word)));
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
  add_comparisons();
  add_others();
}

CLI::App* Program::add(const std::string& name, const std::string& what, const std::string& examples,
                       std::function<int()> work) {
  CLI::App* const command = app_.add_subcommand(name, what)->group("Commands");
  command->footer("Examples:\n" + examples);
  command->callback([this, command, work = std::move(work)] {
    refuse_empty(*command);
    try {
      code_ = work();
    } catch (const Error& error) {
      throw Error(error.code(), naming_config(error.parts()));
    }
  });
  return command;
}

CLI::App* Program::add_comparison(const std::string& name, const std::string& what, const std::string& examples,
                                  Command which, int (*work)(const Request& request)) {
  CLI::App* const command = add(name, what, examples, [this, name, which, work] {
    return work(read_request(*app_.get_subcommand(name), which));
  });
  const std::string formats =
      ", one row per point: .csv, .tsv, .npy, .idx (also .gz), .npz or .npz:KEY, .parquet, .json, .jsonl, a query "
      "\"sql:SELECT ...\", or - for standard input";
  if (takes_many(which)) {
    const std::string what_files = which == kMatrixCommand    ? "data sets, two or more"
                                   : which == kMonitorCommand ? "the baseline, then its batches; only batches if the "
                                                                "state file exists; also patterns: 'day-*.csv'"
                                                              : "data sets";
    const bool needs_files = which != kMonitorCommand;
    const std::string text = what_files + formats;
    command->add_option("FILES", text)
        ->required(needs_files)
        ->expected(needs_files ? 1 : 0, -1)
        ->allow_extra_args()
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  } else {
    const std::string text = "first sample" + formats;
    command->add_option("X", text)->required();
    const std::string other =
        "second sample; none with --group or --sizes, or when X is an .npz file of arrays x and y";
    command->add_option("Y", other);
  }
  add_options(*command, which);
  return command;
}

// Names the config file that set the option at fault: as the place, or next to the option in "column a, listed in
// --columns".
ErrorParts Program::naming_config(ErrorParts parts) const {
  if (config_options_.empty()) return parts;
  const OptionInfo* const option = find_option(parts.subject);
  if (parts.place.empty() && config_options_.contains(option == nullptr ? parts.subject : flag_name(*option))) {
    parts.place = printable(config_file_);
  } else if (parts.subject.empty()) {
    parts.value = render(parts.value, program_names);
    for (const std::string& name : config_options_) {
      const std::size_t begin = parts.value.find(" --" + name);
      const std::size_t end = begin + name.size() + 3;
      const bool is_whole = begin != std::string::npos && (end == parts.value.size() || parts.value[end] == ',');
      if (is_whole) parts.value.insert(end, " of " + printable(config_file_));
    }
  }
  return parts;
}

void Program::read_config(const std::string& file, CLI::App& command) {
  if (file.empty()) return;
  config_file_ = file;
  config_options_ = apply_config(file, app_, command);
}

// Settings of a command whose result is not a report.
Settings Program::read_settings(const CLI::App& command, Command which) {
  std::vector<const OptionInfo*> given;
  Settings settings = read_options(command, which, given);
  complete(settings);
  print_no_effect_warnings(settings, given);
  return settings;
}

Request Program::read_request(CLI::App& command, Command which) {
  if (command.count("--config") > 0) read_config(command.get_option("--config")->as<std::string>(), command);
  std::vector<const OptionInfo*> given;
  Request request{
      .files = {}, .settings = read_options(command, which, given), .given = {}, .command_line = command_line_};
  Settings& settings = request.settings;
  if (takes_many(which)) {
    if (command.count("FILES") > 0) request.files = command.get_option("FILES")->as<std::vector<std::string>>();
    if (request.files.empty() && !settings.monitor.show) throw CLI::RequiredError("FILES");
  } else {
    request.files = pair_of_files(command, settings);
  }
  settings.read.map_files = true;  // main() handles the signal of a file that becomes shorter
  for (const OptionInfo* option : given) {
    // The result does not depend on the others: memory, threads, output. The seed has a field of its own.
    const bool defines_result = option->section != "Run" && option->section != "Output";
    if (defines_result) request.given.emplace_back(option->id, option->get(settings));
  }
  if (std::ranges::any_of(request.files, names_a_profile)) require_for_profiles(settings);
  complete(settings);
  print_no_effect_warnings(settings, given);
  return request;
}

void Program::add_comparisons() {
  add_comparison("test", "are two samples from the same distribution?",
                 "  kqd test old.csv new.csv\n"
                 "  kqd test before.csv after.csv --design paired --permutations 9999\n"
                 "  kqd test a.npy b.npy --method mmd --json --exit-code\n"
                 "  kqd test trial.csv --group arm --drop id --categorical onehot --na omit",
                 kTestCommand, run_test);
  add_comparison("explain", "where two samples differ: columns, levels, directions, rows",
                 "  kqd explain old.csv new.csv\n"
                 "  kqd explain trial.csv --group arm --drop id --na omit --markdown\n"
                 "  kqd explain a.npy b.npy --image-shape 28x28 --json --output where.json",
                 kExplainCommand, run_explain);
  add_comparison("distance", "how far apart two samples are",
                 "  kqd distance old.csv new.csv\n"
                 "  kqd distance a.npy b.npy --power 2 --weighting triangle\n"
                 "  kqd distance a.csv b.csv --directions linear   # sliced Wasserstein",
                 kDistanceCommand, run_distance);
  add_comparison("matrix", "how far apart many samples are, pair by pair",
                 "  kqd matrix january.csv february.csv march.csv\n"
                 "  kqd matrix day-*.npy --test\n"
                 "  kqd matrix a.csv b.csv c.csv --method sw --power 2 --csv --output distances.csv",
                 kMatrixCommand, run_matrix);
  add_comparison("monitor", "which batches differ from a baseline, since when, and in what?",
                 "  kqd monitor january.csv february.csv march.csv --report months.html\n"
                 "  kqd monitor baseline.csv 'day-*.csv' --state days.kqm --alarm --exit-code\n"
                 "  kqd monitor sales.csv --time date --every week --baseline first:4",
                 kMonitorCommand, run_monitor);
  add_comparison("embed", "data sets as vectors of quantiles along shared directions",
                 "  kqd embed january.csv february.csv --output table.csv\n"
                 "  kqd embed day-*.npy --levels 9 --num-directions 16 --output table.npy --write-directions days\n"
                 "  kqd embed day-*.npy --gram --output kernel.csv",
                 kEmbedCommand, run_embed);
}

void Program::add_others() {
  CLI::App* command = add("methods", "the methods, or one of them explained",
                          "  kqd methods\n"
                          "  kqd methods mmd-rff\n"
                          "  kqd methods --csv | cut -d, -f1",
                          [this] { return run_methods(methods_); });
  add_methods_flags(*command, methods_);
  command = add("sample", "write two samples of known distributions",
                "  kqd sample list\n"
                "  kqd sample power-decay -n 200 -d 64 --seed 1 -o x.csv y.csv\n"
                "  kqd sample mixture --set sd=1.6 -o x.npy y.npy",
                [this] {
                  read_config(sample_.config, *app_.get_subcommand("sample"));
                  return run_sample(sample_);
                });
  add_sample_flags(*command, sample_);
  command =
      add("profile", "count a sample once, for tests and merges without its rows",
          "  kqd profile january.parquet -o january.kqp\n"
          "  kqd profile 'february/*.csv.gz' --like january.kqp -o february.kqp\n"
          "  kqd test january.kqp february.kqp",
          [this] { return run_profile(profile_, read_settings(*app_.get_subcommand("profile"), kProfileCommand)); });
  add_profile_flags(*command, profile_);
  command = add("plan", "how many rows a test or a verdict of equivalence needs",
                "  kqd plan --effect 0.1 --power 0.9\n"
                "  kqd plan january.csv --effect 0.2 --figure power.svg\n"
                "  kqd plan --effect 0.2 --columns 10 --json",
                [this] { return run_plan(plan_); });
  add_plan_flags(*command, plan_);
  command = add("merge", "add profiles up", "  kqd merge monday.kqp tuesday.kqp -o days.kqp",
                [this] { return run_merge(merge_); });
  add_merge_flags(*command, merge_);
  command = add("experiment", "run a published experiment and compare it with the published numbers",
                "  kqd experiment list\n"
                "  kqd experiment power-decay --scheme reference --runs 1000\n"
                "  kqd experiment laplace-gaussian --methods ekqd-1,ekqd-2 --out results",
                [this] { return run_experiment_command(experiment_); });
  add_experiment_flags(*command, experiment_);
  command = add("completions", "print completions for a shell",
                "  kqd completions bash > ~/.local/share/bash-completion/completions/kqd\n"
                "  kqd completions zsh > ~/.zfunc/_kqd\n"
                "  kqd completions fish > ~/.config/fish/completions/kqd.fish",
                [this] {
                  print(completions(shell_, app_));
                  return 0;
                });
  add_shell_argument(*command, shell_);
  add("man", "print the manual page",
      "  kqd man | man -l -\n"
      "  kqd man > ~/.local/share/man/man1/kqd.1",
      [this] {
        print(manual_page(app_));
        return 0;
      });
}

int Program::run(int argc, char** argv) {
  refuse_file_names({argv + 1, argv + argc});
  command_line_ = shell_line(argc, argv);
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
