/// Smooth systems with compliant contacts and dry friction beside rigid contacts: the rules of
/// core/contact/compliant_contacts for equations of any form.
///
///     x' = free(x, t) + Σ push_a λ_a,   a: contacts, then frictions
///     engaged contact  λ = F(depth, depth', x, t)      friction that slides  λ = ± amplitude(x, t)
///     held contact, friction that sticks: λ keeps the opening speed, the slip from changing
///     friction by the force N of a rigid contact:  λ = ± mu N sliding, up to static N sticking
///
/// An impact of a rigid contact with friction is that of core/contact/oblique_impact, the others as they
/// stand.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/contact/compliant_contacts.hpp"
#include "core/contact/contact_loads.hpp"
#include "core/contact/friction_mode.hpp"
#include "core/contact/oblique_impact.hpp"
#include "core/math/elimination.hpp"
#include "core/smooth/newton_system.hpp"

namespace graze {

/// `Equations<S>` provides, beyond what ContactDynamics asks for,
///
///     bool compliant(int i) const, releases_by_gap(int i) const
///     bool watches_force(int i) const      whether F may vanish while depth > 0
///     bool begins_singular(int i) const    whether F may have no power series where depth is 0
///     S preload(int i) const               F where depth and depth' are 0
///     std::array<T, 4> law(int i, t, x) const
///         F; what has its sign where depth > 0, and a power series where depth is 0; ∂F/∂depth, ∂F/∂depth'
///     T elastic(int i, t, x) const         F where depth' is 0
///     double at_surface(int i, t, x) const where depth is 0; 0 where it has no value there
///     int friction_count() const
///     int contact_of(int k) const          contact by whose force friction k is; −1: none
///     bool has_amplitude(int k) const      false: there is no such friction
///     T amplitude(int k, t, x) const, limit(int k, t, x) const, of a rigid contact: mu and static
///     double share_of_force(int k, bool at_rest, t, x) const    of a compliant contact's
///     bool eases(int k) const              whether its limit is not its amplitude
///     T slip(int k, t, x) const
///     void push(int a, t, x, const T& force, Vector<T>& v) const
///         adds to v what a force that opens contact a, or one against slip a − count, makes of the rates
///     void displace(int a, t, x, const T& force, Vector<T>& v) const       the same of the positions
///     void holding(t, x, std::vector<T>& opening, std::vector<std::vector<T>>& response) const
///         rates of the opening speeds, then of the slips with the other sign, without any force, and their
///         changes per force
template <class S, template <class> class Equations>
struct CompliantDynamics : ContactDynamics<S, Equations> {
  using Base = ContactDynamics<S, Equations>;
  using Free = Equations<S>;
  using Base::contacts;
  using Base::count;
  using Base::states;
  template <class T>
  using Vector = typename Base::template Vector<T>;

  using Base::Base;

  ModeLayout layout() const { return layout_; }
  int guard_count() const { return static_cast<int>(layout_.guards()); }
  int touch_count() const { return guard_count(); }
  bool in_contact(int i, std::int64_t mode) const {
    const Spring spring = layout_.spring(mode, i);
    return is_closed(mode, i) || spring == Spring::engaged || spring == Spring::parting;
  }
  bool sticks(int k, std::int64_t mode) const { return layout_.sliding(mode, k) == Sliding::stuck; }
  /// Whether a motion can be followed in legs: each friction has an amplitude of its own, and each force a
  /// power series where it begins.
  bool has_legs() const {
    for (int k = 0; k < Free::friction_count(); ++k) {
      if (Free::contact_of(k) >= 0 || !Free::has_amplitude(k)) return false;
    }
    for (int i = 0; i < count(); ++i) {
      if (Free::compliant(i) && Free::begins_singular(i)) return false;
    }
    return true;
  }
  /// Whether friction k is a share of the force of a rigid contact.
  bool shares(int k) const { return Free::contact_of(k) >= 0 && !Free::compliant(Free::contact_of(k)); }
  /// The friction by the force of rigid contact i; −1: none.
  int friction_by(int i) const {
    for (int k = 0; k < Free::friction_count(); ++k) {
      if (shares(k) && Free::contact_of(k) == i && Free::has_amplitude(k)) return k;
    }
    return -1;
  }
  /// The friction that a guard belongs to, and which of its two it is; −1: none.
  struct FrictionGuard {
    int friction = -1;
    bool first = true;
  };
  FrictionGuard friction_guard(int k) const {
    const int j = k - count();
    if (j < 0 || j >= 2 * Free::friction_count()) return {};
    return {j / 2, j % 2 == 0};
  }

  bool watched(int k, std::int64_t mode) const {
    if (const auto [f, first] = friction_guard(k); f >= 0) {
      const Sliding sliding = layout_.sliding(mode, f);
      return sliding == Sliding::stuck || (at_bound(sliding) && (first || shares(f)));
    }
    const bool first = k < count();
    const int i = first ? k : k - static_cast<int>(layout_.second_guard(0));
    if (is_closed(mode, i)) return layout_.carries(mode, i) && (first || Free::compliant(i));
    const Spring spring = layout_.spring(mode, i);
    const bool beside = (spring == Spring::engaged || spring == Spring::parting) && !Free::releases_by_gap(i);
    if (!first) return beside;
    return !beside || (spring == Spring::engaged && Free::watches_force(i));
  }
  bool is_gap(int k, std::int64_t mode) const {
    return k < count() && !is_closed(mode, k) && layout_.spring(mode, k) == Spring::open;
  }

  /// No contact can be passed by.
  static double side(int, std::int64_t) { return 1; }
  template <class T>
  T gap_in(int i, std::int64_t, const T& t, const Vector<T>& x) const {
    return Free::gap(i, t, x);
  }
  template <class T>
  T opening_in(int i, std::int64_t, const T& t, const Vector<T>& x) const {
    return Free::opening(i, t, x);
  }
  /// Friction by contact i that acts in the mode takes part, whether the contact is closed or about to be.
  template <class T>
  void kick_in(int i, std::int64_t mode, const T& t, const Vector<T>& x, const T& speed, Vector<T>& v) const {
    if (const int k = rubbing(i, mode); k < 0) {
      Free::kick(i, t, x, speed, v);
    } else {
      each_share_of_kick(i, k, mode, t, x, speed,
                         [&](int b, const T& share) { Free::push(b, t, x, share, v); });
    }
  }
  template <class T>
  void lift_in(int i, std::int64_t mode, const T& t, const Vector<T>& x, const T& gap, Vector<T>& v) const {
    if (const int k = rubbing(i, mode); k < 0) {
      Free::lift(i, t, x, gap, v);
    } else {
      each_share_of_kick(i, k, mode, t, x, gap,
                         [&](int b, const T& share) { Free::displace(b, t, x, share, v); });
    }
  }
  /// Without friction.
  template <class T>
  T response(int i, int j, std::int64_t, const T& t, const Vector<T>& x) const {
    return Base::response(i, j, 0, t, x);
  }
  /// Only rigid contacts pass impulses on.
  template <class F>
  void each_share(int i, std::int64_t mode, const S& t, const Vector<S>& x, const F& f) const {
    std::vector<int> held;
    for (int j = 0; j < count(); ++j) {
      if (j != i && layout_.carries(mode, j) && !Free::compliant(j)) held.push_back(j);
    }
    const auto respond = [&](int a, int b) {
      Vector<S> kicked = x;
      kick_in(b, mode, t, x, S(1), kicked);
      return S(Free::opening(a, t, kicked) - Free::opening(a, t, x));
    };
    Base::each_share(i, held, respond, f);
  }

