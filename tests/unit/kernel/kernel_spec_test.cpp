#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kqd/kernel/kernel.hpp"
#include "support/errors.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

using test::expect_error;

TEST(KernelText, round_trips) {
  for (const char* text : {"gaussian",
                           "gaussian@0.5",
                           "laplace@3",
                           "matern12",
                           "matern32@1e-05",
                           "matern52@1e+20",
                           "rq:2@0.25",
                           "imq:0.5",
                           "imq:1.5@2",
                           "linear",
                           "linear:1",
                           "polynomial:3:1",
                           "polynomial:64:0",
                           "normalised-polynomial:2:0.5",
                           "energy:1",
                           "energy:0.5",
                           "gaussian@0.5+gaussian@2",
                           "gaussian*linear",
                           "0.3 gaussian+0.7 laplace",
                           "gaussian@1*linear:2+0.5 rq:3*polynomial:2:1",
                           "1e+20 gaussian+1e-20 laplace",
                           "0.5 gaussian"}) {
    EXPECT_EQ(to_string(parse_kernel(text)), text);
    EXPECT_EQ(to_string(parse_kernel(to_string(parse_kernel(text)))), text);
  }
}

TEST(KernelText, defaults_are_spelled_out) {
  EXPECT_EQ(to_string(parse_kernel("rq")), "rq:1");
  EXPECT_EQ(to_string(parse_kernel("imq")), "imq:0.5");
  EXPECT_EQ(to_string(parse_kernel("energy")), "energy:1");
  EXPECT_EQ(to_string(parse_kernel("polynomial")), "polynomial:3:1");
  EXPECT_EQ(to_string(parse_kernel("polynomial:2")), "polynomial:2:1");
  EXPECT_EQ(to_string(parse_kernel("normalised-polynomial")), "normalised-polynomial:3:1");
  EXPECT_EQ(to_string(parse_kernel("linear:0")), "linear");
  EXPECT_EQ(to_string(KernelSpec{}), "gaussian");
}

TEST(KernelText, blanks_around_parts_do_not_matter) {
  EXPECT_EQ(to_string(parse_kernel(" gaussian ")), "gaussian");
  EXPECT_EQ(to_string(parse_kernel("gaussian + laplace")), "gaussian+laplace");
  EXPECT_EQ(to_string(parse_kernel("0.3  gaussian + 0.7 laplace")), "0.3 gaussian+0.7 laplace");
  EXPECT_EQ(to_string(parse_kernel("gaussian * linear")), "gaussian*linear");
}

TEST(KernelText, numbers_arrive_where_they_belong) {
  const KernelSpec rq = parse_kernel("rq:2.5@0.125");
  EXPECT_EQ(rq.family, KernelFamily::rq);
  EXPECT_EQ(rq.alpha, 2.5);
  EXPECT_EQ(rq.bandwidth, 0.125);
  const KernelSpec polynomial = parse_kernel("polynomial:5:0.25");
  EXPECT_EQ(polynomial.degree, 5);
  EXPECT_EQ(polynomial.offset, 0.25);
  const KernelSpec sum = parse_kernel("2 gaussian*laplace@3+imq:0.7");
  ASSERT_EQ(sum.family, KernelFamily::sum);
  ASSERT_EQ(sum.parts.size(), 2U);
  EXPECT_EQ(sum.parts[0].family, KernelFamily::product);
  EXPECT_EQ(sum.parts[0].weight, 2.0);
  ASSERT_EQ(sum.parts[0].parts.size(), 2U);
  EXPECT_EQ(sum.parts[0].parts[1].bandwidth, 3.0);
  EXPECT_EQ(sum.parts[1].beta, 0.7);
  EXPECT_EQ(parse_kernel("gaussian@1e+3+laplace").parts[0].bandwidth, 1000.0);
}

