/// Units in which orbits are continued, so that whatever a model is told in, states and times are of like
/// size: they are compared with each other, and their equations are solved together.
#pragma once

#include <vector>

#include "analysis/continuation/curve_equations.hpp"
#include "analysis/continuation/shooting.hpp"
#include "analysis/continuation/solution.hpp"
#include "analysis/continuation/start.hpp"
#include "core/system/scaled_system.hpp"

namespace graze {

/// Units in which what an orbit passes is of size about 1: of each state its greatest value, at least a
/// seventh of what counts as much as its position (System::unit); of lengths that of the positions; of time a
/// radian of a period. What is between 1/32 and 64 is told as it is, and so is an angle that may turn.
Units units_of(const Family& family, const NearOrbit& orbit);
/// Those of the first periodic orbit among some.
Units units_of(const Family& family, const std::vector<Start>& starts);

/// The same told in these units.
Family in_units(Family family, const Units& units);
Plane in_units(Plane plane, const Units& units);
Start in_units(Start start, const Units& units);
NearOrbit in_units(NearOrbit orbit, const Units& units);

}  // namespace graze
