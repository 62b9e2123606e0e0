#include "experiments/study_run.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <numeric>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"
#include "experiments/results_file.hpp"
#include "experiments/run_seed.hpp"

namespace kqd::lab {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Processor time of this thread, which other processes do not change. A bundle runs on one thread.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The decisions of a bundle in one run, and their processor time.
struct Outcome {
  std::size_t bundle = 0;
  std::vector<bool> rejections;
  double seconds = 0.0;
};

class StudyRun {
 public:
  StudyRun(const Study& study, std::span<const std::size_t> rows, Seed seed, ThreadCount threads,
           const std::string& path, StudyResults& results, const RunControl* control)
      : study_(study), seed_(seed), threads_(threads), path_(path), results_(results), control_(control) {
    wanted_.resize(study.rows.size(), false);
    for (const std::size_t row : rows) wanted_[row] = true;
  }

  void run() {
    for (std::size_t c = 0; c < study_.columns.size(); ++c) {
      const auto runs = static_cast<double>(missing_runs(c).size());
      total_runs_ += runs;
      total_ += study_.columns[c].work * runs;
    }
    report_progress();
    for (std::size_t c = 0; c < study_.columns.size(); ++c) run_column(c);
    results_.save(path_, study_, seed_);
  }

 private:
  // True if a requested row of the bundle has no decision for this run.
  [[nodiscard]] bool lacks(const Bundle& bundle, std::size_t column, std::size_t run) const {
    if (study_.columns[column].n > bundle.largest_n) return false;
    return std::ranges::any_of(bundle.rows,
                               [&](std::size_t row) { return wanted_[row] && !results_.cell(row, column).has(run); });
  }

  [[nodiscard]] std::vector<std::size_t> missing_runs(std::size_t column) const {
    std::vector<std::size_t> runs;
    for (std::size_t run = 0; run < study_.runs; ++run) {
      const auto lacking = [&](const Bundle& bundle) { return lacks(bundle, column, run); };
      if (std::ranges::any_of(study_.bundles, lacking)) runs.push_back(run);
    }
    return runs;
  }

  // Runs in chunks of about a second; reports progress after each, and saves results from time to time.
  void run_column(std::size_t column) {
    const std::vector<std::size_t> runs = missing_runs(column);
    std::size_t chunk = resolve(threads_);
    for (std::size_t first = 0; first < runs.size();) {
      const std::size_t count = std::min(chunk, runs.size() - first);
      const auto start = Clock::now();
      run_chunk(column, std::span(runs).subspan(first, count));
      first += count;
      done_ += study_.columns[column].work * static_cast<double>(count);
      if (seconds_since(start) < 0.5) chunk *= 2;
      report_progress();
      if (seconds_since(saved_) > kSecondsBetweenSaves) save();
    }
  }

  void run_chunk(std::size_t column, std::span<const std::size_t> runs) {
    std::vector<std::vector<Outcome>> outcomes(runs.size());
    const auto keep = [&] {
      for (std::size_t k = 0; k < runs.size(); ++k) {
        for (const Outcome& outcome : outcomes[k]) keep_outcome(column, runs[k], outcome);
      }
    };
    try {
      const StopScope stop(control_);
      parallel_for_blocks(runs.size(), 1, threads_,
                          [&](std::size_t k, std::size_t) { run_once(column, runs[k], outcomes[k]); });
    } catch (const Error& error) {
      keep();
      save();
      rethrow_interruption(error, path_);
      throw;
    } catch (...) {
      keep();
      save();
      throw;
    }
    keep();
  }

  void run_once(std::size_t column, std::size_t run, std::vector<Outcome>& outcomes) const {
    const Column& place = study_.columns[column];
    // Every scheme of an experiment has the same data.
    const Seed seed = run_seed(study_.id + " | " + shortest(place.x), seed_, run);
    const Draw data = place.draw(seed);
    for (std::size_t b = 0; b < study_.bundles.size(); ++b) {
      if (!lacks(study_.bundles[b], column, run)) continue;
      const double start = processor_seconds();
      std::vector<bool> rejections = study_.bundles[b].reject(place, data, seed);
      outcomes.push_back({b, std::move(rejections), processor_seconds() - start});
    }
  }

  void keep_outcome(std::size_t column, std::size_t run, const Outcome& outcome) {
    const std::vector<std::size_t>& rows = study_.bundles[outcome.bundle].rows;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if (!wanted_[rows[k]]) continue;
      Cell& cell = results_.cell(rows[k], column);
      cell.set(run, outcome.rejections[k]);
      cell.seconds += outcome.seconds / static_cast<double>(rows.size());  // shared work is divided equally
    }
  }

  // Counts runs of average cost, because columns differ in cost and the remaining time is estimated from the count.
  void report_progress() const {
    if (control_ != nullptr && control_->progress && total_ > 0.0) {
      const double done = total_runs_ * done_ / total_;
      control_->progress({.done = done, .total = total_runs_, .what = label_, .counted = true});
    }
  }

  void save() {
    results_.save(path_, study_, seed_);
    saved_ = Clock::now();
  }

  static constexpr double kSecondsBetweenSaves = 5.0;
  const Study& study_;
  Seed seed_;
  ThreadCount threads_;
  const std::string& path_;
  StudyResults& results_;
  const RunControl* control_;
  std::vector<bool> wanted_;
  std::string label_ = file_stem(study_) + ", runs";
  double done_ = 0.0;
  double total_ = 0.0;
  double total_runs_ = 0.0;
  Clock::time_point saved_ = Clock::now();
};

}  // namespace

std::vector<std::size_t> chosen_rows(const Study& study, std::span<const std::string> ids) {
  std::vector<std::size_t> rows(study.rows.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  if (ids.empty()) return rows;
  rows.clear();
  for (const std::string& id : ids) {
    const auto found = std::ranges::find(study.rows, id, &Row::id);
    if (found == study.rows.end()) {
      std::vector<std::string_view> known;
      for (const Row& row : study.rows) known.push_back(row.id);
      fail_option("methods", id, fmt::format("rows of {}: {}{}", study.id, join(known), suggestion(id, known)));
    }
    rows.push_back(static_cast<std::size_t>(found - study.rows.begin()));
  }
  return rows;
}

void run_study(const Study& study, std::span<const std::size_t> rows, Seed seed, ThreadCount threads,
               const std::string& path, StudyResults& results, const RunControl* control) {
  StudyRun(study, rows, seed, threads, path, results, control).run();
}

}  // namespace kqd::lab
