// The table of options: every row can be set and read back, and names are unambiguous.
#include "kqd/options/options.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "kqd/core/error.hpp"
#include "kqd/metrics/methods.hpp"

namespace kqd {
namespace {

const std::map<std::string, std::string, std::less<>>& other_values() {
  static const std::map<std::string, std::string, std::less<>> values = {{"bandwidth", "0.1"},
                                                                         {"delimiter", "tab"},
                                                                         {"image_shape", "28x28x1"},
                                                                         {"reference", "points.csv"},
                                                                         {"design", "blocks:a:b"},
                                                                         {"max_memory", "2000000B"},
                                                                         {"parameters", "slices=3"},
                                                                         {"weighting", "triangle:0.5"},
                                                                         {"levels", "0.25,0.5"},
                                                                         {"groups", "key:user:id"},
                                                                         {"tolerance", "0.5"},
                                                                         {"baseline", "previous"},
                                                                         {"average_run_length", "100"},
                                                                         {"every", "week"},
                                                                         {"sizes", "3,4"}};
  return values;
}

// A value that is not the default.
std::string other_value(const OptionInfo& option) {
  if (const auto found = other_values().find(option.id); found != other_values().end()) {
    return found->second;
  }
  switch (option.type) {
    case OptionType::flag:
      return option.get(Settings{}) == "yes" ? "no" : "yes";
    case OptionType::count:
      return "3";
    case OptionType::real:
      return option.highest == 0 ? "1.25" : "0.1";
    default:
      return option.choices == nullptr ? "some text" : option.choices().at(1);
  }
}

Settings with(std::initializer_list<std::pair<std::string_view, std::string_view>> values,
              Command command = kTestCommand) {
  Settings settings = default_settings(command);
  for (const auto& [id, text] : values) set_option(settings, *find_option(id), text);
  return settings;
}

std::string message_of(const std::function<void()>& call, OptionNames names) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_option);
    return render(error.parts(), names);
  }
  return "";
}

TEST(Options, every_option_is_set_from_text_and_read_back) {
  for (const OptionInfo& option : options()) {
    Settings settings;
    const std::string text = other_value(option);
    set_option(settings, option, text);
    EXPECT_EQ(option.get(settings), text) << option.id;
    EXPECT_NE(option.get(settings), option.get(Settings{})) << option.id;
    for (const OptionInfo& other : options()) {
      const bool linked = option.id.ends_with("header") && other.id.ends_with("header");
      if (&other == &option || linked) continue;
      EXPECT_EQ(other.get(settings), other.get(Settings{})) << option.id << other.id;
    }
  }
}

TEST(Options, every_choice_is_accepted) {
  for (const OptionInfo& option : options()) {
    if (option.choices == nullptr || option.id == "design") continue;
    for (const std::string& word : option.choices()) {
      const bool needs_parameters = word == "interval" || word == "beta" || word == "atom" || word == "table";
      Settings settings;
      if (needs_parameters) continue;
      EXPECT_NO_THROW(set_option(settings, option, word)) << option.id << " " << word;
    }
  }
}

TEST(Options, names_are_unique_in_every_front_end) {
  std::set<std::string> ids;
  std::set<std::string> flags;
  std::set<std::string> keywords;
  for (const OptionInfo& option : options()) {
    EXPECT_TRUE(ids.emplace(option.id).second) << option.id;
    EXPECT_TRUE(flags.insert(flag_name(option)).second) << option.id;
    EXPECT_TRUE(keywords.insert(keyword_name(option)).second) << option.id;
    EXPECT_EQ(find_option(option.id), &option);
    EXPECT_EQ(find_option(flag_name(option)), &option);
    EXPECT_FALSE(option.help.empty() || option.section.empty());
    EXPECT_TRUE(option.commands != 0 || option.calls != 0) << option.id;
  }
}

TEST(Options, defaults_of_the_table_are_those_of_the_structs) {
  Settings settings = default_settings(kTestCommand);
  complete(settings);
  EXPECT_EQ(settings.test.method, "adaptive");
  EXPECT_EQ(settings.test.test.num_permutations, TestOptions{}.num_permutations);
  EXPECT_EQ(settings.test.test.alpha, TestOptions{}.alpha);
  EXPECT_EQ(settings.explain.alpha, ExplainOptions{}.alpha);
  EXPECT_EQ(settings.read.na_values, ReadOptions{}.na_values);
  EXPECT_EQ(settings.test.statistic.parameters, MethodOptions{}.parameters);
  Settings explain = default_settings(kExplainCommand);
  complete(explain);
  EXPECT_EQ(explain.explain.num_permutations, ExplainOptions{}.num_permutations);
}

