/// A mass in the plane under isotropic Coulomb friction between two walls: forces, modes, and the rules at
/// the instants where modes change. Two engines move it: core/planar_event_driven and
/// core/planar_semi_analytical.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/contact/newton_contacts.hpp"
#include "core/models/planar/friction_slide.hpp"

namespace graze {

/// m u'' + diag(c) u' + diag(k) u = F(t) − f u'/|u'|,  walls at x = wall[0] <= x <= wall[1] (infinite: none).
/// State (x, y, vx, vy). T is S or Series<S>.
template <class S>
struct PlanarFriction {
  static constexpr int states = 4;
  static constexpr int contacts = 2;  ///< left wall, right wall
  static constexpr int ground = 2;    ///< guard of the friction
  static constexpr int guards = 3;
  static constexpr int touches = guards;
  static constexpr int frictions = 1;
  template <class T>
  using Vector = Eigen::Matrix<T, states, 1>;
  template <class T>
  using Pair = std::array<T, 2>;

  /// Bits of the mode; the lowest two are the closed contacts.
  static constexpr std::int64_t walls = 3;
  static constexpr std::int64_t stick = 4;
  static constexpr std::int64_t downward = 8;   ///< slides along a wall towards −y
  static constexpr std::int64_t pulled = 16;    ///< sticks at a wall that it does not press
  static constexpr std::int64_t starting = 32;  ///< a free slide in its first step from rest

  struct Direction {
    S stiffness, damping, amplitude, modulation, frequency, phase;
  };

  std::array<Direction, 2> direction;
  S mass, friction, restitution;
  S modulation_frequency;
  std::array<S, 2> wall;
  S forcing_period;   ///< 0: no forcing that changes
  bool has_period;    ///< whether the forcing has that period
  double fastest;     ///< rate, 1/time
  double step;        ///< of the semi-analytical engine
  double look_ahead;  ///< share of a step after which its resultant is taken

  S period() const { return forcing_period; }
  double rate() const { return fastest; }
  bool repeats() const { return has_period; }
  double unit(int state) const { return state >= states / 2 ? rate() : 1; }
  static bool sticks(int, std::int64_t mode) { return (mode & stick) != 0; }
  bool exists(int i) const { return std::isfinite(value_of(wall[static_cast<std::size_t>(i)])); }
  /// Also where there is none, of which derivatives are asked.
  bool rubs() const { return !identical(friction, S(0)); }
  /// +1 for the left wall: the sign of the direction away from it.
  static double side(int i) { return i == 0 ? 1.0 : -1.0; }
  static std::int64_t after_step(std::int64_t mode) { return mode & ~starting; }
  /// A free slide with friction: singular where the speed vanishes.
  bool slides_freely(std::int64_t mode) const { return (mode & (walls | stick)) == 0 && rubs(); }
  bool slides_along(std::int64_t mode) const { return (mode & walls) != 0 && (mode & stick) == 0 && rubs(); }

  /// Speed at which friction alone would stop the mass within the fastest time scale.
  double friction_speed() const { return value_of(friction) / (value_of(mass) * fastest); }
  /// Below it the mass counts as at rest: it would move by 1e-22 of the friction's length yet.
  double rest_speed() const { return 1e-11 * friction_speed(); }

  /// F(t).
  template <class T>
  Pair<T> force(const T& t) const {
    const T envelope = cosine(T(t * modulation_frequency));
    const T x = cosine(T(t * direction[0].frequency + direction[0].phase));
    const T y = cosine(T(t * direction[1].frequency + (direction[1].phase - S(M_PI / 2))));
    return {load(0, envelope) * x, load(1, envelope) * y};
  }
  /// dF/dt.
  Pair<S> force_rate(const S& t) const {
    const auto [swell, envelope] = sine_cosine(S(t * modulation_frequency));
    Pair<S> rate;
    for (std::size_t i = 0; i < 2; ++i) {
      const Direction& d = direction[i];
      const auto [sine, cos] = sine_cosine(S(t * d.frequency + d.phase - S(i == 0 ? 0 : M_PI / 2)));
      rate[i] = -d.amplitude * (d.modulation * modulation_frequency * swell * cos +
                                (S(1) + d.modulation * envelope) * d.frequency * sine);
    }
    return rate;
  }
  /// Q = F(t) − K u − C u'.
  template <class T>
  Pair<T> resultant(const T& t, const Vector<T>& x) const {
    Pair<T> q = force(t);
    for (int i = 0; i < 2; ++i) {
      const Direction& d = direction[static_cast<std::size_t>(i)];
      q[static_cast<std::size_t>(i)] -= x(i) * d.stiffness + x(2 + i) * d.damping;
    }
    return q;
  }

