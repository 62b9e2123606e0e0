#include "embedding.hpp"

#include <pybind11/stl.h>

#include "kernels.hpp"
#include "watch.hpp"

namespace py = pybind11;

namespace kqd {
namespace {

// Calls visit for every plain kernel of a sum or product, in the order of its text.
template <class Spec, class Visit>
void for_each_leaf(Spec& spec, const Visit& visit) {
  if (spec.parts.empty()) return visit(spec);
  for (auto& part : spec.parts) for_each_leaf(part, visit);
}

// The text of a kernel does not include the origin of its distances, nor the scales of columns.
std::vector<std::vector<double>> origins_of(const KernelSpec& spec) {
  std::vector<std::vector<double>> origins;
  for_each_leaf(
      spec, [&](const KernelSpec& leaf) { origins.push_back(leaf.origin.empty() ? leaf.column_scales : leaf.origin); });
  return origins;
}

// The texts or the matrix that make the kernel of objects again; None for other kernels.
py::object objects_of(const KernelSpec& spec) {
  const auto copy = object_data(spec);
  if (!copy) return py::none();
  const ObjectData data = copy();
  if (data.gram.empty()) return py::cast(data.lines);
  return to_array(data.gram.view());
}

KernelSpec kernel_from(const py::dict& state) {
  const auto name = state["kernel"].cast<std::string>();
  if (state.contains("objects") && !state["objects"].is_none()) {
    ObjectData data;
    if (py::isinstance<py::array>(state["objects"])) {
      data.gram = matrix(state["objects"].cast<Array>());
    } else {
      data.lines = state["objects"].cast<std::vector<std::string>>();
    }
    return object_kernel(name, data);
  }
  KernelSpec spec = parse_kernel(state["kernel"].cast<std::string>());
  auto origins = state["origins"].cast<std::vector<std::vector<double>>>();
  std::size_t next = 0;
  for_each_leaf(spec, [&](KernelSpec& leaf) {
    auto& numbers = leaf.family == KernelFamily::mixed ? leaf.column_scales : leaf.origin;
    numbers = std::move(origins.at(next++));
  });
  return spec;
}

py::object array_or_none(const Matrix<double>& values) {
  return values.empty() ? py::object(py::none()) : py::object(to_array(values.view()));
}

std::shared_ptr<const Directions> directions_from(const py::dict& state) {
  const Matrix<double> coefficients = matrix(state["coefficients"].cast<Array>());
  if (!state["reference"].is_none()) {
    return std::make_shared<KernelDirections>(Kernel(kernel_from(state)), matrix(state["reference"].cast<Array>()),
                                              coefficients, false);
  }
  Matrix<double> weights(coefficients.cols(), coefficients.rows());
  for (std::size_t i = 0; i < weights.rows(); ++i) {
    for (std::size_t k = 0; k < weights.cols(); ++k) weights(i, k) = coefficients(k, i);
  }
  return std::make_shared<LinearDirections>(std::move(weights), false);
}

bool are_equal(const Matrix<double>& a, const Matrix<double>& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && std::ranges::equal(a.values(), b.values());
}

bool have_equal_objects(const KernelSpec& a, const KernelSpec& b) {
  if (a.function == b.function) return true;
  if (!object_data(a) || !object_data(b)) return !object_data(a) && !object_data(b);
  const ObjectData first = object_data(a)();
  const ObjectData second = object_data(b)();
  return first.lines == second.lines && are_equal(first.gram, second.gram);
}

// The rows of `points`, checked.
MatrixView<const double> checked_points(const ArrayEmbedding& embedding, const Array& points) {
  const auto rows = matrix_view(points);
  validate(SampleView{rows, {}}, "points");
  if (rows.cols() != embedding.directions().dim()) {
    throw Error(ErrorCode::shape_mismatch, "points have " + std::to_string(rows.cols()) + " columns and the sample " +
                                               std::to_string(embedding.directions().dim()) +
                                               ", expected the same number");
  }
  return rows;
}

// Runs `work` without the GIL, so that it can be interrupted, and returns its matrix.
template <class Work>
Array array_of(const Work& work) {
  Matrix<double> values;
  while_watching([&](const RunControl* control) { run_stoppable(*control, [&] { values = work(); }); });
  return to_array(values.view());
}

// u_i(x_j): a row per direction, a column per point.
Array direction_values(const ArrayEmbedding& e, const Array& points) {
  const auto rows = checked_points(e, points);
  return array_of([&] {
    Matrix<double> values(e.directions().count(), rows.rows());
    e.directions().evaluate(rows, 0, values, e.threads());
    return values;
  });
}

Array evaluate(const ArrayEmbedding& e, const std::vector<double>& levels, const Array& points, bool centered) {
  const auto rows = checked_points(e, points);
  return array_of([&] {
    return centered ? e.embedding().evaluate_centered(levels, rows, e.threads())
                    : e.embedding().evaluate(levels, rows, e.threads());
  });
}

Array mean_embeddings(const ArrayEmbedding& e, const Array& points) {
  const auto rows = checked_points(e, points);
  std::vector<double> values;
  while_watching([&](const RunControl* control) {
    run_stoppable(*control, [&] { values = e.embedding().mean_embeddings(rows, e.threads()); });
  });
  return to_array(values);
}

Array products(const ArrayEmbedding& p, const std::vector<double>& levels_p, const ArrayEmbedding& q,
               const std::vector<double>& levels_q, bool centered) {
  return array_of([&] {
    return centered ? inner_products_centered(p.embedding(), levels_p, q.embedding(), levels_q, p.threads())
                    : inner_products(p.embedding(), levels_p, q.embedding(), levels_q);
  });
}

Array all_norms(const ArrayEmbedding& e, const std::vector<double>& levels, bool centered) {
  return array_of(
      [&] { return centered ? norms_centered(e.embedding(), levels, e.threads()) : norms(e.embedding(), levels); });
}

Array means(const ArrayEmbedding& e) {
  std::vector<double> values(e.directions().count());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = e.embedding().mean(i);
  return to_array(values);
}

Array kernel_matrix(const ArrayEmbedding& e, const Array& a, const Array& b) {
  const auto x = checked_points(e, a);
  const auto z = checked_points(e, b);
  return array_of([&] {
    Matrix<double> values(x.rows(), z.rows());
    e.directions().kernel().evaluate(x, z, values);
    return values;
  });
}

}  // namespace

py::tuple terms_of(const Directions& directions) {
  const DirectionTerms terms = directions.terms();
  return py::make_tuple(array_or_none(terms.reference), to_array(terms.coefficients.view()));
}

ArrayEmbedding::ArrayEmbedding(const ArraySample& sample, const Settings& settings)
    : threads_(settings.test.statistic.threads) {
  const MethodOptions& options = settings.test.statistic;
  if (options.directions.reference == ReferenceMeasure::balanced) {
    throw Error(ErrorCode::invalid_option, "reference balanced needs two samples, an embedding has one");
  }
  while_watching([&](const RunControl* control) { run_stoppable(*control, [&] { draw_and_embed(sample, options); }); });
}

ArrayEmbedding::ArrayEmbedding(const py::dict& state) : num_reference_(state["n_reference"].cast<std::size_t>()) {
  for (const auto& [name, values] : state["warnings"].cast<std::vector<SavedWarning>>()) {
    warnings_.push_back({.id = parse_warning(name), .values = values});
  }
  const auto points = state["sample"].cast<Array>();
  std::vector<double> weights;
  if (!state["weights"].is_none()) weights = state["weights"].cast<std::vector<double>>();
  embed_along({matrix_view(points), weights}, directions_from(state), ThreadCount{});
}

ArrayEmbedding ArrayEmbedding::embed(const ArraySample& sample) const {
  ArrayEmbedding other = *this;
  other.warnings_.clear();
  while_watching([&](const RunControl* control) {
    run_stoppable(*control, [&] { other.embed_along(sample.view(), embedding_->directions(), threads_); });
  });
  return other;
}

DistanceResult ArrayEmbedding::distance(const std::string& method, const ArrayEmbedding& other,
                                        const MethodOptions& options) const {
  DistanceResult result;
  while_watching([&](const RunControl* control) {
    run_stoppable(*control, [&] {
      result = kqd::distance(method, *embedding_, *other.along(embedding_->directions()), options);
    });
  });
  result.num_reference = num_reference_;
  return result;
}

bool ArrayEmbedding::shares_directions(const ArrayEmbedding& other) const {
  if (embedding_->directions() == other.embedding_->directions()) return true;
  const KernelSpec& kernel = directions().kernel().spec();
  const KernelSpec& others = other.directions().kernel().spec();
  if (calls_python(kernel) || to_string(kernel) != to_string(others) || origins_of(kernel) != origins_of(others) ||
      !have_equal_objects(kernel, others)) {
    return false;
  }
  const DirectionTerms mine = directions().terms();
  const DirectionTerms theirs = other.directions().terms();
  return are_equal(mine.reference, theirs.reference) && are_equal(mine.coefficients, theirs.coefficients);
}

py::dict ArrayEmbedding::state() const {
  const KernelSpec& kernel = directions().kernel().spec();
  if (calls_python(kernel)) {
    throw py::type_error(
        "an embedding by a kernel function cannot be saved, because the function is not data; one by a kernel with a "
        "name or a Gram matrix can");
  }
  const SampleView sample = embedding_->sample();
  const DirectionTerms terms = directions().terms();
  std::vector<SavedWarning> warnings;
  for (const Warning& warning : warnings_) warnings.emplace_back(warning_name(warning.id), warning.values);
  py::dict state;
  state["kernel"] = to_string(kernel);
  state["origins"] = origins_of(kernel);
  state["objects"] = objects_of(kernel);
  state["reference"] = array_or_none(terms.reference);
  state["coefficients"] = to_array(terms.coefficients.view());
  state["sample"] = to_array(sample.points);
  const std::vector<double> weights(sample.weights.begin(), sample.weights.end());
  state["weights"] = weights.empty() ? py::object(py::none()) : py::object(to_array(weights));
  state["n_reference"] = num_reference_;
  state["warnings"] = warnings;
  return state;
}

void ArrayEmbedding::draw_and_embed(const ArraySample& sample, const MethodOptions& options) {
  const SampleView x = sample.view();
  validate(x, "sample", options.threads);
  const SampleView none{MatrixView<const double>(nullptr, 0, x.dim()), {}};
  const Kernel kernel(has_own_kernel(options.directions.family)
                          ? parse_kernel("linear")
                          : resolve(options.kernel, x, none, options.bandwidth_rule, options.seed, warnings_));
  DrawnDirections drawn = draw_directions(kernel, x, none, options.directions, options.seed, options.threads);
  num_reference_ = drawn.num_reference;
  warnings_.insert(warnings_.end(), drawn.warnings.begin(), drawn.warnings.end());
  embed_along(x, std::move(drawn.directions), options.threads);
}

std::shared_ptr<const KernelQuantileEmbedding> ArrayEmbedding::along(
    const std::shared_ptr<const Directions>& directions) const {
  if (embedding_->directions() == directions) return embedding_;
  return std::make_shared<const KernelQuantileEmbedding>(embedding_->sample(), directions);
}

void ArrayEmbedding::embed_along(const SampleView& sample, std::shared_ptr<const Directions> directions,
                                 ThreadCount threads) {
  embedding_ = std::make_shared<const KernelQuantileEmbedding>(sample, std::move(directions), threads);
}

py::class_<ArrayEmbedding> bind_embedding(py::module_& m) {
  py::class_<ArrayEmbedding> bound(m, "Embedding");
  bound.def(py::init<const ArraySample&, const Settings&>(), py::arg("sample"), py::arg("settings"))
      .def("embed", &ArrayEmbedding::embed, py::arg("sample"))
      .def(
          "quantiles",
          [](const ArrayEmbedding& e, const std::vector<double>& levels) {
            return to_array(e.embedding().quantiles(levels).view());
          },
          py::arg("levels"))
      .def("means", &means)
      .def("direction_values", &direction_values, py::arg("points").noconvert())
      .def("evaluate", &evaluate, py::arg("levels"), py::arg("points").noconvert(), py::arg("centered"))
      .def("mean_embedding", &mean_embeddings, py::arg("points").noconvert())
      .def("inner_products", &products, py::arg("levels"), py::arg("other"), py::arg("other_levels"),
           py::arg("centered"))
      .def("norms", &all_norms, py::arg("levels"), py::arg("centered"))
      .def("kernel_matrix", &kernel_matrix, py::arg("a").noconvert(), py::arg("b").noconvert())
      .def("shares_directions", &ArrayEmbedding::shares_directions, py::arg("other"))
      .def("state", &ArrayEmbedding::state)
      .def_property_readonly("object_kernel",
                             [](const ArrayEmbedding& e) -> std::optional<KernelSpec> {
                               const KernelSpec& kernel = e.directions().kernel().spec();
                               return is_of_objects(kernel) ? std::optional(kernel) : std::nullopt;
                             })
      .def_static(
          "from_state", [](const py::dict& state) { return ArrayEmbedding(state); }, py::arg("state"))
      .def("terms", [](const ArrayEmbedding& e) { return terms_of(e.directions()); })
      .def("sample",
           [](const ArrayEmbedding& e) {
             const SampleView sample = e.embedding().sample();
             const std::vector<double> weights(sample.weights.begin(), sample.weights.end());
             return py::make_tuple(to_array(sample.points),
                                   weights.empty() ? py::object(py::none()) : py::object(to_array(weights)));
           })
      .def(py::pickle([](const ArrayEmbedding& e) { return e.state(); },
                      [](const py::dict& state) { return ArrayEmbedding(state); }))
      .def_property_readonly("kernel",
                             [](const ArrayEmbedding& e) { return to_string(e.directions().kernel().spec()); })
      .def_property_readonly("n_directions", [](const ArrayEmbedding& e) { return e.directions().count(); })
      .def_property_readonly("n_reference", &ArrayEmbedding::num_reference)
      .def_property_readonly("n_points", &ArrayEmbedding::num_points)
      .def_property_readonly("dim", [](const ArrayEmbedding& e) { return e.directions().dim(); });
  return bound;
}

}  // namespace kqd
