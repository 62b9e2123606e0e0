#include "experiments/figure_files.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "kqd/io/write.hpp"
#include "kqd/version.hpp"

namespace kqd::lab {
namespace {

nlohmann::ordered_json panels_json(const std::vector<ChartPanel>& panels) {
  auto list = nlohmann::ordered_json::array();
  for (const ChartPanel& panel : panels) {
    auto series = nlohmann::ordered_json::array();
    for (const Series& one : panel.series) {
      auto points = nlohmann::ordered_json::array();
      for (const ChartPoint& point : one.points) points.push_back({point.x, point.y});
      series.push_back({{"label", one.label}, {"points", std::move(points)}});
    }
    list.push_back({{"title", panel.title}, {"x", panel.x.title}, {"y", panel.y.title}, {"series", std::move(series)}});
  }
  return list;
}

}  // namespace

ExperimentReport write_figure(std::string_view id, const ExperimentOptions& options,
                              const std::vector<ChartPanel>& panels, const nlohmann::ordered_json& facts,
                              const std::string& table) {
  const std::string name = std::string(id) + (options.quick ? ".quick" : "");
  const std::string stem = (std::filesystem::path(options.out) / name).string();
  nlohmann::ordered_json json = {
      {"schema", "kqd.experiment/1"}, {"version", kVersion}, {"experiment", id}, {"seed", options.seed.value}};
  json.update(facts);
  json["panels"] = panels_json(panels);
  ExperimentReport report{table, {stem + ".json"}};
  write_text(stem + ".json", json.dump() + "\n");
  if (!table.empty()) {
    report.files.push_back(stem + ".md");
    write_text(stem + ".md", table);
  }
  report.files.push_back(stem + ".svg");
  write_text(stem + ".svg", svg_chart(panels));
  return report;
}

}  // namespace kqd::lab
