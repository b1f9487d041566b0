/// The rules of rigid contacts, whatever moves between them; friction of theirs is up to the engine.
///
///     first guard at zero ──▶ impact | release | graze ──▶ chatter complete? ──▶ settle ──▶ x⁺
///
/// Rules at an instant (each has its test):
/// - Impact: a gap reaches zero with approach speed w > 0. All contacts at zero gap take part: closed ones,
///   open ones that approach or where a body has just come to rest. Their normal velocities after obey
///   0 ≤ Λ ⊥ u⁺ + r u⁻ ≥ 0 (Newton's law for each that carries an impulse, in no particular order); a stop on
///   one coordinate of a system with diagonal mass changes that coordinate only.
/// - Graze: the gap touches zero and would not have gone deeper than rounding. The velocity loses its normal
///   part, nothing else happens.
/// - An impact is told before what it frees: a release at the same instant.
/// - After an impact a sequence that certainly accumulates is completed (core/chatter). Where that, or the
///   impact, changes the speed of a body that leaves another contact at this instant, that one counts as it
///   is now, and is hit again if it is approached.
/// - Settle: contacts at zero gap and zero normal speed stay closed where that takes a pressing force, and
///   open otherwise: 0 ≤ λ ⊥ g'' ≥ 0. Where both are zero the same is asked of the next derivatives, one
///   after the other; a body that none of them moves rests on its contact without a force.
///   A contact whose body others hold already stays closed without a force of its own: the motion is the same
///   whichever of them carries.
/// - Release: the force of a closed contact falls through zero. A force that only touches zero goes on. Where
///   others are closed without a force, all of them settle anew.
/// - A start on a contact is put exactly on it: approaching it is an impact at the start, at rest it settles,
///   leaving it leaves. An impact at the very instant of a section belongs to the iterate that ends there.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/contact/chatter.hpp"
#include "core/contact/motion_loop.hpp"
#include "core/contact/resting.hpp"
#include "core/math/complementarity.hpp"
#include "core/math/elimination.hpp"

namespace graze {

/// Guard i of such a motion is the gap of contact i while it is open, its contact force while it is closed.
/// An engine derives from this and provides, beyond what the loop asks for,
///
///     int count() const                      contacts
///     bool exists(int i) const               false: switched off, or no rigid contact
///     bool has_gap(int i) const              rigid or compliant, and open
///     bool reaches(int i) const              false: the gap means nothing here, a body passes by
///     void pass_by(int i)                    it does
///     S gap(int i), S approach(int i)        at the state; approach = −d gap/dt
///     double reach(int i)                    size of the terms in the gap: what its rounding is a share of
///     double length() const, speed() const   size of the positions and velocities
///     S restitution(int i)
///     void kick(int i, S speed)              an impulse that adds `speed` to the opening speed of contact i,
///                                            with the other closed contacts held
///     S response(int i, int j)               change of opening speed i per strike j
///     pressing(int i)                        a = −d²gap/dt² in the mode, 0 = d gap/dt; S or its value
///     Rebound<S> rebound(int i, S speed)     what core/chatter asks of a contact
///     void pass_on(int i, S integral)        what the rest of the system felt of ∫ gap dt
///     Onset onset(int i, mode, int from)     of guard i in that mode, from this order on
///     bool tells_idle() const, bool idle(int i) const, void set_idle(int i, bool idle)
///                                            closed without a force of its own, where its modes tell that
///
/// and where more than contacts is to be decided in an instant, instead of the ones below
///
///     void jumped()                          velocities have changed
///     Outcome hold(observer)                 what holds from now on
///     Outcome settle(observer)               the same at the end of the instant
///     bool rough(int i) const                whether impulses of contact i have friction
///     std::optional<S> strike_rough(int i, S speed)    an impact with it: the opening speed after
///     void impacts_told(observer)            of this instant, to the observer
///     void follow_chatter(int i, rebound, observer)    completes a sequence that is not steady
template <class Engine, class S, class State>
class NewtonContacts : public MotionLoop<Engine, S, State> {
 public:
  using Loop = MotionLoop<Engine, S, State>;

  /// System::end_leg, for the directions from `first` on.
  Outcome end_leg(LegEnd& end, Eigen::Index first);

