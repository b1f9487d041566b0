/// The rules of compliant stops beside rigid contacts and dry friction, for linear systems.
///
///     open ──δ rises through 0──▶ engaged ──δ falls through 0──▶ open
///                                    └──F falls through 0──▶ recovering ──δ falls through 0──▶ open
///     δ = δ' = 0 under a load between 0 and the preload: closed, at rest on the abutment
///     relaxing plate:  open ──gap z − δ falls through 0──▶ engaged ──F falls through 0──▶ open
///
/// Rules at an instant, beyond those of core/contact/friction_contacts (each has its test):
/// - Engagement: δ comes to zero with δ' > 0. Positions and velocities go on; the force begins at P + c δ'.
/// - Graze: δ touches zero and would not have gone further than rounding. Nothing happens. Likewise where an
///   engaged stop is nearly left.
/// - Release: F falls through zero at δ > 0, or δ does. By the law `release_by_gap` only δ counts.
/// - Where a force jumps, all that is at rest is decided anew (settle).
/// - Impact: where it changes the speed at a stop that is just met or left the side is decided again; where
///   it makes a force negative the stop is released. An abutment passes no impulse on: its force is finite.
/// - Rest, δ = δ' = 0: with preload the stop holds like a contact whose force is at most P; without, the
///   first derivative of δ that does not vanish decides the side.
/// - A start at δ > 0 is engaged where F > 0 or the law is `release_by_gap`, else recovering.
/// - Friction on a stop acts while this is engaged, μ F at most: it begins as it slides, ends with F.
/// - A relaxing plate is open again as its force vanishes: it and the body part without a speed. A start
///   before it (δ > z) takes it along.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/contact/friction_contacts.hpp"

namespace graze {

/// An engine derives from this and provides, beyond what FrictionContacts asks for,
///
///     bool compliant(int i) const         whether contact i is a compliant stop
///     bool releases_by_gap(int i) const
///     bool has_plate(int i) const         whether a relaxing plate is in front of it: gap and approach are
///                                         those of this, take_gap moves it to the body
///     int friction_stop(int k) const      the stop that friction k is on; -1: none
///     double preload(int i) const         P
///     double stop_stiffness(int i) const, stop_damping(int i) const    ∂F/∂δ, ∂F/∂δ'
///     double stop_force(int i) const      F at the state: P + k δ + c δ', or another law
///     bool watches_depth(int i) const     whether the second guard of an engaged stop is δ, beside that of F
///     void begin_force(int i)             it is engaged: away from where its force has no power series
///     double inward(int i)                δ'' in the mode
///     void take_gap(int i)                the value of the gap, zero but for rounding, exactly to zero
template <class Engine, class S, class State>
class CompliantContacts : public FrictionContacts<Engine, S, State> {
 public:
  using Contacts = NewtonContacts<Engine, S, State>;
  using Frictions = FrictionContacts<Engine, S, State>;
  using Loop = typename Contacts::Loop;

 protected:
  friend Frictions;
  friend Contacts;
  friend Loop;
  using Contacts::gap_rounding;
  using Contacts::resting_;
  using Loop::close;
  using Loop::closed;
  using Loop::mode_;
  using Loop::open;
  using Loop::snapshot;
  using Loop::tell;
  using Loop::time;
  using Loop::touches_;
  using typename Loop::ExactTouch;

  using Frictions::Frictions;
  void enter(Observer* observer);
  Outcome meet(const Crossing& c, Observer* observer);
  bool hits(int contact, const Crossing& c) const {
    return Frictions::hits(contact, c) && spring(contact) == Spring::open;
  }
  void jumped();
  Outcome settle(Observer* observer);
  bool bounded();
  void press_in(int i, const RestForce& force, Observer* observer);
  void keep_below(int i, const RestForce& force);
  void pass_bound(int guard, Observer* observer);

  Spring spring(int i) const { return engine().layout().spring(mode_, i); }
  /// With the frictions on it.
  void set_spring(int i, Spring spring) {
    mode_ = engine().layout().with_spring(mode_, i, spring);
    this->begin_and_end_frictions();
  }
  /// The compliant stop that a guard belongs to; -1: none.
  int stop_of(int guard) const {
    const int second = static_cast<int>(engine().layout().second_guard(0));
    const int i = guard >= second ? guard - second : guard;
    return i < engine().count() && engine().compliant(i) ? i : -1;
  }

