/// The rules of dry friction beside rigid contacts, and by their forces.
///
///     first guard at zero ──▶ impact │ a force at its bound │ a sliding speed at zero ──▶ settle ──▶ x⁺
///
/// Rules at an instant, beyond those of core/newton_contacts (each has its test):
/// - Impact: friction is finite and passes no impulse on. Velocities jump by Newton's law as if there were
///   none; then the signs of the sliding speeds are read again. A body that stuck and is moved slides.
/// - Settle: all contacts at rest and all frictions that do not slide are decided at once, by
///   core/contact/dry_friction: which hold, which slide or open and to which side. So stick, reversal and
///   going on after a touch of zero speed are one rule, and a force that passes its bound is another case.
/// - A body at rest on its stop stays there until all friction that can hold it is used up: the contact is
///   closed so long. A stop that carries nothing meanwhile is closed and idle.
/// - Events: slip_to_stick when a sliding speed comes to zero and stays, whatever holds the body;
///   stick_to_slip; slip_reversal, also by an impact. A start at rest begins with slip_to_stick, as one on a
///   stop does with stick.
/// - Where a slip has no speed because its direction vanishes the bodies go on, and its sign turns.
/// - Friction by the force of a rigid contact is there while this is closed. Where it has no speed all is
///   tried that it may do: it sticks within its cone, slides either way, or its contact opens. None of these,
///   or two with different contacts closed, are Outcome::painleve. In an impact it passes an impulse on (the
///   engine's law).
/// - Friction that sticks until the force of its contact ends has its stick_to_slip there.
/// - Corner: where a sliding speed just touches zero the motion has two one-sided derivatives, of sliding on
///   and of a stick that ends where the force has grown again; at the corner itself one of them is told.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/contact/dry_friction.hpp"
#include "core/contact/friction_mode.hpp"
#include "core/contact/newton_contacts.hpp"

namespace graze {

/// An engine derives from this and provides, beyond what NewtonContacts asks for,
///
///     ModeLayout layout() const
///     bool rubs(int k) const                        whether there is friction k now
///     bool shares(int k) const                      it is a share of the force of a rigid contact
///     int friction_contact(int k) const             of this one
///     double share_at_rest(int k) const             greatest, at rest
///     bool turns_in_passing(int k) const            its direction vanishes: the bodies go on, its sign turns
///     bool singular(int guard) const                whether it is that of a contact that no force holds
///     bool eases(int k) const                       whether it is weaker sliding than at rest
///     S sliding_speed(int k) const
///     bool of_force(int guard) const                whether it is a force that something at rest needs
///     bool held(int k)                              does not slide in this mode though at its bound
///     RestProblem rest_problem(contacts, frictions) these at rest, in this order
///     void stop_sliding(contacts, frictions)        the speeds of these frictions, zero but for rounding,
///                                                   exactly to zero
template <class Engine, class S, class State>
class FrictionContacts : public NewtonContacts<Engine, S, State> {
 public:
  using Contacts = NewtonContacts<Engine, S, State>;
  using Loop = typename Contacts::Loop;

 protected:
  friend Contacts;
  friend Loop;
  using Contacts::resting_;
  using Loop::close;
  using Loop::closed;
  using Loop::mode_;
  using Loop::open;
  using Loop::snapshot;
  using Loop::tell;
  using Loop::time;
  using Loop::touches_;

  using Contacts::Contacts;
  Outcome start(Observer* observer);
  Outcome meet(const Crossing& c, Observer* observer);
  void jumped();
  Outcome hold(Observer* observer);
  Outcome settle(Observer* observer);

  /// Whether forces that hold have bounds; an engine may have more of these than frictions.
  bool bounded() { return frictions() > 0; }
  bool shares(int) const { return false; }
  bool singular(int) const { return false; }
  bool turns_in_passing(int) const { return false; }
  int friction_contact(int) const { return -1; }
  double share_at_rest(int) const { return 0; }
  /// Contact i at rest is pressed by more than it can hold, or holds with what is left to that; of contacts
  /// with such a bound.
  void press_in(int, const RestForce&, Observer*) {}
  void keep_below(int, const RestForce&) {}
  void remember();
  Outcome meet_bound(int guard, Observer* observer);
  void pass_bound(int guard, Observer* observer);
  /// Wherever rubs() may have changed: the mode has exactly the frictions that are there.
  void begin_and_end_frictions();
  bool rests(int k) { return engine().layout().sliding(mode_, k) == Sliding::stuck || engine().held(k); }
  /// What frictions do is decided at once and told last: with these as they were when this instant began.
  std::int64_t mode_told() const {
    const ModeLayout layout = static_cast<const Engine*>(this)->layout();
    std::int64_t mode = mode_;
    for (std::int64_t k = 0; k < layout.frictions; ++k)
      mode = layout.with(mode, k, layout.sliding(begun_, k));
    return mode;
  }
  /// What frictions do otherwise than at the beginning of this instant.
  void tell_changes(Observer* observer);

