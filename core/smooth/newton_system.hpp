/// From the equations of a smooth system with rigid frictionless contacts to a System.
#pragma once

#include <Eigen/Core>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/contact/follow_segments.hpp"
#include "core/contact/jump_maps.hpp"
#include "core/contact/newton_contacts.hpp"
#include "core/math/elimination.hpp"
#include "core/smooth/motion.hpp"
#include "core/smooth/system.hpp"
#include "core/system/mode.hpp"
#include "core/system/tolerance.hpp"

namespace graze {

/// The equations with their contacts closed as the mode says: a closed contact carries the force that keeps
/// its gap from accelerating, 0 = gap'' = −a + Σ G λ.
///
/// `Equations<S>` provides, with `Vector<T> = Eigen::Matrix<T, states, 1>` and T = S or `Series<S>`,
///
///     static constexpr int states, contacts   Eigen::Dynamic: the functions size(), count() tell
///     explicit Equations(std::span<const S> parameters)    after the setup of SmoothSystem
///     S period() const                  forcing period, 0: autonomous
///     double rate() const               fastest rate, 1/time
///     void rates(const T& t, const Vector<T>& x, Vector<T>& rate) const    all contacts open
///     T gap(int i, const T& t, const Vector<T>& x) const                   >= 0 while open
///     T opening(int i, const T& t, const Vector<T>& x) const               d gap/dt
///     T pressing(int i, const T& t, const Vector<T>& x) const              −d²gap/dt², all contacts open
///     void kick(int i, const T& t, const Vector<T>& x, const T& speed, Vector<T>& v) const
///         adds to v the change of velocities per impulse that adds `speed` to the opening speed
///     void lift(int i, const T& t, const Vector<T>& x, const T& gap, Vector<T>& v) const
///         adds to v the change of positions along the same direction that adds `gap` to the gap
///     double reach(int i, double t, x of double) const   size of the terms in the gap
///     double length_of(x of double) const, speed_of(x of double) const  size of positions and of velocities
///     S restitution(int i) const
///     bool valid() const                false: these parameters make no system
///
/// and where a gap is a distance to something of finite length,
///
///     T foot(int i, const T& t, const Vector<T>& x) const      > 0 where the contact can touch
///
/// and where the motion does not hang on a state as such (core/system), `Symmetry symmetry(int state) const`.
///
/// Rules: a gap that reaches zero with no foot is no contact; the body passes by and may come back on the
/// other side, where the gap counts with the other sign. Both sides touch alike. A closed contact whose foot
/// falls through zero opens. A start behind a contact, too, is on its other side where the equations say so:
///
///     bool behind(int i, x of double) const     a negative gap is no violation
///
/// and where something else than a contact makes the state jump (core/contact/jump_maps),
///
///     int jumps() const, JumpDirection direction(int k) const
///     T trigger(int k, const T& t, const Vector<T>& x) const
///     double trigger_size(int k, double t, x of double) const  size of the terms in the trigger
///     void set_anew(int k, const S& t, Vector<S>& x) const     the state after the jump
///
/// For System::contact_forces, NaN without it,
///
///     S mobility(int i, const S& t, const Vector<S>& x) const      change of the opening speed per impulse
///
/// Where a contact may be absent at some values, `bool has_contact(int i) const`.
/// Where not every x is a state, `bool possible(x of double) const`: a start that is none is refused.
template <class S, template <class> class Equations>
struct ContactDynamics : Equations<S> {
  using Free = Equations<S>;
  static constexpr int states = Free::states;
  static constexpr int contacts = Free::contacts;
  template <class T>
  using Vector = Eigen::Matrix<T, states, 1>;
  template <class T>
  using Forces = Eigen::Matrix<T, contacts, 1>;
  static constexpr bool has_foot = requires(const Free& f, const S& t, const Vector<S>& x) {
    f.foot(0, t, x);
  };
  static constexpr bool has_sides = requires(const Free& f, const Eigen::VectorXd& y) { f.behind(0, y); };
  static constexpr bool may_jump = requires(const Free& f) { f.jumps(); };
  static constexpr bool has_bounds = requires(const Free& f, const Vector<double>& y) { f.possible(y); };
  int count() const {
    if constexpr (contacts == Eigen::Dynamic) {
      return Free::count();
    } else {
      return contacts;
    }
  }
  /// The guard that is the force of contact i, per mobility, while it is closed.
  int closing_guard(int i) const { return i; }
  int jump_count() const {
    if constexpr (may_jump) {
      return Free::jumps();
    } else {
      return 0;
    }
  }
  /// Guard i < count: gap or force of contact i; guard count + i: its foot while closed; then the triggers of
  /// jumps, as seen from their sides.
  int guard_count() const { return contact_guards() + jump_count(); }
  int contact_guards() const { return has_foot ? 2 * count() : count(); }
  std::int64_t jump_bit(int k) const { return std::int64_t{1} << (contact_guards() + k); }
  static constexpr int touches = contacts;

