#include <fmt/format.h>

#include <string>

#include "kqd/metrics/methods.hpp"
#include "report/fields.hpp"

namespace kqd {
namespace {

Source source_of(const DistanceResult& result, const MethodOptions& options, const RunInfo& run) {
  return {.distance = &result,
          .run = &run,
          .statistic = {.method = &find_method(run.method),
                        .options = &options,
                        .kernel = &result.kernel,
                        .details = &result.details,
                        .num_directions = result.num_directions,
                        .num_reference = result.num_reference},
          .seed = options.seed,
          .threads = options.threads,
          .elapsed_s = run.elapsed_s,
          .warnings = result.warnings,
          .option_names = run.option_names,
          .settings = run.settings};
}

Lines distance_lines(const Source& s) {
  const std::string value = fmt::format("{:.6g}", s.distance->statistic);
  if (!s.distance->standard_error) return {value};
  return {explained(value, fmt::format("Monte Carlo SE over directions {}", rounded(*s.distance->standard_error, 2)))};
}

Lines interval_lines(const Source& s) {
  if (!s.run->interval) return {};
  const auto [lower, upper] = *s.run->interval;
  return {explained(fmt::format("{:.6g} to {:.6g}", lower, upper), "holds the distance of the rows for certain")};
}

Fields own_distance_fields() {
  using enum Block;
  return {
      {{"statistic", "the distance, as the method reports it", result, "distance"},
       [](In s) { return Json(s.distance->statistic); },
       distance_lines},
      {{"statistic_power", "p-th power of the distance", result, "power of the distance"},
       [](In s) { return Json(s.distance->statistic_power); }},
      {{"standard_error", "Monte Carlo standard error over directions; null for methods without a mean over directions",
        result, "Monte Carlo SE"},
       [](In s) { return s.distance->standard_error ? Json(*s.distance->standard_error) : Json(); }},
      {{"interval", "[lower, upper]: holds the distance of the rows of profiles for certain; null for rows", result,
        "certain interval"},
       [](In s) {
         return s.run->interval ? Json{s.run->interval->lower, s.run->interval->upper} : Json();
       },
       interval_lines},
      {{"per_direction", "distance along each direction; empty without directions", none, "", false},
       [](In s) { return s.distance->num_directions > 0 ? Json(s.distance->per_direction) : Json::array(); }},
  };
}

std::string distance_title(const Source& s) {
  return fmt::format("{}: {}", s.statistic.method->id, s.statistic.method->summary);
}

}  // namespace

const Fields& distance_field_list() {
  static const Fields kFields =
      joined({{schema_field([](In) { return Json("kqd.distance/2"); }), version_field(), method_field()},
              sample_fields(),
              own_distance_fields(),
              {maximiser_field()},
              method_fields(),
              {data_field()},
              run_fields()});
  return kFields;
}

Json distance_object(const DistanceResult& result, const MethodOptions& options, const RunInfo& run) {
  return object_of(distance_field_list(), source_of(result, options, run));
}

ResultValues distance_values(const DistanceResult& result, const MethodOptions& options, const RunInfo& run) {
  const Source source = source_of(result, options, run);
  return values_of(distance_field_list(), source, rows_of(distance_field_list(), Block::result, source));
}

std::string distance_text(const DistanceResult& result, const MethodOptions& options, const RunInfo& run,
                          const TextStyle& style) {
  const Source source = source_of(result, options, run);
  const Fields& fields = distance_field_list();
  return title_text(distance_title(source), style) + text_of(rows_of(fields, Block::result, source), style) + "\n" +
         text_of(closing_rows(fields, source), style) + "\n";
}

std::string distance_markdown(const DistanceResult& result, const MethodOptions& options, const RunInfo& run) {
  const Source source = source_of(result, options, run);
  const Fields& fields = distance_field_list();
  return fmt::format("**{}**\n\n", distance_title(source)) +
         markdown_of(rows_of(fields, Block::result, source) + closing_rows(fields, source));
}

std::string distance_csv(const DistanceResult& result, const MethodOptions& options, const RunInfo& run) {
  return csv_of(distance_field_list(), source_of(result, options, run));
}

std::string distance_json(const DistanceResult& result, const MethodOptions& options, const RunInfo& run) {
  return dump(distance_object(result, options, run));
}

}  // namespace kqd
