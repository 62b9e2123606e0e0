#pragma once
#include "kqd/core/error.hpp"                // Error, ErrorCode
#include "kqd/core/matrix.hpp"               // Matrix: owning
#include "kqd/core/matrix_view.hpp"          // MatrixView: not owning
#include "kqd/core/plan.hpp"                 // Plan: a statistic prepared for many labellings
#include "kqd/core/run_control.hpp"          // RunControl: progress and stop
#include "kqd/core/sample.hpp"               // Sample, SampleView
#include "kqd/core/types.hpp"                // Seed, ThreadCount
#include "kqd/testing/design.hpp"            // Design: independent, paired, blocks, clusters
#include "kqd/testing/permutation_test.hpp"  // TestOptions, TestOutcome, permutation_test
#include "kqd/testing/pvalue.hpp"            // p-values and their intervals
#include "kqd/version.hpp"