  using Free::Free;

  bool exists(int i) const {
    if constexpr (requires(const Free& f) { f.has_contact(i); }) {
      return Free::has_contact(i);
    } else {
      return true;
    }
  }
  bool watched(int k, std::int64_t mode) const {
    if (k < count()) return exists(k);
    return k >= contact_guards() || is_closed(mode, k - count());
  }
  bool is_gap(int k, std::int64_t mode) const { return k < count() && !is_closed(mode, k); }
  /// −1 when contact i has been passed by and is met from behind.
  double side(int i, std::int64_t mode) const {
    return has_foot && ((mode >> (count() + i)) & 1) != 0 ? -1.0 : 1.0;
  }
  /// Where no contact can be passed by, there is one side and nothing to be done.
  template <class T>
  static T seen_from(double side, const T& value) {
    if constexpr (has_foot) {
      return side == 1 ? value : T(value * S(side));
    } else {
      return value;
    }
  }
  bool any_closed(std::int64_t mode) const { return (mode & ((std::int64_t{1} << count()) - 1)) != 0; }

  template <class T>
  T gap_in(int i, std::int64_t mode, const T& t, const Vector<T>& x) const {
    return seen_from(side(i, mode), Free::gap(i, t, x));
  }
  template <class T>
  T opening_in(int i, std::int64_t mode, const T& t, const Vector<T>& x) const {
    return seen_from(side(i, mode), Free::opening(i, t, x));
  }
  template <class T>
  T free_pressing(int i, std::int64_t mode, const T& t, const Vector<T>& x) const {
    return seen_from(side(i, mode), Free::pressing(i, t, x));
  }
  template <class T>
  void kick_in(int i, std::int64_t mode, const T& t, const Vector<T>& x, const T& speed, Vector<T>& v) const {
    Free::kick(i, t, x, seen_from(side(i, mode), speed), v);
  }
  template <class T>
  void lift_in(int i, std::int64_t mode, const T& t, const Vector<T>& x, const T& gap, Vector<T>& v) const {
    Free::lift(i, t, x, seen_from(side(i, mode), gap), v);
  }

