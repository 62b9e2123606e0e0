#pragma once
#include <gtest/gtest.h>

#include <string>

#include "kqd/core/error.hpp"

namespace kqd::test {

/// Expects that `action` throws Error with this code and exactly this sentence.
template <class Action>
void expect_error(ErrorCode code, const std::string& sentence, const Action& action) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown; expected: " << sentence;
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), sentence);
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << sentence;
  }
}

}  // namespace kqd::test