  /// What moves the state in a mode.
  template <class T>
  struct Terms {
    Vector<T> rate;
    std::vector<T> force;  ///< λ, of those that act or hold
    std::vector<T> sign;   ///< of the forces of engaged contacts
    std::vector<T> opening;
    std::vector<std::vector<T>> response;  ///< both as Equations::holding, where something holds
    std::vector<T> shares;                 ///< of frictions that slide, in the force of their rigid contact
  };
  template <class T>
  Terms<T> terms(std::int64_t mode, const T& t, const Vector<T>& x) const {
    Terms<T> s;
    s.rate.resize(x.size());
    Free::rates(t, x, s.rate);
    set_acting(mode, t, x, s);
    const std::vector<int> holding = holding_in(mode);
    if (!holding.empty()) hold(holding, mode, t, x, s);
    each_force(mode, [&](int a) { Free::push(a, t, x, s.force[index(a)], s.rate); });
    return s;
  }
  template <class T>
  void rates(std::int64_t, const T&, const Vector<T>&, Vector<T>& rate, const Terms<T>& s) const {
    rate = s.rate;
  }
  template <class T>
  void rates(std::int64_t mode, const T& t, const Vector<T>& x, Vector<T>& rate) const {
    rate = terms(mode, t, x).rate;
  }
  template <class T>
  T guard(int k, std::int64_t mode, const T& t, const Vector<T>& x, const Terms<T>& s) const {
    if (k >= first_meter()) return meter(k - first_meter(), t, x, s);
    if (k >= guard_count()) return pressing_in(k - guard_count(), mode, t, x);
    if (const auto [f, first] = friction_guard(k); f >= 0) {
      const Sliding sliding = layout_.sliding(mode, f);
      if (sliding != Sliding::stuck && !first) return mobility_of(f, s);
      if (sliding != Sliding::stuck) return Free::slip(f, t, x) * S(sign_of(sliding));
      T most = limit(f, t, x) * S(1 + margin);
      if (shares(f)) most = most * s.force[index(Free::contact_of(f))];
      const T& force = s.force[index(count() + f)];
      return first ? T(most - force) : T(most + force);
    }
    const bool first = k < count();
    const int i = first ? k : k - static_cast<int>(layout_.second_guard(0));
    if (is_closed(mode, i)) {
      const T& force = s.force[index(i)];
      return first ? force : T(S(Free::preload(i) * S(1 + margin)) - force);
    }
    const Spring spring = layout_.spring(mode, i);
    if (first && spring == Spring::open) return Free::gap(i, t, x);
    if (first && spring == Spring::engaged && !Free::releases_by_gap(i)) return s.sign[index(i)];
    return -Free::gap(i, t, x);
  }
  template <class T>
  T guard(int k, std::int64_t mode, const T& t, const Vector<T>& x) const {
    return guard(k, mode, t, x, terms(mode, t, x));
  }
  /// What tells of the loads of contacts: of each contact depth, its rate, the force and what of it damps; of
  /// each friction the slip and the force against it.
  static constexpr int meters_of_contact = 4, meters_of_friction = 2;
  int meter_count() const {
    return meters_of_contact * count() + meters_of_friction * Free::friction_count();
  }
  int first_meter() const { return guard_count() + count(); }
  int contact_meter(int i) const { return first_meter() + meters_of_contact * i; }
  int force_meter(int i) const { return contact_meter(i) + 2; }
  int friction_meter(int k) const { return contact_meter(count()) + meters_of_friction * k; }
  bool metered(int k, std::int64_t mode) const {
    const int j = k - meters_of_contact * count();
    return j < 0 ? is_loaded(k / meters_of_contact, mode) : is_rubbed(j / meters_of_friction, mode);
  }
  bool is_loaded(int i, std::int64_t mode) const {
    return !is_closed(mode, i) && layout_.spring(mode, i) == Spring::engaged;
  }
  /// Whether friction k acts by a contact that is loaded.
  bool is_rubbed(int k, std::int64_t mode) const {
    const int i = Free::contact_of(k);
    return i >= 0 && is_loaded(i, mode) && layout_.sliding(mode, k) != Sliding::absent;
  }
  template <class T>
  T meter(int k, const T& t, const Vector<T>& x, const Terms<T>& s) const {
    if (const int j = k - meters_of_contact * count(); j >= 0) {
      const int f = j / meters_of_friction;
      return j % meters_of_friction == 0 ? Free::slip(f, t, x) : s.force[index(count() + f)];
    }
    const int i = k / meters_of_contact;
    switch (k % meters_of_contact) {
      case 0:
        return -Free::gap(i, t, x);
      case 1:
        return -Free::opening(i, t, x);
      case 2:
        return s.force[index(i)];
      default:
        return s.force[index(i)] - Free::elastic(i, t, x);
    }
  }
  /// The acceleration onto contact i, in a mode of its own where it is closed.
  int closing_guard(int i) const { return guard_count() + i; }
  /// Acceleration onto contact i with the others as the mode says.
  template <class T>
  T pressing_in(int i, std::int64_t mode, const T& t, const Vector<T>& x) const {
    return -opening_rate(i, mode & ~(std::int64_t{1} << i), t, x);
  }
  /// Rate of the opening speed of contact a, or of the slip a − count with the other sign.
  template <class T>
  T opening_rate(int a, std::int64_t mode, const T& t, const Vector<T>& x) const {
    Terms<T> s = terms(mode, t, x);
    const std::vector<int> holding = holding_in(mode);
    if (holding.empty()) Free::holding(t, x, s.opening, s.response);
    T rate = s.opening[index(a)];
    each_force(mode, [&](int b) { rate = rate + s.response[index(a)][index(b)] * s.force[index(b)]; });
    return rate;
  }
  template <class F>
  void each_force(std::int64_t mode, const F& f) const {
    for (const int a : acting_in(mode)) f(a);
    for (const int a : holding_in(mode)) f(a);
    for (const int k : shares_in(mode)) f(count() + k);
  }
  /// Frictions that slide by the forces of closed contacts.
  std::vector<int> shares_in(std::int64_t mode) const {
    std::vector<int> list;
    for (int k = 0; k < Free::friction_count(); ++k) {
      if (shares(k) && at_bound(layout_.sliding(mode, k)) && layout_.carries(mode, Free::contact_of(k)))
        list.push_back(k);
    }
    return list;
  }
  /// λ per force of its contact.
  template <class T>
  T share(int k, std::int64_t mode, const T& t, const Vector<T>& x) const {
    return Free::amplitude(k, t, x) * S(sign_of(layout_.sliding(mode, k)));
  }
  /// Contacts that are engaged and frictions that slide with an amplitude of their own.
  std::vector<int> acting_in(std::int64_t mode) const {
    std::vector<int> list;
    for (int i = 0; i < count(); ++i) {
      if (!is_closed(mode, i) && layout_.spring(mode, i) == Spring::engaged) list.push_back(i);
    }
    for (int k = 0; k < Free::friction_count(); ++k) {
      if (at_bound(layout_.sliding(mode, k)) && !shares(k)) list.push_back(count() + k);
    }
    return list;
  }
  std::vector<int> holding_in(std::int64_t mode) const {
    std::vector<int> list;
    for (int i = 0; i < count(); ++i) {
      if (layout_.carries(mode, i)) list.push_back(i);
    }
    for (int k = 0; k < Free::friction_count(); ++k) {
      if (sticks(k, mode) && (!shares(k) || layout_.carries(mode, Free::contact_of(k))))
        list.push_back(count() + k);
    }
    return list;
  }
  /// The λ of what acts.
  template <class T>
  void set_acting(std::int64_t mode, const T& t, const Vector<T>& x, Terms<T>& s) const {
    s.force.resize(directions());
    s.sign.resize(static_cast<std::size_t>(count()));
    for (const int a : acting_in(mode)) {
      if (a >= count()) {
        const int k = a - count();
        s.force[index(a)] = amplitude(k, t, x) * S(sign_of(layout_.sliding(mode, k)));
        continue;
      }
      const std::array<T, 4> law = Free::law(a, t, x);
      s.force[index(a)] = by_contact(a, law[0], t, x);
      s.sign[index(a)] = law[1];
    }
  }
  template <class T>
  T amplitude(int k, const T& t, const Vector<T>& x) const {
    return by_contact(Free::contact_of(k), Free::amplitude(k, t, x), t, x, k, false);
  }
  template <class T>
  T limit(int k, const T& t, const Vector<T>& x) const {
    return by_contact(Free::contact_of(k), Free::limit(k, t, x), t, x, k, true);
  }
  /// F of a contact that is engaged or about to be.
  S force_of(int i, const S& t, const Vector<S>& x) const {
    return by_contact(i, Free::law(i, t, x)[0], t, x);
  }
  S contact_force(int i, std::int64_t mode, const S& t, const Vector<S>& x) const {
    return in_contact(i, mode) ? terms(mode, t, x).force[index(i)] : S(0);
  }
  std::size_t directions() const { return index(count() + Free::friction_count()); }

