#include "core/system/outcome.hpp"

namespace graze {

const std::vector<std::string>& outcome_names() {
  static const std::vector<std::string> names{
      "ok",       "event_limit", "non_finite", "no_return",      "unbounded",
      "painleve", "step_floor",  "bad_start",  "bad_parameters", "bad_jump"};
  return names;
}

std::string advice(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return "Nothing went wrong.";
    case Outcome::event_limit:
      return "More events in one map iterate than tolerance.events allows; raise it, lower a "
             "restitution that is close to 1, or look for jumps that fire again and again at one instant.";
    case Outcome::non_finite:
      return "A state became infinite or not a number; look for negative stiffness or damping, or start "
             "closer to rest.";
    case Outcome::no_return:
      return "The section was not met again within the time allowed; choose a section that the motion "
             "crosses, or raise tolerance.patience. A motion at rest crosses none.";
    case Outcome::unbounded:
      return "The motion grows beyond every scale of the system; add damping or leave the resonance.";
    case Outcome::painleve:
      return "The rigid contact problem has no solution or more than one; lower the friction, use a "
             "compliant contact, or leave out stops that hold a body at the same place as others do.";
    case Outcome::step_floor:
      return "The integrator's step fell below rounding; loosen the tolerance, or look for a stiff or "
             "singular force.";
    case Outcome::bad_start:
      return "The start lies beyond a stop at this parameter value, or is no state of the model; change "
             "[initial] or the range of the parameter.";
    case Outcome::bad_parameters:
      return "The parameter values make no system; every mass must be positive, the mass matrix regular, and "
             "friction at rest no less than that of sliding.";
    case Outcome::bad_jump:
      return "A jump has put a body inside a contact; change what the jump sets, or leave out the contact.";
  }
  return "Unknown outcome.";
}

}  // namespace graze