 protected:
  friend Loop;
  using Loop::close;
  using Loop::closed;
  using Loop::mode_;
  using Loop::open;
  using Loop::settled_;
  using Loop::snapshot;
  using Loop::tell;
  using Loop::time;
  using Loop::tolerance_;
  using Loop::touches_;
  using typename Loop::ExactTouch;

  using Loop::Loop;
  bool hits(int contact, const Crossing& c) const {
    return contact == c.guard && !closed(contact) && engine().reaches(contact);
  }
  /// Whether a gap that is not positive at a start belongs to the other side; an engine may say otherwise.
  bool behind(int i) const { return !engine().reaches(i); }
  /// As kick, with no contact held; likewise.
  void strike(int i, const S& speed) { engine().kick(i, speed); }
  /// Whether the gap is just about to mean nothing, but for rounding; likewise.
  bool at_end(int) const { return false; }
  /// A fresh start: stops that are no rigid contacts; likewise.
  void enter(Observer*) {}
  /// The fastest rate of the motion as it goes now; likewise.
  double rate_now() { return engine().fastest_rate(); }
  /// Likewise.
  bool rough(int) const { return false; }
  std::optional<S> strike_rough(int, const S&) { return std::nullopt; }
  void impacts_told(Observer*) {}
  void follow_chatter(int, const Rebound<S>&, Observer*) {}
  bool tells_idle() const { return false; }
  bool idle(int) const { return false; }
  void set_idle(int, bool) {}
  Outcome start(Observer* observer);
  /// How the contacts stand at a state that has just been set, at a start or by a jump; touches are
  /// forgotten.
  Outcome stand(Observer* observer);
  void forget_touches() {
    std::fill(touches_.begin(), touches_.end(), ExactTouch{});
    resting_.clear();
  }
  Outcome meet(const Crossing& c, Observer* observer);
  /// Which way the gaps go that are told at a corner.
  enum class Gaps { rising_to_here, falling_from_here };
  void tell_corners(Gaps gaps, Observer* observer);
  void jumped() {}
  Outcome hold(Observer* observer);
  Outcome settle(Observer* observer) { return engine().hold(observer); }
  Outcome strike_as_prescribed(int i);
  bool passes(int guard) const {
    return guard < engine().count() && !closed(guard) && engine().exists(guard) && !Loop::heeds(guard);
  }

  static constexpr double digits = 8 * std::numeric_limits<double>::epsilon();
  double gap_rounding(int i) { return digits * engine().reach(i); }

  std::vector<int> resting_;  ///< contacts at zero gap and zero normal speed, to be settled

 private:
  struct Touching {
    int contact;
    S speed;               ///< of approach, before
    S left{0};             ///< what rounding has left of that at rest
    S rebound{0};          ///< of opening, after
    bool carries = false;  ///< an impulse
  };

  Engine& engine() { return static_cast<Engine&>(*this); }
  const Engine& engine() const { return static_cast<const Engine&>(*this); }
  /// Whether contact i is at zero gap and zero normal speed.
  bool at_rest_on(int i) const {
    return closed(i) || touches_[static_cast<std::size_t>(i)].order > 1 ||
           std::find(resting_.begin(), resting_.end(), i) != resting_.end();
  }
  /// Of where a flight ends.
  double flight_rounding() { return digits * engine().speed() / engine().fastest_rate(); }
  void part(int i, Observer* observer);
  Outcome hit(int i, Observer* observer);
  Outcome impulses(bool prescribed = false);
  /// Opening speed of one that carries no impulse. Where others strike elsewhere one at rest stays so,
  /// however slow the bodies are after it.
  S opened(const Touching& t) { return t.left - engine().approach(t.contact); }
  Outcome strike_with_friction(Touching& t);
  Outcome strike_alone(Touching& rubs);
  void gather(int i, double slow);
  Outcome strike_contacts(int i, bool met, double slow, Observer* observer);
  void complete_chatter(int i, Observer* observer);
  int read_rebounds(double slow);
  /// Whether contact i has just been left at a speed.
  bool leaves(int i) const {
    const ExactTouch& touch = touches_[static_cast<std::size_t>(i)];
    return !closed(i) && touch.order == 1 && touch.speed > S(0) && engine().exists(i);
  }
  bool leaves_some() const;
  void come_to_rest(int i);
  Outcome release(int i, Observer* observer);
  /// Whether contact i is at the end of its force, or idle beside one that is: the force that it may carry
  /// from now on begins at zero.
  bool is_relieved(int i) const {
    return std::find(relieved_.begin(), relieved_.end(), i) != relieved_.end();
  }

