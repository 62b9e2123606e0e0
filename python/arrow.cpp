#include "arrow.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace kqd {
namespace {

// The structs of Arrow's C data and C stream interfaces, whose layout is fixed.
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

// A struct of Arrow, which is given back at the end.
template <class T>
struct Released {
  T value{};
  Released() = default;
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;
  ~Released() {
    if (value.release != nullptr) value.release(&value);
  }
};

void check(int status, ArrowArrayStream& stream) {
  if (status == 0) return;
  const char* const reason = stream.get_last_error(&stream);
  throw py::value_error(std::string("the table could not be read: ") + (reason == nullptr ? "no reason" : reason));
}

bool bit_at(const void* bits, std::int64_t index) {
  return ((static_cast<const std::uint8_t*>(bits)[index / 8] >> (index % 8)) & 1U) != 0;
}

// IEEE 754 binary16.
double half_value(std::uint16_t bits) {
  const int exponent = (bits >> 10U) & 0x1f;
  const int fraction = bits & 0x3ff;
  const double sign = (bits >> 15U) != 0 ? -1.0 : 1.0;
  if (exponent == 31) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  }
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

// One column, chunk by chunk. Whole numbers stay whole unless a value is missing.
class Column {
 public:
  Column(const ArrowSchema& schema, bool has_name)
      : name_(!has_name || schema.name == nullptr ? "" : schema.name),
        format_(schema.dictionary != nullptr ? "dictionary" : schema.format) {}

  void add(const ArrowArray& chunk, std::int64_t length, std::int64_t first) {
    if (!is_number()) return;
    const std::int64_t offset = chunk.offset + first;
    const void* const valid = chunk.null_count == 0 || chunk.n_buffers == 0 ? nullptr : chunk.buffers[0];
    for (std::int64_t i = offset; i < offset + length; ++i) {
      if (format_ == "n" || (valid != nullptr && !bit_at(valid, i))) {
        add_missing();
      } else {
        add_value(chunk.buffers[1], i);
      }
    }
  }

  // (name, array), or (name, format) for a column that does not hold numbers.
  [[nodiscard]] py::tuple result() const {
    if (!is_number()) return py::make_tuple(name_, format_);
    if (is_signed()) return py::make_tuple(name_, whole(signed_));
    if (is_unsigned()) return py::make_tuple(name_, whole(unsigned_));
    return py::make_tuple(name_, py::array_t<double>(static_cast<py::ssize_t>(reals_.size()), reals_.data()));
  }

 private:
  [[nodiscard]] bool is_in(std::string_view kinds) const {
    return format_.size() == 1 && kinds.find(format_[0]) != std::string_view::npos;
  }
  [[nodiscard]] bool is_signed() const { return is_in("csil"); }
  [[nodiscard]] bool is_unsigned() const { return is_in("CSIL"); }
  [[nodiscard]] bool is_number() const { return is_signed() || is_unsigned() || is_in("befgn"); }

  template <class T>
  [[nodiscard]] py::object whole(const std::vector<T>& values) const {
    if (missing_.empty()) return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
    std::vector<double> reals(values.begin(), values.end());
    for (const std::size_t row : missing_) reals[row] = std::numeric_limits<double>::quiet_NaN();
    return py::array_t<double>(static_cast<py::ssize_t>(reals.size()), reals.data());
  }

  void add_missing() {
    if (is_signed()) {
      missing_.push_back(signed_.size());
      signed_.push_back(0);
    } else if (is_unsigned()) {
      missing_.push_back(unsigned_.size());
      unsigned_.push_back(0);
    } else {
      reals_.push_back(std::numeric_limits<double>::quiet_NaN());
    }
  }

  template <class T>
  static T item(const void* values, std::int64_t i) {
    return static_cast<const T*>(values)[i];
  }

  void add_value(const void* values, std::int64_t i) {
    switch (format_[0]) {
      case 'b':
        return reals_.push_back(bit_at(values, i) ? 1.0 : 0.0);
      case 'e':
        return reals_.push_back(half_value(item<std::uint16_t>(values, i)));
      case 'f':
        return reals_.push_back(static_cast<double>(item<float>(values, i)));
      case 'g':
        return reals_.push_back(item<double>(values, i));
      default:
        return is_signed() ? add_whole(signed_, values, i) : add_whole(unsigned_, values, i);
    }
  }

  // The letter gives the width, in lower case for signed numbers.
  template <class Whole>
  void add_whole(std::vector<Whole>& column, const void* values, std::int64_t i) const {
    const auto add = [&]<class Signed>(Signed) {
      using Item = std::conditional_t<std::is_signed_v<Whole>, Signed, std::make_unsigned_t<Signed>>;
      column.push_back(item<Item>(values, i));
    };
    switch (format_[0]) {
      case 'c':
      case 'C':
        return add(std::int8_t{});
      case 's':
      case 'S':
        return add(std::int16_t{});
      case 'i':
      case 'I':
        return add(std::int32_t{});
      default:
        return add(std::int64_t{});
    }
  }

  std::string name_;
  std::string format_;
  std::vector<std::int64_t> signed_;
  std::vector<std::uint64_t> unsigned_;
  std::vector<double> reals_;
  std::vector<std::size_t> missing_;  // rows of whole numbers
};

// The columns of a stream: (name, array), or (name, format) where a column does not hold numbers. A stream of one
// column that is not a table gives one column without a name.
py::list read_arrow(const py::capsule& capsule) {
  auto* const stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
  if (stream == nullptr) throw py::error_already_set();
  if (stream->release == nullptr) throw py::value_error("the table was read before, and its stream is at its end");
  Released<ArrowSchema> schema;
  check(stream->get_schema(stream, &schema.value), *stream);
  const bool is_table = std::string_view(schema.value.format) == "+s";
  std::vector<Column> columns;
  if (is_table) {
    for (std::int64_t j = 0; j < schema.value.n_children; ++j) columns.emplace_back(*schema.value.children[j], true);
  } else {
    columns.emplace_back(schema.value, false);
  }
  while (true) {
    Released<ArrowArray> chunk;
    check(stream->get_next(stream, &chunk.value), *stream);
    if (chunk.value.release == nullptr) break;
    if (!is_table) {
      columns.front().add(chunk.value, chunk.value.length, 0);
      continue;
    }
    for (std::size_t j = 0; j < columns.size(); ++j) {
      columns[j].add(*chunk.value.children[j], chunk.value.length, chunk.value.offset);
    }
  }
  py::list found;
  for (const Column& column : columns) found.append(column.result());
  return found;
}

}  // namespace

void bind_arrow(py::module_& m) {
  m.def("read_arrow", &read_arrow, py::arg("stream"));
}

}  // namespace kqd