  template <class T>
  void rates(std::int64_t mode, const T& t, const Vector<T>& x, Vector<T>& rate) const {
    Free::rates(t, x, rate);
    if (!any_closed(mode)) return;
    const Forces<T> force = forces(mode, t, x);
    for (int i = 0; i < count(); ++i) {
      if (is_closed(mode, i)) kick_in(i, mode, t, x, force(i), rate);
    }
  }
  S contact_force(int i, std::int64_t mode, const S& t, const Vector<S>& x) const {
    if (!is_closed(mode, i)) return S(0);
    if constexpr (requires(const Free& f) { f.mobility(i, t, x); }) {
      return forces(mode, t, x)(i) / Free::mobility(i, t, x);
    } else {
      return S(std::numeric_limits<double>::quiet_NaN());
    }
  }
  template <class T>
  T guard(int k, std::int64_t mode, const T& t, const Vector<T>& x) const {
    if constexpr (may_jump) {
      const int jump = k - contact_guards();
      if (jump >= 0) {
        const T trigger = Free::trigger(jump, t, x);
        return (mode & jump_bit(jump)) != 0 ? T(-trigger) : trigger;
      }
    }
    if constexpr (has_foot) {
      if (k >= count()) return Free::foot(k - count(), t, x);
    }
    return is_closed(mode, k) ? T(forces(mode, t, x)(k)) : gap_in(k, mode, t, x);
  }
  /// Change of opening speed i per kick j.
  template <class T>
  T response(int i, int j, std::int64_t mode, const T& t, const Vector<T>& x) const {
    const T before = opening_in(i, mode, t, x);
    Vector<T> kicked = x;
    kick_in(j, mode, t, x, constant(t, S(1)), kicked);
    return opening_in(i, mode, t, kicked) - before;
  }
  /// Calls f(k, share) for the kicks that together add one to the opening speed of contact i and hold the
  /// other closed contacts; none where these hold contact i too.
  template <class F>
  void each_share(int i, std::int64_t mode, const S& t, const Vector<S>& x, const F& f) const {
    const std::vector<int> held = closed_in(mode & ~(std::int64_t{1} << i));
    each_share(
        i, held, [&](int a, int b) { return response(a, b, mode, t, x); }, f);
  }
  /// Acceleration onto contact i with the other contacts as the mode says.
  template <class T>
  T pressing_in(int i, std::int64_t mode, const T& t, const Vector<T>& x) const {
    const std::int64_t others = mode & ~(std::int64_t{1} << i);
    T a = free_pressing(i, mode, t, x);
    if (!any_closed(others)) return a;
    const Forces<T> force = forces(others, t, x);
    for (int j = 0; j < count(); ++j) {
      if (is_closed(others, j)) a = a - response(i, j, mode, t, x) * force(j);
    }
    return a;
  }

 protected:
  /// … with these held; `respond(a, b)`: change of opening speed a per kick b.
  template <class Respond, class F>
  static void each_share(int i, const std::vector<int>& held, const Respond& respond, const F& f) {
    std::vector<S> answers;
    answers.reserve(held.size());
    for (const int j : held) answers.push_back(respond(j, i));
    solve_responses(held, respond, answers);
    S mobility(1);
    for (std::size_t k = 0; k < held.size(); ++k) mobility -= respond(i, held[k]) * answers[k];
    if (!(value_of(mobility) > 1e-11)) return;
    f(i, S(S(1) / mobility));
    for (std::size_t k = 0; k < held.size(); ++k) f(held[k], S(-answers[k] / mobility));
  }

 private:
  /// λ of the closed contacts: G λ = a; G has ones on its diagonal.
  template <class T>
  Forces<T> forces(std::int64_t mode, const T& t, const Vector<T>& x) const {
    Forces<T> force(count());
    const std::int64_t bits = mode & ((std::int64_t{1} << count()) - 1);
    if (std::has_single_bit(static_cast<std::uint64_t>(bits))) {
      const int i = std::countr_zero(static_cast<std::uint64_t>(bits));
      force(i) = free_pressing(i, mode, t, x);
      return force;
    }
    const std::vector<int> set = closed_in(mode);
    std::vector<T> list;
    list.reserve(set.size());
    for (const int i : set) list.push_back(free_pressing(i, mode, t, x));
    solve_responses(
        set, [&](int a, int b) { return response(a, b, mode, t, x); }, list);
    for (std::size_t a = 0; a < set.size(); ++a) force(set[a]) = list[a];
    return force;
  }
  std::vector<int> closed_in(std::int64_t mode) const {
    std::vector<int> set;
    for (int i = 0; i < count(); ++i) {
      if (is_closed(mode, i)) set.push_back(i);
    }
    return set;
  }
  /// Changes of opening speeds become the kicks of these contacts that make them: G λ = a.
  template <class T, class Respond>
  static void solve_responses(const std::vector<int>& set, const Respond& respond, std::vector<T>& list) {
    const std::size_t n = set.size();
    std::vector<std::vector<T>> G(n, std::vector<T>(n));
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) G[a][b] = respond(set[a], set[b]);
    }
    eliminate(G, list);
  }
};

