#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/core/matrix.hpp"
#include "kqd/core/message.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/explain/explain.hpp"
#include "kqd/io/read.hpp"
#include "kqd/metrics/embedding_table.hpp"
#include "kqd/monitor/monitor.hpp"
#include "kqd/two_sample/two_sample_test.hpp"

namespace kqd KQD_PUBLIC {

/// The form of a result, and where it is written.
struct OutputOptions {
  bool json = false;
  bool json_lines = false;  ///< an object per batch of a monitor
  bool csv = false;
  bool markdown = false;
  bool quiet = false;
  bool exit_code = false;     ///< exit with 1 when a difference is found, or when a margin is not met
  std::string file = {};      ///< empty or "-": standard output
  std::string report = {};    ///< an HTML page; empty: none
  std::string rows_csv = {};  ///< the scores of all rows; empty: none
  std::string config = {};    ///< a file of settings; read by the program
};

/// Commands of the program, and functions of Python of the same name. A set of them is a sum.
enum Command : unsigned {
  kTestCommand = 1,
  kDistanceCommand = 2,
  kExplainCommand = 4,
  kMatrixCommand = 8,
  kEmbedCommand = 16,
  kProfileCommand = 32,
  kMonitorCommand = 64
};

/// Options of `kqd embed`.
struct EmbedOptions {
  std::vector<double> levels = even_levels(19);  ///< 0.05, 0.1, .., 0.95
  bool gram = false;                             ///< the kernel between data sets instead of their quantiles
  std::optional<double> gram_scale = {};         ///< distribution_kernel()
  std::string directions_file = {};              ///< where the directions are written; empty: nowhere
  std::string points_file = {};                  ///< where the embeddings are evaluated; empty: nowhere
  bool centered = false;                         ///< the centered embeddings there, and in inner products
  bool inner_products = false;                   ///< of all embeddings
};

/// Options of `kqd monitor` besides those of its tests.
struct MonitorSettings {
  BaselineRule baseline = {};
  Adjustment adjustment = Adjustment::benjamini_hochberg;
  bool alarm = false;  ///< the alarm decides, not the tests of single batches
  std::optional<double> average_run_length = {};
  std::string state_file = {};   ///< continued if it is there, and written; empty: none
  bool show = false;             ///< print the state, take no batch
  std::string time_column = {};  ///< one file has all batches, by this column
  std::string every = "day";     ///< length of a batch by time: day, week, month, or a number of rows
};

/// Everything that options set. The meaning of the fields from `bandwidth` on depends on other options: complete()
/// combines them.
struct Settings {
  Command command = kTestCommand;
  ReadOptions read = {};
  TwoSampleOptions test = {.method = ""};  ///< an empty method means default_test_method()
  ExplainOptions explain = {};
  EmbedOptions embed = {};
  MonitorSettings monitor = {};
  OutputOptions output = {};
  std::string group_column = {};          ///< one file has both samples, separated by this column
  std::vector<std::size_t> sizes = {};    ///< rows of X and of Y in a Gram matrix that is one file
  std::string names = {};                 ///< what texts call the samples, separated by commas; empty: by their files
  bool test_pairs = false;                ///< of a matrix
  std::vector<std::string> against = {};  ///< reference batches that a margin is learnt from; a front end reads them

