#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

#include "experiments/images.hpp"
#include "scenario.hpp"

namespace kqd::validation {
namespace {

constexpr std::size_t kStudyRuns = 200;
constexpr std::int64_t kStudyPermutations = 999;

// Draws new data with `size` times the rows of the problem.
using Drawer = std::function<Draw(Seed, double size)>;

// A kind of difference: data with and without it.
struct Difference {
  std::string name;
  Drawer alternative;
  Drawer null;
  std::optional<double> bar = {};  ///< the power that the default test must reach
  bool one_unit = false;           ///< images: columns keep their common unit, as in the program
};

std::function<Draw(Seed)> of_size(const Drawer& drawer, double size) {
  if (!drawer) return {};
  return [=](Seed seed) { return drawer(seed, size); };
}

std::size_t scaled(std::size_t n, double size) {
  return static_cast<std::size_t>(std::lround(static_cast<double>(n) * size));
}

Drawer problem(ProblemRequest request, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) set_parameter(request, setting);
  return [request](Seed seed, double size) {
    ProblemRequest own = request;
    own.n_x = scaled(own.n_x, size);
    own.n_y = scaled(own.n_y, size);
    return draws_of(std::move(own))(seed);
  };
}

struct Sizes {
  std::size_t x;
  std::size_t y;
};

// A synthetic problem; `null` is the setting at which both distributions are the same.
Difference synthetic(std::string name, const std::string& id, Sizes n, std::size_t dim,
                     const std::vector<std::string>& settings, const std::string& null,
                     std::optional<double> bar = {}) {
  const ProblemRequest request{.name = id, .n_x = n.x, .n_y = n.y, .dim = dim};
  std::vector<std::string> without = settings;
  without.push_back(null);
  return {std::move(name), problem(request, settings), problem(request, without), bar};
}

// Laplace against Gaussian has no setting without a difference: two Laplace samples are the null.
Difference laplace_gaussian(std::size_t n, double bar) {
  const ProblemRequest request{.name = "laplace-gaussian", .n_x = 2 * n, .n_y = n, .dim = 1};
  const auto twice = problem(request, {});
  const auto null = [twice](Seed seed, double size) {
    const Draw data = twice(seed, size);
    const std::size_t rows = data.x.points.rows() / 2;
    const auto half = [&](std::size_t first) {
      return Sample{Matrix<double>(data.x.points.view().row_range(first, rows)), {}, {}};
    };
    return Draw{half(0), half(rows)};
  };
  return {"Laplace against Gaussian, n = " + std::to_string(n),
          problem({.name = "laplace-gaussian", .n_x = n, .n_y = n, .dim = 1}, {}), null, bar};
}

lab::ImageSource source_of(const std::string& folder) {
  return {folder + "/train-images.npy", folder + "/train-labels.npy", "`./dev data` fetches it"};
}

// Images, read once, when they are first needed.
const lab::ImageSet& images_of(const std::string& folder) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const lab::ImageSet>> known;
  const std::scoped_lock lock(mutex);
  auto& images = known[folder];
  if (!images) images = lab::read_images("data", source_of(folder));
  return *images;
}

// Images of three classes; a fourth one is 15% of Y. Empty unless `./dev data` has fetched the images.
Difference class_shift(const std::string& name, const std::string& folder, std::size_t n) {
  const auto with_share = [&](double share) -> Drawer {
    if (!std::filesystem::exists("data/" + source_of(folder).images)) return {};
    return [=](Seed seed, double size) {
      lab::Draw pair =
          lab::draw_class_shift(images_of(folder), share, scaled(n, size), seed, lab::SecondDraw::of_the_rest);
      return Draw{std::move(pair.x), std::move(pair.y)};
    };
  };
  return {.name = name + ", 15 % of a fourth class, n = " + std::to_string(n),
          .alternative = with_share(0.15),
          .null = with_share(0.0),
          .one_unit = true};
}