/// Contacts of a point that moves in power series, as core/contact/newton_contacts asks for them, with any
/// rules. `Dynamics` is a ContactDynamics.
template <class Engine, class Rules, class S, class Dynamics>
class ContactMotion : public TaylorMotion<Engine, Rules, S, Dynamics> {
 public:
  using Base = TaylorMotion<Engine, Rules, S, Dynamics>;
  using Base::Base;
  using Base::time;
  using Base::x;
  using typename Base::State;

  Ending<S> ending;  ///< of a leg

  /// One leg from x and time on: for `duration` or to the gap's zero, then what its end says. false: more
  /// than a step backwards, no zero, or a series does not exist.
  bool follow(const Leg& leg, const S& duration) {
    begin_leg(leg);
    return go_along(leg, duration) && (leg.contact < 0 || finish(leg));
  }

 protected:
  using Base::dynamics;
  using Base::mode_;

  void begin_leg(const Leg& leg) {
    mode_ = leg.mode;
    engine().rest_on_closed();
  }
  bool go_along(const Leg& leg, const S& duration) {
    return Leg::finds_end(leg.length) ? fly(leg) : this->flow_for(duration);
  }
  /// The event of a rigid contact at the end of a leg.
  bool finish(const Leg& leg);

  /// A contact that never opens would leave the place where its body rests free, and rounding would add up
  /// where the contact moves.
  void rest_on_closed() {
    for (int i = 0; i < count(); ++i) {
      if (!is_closed(mode_, i)) continue;
      put_on(i);
      kick(i, approach(i));
    }
  }
  int count() const { return dynamics().count(); }
  bool any_closed() const { return dynamics().any_closed(mode_); }
  S gap(int i) const { return dynamics().gap_in(i, mode_, time, x); }
  S approach(int i) const { return -dynamics().opening_in(i, mode_, time, x); }
  double reach(int i) const { return dynamics().reach(i, value_of(time), values_of(x).eval()); }
  double length() const { return dynamics().length_of(values_of(x).eval()); }
  double speed() const { return dynamics().speed_of(values_of(x).eval()); }
  S restitution(int i) const { return dynamics().restitution(i); }
  void kick(int i, const S& speed) {
    const State at = x;
    dynamics().each_share(i, mode_, time, at, [&](int k, const S& share) {
      dynamics().kick_in(k, mode_, time, at, S(share * speed), x);
    });
  }
  void strike(int i, const S& speed) {
    const State at = x;
    dynamics().kick_in(i, mode_, time, at, speed, x);
  }
  S response(int i, int j) const { return dynamics().response(i, j, mode_, time, x); }
  S pressing(int i) const { return dynamics().pressing_in(i, mode_, time, x); }
  void put_on(int i) {
    for (int pass = 0; pass < 3; ++pass) lift(i, S(-gap(i)));
  }
  /// Adds this to gap i, with the other closed contacts held.
  void lift(int i, const S& change) {
    const State at = x;
    dynamics().each_share(i, mode_, time, at, [&](int k, const S& share) {
      dynamics().lift_in(k, mode_, time, at, S(share * change), x);
    });
  }
  Rebound<S> rebound(int i, const S& speed) {
    State direction = State::Constant(x.size(), S(0));
    dynamics().each_share(i, mode_, time, x, [&](int k, const S& share) {
      dynamics().kick_in(k, mode_, time, x, share, direction);
    });
    const S damping = this->flow().along(time, x, direction, [&](const auto& t, const auto& y) {
      return dynamics().pressing_in(i, mode_, t, y);
    })[1];
    return {speed, restitution(i), pressing(i), closing_rate(i), damping};
  }
  void pass_on(int i, const S& integral) {
    State p = State::Constant(x.size(), S(0));
    State u = p;
    dynamics().each_share(i, mode_, time, x, [&](int k, const S& share) {
      dynamics().lift_in(k, mode_, time, x, share, p);
      dynamics().kick_in(k, mode_, time, x, share, u);
    });
    this->feel_gap(mode_ | (std::int64_t{1} << i), p, u, integral);
  }
  /// dλ/dt along the motion with contact i closed, per mobility.
  S closing_rate(int i) {
    return this->guard_rate(dynamics().closing_guard(i), mode_ | (std::int64_t{1} << i));
  }

