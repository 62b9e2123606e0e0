#include <fmt/format.h>

#include <utility>

#include "experiments/images.hpp"
#include "experiments/more_rows.hpp"
#include "experiments/paper_rows.hpp"
#include "experiments/studies.hpp"

namespace kqd::lab {
namespace {

constexpr std::size_t kRuns = 200;
constexpr std::size_t kPermutations = 300;
constexpr std::size_t kColourPixels = 32 * 32 * 3;
constexpr std::size_t kGreyPixels = 28 * 28;

const ImageSource kFashion{"fashion-mnist/train-images.npy", "fashion-mnist/train-labels.npy",
                           "`./dev data fashion-mnist` fetches it"};
const ImageSource kCifar{"cifar10/test-images.npy", "", "`./dev data cifar10` fetches it"};
const ImageSource kCifarTrain{"cifar10/train-images.npy", "cifar10/train-labels.npy",
                              "`./dev data cifar10` fetches it"};
const ImageSource kGalaxy{"galaxy-mnist/images.npy", "galaxy-mnist/labels.npy",
                          "`./dev data galaxy-mnist FILE.hdf5` makes it from the published files"};
const ImageSource kCifar101{"cifar10.1/cifar10.1_v4_data.npy", "",
                            "the repository of CIFAR-10.1 has it under this name"};

using Images = std::shared_ptr<const ImageSet>;

// Reads the images and adds their fingerprint to the settings of the study.
Images read_into(Study& study, const StudyRequest& request, const ImageSource& source, std::size_t size) {
  Images images = read_images(request.data, source, size);
  study.settings["pictures"].push_back(fmt::format("{:016x}", images->fingerprint));
  return images;
}

Study image_study(std::string id, std::string title, const StudyRequest& request) {
  Study study;
  study.id = std::move(id);
  study.scheme = request.scheme;
  study.title = std::move(title);
  study.axis = "sample size n";
  study.runs = kRuns;
  study.settings = {{"permutations", kPermutations}};
  return study;
}

// Sizes for which the authors' draws are stored; two small ones in the quick form.
std::vector<std::size_t> sizes(const StudyRequest& request, std::size_t largest) {
  if (request.quick) return {100, 200};
  std::vector<std::size_t> list = {100, 500, 1000, 1500, 2000, 2500};
  std::erase_if(list, [largest](std::size_t n) { return n > largest; });
  return list;
}

// CIFAR-10.1 has no more images.
std::vector<std::size_t> cifar_sizes(const StudyRequest& request) {
  return sizes(request, 2000);
}

void add_columns(Study& study, const std::vector<std::size_t>& sizes,
                 const std::function<Draw(std::size_t n, Seed seed)>& draw) {
  for (const std::size_t n : sizes) {
    study.columns.push_back({.x = static_cast<double>(n),
                             .n = n,
                             .draw = [n, draw](Seed seed) { return draw(n, seed); },
                             .work = static_cast<double>(n * n)});
  }
}

// Checked at the start, because the largest samples come last, after an hour or more.
void add_class_shift(Study& study, const std::vector<std::size_t>& sizes, Images images,
                     SecondDraw second = SecondDraw::of_the_rest) {
  constexpr double kShare = 0.15;
  require_class_shift(*images, kShare, sizes.back(), second);
  add_columns(study, sizes, [images = std::move(images), second](std::size_t n, Seed seed) {
    return draw_class_shift(*images, kShare, n, seed, second);
  });
}

// Images as numbers in [-1, 1], as the authors scale CIFAR.
Images scaled(const Images& images) {
  auto set = std::make_shared<ImageSet>(*images);
  for (double& value : set->pixels.values()) value = value / 127.5 - 1.0;
  return set;
}

// Images at their size, or enlarged from 32 x 32 to 64 x 64 pixels as by the authors.
void leave(Matrix<double>& /*images*/) {}
void enlarge(Matrix<double>& images) {
  images = doubled(images, 32);
}

using Resize = void (*)(Matrix<double>& images);

Draw resized(Draw data, Resize resize) {
  resize(data.x.points);
  resize(data.y.points);
  return data;
}

// Test images of CIFAR-10 against those of CIFAR-10.1.
std::function<Draw(std::size_t, Seed)> new_images(Study& study, const StudyRequest& request, Resize resize) {
  const Images x = scaled(read_into(study, request, kCifar, kColourPixels));
  const Images y = scaled(read_into(study, request, kCifar101, kColourPixels));
  for (const Images& images : {x, y}) require_images(*images, images->pixels.rows(), cifar_sizes(request).back());
  return [x, y, resize](std::size_t n, Seed seed) {
    return resized(
        {draw_any(*x, 0, x->pixels.rows(), n, seed, false), draw_any(*y, 0, y->pixels.rows(), n, seed, true)}, resize);
  };
}

// Half of the test images of CIFAR-10 against the other half, blurred.
std::function<Draw(std::size_t, Seed)> blurred_images(Study& study, const StudyRequest& request, Resize resize) {
  constexpr double kBlur = 0.5;
  const Images sharp = scaled(read_into(study, request, kCifar, kColourPixels));
  const auto soft =
      std::make_shared<ImageSet>(ImageSet{.pixels = blurred(sharp->pixels, 32, kBlur), .path = sharp->path});
  const std::size_t half = sharp->pixels.rows() / 2;
  require_images(*sharp, half, cifar_sizes(request).back());
  return [sharp, soft, half, resize](std::size_t n, Seed seed) {
    return resized({draw_any(*sharp, 0, half, n, seed, false), draw_any(*soft, half, 2 * half, n, seed, true)}, resize);
  };
}

// The schemes of kqd use held-out images as reference points: normal points in so many columns resemble no image, and
// directions through them separate images less well.
PaperSetting image_setting(Study& study, const StudyRequest& request, std::string published, std::size_t permutations) {
  const Scheme scheme = parse_scheme(request.scheme);
  const bool ours = scheme == Scheme::kqd || scheme == Scheme::kqd_64;
  if (ours) study.settings["reference"] = "pooled";
  return {.published = std::move(published),
          .permutations = permutations,
          .scheme = scheme,
          .reference = ours ? ReferenceMeasure::pooled : ReferenceMeasure::gaussian};
}

void add_rows(Study& study, const StudyRequest& request, std::string published, std::size_t permutations) {
  const PaperSetting setting = image_setting(study, request, std::move(published), permutations);
  add_paper_rows(study, paper_rows(), setting);
  study.panels = power_panels();
  study.replicates = setting.scheme == Scheme::reference && !setting.published.empty();
  study.settings["permutations"] = permutations;
}

Panel weights_panel() {
  Panel panel{"weights of levels, p = 2", {"ekqd-2"}};
  for (const PaperRow& row : weighting_rows()) panel.rows.push_back(row.id);
  return panel;
}

Study class_shift_study(std::string id, std::string title, const ImageSource& source, std::size_t pixels,
                        const StudyRequest& request) {
  Study study = image_study(std::move(id), std::move(title), request);
  add_class_shift(study, sizes(request, 2500), read_into(study, request, source, pixels));
  add_rows(study, request, "", kPermutations);
  return study;
}

}  // namespace

Study fashion_mnist(const StudyRequest& request) {
  return class_shift_study("fashion-mnist", "Fashion-MNIST: trousers, pullovers, dresses; 15% T-shirts in Y", kFashion,
                           kGreyPixels, request);
}

Study cifar10(const StudyRequest& request) {
  return class_shift_study("cifar10", "CIFAR-10: cars, birds, cats; 15% aeroplanes in Y", kCifarTrain, kColourPixels,
                           request);
}

Study galaxy(const StudyRequest& request) {
  constexpr std::size_t kGalaxyPermutations = 200;  // erratum 35
  constexpr std::size_t kPixels = 64 * 64 * 3;
  Study study = image_study("galaxy", "Galaxy MNIST: classes 1 to 3; 15% of class 0 in Y", request);
  study.comparison = "the paper's rates (200 runs)";
  add_class_shift(study, sizes(request, 2500), read_into(study, request, kGalaxy, kPixels),
                  SecondDraw::of_all);  // erratum 35
  add_rows(study, request, "galaxy_mnist", kGalaxyPermutations);
  add_paper_rows(study, weighting_rows(), image_setting(study, request, "galaxy_mnist", kGalaxyPermutations));
  // Nystroem in the released code computes features again for every permutation: too slow for the quick form.
  if (!request.quick)
    add_approximation_rows(study, "galaxy_mnist", kGalaxyPermutations, [](const Column&) { return kPixels; });
  study.panels.push_back(weights_panel());
  if (!request.quick) {
    study.panels.push_back(
        {"mean embeddings", {"ekqd-2", "mmd", "mmd-nystrom", "mmd-nystrom-as-coded", "me", "me-as-coded"}});
  }
  return study;
}

Study cifar10_1(const StudyRequest& request) {
  Study study = image_study("cifar10.1", "CIFAR-10 test against CIFAR-10.1, 64 x 64 pixels", request);
  study.comparison = "the paper's rates (200 runs)";
  add_columns(study, cifar_sizes(request), new_images(study, request, enlarge));
  add_rows(study, request, "cifar10_vs_cifar10_1", kPermutations);
  add_paper_rows(study, weighting_rows(), image_setting(study, request, "cifar10_vs_cifar10_1", kPermutations));
  add_reference_measure_rows(study, "cifar10_vs_cifar10_1", kPermutations);
  study.panels.push_back(weights_panel());
  study.panels.push_back({"reference points, p = 2", {"ekqd-2", "ekqd-2-gaussian", "ekqd-2-uniform", "mmd"}});
  return study;
}

Study cifar10_1_small(const StudyRequest& request) {
  Study study = image_study("cifar10.1-32", "CIFAR-10 test against CIFAR-10.1, 32 x 32 pixels", request);
  add_columns(study, cifar_sizes(request), new_images(study, request, leave));
  add_rows(study, request, "", kPermutations);
  return study;
}

Study cifar10_blur(const StudyRequest& request) {
  Study study = image_study("cifar10-blur", "CIFAR-10 against the same, half blurred, 64 x 64 pixels", request);
  add_columns(study, cifar_sizes(request), blurred_images(study, request, enlarge));
  add_rows(study, request, "", kPermutations);
  return study;
}

Study cifar10_blur_small(const StudyRequest& request) {
  Study study = image_study("cifar10-blur-32", "CIFAR-10 against the same, half blurred, 32 x 32 pixels", request);
  add_columns(study, cifar_sizes(request), blurred_images(study, request, leave));
  add_rows(study, request, "", kPermutations);
  return study;
}

Study type_one_cifar(const StudyRequest& request) {
  Study study = image_study("type-one-cifar", "No difference: CIFAR-10 training against test images", request);
  const Images train = read_into(study, request, kCifarTrain, kColourPixels);
  const Images test = read_into(study, request, kCifar, kColourPixels);
  for (const Images& images : {train, test})
    require_images(*images, images->pixels.rows(), cifar_sizes(request).back());
  add_columns(study, cifar_sizes(request), [train, test](std::size_t n, Seed seed) {
    return Draw{draw_any(*train, 0, train->pixels.rows(), n, seed, false),
                draw_any(*test, 0, test->pixels.rows(), n, seed, true)};
  });
  add_rows(study, request, "", kPermutations);
  return study;
}

Study nu_study(const StudyRequest& request) {
  Study study = image_study("nu-study", "Weights of levels on Fashion-MNIST's class shift, p = 2", request);
  add_class_shift(study, sizes(request, 2500), read_into(study, request, kFashion, kGreyPixels));
  const PaperSetting setting = image_setting(study, request, "", kPermutations);
  std::vector<PaperRow> rows = {paper_row("ekqd-2")};
  rows.insert(rows.end(), weighting_rows().begin(), weighting_rows().end());
  rows.front().curve = "uniform";
  add_paper_rows(study, rows, setting);
  Panel panel{"Fashion-MNIST", {}};
  for (const PaperRow& row : rows) panel.rows.push_back(row.id);
  study.panels = {std::move(panel)};
  return study;
}

Study xi_study(const StudyRequest& request) {
  Study study = image_study("xi-study", "Reference points on Fashion-MNIST's class shift, p = 2", request);
  add_class_shift(study, sizes(request, 2500), read_into(study, request, kFashion, kGreyPixels));
  PaperRow pooled = paper_row("ekqd-2");
  pooled.curve = "pooled points, re-indexed";
  pooled.label += ", pooled points, re-indexed";
  add_paper_rows(study, {&pooled, 1}, {.published = "", .permutations = kPermutations, .scheme = Scheme::reference});
  add_reference_measure_rows(study, "", kPermutations);
  add_paper_rows(study, {&paper_row("mmd"), 1},
                 {.published = "", .permutations = kPermutations, .scheme = Scheme::reference});
  study.panels = {{"Fashion-MNIST", {"ekqd-2", "ekqd-2-gaussian", "ekqd-2-uniform", "mmd"}}};
  return study;
}

}  // namespace kqd::lab
