#pragma once
#include <gtest/gtest.h>

#include <string>

#include "simd/target.hpp"

namespace kqd::test {

/// Calls body() under each instruction set this CPU has; a failure names it.
template <class Body>
void on_each_target(const Body& body) {
  const std::string before = simd::target_name();
  for (const std::string& name : simd::available_targets()) {
    SCOPED_TRACE(name);
    simd::use_target(name);
    ASSERT_EQ(name, simd::target_name());
    body();
  }
  simd::use_target(before);
}

}  // namespace kqd::test
