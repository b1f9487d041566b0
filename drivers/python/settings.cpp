#include <pybind11/numpy.h>

#include <cstdint>

#include "drivers/python/convert.hpp"

namespace graze::python {
namespace {

/// Of numpy: a scalar or an array as what Python has for it.
py::object without_numpy(py::handle object) {
  return py::hasattr(object, "tolist") ? object.attr("tolist")() : py::reinterpret_borrow<py::object>(object);
}

/// The dotted name of a member of a table.
std::string member_key(const std::string& table, const std::string& member) {
  if (table.empty()) return member;
  std::string key = table;
  key += '.';
  key += member;
  return key;
}

/// A line "key = value".
std::string line_of(const std::string& key, const Value& value) {
  Value table;
  table.set(key, value);
  const std::string braced = table.toml();  // "{ key = value }"
  return braced.substr(2, braced.size() - 4) + '\n';
}

Value integer_of(py::handle object, const std::string& key) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow != 0) throw InputError({}, key, py::str(object), "is beyond the integers of 64 bits");
  return Value(Value::Data(std::int64_t{value}));
}

}  // namespace

Value value_of(py::handle given, const std::string& key) {
  const py::object object = without_numpy(given);
  if (py::isinstance<py::bool_>(object)) return Value(object.cast<bool>());
  if (py::isinstance<py::int_>(object)) return integer_of(object, key);
  if (py::isinstance<py::float_>(object)) return Value(object.cast<double>());
  if (py::isinstance<py::str>(object)) return Value(Value::Data(object.cast<std::string>()));
  if (py::hasattr(object, "__fspath__")) return value_of(object.attr("__fspath__")(), key);
  if (py::isinstance<py::dict>(object)) {
    Value::Table table;
    for (const auto& [name, member] : object.cast<py::dict>()) {
      if (!py::isinstance<py::str>(name)) throw InputError({}, key, py::repr(name), "keys must be texts");
      const auto text = name.cast<std::string>();
      table.emplace_back(text, value_of(member, member_key(key, text)));
    }
    return Value(std::move(table));
  }
  if (py::isinstance<py::list>(object) || py::isinstance<py::tuple>(object)) {
    Value::Array array;
    for (const py::handle member : object) array.push_back(value_of(member, key));
    return Value(std::move(array));
  }
  throw InputError({}, key, py::repr(object),
                   "must be a number, a text, a boolean, a sequence or a dictionary of these");
}

std::string toml_document(const Value& root) {
  std::string text, sections;
  for (const auto& [name, value] : root.table("")) {
    if (!value.is_table()) {
      text += line_of(name, value);
      continue;
    }
    sections += "\n[" + name + "]\n";
    for (const auto& [key, entry] : value.table(name)) sections += line_of(key, entry);
  }
  return text + sections;
}

}  // namespace graze::python
