#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace kqd::app {

/// Help in 80 columns, or as many as a narrower screen has: long descriptions are wrapped and end with the default.
class HelpFormatter : public CLI::Formatter {
 public:
  /// 0: no screen.
  explicit HelpFormatter(std::size_t screen_width);
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_desc(const CLI::Option* option) const override;

 private:
  std::size_t width_;
};

/// A sentence on the arguments that `program` could not parse, and one on where help is.
[[nodiscard]] std::string usage_error(const CLI::App& program, const CLI::ParseError& error);
[[nodiscard]] std::string usage_help(const CLI::App& program);

}  // namespace kqd::app
