/// The rules of one rigid contact with Coulomb friction between a bob on an arm and a block
/// (core/contact/oblique_impact says what they are), whatever moves between the instants.
///
///     guard at zero ──▶ impact | slip ends or begins | release ──▶ chatter complete? ──▶ settle ──▶ x⁺
///
/// With Θ, Ξ the accelerations of bob and block without contact force, s = sin θ and a = c ± f of the
/// direction of slip, a closed contact has
///
///     pressing A = Θ c − Ξ − u² s,   slipping: N = A/(m + a c), u' = Θ − a N,   stuck: u = 0, N = −Ξ/m
///
/// Rules at an instant (each has its test):
/// - Impact: the law of core/contact/oblique_impact. A gap that only touches zero loses its normal speed, no
/// more.
/// - After an impact a sequence that certainly accumulates is completed: by the formulas of core/chatter in
///   the direction of slip while slip cannot end within it, else by following it to its limit in motion of
///   constant acceleration, where it is the same on every scale.
/// - Settle, at zero gap and zero approach: in slip the contact closes where A > 0. At rest it sticks while
///   (c − f) N ≤ Θ ≤ (c + f) N and N ≥ 0; else it opens where A < 0 and slips otherwise. Backward slip with
///   m + a c ≤ 0, or rest that could as well part, has no or no unique solution: Outcome::painleve.
/// - Slip that comes to zero settles. A stuck contact slips where Θ leaves its bounds (it opens at the lower
///   one where backward slip is impossible). A slipping one opens where A falls through zero.
/// - A start on a contact is put exactly on it; an impact at the very instant of a section belongs to the
///   iterate that ends there.
/// - A leg of a prescribed motion passes through a contact that it does not heed, and ends with an impact.
/// - The arm is at right angles to the block's way (c = 0): Outcome::unbounded, the model ends there.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/contact/chatter.hpp"
#include "core/contact/motion_loop.hpp"
#include "core/contact/oblique_impact.hpp"

namespace graze {

/// How a contact stands, in the bits of `mode`. Closed without slip: stuck.
struct SlipMode {
  static constexpr std::int64_t closed = 1, forward = 2, backward = 4;
  static constexpr std::int64_t below = 8;  ///< closed: sin θ < 0, for f = μ|sin θ|

  static bool slips(std::int64_t mode) { return (mode & (forward | backward)) != 0; }
  static bool stuck(std::int64_t mode) { return (mode & closed) != 0 && !slips(mode); }
  /// 1 forward, −1 backward, 0 stuck or open.
  static double direction(std::int64_t mode) {
    return (mode & forward) != 0 ? 1.0 : (mode & backward) != 0 ? -1.0 : 0.0;
  }
  static double side(std::int64_t mode) { return (mode & below) != 0 ? -1.0 : 1.0; }
};

/// Guards of such a motion, each falls through zero.
struct SlipGuard {
  static constexpr int normal = 0;    ///< open: gap; slipping: A
  static constexpr int lower = 1;     ///< slipping: |u|; stuck: Θ − (c − f) N
  static constexpr int upper = 2;     ///< slipping: |sin θ|; stuck: (c + f) N − Θ
  static constexpr int singular = 3;  ///< slipping backward: m + a c
  static constexpr int domain = 4;    ///< c
  static constexpr int count = 5;
};

/// An engine derives from this and provides, beyond what the loop asks for, at the present state
///
///     S gap(), S slip(), S block_rate()      gap, u and x'
///     S sine(), S drive(), S pressing()      sin θ, Θ and A
///     ObliqueContact<S> contact()
///     const ObliqueLaw& law()
///     bool rough()                           false: no friction anywhere
///     double reach(), length(), speed()      size of the terms in the gap, of positions, of velocities
///     void set_velocities(u, x')
///     void shift(mode, S gap, S opening)     adds these to the gap and its rate, by an impulse in this mode
///     void turn(S angle)                     turns the bob
///     void put_on(0)                         moves the block exactly onto the bob
///     S slip_rate(mode), pressing_rate(mode) du/dt and dA/dt along the motion in this mode
///     S damping(mode)                        change of A per opening speed that an impulse adds in this mode
///     void pass_on(mode, S integral)         what the rest felt of ∫ gap dt (core/chatter)
template <class Engine, class S, class State>
class FrictionalContact : public MotionLoop<Engine, S, State> {
 public:
  using Loop = MotionLoop<Engine, S, State>;