  bool watched(int k, std::int64_t mode) const {
    if (k == ground) return (mode & stick) != 0 || stops(mode);
    return exists(k) && ((mode & stick) == 0 || is_closed(mode, k));
  }
  bool is_gap(int k, std::int64_t mode) const {
    return k != ground && (mode & stick) == 0 && !is_closed(mode, k);
  }
  S gap_in(int i, std::int64_t, const S&, const Vector<S>& x) const {
    return (x(0) - wall[static_cast<std::size_t>(i)]) * side(i);
  }
  S opening_in(int i, std::int64_t, const S&, const Vector<S>& x) const { return x(2) * side(i); }
  S contact_force(int i, std::int64_t mode, const S& t, const Vector<S>& x) const {
    return is_closed(mode, i) && (mode & pulled) == 0 ? guard(i, mode, t, x) : S(0);
  }
  /// Guard of a wall: its gap while open; while closed the force that presses (pulled: pulls) the mass.
  /// Guard of the ground: what is left of the friction while sticking, f² − Q²; else the speed.
  template <class T>
  T guard(int k, std::int64_t mode, const T& t, const Vector<T>& x) const {
    return guard(k, mode, t, x, clock(mode, x));
  }
  template <class T>
  T guard(int k, std::int64_t mode, const T& t, const Vector<T>& x, const T& tick) const {
    if (k != ground) {
      if (!is_closed(mode, k)) return (x(0) - wall[static_cast<std::size_t>(k)]) * S(side(k));
      return resultant(t, x)[0] * S((mode & pulled) != 0 ? side(k) : -side(k));
    }
    if ((mode & stick) != 0) return friction * friction - held(mode, resultant(t, x));
    if ((mode & walls) != 0) return x(3) * S(heading(mode));
    return (on_clock(mode) ? T(tick * S(friction_speed())) : speed(x)) - S(rest_speed());
  }
  /// Square of what friction must hold while sticking: a wall takes what presses onto it.
  template <class T>
  static T held(std::int64_t mode, const Pair<T>& q) {
    const bool presses = (mode & walls) != 0 && (mode & pulled) == 0;
    return presses ? T(q[1] * q[1]) : T(q[0] * q[0] + q[1] * q[1]);
  }
  /// Sign of the slide along a wall.
  static double heading(std::int64_t mode) { return (mode & downward) != 0 ? -1.0 : 1.0; }

  /// A free slide runs on a clock dt/dσ = |u'|/V, V the friction speed, on which it is regular however slow:
  /// V dv/dσ = |v| Q/m − (f/m) v. (An angle in place of the second velocity would be no more regular.)
  template <class T>
  T clock(std::int64_t mode, const Vector<T>& x) const {
    if (!on_clock(mode)) return constant(x(0), S(1));
    return speed(x) * S(1 / friction_speed());
  }
  /// What rates and guards have in common.
  template <class T>
  T terms(std::int64_t mode, const T&, const Vector<T>& x) const {
    return clock(mode, x);
  }
  template <class T>
  void rates(std::int64_t mode, const T& t, const Vector<T>& x, Vector<T>& rate) const {
    rates(mode, t, x, rate, clock(mode, x));
  }
  template <class T>
  void rates(std::int64_t mode, const T& t, const Vector<T>& x, Vector<T>& rate, const T& tick) const;

