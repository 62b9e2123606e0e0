#pragma once
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "kqd/core/matrix.hpp"

/// Ratios measured in one run: contenders take turns, so that other load affects all, and medians are compared.
namespace kqd::bench {

struct Contender {
  std::string name;
  std::function<void()> run;
};

inline double seconds_of(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Processor time of this process: for work on one thread, on a machine with other load.
inline double processor_seconds_of(const std::function<void()>& run) {
  const std::clock_t start = std::clock();
  run();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

/// Median seconds of each contender over `repetitions` turns, after one turn that is not counted.
inline std::vector<double> take_turns(const std::vector<Contender>& contenders, int repetitions,
                                      double (*time)(const std::function<void()>&) = seconds_of) {
  std::vector<std::vector<double>> times(contenders.size());
  for (int turn = -1; turn < repetitions; ++turn) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      const double seconds = time(contenders[i].run);
      if (turn >= 0) times[i].push_back(seconds);
    }
  }
  std::vector<double> medians;
  for (auto& t : times) medians.push_back(median(std::move(t)));
  return medians;
}

/// The main of a benchmark: runs its body and prints the message of an exception.
template <class Body>
int run(const Body& body) {
  try {
    body();
    return 0;
  } catch (const std::exception& error) {
    std::fputs("error: ", stderr);
    std::fputs(error.what(), stderr);
    std::fputs("\n", stderr);
    return 1;
  }
}

/// Largest resident memory of this process so far, in MB.
inline double peak_memory_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

/// Pseudo-random numbers for benchmark data.
class Noise {
 public:
  explicit Noise(unsigned long long seed) : state_(seed * 2654435761U + 88172645463325252ULL) {}
  double operator()() {  // sum of four uniforms, scaled to variance 1: approximately normal
    double total = -2.0;
    for (int i = 0; i < 4; ++i) {
      state_ ^= state_ << 13U;
      state_ ^= state_ >> 7U;
      state_ ^= state_ << 17U;
      total += static_cast<double>(state_ >> 11U) * 0x1p-53;
    }
    return total * 1.7320508075688772;
  }

 private:
  unsigned long long state_;
};

/// A matrix of such numbers.
inline Matrix<double> noise(std::size_t rows, std::size_t cols, unsigned seed) {
  Noise draw(seed);
  Matrix<double> matrix(rows, cols);
  for (double& v : matrix.values()) v = draw();
  return matrix;
}

}  // namespace kqd::bench
