#include "analysis/questions/curve_setting.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "analysis/continuation/branch_data.hpp"
#include "analysis/continuation/settled_start.hpp"
#include "analysis/maps/map_keys.hpp"
#include "analysis/run/axis.hpp"
#include "core/results/ragged.hpp"

namespace graze {
namespace {

void read_axis_of(const Problem& problem, const char* name, int axis, CurveSetting& setting) {
  const Value& table = problem.analysis.at(name);
  const std::string path = std::string("analysis.") + name;
  const double from = table.at("from").number(path + ".from");
  const double to = table.at("to").number(path + ".to");
  if (!(from < to))
    throw InputError(table.at("from").place(), path + ".from", table.at("from").toml(),
                     "must be less than to");
  Value ends;
  ends.set("parameter", table.at("parameter"));
  ends.set("values", Value(Value::Array{table.at("from"), table.at("to")}));
  (axis == 0 ? setting.plane.family.parameter : setting.plane.second) =
      read_axis(ends, *problem.model, path).parameter;
  setting.options.walk.from[axis] = from;
  setting.options.walk.to[axis] = to;
  setting.plane.widths[axis] = to - from;
}

}  // namespace

void add_curve_keys(std::vector<Key>& keys, const std::vector<std::string>& axis) {
  const auto add_axis = [&](const char* name, const char* meaning) {
    Key& table = add_key(keys, name, Key::Type::table, meaning);
    table.required = true;
    for (Key& k : axis_keys()) {
      if (std::find(axis.begin(), axis.end(), k.name) == axis.end()) continue;
      k.required = k.name != "spacing";
      table.children.push_back(std::move(k));
    }
  };
  add_axis("axis", "the first parameter and its range");
  add_axis("axis2", "the second parameter and its range");
  Key& switching = add_key(keys, "switch", Key::Type::boolean,
                           "whether to follow the curves that leave points of codimension two");
  switching.fallback = Value(false);
  const CurveOptions defaults;
  Key& step =
      add_key(keys, "step", Key::Type::number, "greatest step along a curve; the ranges of the axes are 1");
  step.fallback = Value(defaults.step);
  step.range = Range{1e-6, 0.5, false, false};
  const auto integer = [&](const char* name, std::int64_t fallback, const char* meaning) {
    Key& k = add_key(keys, name, Key::Type::integer, meaning);
    k.fallback = Value(fallback);
    k.range = Range{1, 1e9, false, false};
  };
  integer("points", defaults.points, "points of a curve at most, in either direction");
  integer("curves", 400, "curves at most");
}

CurveSetting read_curve_setting(const Problem& problem) {
  const Value& table = problem.analysis;
  CurveSetting setting;
  Family& family = setting.plane.family;
  family.model = problem.model;
  family.values = problem.model->values();
  family.tolerance = problem.tolerance;
  family.section = read_section(table, *problem.model, problem.tolerance);
  read_axis_of(problem, "axis", 0, setting);
  read_axis_of(problem, "axis2", 1, setting);
  if (family.parameter == setting.plane.second) {
    const Value& second = table.at("axis2").at("parameter");
    throw InputError(second.place(), "analysis.axis2.parameter", second.toml(),
                     "must differ from that of axis");
  }
  setting.options.walk.step = table.at("step").number("analysis.step");
  setting.options.walk.points = static_cast<int>(table.at("points").integer("analysis.points"));
  setting.options.switching = table.at("switch").boolean("analysis.switch");
  setting.options.limits.most = static_cast<std::size_t>(table.at("curves").integer("analysis.curves"));
  check_continued(table, family, setting.options.walk.from[0]);
  return setting;
}

Dataset starts_data(const Plane& plane_of, const std::vector<TriedStart>& tried) {
  Dataset data;
  std::vector<std::int8_t> kind;
  std::vector<std::int32_t> contact, curve;
  std::vector<double> first, second;
  std::vector<std::string> reason;
  for (const TriedStart& t : tried) {
    const CurveSeed& seed = t.seed;
    kind.push_back(static_cast<std::int8_t>(seed.kind));
    contact.push_back(seed.contact);
    first.push_back(seed.orbit.parameter);
    second.push_back(seed.second);
    curve.push_back(t.fate.curve);
    reason.push_back(t.fate.reason);
  }
  const auto& parameters = plane_of.family.model->parameters();
  const Parameter& p = parameters[static_cast<std::size_t>(plane_of.family.parameter)];
  const Parameter& q = parameters[static_cast<std::size_t>(plane_of.second)];
  data.dimensions = {{"point", tried.size()}};
  add_array(data, "kind", {"point"}, std::move(kind), "kind of the located point", bifurcation_names());
  add_array(data, p.name, {"point"}, std::move(first), p.meaning, {}, p.unit);
  add_array(data, q.name, {"point"}, std::move(second), q.meaning, {}, q.unit);
  add_array(data, "contact", {"point"}, std::move(contact), "contact whose event changes, from 0; -1: none");
  add_array(data, "curve", {"point"}, std::move(curve), "number of the curve through it; -1: none");
  data.arrays.push_back(text_array("reason", {"point"}, reason, "why there is no curve through it"));
  return data;
}

}  // namespace graze
