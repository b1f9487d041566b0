#include "analysis/continuation/curve_data.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "analysis/continuation/branch_data.hpp"
#include "analysis/continuation/observed_orbits.hpp"
#include "analysis/continuation/slip_border.hpp"
#include "analysis/maps/map_keys.hpp"
#include "core/results/ragged.hpp"
#include "core/system/outcome.hpp"

namespace graze {
namespace {

using I8 = std::vector<std::int8_t>;
using I32 = std::vector<std::int32_t>;
using F64 = std::vector<double>;

const Parameter& parameter_of(const Plane& plane, int axis) {
  const int index = axis == 0 ? plane.family.parameter : plane.second;
  return plane.family.model->parameters()[static_cast<std::size_t>(index)];
}

std::string contact_name(const Plane& plane, int contact) {
  return contact < 0 ? "" : plane.family.model->contacts()[static_cast<std::size_t>(contact)].name;
}

/// Of a curve of sliding.
std::string friction_name(const Plane& plane, const Curve& curve) {
  if (!of_slip(curve.kind)) return "";
  return plane.family.model->frictions()[static_cast<std::size_t>(-1 - curve.contact)].name;
}

void add_parameters(Dataset& data, const Plane& plane, F64 first, F64 second) {
  F64 values[2] = {std::move(first), std::move(second)};
  for (int axis = 0; axis < 2; ++axis) {
    const Parameter& p = parameter_of(plane, axis);
    add_array(data, p.name, {"point"}, std::move(values[axis]), p.meaning, {}, p.unit);
  }
}

/// Observables, where there are some, at the points of all curves, one after the other.
Dataset observed_data(const Plane& plane, const std::vector<Curve>& curves, const Observables* observables) {
  Dataset data;
  if (observables == nullptr) return data;
  std::vector<Family> families;
  std::vector<const BranchPoint*> orbits;
  for (const Curve& curve : curves) {
    for (const CurvePoint& p : curve.points) {
      families.push_back(plane.at(p.second));
      orbits.push_back(&p.orbit);
    }
  }
  std::vector<std::pair<const Family*, const BranchPoint*>> points;
  for (std::size_t k = 0; k < orbits.size(); ++k) points.emplace_back(&families[k], orbits[k]);
  data.dimensions = {{"point", points.size()}};
  add_observables(data, *observables, points);
  return data;
}

/// The points of some curves, one after the other, and what is observed at them.
void add_curve_points(Dataset& data, const Plane& plane, const std::vector<const Curve*>& curves,
                      const Dataset& observed) {
  std::vector<const BranchPoint*> orbits;
  F64 first, second;
  for (const Curve* curve : curves) {
    for (const CurvePoint& p : curve->points) {
      orbits.push_back(&p.orbit);
      first.push_back(p.orbit.parameter);
      second.push_back(p.second);
    }
  }
  add_orbits(data, plane.family, orbits);
  data.arrays.insert(data.arrays.end(), observed.arrays.begin(), observed.arrays.end());
  add_parameters(data, plane, std::move(first), std::move(second));
}

Dataset codim2_data(const Plane& plane, const std::vector<Curve>& curves) {
  const Model& model = *plane.family.model;
  Dataset data;
  I8 kind, sense;
  I32 contact, number, periods;
  F64 first, second, states;
  for (std::size_t k = 0; k < curves.size(); ++k) {
    for (const Codim2& c : curves[k].codim2) {
      kind.push_back(static_cast<std::int8_t>(c.kind));
      sense.push_back(static_cast<std::int8_t>(c.sense));
      contact.push_back(std::max(-1, c.at.contact));
      number.push_back(static_cast<std::int32_t>(k));
      periods.push_back(c.at.periods);
      first.push_back(c.at.parameter);
      second.push_back(c.second);
      const Eigen::VectorXd state = plane.family.units.out(c.at.orbit.front());
      states.insert(states.end(), state.begin(), state.end());
    }
  }
  data.dimensions = {{"point", kind.size()}, {"state", model.states().size()}};
  data.arrays.push_back(names_coordinate("state", model.states(), "state of the model"));
  add_array(data, "kind", {"point"}, std::move(kind), "what meets", codim2_names());
  add_parameters(data, plane, std::move(first), std::move(second));
  add_array(data, "curve", {"point"}, std::move(number), "number of the curve on which it was located");
  add_array(data, "contact", {"point"}, std::move(contact),
            "contact of the second condition, from 0; -1: none");
  add_array(data, "sense", {"point"}, std::move(sense),
            "resonant_grazing: 1: a fold, -1: a period doubling of the orbit with the impact ends there");
  add_array(data, "forcing_periods", {"point"}, std::move(periods),
            "period of the orbit in forcing periods, or iterates of the map");
  add_array(data, "orbit_state", {"point", "state"}, std::move(states), "state of the orbit on the section");
  return data;
}

}  // namespace

Dataset curves_data(const Plane& plane, const CurveSet& set, const Observables* observables) {
  const std::vector<Curve>& curves = set.curves();
  Dataset data;
  data.attributes = {{"parameter", parameter_of(plane, 0).name}, {"parameter2", parameter_of(plane, 1).name}};
  if (const std::string left = set.budget().left(); !left.empty()) data.attributes.emplace_back("left", left);
  data.dimensions = {{"curve_number", curves.size()}};
  I8 kinds;
  I32 number, points, located, contacts;
  std::vector<std::string> origin, begins, ends;
  std::vector<const Curve*> all;
  const Dataset observed = observed_data(plane, curves, observables);
  Dataset groups;
  for (std::size_t k = 0; k < curves.size(); ++k) {
    const Curve& curve = curves[k];
    all.push_back(&curve);
    number.insert(number.end(), curve.points.size(), static_cast<std::int32_t>(k));
    kinds.push_back(static_cast<std::int8_t>(curve.kind));
    contacts.push_back(std::max(-1, curve.contact));
    points.push_back(static_cast<std::int32_t>(curve.points.size()));
    located.push_back(static_cast<std::int32_t>(curve.codim2.size()));
    origin.push_back(curve.origin);
    begins.push_back(curve.begins);
    ends.push_back(curve.ends);
    Dataset one;
    one.attributes = {{"kind", bifurcation_names()[static_cast<std::size_t>(curve.kind)]},
                      {"contact", contact_name(plane, curve.contact)},
                      {"friction", friction_name(plane, curve)},
                      {"origin", curve.origin},
                      {"begins", curve.begins},
                      {"ends", curve.ends}};
    const Part here{number.size() - curve.points.size(), curve.points.size()};
    add_curve_points(one, plane, {&curve},
                     observables != nullptr ? slice(observed, "point", here) : Dataset());
    groups.groups.push_back({std::to_string(k), std::move(one)});
  }
  const std::vector<std::string> over = {"curve_number"};
  add_array(data, "outcome", over, I8(curves.size(), 0), "what happened numerically", outcome_names());
  add_array(data, "kind", over, std::move(kinds), "what happens along the curve", bifurcation_names());
  add_array(data, "curve_contact", over, std::move(contacts),
            "contact whose event changes, from 0; -1: none");
  add_array(data, "points", over, std::move(points), "points of the curve");
  data.arrays.back().attributes.emplace_back(sample_dimension, "point");
  add_array(data, "located", over, std::move(located), "points of codimension two located on it");
  data.arrays.push_back(text_array("origin", over, origin, "where the start of the curve came from"));
  data.arrays.push_back(
      text_array("begins", over, begins, "why the curve does not continue before its first point"));
  data.arrays.push_back(
      text_array("ends", over, ends, "why the curve does not continue after its last point"));
  add_curve_points(data, plane, all, observed);
  add_array(data, "curve_index", {"point"}, std::move(number), "number of the curve");
  data.groups.push_back({"curve", std::move(groups)});
  data.groups.push_back({"codim2", codim2_data(plane, curves)});
  return data;
}

}  // namespace graze
