#include "experiments/images.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "core/fail.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "kqd/io/read.hpp"

namespace kqd::lab {
namespace {

std::string existing_file(const std::string& data, const std::string& spellings, const std::string& advice) {
  for (const std::string_view name : split(spellings, '|')) {
    const auto path = std::filesystem::path(data) / name;
    if (std::filesystem::exists(path)) return path.string();
  }
  const auto first = std::filesystem::path(data) / split(spellings, '|').front();
  fail(ErrorCode::unreadable_input, {.place = first.string(),
                                     .value = "no such file",
                                     .remedy = advice + "; " KQD_OPTION("data") " names its folder"});
}

// Reads a file without missing values. The remedies of the reader, such as skipping rows, do not apply to images.
Sample read_complete(const std::string& path) {
  try {
    return read_sample(path);
  } catch (const Error& error) {
    ErrorParts parts = error.parts();
    parts.remedy.clear();
    throw Error(error.code(), std::move(parts));
  }
}

std::vector<std::size_t> read_labels(const std::string& path) {
  const Sample column = read_complete(path);
  std::vector<std::size_t> labels;
  for (const double value : column.points.values()) {
    if (value < 0.0 || value != static_cast<double>(static_cast<std::size_t>(value))) {
      fail(ErrorCode::unreadable_input, "{}: row {} is {}, expected a class 0, 1, 2, ...", path, labels.size() + 1,
           value);
    }
    labels.push_back(static_cast<std::size_t>(value));
  }
  return labels;
}

// FNV-1a over words instead of bytes.
void mix(std::uint64_t& fingerprint, std::uint64_t word) {
  fingerprint = (fingerprint ^ word) * 0x100000001b3U;
}

Purpose purpose_of(bool second) {
  return second ? Purpose::synthetic_y : Purpose::synthetic_x;
}

Sample gathered(const ImageSet& images, std::span<const std::size_t> rows) {
  Sample sample{Matrix<double>(rows.size(), images.pixels.cols()), {}, {}};
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::ranges::copy(images.pixels.row(rows[i]), sample.points.row(i).begin());
  return sample;
}

// Rows of n images of these classes that are not taken yet, in random order.
std::vector<std::size_t> rows_of_classes(const ImageSet& images, std::span<const ClassShare> classes, std::size_t n,
                                         const std::vector<bool>& taken, RandomStream stream) {
  std::vector<std::size_t> wanted(classes.size(), 0);
  for (std::size_t i = 0; i < n; ++i) {
    double u = stream.uniform();
    std::size_t k = 0;
    while (k + 1 < classes.size() && u >= classes[k].share) u -= classes[k++].share;
    ++wanted[k];
  }
  std::vector<std::size_t> rows;
  for (std::size_t k = 0; k < classes.size(); ++k) {
    std::vector<std::size_t> known = images.rows_of(classes[k].label);
    const std::size_t all = known.size();
    std::erase_if(known, [&taken](std::size_t row) { return taken[row]; });
    if (known.size() < wanted[k]) {
      fail(ErrorCode::unreadable_input, "{}: class {} has {} images{}, expected {} for a sample of {}", images.path,
           classes[k].label, known.size(), known.size() < all ? " that are not in X" : "", wanted[k], n);
    }
    for (const std::size_t index : sample_without_replacement(known.size(), wanted[k], stream))
      rows.push_back(known[index]);
  }
  // Some statistics depend on the order of rows, so it must not depend on the classes.
  std::vector<std::size_t> shuffled;
  for (const std::size_t at : sample_without_replacement(n, n, stream)) shuffled.push_back(rows[at]);
  return shuffled;
}

// Classes 3, 2 and 1 with equal probabilities; Y also has a share of class 0.
struct ClassShift {
  explicit ClassShift(double share) {
    constexpr double kThird = 1.0 / 3.0;
    const double part = (1.0 - share) / 3.0;
    x = {{{3, kThird}, {2, kThird}, {1, kThird}}};
    y = {{{3, part}, {2, part}, {1, part}, {0, share}}};
  }
  std::array<ClassShare, 3> x;
  std::array<ClassShare, 4> y;
};

// Mean plus six standard deviations of the number of draws, of n, with this probability. For both samples together,
// `share` is the sum of two probabilities, and the variance is not larger.
double surely_enough(double share, std::size_t n) {
  const double mean = share * static_cast<double>(n);
  return std::ceil(std::min(mean + 6.0 * std::sqrt(mean), 2.0 * static_cast<double>(n)));
}

constexpr std::size_t kColours = 3;

// The index of one pixel and colour in a row, with pixels in row-major order.
std::size_t place(std::size_t side, std::size_t y, std::size_t x, std::size_t colour) {
  return (y * side + x) * kColours + colour;
}

}  // namespace

std::vector<std::size_t> ImageSet::rows_of(std::size_t label) const {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == label) rows.push_back(i);
  }
  return rows;
}

