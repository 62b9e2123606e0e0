#include "io/npy_header.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "core/fail.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

// The small part of Python's literals that numpy.save writes.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  NpyHeader parse() {
    NpyHeader header;
    expect("{");
    while (!accept("}")) {
      read_entry(header);
      if (accept("}")) break;
      expect(",");
    }
    check_tail();
    for (const std::string_view key : {"descr", "fortran_order", "shape"}) {
      if (!seen(key)) fail_at(ErrorCode::unreadable_input, name_, fmt::format("the header has no {}", in_quotes(key)));
    }
    return header;
  }

 private:
  [[nodiscard]] bool seen(std::string_view key) const { return std::ranges::find(keys_, key) != keys_.end(); }

  void read_entry(NpyHeader& header) {
    const std::string key = read_string("a key in quotes");
    if (seen(key)) fail_at(ErrorCode::unreadable_input, name_, fmt::format("the header has {} twice", in_quotes(key)));
    keys_.push_back(key);
    expect(":");
    if (key == "descr") {
      header.dtype = read_dtype();
    } else if (key == "fortran_order") {
      header.fortran_order = read_bool();
    } else if (key == "shape") {
      header.shape = read_shape();
    } else {
      fail_at(ErrorCode::unreadable_input, name_, fmt::format("the header has {}", in_quotes(key)),
              "\"descr\", \"fortran_order\" and \"shape\" only");
    }
  }

  std::string read_dtype() {
    if (accept("[")) {
      fail_at(ErrorCode::unreadable_input, name_, "holds records of several fields", "one array of numbers");
    }
    return read_string("a type in quotes");
  }

  bool read_bool() {
    if (accept("True")) return true;
    if (accept("False")) return false;
    fail_here("True or False");
  }

  // A tuple of whole numbers, with a comma even after a single one; files of Python 2 write 3L for 3.
  std::vector<std::uint64_t> read_shape() {
    std::vector<std::uint64_t> shape;
    expect("(");
    while (!accept(")")) {
      shape.push_back(read_size());
      static_cast<void>(accept("L"));
      if (shape.size() > 1 && accept(")")) break;
      expect(",");
    }
    return shape;
  }

  std::uint64_t read_size() {
    skip_blanks();
    std::uint64_t size = 0;
    const char* first = text_.data() + place_;
    const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), size);
    if (error == std::errc::result_out_of_range) fail_here("a size below 2^64");
    if (error != std::errc{}) fail_here("a size");
    place_ += static_cast<std::size_t>(end - first);
    return size;
  }

  std::string read_string(std::string_view expected) {
    skip_blanks();
    const char quote = place_ < text_.size() ? text_[place_] : '\0';
    if (quote != '\'' && quote != '"') fail_here(expected);
    const auto end = text_.find(quote, place_ + 1);
    if (end == std::string_view::npos) fail_here("a quote that is closed");
    const std::string_view content = text_.substr(place_ + 1, end - place_ - 1);
    place_ = end + 1;
    return std::string(content);
  }

  void check_tail() {
    place_ = std::min(text_.find_first_not_of(' ', place_), text_.size());
    if (text_.substr(place_) != "\n") fail_here("blanks and a line feed up to the end of the header");
  }

  void expect(std::string_view mark) {
    if (!accept(mark)) fail_here(in_quotes(mark));
  }

  bool accept(std::string_view mark) {
    skip_blanks();
    if (!text_.substr(place_).starts_with(mark)) return false;
    place_ += mark.size();
    return true;
  }

  void skip_blanks() { place_ = std::min(text_.find_first_not_of(" \t\n", place_), text_.size()); }

  [[noreturn]] void fail_here(std::string_view expected) const {
    const std::string found = place_ < text_.size() ? "starts " + in_quotes(text_.substr(place_)) : "is its end";
    fail_at(ErrorCode::unreadable_input, name_, fmt::format("the header at byte {} {}", place_ + 1, found),
            std::string(expected));
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t place_ = 0;
  std::vector<std::string> keys_;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::string& name) {
  return HeaderParser(text, name).parse();
}

}  // namespace kqd
