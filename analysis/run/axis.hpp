/// The values that a sweep gives to one parameter.
#pragma once

#include <string>
#include <vector>

#include "core/results/dataset.hpp"
#include "core/settings/parameter.hpp"
#include "core/system/model.hpp"

namespace graze {

struct Axis {
  int parameter = 0;  ///< index into Model::parameters()
  std::vector<double> values;
};

/// Keys of a table axis = { parameter, from, to, points, spacing } or { parameter, values }; `name` stands
/// for what is varied ("parameter").
std::vector<Key> axis_keys(const char* name = "parameter", const char* meaning = "a parameter of the model");

/// The values of such a table. Throws InputError for an incomplete, empty or absurdly long axis.
std::vector<double> axis_values(const Value& table, const std::string& path);

/// Reads such a table. Throws InputError for a parameter the model does not have, a value outside the
/// parameter's range, an incomplete or empty axis.
Axis read_axis(const Value& table, const Model& model, const std::string& path);

/// Reads the tables `axis` and, where it is given, `axis2`. Throws InputError when both vary the same
/// parameter.
std::vector<Axis> read_axes(const Value& table, const Model& model);

/// The coordinates of an axis.
Array axis_coordinate(const Axis& axis, const Model& model);

/// Number of values of each axis, and the names of their parameters.
std::vector<std::size_t> extents_of(const std::vector<Axis>& axes);
std::vector<std::string> names_of(const std::vector<Axis>& axes, const Model& model);

/// All parameters of a model at a place of a grid whose last dimensions are the axes.
std::vector<double> values_at(const std::vector<std::size_t>& place, const std::vector<Axis>& axes,
                              const Model& model);

/// Boxes of about `points` points each that cover the extents, the last dimension running fastest.
std::vector<Box> split(const std::vector<std::size_t>& extents, std::size_t points);

}  // namespace graze
