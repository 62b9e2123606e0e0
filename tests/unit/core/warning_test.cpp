#include "core/warning.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "support/errors.hpp"
#include "support/warnings.hpp"

namespace kqd {
namespace {

std::string flags(std::string_view id, std::string_view value) {
  return value.empty() ? fmt::format("--{}", id) : fmt::format("--{} {}", id, value);
}

TEST(WarningCatalogue, has_one_row_per_id_with_a_name_of_its_own) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < warning_catalogue().size(); ++i) {
    const WarningEntry& entry = warning_catalogue()[i];
    EXPECT_EQ(static_cast<std::size_t>(entry.id), i) << entry.name;
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_TRUE(std::regex_match(std::string(entry.name), std::regex("[a-z]+(-[a-z]+)*"))) << entry.name;
    EXPECT_EQ(parse_warning(warning_name(entry.id)), entry.id);
  }
  EXPECT_EQ(warning_catalogue().back().id, WarningId::neighbours_alike);  // the last id
  test::expect_error(ErrorCode::invalid_option, "unknown warning \"few\"",
                     [] { static_cast<void>(parse_warning("few")); });
}

TEST(WarningCatalogue, formats_every_sentence_with_all_of_its_values) {
  for (const WarningEntry& entry : warning_catalogue()) {
    const std::string text = render(Warning{.id = entry.id, .values = entry.example});
    EXPECT_FALSE(text.empty() || text.ends_with('.')) << entry.name;
    EXPECT_EQ(text.find_first_of("{}\x01\x02"), std::string::npos) << text;
    for (std::size_t i = 0; i < entry.example.size(); ++i) {
      EXPECT_TRUE(std::regex_search(std::string(entry.sentence), std::regex(fmt::format("\\{{{}[:}}]", i))))
          << entry.name << " does not use value " << i;
    }
  }
}

// The words of plain-english.md, and no flag of the command line.
TEST(WarningCatalogue, is_in_plain_english) {
  const std::regex words(
      "\\b(labelling|relabelling|laws?|chance|tell|tells|told|say|says|said|speaks?|alone|anew|beside|stands?|lies?|"
      "dear|bearable|affordable|pictures?|mended|is no|are no|set aside|left out|leave out|as far|as given|"
      "looked at)\\b|--| %",
      std::regex::icase);
  for (const WarningEntry& entry : warning_catalogue()) {
    for (const std::string_view text : {entry.sentence, entry.advice}) {
      std::smatch found;
      const std::string searched(text);
      EXPECT_FALSE(std::regex_search(searched, found, words)) << found.str() << " in: " << text;
    }
  }
}

TEST(Warning, names_options_in_the_words_of_the_front_end) {
  const Warning warning = make_warning(WarningId::too_many_reference_points, 9, 5);
  EXPECT_EQ(render(warning), "num_reference = 9 is more than the 5 pooled points, so all of them are used");
  EXPECT_EQ(render(warning, flags), "--num_reference 9 is more than the 5 pooled points, so all of them are used");
}

TEST(Warning, a_text_of_the_data_is_not_a_reference_to_an_option) {
  const std::string forged = KQD_OPTION("power=2") "{0}";
  EXPECT_NE(render(make_warning(WarningId::one_row, forged), flags).find(forged), std::string::npos);
}

TEST(Warning, values_that_do_not_fit_the_sentence_are_an_internal_error) {
  for (const std::vector<WarningValue>& values : {std::vector<WarningValue>{}, {WarningValue(1)}, {"X", "Y"}}) {
    test::expect_error(ErrorCode::internal, "the values of warning one-row do not fit its sentence",
                       [&] { static_cast<void>(render(Warning{.id = WarningId::one_row, .values = values})); });
  }
}

TEST(PairWarnings, count_equal_warnings_in_the_order_of_their_first_appearance) {
  PairWarnings of_pairs;
  of_pairs.add({make_warning(WarningId::one_row, "Y"), make_warning(WarningId::zero_distances)});
  of_pairs.add(test::only(WarningId::one_row, "X"));
  of_pairs.add(test::only(WarningId::one_row, "Y"));
  Warnings all;
  of_pairs.append_to(all, 3);
  EXPECT_EQ(test::texts(all),
            (std::vector<std::string>{"Y has only one row, so all of its quantiles are equal (2 of 3 pairs)",
                                      "all pooled points are equal, so the bandwidth is set to 1 (1 of 3 pairs)",
                                      "X has only one row, so all of its quantiles are equal (1 of 3 pairs)"}));
}

std::string escaped(std::string text) {
  return std::regex_replace(text, std::regex("\\|"), "\\|");
}

std::string guide_page() {
  std::string page =
      "# Warnings and notes\n\n"
      "A result carries warnings, which may change what it means, and notes on what was done. Each has an id that "
      "stays "
      "the same over versions and a sentence with values of the data. JSON has both: `{\"id\": \"one-row\", \"text\": "
      "\"X has only one row, ...\"}`. In Python `result.warnings` are the sentences and `result.warning_ids` the "
      "ids.\n\n"
      "Values below are examples. Options are written as in C++; the program writes `--weights-as frequency` and "
      "Python "
      "`weights_as=\"frequency\"`.\n\n"
      "| id | example | when it appears and what to do |\n|---|---|---|\n";
  for (const WarningEntry& entry : warning_catalogue()) {
    page +=
        fmt::format("| `{}` | {} | {} |\n", entry.name,
                    escaped(render(Warning{.id = entry.id, .values = entry.example})), escaped(render(entry.advice)));
  }
  return page +
         "\nThis page is made from the catalogue in `src/core/warning_catalogue.cpp`: "
         "`KQD_WRITE_GUIDE=1 build/release/tests/test_unit_core --gtest_filter=WarningCatalogue.*` writes it again.\n";
}

TEST(WarningCatalogue, is_what_the_guide_lists) {
  const std::string path = KQD_GUIDE "/warnings.md";
  if (std::getenv("KQD_WRITE_GUIDE") != nullptr) std::ofstream(path) << guide_page();
  std::ifstream file(path);
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(page, guide_page()) << "to write it again, set KQD_WRITE_GUIDE=1";
}

}  // namespace
}  // namespace kqd
