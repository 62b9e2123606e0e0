#include "kqd/experiments/experiments.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "experiments/paper_rows.hpp"
#include "experiments/studies.hpp"
#include "experiments/study_report.hpp"
#include "experiments/study_results.hpp"
#include "experiments/study_run.hpp"
#include "kqd/io/write.hpp"

namespace kqd {
namespace {

using namespace lab;  // NOLINT(google-build-using-namespace): this file joins both

struct Experiment {
  ExperimentInfo info;
  Study (*study)(const StudyRequest& request);
};

constexpr std::array<Experiment, 2> kExperiments = {{
    {{"power-decay", "normal laws whose variance differs in three of many coordinates",
      "figures 3a, 6a and their table", "", kSchemes, 300},
     power_decay},
    {{"laplace-gaussian", "Laplace and normal laws of one variance, told apart by a cubic kernel",
      "figures 3b, 6b and their table", "", kSchemes, 300},
     laplace_gaussian},
}};

constexpr auto kInfos = [] {
  std::array<ExperimentInfo, kExperiments.size()> infos{};
  std::ranges::transform(kExperiments, infos.begin(), &Experiment::info);
  return infos;
}();

const Experiment& find(std::string_view id) {
  const auto* const found = std::ranges::find(kExperiments, id, [](const Experiment& e) { return e.info.id; });
  if (found != kExperiments.end()) return *found;
  std::array<std::string_view, kExperiments.size()> known;
  std::ranges::transform(kInfos, known.begin(), &ExperimentInfo::id);
  fail(ErrorCode::invalid_option, "experiment \"{}\" is unknown, expected one of {}{}", id, join(known),
       suggestion(id, known));
}

std::string checked_scheme(const ExperimentInfo& info, const std::string& asked) {
  if (info.schemes.empty()) {
    if (asked.empty()) return "";
    fail(ErrorCode::invalid_option, "scheme \"{}\": experiment {} has one way to run alone, expected no scheme", asked,
         info.id);
  }
  if (asked.empty()) return std::string(info.schemes.front());
  if (std::ranges::find(info.schemes, asked) != info.schemes.end()) return asked;
  fail(ErrorCode::invalid_option, "scheme \"{}\" is unknown to {}, expected one of {}{}", asked, info.id,
       join(info.schemes), suggestion(asked, info.schemes));
}

// Made when it is missing; asked before the work, which may be long.
void require_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(ErrorCode::unwritable_output, "{}: the folder cannot be made: {}", folder, error.message());
  require_writable((std::filesystem::path(folder) / "results.json").string());
}

ExperimentReport run(const Study& study, const ExperimentOptions& options, const RunControl* control) {
  const std::string stem = (std::filesystem::path(options.out) / file_stem(study)).string();
  const std::vector<std::size_t> rows = chosen_rows(study, options.methods);
  StudyResults results(study);
  results.resume(stem + ".json", study, options.seed);
  run_study(study, rows, options.seed, options.threads, stem + ".json", results, control);
  ExperimentReport report{study_markdown(study, results), {stem + ".json", stem + ".md", stem + ".svg"}};
  write_text(stem + ".md", report.table);
  write_text(stem + ".svg", study_figure(study, results));
  return report;
}

}  // namespace

std::span<const ExperimentInfo> experiments() {
  return kInfos;
}

const ExperimentInfo& find_experiment(std::string_view id) {
  return find(id).info;
}

ExperimentReport run_experiment(std::string_view id, const ExperimentOptions& options, const RunControl* control) {
  const Experiment& experiment = find(id);
  const std::string scheme = checked_scheme(experiment.info, options.scheme);
  require_folder(options.out);
  Study study = experiment.study({.scheme = scheme, .quick = options.quick, .data = options.data});
  if (options.quick) make_quick(study);
  if (options.runs > 0) study.runs = options.runs;
  return run(study, options, control);
}

}  // namespace kqd
