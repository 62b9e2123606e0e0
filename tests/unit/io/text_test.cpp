#include "io/text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace kqd {
namespace {

TEST(Text, printable_text_keeps_letters_of_every_script) {
  EXPECT_EQ(printable("a \"b\" \\ größe 日本 😀"), "a \"b\" \\ größe 日本 😀");
}

TEST(Text, control_characters_and_stray_bytes_are_written_out) {
  EXPECT_EQ(printable("a\n\t\r\x1b[31m\x7f"), "a\\n\\t\\r\\x1b[31m\\x7f");
  EXPECT_EQ(printable(std::string("\0", 1)), "\\x00");
  EXPECT_EQ(printable("caf\xe9"), "caf\\xe9");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b") << "U+009B starts a terminal command";
}

TEST(Text, a_shown_value_is_cut_after_forty_characters_not_bytes) {
  std::string forty;
  for (int i = 0; i < 40; ++i) forty += "é";
  EXPECT_EQ(in_quotes(forty), '"' + forty + '"');
  EXPECT_EQ(in_quotes(forty + "x"), '"' + forty + "...\"");
  EXPECT_EQ(shortened(forty + "x"), forty + "...");
  EXPECT_EQ(in_quotes("a\"b\\"), R"("a\"b\\")");
}

// Well-formed and ill-formed sequences of the Unicode standard, table 3-7.
TEST(Text, utf8_is_distinguished_from_other_bytes) {
  for (const char* good :
       {"", "a", "\xc2\x80", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(is_utf8(good)) << printable(good);
  }
  for (const char* bad : {"\x80", "\xc0\xaf", "\xc1\xbf", "\xc2", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xe2\x82",
                          "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "ok\xe9"}) {
    EXPECT_FALSE(is_utf8(bad)) << printable(bad);
  }
}

}  // namespace
}  // namespace kqd
