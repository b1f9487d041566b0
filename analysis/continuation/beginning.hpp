/// Where orbits begin. Nothing happens to an orbit whose event passes phase zero of the forcing; so equations
/// begin between events, at any phase, and elsewhere as soon as an event comes near.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "analysis/continuation/solution.hpp"

namespace graze {

/// The same orbit begun in the middle of its longest way between events. Nothing: the motion breaks off.
std::optional<NearOrbit> between_events(const Family& family, const NearOrbit& near);

/// An orbit told from another beginning on.
struct Begun {
  Itinerary itinerary;
  Eigen::VectorXd start;
  std::vector<double> durations;
  double phase = 0;       ///< of the beginning (Anchor); without forcing so many periods behind the old one
  std::size_t first = 0;  ///< the event that was number `first` is now number 0
};

/// A solution begun in the middle of its longest leg, if an event has come near to where it begins now; else,
/// or where it cannot be followed, nothing.
std::optional<Begun> begun_between(const Shooting& shooting, const Eigen::VectorXd& u);

/// The same solution with the direction of its branch.
std::optional<Solution> begun_elsewhere(const Solution& solution, const Metric& metric);

/// The turn of a solution of a forced system as its motion takes it about period by period, each begun on the
/// orbit where that flies free. Nothing: there is no such place, or it cannot be followed.
std::optional<Record> recorded_by_periods(System& system, const Solution& solution);

/// The turn of the motion that begins, in each of these pieces, so far along the tangent of a solution.
/// Nothing: the solution cannot be followed.
std::optional<Record> recorded_ahead(System& system, const Solution& solution, double along);

/// Whether the motion of a point goes through the middles of the legs of equations that are solved, but for
/// this share of its size: whatever its events are called where a body just begins to be held.
bool goes_along(System& system, const Shooting& shooting, const Eigen::VectorXd& u, const BranchPoint& point,
                double open);

/// The states of a solution on the section of its family, in order, whether a motion takes it or not. None:
/// it cannot be followed.
std::vector<Eigen::VectorXd> states_on_section(const Solution& solution);

/// The same, begun with one from which the motion closes, else with the one from which it closes best: at a
/// grazing a touch of 1e-16 is an impact of speed 1e-8, and slow impacts that follow magnify what it leaves.
std::vector<Eigen::VectorXd> states_from_best(const Solution& solution);

}  // namespace graze