  /// System::end_leg, for the directions from `first` on.
  Outcome end_leg(LegEnd& end, Eigen::Index first);

 protected:
  friend Loop;
  using Loop::mode_;
  using Loop::settled_;
  using Loop::snapshot;
  using Loop::tell;
  using Loop::time;
  using Loop::tolerance_;
  using Loop::touches_;
  using Loop::x;
  using typename Loop::ExactTouch;

  using Loop::Loop;
  bool hits(int contact, const Crossing& c) const {
    return contact == 0 && c.guard == SlipGuard::normal && !Loop::closed(0);
  }
  bool passes(int guard) const { return guard == SlipGuard::normal && !Loop::closed(0) && !Loop::heeds(0); }
  Outcome start(Observer* observer);
  Outcome meet(const Crossing& c, Observer* observer);
  void rest_slopes();

 private:
  /// What a contact at zero gap and zero approach does.
  struct Stand {
    Outcome outcome = Outcome::ok;
    std::int64_t mode = 0;
    int order = 0;  ///< of the touch: of the gap when it opens, of A when it closes
  };

  Engine& engine() { return static_cast<Engine&>(*this); }
  static double gap_rounding(double reach) { return 8 * std::numeric_limits<double>::epsilon() * reach; }
  S approach() { return engine().slip() * engine().contact().cosine - engine().block_rate(); }
  void rest_on() { engine().set_velocities(engine().slip(), engine().slip() * engine().contact().cosine); }
  void touch(int guard, int order, const S& speed = S(0)) {
    touches_[static_cast<std::size_t>(guard)] = {order, speed};
  }

