/// The two-mass system of the reference methods, in extended precision. Nothing here uses the library: what
/// is checked and what checks it share no code.
#pragma once

#include <array>
#include <cstddef>

namespace graze::independent {

using Real = long double;

/// A rigid stop of one mass.
struct Stop {
  Real position = 0;
  int side = 1;  ///< +1: x <= position, -1: x >= position
  Real restitution = 0.7;
};

/// The stop at d with the sign convention of `two_dof_stops`: above the mass for d >= 0, below for d < 0.
inline Stop signed_stop(Real d, Real restitution) { return {d, d < 0 ? -1 : 1, restitution}; }

/// m1 x1'' + c1 x1' + c2 (x1' - x2') + k1 x1 + k2 (x1 - x2) = A1 cos(delta t),
/// m2 x2'' + c2 (x2' - x1') + k2 (x2 - x1) = A2 cos(delta t).
/// The defaults are those of `two_dof_stops`, as doubles, so that both compute the same problem.
struct TwoMasses {
  Real m1 = 1, m2 = 1;
  Real k1 = 1, k2 = 1;
  Real c1 = 0.1, c2 = 0.1;
  Real A1 = 0.5, A2 = 0;
  Real delta = 0.16;
  std::array<Stop, 2> stops = {Stop{0.3, 1, 0.7}, Stop{0.3, 1, 0.7}};
};

/// x1, v1, x2, v2.
using State = std::array<Real, 4>;

}  // namespace graze::independent
