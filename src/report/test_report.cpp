#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "io/text.hpp"
#include "kqd/metrics/methods.hpp"
#include "report/fields.hpp"

namespace kqd {
namespace {

Source source_of(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run) {
  return {.test = &result,
          .test_options = &options,
          .run = &run,
          .statistic = {.method = &find_method(run.method),
                        .options = &options.statistic,
                        .kernel = &result.kernel,
                        .details = &result.details,
                        .num_directions = result.num_directions,
                        .num_reference = result.num_reference,
                        .num_set_aside = result.num_set_aside},
          .seed = options.statistic.seed,
          .threads = options.statistic.threads,
          .elapsed_s = run.elapsed_s,
          .warnings = result.warnings,
          .option_names = run.option_names,
          .settings = run.settings};
}

const TestOutcome& outcome(const Source& s) {
  return s.test->test;
}

// A limiting distribution has neither permutations nor what is computed from them.
bool is_permuted(const Source& s) {
  return s.test->limiting_distribution.empty();
}

Json if_permuted(const Source& s, double value) {
  return is_permuted(s) ? Json(value) : Json();
}

// A test made of several statistics has no units of its own and takes the effect size of another method.
std::string_view effect_method(const Source& s) {
  if (s.test->difference) return "margin";
  const MethodInfo& method = *s.statistic.method;
  return method.effect_method.empty() || !method.effect_words.empty() ? method.id : method.effect_method;
}

Json components_json(const TwoSampleResult& result) {
  Json list = Json::array();
  for (const Configuration& c : result.configurations) {
    list.push_back({{"name", c.name},
                    {"statistic", c.statistic},
                    {"score", c.score},
                    {"pvalue", c.pvalue},
                    {"adjusted_pvalue", c.adjusted_pvalue},
                    {"where", c.where}});
  }
  return list;
}

std::string permutations_word(const TwoSampleOptions& options, const TwoSampleResult& result) {
  if (result.groups) {
    const PermutedGroups& groups = *result.groups;
    const bool differ = groups.rule.assignment != GroupAssignment::random;
    return fmt::format("permutations of {} + {} groups of {}{}", groups.num_x, groups.num_y, differ ? "about " : "",
                       counted(groups.rows_per_group, "row"));
  }
  if (options.calibration == Calibration::sign_flip) return "swaps of x_i and y_i";
  switch (options.test.design.kind) {
    case DesignKind::independent:
      return "permutations";
    case DesignKind::paired:
      return "swaps within pairs";
    case DesignKind::blocks:
      return "permutations within blocks";
    case DesignKind::clusters:
      return "permutations of whole clusters";
  }
  return "";
}

Lines statistic_lines(const Source& s) {
  const std::string value = rounded(outcome(s).statistic, 4);
  if (!is_permuted(s)) return {value};
  return {explained(value, fmt::format("permutation null: mean {}, SD {}", rounded(outcome(s).permutation_mean, 2),
                                       rounded(outcome(s).permutation_sd, 2)))};
}

std::string certainty_phrase(const Source& s) {
  const TestOutcome& test = outcome(s);
  if (!is_permuted(s)) return fmt::format("asymptotic: {}; no permutations", s.test->limiting_distribution);
  const std::string permutations = fmt::format("{} {}", test.n_resamples, permutations_word(*s.test_options, *s.test));
  if (test.enumerated) return fmt::format("exact: all {}, {} at least as extreme", permutations, test.n_exceed);
  return fmt::format("{}; {}{}, {} at least as extreme",
                     interval_phrase(s.test_options->test.confidence, test.pvalue_lower, test.pvalue_upper,
                                     test.stopped_early ? "anytime-valid CI" : "CI"),
                     test.stopped_early ? "stopped early after " : "", permutations, test.n_exceed);
}

// Groups at random are not worth a line.
Lines group_lines(const Source& s) {
  if (!s.test->groups || s.test->groups->rule.assignment == GroupAssignment::random) return {};
  const GroupRule& rule = s.test->groups->rule;
  return {explained(to_string(rule), std::string(guarantee(rule.assignment)))};
}

std::string effect_unit(const Source& s) {
  if (s.test->difference) return "as far apart as a shift by this many SDs in one column";
  const MethodInfo& method = *s.statistic.method;
  if (!method.effect_words.empty()) return std::string(method.effect_words);
  const std::string_view whose = effect_method(s) == method.id ? "statistic" : effect_method(s);
  return fmt::format("{} minus its permutation mean, in pooled SDs", whose);
}

Lines effect_lines(const Source& s) {
  if (!is_permuted(s)) return {};
  const auto& interval = s.test->effect_interval;
  const std::string ci =
      interval ? interval_phrase(s.test_options->test.confidence, interval->lower, interval->upper) + "; " : "";
  return {explained(rounded(s.test->effect_size, 2), ci + effect_unit(s))};
}

// The component with the largest score, of the significant ones that name columns.
const Configuration* largest_change(const Source& s) {
  const Configuration* found = nullptr;
  for (const Configuration& c : s.test->configurations) {
    if (c.where.empty() || c.adjusted_pvalue > s.test_options->test.alpha) continue;
    if (found == nullptr || c.score > found->score) found = &c;
  }
  return found;
}

Lines largest_change_lines(const Source& s) {
  const Configuration* const found = largest_change(s);
  if (found == nullptr) return {};
  return {explained(kqd::shortened(found->where),
                    fmt::format("{}; adjusted p = {:.4g}", found->name, found->adjusted_pvalue))};
}

const MarginResult* margin_of(const Source& s) {
  return s.test->margin ? &*s.test->margin : nullptr;
}

Json pair_json(const Interval& interval) {
  return Json{interval.lower, interval.upper};
}

Json aspects_json(const DifferenceSize& size) {
  Json list = Json::array();
  for (const EffectAspect& aspect : size.aspects) {
    list.push_back({{"name", aspect.name},
                    {"effect", aspect.effect},
                    {"lower", aspect.interval.lower},
                    {"upper", aspect.interval.upper}});
  }
  return list;
}

std::string_view aspect_words(const EffectAspect& aspect) {
  if (aspect.name == "location") return "values of the columns";
  return aspect.name == "shape" ? "their spread and shape" : "relations between pairs of columns";
}

// "0.31 in values of the columns, 0.02 in their spread and shape".
Lines aspect_lines(const Source& s) {
  if (!s.test->difference) return {};
  std::string text;
  for (const EffectAspect& aspect : s.test->difference->aspects) {
    text += fmt::format("{}{} (at most {}) in {}", text.empty() ? "" : "; ", rounded(std::max(0.0, aspect.effect), 2),
                        rounded(aspect.interval.upper, 2), aspect_words(aspect));
  }
  if (!s.test->difference->has_relations && s.run->dim > 1) {
    text += "; relations between columns are not measured";
  }
  return {text};
}

Lines margin_lines(const Source& s) {
  const MarginResult* const margin = margin_of(s);
  if (margin == nullptr) return {};
  const std::string larger = fmt::format("larger: p = {:.2g}", margin->pvalue_beyond);
  const std::string smaller = fmt::format("smaller: p = {:.2g}", margin->pvalue_within);
  return {explained(rounded(margin->margin, 2), fmt::format("{}; {}; {}", larger, smaller, margin->basis))};
}

Lines separation_lines(const Source& s) {
  if (!s.test->difference || !s.test->difference->separation) return {};
  const DifferenceSize& size = *s.test->difference;
  return {explained(
      rounded(*size.separation, 2),
      fmt::format("{}; probability that a simple rule tells a row of {} from a row of {}, 0.5 by chance",
                  interval_phrase(size.confidence, size.separation_interval.lower, size.separation_interval.upper),
                  s.run->x_label, s.run->y_label))};
}

Lines rows_needed_lines(const Source& s) {
  const MarginResult* const margin = margin_of(s);
  if (margin == nullptr || margin->verdict != Verdict::undecided || !margin->batch_effects.empty()) return {};
  if (!margin->rows_needed) return {"more than 10,000 times as many for a verdict, if the effect is as estimated"};
  return {
      fmt::format("about {} of {} and {} together for a verdict with probability 0.8, if the effect is as estimated",
                  counted(*margin->rows_needed, "row"), s.run->x_label, s.run->y_label)};
}

Fields margin_fields() {
  using enum Block;
  return {
      {{"verdict", "different, equivalent or undecided: the effect against the margin; null without a margin", result,
        "verdict by the margin"},
       [](In s) { return margin_of(s) != nullptr ? Json(to_string(margin_of(s)->verdict)) : Json(); }},
      {{"margin", "margin for the effect, in the unit of effect_size; null without one", result},
       [](In s) { return margin_of(s) != nullptr ? Json(margin_of(s)->margin) : Json(); },
       margin_lines},
      {{"margin_kind", "tolerance, equivalent, or null without a margin", setting, "kind of margin"},
       [](In s) {
         if (margin_of(s) == nullptr) return Json();
         return Json(margin_of(s)->kind == MarginKind::equivalent ? "equivalent" : "tolerance");
       }},
      {{"margin_basis", "what is exact and what is asymptotic about the verdict; null without a margin", setting,
        "verdict is"},
       [](In s) { return margin_of(s) != nullptr ? Json(margin_of(s)->basis) : Json(); }},
      {{"pvalue_beyond", "p-value of the hypothesis that the effect is at most the margin; null without one", result,
        "p-value, larger"},
       [](In s) { return margin_of(s) != nullptr ? Json(margin_of(s)->pvalue_beyond) : Json(); }},
      {{"pvalue_within", "p-value of the hypothesis that the effect is at least the margin; null without one", result,
        "p-value, smaller"},
       [](In s) { return margin_of(s) != nullptr ? Json(margin_of(s)->pvalue_within) : Json(); }},
      {{"rows_needed", "rows of both samples for a verdict with probability 0.8; null unless undecided", result,
        "rows needed"},
       [](In s) {
         return margin_of(s) != nullptr && margin_of(s)->rows_needed ? Json(*margin_of(s)->rows_needed) : Json();
       },
       rows_needed_lines},
      {{"aspects", "effect of each aspect (location, shape, relations) with its interval; empty without a margin",
        result, "aspects", false},
       [](In s) { return s.test->difference ? aspects_json(*s.test->difference) : Json::array(); },
       aspect_lines},
      {{"separation", "AUC of a cross-fitted rule that tells rows of X and Y apart; null without a margin", result,
        "separation"},
       [](In s) {
         const auto& size = s.test->difference;
         return size && size->separation ? Json(*size->separation) : Json();
       },
       separation_lines},
      {{"separation_ci", "[lower, upper]: interval for the separation; null without a margin", result,
        "interval of the separation"},
       [](In s) {
         const auto& size = s.test->difference;
         return size && size->separation ? pair_json(size->separation_interval) : Json();
       }},
      {{"batch_effects", "effects of the reference batches against X; empty without them", none, "", false},
       [](In s) { return margin_of(s) != nullptr ? Json(margin_of(s)->batch_effects) : Json::array(); }},
  };
}

Fields own_test_fields() {
  using enum Block;
  return {
      {{"statistic", "observed value of the statistic, as the method reports it", result},
       [](In s) { return Json(outcome(s).statistic); },
       statistic_lines},
      {{"pvalue", "p-value of the null hypothesis that both distributions are equal", result, "p-value"},
       [](In s) { return Json(outcome(s).pvalue); },
       [](In s) { return Lines{explained(fmt::format("{:.4g}", outcome(s).pvalue), certainty_phrase(s))}; }},
      {{"n_exceed",
        "permutations with a statistic at least as large, ties included; the observed one only if enumerated", result,
        "at least as extreme"},
       [](In s) { return Json(outcome(s).n_exceed); }},
      {{"n_resamples", "permutations that were counted; all of them if enumerated", setting, "permutations"},
       [](In s) { return Json(outcome(s).n_resamples); }},
      {{"pvalue_ci", "[lower, upper]: interval for the p-value that all permutations would give", result,
        "confidence interval"},
       [](In s) {
         return Json{outcome(s).pvalue_lower, outcome(s).pvalue_upper};
       }},
      {{"confidence_level", "confidence level of the intervals", setting, "confidence level"},
       [](In s) { return Json(s.test_options->test.confidence); }},
      {{"reject", "true if pvalue <= alpha: equal distributions are rejected", result},
       [](In s) { return Json(outcome(s).reject); }},
      {{"alpha", "significance level", setting, "significance level"},
       [](In s) { return Json(s.test_options->test.alpha); }},
      {{"enumerated", "true if all permutations were evaluated: the p-value is exact", setting, "all permutations"},
       [](In s) { return Json(outcome(s).enumerated); }},
      {{"stopped_early", "true if the test ended before all permutations were drawn", setting, "stopped early"},
       [](In s) { return Json(outcome(s).stopped_early); }},
      {{"early_stop", "rule for early stopping", setting, "early stopping"},
       [](In s) { return Json(to_string(s.test_options->test.early_stop)); }},
      {{"calibration", "source of the p-value: permutation, sign-flip or asymptotic", setting},
       [](In s) { return Json(to_string(s.test_options->calibration)); }},
      {{"design", "design of the study: independent, paired, blocks or clusters", setting},
       [](In s) { return Json(to_string(s.test_options->test.design.kind)); }},
      {{"permute", "units whose labels are permuted: rows or groups; null if asymptotic", setting, "units"},
       [](In s) { return is_permuted(s) ? Json(s.test->groups ? "groups" : "rows") : Json(); }},
      {{"groups", "assignment of rows to groups: random, key:COLUMN or blocks:COLUMN; null if rows are permuted",
        setting},
       [](In s) { return s.test->groups ? Json(to_string(s.test->groups->rule)) : Json(); },
       group_lines},
      {{"groups_guarantee", "promise of a test of these groups; null if rows are permuted", setting, "groups are"},
       [](In s) { return s.test->groups ? Json(guarantee(s.test->groups->rule.assignment)) : Json(); }},
      {{"rows_per_group", "rows of a group if groups are permuted, on average, else null", setting, "rows per group"},
       [](In s) { return s.test->groups ? Json(s.test->groups->rows_per_group) : Json(); }},
      {{"n_groups", "[x, y]: groups of each sample if groups are permuted, else null", setting, "groups"},
       [](In s) {
         return s.test->groups ? Json{s.test->groups->num_x, s.test->groups->num_y} : Json();
       }},
      {{"num_permutations", "requested number of permutations; null if asymptotic", none, "", true, ""},
       [](In s) { return is_permuted(s) ? Json(s.test_options->test.num_permutations) : Json(); }},
      {{"randomised_ties", "whether ties with the observed statistic are broken at random", setting, "randomised ties"},
       [](In s) { return Json(s.test_options->test.randomised_ties); }},
      {{"own_scales", "whether every column was measured from its pooled median in units of its pooled scale"},
       [](In s) { return Json(s.test->own_scales); }},
      {{"set_aside", "whether reference points taken from the data are held out"},
       [](In s) { return Json(s.test_options->set_aside); }},
      {{"weights_as", "interpretation of row weights", setting, "weights as"},
       [](In s) { return Json(to_string(s.test_options->weights_as)); }},
      {{"permutation_mean", "mean of the statistic over permutations; null if asymptotic", result, "permutation mean"},
       [](In s) { return if_permuted(s, outcome(s).permutation_mean); }},
      {{"permutation_sd", "standard deviation of the statistic over permutations; null if asymptotic", result,
        "permutation SD"},
       [](In s) { return if_permuted(s, outcome(s).permutation_sd); }},
      {{"limiting_distribution", "distribution that the p-value comes from if asymptotic, else null", setting,
        "limiting distribution"},
       [](In s) { return is_permuted(s) ? Json() : Json(s.test->limiting_distribution); }},
      {{"effect_size",
        "discrepancy minus its permutation mean, in pooled standard deviations; of classifier the AUC; null if "
        "asymptotic",
        result, "effect size"},
       [](In s) { return if_permuted(s, s.test->effect_size); },
       effect_lines},
      {{"effect_size_ci", "[lower, upper]: interval for the effect size on request, of an AUC always, else null",
        result, "interval of the effect size"},
       [](In s) {
         const auto& interval = s.test->effect_interval;
         return interval ? Json{interval->lower, interval->upper} : Json();
       }},
      {{"effect_interval", "another name of effect_size_ci", none, "", false, ""},
       [](In s) { return s.test->effect_interval ? pair_json(*s.test->effect_interval) : Json(); }},
      {{"largest_change",
        "column or pair of columns of the component statistic with the largest score, of those that name one and have "
        "an adjusted p-value of at most alpha; null if there is none",
        result, "most changed"},
       [](In s) { return largest_change(s) != nullptr ? Json(largest_change(s)->where) : Json(); },
       largest_change_lines},
      {{"effect_method", "method that the effect size belongs to; null if asymptotic", setting, "effect size by"},
       [](In s) { return is_permuted(s) ? Json(effect_method(s)) : Json(); }},
      {{"effect_unit", "what the effect size measures; null if asymptotic"},
       [](In s) { return is_permuted(s) ? Json(effect_unit(s)) : Json(); }},
      {{"per_direction", "observed distance along each direction; empty without directions", none, "", false},
       [](In s) { return s.test->num_directions > 0 ? Json(s.test->per_direction) : Json::array(); }},
      {{"null_distribution", "statistic of every permutation on request, else null", none, "", false},
       [](In s) { return s.test_options->test.keep_null_distribution ? Json(outcome(s).null_distribution) : Json(); }},
      {{"components",
        "component statistics of an aggregated test: name, statistic, score, pvalue, adjusted_pvalue, where", none, "",
        false},
       [](In s) { return components_json(*s.test); }},
  };
}

Field notes_field() {
  return {{"notes", "how weights and cluster sizes were handled", Block::setting},
          [](In s) { return warnings_json(s.test->notes, s); },
          [](In s) { return warning_lines(s.test->notes, s); },
          "note"};
}

// The verdict by the margin, which is what was asked for, before that on equal distributions.
std::string margin_verdict(const MarginResult& margin, const TestOutcome& test, double alpha) {
  const std::string size = rounded(margin.margin, 2);
  const std::string whole = fmt::format("The test of equal distributions: p = {:.4g}{}.", test.pvalue,
                                        test.reject ? ", a difference of some size" : "");
  switch (margin.verdict) {
    case Verdict::different:
      return fmt::format("The samples differ by more than the margin {} (p = {:.2g} at level {:g}). {}", size,
                         margin.pvalue_beyond, alpha, whole);
    case Verdict::equivalent:
      return fmt::format("The samples are equivalent within the margin {} (p = {:.2g} at level {:g}). {}", size,
                         margin.pvalue_within, alpha, whole);
    case Verdict::undecided:
      return fmt::format("Undecided: the difference may be smaller or larger than the margin {} at level {:g}. {}",
                         size, alpha, whole);
  }
  return "";
}

std::string test_verdict(const Source& s) {
  if (s.test->margin) return margin_verdict(*s.test->margin, outcome(s), s.test_options->test.alpha);
  const double alpha = s.test_options->test.alpha;
  return outcome(s).reject
             ? fmt::format("The samples differ (p = {:.4g}, reject equal distributions at level {:g}).",
                           outcome(s).pvalue, alpha)
             : fmt::format("No difference found (p = {:.4g}, do not reject equal distributions at level {:g}).",
                           outcome(s).pvalue, alpha);
}

// The components with the largest scores, largest first.
std::vector<Configuration> largest(std::vector<Configuration> components, std::size_t count) {
  std::ranges::stable_sort(components, std::greater{}, &Configuration::score);
  components.resize(std::min(components.size(), count));
  return components;
}

constexpr std::size_t kComponentsShown = 6;
constexpr std::size_t kComponentsInLines = 3;
constexpr std::string_view kComponent = "component statistic";

// A name that leaves no room for the numbers gets a line of its own.
std::string component_lines(const std::vector<Configuration>& all, const TextStyle& style) {
  if (all.empty()) return "";
  const std::string numbers = fmt::format("score  p-value  adjusted for all {}", all.size());
  const std::vector<Configuration> shown = largest(all, kComponentsShown);
  std::size_t width = kComponent.size();
  for (const Configuration& c : shown) width = std::max(width, c.name.size());
  if (style.width > 0) {
    const std::size_t room = style.width - std::min(style.width, numbers.size() + 4);
    width = std::min(width, std::max(kComponent.size(), room));
  }
  std::string text = fmt::format("\n  {:<{}}  {}\n", kComponent, width, numbers);
  for (const Configuration& c : shown) {
    const bool fits = c.name.size() <= width;
    if (!fits) text += fmt::format("  {}\n", c.name);
    text += fmt::format("  {:<{}}  {:5.1f}  {:<7.4g}  {:.4g}\n", fits ? c.name : "", width, c.score, c.pvalue,
                        c.adjusted_pvalue);
  }
  return text;
}

std::string component_table(const std::vector<Configuration>& all) {
  if (all.empty()) return "";
  std::vector<std::vector<std::string>> lines = {
      {std::string(kComponent), "score", "p-value", fmt::format("adjusted for all {}", all.size())}};
  for (const Configuration& c : largest(all, kComponentsShown)) {
    lines.push_back({c.name, fmt::format("{:.1f}", c.score), fmt::format("{:.4g}", c.pvalue),
                     fmt::format("{:.4g}", c.adjusted_pvalue)});
  }
  return "\n" + markdown_table(lines);
}

// The result, and how to learn more about it.
Rows result_rows(const Source& s) {
  Rows rows = rows_of(test_field_list(), Block::result, s);
  if (s.test->test.reject && !s.run->explain_call.empty()) {
    rows.push_back({"next", s.run->explain_call + " shows which columns, relations and rows differ"});
  }
  return rows;
}

std::string test_title(const Source& s) {
  return fmt::format("Two-sample test by {}: {}", s.statistic.method->id, s.statistic.method->summary);
}

}  // namespace

const Fields& test_field_list() {
  static const Fields kFields =
      joined({{schema_field([](In) { return Json("kqd.test/2"); }), version_field(), method_field()},
              sample_fields(),
              own_test_fields(),
              margin_fields(),
              {maximiser_field()},
              method_fields(),
              {notes_field(), data_field()},
              run_fields()});
  return kFields;
}

Json test_object(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run) {
  return object_of(test_field_list(), source_of(result, options, run));
}

ResultValues test_values(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run) {
  const Source source = source_of(result, options, run);
  Rows rows = {{"", test_verdict(source)}};
  rows = std::move(rows) + result_rows(source);
  for (const Configuration& c : largest(result.configurations, kComponentsInLines)) {
    rows.push_back({"component", fmt::format("{} (score {:.1f}, p = {:.4g}, adjusted p = {:.4g})", c.name, c.score,
                                             c.pvalue, c.adjusted_pvalue)});
  }
  return values_of(test_field_list(), source, std::move(rows));
}

std::string test_text(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run,
                      const TextStyle& style) {
  const Source source = source_of(result, options, run);
  const Fields& fields = test_field_list();
  return title_text(test_title(source), style) + verdict_text(test_verdict(source), result.test.reject, style) + "\n" +
         text_of(result_rows(source), style) + component_lines(result.configurations, style) + "\n" +
         text_of(closing_rows(fields, source), style) + "\n";
}

std::string test_markdown(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run) {
  const Source source = source_of(result, options, run);
  const Fields& fields = test_field_list();
  return fmt::format("**{}**\n\n{}\n\n", test_title(source), test_verdict(source)) +
         markdown_of(result_rows(source) + closing_rows(fields, source)) + component_table(result.configurations);
}

std::string test_csv(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run) {
  return csv_of(test_field_list(), source_of(result, options, run));
}

std::string test_json(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run) {
  return dump(test_object(result, options, run));
}

}  // namespace kqd
