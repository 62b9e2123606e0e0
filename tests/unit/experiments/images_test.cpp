#include "experiments/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "kqd/core/error.hpp"
#include "support/errors.hpp"

namespace kqd::lab {
namespace {

constexpr std::size_t kSide = 4;

// An image whose three colours are three planes a x + b y + c over the centres of its pixels.
Matrix<double> planes(std::size_t side) {
  Matrix<double> image(1, side * side * 3);
  for (std::size_t y = 0; y < side; ++y) {
    for (std::size_t x = 0; x < side; ++x) {
      const double u = (static_cast<double>(x) + 0.5) / static_cast<double>(side);
      const double v = (static_cast<double>(y) + 0.5) / static_cast<double>(side);
      const std::array<double, 3> colours = {u, v, 2.0 * u - 3.0 * v + 1.0};
      for (std::size_t c = 0; c < 3; ++c) image(0, (y * side + x) * 3 + c) = colours[c];
    }
  }
  return image;
}

// Interpolation is exact on planes, except at the border.
TEST(Doubled, keeps_planes) {
  const Matrix<double> large = doubled(planes(kSide), kSide);
  const Matrix<double> expected = planes(2 * kSide);
  ASSERT_EQ(large.cols(), expected.cols());
  for (std::size_t y = 1; y + 1 < 2 * kSide; ++y) {
    for (std::size_t x = 1; x + 1 < 2 * kSide; ++x) {
      for (std::size_t c = 0; c < 3; ++c) {
        const std::size_t k = (y * 2 * kSide + x) * 3 + c;
        EXPECT_NEAR(large(0, k), expected(0, k), 1e-12) << x << " " << y << " " << c;
      }
    }
  }
}

TEST(Blurred, keeps_planes_inside_and_spreads_a_dot_over_its_neighbours) {
  const Matrix<double> image = planes(kSide);
  const Matrix<double> soft = blurred(image, kSide, 0.7);
  const std::size_t inside = (1 * kSide + 2) * 3;
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(soft(0, inside + c), image(0, inside + c), 1e-12);
  Matrix<double> dot(1, kSide * kSide * 3, 0.0);
  dot(0, inside) = 9.0;
  const Matrix<double> spread = blurred(dot, kSide, 0.5);
  EXPECT_DOUBLE_EQ(spread(0, inside), 4.5 + 0.5);
  EXPECT_DOUBLE_EQ(spread(0, (2 * kSide + 3) * 3), 0.5);
  EXPECT_DOUBLE_EQ(spread(0, (3 * kSide + 2) * 3), 0.0);
  EXPECT_DOUBLE_EQ(spread(0, inside + 1), 0.0);
}

// Row i is the number i, of class i % 4.
ImageSet numbered(std::size_t rows) {
  ImageSet set{Matrix<double>(rows, 1), {}};
  for (std::size_t i = 0; i < rows; ++i) {
    set.pixels(i, 0) = static_cast<double>(i);
    set.labels.push_back(i % 4);
  }
  return set;
}

// 2000 draws of share 0.15: outside [215, 390] with a probability below 1e-7.
TEST(DrawClasses, has_the_requested_shares_and_no_image_twice) {
  const ImageSet set = numbered(8000);
  const std::array<ClassShare, 2> shares = {{{3, 0.85}, {0, 0.15}}};
  const Sample sample = draw_classes(set, shares, shares, 2000, Seed{1}, SecondDraw::of_all).x;
  std::set<double> seen;
  std::size_t zeros = 0;
  for (const double value : sample.points.values()) {
    const auto label = static_cast<std::size_t>(value) % 4;
    EXPECT_TRUE(label == 0 || label == 3);
    zeros += label == 0 ? 1 : 0;
    EXPECT_TRUE(seen.insert(value).second);
  }
  // Classes are shuffled: 100 rows without a class of share 0.15 have a probability below 1e-7.
  const auto beginning = sample.points.values().first(100);
  EXPECT_TRUE(std::ranges::any_of(beginning, [](double value) { return static_cast<int>(value) % 4 == 0; }));
  EXPECT_GT(zeros, 215U);
  EXPECT_LT(zeros, 390U);
  EXPECT_THROW(static_cast<void>(draw_classes(numbered(400), shares, shares, 2000, Seed{1}, SecondDraw::of_all)),
               Error);
}

// 400 images of one class, 150 in each sample: drawn independently, some are in both (none with probability < 1e-20).
TEST(DrawClasses, samples_share_no_image_unless_drawn_independently) {
  const ImageSet set = numbered(1600);
  const std::array<ClassShare, 1> all = {{{2, 1.0}}};
  const auto shared = [&](SecondDraw second) {
    const Draw pair = draw_classes(set, all, all, 150, Seed{3}, second);
    const std::set<double> of_x(pair.x.points.values().begin(), pair.x.points.values().end());
    return std::ranges::count_if(pair.y.points.values(), [&](double value) { return of_x.contains(value); });
  };
  EXPECT_EQ(shared(SecondDraw::of_the_rest), 0);
  EXPECT_GT(shared(SecondDraw::of_all), 0);
  test::expect_error(ErrorCode::unreadable_input,
                     ": class 2 has 199 images that are not in X, expected 201 for a sample of 201",
                     [&] { static_cast<void>(draw_classes(set, all, all, 201, Seed{3}, SecondDraw::of_the_rest)); });
}

// (1 + 0.85)/3 x 2000 = 1233.3 are expected of a class in both samples, and six standard deviations more are 1445.
TEST(ClassShift, is_refused_if_a_class_can_have_too_few_images) {
  ImageSet few = numbered(4 * 1400);
  few.path = "few.npy";
  test::expect_error(ErrorCode::unreadable_input, "few.npy: class 3 has 1400 images, but samples of 2000 can need 1445",
                     [&] { require_class_shift(few, 0.15, 2000, SecondDraw::of_the_rest); });
  require_class_shift(few, 0.15, 2000, SecondDraw::of_all);
  const ImageSet enough = numbered(4 * 1500);
  require_class_shift(enough, 0.15, 2000, SecondDraw::of_the_rest);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    static_cast<void>(draw_class_shift(enough, 0.15, 2000, Seed{seed}, SecondDraw::of_the_rest));
  }
}

TEST(DrawAny, takes_different_rows_of_the_range) {
  const ImageSet set = numbered(100);
  const Sample sample = draw_any(set, 40, 60, 20, Seed{2}, true);
  std::set<double> seen(sample.points.values().begin(), sample.points.values().end());
  EXPECT_EQ(seen.size(), 20U);
  EXPECT_EQ(*seen.begin(), 40.0);
  EXPECT_EQ(*seen.rbegin(), 59.0);
  EXPECT_THROW(static_cast<void>(draw_any(set, 40, 60, 21, Seed{2}, true)), Error);
}

}  // namespace
}  // namespace kqd::lab