 private:
  bool on_clock(std::int64_t mode) const {
    return slides_freely(mode) && (mode & starting) == 0 && friction > S(0);
  }
  /// Whether a slide may end: without friction in value only one along a wall does, as it turns.
  bool stops(std::int64_t mode) const {
    return rubs() && (mode & starting) == 0 && (friction > S(0) || (mode & walls) != 0);
  }
  template <class T>
  static T speed(const Vector<T>& x) {
    using std::sqrt;
    return sqrt(square(x(2)) + square(x(3)));
  }
  template <class T>
  static T cosine(const T& a) {
    using std::cos;
    return cos(a);
  }
  template <class T>
  T load(std::size_t i, const T& envelope) const {
    return (envelope * direction[i].modulation + S(1)) * direction[i].amplitude;
  }
};

template <class S>
template <class T>
void PlanarFriction<S>::rates(std::int64_t mode, const T& t, const Vector<T>& x, Vector<T>& rate,
                              const T& tick) const {
  const T zero = constant(x(0), S(0));
  if ((mode & stick) != 0) {
    for (int i = 0; i < states; ++i) rate(i) = zero;
    return;
  }
  const Pair<T> q = resultant(t, x);
  rate(0) = x(2);
  rate(1) = x(3);
  if ((mode & walls) != 0) {
    rate(0) = rate(2) = zero;
    rate(3) = (q[1] - friction * S(heading(mode))) / mass;
    return;
  }
  if (!rubs()) {
    for (int i = 0; i < 2; ++i) rate(2 + i) = q[static_cast<std::size_t>(i)] / mass;
    return;
  }
  if constexpr (!std::is_same_v<T, S>) {
    if ((mode & starting) != 0) {
      const Pair<T> a = slip_start(q, mass, friction);
      rate(2) = a[0];
      rate(3) = a[1];
      return;
    }
  }
  if (on_clock(mode)) {
    const S damping = friction / (mass * S(friction_speed()));
    for (int i = 0; i < 2; ++i) {
      rate(i) = tick * x(2 + i);
      rate(2 + i) = tick * q[static_cast<std::size_t>(i)] / mass - x(2 + i) * damping;
    }
  } else {
    const T along = speed(x);
    for (int i = 0; i < 2; ++i) {
      rate(2 + i) = (q[static_cast<std::size_t>(i)] - x(2 + i) * friction / along) / mass;
    }
  }
}

/// What happens at the instants. Beyond the rules of core/newton_contacts:
///
/// - Rest: a free slide comes to rest, a slide along a wall has no speed left. It sticks where friction can
///   hold the resultant, |Q| <= f; pressed to a wall, |Q_y| <= f. Else it starts again, along Q.
/// - Start: the resultant reaches f. The mass slides along it; if it stuck at a wall that it pressed, along
///   the wall. A resultant that only touches f starts nothing.
/// - A mass that sticks at a wall stays there when the force onto the wall turns, as long as friction holds
///   it.
/// - Chatter at which both components of the velocity vanish together ends at rest on the wall.
///
/// The motion depends smoothly on its start but for impacts that graze and for corners: where the speed of a
/// slide just touches zero (beyond, it sticks a while), and where it comes to rest just at a wall (beyond, it
/// rebounds first). At a corner the derivative is that to one side, or between the two where the mass is
/// found to rest on the wall.
/// With f = 0 the derivative by f is that of its first effect.
///
/// An engine derives from this and provides what core/motion_loop asks for and
/// `const PlanarFriction<S>& planar() const`.
template <class Engine, class S>
class PlanarRules : public NewtonContacts<Engine, S, Eigen::Matrix<S, 4, 1>> {
 public:
  using State = Eigen::Matrix<S, 4, 1>;
  using Contacts = NewtonContacts<Engine, S, State>;
  using Plane = PlanarFriction<S>;
  using Contacts::time;
  using Contacts::x;

  void place(const HybridState& from, std::size_t guards) {
    Contacts::place(from, guards);
    if (settled_ && planar().slides_freely(mode_) && at_rest()) mode_ |= Plane::starting;
    // Derivatives may have a friction that values have not.
    if (settled_ && planar().slides_along(mode_) && x(3) < S(0)) mode_ |= Plane::downward;
  }
  void report(HybridState& to) const {
    Contacts::report(to);
    to.mode = Plane::after_step(to.mode);
  }

  S period() const { return planar().period(); }
  bool commensurate() const { return planar().repeats(); }
  double fastest_rate() const { return planar().rate(); }

 protected:
  friend Contacts;
  friend typename Contacts::Loop;
  using Contacts::close;
  using Contacts::closed;
  using Contacts::Contacts;
  using Contacts::mode_;
  using Contacts::open;
  using Contacts::settled_;
  using Contacts::snapshot;
  using Contacts::tell;
  using Contacts::touches_;

  const Plane& planar() const { return static_cast<const Engine*>(this)->planar(); }

