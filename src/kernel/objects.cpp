#include "kqd/kernel/objects.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <unordered_map>

#include "core/eigenpairs.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"
#include "simd/matrix_product.hpp"

namespace kqd {
namespace {

constexpr double kGramRounding = 1e-5;  // what two orders of summation in float differ by, and some more
constexpr std::size_t kExactRows = 400;
constexpr std::size_t kNodesOfShortLines = 100'000;  // that a line may name by few numbers: each takes memory

// The number of the object that a point stands for.
std::size_t object_number(double value, std::size_t count, std::string_view kernel) {
  if (value >= 0.0 && value < static_cast<double>(count) && value == std::floor(value)) {
    return static_cast<std::size_t>(value);
  }
  fail(ErrorCode::invalid_option,
       "kernel {} is known only for {} objects, but is needed at {}; take reference points from the pool, " KQD_OPTION(
           "reference=pooled") ", or another method",
       no_references(kernel), count, value);
}

void require_bounded_entries(MatrixView<const double> gram, double largest) {
  for (std::size_t i = 0; i < gram.rows(); ++i) {
    if (gram(i, i) < -kGramRounding * largest) {
      fail(ErrorCode::invalid_option, "row {} of the Gram matrix has {:.6g} on the diagonal, needs >= 0", i + 1,
           gram(i, i));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (std::abs(gram(i, j) - gram(j, i)) > kGramRounding * largest) {
        fail(ErrorCode::invalid_option,
             "the Gram matrix is not symmetric: {:.6g} in row {}, column {} and {:.6g} the other way round", gram(i, j),
             i + 1, j + 1, gram(j, i));
      }
      const double bound = std::sqrt(std::max(0.0, gram(i, i))) * std::sqrt(std::max(0.0, gram(j, j)));
      if (std::abs(gram(i, j)) > bound + kGramRounding * largest) {
        fail(ErrorCode::invalid_option,
             "row {}, column {} of the Gram matrix is {:.6g}, needs at most {:.6g} in size, the root of the product of "
             "its diagonal entries; a distance D is not a kernel, but exp(-D^2 / h^2) is",
             i + 1, j + 1, gram(i, j), bound);
      }
    }
  }
}

// Largest size of an eigenvalue of gram - shift, by power iteration: x stays of length 1.
double extreme_eigenvalue(MatrixView<const double> gram, double shift) {
  constexpr int kIterations = 200;
  const std::size_t n = gram.rows();
  std::vector<double> x(n);
  std::vector<double> y(n);
  // A start without symmetry, so that it has a part in every eigenvector.
  for (std::size_t i = 0; i < n; ++i) x[i] = 1.0 + std::sin(static_cast<double>(i + 1) * 1.618033988749895);
  double value = 0.0;
  for (int k = 0; k < kIterations; ++k) {
    const double length = std::sqrt(simd::dot(x, x));
    if (!(length > 0.0)) return 0.0;
    for (double& c : x) c /= length;
    simd::multiply(gram, simd::Op::none, x, y);
    for (std::size_t i = 0; i < n; ++i) y[i] -= shift * x[i];
    value = simd::dot(x, y);
    std::swap(x, y);
  }
  return value;
}

struct Extremes {
  double smallest;
  double largest;
};

Extremes extreme_eigenvalues(MatrixView<const double> gram) {
  const std::size_t n = gram.rows();
  if (n > kExactRows) {
    const double largest = std::abs(extreme_eigenvalue(gram, 0.0));
    return {largest + extreme_eigenvalue(gram, largest), largest};
  }
  Matrix<double> symmetric(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) symmetric(i, j) = 0.5 * (gram(i, j) + gram(j, i));
  }
  const std::vector<double> ascending = symmetric_eigenvalues(symmetric);
  return {ascending.front(), ascending.back()};
}

// The type of the functions of objects, by which is_of_objects() knows them.
struct ObjectFunction {
  KernelFunction function;
  std::function<ObjectData()> data;  // what the function was made of; empty if that is not known

  void operator()(MatrixView<const double> x, MatrixView<const double> z, MatrixView<double> values) const {
    function(x, z, values);
  }
};

// Keys in the order in which they are first met.
template <class Name>
class Dictionary {
 public:
  std::uint32_t key_of(const Name& name) {
    return keys_.try_emplace(name, static_cast<std::uint32_t>(keys_.size())).first->second;
  }

