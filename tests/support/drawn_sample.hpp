#pragma once
#include <cmath>
#include <cstdint>
#include <string>

#include "core/random.hpp"
#include "kqd/core/sample.hpp"

namespace kqd::test {

/// Two samples of a test: their sizes, with weights or without, whole numbers when ties are wanted.
struct PlanCase {
  std::string name = {};
  std::size_t nx = 0;
  std::size_t ny = 0;
  bool weighted = false;
  bool ties = false;
};

/// Normal values around `shift`, or whole ones with ties, with weights if the case has them. One stream per index.
inline Sample drawn_sample(std::size_t n, std::size_t dim, const PlanCase& c, std::uint64_t index, Seed seed = Seed{77},
                           double shift = 0.0) {
  RandomStream stream(seed, Purpose::test_data, index);
  Sample sample{Matrix<double>(n, dim), {}, {}};
  for (double& v : sample.points.values()) v = shift + (c.ties ? std::floor(2.0 * stream.normal()) : stream.normal());
  if (c.weighted) {
    for (std::size_t i = 0; i < n; ++i) sample.weights.push_back(0.25 + stream.uniform());
  }
  return sample;
}

}  // namespace kqd::test