  /// So much more counts of a force at rest, as in core/linear/mode.
  static constexpr double margin = 1e-14;

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  static bool is_finite(const S& a) {
    for (int part = 0; part < parts_of<S>; ++part) {
      if (!std::isfinite(part_of(a, part))) return false;
    }
    return true;
  }
  /// A force of contact i, or of a friction by it. At the very beginning or end of one that has no series
  /// there, where rounding would have its root of a negative depth, it is that of depth 0: what a damper does
  /// there, by which derivatives jump. It lasts no time, so that its own derivatives count nothing.
  template <class T>
  T by_contact(int i, const T& force, const T& t, const Vector<T>& x, int friction = -1,
               bool at_rest = false) const {
    if constexpr (std::is_same_v<T, S>) {
      if (i >= 0 && Free::compliant(i) && Free::begins_singular(i) && !is_finite(force)) {
        const double share = friction < 0 ? 1 : Free::share_of_force(friction, at_rest, t, x);
        return S(share * Free::at_surface(i, t, x));
      }
    }
    return force;
  }
  /// The λ of what holds: G λ = −w.
  template <class T>
  void hold(const std::vector<int>& holding, std::int64_t mode, const T& t, const Vector<T>& x,
            Terms<T>& s) const {
    Free::holding(t, x, s.opening, s.response);
    const std::vector<int> acting = acting_in(mode);
    std::vector<std::vector<T>> G(holding.size());
    std::vector<T> force;
    for (std::size_t k = 0; k < holding.size(); ++k) {
      const std::vector<T>& row = s.response[index(holding[k])];
      T w = s.opening[index(holding[k])];
      for (const int b : acting) w = w + row[index(b)] * s.force[index(b)];
      force.push_back(-w);
      for (const int b : holding) G[k].push_back(row[index(b)]);
    }
    const std::vector<int> rubbing = shares_in(mode);
    std::vector<T> shares;
    for (const int f : rubbing) {
      shares.push_back(share(f, mode, t, x));
      const std::size_t column = place_in(holding, Free::contact_of(f));
      for (std::size_t k = 0; k < holding.size(); ++k) {
        T& entry = G[k][column];
        entry = entry + s.response[index(holding[k])][index(count() + f)] * shares.back();
      }
    }
    eliminate(G, force);
    for (std::size_t k = 0; k < holding.size(); ++k) s.force[index(holding[k])] = force[k];
    s.shares.assign(index(Free::friction_count()), constant(t, S(0)));
    for (std::size_t k = 0; k < rubbing.size(); ++k) {
      s.shares[index(rubbing[k])] = shares[k];
      s.force[index(count() + rubbing[k])] = s.force[index(Free::contact_of(rubbing[k]))] * shares[k];
    }
  }
  static std::size_t place_in(const std::vector<int>& list, int a) {
    return static_cast<std::size_t>(std::find(list.begin(), list.end(), a) - list.begin());
  }
  /// The friction by rigid contact i that acts in the mode; −1: none.
  int rubbing(int i, std::int64_t mode) const {
    const int k = friction_by(i);
    return k >= 0 && layout_.sliding(mode, k) != Sliding::absent ? k : -1;
  }
  /// `f` takes the forces of contact i and of its friction k that together add `amount` to the opening speed;
  /// one that sticks keeps the slip.
  template <class T, class F>
  void each_share_of_kick(int i, int k, std::int64_t mode, const T& t, const Vector<T>& x, const T& amount,
                          const F& f) const {
    std::vector<T> opening;
    std::vector<std::vector<T>> response;
    Free::holding(t, x, opening, response);
    const std::vector<T>&normal = response[index(i)], &along = response[index(count() + k)];
    const T friction =
        sticks(k, mode) ? T(-along[index(i)] / along[index(count() + k)]) : share(k, mode, t, x);
    const T force = constant(t, S(1)) / (normal[index(i)] + friction * normal[index(count() + k)]);
    f(i, T(force * amount));
    f(count() + k, T(force * friction * amount));
  }
  /// Of a contact against friction by it that slides: where it vanishes rigid bodies have no force that
  /// holds.
  template <class T>
  T mobility_of(int k, const Terms<T>& s) const {
    const std::vector<T>& row = s.response[index(Free::contact_of(k))];
    return row[index(Free::contact_of(k))] + row[index(count() + k)] * s.shares[index(k)];
  }
  ModeLayout make_layout() const {
    ModeLayout layout{count(), Free::friction_count(), 0};
    for (int i = 0; i < count(); ++i) {
      if (Free::compliant(i)) layout.springs = layout.contacts;
    }
    return layout;
  }

