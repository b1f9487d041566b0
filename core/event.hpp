/// What can happen to a motion at an instant, and who listens.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace graze {

enum class EventKind : signed char {
  impact = 0,        ///< a gap closes with approaching speed; velocities jump
  graze,             ///< a gap touches zero with no normal speed
  chatter_complete,  ///< an infinite sequence of impacts has accumulated (time by formula)
  stick,             ///< a contact begins to stay closed
  release,           ///< a closed contact opens
  rise,              ///< after a release the mass was pressed back and sticks again without a flight
  slip_to_stick,
  stick_to_slip,
  slip_reversal,
  contact_begin,  ///< a compliant contact begins
  contact_end,    ///< a compliant contact ends
  section,        ///< the section of the map was crossed
};

/// Names in the order of the enumeration, as written to result files.
const std::vector<std::string>& event_names();

struct Event {
  double time = 0;
  EventKind kind = EventKind::impact;
  int contact = -1;                ///< -1: none
  double approach_speed = 0;       ///< normal speed towards the contact, >= 0; NaN where it has no meaning
  std::span<const double> before;  ///< state; valid during the call only
  std::span<const double> after;
};

/// Hears of everything on the way of a motion. Costs one virtual call per event.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void event(const Event& event) = 0;
  /// A local minimum of an open gap that does not touch. `speed` = sqrt(2 g g''): the speed with which an
  /// equally deep penetration would have hit.
  virtual void near_miss(int contact, double time, double speed) = 0;
  /// A local maximum of an open gap.
  virtual void excursion(int contact, double time, double gap) = 0;
};

}  // namespace graze