 private:
  Engine& engine() { return static_cast<Engine&>(*this); }
  bool fly(const Leg& leg);
};

/// To the zero of the gap of the leg's contact, within one step.
template <class Engine, class Rules, class S, class Dynamics>
bool ContactMotion<Engine, Rules, S, Dynamics>::fly(const Leg& leg) {
  this->flow().expand(dynamics(), mode_, time, x, {leg.contact});
  if (!(this->flow().choose(dynamics().rate()) > 0)) return false;
  const bool leaves = leg.length == Leg::Length::rebound;
  Coefficients gap_on_step = this->flow().guard(0);
  if (leaves) gap_on_step[0] = 0;
  const auto end = end_of_flight(gap_on_step, leaves);
  if (!end) return false;
  Crossing there;
  there.kind = Crossing::Kind::guard;
  there.guard = leg.contact;
  there.fraction = *end;
  there.slope = polynomial_slope(gap_on_step, *end) / this->flow().length();
  this->move(there);
  const S late = gap(leg.contact);
  this->drift((S(value_of(late)) - late) / S(there.slope));
  return true;
}

template <class Engine, class Rules, class S, class Dynamics>
bool ContactMotion<Engine, Rules, S, Dynamics>::finish(const Leg& leg) {
  const int i = leg.contact;
  const bool held = is_closed(mode_, i);
  const auto force = [&] { return dynamics().guard(dynamics().closing_guard(i), mode_, time, x); };
  switch (leg.end) {
    case EventKind::impact:
      ending.guard = gap(i);
      ending.measure = approach(i);
      put_on(i);
      return this->strike_as_prescribed(i) == Outcome::ok;
    case EventKind::graze:
      ending.guard = held ? closing_rate(i) : S(-approach(i));
      ending.measure = held ? force() : gap(i);
      break;
    case EventKind::release:
      ending.guard = force();
      ending.measure = -closing_rate(i);
      break;
    case EventKind::chatter_complete: {
      ending.guard = gap(i);
      put_on(i);
      const Rebound<S> last = engine().rebound(i, S(-approach(i)));
      ending.measure = last.pressing;
      engine().kick(i, approach(i));
      engine().pass_on(i, chatter_gap_integral(last));
      break;
    }
    case EventKind::stick:
      ending.guard = -approach(i);
      put_on(i);
      engine().kick(i, approach(i));
      ending.measure = pressing(i);
      break;
    default:
      break;
  }
  return true;
}

template <class S, template <class> class Equations>
class SmoothMotion;

/// What happens at its instants.
template <class S, template <class> class Equations, class State = Eigen::Matrix<S, Equations<S>::states, 1>,
          class Contacts = NewtonContacts<SmoothMotion<S, Equations>, S, State>>
using SmoothRules = std::conditional_t<ContactDynamics<S, Equations>::may_jump,
                                       JumpMaps<Contacts, SmoothMotion<S, Equations>, S, State>, Contacts>;

