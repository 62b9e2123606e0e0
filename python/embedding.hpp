#pragma once
#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "kqd/kqd.hpp"

namespace kqd {

/// One sample along directions that are drawn from it, or shared with another embedding.
class ArrayEmbedding {
 public:
  ArrayEmbedding(const ArraySample& sample, const Settings& settings);
  /// As state() made it.
  explicit ArrayEmbedding(const pybind11::dict& state);

  /// Another sample along the same directions.
  [[nodiscard]] ArrayEmbedding embed(const ArraySample& sample) const;
  /// One of the four discrepancies of embeddings, by the id of its method.
  [[nodiscard]] DistanceResult distance(const std::string& method, const ArrayEmbedding& other,
                                        const MethodOptions& options) const;
  /// True when both are along the same functions: the very same, or copies of them.
  [[nodiscard]] bool shares_directions(const ArrayEmbedding& other) const;
  /// Everything that makes an embedding, in arrays, texts and numbers. A TypeError for a kernel function.
  [[nodiscard]] pybind11::dict state() const;

  [[nodiscard]] const KernelQuantileEmbedding& embedding() const { return *embedding_; }
  [[nodiscard]] const Directions& directions() const { return *embedding_->directions(); }
  [[nodiscard]] ThreadCount threads() const { return threads_; }
  [[nodiscard]] std::size_t num_points() const { return embedding_->sample().size(); }
  [[nodiscard]] std::size_t num_reference() const { return num_reference_; }
  [[nodiscard]] const Warnings& warnings() const { return warnings_; }

 private:
  using SavedWarning = std::pair<std::string, std::vector<WarningValue>>;  // name and values

  void draw_and_embed(const ArraySample& sample, const MethodOptions& options);
  // Along the very same directions: as it is, or again when it has a copy of them.
  [[nodiscard]] std::shared_ptr<const KernelQuantileEmbedding> along(
      const std::shared_ptr<const Directions>& directions) const;
  void embed_along(const SampleView& sample, std::shared_ptr<const Directions> directions, ThreadCount threads);

  std::shared_ptr<const KernelQuantileEmbedding> embedding_;
  ThreadCount threads_;
  std::size_t num_reference_ = 0;
  Warnings warnings_;
};

/// The class Embedding of the module, without what depends on reports.
pybind11::class_<ArrayEmbedding> bind_embedding(pybind11::module_& m);

/// Reference points and coefficients as arrays, None for reference points that do not exist.
[[nodiscard]] pybind11::tuple terms_of(const Directions& directions);

}  // namespace kqd
