#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kqd/core/matrix.hpp"
#include "kqd/core/sample.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd KQD_PUBLIC {

// Kernels of objects that are not rows of numbers: strings, graphs, sets, or anything with a Gram matrix. The points of
// such a kernel are the numbers of the objects, 0, 1, 2, ..., in one column (numbered_rows()). It is known nowhere
// else: reference points are objects, so directions need ReferenceMeasure::pooled, or points that are numbers.

/// True for the kernels of this file, and for a sum or product with one.
[[nodiscard]] bool is_of_objects(const KernelSpec& kernel);

/// Points as files and JSON hold them: numbers of objects are counted from 1 there.
[[nodiscard]] Matrix<double> as_written(MatrixView<const double> points, const KernelSpec& kernel);

/// A kernel of objects by a function of their numbers: it fills values(i, j) = k(object a_i, object b_j).
[[nodiscard]] KernelSpec function_of_objects(std::string name, KernelFunction function);

/// The numbers first, first + 1, ..., as a sample of one column.
[[nodiscard]] Sample numbered_rows(std::size_t first, std::size_t count);

/// Throws Error{shape_mismatch, non_finite_value, invalid_option} for a matrix that is not a Gram matrix: not square,
/// not finite, not symmetric, larger than its diagonal allows, or with a negative eigenvalue. Up to 400 rows all
/// eigenvalues are computed; above, only the smallest, by iteration, so that one near 0 may pass.
/// Cost: O(n^3) up to 400 rows, O(n^2) above.
void require_gram(MatrixView<const double> gram);

/// A Gram matrix as a kernel, of which `top` holds the first rows and `bottom` the others. `memory` keeps both alive.
/// Their shapes must fit (require_gram() checks the whole).
[[nodiscard]] KernelSpec gram_kernel(MatrixView<const double> top, MatrixView<const double> bottom,
                                     std::shared_ptr<const void> memory);
/// The same for a matrix of its own, which is checked.
[[nodiscard]] KernelSpec gram_kernel(Matrix<double> gram);

/// A vector with few entries that are not 0: keys ascend.
struct SparseVector {
  std::vector<std::uint32_t> keys = {};
  std::vector<double> values = {};
};

/// The inner product of feature vectors, over the product of their lengths if `normalise` (0 for vectors of length 0).
/// Cost: O(entries) for each pair of objects.
[[nodiscard]] KernelSpec feature_kernel(std::string name, std::vector<SparseVector> features, bool normalise = true);

/// Features of the p-spectrum kernel: how often each string of p characters occurs in a text (UTF-8) [LEN02].
/// Cost: O(length). Throws Error{invalid_option} unless 1 <= p <= 64.
[[nodiscard]] std::vector<SparseVector> spectrum_features(std::span<const std::string> texts, std::size_t p);

/// An undirected graph.
struct Graph {
  std::size_t num_nodes = 0;
  std::vector<std::pair<std::size_t, std::size_t>> edges = {};
  std::vector<std::string> labels = {};  ///< of the nodes; empty: all alike
};

/// Features of the Weisfeiler-Lehman subtree kernel: how often each label occurs, after 0, 1, .., rounds refinements by
/// the labels of neighbours [SSL11]. Cost: O(rounds edges log degree). Throws Error{invalid_option} for an edge to a
/// node that does not exist, another number of labels than nodes, or more than 64 rounds.
[[nodiscard]] std::vector<SparseVector> subtree_features(std::span<const Graph> graphs, std::size_t rounds);

/// Features of sets: which members they have. The normalised kernel is |A and B| / sqrt(|A| |B|).
[[nodiscard]] std::vector<SparseVector> member_features(std::span<const std::vector<std::string>> sets);

/// The kernel of Aitchison and Aitken for rows of categories, scaled to k(x, x) = 1 [AA76]: the product of
/// lambda / ((c - 1) (1 - lambda)) over the columns in which two rows differ, with c the number of categories of the
/// column. Throws Error{invalid_option, shape_mismatch} unless 0 <= lambda <= 0.5 and all rows have the same length.
[[nodiscard]] KernelSpec category_kernel(std::span<const std::vector<std::string>> rows, double lambda);

/// A graph from a line of JSON: {"edges": [[0, 1], [1, 2]], "labels": ["C", "O", "C"]}, or "nodes": 3 instead of the
/// labels, which are then all alike; without either, nodes are those of the edges. Throws Error{unreadable_input}, also
/// for more than 100,000 nodes if the line has neither that many labels nor half as many edges.
[[nodiscard]] Graph parse_graph(std::string_view json);

/// True for the kernels below: "spectrum", "wl:3".
[[nodiscard]] bool is_object_kernel(std::string_view text);

/// A kernel of objects that are lines of text, normalised to k(x, x) = 1:
/// spectrum[:p] (p = 3): the text itself; wl[:rounds] (3): a graph in JSON; sets: members separated by commas; hamming:
/// categories separated by commas, as many in every line: the share of those that agree; aitchison[:lambda] (0.1):
/// the same rows, category_kernel().
/// Throws Error{invalid_option, unreadable_input}, the latter with the number of the line as its row.
[[nodiscard]] KernelSpec object_kernel(std::string_view text, std::span<const std::string> lines);

/// The data that a kernel of objects was made of.
struct ObjectData {
  std::vector<std::string> lines = {};  ///< of object_kernel()
  Matrix<double> gram = {};             ///< of gram_kernel(), of all objects
};

/// A function that copies what object_kernel() or gram_kernel() was given; empty for other kernels.
[[nodiscard]] std::function<ObjectData()> object_data(const KernelSpec& kernel);
/// The kernel again, from its name in results ("precomputed", "spectrum:3") and its data.
[[nodiscard]] KernelSpec object_kernel(std::string_view name, const ObjectData& data);

}  // namespace kqd
