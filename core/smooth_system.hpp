/// From the equations of a smooth system with rigid frictionless contacts to a System.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/model.hpp"
#include "core/motion_system.hpp"
#include "core/newton_contacts.hpp"
#include "core/taylor_motion.hpp"

namespace graze {

/// The equations with their contacts closed as the mode says: a closed contact carries the force that keeps
/// its gap from accelerating, 0 = gap'' = −a + Σ G λ.
///
/// `Equations<S>` provides, with Vector<T> = Eigen::Matrix<T, states, 1> and T = S or Series<S>,
///
///     static constexpr int states, contacts
///     explicit Equations(std::span<const S> parameters)
///     S period() const                  forcing period, 0: autonomous
///     double rate() const               fastest rate, 1/time
///     void rates(const T& t, const Vector<T>& x, Vector<T>& rate) const    all contacts open
///     T gap(int i, const T& t, const Vector<T>& x) const                   >= 0 while open
///     T opening(int i, const T& t, const Vector<T>& x) const               d gap/dt
///     T pressing(int i, const T& t, const Vector<T>& x) const              −d²gap/dt², all contacts open
///     void kick(int i, const Vector<T>& x, const T& speed, Vector<T>& v) const
///         adds to v the change of velocities per impulse that adds `speed` to the opening speed
///     void lift(int i, const Vector<T>& x, const T& gap, Vector<T>& v) const
///         adds to v the change of positions along the same direction that adds `gap` to the gap
///     double reach(int i, x of double) const   size of the terms in the gap
///     double length_of(x of double) const, speed_of(x of double) const  size of positions and of velocities
///     S restitution(int i) const
///     bool valid() const                false: these parameters make no system
///
/// and where a gap is a distance to something of finite length,
///
///     T foot(int i, const T& t, const Vector<T>& x) const      > 0 where the contact can touch
///
/// Rules: a gap that reaches zero with no foot is no contact; the body passes by and may come back on the
/// other side, where the gap counts with the other sign. Both sides touch alike. A closed contact whose foot
/// falls through zero opens.
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
  /// Guard i < contacts: gap or force of contact i; guard contacts + i: its foot while closed.
  static constexpr int guards = has_foot ? 2 * contacts : contacts;

  using Free::Free;

  bool watched(int k, std::int64_t mode) const { return k < contacts || closed(k - contacts, mode); }
  bool is_gap(int k, std::int64_t mode) const { return k < contacts && !closed(k, mode); }
  static bool closed(int i, std::int64_t mode) { return ((mode >> i) & 1) != 0; }
  /// −1 when contact i has been passed by and is met from behind.
  static double side(int i, std::int64_t mode) {
    return has_foot && ((mode >> (contacts + i)) & 1) != 0 ? -1.0 : 1.0;
  }
  /// Where no contact can be passed by, there is one side and nothing to be done.
  template <class T>
  static T seen_from(double side, const T& value) {
    if constexpr (has_foot) {
      return value * S(side);
    } else {
      return value;
    }
  }
  static constexpr std::int64_t closed_bits = (std::int64_t{1} << contacts) - 1;

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
  void kick_in(int i, std::int64_t mode, const Vector<T>& x, const T& speed, Vector<T>& v) const {
    Free::kick(i, x, seen_from(side(i, mode), speed), v);
  }

  template <class T>
  void rates(std::int64_t mode, const T& t, const Vector<T>& x, Vector<T>& rate) const {
    Free::rates(t, x, rate);
    if ((mode & closed_bits) == 0) return;
    const Forces<T> force = forces(mode, t, x);
    for (int i = 0; i < contacts; ++i) {
      if (closed(i, mode)) kick_in(i, mode, x, force(i), rate);
    }
  }
  template <class T>
  T guard(int k, std::int64_t mode, const T& t, const Vector<T>& x) const {
    if constexpr (has_foot) {
      if (k >= contacts) return Free::foot(k - contacts, t, x);
    }
    return closed(k, mode) ? T(forces(mode, t, x)(k)) : gap_in(k, mode, t, x);
  }
  /// Change of opening speed i per kick j.
  template <class T>
  T response(int i, int j, std::int64_t mode, const T& t, const Vector<T>& x) const {
    const T before = opening_in(i, mode, t, x);
    Vector<T> kicked = x;
    kick_in(j, mode, x, constant(t, S(1)), kicked);
    return opening_in(i, mode, t, kicked) - before;
  }
  /// Acceleration onto contact i with the other contacts as the mode says.
  template <class T>
  T pressing_in(int i, std::int64_t mode, const T& t, const Vector<T>& x) const {
    const std::int64_t others = mode & ~(std::int64_t{1} << i);
    T a = free_pressing(i, mode, t, x);
    if ((others & closed_bits) == 0) return a;
    const Forces<T> force = forces(others, t, x);
    for (int j = 0; j < contacts; ++j) {
      if (closed(j, others)) a = a - response(i, j, mode, t, x) * force(j);
    }
    return a;
  }