/// One moving point of such a system.
template <class S, template <class> class Equations>
class SmoothMotion final : public ContactMotion<SmoothMotion<S, Equations>, SmoothRules<S, Equations>, S,
                                                ContactDynamics<S, Equations>> {
 public:
  using State = Eigen::Matrix<S, Equations<S>::states, 1>;
  using Rules = SmoothRules<S, Equations>;
  using Contacts = NewtonContacts<SmoothMotion, S, State>;
  using Dynamics = ContactDynamics<S, Equations>;
  using Base = ContactMotion<SmoothMotion, Rules, S, Dynamics>;
  using Base::Base;
  using Base::time;
  using Base::x;

 private:
  friend Base;
  friend Rules;
  friend Contacts;
  friend typename Rules::Loop;
  using Base::approach;
  using Base::count;
  using Base::dynamics;
  using Base::gap;
  using Base::kick;
  using Base::length;
  using Base::mode_;
  using Base::pass_on;
  using Base::pressing;
  using Base::put_on;
  using Base::reach;
  using Base::rebound;

  Outcome start(Observer* observer) {
    if constexpr (Dynamics::has_bounds) {
      if (!dynamics().possible(values_of(x))) return Outcome::bad_start;
    }
    return Rules::start(observer);
  }
  bool exists(int i) const { return dynamics().exists(i); }
  bool has_gap(int i) const { return exists(i) && dynamics().is_gap(i, mode_); }
  /// Whether contact i can touch here. At a start, one that cannot is met from the side it is on.
  bool reaches(int i) const {
    if constexpr (Dynamics::has_foot) {
      return value_of(dynamics().foot(i, time, x)) > 0;
    } else {
      return true;
    }
  }
  /// At a start: whether a gap that is not positive belongs to the other side.
  bool behind(int i) const {
    if constexpr (Dynamics::has_sides) {
      return dynamics().behind(i, values_of(x).eval());
    } else {
      return !reaches(i);
    }
  }
  bool at_end(int i) const {
    if constexpr (Dynamics::has_foot) {
      return std::abs(value_of(dynamics().foot(i, time, x))) <= 1e-13 * reach(i) * reach(i);
    } else {
      return false;
    }
  }
  int jumps() const { return dynamics().jump_count(); }
  int jump_guard(int k) const { return dynamics().contact_guards() + k; }
  std::int64_t jump_bit(int k) const { return dynamics().jump_bit(k); }
  JumpDirection direction(int k) const { return dynamics().direction(k); }
  S trigger(int k) const { return dynamics().trigger(k, time, x); }
  double trigger_size(int k) const { return dynamics().trigger_size(k, value_of(time), values_of(x).eval()); }
  double rate() const { return dynamics().rate(); }
  std::array<double, 9> trigger_terms(int k) {
    std::array<double, 9> terms;
    this->flow().expand(dynamics(), mode_ & ~jump_bit(k), time, x, {jump_guard(k)}, 8);
    double unit = 1;
    for (std::size_t order = 0; order < terms.size(); ++order, unit /= rate())
      terms[order] = value_of(this->flow().guard_coefficient(0, static_cast<int>(order))) * unit;
    return terms;
  }
  void set_anew(int k) { dynamics().set_anew(k, time, x); }
  void pass_by(int i) { mode_ ^= std::int64_t{1} << (count() + i); }
  Onset onset(int i, std::int64_t mode, int from) {
    constexpr int highest = 8;
    this->flow().expand(dynamics(), mode, time, x, {i}, highest);
    double unit = 1;
    for (int k = 1; k <= highest; ++k) {
      unit *= dynamics().rate();
      const double c = value_of(this->flow().guard_coefficient(0, k));
      if (k >= from && std::abs(c) > 1e-14 * (reach(i) + length()) * unit) return {k, c};
    }
    return {};
  }
  /// Forces are accelerations here.
  bool stays_at_zero(int k, std::span<const double> c) const {
    if (k >= count() || !is_closed(mode_, k)) return Rules::Loop::stays_at_zero(k, c);
    double size = 0;
    for (const double a : c) size += std::abs(a);
    return size <= 1e-14 * (reach(k) + length()) * dynamics().rate() * dynamics().rate();
  }
};

/// Newton's contacts between the equations, as core/taylor_system asks for them. `Setup` is what the
/// equations need beyond the values of the parameters.
template <template <class> class Equations, class... Setup>
struct SmoothKind {
  template <class S>
  using Dynamics = ContactDynamics<S, Equations>;
  template <class S>
  using Motion = SmoothMotion<S, Equations>;
  template <class S>
  Dynamics<S> dynamics(std::span<const S> values) const {
    return std::apply([&](const Setup&... parts) { return Dynamics<S>(parts..., values); }, setup);
  }

  std::tuple<Setup...> setup;
};

template <template <class> class Equations, class... Setup>
using SmoothSystem = TaylorSystem<SmoothKind<Equations, Setup...>>;

/// The system at these values; nullptr when they make none.
template <template <class> class Equations>
std::unique_ptr<System> smooth_system(std::span<const double> values, const Tolerance& tolerance) {
  if (!Equations<double>(values).valid()) return nullptr;
  return std::make_unique<SmoothSystem<Equations>>(SmoothKind<Equations>{}, values, tolerance);
}

}  // namespace graze