  ModeLayout layout_ = make_layout();
};

/// One moving point of such a system.
template <class S, template <class> class Equations>
class CompliantMotion final
    : public ContactMotion<
          CompliantMotion<S, Equations>,
          CompliantContacts<CompliantMotion<S, Equations>, S, Eigen::Matrix<S, Equations<S>::states, 1>>, S,
          CompliantDynamics<S, Equations>> {
 public:
  using State = Eigen::Matrix<S, Equations<S>::states, 1>;
  using Rules = CompliantContacts<CompliantMotion, S, State>;
  static constexpr bool passes_contacts = true;
  /// Contacts whose force has no power series at its end part with the little of it that is left.
  void before_step(Observer* observer) {
    for (int i = 0; i < count(); ++i) {
      if (compliant(i) && dynamics().begins_singular(i) && layout().spring(mode_, i) == Spring::engaged)
        part(i, observer);
    }
  }

  /// Tells the loads of contacts up to a fraction of the step.
  void measure(Observer& observer, double end) const;

  /// As ContactMotion::follow, with frictions that slide and stick and contacts that are engaged as the leg's
  /// mode says.
  bool follow(const Leg& leg, const S& duration);

  using Frictions = FrictionContacts<CompliantMotion, S, State>;
  using Contacts = NewtonContacts<CompliantMotion, S, State>;
  using Dynamics = CompliantDynamics<S, Equations>;
  using Base = ContactMotion<CompliantMotion, Rules, S, Dynamics>;
  using Base::Base;
  using Base::ending;
  using Base::time;
  using Base::x;

 private:
  friend Rules;
  friend Frictions;
  friend Contacts;
  friend Base;
  friend typename Rules::Loop;
  using Base::count;
  using Base::dynamics;
  using Base::gap;
  using Base::length;
  using Base::lift;
  using Base::mode_;
  using Base::put_on;
  using Base::speed;
  using Base::tolerance_;
  using Base::touches_;

  Outcome start(Observer* observer) {
    if (!dynamics().possible(values_of(x))) return Outcome::bad_start;
    return Rules::start(observer);
  }
  void rest_on_closed() {
    this->begin_and_end_frictions();  // derivatives may have some that values have not
    Base::rest_on_closed();
    std::vector<int> contacts, frictions;
    for (const int a : dynamics().holding_in(mode_))
      (a < count() ? contacts : frictions).push_back(a < count() ? a : a - count());
    stop_sliding(contacts, frictions);
  }
  /// Also where all lengths in the gap are zero with it, as of a ball over a ground at 0.
  double reach(int i) const { return Base::reach(i) + speed() / dynamics().rate(); }
  double rate_now();
  ModeLayout layout() const { return dynamics().layout(); }
  bool exists(int i) const { return !dynamics().compliant(i); }
  bool has_gap(int i) const { return dynamics().is_gap(i, mode_); }
  static bool reaches(int) { return true; }
  void pass_by(int) {}
  bool tells_idle() const { return layout().tells_idle(); }
  bool idle(int i) const { return layout().idle(mode_, i); }
  void set_idle(int i, bool idle) { mode_ = layout().with_idle(mode_, i, idle); }

  bool compliant(int i) const { return dynamics().compliant(i); }
  bool releases_by_gap(int i) const { return dynamics().releases_by_gap(i); }
  static bool has_plate(int) { return false; }
  static bool watches_depth(int) { return true; }
  int friction_stop(int k) const { return dynamics().contact_of(k); }
  double preload(int i) const { return value_of(dynamics().preload(i)); }
  double stop_force(int i) const { return value_of(dynamics().force_of(i, time, x)); }
  double stop_stiffness(int i) const { return law(i, 2); }
  double stop_damping(int i) const { return law(i, 3); }
  double law(int i, std::size_t part) const {
    const double value = value_of(dynamics().law(i, time, x)[part]);
    return std::isfinite(value) ? value : 0;
  }
  /// What accelerations are measured by.
  double acceleration() const { return dynamics().rate() * (speed() + dynamics().rate() * length()); }
  double inward(int i) const { return -value_of(dynamics().opening_rate(i, mode_, time, x)); }
  void take_gap(int i) { lift(i, S(-value_of(gap(i)))); }
  void begin_force(int i);
  /// What the force of a contact still does until depth is 0.
  struct LastPush {
    double force;      ///< at most
    S impulse, moved;  ///< positions move by that, beside what the changed speed does
  };
  LastPush last_push(int i, const S& depth, const S& duration) const;
  void part(int i, Observer* observer);

  bool rubs(int k) const {
    const int i = dynamics().contact_of(k);
    if (i >= 0 && compliant(i)) return layout().spring(mode_, i) == Spring::engaged;
    return dynamics().has_amplitude(k) && (i < 0 || layout().carries(mode_, i) || is_resting(i));
  }
  bool is_resting(int i) const {
    return std::find(this->resting_.begin(), this->resting_.end(), i) != this->resting_.end();
  }
  bool shares(int k) const { return dynamics().shares(k); }
  int friction_contact(int k) const { return dynamics().contact_of(k); }
  double share_at_rest(int k) const { return limit(k); }
  /// Zero but for rounding, and yet more than rounding in the velocities. A motion as good as at rest in the
  /// origin has its size from the forces.
  bool turns_in_passing(int k) const {
    const double mobility = with_held({}).response(count() + k, count() + k);
    State change = State::Constant(x.size(), S(0));
    dynamics().push(count() + k, time, x, S(value_of(sliding_speed(k)) / mobility), change);
    const double rate = dynamics().rate();
    const double size = speed() + rate * length() + dynamics().speed_of(values_of(this->rates(mode_))) / rate;
    return !(mobility > 0) || dynamics().speed_of(values_of(change)) > 1e-7 * size;
  }
  bool singular(int guard) const {
    const auto [k, first] = dynamics().friction_guard(guard);
    return k >= 0 && !first && shares(k) && at_bound(layout().sliding(mode_, k));
  }
  double limit(int k) const { return value_of(dynamics().limit(k, time, x)); }

  bool rough(int i) const { return dynamics().friction_by(i) >= 0; }
  RoughContact<S> rough_contact(int i, int k) const;
  void push_rough(int i, int k, const S& opening, const S& slip, bool positions);
  std::optional<S> strike_rough(int i, const S& approach);
  void impacts_told(Observer* observer);
  void follow_chatter(int i, const Rebound<S>& rebound, Observer* observer);
  bool keeps_sliding(int i, int k, const Rebound<S>& rebound) const;
  std::int64_t rubbing_mode(int i) const;
  /// With friction by contact i as it acts there, closed or about to be.
  template <class F>
  auto rubbing(int i, const F& f) {
    const std::int64_t mode = std::exchange(mode_, rubbing_mode(i));
    const auto result = f();
    mode_ = mode;
    return result;
  }
  void kick(int i, const S& opening) {
    rubbing(i, [&] {
      Base::kick(i, opening);
      return 0;
    });
  }
  void pass_on(int i, const S& integral) {
    rubbing(i, [&] {
      Base::pass_on(i, integral);
      return 0;
    });
  }
  bool eases(int k) const {
    constexpr double rounding = 1e-12;  // limits may be typed apart from amplitudes and be the same at rest
    return dynamics().eases(k) && limit(k) - value_of(dynamics().amplitude(k, time, x)) > rounding * limit(k);
  }
  S sliding_speed(int k) const { return dynamics().slip(k, time, x); }
  bool of_force(int guard) const {
    if (const int k = dynamics().friction_guard(guard).friction; k >= 0) return dynamics().sticks(k, mode_);
    return closed(guard < count() ? guard : guard - static_cast<int>(layout().second_guard(0)));
  }
  bool closed(int i) const { return is_closed(mode_, i); }
  bool held(int k) const;
  RestProblem rest_problem(const std::vector<int>& contacts, const std::vector<int>& frictions);
  void stop_sliding(const std::vector<int>& contacts, const std::vector<int>& frictions);
  Rebound<S> rebound(int i, const S& speed);
  Onset onset(int guard, std::int64_t mode, int from);
  bool stays_at_zero(int k, std::span<const double> c) const;
  double size_of_guard(int guard) const;
  /// Of a gap that friction holds at zero.
  double least_slope(int guard) const { return 1e-14 * dynamics().rate() * size_of_guard(guard); }

  bool opens_last(int i) const;
  std::optional<S> mean_approach_within_step(int i, const S& duration);
  void tell_compliant(const Leg& leg, const std::optional<S>& mean_approach);
  void rub(const Leg& leg);

  std::optional<std::pair<int, EventKind>> slip_turned_;  ///< of a contact, in an impact

  /// Acceleration per force in a direction, nothing held.
  S mobility_of(int a) const {
    std::vector<S> opening;
    std::vector<std::vector<S>> response;
    dynamics().holding(time, x, opening, response);
    return response[static_cast<std::size_t>(a)][static_cast<std::size_t>(a)];
  }
  /// Responses with these directions held, taken one after the other where it does not depend on those
  /// before.
  struct Held {
    Eigen::MatrixXd response;
    std::vector<int> directions;
  };
  Held with_held(const std::vector<int>& directions) const;
};

/// Beside the system itself: engaged contacts.
template <class S, template <class> class Equations>
double CompliantMotion<S, Equations>::rate_now() {
  double fastest = dynamics().rate();
  std::vector<S> opening;
  std::vector<std::vector<S>> response;
  dynamics().holding(time, x, opening, response);
  for (int i = 0; i < count(); ++i) {
    if (layout().spring(mode_, i) != Spring::engaged || closed(i)) continue;
    const std::size_t k = static_cast<std::size_t>(i);
    const double mobility = value_of(response[k][k]);
    fastest = std::max({fastest, std::sqrt(std::max(0.0, stop_stiffness(i) * mobility)),
                        std::abs(stop_damping(i)) * mobility});
  }
  return fastest;
}

template <class S, template <class> class Equations>
void CompliantMotion<S, Equations>::measure(Observer& observer, double end) const {
  const auto part = [&](int meter) {
    const Coefficients c = this->polynomial_of(meter);
    return polynomial_part({c.begin(), c.end()}, 0, end);
  };
  std::vector<S> opening;
  std::vector<std::vector<S>> response;
  dynamics().holding(time, x, opening, response);
  const auto mobility = [&](int a, int b) {
    return value_of(response[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)]);
  };
  for (int i = 0; i < count(); ++i) {
    if (!dynamics().is_loaded(i, mode_)) continue;
    const int own = dynamics().contact_meter(i);
    LoadPiece piece{part(own), part(own + 1), part(dynamics().force_meter(i)), part(own + 3), {}, {}, 0, 0};
    piece.begin = this->absolute(value_of(time));
    piece.duration = end * this->flow().length();
    ContactLoad load;
    load.contact = i;
    load.normal_mobility = mobility(i, i);
    for (int k = 0; k < dynamics().friction_count(); ++k) {
      if (dynamics().contact_of(k) != i || !dynamics().is_rubbed(k, mode_)) continue;
      const Sliding sliding = layout().sliding(mode_, k);
      piece.slip = part(dynamics().friction_meter(k));
      piece.friction = part(dynamics().friction_meter(k) + 1);
      load.slip = at_bound(sliding) ? static_cast<int>(sign_of(sliding)) : 0;
      load.slip_speed = piece.slip[0];
      load.friction = dynamics().share_of_force(k, false, time, x);
      load.static_friction = dynamics().share_of_force(k, true, time, x);
      load.cross_mobility = -mobility(i, count() + k);
      load.tangential_mobility = mobility(count() + k, count() + k);
    }
    add_loads(piece, load);
    observer.load(load);
  }
}