 private:
  /// λ of the closed contacts: G λ = a, by elimination (G has ones on its diagonal).
  template <class T>
  Forces<T> forces(std::int64_t mode, const T& t, const Vector<T>& x) const {
    Forces<T> force;
    std::array<int, contacts> set;
    std::size_t n = 0;
    for (int i = 0; i < contacts; ++i) {
      if (!closed(i, mode)) continue;
      force(i) = free_pressing(i, mode, t, x);
      set[n++] = i;
    }
    if (n == 1) return force;
    std::vector<std::vector<T>> G(n, std::vector<T>(n));
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) G[a][b] = response(set[a], set[b], mode, t, x);
    }
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t a = p + 1; a < n; ++a) {
        const T share = G[a][p] / G[p][p];
        for (std::size_t b = p + 1; b < n; ++b) G[a][b] = G[a][b] - share * G[p][b];
        force(set[a]) = force(set[a]) - share * force(set[p]);
      }
    }
    for (std::size_t p = n; p-- > 0;) {
      for (std::size_t b = p + 1; b < n; ++b) force(set[p]) = force(set[p]) - G[p][b] * force(set[b]);
      force(set[p]) = force(set[p]) / G[p][p];
    }
    return force;
  }
};

/// One moving point of such a system.
template <class S, template <class> class Equations>
class SmoothMotion final
    : public TaylorMotion<
          SmoothMotion<S, Equations>,
          NewtonContacts<SmoothMotion<S, Equations>, S, Eigen::Matrix<S, Equations<S>::states, 1>>, S,
          ContactDynamics<S, Equations>> {
 public:
  using State = Eigen::Matrix<S, Equations<S>::states, 1>;
  using Rules = NewtonContacts<SmoothMotion, S, State>;
  using Dynamics = ContactDynamics<S, Equations>;
  using Base = TaylorMotion<SmoothMotion, Rules, S, Dynamics>;
  using Base::Base;
  using Base::time;
  using Base::x;

 private:
  friend Rules;
  friend typename Rules::Loop;
  using Base::dynamics;
  using Base::mode_;

  int count() const { return Dynamics::contacts; }
  bool exists(int) const { return true; }
  bool any_closed() const { return (mode_ & Dynamics::closed_bits) != 0; }
  /// Whether contact i can touch here. At a start, one that cannot is met from the side it is on.
  bool reaches(int i) const {
    if constexpr (Dynamics::has_foot) {
      return value_of(dynamics().foot(i, time, x)) > 0;
    } else {
      return true;
    }
  }
  void pass_by(int i) { mode_ ^= std::int64_t{1} << (Dynamics::contacts + i); }
  S gap(int i) const { return dynamics().gap_in(i, mode_, time, x); }
  S approach(int i) const { return -dynamics().opening_in(i, mode_, time, x); }
  double reach(int i) const { return dynamics().reach(i, values_of(x).eval()); }
  double length() const { return dynamics().length_of(values_of(x).eval()); }
  double speed() const { return dynamics().speed_of(values_of(x).eval()); }
  S restitution(int i) const { return dynamics().restitution(i); }
  void kick(int i, const S& speed) {
    const State at = x;
    dynamics().kick_in(i, mode_, at, speed, x);
  }
  S response(int i, int j) const { return dynamics().response(i, j, mode_, time, x); }
  S pressing(int i) const { return dynamics().pressing_in(i, mode_, time, x); }
  FreePressing free_pressing(int i) const {
    const double a = value_of(dynamics().free_pressing(i, mode_, time, x));
    return {a, std::abs(a) + reach(i) * dynamics().rate() * dynamics().rate()};
  }
  void put_on(int i) {
    for (int pass = 0; pass < 3; ++pass) {
      const State at = x;
      dynamics().lift(i, at, S(-dynamics().gap(i, time, x)), x);
    }
  }
  /// dλ/dt along the motion with contact i closed.
  S force_rate(int i) {
    this->flow().expand(dynamics(), mode_ | (std::int64_t{1} << i), time, x, {i}, 1);
    return this->flow().guard_coefficient(0, 1);
  }
  double press_rate(int i) { return value_of(force_rate(i)); }
  Rebound<S> rebound(int i, const S& speed) {
    State direction = State::Constant(S(0));
    dynamics().kick_in(i, mode_, x, S(1), direction);
    const S damping = this->flow().along(time, x, direction, [&](const auto& t, const auto& y) {
      return dynamics().pressing_in(i, mode_, t, y);
    })[1];
    return {speed, restitution(i), pressing(i), force_rate(i), damping};
  }
  /// With p the direction of the gap in the positions and u its direction in the velocities, the rest of the
  /// system feels J p + J (J u − p) per ∫ gap dt, J = d rate/dx with the contact closed.
  void pass_on(int i, const S& integral) {
    const std::int64_t mode = mode_ | (std::int64_t{1} << i);
    State p = State::Constant(S(0));
    State u = p;
    dynamics().lift(i, x, S(Dynamics::side(i, mode_)), p);
    dynamics().kick_in(i, mode_, x, S(1), u);
    const State behind = change(mode, u) - p;
    x += (change(mode, p) + change(mode, behind)) * integral;
  }
  State change(std::int64_t mode, const State& direction) {
    const auto rates = this->flow().along(time, x, direction, [&](const auto& t, const auto& y) {
      auto rate = y;
      dynamics().rates(mode, t, y, rate);
      return rate;
    });
    State result;
    for (int k = 0; k < Dynamics::states; ++k) result(k) = rates(k)[1];
    return result;
  }
};

