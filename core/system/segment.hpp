/// A motion by prescription: legs whose ends are given, not found, so that they stay differentiable where an
/// event appears or vanishes. What periodic orbits are solved and continued with.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "core/system/event.hpp"

namespace graze {

/// One leg: a flow with given contacts closed, whatever the guards say, and one event at its end.
///
/// | end              | guard, zero where the event belongs    | measure, positive while the event is one |
/// | impact           | gap of the open contact                | approach speed; may pass through zero    |
/// | graze            | rate of the contact's guard            | the guard: gap, or force when closed     |
/// | release          | force of the closed contact            | rate at which the force falls            |
/// | contact_begin    | gap of the compliant contact           | approach speed; may pass through zero    |
/// | contact_end      | what its law says falls to zero        | rate at which that falls                 |
/// | chatter_complete | gap; begins right after an impact      | force on the contact with the body there |
/// | stick            | gap rate; begins on the contact        | the same                                 |
/// | slip_to_stick    | sliding speed of the friction          | what is left of its bound, at rest       |
/// | stick_to_slip    | what is left of its bound              | rate at which that falls                 |
/// | slip_reversal    | sliding speed of the friction          | force at rest beyond its bound           |
/// | section          | none (0)                               | none (0)                                 |
///
/// Forces count per mass felt along the normal, as accelerations; a compliant contact at rest on its abutment
/// begins where the force that holds it reaches its preload. Of a friction forces count as accelerations
/// along it, and `graze` is a touch of its sliding speed or, while it sticks, of its bound. At `graze`,
/// `section`, `stick_to_slip` and what ends a compliant contact nothing is done.
struct Leg {
  /// How long it lasts: as given, or to the next zero of its contact's gap, which is looked for within about
  /// the shortest time scale of the system: in a flight under way, or in one that begins on the contact.
  /// own: the system's own motion with all its events over the duration as given, but for contacts that it
  /// passes through (HybridState::heeded); what ends it is prescribed.
  /// returning: as given, and it begins and ends with an event of one compliant contact, which is at its
  /// abutment both times: that zero of the gap is divided out, the guard is the mean approach speed, and a
  /// contact or a flight may vanish.
  enum class Length : signed char { given, flight, rebound, own, returning };
  static bool finds_end(Length length) { return length == Length::flight || length == Length::rebound; }

  Eigen::VectorXd state;  ///< where it begins, in the order of the states; empty: where the one before ended
  double time = 0;        ///< when it begins, for the phase of the forcing; NaN: when the one before ended
  double duration = 0;    ///< may be slightly negative: two events in exchanged order
  Length length = Length::given;
  std::int64_t mode = 0;  ///< contacts closed along it, as in HybridState; of an own leg those that it heeds
  EventKind end = EventKind::section;
  int contact = -1;  ///< friction k: −1 − k
};

/// What tells an event of a compliant contact, or a touch of what keeps it engaged: its gap, the mean
/// approach speed of a leg that returns, or its force.
enum class GuardOf : signed char { gap, mean_speed, force };

/// Where a leg leads. Derivatives in columns: by each state at its beginning, the time of its beginning, its
/// duration, each parameter.
struct Reached {
  Eigen::VectorXd state;  ///< after the event
  Eigen::MatrixXd state_slope;
  double time = 0;  ///< when it ends
  Eigen::RowVectorXd time_slope;
  double guard = 0;
  Eigen::RowVectorXd guard_slope;
  double measure = 0;
  Eigen::RowVectorXd measure_slope;
  GuardOf guard_of = GuardOf::gap;
};

/// What is done at the end of an own leg, and what is told of it; slopes by the columns of a Tangent.
struct LegEnd {
  double shift = 0;         ///< of the time, along the flow as it is there: a duration below zero
  Eigen::RowVectorXd late;  ///< slopes of the time of the end
  EventKind kind = EventKind::section;
  int contact = -1;
  double guard = 0;
  Eigen::RowVectorXd guard_slope;
  double measure = 0;
  Eigen::RowVectorXd measure_slope;
};

/// Legs that have been followed.
struct Course {
  std::vector<Reached> legs;
  Eigen::RowVectorXd period_slope;  ///< of the forcing period, by each parameter
};

}  // namespace graze
