// Types of columns that are inferred from both samples, and missing values as columns of their own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "kqd/io/frame.hpp"
#include "kqd/io/read.hpp"
#include "support/scratch_folder.hpp"
#include "unit/io/sample_values.hpp"

namespace kqd {
namespace {

class ColumnTypes : public testing::Test {
 protected:
  SamplePair pair(std::string_view x, std::string_view y, const ReadOptions& options = {}) const {
    return read_pair(folder_.write("x.csv", x), folder_.write("y.csv", y), options);
  }
  std::string message(std::string_view x, std::string_view y, const ReadOptions& options = {}) const {
    try {
      static_cast<void>(pair(x, y, options));
    } catch (const Error& error) {
      return folder_.without_folder(error.what());
    }
    return "no error";
  }

  test::ScratchFolder folder_;
};

// "income number, plan category of 2, ...": every column in a few words.
std::string types_of(const SamplePair& pair) {
  std::string text;
  for (const ColumnSource& source : pair.preparation.sources) {
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", source.name, to_string(source.type),
                        source.excluded ? " excluded" : "");
  }
  return text;
}

std::string roles_of(const Sample& sample) {
  std::string text;
  for (const ColumnRole& role : sample.roles) {
    const char kind = role.kind == ColumnKind::number ? 'n' : role.kind == ColumnKind::level ? 'l' : 'm';
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", kind, role.source);
  }
  return text;
}

TEST_F(ColumnTypes, a_table_of_complete_numbers_is_taken_as_it_is) {
  const SamplePair found = pair("a,b,c\n1.5,0,7\n2.5,1,7\n", "a,b,c\n3.5,1,7\n");
  EXPECT_EQ(values_of(found.x), (Values{1.5, 0, 7, 2.5, 1, 7}));
  EXPECT_TRUE(found.x.roles.empty());
  EXPECT_EQ(types_of(found), "a number, b boolean, c constant");
  EXPECT_TRUE(describe(found.preparation).empty());
}

TEST_F(ColumnTypes, each_kind_of_column_is_recognised) {
  const SamplePair found =
      pair("day,plan,paid,score,left,same\n2024-01-01,pro,yes,0.5,true,x\n2024-01-03,basic,no,1.5,false,x\n",
           "day,plan,paid,score,left,same\n2024-01-02,pro,no,2.5,true,x\n2024-01-02,free,no,0.5,true,x\n");
  EXPECT_EQ(types_of(found),
            "day date, plan category, paid boolean, score number, left boolean, same constant excluded");
  EXPECT_EQ(found.x.column_names, (Names{"day", "plan=basic", "plan=free", "plan=pro", "paid", "score", "left"}));
  EXPECT_EQ(roles_of(found.x), "n0 l1 l1 l1 n2 n3 n4");
  EXPECT_EQ(roles_of(found.y), roles_of(found.x));
  EXPECT_EQ(values_of(found.x), (Values{19723, 0, 0, 1, 1, 0.5, 1, 19725, 1, 0, 0, 0, 1.5, 0}));
  EXPECT_EQ(found.preparation.sources[1].levels, (Names{"basic", "free", "pro"}));
}

TEST_F(ColumnTypes, missing_values_become_a_column_of_their_own) {
  const SamplePair found = pair("a,plan\n1,x\n,y\n3,\n", "a,plan\n5,x\n7,y\n");
  EXPECT_EQ(found.x.column_names, (Names{"a", "a missing", "plan=x", "plan=y", "plan missing"}));
  EXPECT_EQ(roles_of(found.x), "n0 m0 l1 l1 m1");
  // The median of 1, 3, 5, 7 fills the gap; a missing text has no level.
  EXPECT_EQ(values_of(found.x), (Values{1, 0, 1, 0, 0, 4, 1, 0, 1, 0, 3, 0, 0, 0, 1}));
  EXPECT_EQ(found.preparation.sources[0].missing_x, 1U);
  EXPECT_EQ(found.preparation.sources[0].missing_y, 0U);
}

// Swapping the samples changes nothing but their order: decisions depend on the pool only.
TEST_F(ColumnTypes, decisions_do_not_depend_on_the_labels) {
  std::string a = "v,w,id\n";
  std::string b = a;
  for (int i = 0; i < 40; ++i) {
    a += fmt::format("{},{},id{}\n", i % 3 == 0 ? "" : fmt::format("{}", i), i % 7 == 0 ? "p" : "q", i);
    b += fmt::format("{},{},id{}\n", i % 5 == 0 ? "" : fmt::format("{}", i * i), i % 2 == 0 ? "p" : "r", 100 + i);
  }
  const SamplePair one = pair(a, b);
  const SamplePair other = pair(b, a);
  EXPECT_EQ(values_of(one.x), values_of(other.y));
  EXPECT_EQ(values_of(one.y), values_of(other.x));
  EXPECT_EQ(one.x.roles, other.x.roles);
  EXPECT_EQ(types_of(one), "v number, w category, id id excluded");
}

TEST_F(ColumnTypes, ids_are_excluded_also_when_samples_share_them) {
  std::string text = "customer_id,code,v\n";
  for (int i = 0; i < 60; ++i) text += fmt::format("{},c{},{}\n", 1000 + i, 1000 + i, i % 4);
  const SamplePair same = pair(text, text);
  EXPECT_EQ(types_of(same), "customer_id id excluded, code id excluded, v integer");
  EXPECT_EQ(same.x.column_names, (Names{"v"}));
  EXPECT_EQ(roles_of(same.x), "n2");
  EXPECT_EQ(types_of(pair(text, text, {.types = "customer_id=number,code=text"})),
            "customer_id number, code text, v integer");
}

TEST_F(ColumnTypes, rare_texts_share_a_level_and_many_even_ones_are_hashed) {
  std::string some = "city\n";
  std::string many = "city\n";
  for (int i = 0; i < 600; ++i) {
    some += fmt::format("c{}\n", i < 450 ? i % 5 : i);
    many += fmt::format("c{}\n", i % 200);
  }
  const SamplePair pooled = pair(some, some);
  EXPECT_EQ(pooled.preparation.sources[0].type, ColumnType::category);
  EXPECT_EQ(pooled.preparation.sources[0].levels.size(), kMostLevels);
  EXPECT_EQ(pooled.preparation.sources[0].levels.back(), "(other)");
  EXPECT_EQ(pooled.preparation.sources[0].note, "56 rare texts are one level");
  const SamplePair hashed = pair(many, many);
  EXPECT_EQ(hashed.preparation.sources[0].type, ColumnType::text);
  EXPECT_EQ(hashed.x.points.cols(), kHashedColumns);
  EXPECT_EQ(pair(many, many, {.types = "city=category"}).x.points.cols(), kMostLevels);
}

TEST_F(ColumnTypes, a_hundred_thousand_levels_fit) {
  std::string text = "v\n";
  for (int i = 0; i < 200'000; ++i) text += fmt::format("t{}\n", i % 100'000);
  const SamplePair found = pair(text, text);
  EXPECT_EQ(found.preparation.sources[0].type, ColumnType::text);
  EXPECT_EQ(found.preparation.sources[0].note, "100000 texts in 64 hashed columns");
}

TEST_F(ColumnTypes, numbers_in_one_file_and_texts_in_the_other_are_refused_or_few_levels) {
  std::string numbers = "code,v\n";
  std::string texts = numbers;
  for (int i = 0; i < 30; ++i) {
    numbers += fmt::format("{},1\n", i);
    texts += fmt::format("A{},2\n", i);
  }
  EXPECT_EQ(message(numbers, texts),
            "y.csv:2: column \"code\" is \"A0\", but 30 other cells of the column are numbers, expected numbers or "
            "texts, not both. To treat texts as missing: types = code=number; to compare all as texts: types = "
            "code=category; to exclude the column: drop = code");
  EXPECT_EQ(types_of(pair(numbers, texts, {.types = "code=category"})), "code category, v integer");
  const SamplePair grades = pair("g\n1\n2\n3\n3\n2\n", "g\n1\nA\nA\n");
  EXPECT_EQ(grades.x.column_names, (Names{"g=1", "g=2", "g=3", "g=A"}));
}

TEST_F(ColumnTypes, a_text_in_a_declared_column_of_numbers_is_missing) {
  const SamplePair found = pair("a,b\n1,x\noops,y\n", "a,b\n3,x\n5,y\n", {.types = "a=number"});
  EXPECT_EQ(found.x.column_names, (Names{"a", "a missing", "b=x", "b=y"}));
  EXPECT_EQ(found.preparation.sources[0].missing_x, 1U);
  EXPECT_EQ(found.preparation.sources[0].note, "texts count as missing: 1");
}

TEST_F(ColumnTypes, dates_in_two_formats_are_dates) {
  const SamplePair found = pair("d\n2024-02-29\n2024/03/01\n", "d\n01.03.2024\n2024-03-01T12:00\n");
  EXPECT_EQ(values_of(found.x), (Values{19782, 19783}));
  EXPECT_EQ(values_of(found.y), (Values{19783, 19783.5}));
  EXPECT_EQ(message("d\n02/03/2024\n", "d\n05/04/2024\n"),
            "x.csv:2: column \"d\" is \"02/03/2024\", a date whose order of day and month is not known. If the day is "
            "first: types = d=date-dmy; if the month is: types = d=date-mdy; to compare as texts: types = d=category");
  EXPECT_EQ(values_of(pair("d\n02/03/2024\n", "d\n2024-03-01\n", {.types = "d=date-dmy"}).x), (Values{19784}));
  EXPECT_EQ(values_of(pair("d\n02/03/2024\n", "d\n2024-03-01\n", {.types = "d=date-mdy"}).x), (Values{19756}));
  EXPECT_NE(message("d\n2024-03-01\nsoon\n", "d\n2024-03-02\n").find("1 other cells"), 0U);
}

TEST_F(ColumnTypes, booleans_may_be_words_in_one_file_and_numbers_in_the_other) {
  const SamplePair found = pair("b\nyes\nNo\n", "b\n0\n1\n");
  EXPECT_EQ(values_of(found.x), (Values{1, 0}));
  EXPECT_EQ(values_of(found.y), (Values{0, 1}));
  EXPECT_EQ(types_of(found), "b boolean");
}

TEST_F(ColumnTypes, empty_columns_are_excluded_and_levels_that_look_alike_are_remarked) {
  const SamplePair found = pair("e,p\n,Pro\n,pro\n", "e,p\n,pro\n,basic\n");
  EXPECT_EQ(types_of(found), "e empty excluded, p category");
  EXPECT_EQ(found.preparation.sources[1].note, "\"Pro\" and \"pro\" differ only by case or blanks");
  EXPECT_NE(message("e,f\n,\n,\n", "e,f\n,NA\n").find("no column is left to compare"), std::string::npos);
}

TEST_F(ColumnTypes, one_message_has_all_that_was_decided) {
  const SamplePair found = pair("income,plan,n\n1.5,a,1\n,b,2\n", "income,plan,n\n2.5,a,3\n3.5,c,1\n");
  EXPECT_EQ(describe(found.preparation),
            (Names{"columns: income number (1 and 0 missing), plan category of 3, 1 number (to change a type: types; "
                   "missing numbers are marked, and kernels and distances see the pooled median there: na)"}));
  // A text that is missing has none of the levels, and nothing is filled in.
  const SamplePair texts = pair("plan,n\na,1\n,2\n", "plan,n\na,3\nc,1\n");
  EXPECT_NE(describe(texts.preparation).front().find("types; missing values: na)"), std::string::npos);
}

TEST_F(ColumnTypes, strict_options_refuse_texts_and_missing_values) {
  EXPECT_NE(message("a\nx\n", "a\ny\n", {.categorical = Categorical::raise}).find("expected a number"),
            std::string::npos);
  EXPECT_NE(message("a,b\n1,2\n,3\n", "a,b\n1,3\n", {.na = NaPolicy::raise}).find("1 value is missing"),
            std::string::npos);
}

TEST_F(ColumnTypes, types_are_words_for_columns_that_exist) {
  EXPECT_NE(message("a\n1\n", "a\n2\n", {.types = "b=category"}).find("there is no column \"b\""), std::string::npos);
  EXPECT_NE(message("a\n1\n", "a\n2\n", {.types = "a=categry"}).find("did you mean category"), std::string::npos);
  EXPECT_NE(message("a\n1\n", "a\n2\n", {.types = "a"}).find("columns and a type"), std::string::npos);
  EXPECT_EQ(pair("zip,\"a, b\"\n01,2\n1,3\n", "zip,\"a, b\"\n01,2\n", {.types = "zip=category,\"a, b\"=number"})
                .x.column_names,
            (Names{"zip=01", "zip=1", "a, b"}));
}

TEST_F(ColumnTypes, scales_leave_levels_as_they_are) {
  const SamplePair found = pair("a,p\n1,x\n3,y\n", "a,p\n1,y\n3,y\n", {.standardize = Standardize::zscore});
  EXPECT_EQ(found.x.points(0, 1), 1.0);
  EXPECT_EQ(found.x.points(1, 2), 1.0);
  EXPECT_LT(found.x.points(0, 0), 0.0);
}

// Tables of other languages have types of their own, which are taken at their word.
TEST_F(ColumnTypes, declared_types_of_tables_in_memory_win) {
  const Frame frame{.name = "x",
                    .columns = {{.name = "zip",
                                 .cells = CodedTexts{.codes = {0, 1, -1, 0}, .levels = {"1", "2"}},
                                 .type = ColumnType::category},
                                {.name = "day", .cells = std::vector{0.5, 1.5, 2.5, 3.5}, .type = ColumnType::date},
                                {.name = "n", .cells = std::vector<std::int64_t>{1, 2, 3, 4}}}};
  const SamplePair found = prepare_pair(frame, frame);
  EXPECT_EQ(types_of(found), "zip category, day date, n integer");
  EXPECT_EQ(found.x.column_names, (Names{"zip=1", "zip=2", "zip missing", "day", "n"}));
  EXPECT_EQ(values_of(found.x), (Values{1, 0, 0, 0.5, 1, 0, 1, 0, 1.5, 2, 0, 0, 1, 2.5, 3, 1, 0, 0, 3.5, 4}));
}

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

TEST_F(ColumnTypes, ordered_levels_are_compared_by_their_ranks) {
  const SamplePair found = pair("size,v\nS,1.5\nL,2.5\n,0.5\n", "size,v\nM,1.5\nL,3.5\nS,2\n",
                                {.types = "size=ordered:S<M<L", .na = NaPolicy::impute_median});
  EXPECT_EQ(values_of(found.x), (Values{0, 1.5, 2, 2.5, 1, 0.5}));
  EXPECT_EQ(values_of(found.y), (Values{1, 1.5, 2, 3.5, 0, 2}));
  EXPECT_EQ(types_of(found), "size ordered, v number");
  EXPECT_EQ(found.preparation.sources.front().note, "S < M < L are 0, 1, 2");
}

TEST_F(ColumnTypes, ordered_numbers_have_the_ranks_of_the_values_of_both_samples) {
  const SamplePair found = pair("a,b\n10,1\n1000,2\n", "a,b\n-5,3\n10,4\n", {.types = "a=ordered"});
  EXPECT_EQ(values_of(found.x), (Values{1, 1, 2, 2}));
  EXPECT_EQ(values_of(found.y), (Values{0, 3, 1, 4}));
}

TEST_F(ColumnTypes, texts_need_an_order_that_has_them_all) {
  EXPECT_TRUE(holds(message("size\nS\nL\n", "size\nM\n", {.types = "size=ordered"}),
                    "expected a number, because no order of levels is given"));
  const std::string other = message("size\nS\nL\n", "size\nM\n", {.types = "size=ordered:S<L"});
  EXPECT_TRUE(holds(other, "y.csv:2"));
  EXPECT_TRUE(holds(other, "is \"M\", expected a level of its order"));
  EXPECT_TRUE(
      holds(message("size\nS\n", "size\nM\n", {.types = "size=ordered:S<S"}), "different levels in their order"));
}

TEST_F(ColumnTypes, ordered_tables_in_memory_have_the_order_of_their_levels) {
  const auto frame = [](std::vector<std::int32_t> codes, std::vector<std::string> levels) {
    return Frame{"f", {{"size", CodedTexts{std::move(codes), std::move(levels)}, ColumnType::ordered}}};
  };
  // The second sample knows only some of the levels.
  const SamplePair found = prepare_pair(frame({0, 2, 1}, {"S", "M", "L"}), frame({1, 0}, {"S", "L"}));
  EXPECT_EQ(values_of(found.x), (Values{0, 2, 1}));
  EXPECT_EQ(values_of(found.y), (Values{2, 0}));
  const SamplePair other = prepare_pair(frame({0, 1, 1}, {"S", "L"}), frame({1, 0, 0}, {"L", "S"}));
  EXPECT_EQ(types_of(other), "size category");
}

TEST_F(ColumnTypes, of_integers_and_booleans_are_checked_where_they_are_declared) {
  const SamplePair found = pair("a,b\n1,yes\n2,no\n", "a,b\n3,1\n4,0\n", {.types = "a=integer,b=boolean"});
  EXPECT_EQ(types_of(found), "a integer, b boolean");
  EXPECT_EQ(values_of(found.x), (Values{1, 1, 2, 0}));
  EXPECT_TRUE(holds(message("a\n1.5\n", "a\n2\n", {.types = "a=integer"}), "expected whole numbers"));
  EXPECT_TRUE(holds(message("b\nyes\n", "b\nperhaps\n", {.types = "b=boolean"}),
                    "is \"perhaps\", expected true or false, yes or no, 1 or 0"));
  EXPECT_TRUE(holds(message("b\n1\n", "b\n2\n", {.types = "b=boolean"}), "expected 1 and 0"));
  EXPECT_EQ(types_of(pair("a,b\n1,2\n", "a,b\n3,4\n", {.types = "a=constant"})), "a constant excluded, b integer");
}

}  // namespace
}  // namespace kqd
