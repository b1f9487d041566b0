/// What happened numerically on the way. A value, never an exception: one bad point does not end a sweep.
#pragma once

#include <string>
#include <vector>

namespace graze {

enum class Outcome : signed char {
  ok = 0,
  event_limit,     ///< more events in one map iterate than allowed: chatter without end (restitution near 1)
  non_finite,      ///< a state became infinite or NaN
  no_return,       ///< the section was not met again within the time allowed
  unbounded,       ///< the motion grows beyond every scale of the system
  painleve,        ///< no or no unique solution of the rigid contact problem
  step_floor,      ///< the integrator's step fell below rounding
  bad_start,       ///< the start violates a contact at this parameter value, or is no state of the model
  bad_parameters,  ///< the parameter values make no system (singular mass matrix and the like)
  bad_jump,        ///< a jump map has set a state that penetrates a contact
};

/// Names in the order of the enumeration, as written to result files.
const std::vector<std::string>& outcome_names();
/// One sentence: what happened and what to change.
std::string advice(Outcome outcome);

}  // namespace graze
