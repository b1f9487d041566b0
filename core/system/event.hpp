/// What can happen to a motion at an instant, and who listens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
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
  slip_to_stick,     ///< a friction stops to slide
  stick_to_slip,     ///< … begins to slide
  slip_reversal,     ///< … slides the other way from now on
  contact_begin,     ///< a compliant contact begins
  contact_end,       ///< a compliant contact ends
  section,           ///< the section of the map was crossed
  jump,              ///< a jump map of the model has set the state anew
};

/// Whether a body meets a contact, rigid or compliant.
constexpr bool is_hit(EventKind kind) {
  return kind == EventKind::impact || kind == EventKind::contact_begin;
}

/// Whether a compliant contact begins or ends.
constexpr bool of_compliant(EventKind kind) {
  return kind == EventKind::contact_begin || kind == EventKind::contact_end;
}

/// Whether a friction begins or ceases to slide, or turns.
constexpr bool of_friction(EventKind kind) {
  return kind == EventKind::slip_to_stick || kind == EventKind::stick_to_slip ||
         kind == EventKind::slip_reversal;
}

/// Names in the order of the enumeration, as written to result files.
const std::vector<std::string>& event_names();

struct Event {
  double time = 0;
  EventKind kind = EventKind::impact;
  int contact = -1;           ///< -1: none
  int friction = -1;          ///< of the model's frictions; -1: none
  int jump = -1;              ///< of the model's jump maps; -1: none
  std::int64_t mode = 0;      ///< before it, as in HybridState
  double approach_speed = 0;  ///< normal speed towards the contact, of contact_end away from it, >= 0;
                              ///< NaN where it has no meaning
  /// Of a compliant contact given by a law: its force right after contact_begin, right before contact_end, >
  /// 0 where it pushes; NaN elsewhere.
  double force = std::numeric_limits<double>::quiet_NaN();
  std::span<const double> before;  ///< state; valid during the call only
  std::span<const double> after;
};

/// What a compliant contact does on a piece of the motion, between its events. Where it has no friction the
/// coefficients of that are 0 and `slip` too.
struct ContactLoad {
  int contact = -1;
  double begin = 0;                ///< time at which the piece begins
  int slip = 0;                    ///< sense of sliding all along the piece: 1, −1; 0: sticks
  double slip_speed = 0;           ///< tangential velocity where the piece begins
  double friction = 0;             ///< coefficient of kinetic friction
  double static_friction = 0;      ///< … of static friction
  double normal_mobility = 0;      ///< normal acceleration per normal force where the piece begins
  double cross_mobility = 0;       ///< tangential acceleration per normal force, and the other way round
  double tangential_mobility = 0;  ///< tangential acceleration per tangential force
  double peak_force = 0;           ///< greatest normal force
  double greatest_penetration = 0;
  double impulse = 0;  ///< of the normal force
  /// Time at which the penetration has a maximum; NaN: it has none here.
  double turn = std::numeric_limits<double>::quiet_NaN();
  double friction_work = 0;  ///< energy lost to friction
  double damping_work = 0;   ///< energy lost in the contact's normal direction
};

/// A piece of a motion between its instants: time and states as polynomials of s, 0 <= s <= `end` <= 1.
struct MotionPiece {
  std::int64_t mode = 0;             ///< as in HybridState
  std::size_t terms = 0;             ///< of each polynomial
  double end = 1;                    ///< where the piece ends
  std::vector<double> coefficients;  ///< of the time since the start of the motion, then of each state

  std::span<const double> time() const { return {coefficients.data(), terms}; }
  std::span<const double> state(std::size_t i) const {
    return {coefficients.data() + (i + 1) * terms, terms};
  }
};

/// Hears of everything on the way of a motion. Costs one virtual call per event.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void event(const Event& event) = 0;
  /// Whether it wants to hear where open gaps turn.
  virtual bool follows_gaps() const { return false; }
  /// A local minimum of an open gap that does not touch. `speed` = sqrt(2 g g''): the speed with which an
  /// equally deep penetration would have hit.
  virtual void near_miss(int, [[maybe_unused]] double time, [[maybe_unused]] double speed) {}
  /// A local maximum of an open gap; after an impact or a jump also where it falls on from.
  virtual void excursion(int, [[maybe_unused]] double time, [[maybe_unused]] double gap) {}
  /// A compliant contact is loaded on the next piece of the motion.
  virtual void load(const ContactLoad&) {}
  /// Whether it wants to hear of every piece of the motion.
  virtual bool follows_pieces() const { return false; }
  virtual void piece(const MotionPiece&) {}
};

}  // namespace graze
