#include "io/date.hpp"

#include <gtest/gtest.h>

namespace kqd {
namespace {

TEST(ParseDate, counts_days_since_1970) {
  EXPECT_EQ(parse_date("1970-01-01"), 0.0);
  EXPECT_EQ(parse_date("1969-12-31"), -1.0);
  EXPECT_EQ(parse_date("2000-03-01"), 11017.0);  // 30 years of 365 days, 7 leap days before 2000, and 31 + 29 days
  EXPECT_EQ(parse_date("2024-02-29"), 19782.0);
}

TEST(ParseDate, a_time_is_a_part_of_a_day) {
  EXPECT_EQ(parse_date("1970-01-02T12:00"), 1.5);
  EXPECT_EQ(parse_date("1970-01-02 06:00:00"), 1.25);
  EXPECT_DOUBLE_EQ(*parse_date("1970-01-01T00:00:00.5"), 0.5 / 86400);
}

TEST(ParseDate, a_zone_shifts_the_time) {
  EXPECT_EQ(parse_date("1970-01-02T12:00Z"), 1.5);
  EXPECT_EQ(parse_date("1970-01-02T12:00+06:00"), 1.25);
  EXPECT_EQ(parse_date("1970-01-02T12:00:00-0600"), 1.75);
  EXPECT_EQ(parse_date("1970-01-02T12:00+06"), 1.25);
}

TEST(ParseDate, refuses_what_is_no_date) {
  for (const char* text : {"",
                           "2024",
                           "2024-02",
                           "2024-02-30",
                           "2023-02-29",
                           "2024-13-01",
                           "2024-00-01",
                           "2024-1-1",
                           "24-01-01",
                           "01/02/2024",
                           "2024-01-01x",
                           "2024-01-01T",
                           "2024-01-01T24:00",
                           "2024-01-01T12:60",
                           "2024-01-01T12",
                           "2024-01-01T12:00:61",
                           "2024-01-01T12:00:00.",
                           "2024-01-01T12:00+25:00",
                           "2024-01-01T12:00+6",
                           "2024-01-01T12:00ZZ",
                           "-2024-01-01"}) {
    EXPECT_EQ(parse_date(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace kqd
