/// The energy of a motion at an instant, and what changes it.
#pragma once

namespace graze {

/// Between the instants of a motion
///
///     d(motion + stops)/dt = force_power − damping_power − friction_power − stop_power.
///
/// At an impact `motion` jumps, at the release of a compliant stop that is still compressed `stops` does.
struct Energy {
  double motion = 0;          ///< kinetic, and in the springs between and under the masses
  double stops = 0;           ///< in the springs of compliant stops, counted from where these are met
  double force_power = 0;     ///< of forces, constant ones and those of an unsymmetric stiffness included
  double damping_power = 0;   ///< lost in dampers
  double friction_power = 0;  ///< lost to dry friction
  double stop_power = 0;      ///< lost in the dampers of compliant stops
};

}  // namespace graze
