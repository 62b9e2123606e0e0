#pragma once
#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/reference_scheme.hpp"
#include "experiments/study.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd::lab {

/// How the methods of the paper are run.
enum class Scheme {
  kqd,        ///< tests of kqd: directions fixed over permutations, not through rows; as many as the paper's
  kqd_64,     ///< the same with 64 directions through 64 reference points
  reference,  ///< the authors' scheme with the coefficients and indices that their code draws
  fresh,      ///< the authors' scheme with coefficients and indices drawn again in each run
};

inline constexpr std::array<std::string_view, 4> kSchemes = {"kqd", "kqd-64", "reference", "fresh"};
[[nodiscard]] Scheme parse_scheme(std::string_view text);

/// One method of the paper.
struct PaperRow {
  std::string id;
  std::string label;
  std::string curve;           ///< in the legend
  std::string key;             ///< in published/paper-results.json
  std::string method;          ///< id in the registry of methods
  OrderedStatistic statistic;  ///< in the authors' scheme
  bool quadratic = false;
};

/// e-KQD, its centered form and sup-KQD for p = 1 and 2, MMD-Multi, MMD-Lin and MMD.
[[nodiscard]] const std::vector<PaperRow>& paper_rows();

/// The row of paper_rows() with this id.
[[nodiscard]] const PaperRow& paper_row(std::string_view id);

/// e-KQD with p = 2 and other weights of levels: triangles and slopes, ratio 0 (the paper's study of nu).
[[nodiscard]] const std::vector<PaperRow>& weighting_rows();

/// Settings common to all rows of a study.
struct PaperSetting {
  std::string published;  ///< key of the experiment in published/paper-results.json; empty: nothing was published
  KernelSpec kernel = {};
  std::size_t permutations = 300;
  Scheme scheme = Scheme::kqd;
  std::size_t largest_quadratic_n = std::numeric_limits<std::size_t>::max();  ///< in the schemes of kqd
  ReferenceMeasure reference = ReferenceMeasure::gaussian;                    ///< in the schemes of kqd
};

/// Adds the rows to the study, which must have its columns. `fresh` has only methods with random directions: for the
/// others it is the same as `reference`.
void add_paper_rows(Study& study, std::span<const PaperRow> rows, const PaperSetting& setting);

/// The kernel on the pool of a run as the authors' code has it: the median over all ordered pairs, a row with itself
/// included (erratum 7); by features where there are few.
[[nodiscard]] std::unique_ptr<const PooledKernel> authors_kernel(const KernelSpec& kernel, const Draw& data, Seed seed);

/// Panels "p = 2" and "p = 1" with the MMD rows in both, as figures 3 and 6 of the paper.
[[nodiscard]] std::vector<Panel> power_panels();

/// Positions of the columns on the axis.
[[nodiscard]] std::vector<double> places(const Study& study);

}  // namespace kqd::lab