template <template <class> class Equations>
class SmoothSystem final : public System {
 public:
  using Plain = ContactDynamics<double, Equations>;

  SmoothSystem(std::span<const double> values, const Tolerance& tolerance)
      : values_(values.begin(), values.end()),
        tolerance_(tolerance),
        plain_(values),
        motion_(plain_, tolerance) {}
  SmoothSystem(const SmoothSystem&) = delete;
  SmoothSystem& operator=(const SmoothSystem&) = delete;

  int states() const override { return Plain::states; }
  int contacts() const override { return Plain::contacts; }
  double period() const override { return plain_.period(); }
  bool periodic() const override { return true; }
  double rate() const override { return plain_.rate(); }

  Outcome advance(HybridState& state, const Section& section, Observer* observer) override {
    return move_plain(motion_, same, state, section, Plain::contacts, observer);
  }
  Outcome advance(HybridState& state, const Section& section, Tangent& tangent) override {
    return in_chunks(state, tangent, [&](HybridState& from, const Tangent& seed, Eigen::Index first) {
      return seed.state.cols() - first == 1 ? carry<1>(from, section, seed, tangent, first)
                                            : carry<Plain::states>(from, section, seed, tangent, first);
    });
  }
  void gaps(const HybridState& state, Eigen::VectorXd& gap, Eigen::VectorXd& rate) const override {
    gap.resize(Plain::contacts);
    rate.resize(Plain::contacts);
    const Vector<double> x = state.x;
    for (int i = 0; i < Plain::contacts; ++i) {
      gap(i) = plain_.gap_in(i, state.mode, state.time, x);
      rate(i) = plain_.opening_in(i, state.mode, state.time, x);
    }
  }
  Eigen::RowVectorXd gap_gradient(const HybridState& state, int contact) const override {
    using S = Dual<Plain::states>;
    const std::vector<S> values(values_.begin(), values_.end());
    const Equations<S> equations{std::span<const S>(values)};
    Vector<S> x = state.x.template cast<S>();
    for (int i = 0; i < Plain::states; ++i) x(i).slope[static_cast<std::size_t>(i)] = 1;
    const S gap = equations.gap(contact, S(state.time), x) * S(Plain::side(contact, state.mode));
    return Eigen::Map<const Eigen::RowVectorXd>(gap.slope.data(), Plain::states);
  }

 private:
  template <class T>
  using Vector = Eigen::Matrix<T, Plain::states, 1>;
  static constexpr auto same = [](Eigen::Index i) { return i; };

  template <int N>
  std::pair<Outcome, Eigen::Index> carry(HybridState& state, const Section& section, const Tangent& seed,
                                         Tangent& tangent, Eigen::Index first) {
    const std::vector<Dual<N>> values = dual_parameters<N>(values_, seed, first);
    const ContactDynamics<Dual<N>, Equations> dynamics{std::span<const Dual<N>>(values)};
    SmoothMotion<Dual<N>, Equations> motion(dynamics, tolerance_);
    return {move_directions<N>(motion, same, state, section, Plain::contacts, seed, tangent, first), N};
  }

  std::vector<double> values_;
  Tolerance tolerance_;
  Plain plain_;
  SmoothMotion<double, Equations> motion_;
};

/// The system at these values; nullptr when they make none.
template <template <class> class Equations>
std::unique_ptr<System> smooth_system(std::span<const double> values, const Tolerance& tolerance) {
  if (!Equations<double>(values).valid()) return nullptr;
  return std::make_unique<SmoothSystem<Equations>>(values, tolerance);
}

}  // namespace graze
