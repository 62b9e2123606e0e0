#include "profile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "flags.hpp"
#include "kqd/kqd.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "run_parts.hpp"

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
  if (const std::uint64_t left_out = profile.num_rows() - profile.num_counted(); left_out > 0) {
    text += fmt::format("  left out {} rows\n", left_out);
  }
  text += fmt::format("  by       {} ({})\n", printable(to_string(profile.group_rule())),
                      guarantee(profile.group_rule().assignment));
  if (!profile.column_names().empty()) {
    std::vector<std::string> names;
    for (const std::string& name : profile.column_names()) names.push_back(printable(name));
    text += fmt::format("  names    {}\n", fmt::join(names, ", "));
  }
  for (const SampleExtent& sample : profile.samples()) {
    text += fmt::format("  sample   {:016x}, {} rows\n", sample.id, sample.num_rows);
    for (const RowSource& source : profile.sources(sample)) {
      text += fmt::format("           {}, {} rows\n", printable(source.name), source.num_rows);
    }
  }
  print(text + fmt::format("  spec     {}\n", profile.spec_id()));
}

// A profile of a file that cannot be read in blocks.
Profile profile_of_sample(const std::string& file, const ReadOptions& read, ProfileOptions options,
                          const std::optional<Profile>& like, OutputOptions output, const RunControl& control) {
  const SampleList data = read_samples({file}, read);
  print_warnings(data.notes, output);
  const Sample& sample = data.samples.front();
  const std::vector<std::uint64_t> keys = group_keys(options.groups, data.units, data.unit_names);
  if (like) return make_profile(sample, *like, options.statistic.threads, &control, keys);
  options.keys = keys;
  return make_profile(sample, options, &control);
}

// The rule of a spec holds for all samples that are counted by it.
GroupRule rule_of(const GroupRule& given, const std::optional<Profile>& like) {
  if (!like) return given;
  const GroupRule rule = like->group_rule();
  if (given == GroupRule{} || given == rule) return rule;
  throw Error(ErrorCode::invalid_option,
              {.subject = "groups",
               .value = printable(to_string(given)),
               .expected = fmt::format("{}, as the other profile has it", printable(to_string(rule)))});
}

Profile profile_of(const std::vector<std::string>& files, const ReadOptions& read, const ProfileOptions& options,
                   const std::optional<Profile>& like, OutputOptions output) {
  const ProgressLine progress(true);
  if (!read_in_blocks(files) && files.size() == 1) {
    return profile_of_sample(files.front(), read, options, like, std::move(output), progress.control());
  }
  FilesProfile made = like ? make_profile_of_files(files, read, *like, options.statistic.threads, &progress.control())
                           : make_profile_of_files(files, read, options, &progress.control());
  print_warnings(made.notes, output);
  return std::move(made.profile);
}

}  // namespace

bool names_a_profile(const std::string& file) {
  return file.ends_with(".kqp");
}

void add_profile_flags(CLI::App& command, ProfileFlags& flags) {
  command
      .add_option("FILES", flags.files,
                  "data files of one sample, also patterns: 'jan/*.parquet'; with --info profiles")
      ->required()
      ->expected(1, -1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_value(command, "-o,--output", "FILE", flags.output, "the profile to write, .kqp");
  add_value(command, "--like", "FILE", flags.like, "count as this profile does, to be compared or merged with it");
  add_value(command, "--rows-per-group", "N", flags.rows_per_group, "rows of a group; 0: a 128th of the rows");
  command.add_flag("--info", flags.info, "describe profiles");
  add_options(command, kProfileCommand);
}

int run_profile(const ProfileFlags& flags, const Settings& settings) {
  if (flags.info) {
    for (const std::string& file : flags.files) print_info(file);
    return 0;
  }
  if (flags.output.empty()) {
    throw Error(ErrorCode::invalid_option, "kqd profile needs a file to write: -o FILE.kqp");
  }
  refuse_objects(settings, "profile");
  require_profile_name(flags.output);
  require_writable(flags.output);
  ReadOptions read = settings.read;
  read.map_files = true;
  ProfileOptions options;
  options.method = settings.test.method;
  options.rows_per_group = whole_number("rows_per_group", flags.rows_per_group, 0, kMostRows);
  options.statistic = settings.test.statistic;
  options.own_scales = settings.test.own_scales;
  const std::optional<Profile> like =
      flags.like.empty() ? std::nullopt : std::optional<Profile>(Profile::load(flags.like));
  options.groups = rule_of(settings.test.groups, like);
  read.unit_column = options.groups.column;
  profile_of(expand_files(flags.files), read, options, like, settings.output).save(flags.output);
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