 private:
  std::map<Name, std::uint32_t> keys_;
};

SparseVector counted(std::vector<std::uint32_t> keys) {
  std::ranges::sort(keys);
  SparseVector counts;
  for (const std::uint32_t key : keys) {
    if (counts.keys.empty() || counts.keys.back() != key) {
      counts.keys.push_back(key);
      counts.values.push_back(0.0);
    }
    counts.values.back() += 1.0;
  }
  return counts;
}

double sparse_dot(const SparseVector& a, const SparseVector& b) {
  double total = 0.0;
  for (std::size_t i = 0, j = 0; i < a.keys.size() && j < b.keys.size();) {
    if (a.keys[i] == b.keys[j])
      total += a.values[i++] * b.values[j++];
    else if (a.keys[i] < b.keys[j])
      ++i;
    else
      ++j;
  }
  return total;
}

// The first bytes of the characters of a text in UTF-8, and its end.
std::vector<std::size_t> character_starts(std::string_view text) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80U) starts.push_back(i);
  }
  starts.push_back(text.size());
  return starts;
}

std::vector<std::string> members_of(std::string_view line) {
  std::vector<std::string> members;
  for (const std::string_view part : split(line, ',')) {
    if (!trim(part).empty()) members.emplace_back(trim(part));
  }
  return members;
}

KernelSpec with_data(std::string name, KernelFunction function, std::function<ObjectData()> data) {
  return KernelSpec::custom(std::move(name), ObjectFunction{std::move(function), std::move(data)});
}

enum class Objects { texts, graphs, sets, rows, categories };

struct ObjectFamily {
  std::string_view name;
  Objects objects;
  double parameter;  // default; 0: none
};

constexpr std::array<ObjectFamily, 5> kObjectFamilies = {{{"spectrum", Objects::texts, 3},
                                                          {"wl", Objects::graphs, 3},
                                                          {"sets", Objects::sets, 0},
                                                          {"hamming", Objects::rows, 0},
                                                          {"aitchison", Objects::categories, 0.1}}};

const ObjectFamily* family_of(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  const auto found = std::ranges::find(kObjectFamilies, name, &ObjectFamily::name);
  return found == kObjectFamilies.end() ? nullptr : &*found;
}

double parameter_of(const ObjectFamily& family, std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return family.parameter;
  const auto number = parse_number(text.substr(colon + 1));
  if (family.objects == Objects::categories) {
    if (!number || !(*number >= 0.0 && *number <= 0.5)) fail_option("kernel", text, "aitchison:L with L in [0, 0.5]");
    return *number;
  }
  const double least = family.objects == Objects::graphs ? 0.0 : 1.0;
  if (family.parameter == 0 || !number || *number != std::floor(*number) || *number < least || *number > 64.0) {
    fail_option("kernel", text,
                family.parameter == 0 ? fmt::format("{} without a parameter", family.name)
                                      : fmt::format("{}:N with a whole number in {}..64", family.name, least));
  }
  return *number;
}

[[noreturn]] void fail_at_line(std::size_t line, const std::string& problem) {
  throw Error(ErrorCode::unreadable_input,
              {.place = fmt::format("object {}", line + 1), .row = line + 1, .value = problem});
}

// Categories of each row, as many in every row.
std::vector<std::vector<std::string>> category_rows(std::span<const std::string> lines) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto cells = split(lines[i], ',');
    if (i > 0 && cells.size() != rows.front().size()) {
      fail_at_line(i,
                   fmt::format("{} categories, expected {} as in the first object", cells.size(), rows.front().size()));
    }
    rows.emplace_back();
    for (const std::string_view cell : cells) rows.back().emplace_back(trim(cell));
  }
  return rows;
}

std::vector<SparseVector> features_of(const ObjectFamily& family, std::size_t parameter,
                                      std::span<const std::string> lines) {
  if (family.objects == Objects::texts) return spectrum_features(lines, parameter);
  if (family.objects == Objects::graphs) {
    std::vector<Graph> graphs;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      try {
        graphs.push_back(parse_graph(lines[i]));
      } catch (const Error& error) {
        fail_at_line(i, error.parts().value);
      }
    }
    return subtree_features(graphs, parameter);
  }
  std::vector<std::vector<std::string>> sets;
  if (family.objects == Objects::sets) {
    for (const std::string& line : lines) sets.push_back(members_of(line));
  } else {
    sets = category_rows(lines);
    for (auto& row : sets) {
      for (std::size_t k = 0; k < row.size(); ++k) row[k] = fmt::format("{}={}", k, row[k]);
    }
  }
  return member_features(sets);
}

}  // namespace

bool is_of_objects(const KernelSpec& kernel) {
  const bool itself = kernel.function != nullptr && kernel.function->target<ObjectFunction>() != nullptr;
  return itself || std::ranges::any_of(kernel.parts, is_of_objects);
}

