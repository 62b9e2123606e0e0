#pragma once
#include "kqd/core/error.hpp"        // Error, ErrorCode
#include "kqd/core/matrix.hpp"       // Matrix: owning
#include "kqd/core/matrix_view.hpp"  // MatrixView: not owning
#include "kqd/core/sample.hpp"       // Sample, SampleView
#include "kqd/core/types.hpp"        // Seed, ThreadCount
#include "kqd/io/read.hpp"           // read_sample, read_pair: CSV, TSV, NPY
#include "kqd/version.hpp"