/// A law like depth^1.5 has no power series at depth 0: by a midpoint step, as short as leaves a depth that
/// has digits. Only a damper, which acts from the beginning, does more than rounding in it.
template <class S, template <class> class Equations>
void CompliantMotion<S, Equations>::begin_force(int i) {
  if (!dynamics().begins_singular(i)) return;
  const auto depth = [&] { return -value_of(gap(i)); };
  const auto size = [&] { return reach(i) + length(); };
  if (depth() > on_contact * size()) return;  // a start within it
  const State start = x;
  const S begin = time;
  double h = 1e-11 / dynamics().rate();
  for (int trial = 0; trial < 8; ++trial, h *= 8) {
    x = start;
    time = begin;
    x += this->rates(mode_) * S(h / 2);
    time += S(h / 2);
    x = start + this->rates(mode_) * S(h);
    time = begin + S(h);
    if (depth() > 1e-15 * size()) break;
  }
  touches_[static_cast<std::size_t>(i)] = {};
  touches_[static_cast<std::size_t>(layout().second_guard(i))] = {};
}

/// F = A + B (depth/depth₀)^p gives in the time τ that is left the impulse A τ + B τ/(p + 1), and moves by
/// A τ²/2 + B τ²/(p + 2); A is what a damper still does at depth 0. With p a number the change of the impulse
/// by depth₀ is F/depth' whatever the law, as it has to be. Where depth is 0 already, or below by rounding,
/// there is A only.
template <class S, template <class> class Equations>
auto CompliantMotion<S, Equations>::last_push(int i, const S& depth, const S& duration) const -> LastPush {
  const S lasting(dynamics().at_surface(i, time, x));
  S fading(0);
  double power = 1;
  if (value_of(depth) > 0) {
    const std::array<S, 4> law = dynamics().law(i, time, x);
    fading = law[0] - lasting;
    const double exponent = value_of(depth) * value_of(law[2]) / value_of(fading);
    if (exponent > 0) power = exponent;  // else it is rounding beside the other
  }
  const S impulse = duration * (lasting + fading / S(power + 1));
  const S moved = duration * (duration * (lasting / S(2) + fading / S(power + 2)) - impulse);
  return {std::abs(value_of(lasting)) + std::abs(value_of(fading)), impulse, moved};
}

/// Where what the force of contact i, and friction by it, still does until depth is 0 is little, it is done
/// now; also where depth is 0 already, as of contacts that end together: there is no series then.
template <class S, template <class> class Equations>
void CompliantMotion<S, Equations>::part(int i, Observer* observer) {
  constexpr double little = 1e-12;  // change of the speed
  const S opening = dynamics().opening(i, time, x), depth = -gap(i);
  const double v = value_of(opening);
  if (!(v > 0)) return;
  const std::int64_t open = layout().with_spring(mode_, i, Spring::open);
  const double braking = value_of(dynamics().opening_rate(i, open, time, x));
  if (!(v * v > 4 * std::max(0.0, -braking) * value_of(depth))) return;  // it may turn back
  const double mobility = with_held({}).response(i, i);
  const S duration = depth / opening;
  const LastPush last = last_push(i, depth, duration);
  if (!(last.force * mobility * value_of(duration) < little * v)) return;
  const State at = x;
  const auto push = [&](int a, double share) {
    dynamics().push(a, time, at, S(S(share) * last.impulse), x);
    dynamics().displace(a, time, at, S(S(share) * last.moved), x);
  };
  push(i, 1);
  for (int k = 0; k < dynamics().friction_count(); ++k) {
    if (dynamics().contact_of(k) != i) continue;
    const Sliding sliding = layout().sliding(mode_, k);
    if (at_bound(sliding))
      push(count() + k, dynamics().share_of_force(k, false, time, at) * sign_of(sliding));
  }
  this->remember();
  this->set_spring(i, Spring::parting);
  this->tell_changes(observer);
}

template <class S, template <class> class Equations>
auto CompliantMotion<S, Equations>::with_held(const std::vector<int>& others) const -> Held {
  constexpr double dependent = 1e-11;
  std::vector<S> opening;
  std::vector<std::vector<S>> all;
  dynamics().holding(time, x, opening, all);
  const Eigen::Index n = static_cast<Eigen::Index>(all.size());
  Held held;
  held.response.resize(n, n);
  for (Eigen::Index a = 0; a < n; ++a) {
    for (Eigen::Index b = 0; b < n; ++b)
      held.response(a, b) = value_of(all[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)]);
  }
  const Eigen::VectorXd alone = held.response.diagonal();
  for (const int a : others) {
    const double mobility = held.response(a, a);
    if (mobility <= dependent * alone(a)) continue;
    const Eigen::VectorXd column = held.response.col(a);
    held.response -= column * (column.transpose() / mobility);
    held.directions.push_back(a);
  }
  return held;
}

/// Slides by its mode, but others that hold keep it from it: not past what moves by itself.
template <class S, template <class> class Equations>
bool CompliantMotion<S, Equations>::held(int k) const {
  if (!at_bound(layout().sliding(mode_, k))) return false;
  const std::vector<int> holding = dynamics().holding_in(mode_);
  if (holding.empty() || std::abs(value_of(sliding_speed(k))) > 1e-13 * speed()) return false;
  const int a = count() + k;
  if (with_held(holding).response(a, a) > 1e-11 * with_held({}).response(a, a)) return false;
  return std::abs(value_of(dynamics().opening_rate(a, mode_, time, x))) <= 1e-10 * acceleration();
}