  Stand stand();
  Stand stand_in_slip(double direction);
  Stand stand_at_rest();
  std::int64_t closed_mode(std::int64_t slip);
  Outcome settle(Observer* observer);
  void hold(const Stand& stand, Observer* observer, double event_time);
  void leave(int order, Observer* observer);
  Outcome hit(Observer* observer);
  void complete_chatter(Observer* observer);
  void complete_in_slip(Rebound<S> rebound, const S& brake, std::int64_t mode, Observer* observer);
  void complete_from_limit(const Rebound<S>& rebound, Observer* observer);
};

template <class Engine, class S, class State>
void FrictionalContact<Engine, S, State>::rest_slopes() {
  if (!Loop::closed(0)) return;
  if (SlipMode::slips(mode_) && value_of(engine().contact().friction) == 0)  // of derivatives alone
    mode_ = closed_mode(engine().slip() < S(0) ? SlipMode::backward : SlipMode::forward);
  engine().shift(mode_, -Loop::slopes_of(engine().gap()), S(0));
  if (SlipMode::stuck(mode_)) {
    engine().set_velocities(S(value_of(engine().slip())), S(value_of(engine().block_rate())));
  } else {
    engine().shift(mode_, S(0), Loop::slopes_of(approach()));
  }
}

template <class Engine, class S, class State>
Outcome FrictionalContact<Engine, S, State>::start(Observer* observer) {
  constexpr double slack = 1e-12;  // of speeds
  mode_ = 0;
  touches_.assign(SlipGuard::count, {});
  settled_ = true;
  if (!(engine().contact().cosine > S(0))) return Outcome::bad_start;
  if (!Loop::heeds(0)) return Outcome::ok;
  const double g = value_of(engine().gap());
  const double length = engine().reach() + engine().length();
  if (g < -behind_contact * length) return Outcome::bad_start;
  if (g > on_contact * length) return Outcome::ok;
  engine().put_on(0);
  const S w = approach();
  const double slow = slack * engine().speed();
  if (value_of(w) > slow) return hit(observer);
  if (value_of(w) < -slow) {
    touch(SlipGuard::normal, 1, -w);
    return Outcome::ok;
  }
  rest_on();
  return settle(observer);
}

template <class Engine, class S, class State>
Outcome FrictionalContact<Engine, S, State>::meet(const Crossing& c, Observer* observer) {
  switch (c.guard) {
    case SlipGuard::normal:
      if (!Loop::closed(0)) return hit(observer);
      if (c.slope < 0) {
        leave(3, observer);
      } else {
        touch(SlipGuard::normal, 2);  // the force only touches zero
      }
      return Outcome::ok;
    case SlipGuard::lower:
      if (SlipMode::slips(mode_)) {
        engine().set_velocities(S(0), S(0));
        return settle(observer);
      }
      if (stand_in_slip(-1).outcome != Outcome::ok) {
        leave(2, observer);
        return Outcome::ok;
      }
      hold({Outcome::ok, closed_mode(SlipMode::backward), 0}, observer, value_of(time));
      touch(SlipGuard::lower, 2);
      return Outcome::ok;
    case SlipGuard::upper:
      if (SlipMode::slips(mode_)) {
        mode_ ^= SlipMode::below;
        touch(SlipGuard::upper, 1);
        return Outcome::ok;
      }
      hold({Outcome::ok, closed_mode(SlipMode::forward), 0}, observer, value_of(time));
      touch(SlipGuard::lower, 2);
      return Outcome::ok;
    case SlipGuard::singular:
      return Outcome::painleve;
    default:
      return Outcome::unbounded;
  }
}

/// By prescription: the time moves, the gap is told as it is there, whatever its sign.
template <class Engine, class S, class State>
Outcome FrictionalContact<Engine, S, State>::end_leg(LegEnd& end, Eigen::Index first) {
  const Outcome outcome = Loop::end_leg(end, first);
  if (outcome != Outcome::ok || end.kind == EventKind::section) return outcome;
  if (Loop::closed(0)) return Outcome::bad_start;
  Loop::tell_end(end, first, engine().gap(), approach());
  if (end.kind != EventKind::impact) return Outcome::ok;
  engine().put_on(0);
  settled_ = false;
  const ObliqueContact<S> k = engine().contact();
  const S u = engine().slip(), block = engine().block_rate(), w = approach();
  if (w > S(0)) {
    const ObliqueImpact<S> after = engine().law()(k, u, block);
    engine().set_velocities(after.slip, after.block);
    return Outcome::ok;
  }
  // Beyond an impact that has lost its speed: the law of slow ones, in which slip keeps, goes on.
  const S brake = u < S(0) ? S(k.cosine - k.friction) : S(k.cosine + k.friction);
  const S impulse = (S(1) + k.restitution) * w / (k.mass_ratio + k.cosine * brake);
  engine().set_velocities(S(u - brake * impulse), S(block + k.mass_ratio * impulse));
  return Outcome::ok;
}

/// The bob meets the block.
template <class Engine, class S, class State>
Outcome FrictionalContact<Engine, S, State>::hit(Observer* observer) {
  engine().put_on(0);
  const auto before = snapshot(observer);
  const S w = approach();
  const double pressing = value_of(engine().pressing());
  if (!(w > S(0)) || (!(pressing > 0) &&
                      value_of(w) * value_of(w) <= 2 * std::abs(pressing) * gap_rounding(engine().reach()))) {
    rest_on();
    tell(observer, EventKind::graze, 0, before, value_of(time), std::max(0.0, value_of(w)));
    return settle(observer);
  }
  const ObliqueContact<S> contact = engine().contact();
  const ObliqueImpact<S> after = engine().law()(contact, engine().slip(), engine().block_rate());
  engine().set_velocities(after.slip, after.block);
  const S rebound = after.course == SlipCourse::keeps ? S(contact.restitution * w)
                                                      : S(after.block - after.slip * contact.cosine);
  tell(observer, EventKind::impact, 0, before, value_of(time), value_of(w));
  if (after.course == SlipCourse::reverses)
    tell(observer, EventKind::slip_reversal, 0, before, value_of(time));
  if (after.course == SlipCourse::locks) tell(observer, EventKind::slip_to_stick, 0, before, value_of(time));
  if (!(rebound > S(0)) || contact.restitution == S(0)) {
    rest_on();
    return settle(observer);
  }
  touch(SlipGuard::normal, 1, rebound);
  complete_chatter(observer);
  return Outcome::ok;
}

template <class Engine, class S, class State>
Outcome FrictionalContact<Engine, S, State>::settle(Observer* observer) {
  const Stand found = stand();
  if (found.outcome != Outcome::ok) return found.outcome;
  if ((found.mode & SlipMode::closed) != 0) {
    hold(found, observer, value_of(time));
  } else {
    leave(found.order, observer);
  }
  return Outcome::ok;
}

template <class Engine, class S, class State>
std::int64_t FrictionalContact<Engine, S, State>::closed_mode(std::int64_t slip) {
  const double sine = value_of(engine().sine());
  const bool below = sine < 0 || (sine == 0 && slip == SlipMode::backward);
  return SlipMode::closed | slip | (below ? SlipMode::below : 0);
}

template <class Engine, class S, class State>
auto FrictionalContact<Engine, S, State>::stand() -> Stand {
  const double u = value_of(engine().slip());
  if (!engine().rough()) return stand_in_slip(1);
  return u == 0 ? stand_at_rest() : stand_in_slip(u < 0 ? -1 : 1);
}

template <class Engine, class S, class State>
auto FrictionalContact<Engine, S, State>::stand_in_slip(double direction) -> Stand {
  const ObliqueContact<S> k = engine().contact();
  const double brake = value_of(k.cosine) + direction * value_of(k.friction);
  if (!(value_of(k.mass_ratio) + value_of(k.cosine) * brake > 0)) return {Outcome::painleve, 0, 0};
  const std::int64_t mode = closed_mode(direction < 0 ? SlipMode::backward : SlipMode::forward);
  const double pressing = value_of(engine().pressing());
  const double driven = value_of(engine().drive() * k.cosine);
  const double size = std::abs(driven) + std::abs(driven - pressing);
  if (std::abs(pressing) <= 1e-14 * size) {  // no force: it closes when the force is about to press
    return value_of(engine().pressing_rate(mode)) > 0 ? Stand{Outcome::ok, mode, 1}
                                                      : Stand{Outcome::ok, 0, 3};
  }
  return pressing > 0 ? Stand{Outcome::ok, mode, 0} : Stand{Outcome::ok, 0, 2};
}

template <class Engine, class S, class State>
auto FrictionalContact<Engine, S, State>::stand_at_rest() -> Stand {
  const ObliqueContact<S> k = engine().contact();
  const double cosine = value_of(k.cosine), friction = value_of(k.friction), m = value_of(k.mass_ratio);
  const double drive = value_of(engine().drive()), pressing = value_of(engine().pressing());
  const double force = (pressing - drive * cosine) / m;
  const double low = (cosine - friction) * force, high = (cosine + friction) * force;
  const bool sticks = friction > 0 && force >= 0 && low <= drive && drive <= high;
  const bool parts = pressing < 0;
  if (m + cosine * (cosine - friction) <= 0 && parts && drive >= low) return {Outcome::painleve, 0, 0};
  if (sticks) return {Outcome::ok, closed_mode(0), 0};
  if (parts) return {Outcome::ok, 0, 2};
  return {Outcome::ok, closed_mode(drive > high ? SlipMode::forward : SlipMode::backward), 0};
}

/// The contact closes, or stays closed in another way.
template <class Engine, class S, class State>
void FrictionalContact<Engine, S, State>::hold(const Stand& stand, Observer* observer, double event_time) {
  const std::int64_t before = mode_;
  if ((before & SlipMode::closed) == 0) {
    Loop::close(0, observer, event_time);
    engine().put_on(0);
    mode_ = stand.mode;
  } else {
    const EventKind kind = SlipMode::stuck(before)       ? EventKind::stick_to_slip
                           : SlipMode::stuck(stand.mode) ? EventKind::slip_to_stick
                                                         : EventKind::slip_reversal;
    if (SlipMode::direction(before) != SlipMode::direction(stand.mode)) {
      tell(observer, kind, 0, snapshot(observer), event_time);
    }
    mode_ = stand.mode;
  }
  touches_.assign(SlipGuard::count, {});
  touch(SlipGuard::normal, stand.order);
  if (!SlipMode::slips(mode_)) return;
  const bool at_rest = value_of(engine().slip()) == 0;
  if (at_rest) touch(SlipGuard::lower, 1);
  if (value_of(engine().sine()) == 0) touch(SlipGuard::upper, at_rest ? 2 : 1);
}

template <class Engine, class S, class State>
void FrictionalContact<Engine, S, State>::leave(int order, Observer* observer) {
  Loop::open(0, order, observer);
  mode_ = 0;
}

/// If the impacts from here on certainly accumulate at once: closes the contact.
template <class Engine, class S, class State>
void FrictionalContact<Engine, S, State>::complete_chatter(Observer* observer) {
  const ObliqueContact<S> k = engine().contact();
  const S pressing = engine().pressing();
  const Rebound<S> rebound{touches_[SlipGuard::normal].speed, k.restitution, pressing, S(0), S(0)};
  if (!chatter_completes(rebound, engine().fastest_rate(), tolerance_.chatter, tolerance_.turn)) return;
  const bool backward = engine().rough() && engine().slip() < S(0);
  const S brake = backward ? S(k.cosine - k.friction) : S(k.cosine + k.friction);
  const S sink = k.mass_ratio + k.cosine * brake;
  if (sink > S(0)) {
    // At most this much can happen to slip on the way; with twice as much it keeps its direction.
    const double all =
        value_of(rebound.speed / (S(1) - k.restitution)) *
        (2 * std::abs(value_of(brake / sink)) + 2 * std::abs(value_of(engine().drive() / pressing)));
    if (!engine().rough() || std::abs(value_of(engine().slip())) > 2 * all) {
      complete_in_slip(rebound, S(brake / sink),
                       closed_mode(backward ? SlipMode::backward : SlipMode::forward), observer);
      return;
    }
  }
  complete_from_limit(rebound, observer);
}

/// Slip keeps its direction: the closed formulas, with friction in the direction of the impulses.
template <class Engine, class S, class State>
void FrictionalContact<Engine, S, State>::complete_in_slip(Rebound<S> rebound, const S& brake,
                                                           std::int64_t mode, Observer* observer) {
  rebound.rate = engine().pressing_rate(mode);
  rebound.damping = engine().damping(mode);
  if (!chatter_completes(rebound, engine().fastest_rate(), tolerance_.chatter, tolerance_.turn)) return;
  const auto before = snapshot(observer);
  engine().set_velocities(engine().slip() + brake * rebound.speed, S(0));
  rest_on();
  engine().pass_on(mode, chatter_gap_integral(rebound));
  const double accumulation = value_of(time) + chatter_duration(values_of(rebound));
  tell(observer, EventKind::chatter_complete, 0, before, accumulation);
  hold({Outcome::ok, mode, 0}, observer, accumulation);
}

/// Slip may stop or turn: the sequence is followed to its limit, and the contact closes there if it does.
template <class Engine, class S, class State>
void FrictionalContact<Engine, S, State>::complete_from_limit(const Rebound<S>& rebound, Observer* observer) {
  const double longest = 4 * tolerance_.chatter / engine().fastest_rate();
  const auto limit = follow_chatter(engine().contact(), engine().law(), engine().slip(), rebound.speed,
                                    engine().drive(), rebound.pressing, longest);
  if (!limit) return;
  const auto before = snapshot(observer);
  const State from = x;
  engine().turn(limit->way);
  engine().set_velocities(limit->slip, S(0));
  rest_on();
  engine().put_on(0);
  const Stand found = stand();
  if (found.outcome != Outcome::ok || (found.mode & SlipMode::closed) == 0 ||
      std::abs(value_of(engine().pressing_rate(found.mode))) * value_of(limit->duration) >
          2 * tolerance_.turn * value_of(rebound.pressing)) {
    x = from;
    return;
  }
  if (SlipMode::slips(found.mode)) {  // back to the present time, in the motion with the contact closed
    const S gained = engine().slip_rate(found.mode) * limit->duration;
    engine().turn((S(0.5) * gained - limit->slip) * limit->duration);
    engine().set_velocities(limit->slip - gained, S(0));
    rest_on();
    engine().put_on(0);
  }
  const double accumulation = value_of(time) + value_of(limit->duration);
  tell(observer, EventKind::chatter_complete, 0, before, accumulation);
  hold(found, observer, accumulation);
}

}  // namespace graze
