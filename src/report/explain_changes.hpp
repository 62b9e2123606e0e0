#pragma once
#include <string>
#include <vector>

#include "kqd/explain/explain.hpp"

namespace kqd {

/// A change in plain words.
struct Change {
  std::string kind;                  ///< "column", "missing" or "relation"
  std::vector<std::string> columns;  ///< one, or the two of a relation
  std::string text;                  ///< "income by plan: +0.42 in basic, -0.31 in premium"
  double pvalue_adjusted = 1.0;
};

/// All significant differences: columns, missing values, relations; each strongest first.
[[nodiscard]] std::vector<Change> changes_of(const Explanation& explanation);

/// "3.07% to 6.08%".
[[nodiscard]] std::string shares_text(double x, double y);

/// The levels of a category whose shares changed most: "basic 30% to 45%, pro 20% to 8%, new: gold 2%".
[[nodiscard]] std::string levels_text(const std::vector<LevelShares>& levels);

/// The largest changes of a relation: "+0.42 in basic, -0.31 in premium", "correlation 0.61 to 0.12".
[[nodiscard]] std::string relation_text(const RelationExplanation& relation);

/// "income by plan", "age and income".
[[nodiscard]] std::string relation_name(const RelationExplanation& relation);

}  // namespace kqd