  std::vector<Touching> touching_;  ///< contacts that take part in an impact
  std::vector<int> relieved_;       ///< while these settle
};

template <class Engine, class S, class State>
Outcome NewtonContacts<Engine, S, State>::start(Observer* observer) {
  mode_ = 0;
  forget_touches();
  settled_ = true;
  engine().enter(observer);
  return stand(observer);
}

template <class Engine, class S, class State>
Outcome NewtonContacts<Engine, S, State>::stand(Observer* observer) {
  constexpr double slack = 1e-12;  // of speeds
  const int count = engine().count();
  engine().jumped();
  int approaching = -1;
  const double slow = slack * engine().speed();
  for (int i = 0; i < count; ++i) {
    if (!engine().exists(i) || !Loop::heeds(i)) continue;
    const double g = value_of(engine().gap(i));
    if (g <= 0 && engine().behind(i)) {
      if (g < 0) engine().pass_by(i);
      continue;
    }
    const double length = engine().reach(i) + engine().length();
    if (g < -behind_contact * length) return Outcome::bad_start;
    if (g > on_contact * length) {
      if (closed(i)) open(i, 0, observer);
      continue;
    }
    engine().put_on(i);
    const S w = engine().approach(i);
    const bool rests = std::abs(value_of(w)) <= slow;
    if (closed(i) && !rests) open(i, 1, observer);
    if (rests) {
      engine().kick(i, w);
      if (!closed(i)) resting_.push_back(i);
    } else if (w < S(0)) {
      touches_[static_cast<std::size_t>(i)] = {1, -w};
    } else if (approaching < 0) {
      approaching = i;
    }
  }
  if (approaching >= 0) return hit(approaching, observer);
  return engine().settle(observer);
}

template <class Engine, class S, class State>
Outcome NewtonContacts<Engine, S, State>::meet(const Crossing& c, Observer* observer) {
  if (c.guard >= engine().count()) {
    part(c.guard - engine().count(), observer);
    return Outcome::ok;
  }
  if (!closed(c.guard)) {
    for (int j = 0; engine().at_end(c.guard) && j < engine().count(); ++j) {
      if (!closed(j) || !engine().at_end(j)) continue;
      part(j, observer);  // the same instant seen from the other end
      return Outcome::ok;
    }
    if (engine().reaches(c.guard)) return hit(c.guard, observer);
    engine().pass_by(c.guard);
    touches_[static_cast<std::size_t>(c.guard)] = {1, S(0)};
    return Outcome::ok;
  }
  return release(c.guard, observer);
}

/// Open gaps that may be highest here, where an impact elsewhere or a jump turns them round.
template <class Engine, class S, class State>
void NewtonContacts<Engine, S, State>::tell_corners(Gaps gaps, Observer* observer) {
  for (int i = 0; observer != nullptr && observer->follows_gaps() && i < engine().count(); ++i) {
    if (!engine().has_gap(i) || touches_[static_cast<std::size_t>(i)].order > 0) continue;
    const S approach = engine().approach(i);
    if (!(gaps == Gaps::rising_to_here ? approach < S(0) : approach > S(0))) continue;
    observer->excursion(i, this->absolute(value_of(time)), value_of(engine().gap(i)));
  }
}

/// The force of closed contact i is zero.
template <class Engine, class S, class State>
Outcome NewtonContacts<Engine, S, State>::release(int i, Observer* observer) {
  for (int j = 0; j < engine().count(); ++j) {
    if (closed(j) && engine().idle(j)) relieved_.push_back(j);
  }
  if (!relieved_.empty()) {
    relieved_.push_back(i);
    const Outcome outcome = engine().settle(observer);
    relieved_.clear();
    return outcome;
  }
  const Onset onset = engine().onset(i, mode_ & ~(std::int64_t{1} << i), 3);
  if (onset.coefficient > 0) {
    open(i, onset.order, observer);
  } else {
    touches_[static_cast<std::size_t>(i)] = {onset.order > 0 ? onset.order - 2 : for_good, S(0)};
  }
  return Outcome::ok;
}

/// The foot of closed contact i has come to its end: nothing holds it any more. Where it is an end on an end,
/// the other one parts with it.
template <class Engine, class S, class State>
void NewtonContacts<Engine, S, State>::part(int i, Observer* observer) {
  constexpr double slack = 1e-13;
  open(i, 2, observer);
  if (value_of(engine().pressing(i)) > 0) engine().pass_by(i);
  for (int j = 0; j < engine().count(); ++j) {
    if (j == i || closed(j) || !engine().at_end(j)) continue;
    if (std::abs(value_of(engine().gap(j))) > slack * engine().reach(j)) continue;
    if (engine().approach(j) > S(0)) engine().pass_by(j);
    touches_[static_cast<std::size_t>(j)] = {1, S(0)};
  }
}

/// Contact i is met with its gap at zero.
template <class Engine, class S, class State>
Outcome NewtonContacts<Engine, S, State>::hit(int i, Observer* observer) {
  constexpr double slack = 1e-14;
  const double slow = slack * engine().speed();
  for (std::int64_t impacts = 0; impacts < tolerance_.events; ++impacts) {
    const Outcome struck = strike_contacts(i, impacts == 0, slow, observer);
    if (struck != Outcome::ok) return struck;
    i = read_rebounds(slow);
    if (i >= 0) continue;
    if (!resting_.empty() && leaves_some()) {  // what comes to rest is held while another one chatters
      const Outcome held = engine().hold(observer);
      if (held != Outcome::ok) return held;
    }
    for (int k = 0; k < engine().count(); ++k) complete_chatter(k, observer);
    i = read_rebounds(slow);
    if (i >= 0) continue;
    const Outcome settled = engine().settle(observer);
    tell_corners(Gaps::falling_from_here, observer);
    return settled;
  }
  return Outcome::event_limit;
}

/// All that take part in an impact of contact i. An open one that bodies just leave, whose flight from it is
/// lost in rounding, counts as left at this instant, as in a corner.
template <class Engine, class S, class State>
void NewtonContacts<Engine, S, State>::gather(int i, double slow) {
  for (int j = 0; j < engine().count(); ++j) {
    if (!engine().exists(j) || (j != i && !engine().reaches(j))) continue;
    const bool rest = j != i && at_rest_on(j);
    if (j != i && !rest) {
      if (!(std::abs(value_of(engine().gap(j))) <= gap_rounding(j) + flight_rounding())) continue;
      const S approach = engine().approach(j);
      if (value_of(approach) < -slow) touches_[static_cast<std::size_t>(j)] = {1, -approach};
      if (!(approach > S(0))) continue;
    }
    if (j != i) engine().put_on(j);
    const S speed = engine().approach(j);
    touching_.push_back(rest ? Touching{j, S(0), speed} : Touching{j, speed});
  }
}

/// Impulses of all that meet, contact i among them; a graze is without. met: after a flight, whose end is
/// known but for rounding, not by an impulse in this instant.
template <class Engine, class S, class State>
Outcome NewtonContacts<Engine, S, State>::strike_contacts(int i, bool met, double slow, Observer* observer) {
  engine().put_on(i);
  touching_.clear();
  const auto before = snapshot(observer);
  const S w = engine().approach(i);
  const double a = value_of(engine().pressing(i));
  if (!(w > S(0)) || (met && !(a > 0) && value_of(w) * value_of(w) <= 2 * std::abs(a) * gap_rounding(i))) {
    come_to_rest(i);
    tell(observer, EventKind::graze, i, before, value_of(time), std::max(0.0, value_of(w)));
    return Outcome::ok;
  }
  gather(i, slow);
  resting_.clear();
  const Outcome outcome = impulses();
  if (outcome != Outcome::ok) return outcome;
  engine().jumped();
  for (const Touching& t : touching_) {
    if (!(t.speed > S(0))) continue;
    tell(observer, EventKind::impact, t.contact, before, value_of(time), value_of(t.speed));
  }
  engine().impacts_told(observer);
  for (const Touching& t : touching_) {
    const bool was_closed = closed(t.contact);
    if (value_of(t.rebound) > (t.carries ? 0 : slow)) {  // r w has no rounding
      if (was_closed) open(t.contact, 1, observer);
      engine().set_idle(t.contact, false);
      touches_[static_cast<std::size_t>(t.contact)] = {1, t.rebound};
    } else if (!was_closed) {
      come_to_rest(t.contact);
    }
  }
  return Outcome::ok;
}

template <class Engine, class S, class State>
bool NewtonContacts<Engine, S, State>::leaves_some() const {
  for (int i = 0; i < engine().count(); ++i) {
    if (leaves(i)) return true;
  }
  return false;
}

/// Takes what rounding left of the speed at contact i, to be settled.
template <class Engine, class S, class State>
void NewtonContacts<Engine, S, State>::come_to_rest(int i) {
  engine().kick(i, engine().approach(i));
  touches_[static_cast<std::size_t>(i)] = {};
  resting_.push_back(i);
}

/// Coupled bodies: what strikes one of them, or stops it at the end of its chatter, changes the speeds at
/// which others just leave; that of one hit alone is known. Speeds up to `slow` are none but for rounding.
/// @return a contact that does not leave any more but is approached; −1: none
template <class Engine, class S, class State>
int NewtonContacts<Engine, S, State>::read_rebounds(double slow) {
  const int known = touching_.size() == 1 ? touching_.front().contact : -1;
  int approached = -1;
  for (int i = 0; i < engine().count(); ++i) {
    if (i == known || !leaves(i)) continue;
    const S w = engine().approach(i);
    if (std::abs(value_of(w)) <= slow) {
      come_to_rest(i);
    } else if (w < S(0)) {
      touches_[static_cast<std::size_t>(i)].speed = -w;
    } else if (approached < 0) {
      approached = i;
    }
  }
  return approached;
}

/// Contact i alone is hit, by prescription (core/course): also at no speed, or leaving, closed contacts hold
/// or are freed as when it is approached.
template <class Engine, class S, class State>
Outcome NewtonContacts<Engine, S, State>::strike_as_prescribed(int i) {
  touching_ = {{i, engine().approach(i)}};
  for (int j = 0; j < engine().count(); ++j) {
    if (j != i && closed(j)) touching_.push_back({j, S(0)});
  }
  return impulses(true);
}

/// By prescription: the time moves, the gap is told as it is there, whatever its sign.
template <class Engine, class S, class State>
Outcome NewtonContacts<Engine, S, State>::end_leg(LegEnd& end, Eigen::Index first) {
  const Outcome outcome = Loop::end_leg(end, first);
  if (outcome != Outcome::ok || end.kind == EventKind::section) return outcome;
  if (closed(end.contact)) return Outcome::bad_start;
  Loop::tell_end(end, first, engine().gap(end.contact), engine().approach(end.contact));
  if (end.kind != EventKind::impact) return Outcome::ok;
  engine().put_on(end.contact);
  settled_ = false;
  return strike_as_prescribed(end.contact);
}

/// Velocities after an impact: 0 ≤ Λ ⊥ u⁺ + r u⁻ ≥ 0 over the touching contacts, u = −approach speed.
template <class Engine, class S, class State>
Outcome NewtonContacts<Engine, S, State>::impulses(bool prescribed) {
  if (touching_.size() == 1) {
    Touching& t = touching_.front();
    t.carries = true;
    if (engine().rough(t.contact)) return strike_with_friction(t);
    t.rebound = engine().restitution(t.contact) * t.speed;
    engine().kick(t.contact, S(t.speed + t.rebound));
    return Outcome::ok;
  }
  const Eigen::Index n = static_cast<Eigen::Index>(touching_.size());
  Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic> G(n, n);
  Eigen::Matrix<S, Eigen::Dynamic, 1> q(n);
  Eigen::VectorXd deciding(n);
  for (Eigen::Index k = 0; k < n; ++k) {
    const Touching& t = touching_[static_cast<std::size_t>(k)];
    q(k) = -(S(1) + engine().restitution(t.contact)) * t.speed;
    deciding(k) = prescribed ? (k == 0 ? -1.0 : 0.0) : value_of(q(k));
    for (Eigen::Index j = 0; j < n; ++j) {
      G(k, j) = engine().response(t.contact, touching_[static_cast<std::size_t>(j)].contact);
    }
  }
  const auto impulses = impulses_of(G, q, deciding);
  if (!impulses) return Outcome::painleve;
  Touching* rubs = nullptr;
  for (std::size_t k = 0; k < touching_.size(); ++k) {
    touching_[k].carries = impulses->carries[k];
    if (touching_[k].carries && engine().rough(touching_[k].contact)) rubs = &touching_[k];
  }
  if (rubs != nullptr) return strike_alone(*rubs);
  for (std::size_t k = 0; k < touching_.size(); ++k) {
    if (touching_[k].carries) engine().strike(touching_[k].contact, impulses->strength[k]);
  }
  for (Touching& t : touching_) {
    t.rebound = t.carries ? S(engine().restitution(t.contact) * t.speed) : opened(t);
  }
  return Outcome::ok;
}

template <class Engine, class S, class State>
Outcome NewtonContacts<Engine, S, State>::strike_with_friction(Touching& t) {
  const auto rebound = engine().strike_rough(t.contact, t.speed);
  if (!rebound) return Outcome::painleve;
  t.rebound = *rebound;
  return Outcome::ok;
}

/// One with friction while others touch: they must not notice. How impulses with friction share a blow is not
/// decided by rigid bodies.
template <class Engine, class S, class State>
Outcome NewtonContacts<Engine, S, State>::strike_alone(Touching& rubs) {
  const double slow = 1e-12 * engine().speed();
  const Outcome outcome = strike_with_friction(rubs);
  if (outcome != Outcome::ok) return outcome;
  for (Touching& t : touching_) {
    if (&t == &rubs) continue;
    t.rebound = opened(t);
    if (t.carries || value_of(t.rebound) < -slow) return Outcome::painleve;
  }
  return Outcome::ok;
}

/// If contact i was left just now and its impacts from here on certainly accumulate at once: puts the body at
/// rest there and gives the rest of the system what it would have felt.
template <class Engine, class S, class State>
void NewtonContacts<Engine, S, State>::complete_chatter(int i, Observer* observer) {
  if (!leaves(i)) return;
  const Rebound<S> rebound = engine().rebound(i, touches_[static_cast<std::size_t>(i)].speed);
  const double digit = std::numeric_limits<double>::epsilon() * engine().reach(i);
  if (!chatter_completes(values_of(rebound), engine().rate_now(), tolerance_.chatter, tolerance_.turn,
                         digit)) {
    if (!rebound.steady) engine().follow_chatter(i, rebound, observer);
    return;
  }
  const auto before = snapshot(observer);
  engine().kick(i, engine().approach(i));
  engine().pass_on(i, chatter_gap_integral(rebound));
  const double accumulation = value_of(time) + chatter_duration(values_of(rebound));
  tell(observer, EventKind::chatter_complete, i, before, accumulation);
  close(i, observer, accumulation);
}

/// Which of the contacts at rest stay closed.
template <class Engine, class S, class State>
Outcome NewtonContacts<Engine, S, State>::hold(Observer* observer) {
  if (resting_.empty() && !engine().any_closed()) return Outcome::ok;
  std::vector<int> undecided = std::move(resting_);
  resting_.clear();
  for (int j = 0; j < engine().count(); ++j) {
    if (!closed(j)) continue;
    undecided.push_back(j);
    engine().set_idle(j, false);
  }
  std::int64_t mode = mode_;
  for (const int i : undecided) mode &= ~(std::int64_t{1} << i);
  const RestingBodies bodies{
      [&](int i, int j) { return value_of(engine().response(i, j)); },
      [&](int i, std::int64_t held) { return engine().onset(i, held, is_relieved(i) ? 3 : 2); },
      engine().tells_idle()};
  std::vector<AtRest> decided;
  const bool solved = decide_resting(bodies, std::move(undecided), mode, decided);
  for (const AtRest& c : decided) {
    if (!c.holds) {
      open(c.contact, c.order, observer);
      continue;
    }
    if (!closed(c.contact)) close(c.contact, observer, value_of(time));
    touches_[static_cast<std::size_t>(c.contact)] = {c.order > 0 ? c.order - 2 : for_good, S(0)};
    if (c.idle) engine().set_idle(c.contact, true);
  }
  if (!solved) return Outcome::painleve;
  for (int i = 0; i < engine().count(); ++i) {
    if (closed(i)) engine().put_on(i);
  }
  return Outcome::ok;
}

}  // namespace graze
