#pragma once
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/core/warning.hpp"
#include "kqd/explain/explain.hpp"
#include "kqd/metrics/methods.hpp"
#include "kqd/report/fields.hpp"
#include "kqd/report/monitor_report.hpp"
#include "kqd/report/report.hpp"
#include "report/rows.hpp"

namespace kqd {

/// JSON in the order in which it is built.
using Json = nlohmann::ordered_json;

/// How a statistic was computed. Pointers, so that one table serves every kind of result.
struct MethodRun {
  const MethodInfo* method = nullptr;
  const MethodOptions* options = nullptr;  ///< as they were asked for
  const KernelSpec* kernel = nullptr;      ///< with the bandwidths that were used
  const std::vector<Detail>* details = nullptr;
  std::size_t num_directions = 0;
  std::size_t num_reference = 0;
  std::size_t num_set_aside = 0;
};

/// Everything that the fields of a result are taken from; null where the kind of result has no such part.
struct Source {
  const TwoSampleResult* test = nullptr;
  const TwoSampleOptions* test_options = nullptr;
  const DistanceResult* distance = nullptr;
  const MatrixReport* matrix = nullptr;
  const EmbeddingReport* embedding = nullptr;
  const MonitorReport* monitor = nullptr;
  const Explanation* explanation = nullptr;
  const RunInfo* run = nullptr;
  MethodRun statistic = {};
  Seed seed{0};
  ThreadCount threads{0};
  double elapsed_s = 0.0;
  Warnings warnings = {};
  OptionNames option_names = library_names;  ///< how warnings write options
  NamedSettings settings = {};               ///< options that were set
};

using In = const Source&;
using Lines = std::vector<std::string>;

/// A row of the table: the name of a field, its value, and the lines that a screen shows for it (none by default).
struct Field {
  FieldInfo info;
  Json (*value)(const Source&);
  Lines (*lines)(const Source&) = nullptr;
  std::string_view row_label = {};  ///< on screen, where the label does not fit its line
};
using Fields = std::vector<Field>;

/// The fields of each kind of result, in the order of its JSON.
[[nodiscard]] const Fields& test_field_list();
[[nodiscard]] const Fields& distance_field_list();
[[nodiscard]] const Fields& matrix_field_list();
[[nodiscard]] const Fields& explanation_field_list();
[[nodiscard]] const Fields& embedding_field_list();
[[nodiscard]] const Fields& monitor_field_list();

/// Rows that several kinds of results share.
[[nodiscard]] Field schema_field(Json (*value)(const Source&));
[[nodiscard]] Fields sample_fields();  ///< x, y, n_x, n_y, dim
/// The direction with the largest gap, for methods that take a supremum over directions.
[[nodiscard]] Field maximiser_field();
[[nodiscard]] Field data_field();      ///< how two samples were prepared
[[nodiscard]] Fields method_fields();  ///< kernel, directions, levels, parameters, details
[[nodiscard]] Fields run_fields();     ///< seed, machine, time, warnings
[[nodiscard]] Field version_field();
[[nodiscard]] Field method_field();
[[nodiscard]] Fields joined(std::vector<Fields> parts);

/// "20 to 30 rows x 3 columns", or "20 objects" without columns.
[[nodiscard]] std::string size_text(std::span<const std::size_t> sizes, std::size_t dim);

/// All fields as an object. Infinite numbers become "inf": JSON has no infinity.
[[nodiscard]] Json object_of(const Fields& fields, const Source& source);
/// A value in a cell of CSV.
[[nodiscard]] std::string cell_of(const Json& value);
/// A line of names and a line of values. "name_ci" gives two columns, the ends of an interval; lists and objects one
/// cell, parted by "; "; null an empty one.
[[nodiscard]] std::string csv_of(const Fields& fields, const Source& source);
/// The lines of a block of the report.
[[nodiscard]] Rows rows_of(const Fields& fields, Block block, const Source& source);
/// Data, settings, run and warnings: the end of every report.
[[nodiscard]] Rows closing_rows(const Fields& fields, const Source& source);

/// The objects that --json prints.
[[nodiscard]] Json distance_object(const DistanceResult& result, const MethodOptions& options, const RunInfo& run);
[[nodiscard]] Json test_object(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run);
[[nodiscard]] Json matrix_object(const MatrixReport& report);

/// The fields that a page lists under "How it was computed": name and label.
[[nodiscard]] Json setting_labels(const Fields& fields);

/// JSON on one line, and on many with a newline at the end. Bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string compact(const Json& json);
[[nodiscard]] std::string dump(const Json& json);

/// The result for other languages: `rows` come before those on data and settings.
[[nodiscard]] ResultValues values_of(const Fields& fields, const Source& source, Rows rows);

/// How two samples were prepared if `rows` is empty, else as many as it has.
[[nodiscard]] Json preparation_json(const Preparation& prepared, const std::vector<RowCounts>& rows = {});

/// Warnings or notes as objects of an id and a text, and as lines.
[[nodiscard]] Json warnings_json(const Warnings& warnings, const Source& source);
[[nodiscard]] Lines warning_lines(const Warnings& warnings, const Source& source);

/// "gaussian, bandwidth 1.5", or the whole text of a kernel of several parts or without a bandwidth.
[[nodiscard]] std::string kernel_phrase(const KernelSpec& kernel);
/// "seed 1, 2 threads, avx2, 0.25 s, kqd 0.1.0".
[[nodiscard]] std::string run_phrase(const Source& source);

/// "1 row", "3 rows".
[[nodiscard]] std::string counted(std::size_t count, std::string_view noun);
/// So many significant digits, without an exponent below a million.
[[nodiscard]] std::string rounded(double value, int digits);
/// "95% CI 0 to 0.0037".
[[nodiscard]] std::string interval_phrase(double confidence, double lower, double upper, std::string_view kind = "CI");
/// A number, and in brackets next to it what it is: aligned over the lines of a block.
[[nodiscard]] std::string explained(const std::string& number, const std::string& explanation);

}  // namespace kqd
