#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/study.hpp"
#include "kqd/core/matrix.hpp"

namespace kqd::lab {

/// Images, one per row, and the class of each; no labels where classes do not matter.
struct ImageSet {
  Matrix<double> pixels;
  std::vector<std::size_t> labels = {};
  std::uint64_t fingerprint = 0;  ///< of images and labels: runs on other images are not combined with these
  std::string path = {};          ///< the file of the images

  /// The rows of one class.
  [[nodiscard]] std::vector<std::size_t> rows_of(std::size_t label) const;
};

/// The files of a set of images, and how to get them.
struct ImageSource {
  std::string images;  ///< below the data folder; alternatives separated by '|', the first that exists is read
  std::string labels;  ///< same syntax; empty: none
  std::string advice;  ///< "`./dev data cifar10` fetches it"
};

/// Reads images and labels. Throws Error{unreadable_input} if a file is missing (with the advice), if the numbers of
/// images and labels differ, or if images do not have `size` values (0: any).
[[nodiscard]] std::shared_ptr<const ImageSet> read_images(const std::string& data, const ImageSource& source,
                                                          std::size_t size = 0);

/// The probability of a class.
struct ClassShare {
  std::size_t label = 0;
  double share = 0.0;
};

/// The images from which Y is drawn. The authors draw X and Y independently from the same images (erratum 35), so the
/// samples can share images, and are then more similar than independent samples of one distribution.
enum class SecondDraw : std::uint8_t { of_the_rest, of_all };

/// n images for X and n for Y, with classes drawn with the probabilities of `x` and `y`, without replacement within a
/// sample. Throws Error{unreadable_input} if a class has too few images.
[[nodiscard]] Draw draw_classes(const ImageSet& images, std::span<const ClassShare> x, std::span<const ClassShare> y,
                                std::size_t n, Seed seed, SecondDraw second);

/// Throws Error{unreadable_input} unless there are enough images for draw_class_shift with these settings and any seed
/// (a draw needs more with probability below 1e-9).
void require_class_shift(const ImageSet& images, double share, std::size_t n, SecondDraw second);

/// Classes 3, 2 and 1 with equal probabilities against the same with `share` of class 0, as the paper's Galaxy MNIST.
[[nodiscard]] Draw draw_class_shift(const ImageSet& images, double share, std::size_t n, Seed seed, SecondDraw second);

/// Throws Error{unreadable_input} if only `available` images can be drawn and this is less than n.
void require_images(const ImageSet& images, std::size_t available, std::size_t n);

/// n random images without replacement from the rows [first, last). Throws Error{unreadable_input} if there are fewer.
[[nodiscard]] Sample draw_any(const ImageSet& images, std::size_t first, std::size_t last, std::size_t n, Seed seed,
                              bool second);

/// Colour images of side x side pixels, three values each, doubled in size by linear interpolation between the centres
/// of pixels: 32 x 32 becomes 64 x 64 as in the released code (erratum 34).
[[nodiscard]] Matrix<double> doubled(MatrixView<const double> images, std::size_t side);

/// Every image mixed with its own blur: (1 - share) image + share (mean over 3 x 3 pixels).
[[nodiscard]] Matrix<double> blurred(MatrixView<const double> images, std::size_t side, double share);

}  // namespace kqd::lab
