#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace kqd::app {

/// Help in 80 columns, or as many as a narrower screen has: long descriptions are folded, defaults stand at their end.
class HelpFormatter : public CLI::Formatter {
 public:
  /// 0: no screen.
  explicit HelpFormatter(std::size_t screen_width);
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;

 private:
  std::size_t width_;
};

/// What is wrong with the arguments that `program` could not parse, in one sentence, and where help is, in another.
[[nodiscard]] std::string usage_error(const CLI::App& program, const CLI::ParseError& error);
[[nodiscard]] std::string usage_help(const CLI::App& program);

}  // namespace kqd::app