TEST(Options, numbers_arrive_exactly) {
  const Settings settings =
      with({{"power", "1.1000000000000001"}, {"seed", "18446744073709551615"}, {"alpha", "1e-300"}});
  EXPECT_EQ(settings.test.statistic.power, 1.1);
  EXPECT_EQ(settings.test.statistic.seed.value, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(settings.test.test.alpha, 1e-300);
  EXPECT_TRUE(std::isinf(with({{"power", "inf"}}).test.statistic.power));
}

TEST(Options, a_value_out_of_range_is_refused_in_the_words_of_the_front_end) {
  const auto set_permutations = [] { static_cast<void>(with({{"num_permutations", "0"}})); };
  EXPECT_EQ(message_of(set_permutations, program_names), "--permutations 0: expected a whole number in 1..1000000000");
  EXPECT_EQ(message_of(set_permutations, python_names), "n_resamples=0: expected a whole number in 1..1000000000");
  const auto set_directions = [] { static_cast<void>(with({{"directions", "linaer"}})); };
  EXPECT_EQ(message_of(set_directions, program_names),
            "--directions linaer: expected one of gaussian, linear, axis, principal, mixed; did you mean linear?");
  EXPECT_EQ(message_of(set_directions, python_names),
            "directions=\"linaer\": expected one of gaussian, linear, axis, principal, mixed; did you mean linear?");
  const auto set_flag = [] { static_cast<void>(with({{"set_aside", "maybe"}})); };
  EXPECT_EQ(message_of(set_flag, program_names), "--set-aside maybe: expected yes or no");
  for (const auto* alpha : {"0", "1", "nan", "-1", "x", "0.5 "}) {
    EXPECT_NE(message_of([&] { static_cast<void>(with({{"alpha", alpha}})); }, library_names), "") << alpha;
  }
}

TEST(Options, settings_are_written_with_the_names_of_the_front_end) {
  EXPECT_EQ(program_names("allow_quadratic", "true"), "--yes-quadratic");
  EXPECT_EQ(r_names("allow_quadratic", "true"), "allow_quadratic = TRUE");
  EXPECT_EQ(r_names("seed", "7"), "seed = 7");
  EXPECT_EQ(r_names("threads", ""), "threads");
  EXPECT_EQ(r_names("num_permutations", "9"), "n_resamples = 9");
  EXPECT_EQ(r_names("na", "omit"), "na = \"omit\"");
  EXPECT_EQ(python_names("allow_quadratic", "true"), "allow_quadratic=True");
  EXPECT_EQ(program_names("set_aside", "no"), "--set-aside no");
  EXPECT_EQ(python_names("set_aside", "no"), "set_aside=False");
  EXPECT_EQ(program_names("header", "absent"), "--no-header");
  EXPECT_EQ(program_names("default_na", "no"), "--no-default-na");
  EXPECT_EQ(program_names("header", "present"), "--header");
  EXPECT_EQ(program_names("early_stop", "betting"), "--early-stop=betting");
  EXPECT_EQ(python_names("method", "ekqd"), "method=\"ekqd\"");
  EXPECT_EQ(python_names("bandwidth", "2"), "bandwidth=2");
  EXPECT_EQ(program_names("parameters", "combine=rank"), "--set combine=rank");
  EXPECT_EQ(python_names("parameters", "combine=rank"), "combine=\"rank\"");
  EXPECT_EQ(python_names("seed", ""), "rng");
}

TEST(Options, values_are_quoted_for_a_shell_where_it_would_interpret_them) {
  EXPECT_EQ(program_names("na_values", "n/a"), "--na-values n/a");
  EXPECT_EQ(program_names("na_values", "not known"), "--na-values 'not known'");
  EXPECT_EQ(program_names("na_values", "$5"), "--na-values '$5'");
  EXPECT_EQ(program_names("na_values", "it's"), "--na-values 'it'\\''s'");
  EXPECT_EQ(program_names("drop", "\"a, b\""), "--drop '\"a, b\"'");
}

TEST(Options, options_that_depend_on_each_other_are_combined) {
  Settings settings =
      with({{"bandwidth", "2"}, {"compat", "extra-direction"}, {"na_values", "1,5;x"}, {"decimal_comma", "yes"}});
  complete(settings);
  EXPECT_EQ(to_string(settings.test.statistic.kernel), "gaussian@2");
  EXPECT_EQ(settings.test.statistic.directions.num_directions, 65U);
  EXPECT_EQ(settings.test.method, "ekqd");
  EXPECT_EQ(settings.read.na_values, (std::vector<std::string>{"1,5", "x"}));
  Settings linear = with({{"bandwidth", "2"}, {"kernel", "linear"}});
  EXPECT_EQ(message_of([&] { complete(linear); }, program_names),
            "--bandwidth 2: expected none, because kernel linear has no bandwidth");
}

TEST(Options, a_size_has_a_unit_and_an_option_with_a_value_is_yes_or_no) {
  for (const auto& [id, text] : {std::pair("max_memory", "2000000"), std::pair("set_aside", "true")}) {
    Settings settings;
    EXPECT_THROW(set_option(settings, *find_option(id), text), Error) << id;
  }
}

TEST(Options, options_without_effect_are_named_with_the_reason) {
  const auto notes = [](Settings settings) {
    const auto changed = changed_options(settings);
    complete(settings);
    std::vector<std::string> texts;
    for (const Warning& warning : no_effect_warnings(settings, changed, program_names))
      texts.push_back(render(warning));
    return texts;
  };
  using Notes = std::vector<std::string>;
  EXPECT_EQ(notes(with({{"method", "mmd"}, {"power", "2"}, {"num_directions", "3"}})),
            Notes{"--num-directions, --power: no effect on method mmd"});
  EXPECT_EQ(notes(with({{"method", "ekqd"}, {"whiten", "yes"}})),
            Notes{"--whiten: no effect on method ekqd with gaussian directions"});
  EXPECT_EQ(notes(with({{"method", "mmd-lin"}, {"calibration", "asymptotic"}, {"num_permutations", "99"}})),
            Notes{"--permutations: no effect with --calibration asymptotic"});
  EXPECT_EQ(notes(with({{"method", "mmd-agg"}, {"kernel", "laplace"}})),
            Notes{"--kernel: no effect on method mmd-agg"});
  EXPECT_TRUE(notes(with({{"method", "mmd-agg"}, {"kernel", "mixed"}})).empty());
  EXPECT_EQ(notes(with({{"alpha", "0.1"}}, kMatrixCommand)), Notes{"--alpha: no effect without --test"});
  EXPECT_EQ(notes(with({{"power", "2"}})), Notes{});
}

}  // namespace
}  // namespace kqd
