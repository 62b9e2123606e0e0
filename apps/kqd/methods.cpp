#include "methods.hpp"

#include <fmt/format.h>

#include "flags.hpp"
#include "output.hpp"

namespace kqd::app {
namespace {

void explain_method(const MethodInfo& m) {
  print(fmt::format("\n{}: {}\n\n{}\n\n", m.id, m.summary, render(m.details, program_names)));
  print(
      fmt::format("  family           {}\n  reports          {}\n  cost             {}\n  per permutation  {}\n"
                  "  calibration      {}\n  reference        {}\n\n",
                  m.family, m.reports, m.cost, m.permutation, m.calibrations, m.reference));
  if (m.parameters.empty()) return;
  print("Parameters, as --set NAME=VALUE:\n");
  print_parameters(m.parameters, "  ");
  print("\n");
}

// The id is an argument here, not the option --method.
void require_method(const std::string& id) {
  try {
    static_cast<void>(find_method(id));
  } catch (const Error& error) {
    ErrorParts parts = error.parts();
    parts.subject.clear();
    parts.value = fmt::format("unknown method \"{}\"", parts.value);
    throw Error(error.code(), parts);
  }
}

}  // namespace

void print_parameters(std::span<const ParameterInfo> parameters, std::string_view indent) {
  for (const ParameterInfo& parameter : parameters) {
    print(fmt::format("{}{:<14} {} (default {}; {})\n", indent, parameter.name, parameter.meaning,
                      parameter_text(parameter, parameter.default_value), parameter_range(parameter)));
  }
}

void add_methods_flags(CLI::App& command, MethodsFlags& flags) {
  CLI::Option* const id = command.add_option("ID", flags.id, "the method to explain");
  offer_words(*id, find_option("method")->choices());
  CLI::Option* const json = command.add_flag("--json", flags.json, "print a JSON list");
  CLI::Option* const csv = command.add_flag("--csv", flags.csv, "print a line of names and a line per method");
  CLI::Option* const markdown = command.add_flag("--markdown", flags.markdown, "print a table in Markdown");
  json->excludes(csv)->excludes(markdown);
  csv->excludes(markdown);
}

int run_methods(const MethodsFlags& flags) {
  if (!flags.id.empty()) require_method(flags.id);
  if (flags.json) {
    print(methods_json(flags.id));
  } else if (flags.csv) {
    print(methods_csv(flags.id));
  } else if (flags.markdown) {
    print(methods_markdown(flags.id));
  } else if (flags.id.empty()) {
    print(fmt::format("{:<16} {:<18} {}\n", "id", "family", "what it is"));
    for (const MethodInfo& m : methods()) print(fmt::format("{:<16} {:<18} {}\n", m.id, m.family, m.summary));
  } else {
    explain_method(find_method(flags.id));
  }
  return 0;
}

}  // namespace kqd::app