Matrix<double> as_written(MatrixView<const double> points, const KernelSpec& kernel) {
  Matrix<double> written(points);
  if (!is_of_objects(kernel)) return written;
  for (double& number : written.values()) number += 1.0;
  return written;
}

KernelSpec function_of_objects(std::string name, KernelFunction function) {
  return with_data(std::move(name), std::move(function), {});
}

std::function<ObjectData()> object_data(const KernelSpec& kernel) {
  const auto* const itself = kernel.function == nullptr ? nullptr : kernel.function->target<ObjectFunction>();
  return itself == nullptr ? nullptr : itself->data;
}

Sample numbered_rows(std::size_t first, std::size_t count) {
  Sample rows{Matrix<double>(count, 1), {}, {}};
  for (std::size_t i = 0; i < count; ++i) rows.points(i, 0) = static_cast<double>(first + i);
  return rows;
}

void require_gram(MatrixView<const double> gram) {
  if (gram.rows() == 0 || gram.rows() != gram.cols()) {
    fail(ErrorCode::shape_mismatch, "the Gram matrix is {} x {}, expected a square one with a row for each object",
         gram.rows(), gram.cols());
  }
  double largest = 0.0;
  for (std::size_t i = 0; i < gram.rows(); ++i) {
    for (std::size_t j = 0; j < gram.cols(); ++j) {
      if (!std::isfinite(gram(i, j))) {
        fail(ErrorCode::non_finite_value, "row {}, column {} of the Gram matrix is {}, expected a finite number", i + 1,
             j + 1, gram(i, j));
      }
      largest = std::max(largest, std::abs(gram(i, j)));
    }
  }
  require_bounded_entries(gram, largest);
  const Extremes eigenvalues = extreme_eigenvalues(gram);
  if (eigenvalues.smallest < -kGramRounding * eigenvalues.largest) {
    fail(ErrorCode::invalid_option,
         "the Gram matrix is not positive semidefinite: it has the eigenvalue {:.4g} (the largest is {:.4g}), needs >= "
         "0; "
         "the kernel behind it is not a kernel",
         eigenvalues.smallest, eigenvalues.largest);
  }
}

KernelSpec gram_kernel(MatrixView<const double> top, MatrixView<const double> bottom,
                       std::shared_ptr<const void> memory) {
  const auto row_of = [top, bottom](std::size_t row) {
    return row < top.rows() ? top.row(row) : bottom.row(row - top.rows());
  };
  const std::size_t count = top.rows() + bottom.rows();
  return with_data(
      "precomputed",
      [row_of, count, memory](MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> values) {
        for (std::size_t i = 0; i < values.rows(); ++i) {
          const auto gram_row = row_of(object_number(a(i, 0), count, "precomputed"));
          for (std::size_t j = 0; j < values.cols(); ++j) {
            values(i, j) = gram_row[object_number(b(j, 0), count, "precomputed")];
          }
        }
      },
      [row_of, count, memory] {
        ObjectData data{.gram = Matrix<double>(count, count)};
        for (std::size_t i = 0; i < count; ++i) std::ranges::copy(row_of(i), data.gram.row(i).begin());
        return data;
      });
}

KernelSpec gram_kernel(Matrix<double> gram) {
  require_gram(gram);
  const auto memory = std::make_shared<const Matrix<double>>(std::move(gram));
  return gram_kernel(memory->view(), {}, memory);
}

KernelSpec feature_kernel(std::string name, std::vector<SparseVector> features, bool normalise) {
  if (normalise) {
    for (SparseVector& row : features) {
      const double length = std::sqrt(sparse_dot(row, row));
      for (double& value : row.values) value /= length > 0.0 ? length : 1.0;
    }
  }
  const auto rows = std::make_shared<const std::vector<SparseVector>>(std::move(features));
  return function_of_objects(
      name, [rows, name](MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> values) {
        std::vector<const SparseVector*> columns;
        for (std::size_t j = 0; j < values.cols(); ++j) {
          columns.push_back(&(*rows)[object_number(b(j, 0), rows->size(), name)]);
        }
        for (std::size_t i = 0; i < values.rows(); ++i) {
          const SparseVector& row = (*rows)[object_number(a(i, 0), rows->size(), name)];
          for (std::size_t j = 0; j < values.cols(); ++j) values(i, j) = sparse_dot(row, *columns[j]);
        }
      });
}

