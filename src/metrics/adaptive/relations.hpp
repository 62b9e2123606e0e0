#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/pool.hpp"
#include "kqd/core/types.hpp"
#include "metrics/adaptive/table_parts.hpp"
#include "profile/function_set.hpp"

namespace kqd {

/// Two parts of a table whose relation is compared: a relation changes when the mean of a product of their columns
/// does.
struct Relation {
  TablePart first;
  TablePart second;
};

/// Relations with the products of columns behind them.
struct RelationProducts {
  std::vector<Relation> relations;
  std::vector<FunctionGroup> groups;  ///< the functions of each relation, one after another
  PairProducts products;
};

/// The columns of the table behind a part: "income", "plan" of its levels "plan=basic" and so on, "income is missing"
/// of the mark "income missing". `names` are those of the columns of the rows.
[[nodiscard]] std::string part_label(const TablePart& part, std::span<const std::string> names);

/// "income by plan", "plan by region", "age and income".
[[nodiscard]] std::string relation_label(const Relation& relation, std::span<const std::string> names);

/// Which relations: by how many of their two parts are categories or marks of missing values.
enum class RelationKind { numbers, number_and_category, categories, any };

/// How many products of relations are compared at most.
[[nodiscard]] std::size_t most_relation_functions(std::size_t num_rows);

/// Columns of numbers are measured from their mean in standard deviations, levels and marks from their share, both over
/// the rows in which the value is known. A relation of categories with many levels is that of their most frequent ones.
/// If all products of two parts of different sources are more than `most_functions`, those relations are compared that
/// are strongest in the pool, relative to their number of products. A function of the unlabelled pool and the seed.
[[nodiscard]] RelationProducts relation_products(const Pool& rows, const TableParts& parts, RelationKind kind,
                                                 std::size_t most_functions, Seed seed);

/// Means and deviations of columns as relation_products() measures them; no pairs yet.
[[nodiscard]] PairProducts measured_columns(const Pool& rows, const TableParts& parts);

/// The mean of every function of a set over the rows in which it is a number.
[[nodiscard]] std::vector<double> means_where_known(const FunctionSet& set, const Pool& rows);

}  // namespace kqd
