#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "kqd/options/options.hpp"

namespace kqd::app {

/// Options of `kqd profile`.
struct ProfileFlags {
  std::vector<std::string> files;
  std::string output;
  std::string like;
  std::string rows_per_group = "0";
  bool info = false;
};

void add_profile_flags(CLI::App& command, ProfileFlags& flags);

/// `kqd profile FILES -o P.kqp`: counts the rows of files per group, or describes profiles. The settings are those of
/// the table of options.
int run_profile(const ProfileFlags& flags, const Settings& settings);

/// Options of `kqd merge`.
struct MergeFlags {
  std::vector<std::string> files;
  std::string output;
};

void add_merge_flags(CLI::App& command, MergeFlags& flags);

/// `kqd merge A.kqp B.kqp -o C.kqp`: adds profiles.
int run_merge(const MergeFlags& flags);

/// True for the name of a profile.
[[nodiscard]] bool names_a_profile(const std::string& file);

}  // namespace kqd::app
