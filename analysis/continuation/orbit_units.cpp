#include "analysis/continuation/orbit_units.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/math/power_of_two.hpp"

namespace graze {
namespace {

/// Greatest value of each state along an orbit.
Eigen::VectorXd sizes_on(System& system, const NearOrbit& orbit) {
  constexpr int places = 16;  // of each period
  const double turn = system.period() > 0 ? orbit.periods * system.period() : orbit.turn;
  HybridState at;
  at.x = orbit.state;
  at.time = time_in_period(system, orbit.phase);
  Section soon;
  soon.kind = Section::Kind::time;
  soon.interval = turn / (places * orbit.periods);
  Eigen::VectorXd sizes = at.x.cwiseAbs();
  for (int k = 0; k < places * orbit.periods; ++k) {
    if (system.advance(at, soon, nullptr) != Outcome::ok) break;
    sizes = sizes.cwiseMax(at.x.cwiseAbs());
  }
  return sizes;
}

}  // namespace

Units units_of(const Family& family, const NearOrbit& orbit) {
  constexpr double least = 1.0 / 7;  // of what counts as much as a position
  const auto system = family.system(orbit.parameter);
  if (!system) return {};
  const Eigen::VectorXd sizes = sizes_on(*system, orbit);
  const double size = size_of(*system, sizes);
  const double turn = system->period() > 0 ? system->period() : orbit.turn / orbit.periods;
  Units units{Eigen::VectorXd::Ones(sizes.size()), unit_near(size), unit_near(turn / (2 * M_PI))};
  for (int i = 0; i < system->states(); ++i) {
    const bool will_do = sizes(i) > 0 && unit_near(sizes(i)) == 1;
    if (will_do || system->symmetry(i) != Symmetry::none) continue;
    units.state(i) = unit_near(std::max(sizes(i), least * size * system->unit(i)));
  }
  const Eigen::MatrixXd shifts = system->shifts();
  for (Eigen::Index k = 0; k < shifts.cols(); ++k) {  // what drifts together is told alike
    const Eigen::ArrayXd drifts = (shifts.col(k).array() != 0).cast<double>();
    const double greatest = (drifts * units.state.array()).maxCoeff();
    units.state = (drifts > 0).select(greatest, units.state.array());
  }
  const bool as_is = units.length == 1 && units.time == 1 && (units.state.array() == 1).all();
  return as_is ? Units{} : units;
}

Units units_of(const Family& family, const std::vector<Start>& starts) {
  const auto first =
      std::find_if(starts.begin(), starts.end(), [](const Start& start) { return start.periods > 0; });
  if (first == starts.end()) return {};
  return units_of(family, {first->parameter, first->orbit.front(), first->periods, first->turn, 0});
}

Family in_units(Family family, const Units& units) {
  family.section = in_units(family.section, units);
  family.units = units;
  return family;
}

Start in_units(Start start, const Units& units) {
  for (Eigen::VectorXd& state : start.orbit) state = units.in(state);
  start.turn /= units.time;
  return start;
}

NearOrbit in_units(NearOrbit orbit, const Units& units) {
  orbit.state = units.in(orbit.state);
  orbit.turn /= units.time;
  return orbit;
}

Plane in_units(Plane plane, const Units& units) {
  plane.family = in_units(std::move(plane.family), units);
  return plane;
}

}  // namespace graze
