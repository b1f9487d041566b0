/// Settings, results and pictures on their way from and to Python.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/results/dataset.hpp"
#include "core/settings/value.hpp"
#include "data/archive.hpp"
#include "drivers/plot/picture.hpp"

namespace graze::python {

namespace py = pybind11;

/// A numpy array that owns a vector; nothing is copied.
template <class T>
py::array_t<T> owning_array(std::vector<T> values, std::vector<py::ssize_t> shape) {
  auto owned = std::make_unique<std::vector<T>>(std::move(values));
  T* const data = owned->data();
  const py::capsule owner(owned.get(), [](void* v) { delete static_cast<std::vector<T>*>(v); });
  static_cast<void>(owned.release());
  return py::array_t<T>(std::move(shape), data, owner);
}
template <class T>
py::array_t<T> owning_array(std::vector<T> values) {
  const auto size = static_cast<py::ssize_t>(values.size());
  return owning_array(std::move(values), {size});
}

/// Booleans, numbers (of numpy, too), texts, sequences, arrays and dictionaries with texts as keys. Throws
/// InputError naming `key` for anything else.
Value value_of(py::handle object, const std::string& key);

/// A table of settings as a TOML document, one section for each table.
std::string toml_document(const Value& root);

/// A Dataset as (arrays, attributes, groups): arrays are tuples (name, dimensions, values, unit, long name,
/// flags, further attributes), groups a dictionary of more such triples. The values are moved, not copied.
py::tuple dataset_to_python(Dataset data);
/// The same the other way round, values copied.
Dataset dataset_from_python(const py::tuple& triple);

/// A picture as nested dictionaries and arrays, with the names of drivers/plot/picture.hpp.
py::dict picture_to_python(Picture picture);

}  // namespace graze::python
