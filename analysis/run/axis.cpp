#include "analysis/run/axis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace graze {
namespace {

constexpr std::int64_t most_points = 1000000000;

std::vector<double> spaced(const Value& table, const std::string& path) {
  for (const char* needed : {"from", "to", "points"}) {
    if (table.find(needed) == nullptr) {
      throw InputError(
          table.place(), path, table.toml(),
          std::string("an axis needs from, to and points, or values; ") + needed + " is missing");
    }
  }
  const double from = table.at("from").number(path + ".from");
  const double to = table.at("to").number(path + ".to");
  const std::int64_t points = table.at("points").integer(path + ".points");
  if (points > most_points) {
    throw InputError(table.at("points").place(), path + ".points", table.at("points").toml(),
                     "its coordinates alone would take " + Value(8.0 * static_cast<double>(points)).toml() +
                         " bytes; at most " + std::to_string(most_points) + " values");
  }
  const bool logarithmic = table.at("spacing").text(path + ".spacing") == "log";
  if (logarithmic && !(from > 0 && to > 0)) {
    throw InputError(table.at("spacing").place(), path + ".spacing", "\"log\"", "needs from > 0 and to > 0");
  }
  if (points > 1 && from == to) {
    throw InputError(
        table.at("to").place(), path + ".to", table.at("to").toml(),
        "equals from: all " + std::to_string(points) + " points would be the same; take points = 1");
  }
  std::vector<double> values(static_cast<std::size_t>(points));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double share = points == 1 ? 0.0 : static_cast<double>(i) / static_cast<double>(points - 1);
    values[i] = logarithmic ? from * std::pow(to / from, share) : from + (to - from) * share;
  }
  if (points > 1) values.back() = to;
  return values;
}

}  // namespace

std::vector<Key> axis_keys(const char* name, const char* meaning) {
  Key parameter;
  parameter.name = name;
  parameter.type = Key::Type::text;
  parameter.required = true;
  parameter.meaning = meaning;
  Key from;
  from.name = "from";
  from.range = Range::finite();
  from.meaning = "first value";
  Key to = from;
  to.name = "to";
  to.meaning = "last value";
  Key points;
  points.name = "points";
  points.type = Key::Type::integer;
  points.range = Range{1, std::numeric_limits<double>::infinity(), false, false};  // spaced() tells the bytes
  points.meaning = "number of values";
  Key spacing;
  spacing.name = "spacing";
  spacing.type = Key::Type::text;
  spacing.choices = {"linear", "log"};
  spacing.fallback = Value("linear");
  spacing.meaning = "how the values are spread";
  Key values;
  values.name = "values";
  values.type = Key::Type::numbers;
  values.range = Range::finite();
  values.meaning = "the values themselves, in place of from, to, points";
  return {parameter, from, to, points, spacing, values};
}

std::vector<double> axis_values(const Value& table, const std::string& path) {
  const Value* values = table.find("values");
  if (values != nullptr && (table.find("from") != nullptr || table.find("points") != nullptr)) {
    throw InputError(values->place(), path + ".values", values->toml(),
                     "give values or from, to, points, not both");
  }
  std::vector<double> all = values != nullptr ? values->numbers(path + ".values") : spaced(table, path);
  if (all.empty()) throw InputError(table.place(), path, table.toml(), "the axis has no values");
  return all;
}

Axis read_axis(const Value& table, const Model& model, const std::string& path) {
  Axis axis;
  const Value& name = table.at("parameter");
  axis.parameter = model.parameter_index(name.text(path + ".parameter"));
  if (axis.parameter < 0) {
    std::vector<std::string> names;
    for (const Parameter& p : model.parameters()) names.push_back(p.name);
    const std::string near = nearest_name(name.text(path), names);
    std::string all;
    for (const std::string& each : names) all += (all.empty() ? "" : ", ") + each;
    throw InputError(name.place(), path + ".parameter", name.toml(),
                     "the model has no such parameter" +
                         (near.empty() ? "" : "; did you mean " + near + "?") + "; sweepable: " + all);
  }
  axis.values = axis_values(table, path);
  const Parameter& parameter = model.parameters()[static_cast<std::size_t>(axis.parameter)];
  for (const double v : axis.values) {
    if (parameter.range.contains(v)) continue;
    throw InputError(table.place(), path, Value(v).toml(),
                     parameter.name + " must be " + parameter.range.text());
  }
  return axis;
}

std::vector<Axis> read_axes(const Value& table, const Model& model) {
  std::vector<Axis> axes;
  axes.push_back(read_axis(table.at("axis"), model, "analysis.axis"));
  const Value* second = table.find("axis2");
  if (second == nullptr) return axes;
  axes.push_back(read_axis(*second, model, "analysis.axis2"));
  if (axes[0].parameter == axes[1].parameter) {
    throw InputError(second->place(), "analysis.axis2.parameter", second->at("parameter").toml(),
                     "both axes sweep the same parameter");
  }
  return axes;
}

Array axis_coordinate(const Axis& axis, const Model& model) {
  const Parameter& p = model.parameters()[static_cast<std::size_t>(axis.parameter)];
  return {p.name, {p.name}, axis.values, p.unit, p.meaning, {}, {}};
}

std::vector<std::size_t> extents_of(const std::vector<Axis>& axes) {
  std::vector<std::size_t> extents;
  extents.reserve(axes.size());
  for (const Axis& axis : axes) extents.push_back(axis.values.size());
  return extents;
}

std::vector<std::string> names_of(const std::vector<Axis>& axes, const Model& model) {
  std::vector<std::string> names;
  names.reserve(axes.size());
  for (const Axis& axis : axes)
    names.push_back(model.parameters()[static_cast<std::size_t>(axis.parameter)].name);
  return names;
}

std::vector<double> values_at(const std::vector<std::size_t>& place, const std::vector<Axis>& axes,
                              const Model& model) {
  std::vector<double> values = model.values();
  const std::size_t first = place.size() - axes.size();
  for (std::size_t a = 0; a < axes.size(); ++a)
    values[static_cast<std::size_t>(axes[a].parameter)] = axes[a].values[place[first + a]];
  return values;
}

std::vector<Box> split(const std::vector<std::size_t>& extents, std::size_t points) {
  // The outermost dimension of which whole slices fit into a block is cut into ranges; those further out
  // are cut into single values.
  std::size_t cut = extents.size() - 1;
  std::size_t inner = 1;
  while (cut > 0 && inner * extents[cut] <= points) inner *= extents[cut--];
  const std::size_t run = std::clamp<std::size_t>(points / inner, 1, extents[cut]);
  std::vector<Box> boxes;
  std::vector<std::size_t> offset(extents.size(), 0);
  while (true) {
    Box box{offset, std::vector<std::size_t>(extents.size(), 1)};
    for (std::size_t d = cut + 1; d < extents.size(); ++d) box.count[d] = extents[d];
    box.count[cut] = std::min(run, extents[cut] - offset[cut]);
    boxes.push_back(box);
    std::size_t d = cut;
    offset[d] += run;
    while (offset[d] >= extents[d]) {
      if (d == 0) return boxes;
      offset[d] = 0;
      ++offset[--d];
    }
  }
}

}  // namespace graze
