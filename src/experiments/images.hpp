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

/// Pictures, one per row, and the class of each; no labels where classes do not matter.
struct ImageSet {
  Matrix<double> pixels;
  std::vector<std::size_t> labels = {};
  std::uint64_t fingerprint = 0;  ///< of pictures and labels: runs on others are not put together with these
  std::string path = {};          ///< the file they are from

  /// The rows of one class.
  [[nodiscard]] std::vector<std::size_t> rows_of(std::size_t label) const;
};

/// Where a set of pictures is looked for, and how a user comes by it.
struct ImageSource {
  std::string images;  ///< below the data folder; several spellings apart by '|', the first that is there is taken
  std::string labels;  ///< likewise; empty: none
  std::string advice;  ///< "`./dev data cifar10` fetches it"
};

/// Reads pictures and labels. Throws Error{unreadable_input} when a file is missing, with the advice; when pictures and
/// labels differ in number, or have not the `size` pixels that are expected (0: any).
[[nodiscard]] std::shared_ptr<const ImageSet> read_images(const std::string& data, const ImageSource& source,
                                                          std::size_t size = 0);

/// The probability of a class.
struct ClassShare {
  std::size_t label = 0;
  double share = 0.0;
};

/// Which pictures Y may have. The authors draw X and Y apart, so that both may hold a picture (erratum 35): the more of
/// a class they take, the more alike they look, more than samples of one distribution would.
enum class SecondDraw : std::uint8_t { of_the_rest, of_all };

/// n pictures for X and n for Y, each of a class drawn with the probabilities of `x` and `y`, no picture twice in a
/// sample. Throws Error{unreadable_input} when a class has too few pictures.
[[nodiscard]] Draw draw_classes(const ImageSet& images, std::span<const ClassShare> x, std::span<const ClassShare> y,
                                std::size_t n, Seed seed, SecondDraw second);

/// Throws Error{unreadable_input} unless there are pictures for draw_class_shift with these settings, whatever the seed
/// (that a draw needs more has a chance below 1e-9).
void require_class_shift(const ImageSet& images, double share, std::size_t n, SecondDraw second);

/// Classes 3, 2 and 1 alike against the same with `share` of class 0, as the paper's Galaxy MNIST.
[[nodiscard]] Draw draw_class_shift(const ImageSet& images, double share, std::size_t n, Seed seed, SecondDraw second);

/// Throws Error{unreadable_input} when of the pictures fewer than n are `there` to be drawn.
void require_pictures(const ImageSet& images, std::size_t there, std::size_t n);

/// n pictures at random, none twice, from the rows [first, last). Throws Error{unreadable_input} when those are fewer.
[[nodiscard]] Sample draw_any(const ImageSet& images, std::size_t first, std::size_t last, std::size_t n, Seed seed,
                              bool second);

/// Colour pictures of side x side pixels, three numbers each, made larger by linear interpolation between the middles
/// of pixels: 32 x 32 becomes 64 x 64 as in the released code (erratum 34).
[[nodiscard]] Matrix<double> doubled(MatrixView<const double> pictures, std::size_t side);

/// Every picture mixed with its own blur: (1 - share) picture + share (mean over 3 x 3 pixels).
[[nodiscard]] Matrix<double> blurred(MatrixView<const double> pictures, std::size_t side, double share);

}  // namespace kqd::lab
