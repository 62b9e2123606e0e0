#include "io/date.hpp"

#include <chrono>
#include <cmath>
#include <cstddef>

namespace kqd {
namespace {

constexpr double kSecondsPerDay = 86400.0;

// The rest of a text that is read from the front; every reading fails for good once one has failed.
class Digits {
 public:
  explicit Digits(std::string_view text) : left_(text) {}

  // A number of exactly `count` digits.
  int number(std::size_t count) {
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const char c = next();
      if (c < '0' || c > '9') return fail();
      value = 10 * value + (c - '0');
    }
    return value;
  }

  void expect(std::string_view any_of) {
    if (any_of.find(next()) == std::string_view::npos) fail();
  }

  // Whether the next character is one of these; it is taken if so.
  bool accept(std::string_view any_of) {
    if (left_.empty() || any_of.find(left_.front()) == std::string_view::npos) return false;
    next();
    return true;
  }

  // The digits behind a decimal point, as a number below 1; one digit at least.
  double fraction() {
    double value = 0.0;
    double weight = 0.1;
    expect_digit();
    while (!left_.empty() && left_.front() >= '0' && left_.front() <= '9') {
      value += weight * (next() - '0');
      weight /= 10.0;
    }
    return value;
  }

  [[nodiscard]] bool at_end() const { return left_.empty(); }
  [[nodiscard]] bool good() const { return good_; }

 private:
  char next() {
    if (left_.empty()) return '\0';
    const char c = left_.front();
    left_.remove_prefix(1);
    return c;
  }
  void expect_digit() {
    if (left_.empty() || left_.front() < '0' || left_.front() > '9') fail();
  }
  int fail() {
    good_ = false;
    return 0;
  }

  std::string_view left_;
  bool good_ = true;
};

std::optional<double> days_of(int year, int month, int day) {
  const std::chrono::year_month_day date(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) return std::nullopt;
  return static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
}

std::optional<double> read_day(Digits& digits) {
  const int year = digits.number(4);
  digits.expect("-");
  const int month = digits.number(2);
  digits.expect("-");
  const int day = digits.number(2);
  return digits.good() ? days_of(year, month, day) : std::nullopt;
}

// One digit or two.
int read_short_number(Digits& digits, std::string_view text) {
  const bool two = text.size() > 1 && text[1] >= '0' && text[1] <= '9';
  return digits.number(two ? 2 : 1);
}

// Three numbers with the same separator between them, and nothing else: the year last or, with four digits, first.
struct DateParts {
  int first = 0;
  int second = 0;
  int third = 0;
  bool year_first = false;
};

std::optional<DateParts> read_parts(std::string_view text, char separator) {
  const auto one = text.find(separator);
  const auto two = one == std::string_view::npos ? one : text.find(separator, one + 1);
  if (two == std::string_view::npos || one == 0 || text.size() > 10) return std::nullopt;
  DateParts parts;
  parts.year_first = one == 4;
  if (!parts.year_first && (one > 2 || text.size() - two != 5)) return std::nullopt;
  Digits first(text.substr(0, one));
  Digits second(text.substr(one + 1, two - one - 1));
  Digits third(text.substr(two + 1));
  parts.first = parts.year_first ? first.number(4) : read_short_number(first, text);
  parts.second = read_short_number(second, text.substr(one + 1));
  parts.third = parts.year_first ? read_short_number(third, text.substr(two + 1)) : third.number(4);
  const bool whole = first.at_end() && second.at_end() && third.at_end();
  return whole && first.good() && second.good() && third.good() ? std::optional(parts) : std::nullopt;
}

// Minutes east of Greenwich; 0 where no zone is written.
std::optional<int> read_zone(Digits& digits) {
  if (digits.at_end() || digits.accept("Zz")) return 0;
  const bool west = digits.accept("-");
  if (!west) digits.expect("+");
  const int hours = digits.number(2);
  int minutes = 0;
  if (!digits.at_end()) {
    static_cast<void>(digits.accept(":"));
    minutes = digits.number(2);
  }
  if (!digits.good() || hours > 23 || minutes > 59) return std::nullopt;
  return (west ? -1 : 1) * (60 * hours + minutes);
}

std::optional<double> read_seconds(Digits& digits) {
  const int hour = digits.number(2);
  digits.expect(":");
  const int minute = digits.number(2);
  double second = 0.0;
  if (digits.accept(":")) {
    second = digits.number(2);
    if (digits.accept(".,")) second += digits.fraction();
  }
  const auto zone = read_zone(digits);
  if (!digits.good() || !zone || hour > 23 || minute > 59 || second >= 61.0) return std::nullopt;
  return 60.0 * (60 * hour + minute - *zone) + second;
}

}  // namespace

std::optional<double> parse_date(std::string_view text, DateOrder order) {
  Digits digits(text);
  const auto day = read_day(digits);
  if (!digits.good() || (!day && text.find_first_of("./") != std::string_view::npos)) {
    if (const auto dotted = read_parts(text, '.'); dotted && !dotted->year_first) {
      return days_of(dotted->third, dotted->second, dotted->first);
    }
    const auto slashed = read_parts(text, '/');
    if (!slashed) return std::nullopt;
    const auto& [first, second, third, year_first] = *slashed;
    if (year_first) return days_of(first, second, third);
    if (order == DateOrder::day_first) return days_of(third, second, first);
    if (order == DateOrder::month_first) return days_of(third, first, second);
    return std::nullopt;
  }
  if (!day || digits.at_end()) return day;
  digits.expect("T t");
  const auto seconds = read_seconds(digits);
  if (!seconds || !digits.at_end()) return std::nullopt;
  return *day + *seconds / kSecondsPerDay;
}

bool has_unknown_date_order(std::string_view text) {
  const auto parts = read_parts(text, '/');
  return parts && !parts->year_first;
}

}  // namespace kqd
