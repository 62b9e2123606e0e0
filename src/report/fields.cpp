#include "report/fields.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/blas.hpp"
#include "core/executor.hpp"
#include "core/text.hpp"
#include "kqd/version.hpp"
#include "simd/target.hpp"

namespace kqd {
namespace {

std::string reference_phrase(ReferenceMeasure measure) {
  switch (measure) {
    case ReferenceMeasure::gaussian:
      return "from a Gaussian fitted to the pool";
    case ReferenceMeasure::uniform:
      return "from a uniform law fitted to the pool";
    case ReferenceMeasure::pooled:
      return "from the pooled rows";
    case ReferenceMeasure::balanced:
      return "half from X, half from Y";
    case ReferenceMeasure::points:
      return "given";
  }
  return "";
}

std::string kernel_phrase(const KqdResult& result, const KqdOptions& options) {
  const auto bandwidth = first_bandwidth(result.kernel);
  if (!bandwidth || !result.kernel.parts.empty()) return to_string(result.kernel);
  KernelSpec bare = result.kernel;
  bare.bandwidth.reset();
  return fmt::format("{}, bandwidth {:.6g}{}", to_string(bare), *bandwidth,
                     needs_bandwidth(options.kernel) ? " (median rule)" : "");
}

std::string directions_phrase(const KqdResult& result, const KqdOptions& options) {
  std::string text = fmt::format("{} {}", result.num_directions, to_string(options.directions.family));
  if (result.num_reference > 0) {
    text +=
        fmt::format(", {} reference points {}", result.num_reference, reference_phrase(options.directions.reference));
  }
  return text;
}

}  // namespace

Json power_json(double power) {
  return std::isinf(power) ? Json("inf") : Json(power);
}

void add_setting_fields(Json& json, const KqdResult& result, const KqdOptions& options, const RunInfo& run) {
  const auto bandwidth = first_bandwidth(result.kernel);
  json["n_x"] = run.n_x;
  json["n_y"] = run.n_y;
  json["dim"] = run.dim;
  json["kernel"] = to_string(result.kernel);
  json["bandwidth"] = bandwidth ? Json(*bandwidth) : Json(nullptr);
  json["directions"] = to_string(options.directions.family);
  json["num_directions"] = result.num_directions;
  json["num_reference"] = result.num_reference;
  json["n_set_aside"] = 0;
  json["reference"] = result.num_reference > 0 ? Json(to_string(options.directions.reference)) : Json(nullptr);
  json["power"] = power_json(options.power);
  json["weighting"] = to_string(options.weighting);
  json["seed"] = options.seed.value;
  json["threads"] = resolve(options.threads);
  json["simd"] = simd_name();
  json["elapsed_s"] = run.elapsed_s;
  json["warnings"] = result.warnings;
}

std::string line(std::string_view label, std::string_view text) {
  return fmt::format("  {:<12} {}\n", label, text);
}

std::string data_lines(const RunInfo& run) {
  const auto columns = fmt::format("{} column{}", run.dim, run.dim == 1 ? "" : "s");
  return line("X", fmt::format("{}, {} x {}", run.x_name, run.n_x, columns)) +
         line("Y", fmt::format("{}, {} x {}", run.y_name, run.n_y, columns));
}

std::string setting_lines(const KqdResult& result, const KqdOptions& options) {
  return line("kernel", kernel_phrase(result, options)) + line("directions", directions_phrase(result, options)) +
         line("levels", fmt::format("{} weighting, power p = {}", to_string(options.weighting), options.power));
}

std::string run_line(const KqdOptions& options, const RunInfo& run) {
  const unsigned threads = resolve(options.threads);
  return line("run", fmt::format("seed {}, {} thread{}, {}, {:.2f} s, kqd {}", options.seed.value, threads,
                                 threads == 1 ? "" : "s", simd_name(), run.elapsed_s, kVersion));
}

std::string simd_name() {
  return simd::target_name();
}
std::string blas_name() {
  return fmt::format("OpenBLAS ({})", blas_core_name());
}

}  // namespace kqd