 private:
  static constexpr double slack = 1e-13;  // speed that is zero, relative to the greatest speed

  Engine& engine() { return static_cast<Engine&>(*this); }
  const Engine& engine() const { return static_cast<const Engine&>(*this); }
  ExactTouch& first_touch(int i) { return touches_[static_cast<std::size_t>(i)]; }
  ExactTouch& second_touch(int i) {
    return touches_[static_cast<std::size_t>(engine().layout().second_guard(i))];
  }
  double penetration(int i) const { return -value_of(engine().gap(i)); }

  bool turns_back(int i);
  bool ends_by_force(int i);
  /// What is zero of a force but for rounding.
  double force_rounding(int i) {
    return slack * (engine().preload(i) + engine().stop_stiffness(i) * engine().reach(i) +
                    engine().stop_damping(i) * engine().speed());
  }
  void cross(int i, Observer* observer);
  void decide_still(int i, Observer* observer);
  void engage(int i, const ExactTouch& depth, Observer* observer);
  void tell_contact(EventKind kind, int i, Observer* observer);
  void leave(int i, const ExactTouch& gap, Observer* observer);
  void end_contact(int i, Spring to, Observer* observer);
  void lose_force(int i, double slope, Observer* observer);
  bool pulls(int i);
  void set_depth(int i, const ExactTouch& depth);
  int spent_stop(int guard);