  Outcome start(Observer* observer);
  Outcome meet(const Crossing& c, Observer* observer);
  int count() const { return Plane::contacts; }
  bool exists(int i) const { return planar().exists(i); }
  bool has_gap(int i) const { return exists(i) && !closed(i); }
  bool reaches(int) const { return true; }
  void pass_by(int) {}
  bool any_closed() const { return (mode_ & Plane::walls) != 0; }
  S gap(int i) const { return planar().guard(i, 0, time, x); }
  S approach(int i) const { return x(2) * S(-Plane::side(i)); }
  double reach(int i) const {
    return std::abs(value_of(planar().wall[static_cast<std::size_t>(i)])) + std::abs(value_of(x(0)));
  }
  double length() const { return values_of(x.template head<2>()).cwiseAbs().maxCoeff(); }
  double speed() const { return values_of(x.template tail<2>()).norm(); }
  S restitution(int) const { return planar().restitution; }
  void kick(int i, const S& change) { x(2) += change * S(Plane::side(i)); }
  S response(int i, int j) const { return S(Plane::side(i) * Plane::side(j)); }
  /// Friction has no part along the normal where the normal speed vanishes.
  S pressing(int i) const {
    State there = x;
    there(2) = S(0);
    return planar().resultant(time, there)[0] * S(-Plane::side(i)) / planar().mass;
  }
  /// Of two orders: with both zero the mass rests.
  Onset onset(int i, std::int64_t, int from) const {
    const double a = value_of(pressing(i));
    const double stiffness = value_of(planar().direction[0].stiffness / planar().mass);
    if (from <= 2 && std::abs(a) > 1e-14 * (std::abs(a) + stiffness * reach(i))) return {2, -a / 2};
    const double rate = value_of(pressing_rate(i));
    return rate != 0 ? Onset{3, -rate / 6} : Onset{};
  }
  void put_on(int i) { x(0) = planar().wall[static_cast<std::size_t>(i)]; }
  void rest_slopes() {
    const bool sticks = (mode_ & Plane::stick) != 0;
    for (int i = 0; i < count(); ++i) {
      if (closed(i)) x(0) -= Contacts::slopes_of(gap(i)) * S(Plane::side(i));
    }
    if (sticks || any_closed()) x(2) -= Contacts::slopes_of(x(2));
    if (sticks) x(3) -= Contacts::slopes_of(x(3));
  }
  /// Friction turns with the velocity: on a small normal speed it acts as a damper f/(m |v_y|), on the only
  /// one as dry friction.
  Rebound<S> rebound(int i, const S& opening) const {
    const S damping = planar().direction[0].damping / planar().mass;
    const S friction = planar().friction / planar().mass;
    const bool along = value_of(x(3)) != 0;
    Rebound<S> b{opening, restitution(i), pressing(i), pressing_rate(i), damping};
    if (along) {
      b.damping += friction / abs_of(x(3));
    } else {
      b.friction = friction;
    }
    return b;
  }
  /// What a sequence of impacts takes of the friction along the wall, f/m ∫ v_n²/(2 v_y²) dt with
  /// ∫ v_n² dt = a ∫ gap dt.
  void pass_on(int i, const S& integral) {
    if (!planar().rubs() || value_of(x(3)) == 0) return;
    const S saved = planar().friction * pressing(i) * integral / (S(2) * planar().mass * x(3) * x(3));
    x(3) += x(3) < S(0) ? -saved : saved;
  }

  bool at_rest() const { return value_of(x(2)) == 0 && value_of(x(3)) == 0; }
  /// Whether friction holds the mass, which is at rest; at the limit, whether it is about to.
  bool holds(std::int64_t mode) const;

