#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "kqd/kqd.hpp"

namespace kqd::app {

/// What was typed for a comparison of two samples, before it means anything.
struct Flags {
  std::string x;
  std::string y;
  std::string method = "ekqd";  // of a distance; that of a test is chosen by choose_method()
  std::string kernel = "gaussian";
  std::string bandwidth = "median";
  std::string directions = "gaussian";
  std::string reference = "gaussian";
  std::string num_directions = "64";
  std::string num_reference;
  std::string power = "1";
  std::string weighting = "uniform";
  std::string columns;
  std::string drop;
  std::string group;
  std::string weights_column;
  std::string weights_as;
  std::string categorical = "raise";
  std::string na = "raise";
  std::string na_values;
  bool no_default_na = false;
  std::string standardize = "none";
  std::string max_rows;
  bool dates = false;
  std::string delimiter;
  bool header = false;
  bool no_header = false;
  bool decimal_comma = false;
  std::string compat;
  std::vector<std::string> settings;
  std::string seed = "0";
  std::string threads = "0";
  std::string max_memory;
  bool whiten = false;
  bool yes_quadratic = false;
  bool json = false;
  bool csv = false;
  bool markdown = false;
  bool quiet = false;
  std::string output;
  std::string report;
  std::string config;
  std::string command;  // the whole line, as a shell takes it

  // of a test only
  std::string permutations = "999";
  std::string alpha = "0.05";
  std::string design = "independent";
  std::string calibration = "permutation";
  std::string early_stop = "none";
  std::string set_aside = "yes";
  bool randomise_ties = false;
  bool effect_interval = false;
  bool null_distribution = false;
  bool exit_code = false;

  // of an explanation only
  std::string image_shape;
};

/// What was typed for `kqd matrix`: the data sets, and all that they share.
struct MatrixFlags {
  std::vector<std::string> files;
  Flags shared;
  bool with_tests = false;
};

/// What was typed for `kqd methods`.
struct MethodsFlags {
  std::string id;
  bool json = false;
  bool csv = false;
  bool markdown = false;
};

/// What was typed for `kqd sample`.
struct SampleFlags {
  std::string name;
  std::string n = "500";
  std::string m;
  std::string dim = "0";
  std::string seed = "0";
  std::vector<std::string> settings;
  std::vector<std::string> outputs;
  std::string config;
};

/// The flags of every command that compares two samples.
void add_comparison_flags(CLI::App& command, Flags& flags);
/// Those of `kqd test` besides.
void add_test_flags(CLI::App& command, Flags& flags);
/// The flags of `kqd explain`: those of the data, and of how columns and directions are examined.
void add_explain_flags(CLI::App& command, Flags& flags);
void add_matrix_flags(CLI::App& command, MatrixFlags& flags);
void add_methods_flags(CLI::App& command, MethodsFlags& flags);
void add_sample_flags(CLI::App& command, SampleFlags& flags);

/// A flag with a value; `letter` stands for it in the help text. Its default is what the variable holds.
CLI::Option* add_value(CLI::App& command, const std::string& flag, const std::string& letter, std::string& value,
                       const std::string& text);

/// What was typed as a number, a seed, a number of threads or a list with commas between; throws Error{invalid_option}.
[[nodiscard]] std::uint64_t whole_number(const std::string& flag, const std::string& text, std::uint64_t low,
                                         std::uint64_t high);
[[nodiscard]] std::uint64_t seed_of(const std::string& text);
[[nodiscard]] ThreadCount thread_count(const std::string& text);
[[nodiscard]] std::vector<std::string> items_of(const std::string& text, char separator = ',');

/// Lets a flag or argument take words as its value, for value_words().
void offer_words(const CLI::Option& option, const std::vector<std::string>& words);
/// Words that a flag or argument takes as its value, for those that have some: what a shell can complete.
[[nodiscard]] const std::vector<std::string>& value_words(const CLI::Option& option);
/// The value is the name of a file, or may be one.
[[nodiscard]] bool takes_file(const CLI::Option& option);

/// Sets the method of a test for which none was typed, by default_test_method().
void choose_method(const CLI::App& test, Flags& flags);

/// Flags that were typed and mean nothing to the method with the directions it was given, such as "--power".
[[nodiscard]] std::vector<std::string> unused_flags(const CLI::App& command, const Flags& flags);
/// Flags of a test that were typed and mean nothing to its calibration, such as "--early-stop".
[[nodiscard]] std::vector<std::string> flags_unused_by_calibration(const CLI::App& test, const Flags& flags);

/// What the flags mean, but for the points of --reference FILE, whose columns are those of the data; throws
/// Error{invalid_option} naming the flag, the value and what is expected.
[[nodiscard]] MethodOptions to_options(const Flags& flags);
/// The same for a test, but for its design, which needs the data.
[[nodiscard]] TwoSampleOptions to_test_options(const Flags& flags);
/// The same for an explanation, but for its design and the rows of the files, which need the data.
[[nodiscard]] ExplainOptions to_explain_options(const Flags& flags);
/// How the files are read: which columns, and what becomes of cells that are not numbers.
[[nodiscard]] ReadOptions to_read_options(const Flags& flags);
/// The design of a test. Blocks and clusters are a column of the data, which was read as to_read_options() says.
[[nodiscard]] Design design_of(const Flags& flags, const SamplePair& data);
[[nodiscard]] ProblemRequest to_request(const SampleFlags& flags);

}  // namespace kqd::app