template <class S, template <class> class Equations>
RestProblem CompliantMotion<S, Equations>::rest_problem(const std::vector<int>& contacts,
                                                        const std::vector<int>& frictions) {
  std::int64_t mode = mode_;  // with none of these
  std::vector<int> resting = contacts;
  for (const int i : contacts) mode &= ~(std::int64_t{1} << i);
  for (const int k : frictions) {
    mode = layout().with(mode, k, Sliding::absent);
    resting.push_back(count() + k);
  }
  const std::int64_t sliding = mode_;
  std::vector<std::pair<int, Eigen::Index>>
      by_contacts;  // frictions that slide, with the place of the contact
  for (int k = 0; k < dynamics().friction_count(); ++k) {
    const auto contact = std::find(contacts.begin(), contacts.end(), dynamics().contact_of(k));
    if (shares(k) && at_bound(layout().sliding(sliding, k)) && contact != contacts.end())
      by_contacts.emplace_back(k, contact - contacts.begin());
  }
  const auto at = [](const auto& list, int a) { return list[static_cast<std::size_t>(a)]; };
  typename Dynamics::template Terms<S> s = dynamics().terms(mode, time, x);
  dynamics().holding(time, x, s.opening, s.response);
  const std::vector<int> acting = dynamics().acting_in(mode);
  const double unit = acceleration();
  const Eigen::Index n = static_cast<Eigen::Index>(resting.size());
  RestProblem p(n);
  for (Eigen::Index k = 0; k < n; ++k) {
    const int a = at(resting, static_cast<int>(k));
    p.opening(k) = value_of(at(s.opening, a));
    p.size(k) = std::abs(p.opening(k)) + unit;
    for (const int b : acting) {
      const double change = value_of(at(at(s.response, a), b)) * value_of(at(s.force, b));
      p.opening(k) += change;
      p.size(k) += std::abs(change);
    }
    for (Eigen::Index j = 0; j < n; ++j)
      p.response(k, j) = value_of(at(at(s.response, a), at(resting, static_cast<int>(j))));
    for (const auto& [f, contact] : by_contacts)
      p.response(k, contact) +=
          value_of(at(at(s.response, a), count() + f)) * value_of(dynamics().share(f, sliding, time, x));
    if (a >= count() && shares(a - count())) {
      const bool sticks = layout().sliding(sliding, a - count()) == Sliding::stuck;
      p.most(k) = sticks ? std::numeric_limits<double>::infinity() : 0;
      p.least(k) = -p.most(k);
    } else if (a >= count()) {
      p.most(k) = limit(a - count()) * (1 + Dynamics::margin);
      p.least(k) = -p.most(k);
    } else {
      p.most(k) =
          compliant(a) ? preload(a) * (1 + Dynamics::margin) : std::numeric_limits<double>::infinity();
    }
  }
  p.rates = [=, this](const Eigen::VectorXd& force) {
    State rate = s.rate;
    for (Eigen::Index k = 0; k < n; ++k)
      dynamics().push(at(resting, static_cast<int>(k)), time, x, S(force(k)), rate);
    for (const auto& [f, contact] : by_contacts)
      dynamics().push(count() + f, time, x, S(dynamics().share(f, sliding, time, x) * force(contact)), rate);
    const auto change = [&](const auto& t, const auto& y) {
      using T = std::remove_cvref_t<decltype(t)>;
      typename Dynamics::template Terms<T> terms;
      dynamics().set_acting(mode, t, y, terms);
      dynamics().holding(t, y, terms.opening, terms.response);
      std::vector<T> results;
      for (Eigen::Index k = 0; k < n; ++k) {
        const int a = at(resting, static_cast<int>(k));
        T w = at(terms.opening, a);
        for (const int b : acting) w = w + at(at(terms.response, a), b) * at(terms.force, b);
        for (Eigen::Index j = 0; j < n; ++j)
          w = w + at(at(terms.response, a), at(resting, static_cast<int>(j))) * S(force(j));
        for (const auto& [f, contact] : by_contacts)
          w = w + at(at(terms.response, a), count() + f) *
                      (dynamics().share(f, sliding, t, y) * S(force(contact)));
        results.push_back(w);
      }
      for (const int k : frictions)
        results.push_back(shares(k) ? constant(t, S(0)) : dynamics().limit(k, t, y));
      return results;
    };
    const auto changes = this->flow().along(time, x, rate, change, S(1));
    RestProblem::Rates rates{Eigen::VectorXd(n), Eigen::VectorXd::Zero(n), Eigen::VectorXd::Zero(n)};
    for (Eigen::Index k = 0; k < n; ++k) rates.opening(k) = value_of(changes[static_cast<std::size_t>(k)][1]);
    for (Eigen::Index k = n - static_cast<Eigen::Index>(frictions.size()); k < n; ++k) {
      const std::size_t place = static_cast<std::size_t>(k) + frictions.size();
      rates.most(k) = value_of(changes[place][1]);
      rates.least(k) = -rates.most(k);
    }
    return rates;
  };
  return p;
}

/// By forces along these, so that the contacts go on as they do.
template <class S, template <class> class Equations>
void CompliantMotion<S, Equations>::stop_sliding(const std::vector<int>& contacts,
                                                 const std::vector<int>& frictions) {
  if (frictions.empty()) return;
  std::vector<int> all = contacts;
  for (const int k : frictions) all.push_back(count() + k);
  const std::vector<int> chosen = with_held(all).directions;
  std::vector<S> opening;
  std::vector<std::vector<S>> response;
  dynamics().holding(time, x, opening, response);
  std::vector<std::vector<S>> G;
  std::vector<S> impulse;
  for (const int a : chosen) {
    G.emplace_back();
    for (const int b : chosen)
      G.back().push_back(response[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)]);
    impulse.push_back(a < count() ? S(0) : sliding_speed(a - count()));
  }
  eliminate(G, impulse);
  const State at = x;
  for (std::size_t k = 0; k < chosen.size(); ++k) dynamics().push(chosen[k], time, at, impulse[k], x);
}

/// What frictions do while contact i chatters, as in the linear family: those that slide only as the body
/// leaves its contact brake it on both ways, one that slides faster than the chatter can turn is a force that
/// lasts.
template <class S, template <class> class Equations>
Rebound<S> CompliantMotion<S, Equations>::rebound(int i, const S& leaving) {
  Rebound<S> rebound = rubbing(i, [&] { return Base::rebound(i, leaving); });
  const std::vector<int> holding = dynamics().holding_in(mode_);
  const Eigen::MatrixXd G = with_held(holding).response;
  const double v = value_of(leaving);
  const double duration = 2 * v / ((1 - value_of(rebound.restitution)) * value_of(rebound.pressing));
  for (int k = 0; k < dynamics().friction_count(); ++k) {
    if (!at_bound(layout().sliding(mode_, k)) || k == dynamics().friction_by(i)) continue;
    const int a = count() + k;
    const double cross = G(i, a), both = G(i, i) * G(a, a);
    if (!(both > 0) || cross * cross <= 1e-24 * both) continue;
    const double share = cross / G(i, i);  // of the opening speed in the slip
    const double at_rest = value_of(sliding_speed(k)) - share * v;
    const auto drag = [&] {
      return value_of(dynamics().opening_rate(a, mode_ | (std::int64_t{1} << i), time, x));
    };
    const bool turns_along = std::abs(cross * cross - both) <= 1e-14 * both;
    if (turns_along && std::abs(at_rest) <= 1e-13 * speed() &&
        std::abs(drag()) <= 1e-10 * std::abs(share * value_of(rebound.pressing))) {
      if (!holding.empty()) rebound.steady = false;
      const S brake = dynamics().amplitude(k, time, x) * S(std::abs(cross));
      rebound.friction += brake;
      rebound.pressing -= brake;
      continue;
    }
    const double acceleration = std::abs(value_of(dynamics().opening_rate(a, mode_, time, x)));
    if (!(std::abs(at_rest) > 4 * std::abs(share) * v + acceleration * duration)) rebound.steady = false;
  }
  if (const int k = dynamics().friction_by(i); k >= 0 && !keeps_sliding(i, k, rebound))
    rebound.steady = false;
  return rebound;
}

/// Mode, with the friction by contact i as its slip says, or at rest as a normal force there would have it.
template <class S, template <class> class Equations>
std::int64_t CompliantMotion<S, Equations>::rubbing_mode(int i) const {
  const int k = dynamics().friction_by(i);
  if (k < 0 || layout().sliding(mode_, k) != Sliding::absent) return mode_;
  const double slip = value_of(sliding_speed(k));
  if (std::abs(slip) > 1e-13 * speed())
    return layout().with(mode_, k, slip < 0 ? Sliding::backward : Sliding::forward);
  const RoughContact<double> contact = values_of(rough_contact(i, k));
  const bool sticks = std::abs(contact.cross) <= limit(k) * contact.tangential;
  return layout().with(mode_, k,
                       sticks              ? Sliding::stuck
                       : contact.cross < 0 ? Sliding::backward
                                           : Sliding::forward);
}

