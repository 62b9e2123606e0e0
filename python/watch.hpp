#pragma once
#include <pybind11/pybind11.h>

#include <functional>
#include <optional>

#include "kqd/core/run_control.hpp"

namespace kqd {

/// Calls work(nullptr) on this thread, without the GIL: for what is over before anybody would want to end it.
template <class Work>
void without_gil(const Work& work) {
  const pybind11::gil_scoped_release other_threads_may_run;
  work(nullptr);
}

/// Calls work(control) without the GIL, and ends it when Python wants to.
///
/// Python runs signal handlers on the main thread only, and only when it is asked to. So another thread computes, and
/// the caller's thread waits: it looks for signals and passes progress on to `callback`, a few times a second, whatever
/// the library is at. An exception out of either stops the work first.
void while_watching(const std::function<void(const RunControl* control)>& work,
                    const std::optional<pybind11::function>& callback = std::nullopt);

}  // namespace kqd
