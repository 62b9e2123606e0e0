#include "kqd/report/page.hpp"

#include <algorithm>
#include <vector>

#include "kqd/core/error.hpp"
#include "kqd/report/explanation.hpp"
#include "kqd/version.hpp"
#include "report/fields.hpp"
#include "report/page_json.hpp"
#include "report/page_template.hpp"

namespace kqd {
namespace {

constexpr std::size_t kMostNullValues = 2000;
// The data are inserted at the end of this element.
constexpr std::string_view kDataElement = R"(<script type="application/json" id="report">)";

// Without < no text can end the element that contains it, nor open another. In JSON it occurs within texts only.
std::string without_angles(std::string_view json) {
  std::string text;
  text.reserve(json.size() + json.size() / 64);
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

Json null_json(const TestOutcome& test) {
  if (test.null_distribution.empty()) return nullptr;
  return {{"values", thinned_by_rank(test.null_distribution)},
          {"of", test.null_distribution.size()},
          {"observed", test.statistic}};
}

}  // namespace

std::string page_of(std::string_view kind, Json result, Json null, const Fields& fields, const PageInfo& info,
                    const RunInfo& of) {
  Json report;
  report["schema"] = "kqd.report/2";
  report["kind"] = kind;
  report["command"] = info.command;
  report["version"] = kVersion;
  report["result"] = std::move(result);
  report["labels"] = setting_labels(fields);
  report["null"] = std::move(null);
  RunInfo run;
  run.option_names = of.option_names;
  run.x_label = of.x_label;
  run.y_label = of.y_label;
  report["flags"] = Json::object();
  for (const std::string_view id : {"types", "na", "standardize"}) report["flags"][id] = of.option_names(id, "");
  report["explanation"] = info.explanation ? Json::parse(explanation_json(*info.explanation, run)) : Json(nullptr);
  report["explanation_note"] = info.explanation_note;
  return report_page(compact(report));
}

std::vector<double> thinned_by_rank(std::vector<double> values) {
  if (values.size() <= kMostNullValues) return values;
  std::ranges::sort(values);
  std::vector<double> kept(kMostNullValues);
  for (std::size_t i = 0; i < kMostNullValues; ++i) kept[i] = values[i * (values.size() - 1) / (kMostNullValues - 1)];
  return kept;
}

std::string report_page(std::string_view report_json) {
  const std::string_view page = page_template();
  const std::size_t place = page.find(kDataElement);
  if (place == std::string_view::npos)
    throw Error(ErrorCode::internal, "the template of the page has no place for data");
  const std::size_t split = place + kDataElement.size();
  return std::string(page.substr(0, split)) + without_angles(report_json) + std::string(page.substr(split));
}

std::string test_page(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run,
                      const PageInfo& info) {
  Json object = test_object(result, options, run);
  object["null_distribution"] = nullptr;  // shown thinned: the page must not grow with it
  return page_of("test", std::move(object), null_json(result.test), test_field_list(), info, run);
}

std::string distance_page(const DistanceResult& result, const MethodOptions& options, const RunInfo& run,
                          const PageInfo& info) {
  return page_of("distance", distance_object(result, options, run), nullptr, distance_field_list(), info, run);
}

std::string matrix_page(const MatrixReport& report, const PageInfo& info) {
  RunInfo run;
  run.option_names = report.option_names;
  return page_of("matrix", matrix_object(report), nullptr, matrix_field_list(), info, run);
}

}  // namespace kqd
