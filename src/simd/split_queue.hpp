#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>

namespace kqd::simd {

/// Values of one group that wait for their partners of the other group: written at the back, read from the front.
///
/// Its memory is not much larger than the waiting values, so that a queue in use stays in cache.
class SplitQueue {
 public:
  /// Vector loads and stores may reach this far beyond the last value.
  static constexpr std::size_t kPadding = 8;

  void clear() { front_ = back_ = 0; }
  [[nodiscard]] std::size_t size() const { return back_ - front_; }
  [[nodiscard]] const double* front() const { return values_.get() + front_; }
  void pop(std::size_t count) { front_ += count; }

  /// Where `extra` more values may be written, to be followed by push().
  [[nodiscard]] double* make_room(std::size_t extra) {
    // Few values are moved immediately, so that memory is reused; many only when there is no room left.
    if (8 * size() <= extra || back_ + extra + kPadding > capacity_) move_to_front(extra);
    return values_.get() + back_;
  }
  void push(std::size_t count) { back_ += count; }

 private:
  // A move of many values follows at least as many writes, so the cost per value is constant.
  void move_to_front(std::size_t extra) {
    const std::size_t waiting = size();
    const std::size_t needed = 2 * waiting + extra + kPadding;
    if (needed <= capacity_) {
      std::copy(front(), front() + waiting, values_.get());
    } else {
      const std::size_t capacity = needed + needed / 2;
      auto larger = std::make_unique_for_overwrite<double[]>(capacity);
      std::copy(front(), front() + waiting, larger.get());
      values_ = std::move(larger);
      capacity_ = capacity;
    }
    front_ = 0;
    back_ = waiting;
  }

  std::unique_ptr<double[]> values_;
  std::size_t capacity_ = 0;
  std::size_t front_ = 0;
  std::size_t back_ = 0;
};

}  // namespace kqd::simd