TEST(KernelText, bad_texts_are_refused) {
  const auto refused = [](const char* text, const char* sentence) {
    expect_error(ErrorCode::invalid_option, sentence, [&] { static_cast<void>(parse_kernel(text)); });
  };
  const std::string known =
      "expected one of gaussian, laplace, matern12, matern32, matern52, rq, imq, linear, polynomial, "
      "normalised-polynomial, energy, mixed";
  refused("gausian", ("kernel = gausian: " + known + "; did you mean gaussian?").c_str());
  refused("", ("kernel: " + known).c_str());
  refused("sigmoid-tanh", ("kernel = sigmoid-tanh: " + known).c_str());
  refused("gaussian+", ("kernel: " + known).c_str());
  refused("gaussian:3",
          "kernel = gaussian:3: expected no parameter of gaussian. A bandwidth follows @, as in gaussian@2");
  refused("rq:1:2", "kernel = rq:1:2: expected at most 1 parameter of rq. A bandwidth follows @, as in rq@2");
  refused("polynomial:1:2:3", "kernel = polynomial:1:2:3: expected at most 2 parameters of polynomial");
  refused("polynomial:2.5", "kernel = polynomial:2.5: expected degree in 1..64, a whole number");
  refused("polynomial:x", "kernel = polynomial:x: expected a number in place of \"x\"");
  refused("gaussian@", "kernel = gaussian@: expected a number in place of \"\"");
  refused("gaussian@wide", "kernel = gaussian@wide: expected a number in place of \"wide\"");
  refused("linear@2", "kernel = linear@2: expected no @: linear has no bandwidth");
  refused("energy@2", "kernel = energy@2: expected no @: energy has no bandwidth");
  refused("gaussian@0", "kernel = gaussian@0: expected a bandwidth in 1e-150 .. 1e150");
  refused("gaussian@-1", "kernel = gaussian@-1: expected a bandwidth in 1e-150 .. 1e150");
  refused("polynomial:0", "kernel = polynomial:0: expected degree in 1..64, a whole number");
  refused("polynomial:65", "kernel = polynomial:65: expected degree in 1..64, a whole number");
  refused("polynomial:2:-1", "kernel = polynomial:2:-1: expected offset >= 0");
  refused("linear:-1", "kernel = linear:-1: expected offset >= 0");
  refused("rq:0", "kernel = rq:0: expected alpha in 1e-6 .. 1e6");
  refused("imq:-2", "kernel = imq:-2: expected beta > 0");
  refused("energy:0", "kernel = energy:0: expected beta in (0, 2]");
  refused("energy:2.5", "kernel = energy:2.5: expected beta in (0, 2]");
  refused("-1 gaussian+laplace", "kernel = -1 gaussian+laplace: expected weight >= 0");
}

TEST(KernelSpec, settings_out_of_range_are_refused_however_they_were_made) {
  const auto refused = [](const KernelSpec& spec, const char* sentence) {
    expect_error(ErrorCode::invalid_option, sentence, [&] { validate(spec); });
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  using test::kInfinity;
  refused({.bandwidth = kNan}, "bandwidth = nan: expected a bandwidth in 1e-150 .. 1e150");
  refused({.bandwidth = 1e-160}, "bandwidth = 1e-160: expected a bandwidth in 1e-150 .. 1e150");
  refused({.bandwidth = kInfinity}, "bandwidth = inf: expected a bandwidth in 1e-150 .. 1e150");
  refused({.family = KernelFamily::rq, .alpha = kInfinity}, "kernel = rq:inf: expected alpha in 1e-6 .. 1e6");
  refused({.family = KernelFamily::energy, .beta = kNan}, "kernel = energy:nan: expected beta in (0, 2]");
  refused({.family = KernelFamily::polynomial, .offset = kInfinity}, "kernel = polynomial:3:inf: expected offset >= 0");
  refused({.family = KernelFamily::sum}, "kernel: expected a sum or product with at least one part");
  refused({.family = KernelFamily::product, .parts = {{.family = KernelFamily::sum, .parts = {{}}}}},
          "kernel = gaussian: expected plain kernels as factors of a product");
  // 0.5 (a + b) would be spelled "0.5 a+b", which is another kernel.
  refused({.family = KernelFamily::sum,
           .parts = {{.family = KernelFamily::sum, .weight = 0.5, .parts = {KernelSpec{}, KernelSpec{}}}}},
          "kernel = 0.5 gaussian+gaussian: expected products or plain kernels as parts of a sum");
  EXPECT_NO_THROW(validate(KernelSpec{.alpha = -1, .beta = -1, .degree = -1, .offset = -1}));  // not the Gaussian's
}

TEST(KernelSpec, knows_whether_a_bandwidth_is_open_and_which_is_the_first) {
  EXPECT_TRUE(needs_bandwidth(parse_kernel("gaussian")));
  EXPECT_FALSE(needs_bandwidth(parse_kernel("gaussian@1")));
  EXPECT_FALSE(needs_bandwidth(parse_kernel("linear")));
  EXPECT_FALSE(needs_bandwidth(parse_kernel("energy")));
  EXPECT_TRUE(needs_bandwidth(parse_kernel("gaussian@1+laplace")));
  EXPECT_TRUE(needs_bandwidth(parse_kernel("linear*imq")));
  EXPECT_EQ(first_bandwidth(parse_kernel("linear+gaussian@3+rq@4")), 3.0);
  EXPECT_EQ(first_bandwidth(parse_kernel("gaussian")), std::nullopt);
  EXPECT_EQ(first_bandwidth(parse_kernel("polynomial")), std::nullopt);
}

}  // namespace
}  // namespace kqd
