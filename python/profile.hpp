#pragma once
#include <pybind11/pybind11.h>

#include <memory>
#include <mutex>
#include <utility>

#include "kqd/kqd.hpp"

namespace kqd {

/// A profile that Python may change. A change is made on a copy, which takes its place when it is complete: an
/// interrupted one leaves the profile as it was, and a test reads a profile that does not change.
class ArrayProfile {
 public:
  explicit ArrayProfile(Profile profile) : profile_(std::make_shared<const Profile>(std::move(profile))) {}

  [[nodiscard]] std::shared_ptr<const Profile> get() const {
    const std::lock_guard lock(mutex_);
    return profile_;
  }

  /// Calls change(profile) on a copy, one change at a time. Needs no GIL, and must not be called with it.
  template <class Change>
  void change(const Change& change) {
    const std::lock_guard one_at_a_time(changing_);
    auto next = std::make_shared<Profile>(*get());
    change(*next);
    const std::lock_guard lock(mutex_);
    profile_ = std::move(next);
  }

 private:
  mutable std::mutex mutex_;
  std::mutex changing_;
  std::shared_ptr<const Profile> profile_;
};

/// The class Profile of the module, without what depends on reports.
pybind11::class_<ArrayProfile> bind_profile(pybind11::module_& m);

}  // namespace kqd