  std::vector<int> crossing_;  ///< stops whose speed decides
  std::vector<int> still_;     ///< stops without preload at δ = δ' = 0
};

template <class Engine, class S, class State>
bool CompliantContacts<Engine, S, State>::bounded() {
  if (Frictions::bounded()) return true;
  for (int i = 0; i < engine().count(); ++i) {
    if (engine().compliant(i) && engine().preload(i) > 0) return true;
  }
  return false;
}

template <class Engine, class S, class State>
void CompliantContacts<Engine, S, State>::enter(Observer* observer) {
  crossing_.clear();
  still_.clear();
  for (int i = 0; i < engine().count(); ++i) {
    if (!engine().compliant(i)) continue;
    const double length = engine().reach(i) + engine().length();
    const double depth = penetration(i);
    if (depth < -on_contact * length) continue;
    if (depth <= on_contact * length || engine().has_plate(i)) {
      engine().take_gap(i);
      crossing_.push_back(i);
    } else if (engine().releases_by_gap(i) || engine().stop_force(i) > 0) {
      engage(i, {}, observer);
    } else {
      set_spring(i, Spring::recovering);
    }
  }
}

template <class Engine, class S, class State>
Outcome CompliantContacts<Engine, S, State>::meet(const Crossing& c, Observer* observer) {
  this->remember();
  if (const int spent = spent_stop(c.guard); spent >= 0) {
    lose_force(spent, 0, observer);
    return Outcome::ok;
  }
  const int i = stop_of(c.guard);
  if (i < 0) return Frictions::meet(c, observer);
  if (closed(i)) return this->meet_bound(c.guard, observer);
  if (spring(i) == Spring::engaged && c.guard == i && ends_by_force(i)) {
    lose_force(i, c.slope, observer);
    return Outcome::ok;
  }
  const bool was_open = spring(i) == Spring::open;
  const bool back = turns_back(i);
  if (!back) {
    crossing_.push_back(i);
  } else if (engine().preload(i) > 0) {
    leave(i, {}, observer);
    resting_.push_back(i);
  } else {
    still_.push_back(i);
  }
  const Outcome outcome = engine().settle(observer);
  if (back && was_open && spring(i) == Spring::open && !closed(i))
    tell(observer, EventKind::graze, i, snapshot(observer), value_of(time), 0);
  return outcome;
}

/// At δ = 0: whether the motion would not get further than rounding before it comes back.
template <class Engine, class S, class State>
bool CompliantContacts<Engine, S, State>::turns_back(int i) {
  const double side = spring(i) == Spring::open ? 1 : -1;
  const double v = side * value_of(engine().approach(i));
  const double a = side * engine().inward(i);
  return !(v > 0) || (!(a > 0) && v * v <= 2 * std::abs(a) * gap_rounding(i));
}

/// Whether an impact has made the force of a stop that only pushes negative.
template <class Engine, class S, class State>
bool CompliantContacts<Engine, S, State>::pulls(int i) {
  return !engine().releases_by_gap(i) && engine().stop_force(i) < -force_rounding(i);
}

/// Whether the first guard of an engaged stop, at zero, is a force that vanishes before δ does.
template <class Engine, class S, class State>
bool CompliantContacts<Engine, S, State>::ends_by_force(int i) {
  if (engine().releases_by_gap(i)) return false;
  return engine().watches_depth(i) ? penetration(i) > gap_rounding(i) || engine().preload(i) > 0
                                   : engine().stop_damping(i) > 0;
}

/// At δ = 0 to the side that the speed leads to; within an engaged stop: whether its force still pushes.
template <class Engine, class S, class State>
void CompliantContacts<Engine, S, State>::cross(int i, Observer* observer) {
  if (engine().has_plate(i)) {
    engine().take_gap(i);
  } else if (spring(i) != Spring::open && penetration(i) > gap_rounding(i)) {
    if (spring(i) == Spring::engaged && pulls(i)) end_contact(i, Spring::recovering, observer);
    return;
  }
  const S w = engine().approach(i);
  const double slow = slack * engine().speed();
  if (value_of(w) > slow) {
    engage(i, {1, w}, observer);
  } else if (value_of(w) < -slow) {
    leave(i, {1, -w}, observer);
  } else if (!(engine().preload(i) > 0)) {
    still_.push_back(i);
  } else if (!closed(i)) {
    leave(i, {}, observer);
    engine().kick(i, w);
    resting_.push_back(i);
  }
}

/// At δ = δ' = 0 without preload, all else being decided.
template <class Engine, class S, class State>
void CompliantContacts<Engine, S, State>::decide_still(int i, Observer* observer) {
  const Onset onset = engine().onset(i, engine().layout().with_spring(mode_, i, Spring::open), 2);
  const ExactTouch touch{onset.order > 0 ? onset.order : for_good, S(0)};
  if (onset.coefficient < 0) {
    engage(i, touch, observer);
  } else {
    leave(i, touch, observer);
  }
}

/// What is known of the guards of an engaged stop where δ begins with a zero of this order.
template <class Engine, class S, class State>
void CompliantContacts<Engine, S, State>::set_depth(int i, const ExactTouch& depth) {
  first_touch(i) = second_touch(i) = {};
  if (engine().releases_by_gap(i)) {
    first_touch(i) = depth;
  } else if (engine().watches_depth(i)) {
    second_touch(i) = depth;
    if (engine().preload(i) > 0 || std::abs(value_of(engine().guard(i))) > force_rounding(i)) return;
    const int below = engine().stop_damping(i) > 0 ? 1 : 0;
    first_touch(i).order = depth.order == for_good ? for_good : std::max(0, depth.order - below);
  } else if (engine().stop_damping(i) > 0) {
    first_touch(i).order = depth.order == for_good ? for_good : std::max(0, depth.order - 1);
  } else {
    first_touch(i) = {depth.order, S(engine().stop_stiffness(i)) * depth.speed};
  }
}

template <class Engine, class S, class State>
void CompliantContacts<Engine, S, State>::tell_contact(EventKind kind, int i, Observer* observer) {
  if (observer == nullptr) return;
  Event event;
  event.kind = kind;
  event.contact = i;
  event.mode = mode_;
  const double approach = value_of(engine().approach(i));
  event.approach_speed = std::max(0.0, kind == EventKind::contact_begin ? approach : -approach);
  event.force = engine().stop_force(i);
  tell(observer, event, snapshot(observer), value_of(time));
}

template <class Engine, class S, class State>
void CompliantContacts<Engine, S, State>::engage(int i, const ExactTouch& depth, Observer* observer) {
  if (closed(i)) open(i, 0, observer);
  if (spring(i) != Spring::engaged) {
    tell_contact(EventKind::contact_begin, i, observer);
    set_spring(i, Spring::engaged);
  }
  set_depth(i, depth);
  engine().begin_force(i);
}

template <class Engine, class S, class State>
void CompliantContacts<Engine, S, State>::end_contact(int i, Spring to, Observer* observer) {
  if (spring(i) == Spring::engaged || spring(i) == Spring::parting)
    tell_contact(EventKind::contact_end, i, observer);
  set_spring(i, to);
  first_touch(i) = second_touch(i) = {};
}

/// The stop whose force, and so the friction that sticks on it, is used up at this guard of the friction; -1.
template <class Engine, class S, class State>
int CompliantContacts<Engine, S, State>::spent_stop(int guard) {
  const ModeLayout layout = engine().layout();
  const int k = (guard - static_cast<int>(layout.contacts)) / 2;
  if (guard < engine().count() || k >= static_cast<int>(layout.frictions)) return -1;
  const int i = engine().friction_stop(k);
  if (i < 0 || spring(i) != Spring::engaged || layout.sliding(mode_, k) != Sliding::stuck) return -1;
  const double size =
      engine().stop_stiffness(i) * engine().reach(i) + engine().stop_damping(i) * engine().speed();
  return engine().stop_force(i) <= slack * size ? i : -1;
}

/// The gap opens, with a zero of this order.
template <class Engine, class S, class State>
void CompliantContacts<Engine, S, State>::leave(int i, const ExactTouch& gap, Observer* observer) {
  if (closed(i)) {
    open(i, gap.order, observer);
    mode_ = engine().layout().with_idle(mode_, i, false);
  }
  end_contact(i, Spring::open, observer);
  first_touch(i) = gap;
}

/// The force of engaged stop i is at zero.
template <class Engine, class S, class State>
void CompliantContacts<Engine, S, State>::lose_force(int i, double slope, Observer* observer) {
  // Of a stiff stop the slope is certain where its series is lost in rounding.
  const Onset onset = slope < 0 ? Onset{1, slope} : engine().onset(i, mode_, 1);
  if (onset.coefficient < 0 && engine().has_plate(i)) {
    engine().take_gap(i);
    leave(i, {onset.order + 1, S(0)}, observer);
  } else if (onset.coefficient < 0) {
    end_contact(i, Spring::recovering, observer);
  } else {
    first_touch(i).order = onset.order > 0 ? onset.order : for_good;
  }
  this->tell_changes(observer);
}

template <class Engine, class S, class State>
void CompliantContacts<Engine, S, State>::jumped() {
  Frictions::jumped();
  for (int i = 0; i < engine().count(); ++i) {
    if (!engine().compliant(i)) continue;
    const bool known = first_touch(i).order > 0 || second_touch(i).order > 0;
    if (!closed(i) && !known && spring(i) != Spring::engaged) continue;
    if (penetration(i) > gap_rounding(i)) first_touch(i) = {};  // a force that only touched zero
    crossing_.push_back(i);
  }
}

template <class Engine, class S, class State>
Outcome CompliantContacts<Engine, S, State>::settle(Observer* observer) {
  for (const int i : std::exchange(crossing_, {})) cross(i, observer);
  const Outcome outcome = Frictions::settle(observer);
  if (outcome != Outcome::ok) return outcome;
  const std::int64_t before = mode_;
  for (const int i : std::exchange(still_, {})) decide_still(i, observer);
  return engine().layout().frictions > 0 && mode_ != before ? Frictions::settle(observer) : Outcome::ok;
}

/// At rest on the abutment, pressed by the whole preload: the body goes on into the stop. Where others hold
/// it there the stop presses with its preload.
template <class Engine, class S, class State>
void CompliantContacts<Engine, S, State>::press_in(int i, const RestForce& force, Observer* observer) {
  mode_ = engine().layout().with_idle(mode_, i, false);
  engage(i, {force.held ? for_good : force.moves_by_rate() ? 3 : 2, S(0)}, observer);
}

template <class Engine, class S, class State>
void CompliantContacts<Engine, S, State>::keep_below(int i, const RestForce& force) {
  if (!engine().compliant(i)) return;
  const double left = engine().preload(i) - force.force;
  second_touch(i) = {!force.held && force.leaves_bound(left, -force.force_rate) ? 1 : 0, S(0)};
}

/// A force at its bound, by no more than rounding: whether it only touches it.
template <class Engine, class S, class State>
void CompliantContacts<Engine, S, State>::pass_bound(int guard, Observer* observer) {
  const int i = stop_of(guard);
  if (i < 0 || guard == i) {
    Frictions::pass_bound(guard, observer);
    return;
  }
  const Onset onset = engine().onset(guard, mode_, 1);
  if (onset.coefficient < 0) {
    engage(i, {onset.order + 2, S(0)}, observer);
  } else {
    second_touch(i) = {onset.order > 0 ? onset.order : for_good, S(0)};
  }
}

}  // namespace graze
