#include "profile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "flags.hpp"
#include "kqd/kqd.hpp"
#include "output.hpp"
#include "progress.hpp"

namespace kqd::app {
namespace {

constexpr std::uint64_t kMostRows = 4'000'000'000;

void require_profile_name(const std::string& file) {
  if (names_a_profile(file)) return;
  throw Error(ErrorCode::invalid_option,
              {.subject = "output", .value = file, .expected = "a file name ending in .kqp"});
}

void print_info(const std::string& file) {
  const Profile profile = Profile::load(file);
  std::string text =
      fmt::format("{}\n  rows     {}\n  groups   {} of {} rows\n  columns  {}\n", printable(file), profile.num_rows(),
                  profile.num_groups(), profile.rows_per_group(), profile.num_columns());
  if (!profile.column_names().empty()) {
    std::vector<std::string> names;
    for (const std::string& name : profile.column_names()) names.push_back(printable(name));
    text += fmt::format("  names    {}\n", fmt::join(names, ", "));
  }
  for (const SampleExtent& sample : profile.samples()) {
    text += fmt::format("  sample   {:016x}, {} rows\n", sample.id, sample.num_rows);
  }
  print(text + fmt::format("  spec     {}\n", profile.spec_id()));
}

// The sentence of the table of options, so that a flag means the same in every command.
std::string help_of(std::string_view option) {
  return render(find_option(option)->help, program_names);
}

}  // namespace

bool names_a_profile(const std::string& file) {
  return file.ends_with(".kqp");
}

void add_profile_flags(CLI::App& command, ProfileFlags& flags) {
  command.add_option("FILE", flags.file, "a data file, as for kqd test; with --info a profile")->required();
  add_value(command, "-o,--output", "FILE", flags.output, "the profile to write, .kqp");
  add_value(command, "--like", "FILE", flags.like, "count as this profile does, to be compared or merged with it");
  add_value(command, "--rows-per-group", "N", flags.rows_per_group, "rows of a group; 0: a 128th of the rows");
  add_value(command, "--columns", "LIST", flags.columns, help_of("columns"));
  add_value(command, "--drop", "LIST", flags.drop, help_of("drop"));
  add_value(command, "--seed", "S", flags.seed, help_of("seed"));
  add_value(command, "--threads", "T", flags.threads, help_of("threads"));
  command.add_flag("--info", flags.info, "describe a profile");
}

int run_profile(const ProfileFlags& flags) {
  if (flags.info) {
    print_info(flags.file);
    return 0;
  }
  if (flags.output.empty()) {
    throw Error(ErrorCode::invalid_option, "kqd profile needs a file to write: -o FILE.kqp");
  }
  require_profile_name(flags.output);
  require_writable(flags.output);
  ReadOptions read;
  read.columns = flags.columns;
  read.drop = flags.drop;
  read.map_files = true;
  const ThreadCount threads{
      static_cast<unsigned>(whole_number("threads", flags.threads, 0, find_option("threads")->highest))};
  const Sample sample = read_sample(flags.file, read);
  const ProgressLine progress(true);
  const auto profile = [&] {
    if (!flags.like.empty()) return make_profile(sample, Profile::load(flags.like), threads, &progress.control());
    ProfileOptions options;
    options.rows_per_group = whole_number("rows_per_group", flags.rows_per_group, 0, kMostRows);
    options.statistic.seed.value = whole_number("seed", flags.seed, 0, find_option("seed")->highest);
    options.statistic.threads = threads;
    return make_profile(sample, options, &progress.control());
  }();
  profile.save(flags.output);
  return 0;
}

void add_merge_flags(CLI::App& command, MergeFlags& flags) {
  command.add_option("FILES", flags.files, "profiles of the same spec")
      ->required()
      ->expected(1, -1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_value(command, "-o,--output", "FILE", flags.output, "the profile to write, .kqp");
}

int run_merge(const MergeFlags& flags) {
  if (flags.output.empty()) throw Error(ErrorCode::invalid_option, "kqd merge needs a file to write: -o FILE.kqp");
  require_profile_name(flags.output);
  require_writable(flags.output);
  Profile merged = Profile::load(flags.files.front());
  for (std::size_t k = 1; k < flags.files.size(); ++k) {
    try {
      merged.merge(Profile::load(flags.files[k]));
    } catch (const Error& error) {
      ErrorParts parts = error.parts();
      if (parts.place.empty()) parts.place = printable(flags.files[k]);
      throw Error(error.code(), parts);
    }
  }
  merged.save(flags.output);
  return 0;
}

}  // namespace kqd::app