 private:
  static S abs_of(const S& a) { return a < S(0) ? -a : a; }
  S pressing_rate(int i) const { return planar().force_rate(time)[0] * S(-Plane::side(i)) / planar().mass; }
  void tell_of_friction(Observer* observer, EventKind kind,
                        const typename Contacts::OuterState& before) const {
    if (observer == nullptr) return;
    Event event;
    event.kind = kind;
    event.friction = 0;
    event.approach_speed = std::numeric_limits<double>::quiet_NaN();
    tell(observer, event, before, value_of(time));
  }
  int closed_wall() const { return closed(0) ? 0 : closed(1) ? 1 : -1; }
  void meet_ground(const Crossing& c, Observer* observer);
  void come_to_rest();
  void start_slip(Observer* observer);
  void stick_or_slide(const typename Contacts::OuterState& before, Observer* observer);
};

template <class Engine, class S>
bool PlanarRules<Engine, S>::holds(std::int64_t mode) const {
  const auto q = planar().resultant(time, x);
  const double limit = value_of(planar().friction) * value_of(planar().friction);
  const double left = limit - value_of(Plane::held(mode, q));
  constexpr double rounding = 1e-14;
  if (std::abs(left) > rounding * limit) return left > 0;
  // At the limit: with a force whose square grows it cannot.
  const auto rate = planar().force_rate(time);
  const auto later = [&](std::size_t i) { return value_of(q[i] * rate[i]); };
  const bool presses = (mode & Plane::walls) != 0 && (mode & Plane::pulled) == 0;
  return (presses ? 0.0 : later(0)) + later(1) <= 0;
}

/// Sets the bits of friction from the state and the closed walls.
template <class Engine, class S>
void PlanarRules<Engine, S>::stick_or_slide(const typename Contacts::OuterState& before, Observer* observer) {
  mode_ &= Plane::walls;
  if (!planar().rubs()) return;
  const int pressed = closed_wall();
  if (!at_rest()) {
    if (pressed >= 0 && x(3) < S(0)) mode_ |= Plane::downward;
    return;
  }
  if (holds(mode_)) {
    for (int i = 0; i < count() && pressed < 0; ++i) {
      if (!exists(i) || value_of(gap(i)) != 0) continue;
      close(i, observer, value_of(time));
      mode_ |= Plane::pulled;
    }
    mode_ |= Plane::stick;
    tell_of_friction(observer, EventKind::slip_to_stick, before);
  } else {
    start_slip(nullptr);
  }
}

/// A mass at rest that friction does not hold sets off.
template <class Engine, class S>
void PlanarRules<Engine, S>::start_slip(Observer* observer) {
  const auto q = planar().resultant(time, x);
  const double f = value_of(planar().friction);
  constexpr double rounding = 1e-12;
  const bool by_jump = std::sqrt(value_of(Plane::held(mode_, q))) > f * (1 + rounding);
  const bool pressed = any_closed() && (mode_ & Plane::pulled) == 0;
  const int wall = closed_wall();
  const bool stuck = (mode_ & Plane::stick) != 0;
  mode_ &= Plane::walls;
  if (stuck) tell_of_friction(observer, EventKind::stick_to_slip, snapshot(observer));
  if (pressed) {
    if (q[1] < S(0)) mode_ |= Plane::downward;
    touches_[Plane::ground] = {by_jump ? 1 : 2, S(0)};
    return;
  }
  for (int i = 0; i < count(); ++i) {
    if (i == wall || (exists(i) && value_of(gap(i)) == 0)) open(i, by_jump ? 2 : 3, observer);
  }
  mode_ |= Plane::starting;
}

/// The end of a free slide, in closed form; what is left of it lasts less than rounding.
template <class Engine, class S>
void PlanarRules<Engine, S>::come_to_rest() {
  if (!at_rest()) {
    using Two = typename FrictionSlide<S>::Vector;
    const auto q = planar().resultant(time, x);
    const FrictionSlide<S> slide(planar().mass, planar().friction, Two(q[0], q[1]), Two(x(2), x(3)));
    constexpr double brief = 1e-9;
    if (slide.stops()) {
      const auto end = slide.stop();
      if (value_of(end.time) * planar().rate() < brief) {
        time += end.time;
        x.template head<2>() += end.displacement;
      }
    }
  }
  x(2) = x(3) = S(0);
}

template <class Engine, class S>
Outcome PlanarRules<Engine, S>::start(Observer* observer) {
  const Outcome outcome = Contacts::start(observer);
  if (outcome == Outcome::ok) stick_or_slide(snapshot(observer), observer);
  return outcome;
}

template <class Engine, class S>
Outcome PlanarRules<Engine, S>::meet(const Crossing& c, Observer* observer) {
  mode_ = Plane::after_step(mode_);
  if (c.guard == Plane::ground) {
    meet_ground(c, observer);
    return Outcome::ok;
  }
  if ((mode_ & Plane::stick) != 0) {
    if (c.slope < 0) mode_ ^= Plane::pulled;
    touches_[static_cast<std::size_t>(c.guard)] = {c.slope < 0 ? 1 : 2, S(0)};
    return Outcome::ok;
  }
  const auto before = snapshot(observer);
  const bool was_open = !closed(c.guard);
  const Outcome outcome = Contacts::meet(c, observer);
  if (outcome != Outcome::ok) return outcome;
  const bool slow = speed() < 10 * planar().rest_speed();
  if (slow && was_open && !closed(c.guard) && pressing(c.guard) > S(0)) {
    x(2) = x(3) = S(0);
    tell(observer, EventKind::chatter_complete, c.guard, before, value_of(time));
    close(c.guard, observer, value_of(time));
  }
  stick_or_slide(before, observer);
  return Outcome::ok;
}

template <class Engine, class S>
void PlanarRules<Engine, S>::meet_ground(const Crossing& c, Observer* observer) {
  if ((mode_ & Plane::stick) != 0) {
    if (c.slope < 0) {
      start_slip(observer);
    } else {
      touches_[Plane::ground] = {2, S(0)};
    }
    return;
  }
  const auto before = snapshot(observer);
  come_to_rest();
  for (int i = 0; i < count(); ++i) {
    if (closed(i) || !exists(i) || gap(i) > S(0)) continue;
    put_on(i);
    if (pressing(i) > S(0)) close(i, observer, value_of(time));
  }
  stick_or_slide(before, observer);
  if ((mode_ & Plane::stick) == 0) {
    tell_of_friction(observer, EventKind::slip_reversal, before);
  }
}

}  // namespace graze