 private:
  static constexpr double slack = 1e-13;  // sliding speed that is zero, relative to the greatest speed

  Engine& engine() { return static_cast<Engine&>(*this); }
  int frictions() { return static_cast<int>(engine().layout().frictions); }
  Sliding slides(int k) {
    return value_of(engine().sliding_speed(k)) < 0 ? Sliding::backward : Sliding::forward;
  }
  void set_sliding(int k, Sliding sliding);
  /// What it does; stuck: at rest, whatever holds.
  Sliding does(int k) {
    const Sliding sliding = engine().layout().sliding(mode_, k);
    return sliding != Sliding::absent && rests(k) ? Sliding::stuck : sliding;
  }
  /// How the bodies at rest go on; nothing where that has no or no single answer.
  using RestForces = std::optional<std::vector<RestForce>>;
  RestForces rest(const std::vector<int>& contacts, const std::vector<int>& still);
  RestForces try_rest(const std::vector<int>& contacts, const std::vector<int>& still);
  bool obeys_share(int k, RestForce& friction, const RestForce& contact) const;
  std::vector<int> contacts_at_rest() const;
  int friction_met();
  void turn(int k);
  std::vector<int> frictions_at_rest(const std::vector<int>& contacts);
  void decide_contact(int i, const RestForce& force, Observer* observer);
  void decide_by_series(const std::vector<int>& contacts, Observer* observer);
  void decide_friction(int k, const RestForce& force);
  bool break_away(const std::vector<RestForce>& forces, std::size_t contacts, std::vector<int>& still);
  void touch(std::int64_t guard, int order) { touches_[static_cast<std::size_t>(guard)] = {order, S(0)}; }