template <class S, template <class> class Equations>
RoughContact<S> CompliantMotion<S, Equations>::rough_contact(int i, int k) const {
  std::vector<S> opening;
  std::vector<std::vector<S>> response;
  dynamics().holding(time, x, opening, response);
  const int place_of_friction = count() + k;
  const std::size_t n = static_cast<std::size_t>(i), a = static_cast<std::size_t>(place_of_friction);
  return {response[n][n], -response[n][a], response[a][a], dynamics().amplitude(k, time, x),
          this->restitution(i)};
}

/// By impulses of contact i and its friction k: these changes of the opening speed and the slip, or of the
/// gap and the way along the contact.
template <class S, template <class> class Equations>
void CompliantMotion<S, Equations>::push_rough(int i, int k, const S& opening, const S& slip,
                                               bool positions) {
  const RoughContact<S> c = rough_contact(i, k);
  const S determinant = c.normal * c.tangential - c.cross * c.cross;
  const S normal = (opening * c.tangential - slip * c.cross) / determinant;
  const S along = (opening * c.cross - slip * c.normal) / determinant;
  const State at = x;
  const auto change = [&](int b, const S& by) {
    positions ? dynamics().displace(b, time, at, by, x) : dynamics().push(b, time, at, by, x);
  };
  change(i, normal);
  change(count() + k, along);
}

/// An impact with friction, no other contact taking part.
/// @return the opening speed after it
template <class S, template <class> class Equations>
std::optional<S> CompliantMotion<S, Equations>::strike_rough(int i, const S& approach) {
  const int k = dynamics().friction_by(i);
  const RoughContact<S> contact = rough_contact(i, k);
  const S r = contact.restitution;
  if (!(value_of(contact.tangential) > 0)) {
    const State at = x;
    dynamics().kick_in(i, layout().with(mode_, k, Sliding::absent), time, at, S((S(1) + r) * approach), x);
    return r * approach;
  }
  const ObliqueContact<S> oblique = contact.oblique();
  const S slip = contact.slip_of(sliding_speed(k));
  const ObliqueImpact<S> after = event_to_event(oblique, slip, S(slip * oblique.cosine - approach));
  const S turned = (after.slip - slip) * contact.root() * contact.turn();
  const S friction = (contact.cross * after.impulse - turned) / contact.tangential;
  const State at = x;
  dynamics().push(i, time, at, after.impulse, x);
  dynamics().push(count() + k, time, at, friction, x);
  if (after.course != SlipCourse::keeps)
    slip_turned_ = {i,
                    after.course == SlipCourse::locks ? EventKind::slip_to_stick : EventKind::slip_reversal};
  if (value_of(r) == 0) return S(0);
  return after.course == SlipCourse::keeps ? S(r * approach) : S(after.block - after.slip * oblique.cosine);
}

template <class S, template <class> class Equations>
void CompliantMotion<S, Equations>::impacts_told(Observer* observer) {
  const auto turned = std::exchange(slip_turned_, std::nullopt);
  if (!turned || observer == nullptr) return;
  Event event;
  event.contact = turned->first;
  event.kind = turned->second;
  event.mode = mode_;
  event.approach_speed = std::numeric_limits<double>::quiet_NaN();
  this->tell(observer, event, this->snapshot(observer), value_of(time));
}

/// Whether slip certainly goes on through the whole sequence: half of it is more than all that impacts and
/// other forces can change.
template <class S, template <class> class Equations>
bool CompliantMotion<S, Equations>::keeps_sliding(int i, int k, const Rebound<S>& rebound) const {
  const std::int64_t mode = rubbing_mode(i);
  if (!at_bound(layout().sliding(mode, k))) return false;
  State kicked = x;
  dynamics().kick_in(i, mode, time, x, S(1), kicked);
  const double slip = value_of(sliding_speed(k));
  const double per_kick = std::abs(value_of(dynamics().slip(k, time, kicked)) - slip);
  const double drive = std::abs(value_of(dynamics().opening_rate(count() + k, mode_, time, x)));
  const double all = value_of(rebound.speed) / (1 - value_of(rebound.restitution)) *
                     (per_kick + drive / value_of(rebound.pressing));
  return std::abs(slip) > 4 * all;
}

/// A sequence in which slip may stop or turn is followed to its limit, where the contact closes if it does.
template <class S, template <class> class Equations>
void CompliantMotion<S, Equations>::follow_chatter(int i, const Rebound<S>& rebound, Observer* observer) {
  const int k = dynamics().friction_by(i);
  if (k < 0) return;
  for (int other = 0; other < dynamics().friction_count(); ++other) {
    if (other != k && at_bound(layout().sliding(mode_, other))) return;
  }
  Rebound<double> brief = values_of(rebound);
  brief.steady = true;
  brief.rate = brief.damping = 0;
  if (!chatter_completes(brief, rate_now(), tolerance_.chatter, tolerance_.turn)) return;
  const RoughContact<S> contact = rough_contact(i, k);
  const S slips = sliding_speed(k);
  const S drive = -dynamics().opening_rate(count() + k, mode_, time, x);
  const auto end =
      graze::follow_chatter(contact.oblique(), ObliqueLaw{}, contact.slip_of(slips), rebound.speed,
                            contact.slip_of(drive), rebound.pressing, 4 * tolerance_.chatter / rate_now());
  if (!end) return;
  const S unit = contact.root() * contact.turn();
  const State from = x;
  const auto set = [&](const S& slip, const S& way) {
    x = from;
    push_rough(i, k, S(0), way, true);
    put_on(i);
    push_rough(i, k, this->approach(i), S(slip - sliding_speed(k)), false);
  };
  set(end->slip * unit, end->way * unit);
  const State limit = x;
  const auto mode = mode_;
  const auto touches = touches_;
  const auto resting = this->resting_;
  this->resting_ = {i};
  const Outcome outcome = this->hold(nullptr);
  const bool closes = outcome == Outcome::ok && is_closed(mode_, i);
  const Sliding sliding = layout().sliding(mode_, k);
  const bool turns = closes && std::abs(value_of(this->closing_rate(i))) * value_of(end->duration) >
                                   2 * tolerance_.turn * value_of(rebound.pressing);
  const S gained = closes ? S(-dynamics().opening_rate(count() + k, mode_, time, x) * end->duration) : S(0);
  mode_ = mode;
  touches_ = touches;
  this->resting_ = resting;
  x = from;
  if (!closes || turns) return;
  const auto before = this->snapshot(observer);
  if (at_bound(sliding)) {  // back to the present time, in the motion with the contact closed
    const S slip = end->slip * unit;
    set(slip - gained, end->way * unit + (S(0.5) * gained - slip) * end->duration);
  } else {
    x = limit;
  }
  const double accumulation = value_of(time) + value_of(end->duration);
  this->tell(observer, EventKind::chatter_complete, i, before, accumulation);
  this->close(i, observer, accumulation);
  mode_ = layout().with(mode_, k, sliding);
}

/// Of the terms of a guard, so that what is less by digits is none.
template <class S, template <class> class Equations>
double CompliantMotion<S, Equations>::size_of_guard(int guard) const {
  const double rate = dynamics().rate();
  const int k = dynamics().friction_guard(guard).friction;
  if (k >= 0 && !dynamics().sticks(k, mode_)) {
    double size = speed() + rate * length();
    if (dynamics().holding_in(mode_).empty()) return size;
    const auto s = dynamics().terms(mode_, time, x);  // forces that are in balance
    const int place_of_friction = count() + k;
    const auto& row = s.response[static_cast<std::size_t>(place_of_friction)];
    dynamics().each_force(mode_, [&](int b) {
      const std::size_t place = static_cast<std::size_t>(b);
      size += std::abs(value_of(row[place]) * value_of(s.force[place])) / rate;
    });
    return size;
  }
  const int i = guard < count() ? guard : guard - static_cast<int>(layout().second_guard(0));
  const int a = k >= 0 ? count() + k : i;
  const bool of_gap = k < 0 && !closed(i);
  if (of_gap) return reach(i) + length();
  const double mobility = with_held({}).response(a, a);
  return rate * (speed() + rate * length()) / mobility;
}