std::vector<Difference> differences() {
  return {
      synthetic("power decay, d = 128, n = 200", "power-decay", {200, 200}, 128, {}, "variance=1"),
      synthetic("power decay, d = 512, n = 200", "power-decay", {200, 200}, 512, {}, "variance=1", 0.90),
      synthetic("four Gaussians, sd 0.7, n = 500", "mixture", {500, 500}, 0, {"sd=0.7"}, "sd=1", 0.52),
      synthetic("four Gaussians, sd 1.6, n = 500", "mixture", {500, 500}, 0, {"sd=1.6"}, "sd=1", 0.85),
      synthetic("perturbed uniform, scale 0.3, n = 500", "perturbed-uniform", {500, 500}, 1, {"scale=0.3"}, "scale=0",
                0.52),
      laplace_gaussian(500, 0.90),
      synthetic("blobs, n = 500", "blobs", {500, 500}, 0, {}, "stretch=1"),
      synthetic("shift of all 20 columns by 0.08, n = 200", "mean-shift", {200, 200}, 20, {"k=20", "delta=0.08"},
                "delta=0"),
      synthetic("shift of 1 column of 100 by 0.4, n = 200", "mean-shift", {200, 200}, 100, {"k=1", "delta=0.4"},
                "delta=0"),
      synthetic("shift of 5 heavy-tailed columns by 0.25, n = 200 and 300", "mean-shift", {200, 300}, 5,
                {"k=5", "delta=0.25", "distribution=student", "df=2"}, "delta=0"),
      synthetic("shift of 3 discrete columns by 1, n = 150", "mean-shift", {150, 150}, 3,
                {"k=1", "delta=1", "distribution=discrete", "levels=8"}, "delta=0"),
      class_shift("Fashion-MNIST", "fashion-mnist", 300),
      class_shift("CIFAR-10", "cifar10", 300),
  };
}

struct Candidate {
  std::string name;
  std::string method;
  Parameters parameters = {};
};

std::vector<Candidate> candidates() {
  return {{"adaptive", "adaptive"}, {"adaptive, min-p", "adaptive", {{"combine", 1.0}}},
          {"e-KQD", "ekqd"},        {"sup-KQD", "supkqd"},
          {"MMD", "mmd"},           {"MMDAgg", "mmd-agg"},
          {"MMD-FUSE", "mmd-fuse"}};
}

// Other numbers of rows, as multiples of the problem's: half and twice as many for the default test, and for the others
// the number that takes about the time of the adaptive test on the problem itself, on one thread (measured at n = 200,
// d = 20 and 512 and n = 500, d = 1 and 2).
struct SizedCandidate {
  std::string table;
  std::string column;
  std::string method;
  double size;
};

std::vector<SizedCandidate> other_sizes() {
  const std::string sizes = "Power study, half and twice the rows";
  const std::string time = "Power study, equal time";
  return {{sizes, "adaptive, n/2", "adaptive", 0.5}, {sizes, "adaptive, 2n", "adaptive", 2.0},
          {sizes, "MMD, n/2", "mmd", 0.5},           {sizes, "MMD, 2n", "mmd", 2.0},
          {time, "e-KQD, 8n", "ekqd", 8.0},          {time, "MMD, 2.5n", "mmd", 2.5},
          {time, "MMD-FUSE, 0.4n", "mmd-fuse", 0.4}};
}

TwoSampleOptions options_of(const Difference& difference, const Candidate& candidate, std::int64_t permutations) {
  TwoSampleOptions options;
  options.own_scales = !difference.one_unit;
  options.method = candidate.method;
  options.statistic.parameters = candidate.parameters;
  options.test.num_permutations = permutations;
  return options;
}