  int fired_ = -1;               ///< guard of a force or of a sliding speed that brought us here
  std::int64_t begun_ = 0;       ///< mode when this instant began
  std::vector<Sliding> before_;  ///< what they did when this instant began, or were last told to
};

template <class Engine, class S, class State>
void FrictionContacts<Engine, S, State>::remember() {
  fired_ = -1;
  begun_ = mode_;
  before_.clear();
  for (int k = 0; k < frictions(); ++k) before_.push_back(does(k));
}

template <class Engine, class S, class State>
Outcome FrictionContacts<Engine, S, State>::start(Observer* observer) {
  fired_ = -1;
  begun_ = mode_;
  before_.assign(static_cast<std::size_t>(frictions()), Sliding::absent);
  return Contacts::start(observer);
}

template <class Engine, class S, class State>
Outcome FrictionContacts<Engine, S, State>::meet(const Crossing& c, Observer* observer) {
  if (!engine().bounded()) return Contacts::meet(c, observer);
  remember();
  if (c.guard < engine().count() && !closed(c.guard)) return Contacts::meet(c, observer);
  return meet_bound(c.guard, observer);
}

/// A force at its bound, or a sliding speed at zero.
template <class Engine, class S, class State>
Outcome FrictionContacts<Engine, S, State>::meet_bound(int guard, Observer* observer) {
  if (engine().singular(guard)) return Outcome::painleve;
  fired_ = guard;
  const std::int64_t before = mode_;
  const Outcome outcome = engine().settle(observer);
  if (mode_ == before && engine().of_force(guard)) engine().pass_bound(guard, observer);
  return outcome;
}

/// A force at its bound, by no more than rounding: whether it only touches it.
template <class Engine, class S, class State>
void FrictionContacts<Engine, S, State>::pass_bound(int guard, Observer* observer) {
  const Onset onset = engine().onset(guard, mode_, 1);
  if (!(onset.coefficient < 0)) {
    touch(guard, onset.order > 0 ? onset.order : for_good);
  } else if (guard < engine().count()) {
    open(guard, onset.order + 2, observer);
    begin_and_end_frictions();
    tell_changes(observer);
  } else {
    const int k = (guard - engine().count()) / 2;
    const bool forward = (guard - engine().count()) % 2 == 0;
    set_sliding(k, forward ? Sliding::forward : Sliding::backward);
    for (int j = 0; j < frictions(); ++j) {  // and those that it held
      const bool begins = before_[static_cast<std::size_t>(j)] == Sliding::stuck && does(j) != Sliding::stuck;
      if (begins) touch(engine().layout().contacts + 2 * j, onset.order + 1);
    }
    tell_changes(observer);
  }
}

/// Friction k from now on.
template <class Engine, class S, class State>
void FrictionContacts<Engine, S, State>::set_sliding(int k, Sliding sliding) {
  const ModeLayout layout = engine().layout();
  mode_ = layout.with(mode_, k, sliding);
  touch(layout.contacts + 2 * k, 0);
  touch(layout.contacts + 2 * k + 1, 0);
}

/// Reads the signs of the sliding speeds; what has no speed is left to settle().
template <class Engine, class S, class State>
void FrictionContacts<Engine, S, State>::jumped() {
  if (frictions() == 0) return;
  begin_and_end_frictions();
  const double slow = slack * engine().speed();
  for (int k = 0; k < frictions(); ++k) {
    if (engine().rubs(k) && std::abs(value_of(engine().sliding_speed(k))) > slow) set_sliding(k, slides(k));
  }
}

/// Those that are there only now slide, until settle() has decided those without a speed; those that are
/// there no more end.
template <class Engine, class S, class State>
void FrictionContacts<Engine, S, State>::begin_and_end_frictions() {
  for (int k = 0; k < frictions(); ++k) {
    const bool there = engine().layout().sliding(mode_, k) != Sliding::absent;
    if (there != engine().rubs(k)) set_sliding(k, there ? Sliding::absent : slides(k));
  }
}

template <class Engine, class S, class State>
std::vector<int> FrictionContacts<Engine, S, State>::contacts_at_rest() const {
  std::vector<int> contacts = resting_;
  for (int i = 0; i < static_cast<const Engine*>(this)->count(); ++i) {
    if (closed(i)) contacts.push_back(i);
  }
  return contacts;
}

/// The friction that rubs and whose sliding speed has come to zero; -1: none.
template <class Engine, class S, class State>
int FrictionContacts<Engine, S, State>::friction_met() {
  const int guard = fired_ - static_cast<int>(engine().layout().contacts);
  const int k = guard / 2;
  return guard >= 0 && guard % 2 == 0 && k < frictions() && engine().rubs(k) ? k : -1;
}

template <class Engine, class S, class State>
void FrictionContacts<Engine, S, State>::turn(int k) {
  const ModeLayout layout = engine().layout();
  set_sliding(k, layout.sliding(mode_, k) == Sliding::forward ? Sliding::backward : Sliding::forward);
  touch(layout.contacts + 2 * k, 1);
}

/// Those without a sliding speed. The one that was met turns in passing, or brings those to rest that rub
/// along the same direction, whatever rounding leaves of their speeds.
template <class Engine, class S, class State>
std::vector<int> FrictionContacts<Engine, S, State>::frictions_at_rest(const std::vector<int>& contacts) {
  const int met = friction_met();
  const bool comes_to_rest = met >= 0 && !rests(met);
  const bool turns = comes_to_rest && engine().turns_in_passing(met);
  if (comes_to_rest && !turns && frictions() > 1) engine().stop_sliding(contacts, {met});
  std::vector<int> found;
  const double slow = slack * engine().speed();
  for (int k = 0; k < frictions(); ++k) {
    if (!engine().rubs(k) || (turns && k == met)) continue;
    if (k == met || rests(k) || std::abs(value_of(engine().sliding_speed(k))) <= slow) found.push_back(k);
  }
  if (turns) turn(met);
  return found;
}

template <class Engine, class S, class State>
Outcome FrictionContacts<Engine, S, State>::hold(Observer* observer) {
  if (!engine().bounded()) return Contacts::hold(observer);
  const std::vector<int> contacts = contacts_at_rest();
  begin_and_end_frictions();
  std::vector<int> still = frictions_at_rest(contacts);
  resting_.clear();
  if (!contacts.empty() || !still.empty()) {
    engine().stop_sliding(contacts, still);
    RestForces forces = rest(contacts, still);
    while (forces && break_away(*forces, contacts.size(), still)) forces = rest(contacts, still);
    if (!forces) return Outcome::painleve;
    for (std::size_t k = 0; k < still.size(); ++k) decide_friction(still[k], (*forces)[contacts.size() + k]);
    for (std::size_t k = 0; k < contacts.size(); ++k) decide_contact(contacts[k], (*forces)[k], observer);
    std::vector<int> undecided;
    for (std::size_t k = 0; k < contacts.size(); ++k) {
      if ((*forces)[k].undecided()) undecided.push_back(contacts[k]);
    }
    decide_by_series(undecided, observer);
    for (const int i : contacts) {
      if (closed(i)) engine().put_on(i);
    }
    begin_and_end_frictions();
  }
  return Outcome::ok;
}

/// All that frictions by the forces of rigid contacts may do is tried.
template <class Engine, class S, class State>
auto FrictionContacts<Engine, S, State>::rest(const std::vector<int>& contacts, const std::vector<int>& still)
    -> RestForces {
  std::vector<int> undecided;
  for (const int k : still) {
    if (engine().shares(k)) undecided.push_back(k);
  }
  if (undecided.empty()) return try_rest(contacts, still);
  constexpr Sliding choices[] = {Sliding::stuck, Sliding::forward, Sliding::backward};
  constexpr std::size_t most_tried = 6;  // 729 trials
  if (undecided.size() > most_tried) return std::nullopt;
  RestForces found;
  std::int64_t found_mode = mode_;
  std::size_t trials = 1;
  for (std::size_t k = 0; k < undecided.size(); ++k) trials *= std::size(choices);
  for (std::size_t trial = 0; trial < trials; ++trial) {
    std::size_t left = trial;
    for (const int k : undecided) {
      mode_ = engine().layout().with(mode_, k, choices[left % std::size(choices)]);
      left /= std::size(choices);
    }
    RestForces forces = try_rest(contacts, still);
    if (!forces) continue;
    if (!found) {
      found = std::move(forces);
      found_mode = mode_;
    } else if (!std::equal(found->begin(), found->begin() + static_cast<std::ptrdiff_t>(contacts.size()),
                           forces->begin(), [](const RestForce& a, const RestForce& b) {
                             return a.place == b.place || a.undecided() || b.undecided();
                           })) {
      return std::nullopt;
    }
  }
  mode_ = found_mode;
  return found;
}

/// With frictions by the forces of rigid contacts as the mode says; nothing where they would not do that.
template <class Engine, class S, class State>
auto FrictionContacts<Engine, S, State>::try_rest(const std::vector<int>& contacts,
                                                  const std::vector<int>& still) -> RestForces {
  RestForces forces = rest_forces(engine().rest_problem(contacts, still), engine().fastest_rate());
  for (std::size_t k = 0; forces && k < still.size(); ++k) {
    if (!engine().shares(still[k])) continue;
    const auto contact = std::find(contacts.begin(), contacts.end(), engine().friction_contact(still[k]));
    const std::size_t place = static_cast<std::size_t>(contact - contacts.begin());
    if (!obeys_share(still[k], (*forces)[contacts.size() + k], (*forces)[place])) return std::nullopt;
  }
  return forces;
}

/// Whether a friction that sticks is within its cone, one that slides goes that way; tells its place then.
template <class Engine, class S, class State>
bool FrictionContacts<Engine, S, State>::obeys_share(int k, RestForce& friction,
                                                     const RestForce& contact) const {
  const Engine& engine = static_cast<const Engine&>(*this);
  const Sliding sliding = engine.layout().sliding(mode_, k);
  const double share = engine.share_at_rest(k);
  friction.most = share * contact.force;
  friction.most_rate = share * contact.force_rate;
  if (sliding == Sliding::stuck) {
    friction.place = RestForce::Place::free;
    const double needed = std::abs(friction.force);
    const bool unloaded = friction.most <= share * contact.force_rounding;
    return needed <= friction.most * (1 + slack) || (unloaded && needed <= friction.force_rounding);
  }
  const bool forward = sliding == Sliding::forward;
  friction.place = forward ? RestForce::Place::most : RestForce::Place::least;
  if (contact.place != RestForce::Place::free) return true;
  const double along = forward ? -friction.acceleration : friction.acceleration;
  if (std::abs(along) > friction.acceleration_rounding) return along > 0;
  return (forward ? -friction.acceleration_rate : friction.acceleration_rate) >= 0;
}

/// Frictions that are weaker sliding than at rest, and slide from now on, leave `still`: what is left to rest
/// does so with their force of sliding.
/// @return whether there are some
template <class Engine, class S, class State>
bool FrictionContacts<Engine, S, State>::break_away(const std::vector<RestForce>& forces,
                                                    std::size_t contacts, std::vector<int>& still) {
  std::vector<int> left;
  for (std::size_t k = 0; k < still.size(); ++k) {
    const RestForce& f = forces[contacts + k];
    if (engine().shares(still[k]) || !engine().eases(still[k]) || f.place == RestForce::Place::free ||
        f.held) {
      left.push_back(still[k]);
      continue;
    }
    decide_friction(still[k], f);
    touch(engine().layout().contacts + 2 * still[k], 1);
  }
  std::swap(still, left);
  return still.size() < left.size();
}

template <class Engine, class S, class State>
Outcome FrictionContacts<Engine, S, State>::settle(Observer* observer) {
  const Outcome outcome = hold(observer);
  if (outcome == Outcome::ok) tell_changes(observer);
  return outcome;
}

template <class Engine, class S, class State>
void FrictionContacts<Engine, S, State>::decide_contact(int i, const RestForce& f, Observer* observer) {
  if (f.place == RestForce::Place::most) {
    engine().press_in(i, f, observer);
    return;
  }
  const bool stays = f.place == RestForce::Place::free || f.held;
  mode_ = engine().layout().with_idle(mode_, i, f.held);
  if (f.undecided()) return;
  if (!stays) {
    open(i, 2, observer);
    return;
  }
  if (!closed(i)) close(i, observer, value_of(time));
  touch(i, !f.held && f.leaves_bound(f.force, f.force_rate) ? 1 : 0);
  engine().keep_below(i, f);
}

/// Neither a force presses these bodies onto their contacts nor off them: all else being decided, of each the
/// first derivative that does not vanish does.
template <class Engine, class S, class State>
void FrictionContacts<Engine, S, State>::decide_by_series(const std::vector<int>& contacts,
                                                          Observer* observer) {
  const ModeLayout layout = engine().layout();
  std::int64_t decided = mode_;
  for (const int i : contacts) decided &= ~(std::int64_t{1} << i);
  for (const int i : contacts) {
    const Onset onset = engine().onset(i, decided, 2);
    if (onset.coefficient > 0) {
      open(i, onset.order, observer);
      continue;
    }
    const bool idle = onset.order == 0;
    decided = layout.with_idle(decided | (std::int64_t{1} << i), i, idle);
    mode_ = layout.with_idle(mode_, i, idle);
    if (!closed(i)) close(i, observer, value_of(time));
    touch(i, idle ? 0 : onset.order - 2);
  }
}

template <class Engine, class S, class State>
void FrictionContacts<Engine, S, State>::decide_friction(int k, const RestForce& f) {
  const std::int64_t guard = engine().layout().contacts + 2 * k;
  if (f.place == RestForce::Place::free) {
    set_sliding(k, Sliding::stuck);
    if (f.leaves_bound(f.most - f.force, f.most_rate - f.force_rate)) touch(guard, 1);
    if (f.leaves_bound(f.most + f.force, f.most_rate + f.force_rate)) touch(guard + 1, 1);
    return;
  }
  set_sliding(k, f.place == RestForce::Place::most ? Sliding::forward : Sliding::backward);
  if (!f.held) touch(guard, f.moves_by_rate() ? 2 : 1);
}

template <class Engine, class S, class State>
void FrictionContacts<Engine, S, State>::tell_changes(Observer* observer) {
  if (observer == nullptr || frictions() == 0) return;
  const auto now = snapshot(observer);
  for (int k = 0; k < frictions(); ++k) {
    const Sliding after = does(k);
    const Sliding before = std::exchange(before_[static_cast<std::size_t>(k)], after);
    const bool begins_or_ends = before == Sliding::absent || after == Sliding::absent;
    const bool sticks = before == Sliding::stuck || after == Sliding::stuck;
    if (after == before || (begins_or_ends && !sticks)) continue;
    Event event;
    event.kind = after == Sliding::stuck    ? EventKind::slip_to_stick
                 : before == Sliding::stuck ? EventKind::stick_to_slip
                                            : EventKind::slip_reversal;
    event.friction = k;
    event.mode = mode_told();
    event.approach_speed = std::numeric_limits<double>::quiet_NaN();
    tell(observer, event, now, value_of(time));
  }
}

}  // namespace graze