std::shared_ptr<const ImageSet> read_images(const std::string& data, const ImageSource& source, std::size_t size) {
  const std::string path = existing_file(data, source.images, source.advice);
  auto set = std::make_shared<ImageSet>();
  set->path = path;
  set->pixels = read_complete(path).points;
  for (const double value : set->pixels.values()) mix(set->fingerprint, std::bit_cast<std::uint64_t>(value));
  if (size > 0 && set->pixels.cols() != size) {
    fail(ErrorCode::unreadable_input, "{}: images have {} values each, expected {}", path, set->pixels.cols(), size);
  }
  if (source.labels.empty()) return set;
  const std::string labels = existing_file(data, source.labels, source.advice);
  set->labels = read_labels(labels);
  if (set->labels.size() != set->pixels.rows()) {
    fail(ErrorCode::unreadable_input, "{}: {} labels for the {} images of {}, expected one each", labels,
         set->labels.size(), set->pixels.rows(), path);
  }
  for (const std::size_t label : set->labels) mix(set->fingerprint, label);
  return set;
}

Draw draw_classes(const ImageSet& images, std::span<const ClassShare> x, std::span<const ClassShare> y, std::size_t n,
                  Seed seed, SecondDraw second) {
  std::vector<bool> taken(images.labels.size(), false);
  const std::vector<std::size_t> rows_of_x =
      rows_of_classes(images, x, n, taken, RandomStream(seed, purpose_of(false)));
  if (second == SecondDraw::of_the_rest) {
    for (const std::size_t row : rows_of_x) taken[row] = true;
  }
  const std::vector<std::size_t> rows_of_y = rows_of_classes(images, y, n, taken, RandomStream(seed, purpose_of(true)));
  return {gathered(images, rows_of_x), gathered(images, rows_of_y)};
}

void require_class_shift(const ImageSet& images, double share, std::size_t n, SecondDraw second) {
  const ClassShift shift(share);
  for (const auto& [label, in_y] : shift.y) {
    const auto found = std::ranges::find(shift.x, label, &ClassShare::label);
    const double in_x = found == shift.x.end() ? 0.0 : found->share;
    const double share_needed = second == SecondDraw::of_the_rest ? in_x + in_y : std::max(in_x, in_y);
    const double needed = surely_enough(share_needed, n);
    const std::size_t there = images.rows_of(label).size();
    if (static_cast<double>(there) >= needed) continue;
    fail(ErrorCode::unreadable_input, "{}: class {} has {} images, but samples of {} can need {:.0f}", images.path,
         label, there, n, needed);
  }
}

Draw draw_class_shift(const ImageSet& images, double share, std::size_t n, Seed seed, SecondDraw second) {
  const ClassShift shift(share);
  return draw_classes(images, shift.x, shift.y, n, seed, second);
}

void require_images(const ImageSet& images, std::size_t available, std::size_t n) {
  if (available >= n) return;
  fail(ErrorCode::unreadable_input, "{}: {} images, expected at least {}", images.path, available, n);
}

Sample draw_any(const ImageSet& images, std::size_t first, std::size_t last, std::size_t n, Seed seed, bool second) {
  require_images(images, std::min(last, images.pixels.rows()) - first, n);
  RandomStream stream(seed, purpose_of(second));
  std::vector<std::size_t> rows = sample_without_replacement(last - first, n, stream);
  for (std::size_t& row : rows) row += first;
  return gathered(images, rows);
}

Matrix<double> doubled(MatrixView<const double> images, std::size_t side) {
  const std::size_t large = 2 * side;
  Matrix<double> out(images.rows(), large * large * kColours);
  // The centre of a small pixel is a quarter of a pixel from that of the nearest large one.
  const auto neighbours = [side](std::size_t at) {
    const std::size_t near = at / 2;
    const std::size_t far = at % 2 == 0 ? (near == 0 ? 0 : near - 1) : std::min(near + 1, side - 1);
    return std::pair(near, far);
  };
  for (std::size_t i = 0; i < images.rows(); ++i) {
    const auto from = images.row(i);
    for (std::size_t y = 0; y < large; ++y) {
      const auto [y1, y2] = neighbours(y);
      for (std::size_t x = 0; x < large; ++x) {
        const auto [x1, x2] = neighbours(x);
        for (std::size_t c = 0; c < kColours; ++c) {
          const double one = 0.75 * from[place(side, y1, x1, c)] + 0.25 * from[place(side, y1, x2, c)];
          const double two = 0.75 * from[place(side, y2, x1, c)] + 0.25 * from[place(side, y2, x2, c)];
          out(i, place(large, y, x, c)) = 0.75 * one + 0.25 * two;
        }
      }
    }
  }
  return out;
}

Matrix<double> blurred(MatrixView<const double> images, std::size_t side, double share) {
  Matrix<double> out(images.rows(), images.cols());
  const auto clamped = [side](std::size_t at, std::size_t step) {  // step 0, 1, 2: before, at, behind
    const std::size_t moved = at + step;
    return moved == 0 ? 0 : std::min(moved - 1, side - 1);
  };
  for (std::size_t i = 0; i < images.rows(); ++i) {
    const auto from = images.row(i);
    for (std::size_t y = 0; y < side; ++y) {
      for (std::size_t x = 0; x < side; ++x) {
        for (std::size_t c = 0; c < kColours; ++c) {
          double sum = 0.0;
          for (std::size_t dy = 0; dy < 3; ++dy) {
            for (std::size_t dx = 0; dx < 3; ++dx) sum += from[place(side, clamped(y, dy), clamped(x, dx), c)];
          }
          const double own = from[place(side, y, x, c)];
          out(i, place(side, y, x, c)) = (1.0 - share) * own + share * sum / 9.0;
        }
      }
    }
  }
  return out;
}

}  // namespace kqd::lab