template <class S, template <class> class Equations>
Onset CompliantMotion<S, Equations>::onset(int guard, std::int64_t mode, int from) {
  constexpr int highest = 8;
  this->flow().expand(dynamics(), mode, time, x, {guard}, highest);
  std::array<double, highest + 1> terms{};
  double size = size_of_guard(guard), unit = 1;
  for (int k = 0; k <= highest; ++k, unit /= dynamics().rate()) {
    terms[static_cast<std::size_t>(k)] = value_of(this->flow().guard_coefficient(0, k));
    if (const double term = std::abs(terms[static_cast<std::size_t>(k)]) * unit;
        k <= 4 && std::isfinite(term))
      size = std::max(size, term);
  }
  unit = 1;
  for (int k = 1; k <= highest; ++k) {
    unit *= dynamics().rate();
    const double c = terms[static_cast<std::size_t>(k)];
    if (k >= from && std::abs(c) > 1e-14 * size * unit) return {k, c};
  }
  return {};
}

template <class S, template <class> class Equations>
bool CompliantMotion<S, Equations>::stays_at_zero(int k, std::span<const double> c) const {
  if (singular(k)) return false;
  double size = 0;
  for (const double a : c) size += std::abs(a);
  if (size == 0) return true;
  const int i = this->stop_of(k);
  const bool of_depth = i >= 0 && layout().spring(mode_, i) != Spring::open &&
                        (k != i || layout().spring(mode_, i) == Spring::recovering || releases_by_gap(i));
  const bool may_stay = of_force(k) || of_depth || dynamics().friction_guard(k).friction >= 0;
  return may_stay && size <= 1e-14 * size_of_guard(k);
}

template <class S, template <class> class Equations>
bool CompliantMotion<S, Equations>::follow(const Leg& leg, const S& duration) {
  touches_.assign(static_cast<std::size_t>(layout().guards()), {});
  this->begin_leg(leg);
  const int i = leg.contact;
  const bool elastic = i >= 0 && compliant(i);
  const bool returns =
      leg.length == Leg::Length::returning && elastic && (leg.end == EventKind::contact_end || opens_last(i));
  const S begins = returns ? gap(i) : S(0);
  auto mean_approach = returns ? mean_approach_within_step(i, duration) : std::nullopt;
  if (!this->go_along(leg, duration)) return false;
  if (returns && !mean_approach) mean_approach = (begins - gap(i)) / duration;
  if (elastic) {
    tell_compliant(leg, mean_approach);
  } else if (i >= 0) {
    return this->finish(leg);
  } else if (leg.end != EventKind::section) {
    rub(leg);
  }
  return true;
}

/// Whether what ends an engaged contact is its gap, not its force: with a preload and a damper the first of
/// them.
template <class S, template <class> class Equations>
bool CompliantMotion<S, Equations>::opens_last(int i) const {
  if (releases_by_gap(i) || !dynamics().watches_force(i)) return true;
  const double elastic = value_of(dynamics().elastic(i, time, x));
  return preload(i) > 0 && elastic - preload(i) < stop_force(i);
}

/// (δ(T) − δ(0))/T as a series in T, which may be zero or below. Nothing: T is longer than the series reach.
template <class S, template <class> class Equations>
std::optional<S> CompliantMotion<S, Equations>::mean_approach_within_step(int i, const S& duration) {
  const bool open = layout().spring(mode_, i) == Spring::open;
  const int guard = open || releases_by_gap(i) ? i : static_cast<int>(layout().second_guard(i));
  this->flow().expand(dynamics(), mode_, time, x, {guard}, highest_order);
  if (!(this->flow().reach(dynamics().rate()) > std::abs(value_of(duration)))) return std::nullopt;
  S mean(0);
  for (int k = highest_order; k > 0; --k) mean = mean * duration + this->flow().guard_coefficient(0, k);
  return open ? S(-mean) : mean;
}

/// Guard and measure of an event of a compliant contact, or of a touch of what keeps it engaged.
template <class S, template <class> class Equations>
void CompliantMotion<S, Equations>::tell_compliant(const Leg& leg, const std::optional<S>& mean_approach) {
  const int i = leg.contact;
  const S mobility = mobility_of(i), depth = -gap(i), approach = this->approach(i);
  const auto of_guard = [&](int guard) { return mobility * dynamics().guard(guard, mode_, time, x); };
  const auto rate_of = [&](int guard) { return mobility * this->guard_rate(guard, mode_); };
  const int second = static_cast<int>(layout().second_guard(i));
  const int force = dynamics().force_meter(i);
  const bool engaged = layout().spring(mode_, i) == Spring::engaged;
  const bool by_gap = !engaged || opens_last(i);
  const GuardOf of_gap = mean_approach ? GuardOf::mean_speed : GuardOf::gap;
  if (leg.end == EventKind::contact_begin && closed(i)) {
    ending = {of_guard(second), S(-rate_of(second)), GuardOf::force};
  } else if (leg.end == EventKind::contact_begin) {
    ending = {mean_approach ? S(-*mean_approach) : S(-depth), approach, of_gap};
  } else if (leg.end == EventKind::contact_end && by_gap) {
    ending = {mean_approach ? *mean_approach : depth, S(-approach), of_gap};
  } else if (leg.end == EventKind::contact_end) {
    ending = {of_guard(force), S(-rate_of(force)), GuardOf::force};
  } else if (leg.end == EventKind::graze && engaged) {
    ending = by_gap ? Ending<S>{approach, depth} : Ending<S>{rate_of(force), of_guard(force), GuardOf::force};
  } else {
    this->finish(leg);
  }
}

/// Guard and measure of an event of a friction, as accelerations along it.
template <class S, template <class> class Equations>
void CompliantMotion<S, Equations>::rub(const Leg& leg) {
  const int k = -1 - leg.contact;
  const int first = count() + 2 * k;
  if (leg.end == EventKind::graze && !dynamics().sticks(k, mode_)) {
    ending = {this->guard_rate(first, mode_), dynamics().guard(first, mode_, time, x)};
    return;
  }
  const std::int64_t sliding = mode_, rest = layout().with(mode_, k, Sliding::stuck);
  const S mobility = mobility_of(count() + k);
  const S forward = dynamics().guard(first, rest, time, x),
          backward = dynamics().guard(first + 1, rest, time, x);
  const bool nearer = value_of(forward) < value_of(backward);
  const S left = mobility * (nearer ? forward : backward);
  const auto rate = [&] { return mobility * this->guard_rate(nearer ? first : first + 1, rest); };
  switch (leg.end) {
    case EventKind::slip_to_stick:
    case EventKind::slip_reversal:
      ending = {dynamics().guard(first, sliding, time, x),
                leg.end == EventKind::slip_to_stick ? left : S(-left)};
      mode_ = rest;
      rest_on_closed();
      break;
    case EventKind::stick_to_slip:
      ending = {left, S(-rate())};
      break;
    default:
      ending = {rate(), left};
  }
}

/// Compliant contacts and frictions between the equations, as core/smooth/system asks for them.
template <template <class> class Equations, class... Setup>
struct CompliantKind : SmoothKind<Equations, Setup...> {
  template <class S>
  using Dynamics = CompliantDynamics<S, Equations>;
  template <class S>
  using Motion = CompliantMotion<S, Equations>;
  template <class S>
  Dynamics<S> dynamics(std::span<const S> values) const {
    return std::apply([&](const Setup&... parts) { return Dynamics<S>(parts..., values); }, this->setup);
  }
};

}  // namespace graze
