#include "experiments/experiments.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "experiments/illustrations.hpp"
#include "experiments/paper_rows.hpp"
#include "experiments/runtime.hpp"
#include "experiments/studies.hpp"
#include "experiments/study_report.hpp"
#include "experiments/study_results.hpp"
#include "experiments/study_run.hpp"
#include "experiments/theory.hpp"
#include "kqd/io/write.hpp"

namespace kqd {
namespace {

using namespace lab;  // NOLINT(google-build-using-namespace): this file joins both

struct Experiment {
  ExperimentInfo info;
  Study (*study)(const StudyRequest& request) = nullptr;
  /// Set for experiments that are not a Study.
  ExperimentReport (*run)(const ExperimentOptions& options, const RunControl* control) = nullptr;
};

constexpr std::array<std::string_view, 2> kTwoSchemes = {kSchemes[0], kSchemes[2]};
constexpr std::string_view kCifarData = "cifar10 (./dev data cifar10)";
constexpr std::string_view kFashionData = "fashion-mnist (./dev data fashion-mnist)";

constexpr std::array<Experiment, 24> kExperiments = {{
    {{"power-decay", "normal distributions whose variance differs in three of many coordinates",
      "figures 3a, 6a and their table", "", kSchemes, 300},
     power_decay},
    {{"laplace-gaussian", "Laplace and normal distributions of equal variance, compared by a cubic kernel",
      "figures 3b, 6b and their table", "", kSchemes, 300},
     laplace_gaussian},
    {{"galaxy", "Galaxy MNIST: a class of galaxies that is missing in X", "figures 3c, 6c, 7 left, 8 middle",
      "galaxy-mnist (your own files; ./dev data galaxy-mnist FILE.hdf5)", kSchemes, 200},
     galaxy},
    {{"fashion-mnist", "the design of galaxy on Fashion-MNIST", "the design of figures 3c, 6c", kFashionData, kSchemes,
      200},
     fashion_mnist},
    {{"cifar10", "the design of galaxy on CIFAR-10, 32 x 32 pixels", "the design of figures 3c, 6c", kCifarData,
      kSchemes, 200},
     cifar10},
    {{"cifar10.1", "CIFAR-10 against CIFAR-10.1, 64 x 64 pixels", "figures 3d, 6d, 7",
      "cifar10 and cifar10.1/cifar10.1_v4_data.npy (your own file)", kSchemes, 200},
     cifar10_1},
    {{"cifar10.1-32", "CIFAR-10 against CIFAR-10.1, 32 x 32 pixels", "the design of figures 3d, 6d",
      "cifar10 and cifar10.1/cifar10.1_v4_data.npy (your own file)", kSchemes, 200},
     cifar10_1_small},
    {{"cifar10-blur", "CIFAR-10 against blurred CIFAR-10, 64 x 64 pixels", "the design of figures 3d, 6d", kCifarData,
      kSchemes, 200},
     cifar10_blur},
    {{"cifar10-blur-32", "CIFAR-10 against blurred CIFAR-10, 32 x 32 pixels", "the design of figures 3d, 6d",
      kCifarData, kSchemes, 200},
     cifar10_blur_small},
    {{"type-one",
      "true null hypotheses: normal, heavy tails, ties, unequal sizes",
      "the design of figure 5",
      "",
      {},
      2000},
     type_one},
    {{"type-one-cifar", "a true null hypothesis: CIFAR-10 training against test images", "the design of figure 5",
      kCifarData, kTwoSchemes, 200},
     type_one_cifar},
    {{"nu-study", "weights of quantile levels", "the design of figure 7 left and middle", kFashionData, kTwoSchemes,
      200},
     nu_study},
    {{"xi-study", "sources of reference points", "the design of figure 7 right", kFashionData, {}, 200}, xi_study},
    {{"sliced", "sliced Wasserstein distances", "figure 8 left", "", {}, 300}, sliced},
    {{"kme",
      "approximate mean embeddings, as in the released code and corrected",
      "the design of figure 8 middle and right",
      "",
      {},
      300},
     kme},
    {{"fuse-mixture", "four normal distributions, one with another SD", "MMD-FUSE's first experiment", "", {}, 200},
     fuse_mixture},
    {{"fuse-perturbed", "a uniform distribution with two small waves", "MMD-FUSE's second experiment", "", {}, 200},
     fuse_perturbed},
    {{"scoreboard", "tests of kqd on published power benchmarks", "best published rates of other tests", "", {}, 200},
     scoreboard},
    {{"runtime", "seconds of statistics and tests by sample size", "figure 4", "", {}, 0}, nullptr, runtime},
    {{"figure-1", "quantiles of a distribution on the plane along all directions", "figure 1", "", {}, 0, 1},
     nullptr,
     figure_1},
    {{"figure-2", "P and Q along two directions of the feature space", "figure 2", "", {}, 0, 2}, nullptr, figure_2},
    {{"rates", "errors of embeddings and of e-KQD by rows and by directions", "Theorems 3 and 5", "", {}, 0},
     nullptr,
     convergence},
    {{"interpolation", "centered e-KQD between MMD and kernel sliced Wasserstein", "Connection 3", "", {}, 0},
     nullptr,
     interpolation},
    {{"same-moments", "distributions that polynomial kernels tell apart by quantiles only", "Theorem 2", "", {}, 0},
     nullptr,
     same_moments},
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
  fail(ErrorCode::invalid_option, {.value = fmt::format("unknown experiment \"{}\"", no_references(id)),
                                   .expected = fmt::format("one of {}{}", join(known), suggestion(id, known))});
}

std::string checked_scheme(const ExperimentInfo& info, const std::string& asked) {
  if (info.schemes.empty()) {
    if (asked.empty()) return "";
    fail_option("scheme", asked, fmt::format("none, because {} has no schemes", info.id));
  }
  if (asked.empty()) return std::string(info.schemes.front());
  if (std::ranges::find(info.schemes, asked) != info.schemes.end()) return asked;
  fail_option("scheme", asked,
              fmt::format("a scheme of {}: {}{}", info.id, join(info.schemes), suggestion(asked, info.schemes)));
}

// Experiments other than studies have neither rows nor runs.
void refuse_study_options(const ExperimentInfo& info, const ExperimentOptions& options) {
  if (!options.methods.empty()) {
    fail_option("methods", fmt::format("{}", fmt::join(options.methods, ",")),
                fmt::format("none, because {} has no rows to choose from", info.id));
  }
  if (options.runs > 0) {
    fail_option("runs", options.runs, fmt::format("none, because {} has no repeated runs", info.id));
  }
}

// Creates the folder if it is missing.
void require_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(ErrorCode::unwritable_output, "{}: cannot create the folder: {}", folder, error.message());
}

ExperimentReport run_rows(const Study& study, const ExperimentOptions& options, const RunControl* control) {
  const std::string stem = (std::filesystem::path(options.out) / file_stem(study)).string();
  const std::vector<std::size_t> rows = chosen_rows(study, options.methods);
  require_folder(options.out);
  for (const char* suffix : {".json", ".md", ".svg"})
    require_writable(stem + suffix);  // fails before the experiment is run
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
  if (!options.files.empty() && options.files.size() != experiment.info.files) {
    fail(ErrorCode::invalid_option,
         {.value = fmt::format("{} file{} of data for {}", options.files.size(), options.files.size() == 1 ? "" : "s",
                               experiment.info.id),
          .expected = experiment.info.files == 0 ? "none, because it has its own data"
                                                 : fmt::format("{}, or none", experiment.info.files)});
  }
  if (experiment.run != nullptr) {
    refuse_study_options(experiment.info, options);
    require_folder(options.out);
    return experiment.run(options, control);
  }
  Study study = experiment.study({.scheme = scheme, .quick = options.quick, .data = options.data});
  if (options.quick) make_quick(study);
  if (options.runs > 0) study.runs = options.runs;
  return run_rows(study, options, control);
}

}  // namespace kqd