std::vector<SparseVector> spectrum_features(std::span<const std::string> texts, std::size_t p) {
  if (p < 1 || p > 64) fail_option("kernel", fmt::format("spectrum:{}", p), "spectrum:N with a whole number in 1..64");
  Dictionary<std::string> dictionary;
  std::vector<SparseVector> features;
  for (const std::string& text : texts) {
    const std::vector<std::size_t> starts = character_starts(text);
    std::vector<std::uint32_t> keys;
    for (std::size_t i = 0; i + p < starts.size(); ++i) {
      keys.push_back(dictionary.key_of(text.substr(starts[i], starts[i + p] - starts[i])));
    }
    features.push_back(counted(std::move(keys)));
  }
  return features;
}

std::vector<SparseVector> subtree_features(std::span<const Graph> graphs, std::size_t rounds) {
  if (rounds > 64) fail_option("kernel", fmt::format("wl:{}", rounds), "wl:N with a whole number in 0..64");
  Dictionary<std::string> first_labels;
  Dictionary<std::vector<std::uint32_t>> refined;  // round, own label, sorted labels of the neighbours
  std::vector<SparseVector> features;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const Graph& graph = graphs[g];
    if (!graph.labels.empty() && graph.labels.size() != graph.num_nodes) {
      fail(ErrorCode::invalid_option, "graph {} has {} labels for {} nodes, expected one for each", g + 1,
           graph.labels.size(), graph.num_nodes);
    }
    std::vector<std::vector<std::size_t>> neighbours(graph.num_nodes);
    for (const auto& [a, b] : graph.edges) {
      if (std::max(a, b) >= graph.num_nodes) {
        fail(ErrorCode::invalid_option, "graph {} has an edge to node {}, but its nodes are 0..{}", g + 1,
             std::max(a, b), static_cast<std::int64_t>(graph.num_nodes) - 1);
      }
      neighbours[a].push_back(b);
      if (a != b) neighbours[b].push_back(a);
    }
    std::vector<std::uint32_t> labels;
    for (std::size_t i = 0; i < graph.num_nodes; ++i) {
      const std::uint32_t name = first_labels.key_of(graph.labels.empty() ? "" : graph.labels[i]);
      labels.push_back(refined.key_of({0, name}));
    }
    std::vector<std::uint32_t> keys = labels;
    for (std::size_t round = 1; round <= rounds; ++round) {
      std::vector<std::uint32_t> next;
      for (std::size_t i = 0; i < graph.num_nodes; ++i) {
        std::vector<std::uint32_t> signature = {static_cast<std::uint32_t>(round), labels[i]};
        for (const std::size_t j : neighbours[i]) signature.push_back(labels[j]);
        std::ranges::sort(signature.begin() + 2, signature.end());
        next.push_back(refined.key_of(signature));
      }
      labels = std::move(next);
      keys.insert(keys.end(), labels.begin(), labels.end());
    }
    features.push_back(counted(std::move(keys)));
  }
  return features;
}

std::vector<SparseVector> member_features(std::span<const std::vector<std::string>> sets) {
  Dictionary<std::string> dictionary;
  std::vector<SparseVector> features;
  for (const auto& set : sets) {
    std::vector<std::uint32_t> keys;
    for (const std::string& member : set) keys.push_back(dictionary.key_of(member));
    SparseVector members = counted(std::move(keys));
    std::ranges::fill(members.values, 1.0);  // a member counts once
    features.push_back(std::move(members));
  }
  return features;
}

// A value in an error message, cut where it is long; in ASCII, so that no character is cut.
std::string shown(const nlohmann::json& value) {
  constexpr std::size_t kMostShown = 60;
  const std::string text = value.dump(-1, ' ', true);
  return text.size() <= kMostShown ? text : text.substr(0, kMostShown) + " ...";
}

