#pragma once
#include "kqd/core/error.hpp"                   // Error, ErrorCode
#include "kqd/core/matrix.hpp"                  // Matrix: owning
#include "kqd/core/matrix_view.hpp"             // MatrixView: not owning
#include "kqd/core/message.hpp"                 // render: messages in the words of a front end
#include "kqd/core/parameters.hpp"              // Parameters: a method's or problem's own settings
#include "kqd/core/plan.hpp"                    // Plan: a statistic prepared for many permutations
#include "kqd/core/run_control.hpp"             // RunControl: progress and stop
#include "kqd/core/sample.hpp"                  // Sample, SampleView
#include "kqd/core/stoppable.hpp"               // run_stoppable: an end for what takes no RunControl
#include "kqd/core/suggestion.hpp"              // suggestion: the word that was meant
#include "kqd/core/types.hpp"                   // Seed, ThreadCount
#include "kqd/core/warning.hpp"                 // Warning, render: warnings and notes of results
#include "kqd/directions/directions.hpp"        // Directions, draw_directions
#include "kqd/explain/explain.hpp"              // explain: which columns, levels, directions and rows differ
#include "kqd/explain/profile_explain.hpp"      // explain: of profiles
#include "kqd/io/csv_format.hpp"                // CsvFormat
#include "kqd/io/duckdb.hpp"                    // duckdb_version, offer_duckdb
#include "kqd/io/files.hpp"                     // expand_files: patterns of file names
#include "kqd/io/frame.hpp"                     // Frame, prepare_pair: tables in memory
#include "kqd/io/preparation.hpp"               // NaPolicy, Categorical, Standardize, Preparation
#include "kqd/io/printable.hpp"                 // printable
#include "kqd/io/read.hpp"                      // read_sample, read_pair, read_grouped
#include "kqd/io/write.hpp"                     // write_sample
#include "kqd/kernel/bandwidth.hpp"             // BandwidthRule, grids
#include "kqd/kernel/kernel.hpp"                // KernelSpec, Kernel
#include "kqd/kernel/objects.hpp"               // Gram matrices; kernels of strings, graphs, sets
#include "kqd/metrics/discrepancy.hpp"          // ekqd, supkqd and their centered forms
#include "kqd/metrics/distance_matrix.hpp"      // distance_matrix: many samples at once
#include "kqd/metrics/embedding.hpp"            // KernelQuantileEmbedding
#include "kqd/metrics/embedding_table.hpp"      // embedding_table: data sets as vectors of quantiles
#include "kqd/metrics/methods.hpp"              // the registry of methods
#include "kqd/metrics/mmd.hpp"                  // mmd, mmd_v
#include "kqd/monitor/alarm.hpp"                // Alarm: false alarms stay rare, however often it is looked at
#include "kqd/monitor/change_point.hpp"         // change_point: since when
#include "kqd/monitor/monitor.hpp"              // Monitor: a baseline and its batches
#include "kqd/options/options.hpp"              // options: the table of all options
#include "kqd/profile/group_rule.hpp"           // how rows are assigned to groups
#include "kqd/profile/profile.hpp"              // Profile: counts of a sample that can be merged
#include "kqd/profile/sources.hpp"              // SampleSources: files of a sample, and its identity
#include "kqd/quantiles/level_weights.hpp"      // LevelWeights
#include "kqd/report/explanation.hpp"           // text and JSON of an explanation
#include "kqd/report/fields.hpp"                // names and values of result fields
#include "kqd/report/monitor_report.hpp"        // monitor_text, monitor_json, monitor_page
#include "kqd/report/page.hpp"                  // HTML page of results
#include "kqd/report/report.hpp"                // text and JSON of results
#include "kqd/synthetic/problems.hpp"           // make_problem: samples of known distributions
#include "kqd/testing/design.hpp"               // Design: independent, paired, blocks, clusters
#include "kqd/testing/permutation_test.hpp"     // TestOptions, TestOutcome, permutation_test
#include "kqd/testing/pvalue.hpp"               // p-values and their intervals
#include "kqd/two_sample/margin.hpp"            // difference_size, judge: does a difference matter?
#include "kqd/two_sample/pairwise_tests.hpp"    // pairwise_tests: every pair of many samples
#include "kqd/two_sample/profile_distance.hpp"  // distance of profiles with a certain interval
#include "kqd/two_sample/profile_draft.hpp"     // profiles of rows that are on other machines
#include "kqd/two_sample/profile_files.hpp"     // profiles and tests of files larger than memory
#include "kqd/two_sample/profile_test.hpp"      // make_profile, and tests of profiles
#include "kqd/two_sample/row_plan.hpp"          // plan_rows: how many rows are needed
#include "kqd/two_sample/two_sample_test.hpp"   // two_sample_test
#include "kqd/version.hpp"
