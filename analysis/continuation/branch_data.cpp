#include "analysis/continuation/branch_data.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "analysis/maps/map_keys.hpp"
#include "core/results/ragged.hpp"
#include "core/system/outcome.hpp"

namespace graze {
namespace {

using I8 = std::vector<std::int8_t>;
using I32 = std::vector<std::int32_t>;
using F64 = std::vector<double>;

/// A coordinate of names.
void add_names(Dataset& data, const std::string& name, const std::vector<Quantity>& list,
               const char* meaning) {
  data.dimensions.push_back({name, list.size()});
  data.arrays.push_back(names_coordinate(name, list, meaning));
}

/// The arrays over the points of all branches, one branch after the other.
void add_points(Dataset& data, const Family& family, const std::vector<Branch>& branches) {
  const Model& model = *family.model;
  const Parameter& parameter = model.parameters()[static_cast<std::size_t>(family.parameter)];
  F64 value, fold, branching, doubling, torus;
  I32 number;
  std::vector<const BranchPoint*> points;
  for (std::size_t n = 0; n < branches.size(); ++n) {
    for (const BranchPoint& b : branches[n].points) {
      points.push_back(&b);
      number.push_back(static_cast<std::int32_t>(n));
      value.push_back(b.parameter);
      fold.push_back(b.fold);
      branching.push_back(b.branching);
      doubling.push_back(b.doubling);
      torus.push_back(b.torus);
    }
  }
  add_orbits(data, family, points);
  add_array(data, "branch", {"point"}, std::move(number), "number of the branch");
  add_array(data, parameter.name, {"point"}, std::move(value), parameter.meaning, {}, parameter.unit);
  add_array(data, "test_fold", {"point"}, std::move(fold), "zero at a fold: direction of the parameter");
  add_array(data, "test_branch_point", {"point"}, std::move(branching),
            "zero at a branch point: prod(1 - m)/test_fold");
  add_array(data, "test_period_doubling", {"point"}, std::move(doubling),
            "zero at a period doubling: prod(1 + m)");
  add_array(data, "test_neimark_sacker", {"point"}, std::move(torus),
            "zero at a Neimark-Sacker point: prod(m_i m_j - 1)");
}

Dataset bifurcation_data(const Family& family, const std::vector<Branch>& branches) {
  const Model& model = *family.model;
  const Parameter& parameter = model.parameters()[static_cast<std::size_t>(family.parameter)];
  Dataset data;
  I8 kind;
  I32 contact, branch, periods;
  F64 value, error, states, time;
  for (std::size_t b = 0; b < branches.size(); ++b) {
    for (const Bifurcation& at : branches[b].bifurcations) {
      kind.push_back(static_cast<std::int8_t>(at.kind));
      contact.push_back(at.contact);
      branch.push_back(static_cast<std::int32_t>(b));
      periods.push_back(at.periods);
      time.push_back(at.turn * family.units.time);
      value.push_back(at.parameter);
      error.push_back(at.error);
      const Eigen::VectorXd state = family.units.out(at.orbit.front());
      states.insert(states.end(), state.begin(), state.end());
    }
  }
  data.dimensions = {{"point", kind.size()}};
  add_names(data, "state", model.states(), "state of the model");
  add_array(data, "kind", {"point"}, std::move(kind), "what changes", bifurcation_names());
  add_array(data, parameter.name, {"point"}, std::move(value), parameter.meaning, {}, parameter.unit);
  add_array(data, "parameter_error", {"point"}, std::move(error),
            "estimate of the error of the parameter; 0: rounding", {}, parameter.unit);
  add_array(data, "contact", {"point"}, std::move(contact), "contact whose event changes, from 0; -1: none");
  add_array(data, "branch", {"point"}, std::move(branch), "number of the branch");
  add_array(data, "forcing_periods", {"point"}, std::move(periods),
            "period of the orbit in forcing periods, or iterates of the map");
  add_array(data, "orbit_time", {"point"}, std::move(time), "period of the orbit, in time");
  add_array(data, "orbit_state", {"point", "state"}, std::move(states), "state of the orbit on the section");
  return data;
}

}  // namespace

void add_orbits(Dataset& data, const Family& family, const std::vector<const BranchPoint*>& points) {
  const Model& model = *family.model;
  const std::size_t width = model.states().size();
  std::size_t iterates = 0;
  for (const BranchPoint* b : points)
    iterates = std::max(iterates, static_cast<std::size_t>(b->signature.periods));
  const Eigen::VectorXd nowhere = Eigen::VectorXd::Constant(static_cast<Eigen::Index>(width), no_value);
  F64 states, time, residual, re, im;
  I32 periods, impacts;
  I8 stable, admissible;
  std::vector<std::string> signatures;
  for (const BranchPoint* b : points) {
    for (std::size_t k = 0; k < iterates; ++k) {
      const Eigen::VectorXd state = k < b->orbit.size() ? family.units.out(b->orbit[k]) : nowhere;
      states.insert(states.end(), state.begin(), state.end());
    }
    time.push_back(b->period * family.units.time);
    residual.push_back(b->residual);
    periods.push_back(b->signature.periods);
    signatures.push_back(text(b->signature, model));
    impacts.insert(impacts.end(), b->impacts.begin(), b->impacts.end());
    for (std::size_t k = 0; k < width; ++k) {
      re.push_back(k < b->multipliers.size() ? b->multipliers[k].real() : no_value);
      im.push_back(k < b->multipliers.size() ? b->multipliers[k].imag() : no_value);
    }
    stable.push_back(b->stable ? 1 : 0);
    admissible.push_back(b->admissible ? 1 : 0);
  }
  data.dimensions.push_back({"point", points.size()});
  data.dimensions.push_back({"iterate", iterates});
  data.dimensions.push_back({"multiplier", width});
  add_names(data, "state", model.states(), "state of the model");
  add_names(data, "contact", model.contacts(), "contact of the model");
  add_array(data, "orbit_state", {"point", "iterate", "state"}, std::move(states),
            "state of the orbit on the section: at forcing phase zero, once in each forcing period");
  add_array(data, "orbit_time", {"point"}, std::move(time), "period of the orbit, in time");
  add_array(data, "forcing_periods", {"point"}, std::move(periods),
            "period of the orbit in forcing periods; without forcing, in iterates of the map");
  add_array(data, "impacts", {"point", "contact"}, std::move(impacts),
            "impacts in one period; of complete chatter those that were followed");
  data.arrays.push_back(text_array("signature", {"point"}, signatures, "events of one period, in order"));
  add_array(data, "stable", {"point"}, std::move(stable),
            "whether all multipliers lie in the unit circle; on a curve, all but those that define it",
            {"no", "yes"});
  add_array(data, "admissible", {"point"}, std::move(admissible), "whether no contact is penetrated",
            {"no", "yes"});
  add_array(data, "multiplier_re", {"point", "multiplier"}, std::move(re), "multipliers, real part");
  add_array(data, "multiplier_im", {"point", "multiplier"}, std::move(im), "multipliers, imaginary part");
  add_array(data, "residual", {"point"}, std::move(residual), "largest error of the equations of the orbit");
}

void add_array(Dataset& data, const std::string& name, std::vector<std::string> dimensions,
               Array::Values values, const std::string& meaning, std::vector<std::string> flags,
               const std::string& unit) {
  data.arrays.push_back(
      {name, std::move(dimensions), std::move(values), unit, meaning, std::move(flags), {}});
}

Dataset branches_data(const Family& family, const std::vector<Branch>& found) {
  const std::string& parameter = family.model->parameters()[static_cast<std::size_t>(family.parameter)].name;
  Dataset data;
  const std::size_t n = found.size();
  data.attributes = {{"parameter", parameter}, {"coordinates", "branch " + parameter}};
  data.dimensions = {{"branch_number", n}};
  const I8 outcome(n, 0);
  I32 points, located;
  F64 low, high, stable;
  std::vector<std::string> origin, begins, ends;
  for (const Branch& b : found) {
    points.push_back(static_cast<std::int32_t>(b.points.size()));
    located.push_back(static_cast<std::int32_t>(b.bifurcations.size()));
    const auto [first, last] = std::minmax_element(
        b.points.begin(), b.points.end(),
        [](const BranchPoint& x, const BranchPoint& y) { return x.parameter < y.parameter; });
    low.push_back(first->parameter);
    high.push_back(last->parameter);
    const auto count =
        std::count_if(b.points.begin(), b.points.end(), [](const BranchPoint& x) { return x.stable; });
    stable.push_back(static_cast<double>(count) / static_cast<double>(b.points.size()));
    origin.push_back(b.origin);
    begins.push_back(b.begins);
    ends.push_back(b.ends);
  }
  const std::vector<std::string> over = {"branch_number"};
  add_array(data, "outcome", over, outcome, "what happened numerically", outcome_names());
  add_array(data, "points", over, std::move(points), "points of the branch");
  data.arrays.back().attributes.emplace_back(sample_dimension, "point");
  add_array(data, "located", over, std::move(located), "bifurcation points located on it");
  add_array(data, "least", over, std::move(low), "smallest value of the parameter on it");
  add_array(data, "greatest", over, std::move(high), "largest value of the parameter on it");
  add_array(data, "stable_share", over, std::move(stable), "share of its points that are stable");
  data.arrays.push_back(text_array("origin", over, origin, "where the start of the branch came from"));
  data.arrays.push_back(
      text_array("begins", over, begins, "why the branch does not continue before its first point"));
  data.arrays.push_back(
      text_array("ends", over, ends, "why the branch does not continue after its last point"));
  add_points(data, family, found);
  data.groups.push_back({"bifurcation", bifurcation_data(family, found)});
  return data;
}

}  // namespace graze
