#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <type_traits>
#include <variant>

#include "drivers/python/convert.hpp"

namespace graze::python {
namespace {

using Texts = std::vector<std::pair<std::string, std::string>>;

py::dict dictionary(const Texts& texts) {
  py::dict all;
  for (const auto& [name, text] : texts) all[py::str(name)] = text;
  return all;
}

Texts texts(const py::dict& dictionary) {
  Texts all;
  for (const auto& [name, text] : dictionary)
    all.emplace_back(name.cast<std::string>(), text.cast<std::string>());
  return all;
}

std::vector<py::ssize_t> shape_of(const Dataset& data, const Array& array) {
  std::vector<py::ssize_t> shape;
  for (const std::string& dimension : array.dimensions)
    shape.push_back(static_cast<py::ssize_t>(data.size(dimension)));
  return shape;
}

template <class T>
Array::Values copied(const py::array& array) {
  const auto typed = py::array_t<T, py::array::c_style | py::array::forcecast>::ensure(array);
  if (!typed) throw py::error_already_set();
  return std::vector<T>(typed.data(), typed.data() + typed.size());
}

Array::Values values_from(const py::array& array) {
  const char kind = array.dtype().kind();
  const py::ssize_t size = array.itemsize();
  if (kind == 'f') return copied<double>(array);
  if (kind == 'b' || (kind == 'i' && size == 1)) return copied<std::int8_t>(array);
  if (kind == 'i' && size <= 4) return copied<std::int32_t>(array);
  return copied<std::int64_t>(array);
}

Array array_from(const py::tuple& given, Dataset& data) {
  Array array;
  array.name = given[0].cast<std::string>();
  array.dimensions = given[1].cast<std::vector<std::string>>();
  const auto values = given[2].cast<py::array>();
  array.values = values_from(values);
  array.unit = given[3].cast<std::string>();
  array.long_name = given[4].cast<std::string>();
  array.flags = given[5].cast<std::vector<std::string>>();
  array.attributes = texts(given[6].cast<py::dict>());
  for (std::size_t d = 0; d < array.dimensions.size(); ++d) {
    const std::string& name = array.dimensions[d];
    const bool known = std::any_of(data.dimensions.begin(), data.dimensions.end(),
                                   [&](const Dimension& dimension) { return dimension.name == name; });
    if (!known)
      data.dimensions.push_back({name, static_cast<std::size_t>(values.shape(static_cast<int>(d)))});
  }
  return array;
}

}  // namespace

py::tuple dataset_to_python(Dataset data) {
  py::list arrays;
  for (Array& array : data.arrays) {
    std::vector<py::ssize_t> shape = shape_of(data, array);
    py::object values = std::visit(
        [&](auto& v) -> py::object { return owning_array(std::move(v), std::move(shape)); }, array.values);
    arrays.append(py::make_tuple(array.name, py::tuple(py::cast(array.dimensions)), std::move(values),
                                 array.unit, array.long_name, array.flags, dictionary(array.attributes)));
  }
  py::dict groups;
  for (Group& group : data.groups) groups[py::str(group.name)] = dataset_to_python(std::move(group.data));
  return py::make_tuple(std::move(arrays), dictionary(data.attributes), std::move(groups));
}

Dataset dataset_from_python(const py::tuple& triple) {
  Dataset data;
  for (const py::handle array : triple[0]) data.arrays.push_back(array_from(array.cast<py::tuple>(), data));
  data.attributes = texts(triple[1].cast<py::dict>());
  for (const auto& [name, part] : triple[2].cast<py::dict>())
    data.groups.push_back({name.cast<std::string>(), dataset_from_python(part.cast<py::tuple>())});
  return data;
}

}  // namespace graze::python