  std::optional<double> bandwidth = {};  ///< for every part of the kernel that leaves it open; empty: the median rule
  std::string compat = {};               ///< names of compat flags, separated by commas
  std::string reference_file = {};       ///< reference points that a front end has to read
  std::string coefficients_file = {};    ///< coefficients likewise
  std::string weighting_file = {};       ///< levels and densities likewise
  std::string object_kernel = {};        ///< "precomputed", "spectrum:3", ...: a front end reads the objects
  std::vector<std::string> na_values = {};   ///< lists of texts, separated by commas or semicolons
  std::vector<std::string> parameters = {};  ///< of the method: "name=value"
};

enum class OptionType {
  flag,   ///< "yes" or "no"
  count,  ///< a whole number
  real,   ///< a number
  word,   ///< one of OptionInfo::choices, or a word with parameters
  text,   ///< a name, a file, or another text
  list,   ///< texts; each call of OptionInfo::set adds one
  size,   ///< bytes with a unit: "2GB"
  points  ///< a matrix; a text may name a file or a measure
};

/// One option of the library, as a row of the table that all front ends are made from.
struct OptionInfo {
  std::string_view id;  ///< name in C++
  OptionType type;
  std::string_view section;       ///< heading in --help
  unsigned commands = 0;          ///< sum of the commands that have it as a flag
  unsigned calls = 0;             ///< sum of the functions of Python that have it as a keyword
  std::string_view help;          ///< one line; {} stands for the choices
  std::string_view value = {};    ///< how --help writes the value, such as N
  std::string_view flag = {};     ///< where it is not the id with - for _, without its dashes
  std::string_view keyword = {};  ///< in Python, where it is not the id
  std::uint64_t lowest = 0;       ///< of a count or a real number; an interval of real numbers has no ends
  std::uint64_t highest = 0;      ///< 0: no bound
  std::vector<std::string> (*choices)() = nullptr;
  std::string_view bare = {};  ///< value of the flag when none is typed
  /// Throws Error{invalid_option} with the option as its subject.
  void (*set)(Settings& settings, const OptionInfo& option, std::string_view text) = nullptr;
  /// The text that `set` reads back; empty: not set.
  std::string (*get)(const Settings& settings) = nullptr;
  void (*set_points)(Settings& settings, Matrix<double> points) = nullptr;
  /// Why the option changes nothing with these settings, such as "on method mmd"; empty: it does. Null: it always does.
  std::string (*no_effect)(const Settings& settings) = nullptr;
};

/// All options in the order of --help.
[[nodiscard]] std::span<const OptionInfo> options();

/// The option with this name in C++, in the program (without dashes) or in Python; null when there is none.
[[nodiscard]] const OptionInfo* find_option(std::string_view name);

/// "num-permutations" or what the row says instead; likewise for Python.
[[nodiscard]] std::string flag_name(const OptionInfo& option);
[[nodiscard]] std::string keyword_name(const OptionInfo& option);

/// Defaults of a command.
[[nodiscard]] Settings default_settings(Command command);

/// For front ends that read no files: throws Error{invalid_option} if an option names one.
void require_no_files(const Settings& settings);

/// The values that the option accepts, in words: "a whole number in 1..1048576", "one of raise, omit".
[[nodiscard]] std::string accepted_values(const OptionInfo& option);

/// The whole number that the text spells. Throws Error{invalid_option} with `id` as its subject.
[[nodiscard]] std::uint64_t whole_number(std::string_view id, std::string_view text, std::uint64_t lowest,
                                         std::uint64_t highest);

/// Sets an option from a text, which must not be empty. Throws Error{invalid_option}.
void set_option(Settings& settings, const OptionInfo& option, std::string_view text);

/// Combines options that depend on each other, once all are set: kernel and bandwidth, the method and its parameters,
/// compat flags, missing values. Chooses the method where none is set (default_test_method()). Throws
/// Error{invalid_option}.
void complete(Settings& settings);

/// "power, weighting: no effect on method mmd": a warning for each reason, about those of `given` without effect.
[[nodiscard]] Warnings no_effect_warnings(const Settings& settings, std::span<const OptionInfo* const> given,
                                          OptionNames names);

/// The options that differ from the defaults of their command; to be asked before complete().
[[nodiscard]] std::vector<const OptionInfo*> changed_options(const Settings& settings);

/// Throws Error{invalid_option} if an option is set that decides how rows are read or counted: a profile has them
/// counted already. To be asked before complete().
void require_for_profiles(const Settings& settings);

/// Names of the program, "--power 2", of Python, "power=2", and of R, "power = 2", for render().
[[nodiscard]] std::string program_names(std::string_view id, std::string_view value);
[[nodiscard]] std::string python_names(std::string_view id, std::string_view value);
[[nodiscard]] std::string r_names(std::string_view id, std::string_view value);

}  // namespace kqd