// The synthetic problems again, of sizes at which groups have several rows: a group has n / 128 of them.
std::vector<Difference> larger_differences() {
  return {
      synthetic("power decay with variance 2.2, d = 128, n = 1024", "power-decay", {1024, 1024}, 128, {"variance=2.2"},
                "variance=1"),
      synthetic("power decay with variance 2.6, d = 512, n = 512", "power-decay", {512, 512}, 512, {"variance=2.6"},
                "variance=1"),
      synthetic("four Gaussians, sd 0.86, n = 2048", "mixture", {2048, 2048}, 0, {"sd=0.86"}, "sd=1"),
      synthetic("four Gaussians, sd 1.25, n = 2048", "mixture", {2048, 2048}, 0, {"sd=1.25"}, "sd=1"),
      synthetic("perturbed uniform, scale 0.15, n = 2048", "perturbed-uniform", {2048, 2048}, 1, {"scale=0.15"},
                "scale=0"),
      laplace_gaussian(384, 0.0),
      synthetic("blobs stretched by 1.3, n = 2048", "blobs", {2048, 2048}, 0, {"stretch=1.3"}, "stretch=1"),
      synthetic("shift of all 20 columns by 0.036, n = 1024", "mean-shift", {1024, 1024}, 20, {"k=20", "delta=0.036"},
                "delta=0"),
      synthetic("shift of 1 column of 100 by 0.18, n = 1024", "mean-shift", {1024, 1024}, 100, {"k=1", "delta=0.18"},
                "delta=0"),
      synthetic("shift of 5 heavy-tailed columns by 0.11, n = 1024 and 1536", "mean-shift", {1024, 1536}, 5,
                {"k=5", "delta=0.11", "distribution=student", "df=2"}, "delta=0"),
      synthetic("shift of 3 discrete columns by 1, n = 1024", "mean-shift", {1024, 1024}, 3,
                {"k=1", "delta=1", "distribution=discrete", "levels=20"}, "delta=0"),
  };
}

}  // namespace

std::vector<Scenario> group_power_scenarios() {
  constexpr std::int64_t kFewPermutations = 199;  // so that 0.05 is reached exactly
  std::vector<Scenario> scenarios;
  for (const Difference& difference : larger_differences()) {
    for (const Candidate& candidate : {Candidate{"adaptive", "adaptive"}, Candidate{"e-KQD", "ekqd"}}) {
      Scenario scenario{.table = "Power of groups",
                        .row = difference.name,
                        .column = candidate.name,
                        .draw = of_size(difference.alternative, 1.0),
                        .options = options_of(difference, candidate, kFewPermutations),
                        .expectation = {.kind = Expectation::Kind::reported},
                        .runs = 500};
      scenario.options.permute = Permute::rows;
      scenarios.push_back(std::move(scenario));
    }
  }
  return scenarios;
}

std::vector<Scenario> study_scenarios() {
  std::vector<Scenario> scenarios;
  for (const Difference& difference : differences()) {
    for (const Candidate& candidate : candidates()) {
      const bool is_default = candidate.name == "adaptive";
      Scenario scenario{.table = "Power study",
                        .row = difference.name,
                        .column = candidate.name,
                        .draw = of_size(difference.alternative, 1.0),
                        .options = options_of(difference, candidate, kStudyPermutations),
                        .expectation = {.kind = Expectation::Kind::reported},
                        .runs = kStudyRuns};
      if (is_default && difference.bar) {
        scenario.expectation = {.kind = Expectation::Kind::at_least, .at_least = *difference.bar};
      }
      const bool has_level_rows = !is_default;  // levels of the others are in "Level of every method"
      if (has_level_rows) {
        scenarios.push_back(std::move(scenario));
        continue;
      }
      Scenario null = scenario;
      null.table = "Power study, nulls";
      null.draw = of_size(difference.null, 1.0);
      null.expectation = {.kind = Expectation::Kind::at_most_level};
      scenarios.push_back(std::move(scenario));
      scenarios.push_back(std::move(null));
    }
  }
  for (const std::int64_t permutations : {99, 299}) {
    for (const Difference& difference : differences()) {
      if (!difference.bar) continue;
      Scenario scenario{.table = "Adaptive test with fewer permutations",
                        .row = difference.name,
                        .column = "B = " + std::to_string(permutations),
                        .draw = of_size(difference.alternative, 1.0),
                        .options = options_of(difference, {"adaptive", "adaptive"}, permutations),
                        .expectation = {.kind = Expectation::Kind::reported},
                        .runs = kStudyRuns};
      scenarios.push_back(std::move(scenario));
    }
  }
  for (const Difference& difference : differences()) {
    for (const SizedCandidate& sized : other_sizes()) {
      scenarios.push_back({.table = sized.table,
                           .row = difference.name,
                           .column = sized.column,
                           .draw = of_size(difference.alternative, sized.size),
                           .options = options_of(difference, {"", sized.method}, kStudyPermutations),
                           .expectation = {.kind = Expectation::Kind::reported},
                           .runs = kStudyRuns});
    }
  }
  return scenarios;
}

}  // namespace kqd::validation