Graph parse_graph(std::string_view json) {
  const auto refuse = [](const std::string& problem) -> void {
    throw Error(ErrorCode::unreadable_input,
                problem + R"(, expected {"edges": [[0, 1], ...]} with "labels" or "nodes")");
  };
  // Values within values are written and freed by recursion.
  constexpr int kDeepest = 64;
  const auto limit = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > kDeepest) refuse(fmt::format("values are nested more than {} levels deep", kDeepest));
    return true;
  };
  const auto value = nlohmann::json::parse(json, limit, false);
  if (!value.is_object() || !value.contains("edges") || !value["edges"].is_array()) refuse("not a graph in JSON");
  const std::size_t most =
      std::max({kNodesOfShortLines, 2 * value["edges"].size(), value.contains("labels") ? value["labels"].size() : 0});
  const auto whole = [&](const nlohmann::json& number, std::string_view what, std::size_t largest) {
    if (!number.is_number_unsigned()) refuse(fmt::format("{} is {}", what, shown(number)));
    if (number.get<std::uint64_t>() > largest) {
      refuse(fmt::format("{} is {}, expected at most {} for so few edges (nodes are numbered from 0, without gaps)",
                         what, shown(number), largest));
    }
    return number.get<std::size_t>();
  };
  Graph graph;
  for (const auto& edge : value["edges"]) {
    if (!edge.is_array() || edge.size() != 2) refuse("an edge is " + shown(edge));
    graph.edges.emplace_back(whole(edge[0], "a node", most - 1), whole(edge[1], "a node", most - 1));
    graph.num_nodes = std::max({graph.num_nodes, graph.edges.back().first + 1, graph.edges.back().second + 1});
  }
  if (value.contains("labels")) {
    if (!value["labels"].is_array()) refuse("labels are " + shown(value["labels"]));
    for (const auto& label : value["labels"])
      graph.labels.push_back(label.is_string() ? label.get<std::string>() : label.dump());
    if (graph.labels.size() < graph.num_nodes) {
      refuse(fmt::format("{} labels for {} nodes", graph.labels.size(), graph.num_nodes));
    }
    graph.num_nodes = graph.labels.size();
  } else if (value.contains("nodes")) {
    const std::size_t nodes = whole(value["nodes"], "the number of nodes", most);
    if (nodes < graph.num_nodes) refuse(fmt::format("{} nodes and an edge to node {}", nodes, graph.num_nodes - 1));
    graph.num_nodes = nodes;
  }
  return graph;
}

bool is_object_kernel(std::string_view text) {
  return family_of(text) != nullptr;
}

KernelSpec category_kernel(std::span<const std::vector<std::string>> rows, double lambda) {
  if (!(lambda >= 0.0 && lambda <= 0.5)) fail_option("kernel", lambda, "aitchison:L with L in [0, 0.5]");
  const std::size_t width = rows.empty() ? 0 : rows.front().size();
  std::vector<std::vector<std::uint32_t>> codes(rows.size());
  std::vector<double> ratios;  // of values for different and for equal categories, a number per column
  for (std::size_t k = 0; k < width; ++k) {
    Dictionary<std::string> categories;
    std::uint32_t largest = 1;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].size() != width) {
        fail(ErrorCode::shape_mismatch, "row {} has {} categories, expected {} as in row 1", i + 1, rows[i].size(),
             width);
      }
      codes[i].push_back(categories.key_of(rows[i][k]));
      largest = std::max(largest, codes[i].back());
    }
    ratios.push_back(lambda / (static_cast<double>(largest) * (1.0 - lambda)));
  }
  const std::string name = fmt::format("aitchison:{}", lambda);
  return function_of_objects(
      name, [codes = std::make_shared<const std::vector<std::vector<std::uint32_t>>>(codes), ratios, name](
                MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> values) {
        for (std::size_t i = 0; i < values.rows(); ++i) {
          const auto& row = (*codes)[object_number(a(i, 0), codes->size(), name)];
          for (std::size_t j = 0; j < values.cols(); ++j) {
            const auto& other = (*codes)[object_number(b(j, 0), codes->size(), name)];
            double product = 1.0;
            for (std::size_t k = 0; k < ratios.size(); ++k) product *= row[k] == other[k] ? 1.0 : ratios[k];
            values(i, j) = product;
          }
        }
      });
}

namespace {

KernelSpec kernel_of_lines(std::string_view text, std::span<const std::string> lines) {
  const ObjectFamily* const family = family_of(text);
  if (family == nullptr) fail_option("kernel", text, "spectrum, wl, sets, hamming or aitchison, for objects");
  const double parameter = parameter_of(*family, text);
  if (family->objects == Objects::categories) return category_kernel(category_rows(lines), parameter);
  const std::string name =
      family->parameter == 0 ? std::string(family->name) : fmt::format("{}:{}", family->name, parameter);
  return feature_kernel(name, features_of(*family, static_cast<std::size_t>(parameter), lines));
}

}  // namespace

KernelSpec object_kernel(std::string_view text, std::span<const std::string> lines) {
  KernelSpec kernel = kernel_of_lines(text, lines);
  KernelFunction function = kernel.function->target<ObjectFunction>()->function;
  auto kept = std::make_shared<const std::vector<std::string>>(lines.begin(), lines.end());
  return with_data(kernel.name, std::move(function), [kept = std::move(kept)] { return ObjectData{.lines = *kept}; });
}

KernelSpec object_kernel(std::string_view text, const ObjectData& data) {
  return text == "precomputed" ? gram_kernel(data.gram) : object_kernel(text, data.lines);
}

}  // namespace kqd
