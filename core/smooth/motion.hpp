/// Motion of a smooth system between instants: arcs of core/smooth/flow, searched step by step.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/contact/motion_loop.hpp"
#include "core/smooth/flow.hpp"

namespace graze {

/// Power series, unless the dynamics have a flow of their own: a template `OwnFlow` of the dynamics.
template <class S, class Dynamics>
struct FlowOf {
  using Type = TaylorFlow<S, Dynamics>;
};
template <class S, class Dynamics>
requires requires { typename Dynamics::template OwnFlow<Dynamics>; }
struct FlowOf<S, Dynamics> {
  using Type = typename Dynamics::template OwnFlow<Dynamics>;
};

/// What a loop needs to move `Dynamics`; `Rules<Engine>` (core/newton_contacts or a model's own) says what
/// happens at the instants. Beyond what TaylorFlow asks for, Dynamics provides
///
///     S period() const, double rate() const
///     bool watched(int guard, std::int64_t mode) const   whether this guard means anything in the mode
///     bool is_gap(int guard, std::int64_t mode) const    whether it is an open gap, to be reported
///
/// and where a mode lasts for one step only
///
///     static std::int64_t after_step(std::int64_t mode)  what it becomes
///
/// An engine with `void before_step(Observer*)` may change its state and mode there, wherever a step begins.
///
/// Dynamics may provide further guards that are only looked at, when there is an observer,
///
///     int meter_count() const, first_meter() const       their number, and the guard that is the first
///     bool metered(int meter, std::int64_t mode) const   whether it counts in the mode
///
/// of which `Engine::measure(Observer&, double end) const` tells up to a fraction of each step.
template <class Engine, class Rules, class S, class Dynamics>
class TaylorMotion : public Rules {
 public:
  using Flow = typename FlowOf<S, Dynamics>::Type;
  using State = typename Flow::State;
  using Rules::time;
  using Rules::x;

  TaylorMotion(const Dynamics& dynamics, const Tolerance& tolerance)
      : Rules(tolerance), dynamics_(dynamics), flow_(tolerance) {}

  S period() const { return dynamics_.period(); }
  bool commensurate() const { return true; }
  double fastest_rate() const { return dynamics_.rate(); }
  typename Rules::OuterState outer_state() const { return values_of(x); }
  S guard(int k) const { return dynamics_.guard(k, mode_, time, x); }

  Crossing search(double horizon, const Section& section, Observer* observer);
  void move(const Crossing& c);
  /// Along the flow's own variable, and along time.
  void drift(const S& shift);
  void drift_time(const S& shift);
  /// By a given time, whatever the guards say; at most one step backwards. false: not possible.
  bool flow_for(const S& duration);

 protected:
  using Rules::mode_;
  using Rules::on_level_;
  using Rules::touches_;

  static constexpr bool has_meters = requires(const Dynamics& d) { d.meter_count(); };
  const Dynamics& dynamics() const { return dynamics_; }
  Flow& flow() { return flow_; }
  const Flow& flow() const { return flow_; }
  /// A meter that counts in the present mode, or a guard that is watched there, as a polynomial.
  Coefficients polynomial_of(int guard) const {
    const auto place = std::find(guards_.begin(), guards_.end(), guard);
    return flow_.guard(static_cast<std::size_t>(place - guards_.begin()));
  }
  /// Rates of the state in this mode.
  State rates(std::int64_t mode) const {
    State r = x;
    dynamics_.rates(mode, time, x, r);
    return r;
  }
  /// Rate of a guard along the motion in this mode.
  S guard_rate(int k, std::int64_t mode) {
    flow_.expand(dynamics_, mode, time, x, {k}, 1);
    return flow_.guard_coefficient(0, 1);
  }
  /// What the rest of the system has felt of ∫ gap dt while a contact chattered: with p the direction of the
  /// gap in the positions and u its direction in the velocities, J p + J (J u − p), J = d rate/dx with the
  /// contact closed.
  void feel_gap(std::int64_t mode, const State& p, const State& u, const S& integral) {
    const State behind = change(mode, u) - p;
    x += (change(mode, p) + change(mode, behind)) * integral;
  }

 private:
  int guard_count() const {
    if constexpr (requires { Dynamics::guards; }) {
      return Dynamics::guards;
    } else {
      return dynamics_.guard_count();
    }
  }
  S clock() const {
    if constexpr (Flow::has_clock) {
      return dynamics_.clock(mode_, x);
    } else {
      return S(1);
    }
  }
  /// Time on the step, as MotionLoop::watch_gap asks for it.
  auto clock_of_step() const {
    if constexpr (Flow::has_clock) {
      return [this](double fraction) {
        return std::pair(value_of(time) + value_of(flow_.passed(fraction)),
                         polynomial_slope(flow_.clock(), fraction));
      };
    } else {
      return EvenClock{value_of(time), flow_.length()};
    }
  }
  bool expand() {
    flow_.expand(dynamics_, mode_, time, x, guards_);
    return flow_.choose(dynamics_.rate(), watched_) > 0;
  }
  /// Change of the rates in this mode per change of the state in a direction.
  State change(std::int64_t mode, const State& direction) {
    const auto rates = flow_.along(time, x, direction, [&](const auto& t, const auto& y) {
      auto rate = y;
      dynamics_.rates(mode, t, y, rate);
      return rate;
    });
    State result = direction;
    for (Eigen::Index k = 0; k < result.size(); ++k) result(k) = rates(k)[1];
    return result;
  }
  void choose_guards(const Observer* observer);
  bool leave_singular_point(double& left);
  /// Fraction of the step at which the time passed is `left`; 1 where it is not.
  double until(double left) const;
  void search_step(const Section& section, bool begins, Crossing& first);
  void watch(Observer& observer, const Crossing& c) const;
  void tell_piece(Observer& observer, double end) const;

  const Dynamics& dynamics_;
  Flow flow_;
  std::vector<int> guards_;  ///< the watched ones, then the meters
  std::size_t watched_ = 0;
};

template <class Engine, class Rules, class S, class Dynamics>
double TaylorMotion<Engine, Rules, S, Dynamics>::until(double left) const {
  if constexpr (Flow::has_clock) {
    auto c = flow_.clock();
    for (double& a : c) a = -a;
    c[0] = left;
    return first_zero(c, 1).value_or(1.0);
  } else {
    return std::min(1.0, left / flow_.length());
  }
}

/// Where no series exists: a midpoint step so short that its error is rounding.
template <class Engine, class Rules, class S, class Dynamics>
bool TaylorMotion<Engine, Rules, S, Dynamics>::leave_singular_point(double& left) {
  const double h = std::min(left, 1e-11 / dynamics_.rate());
  const State start = x;
  x += rates(mode_) * S(h / 2);
  x = start + rates(mode_) * S(h);
  time += S(h);
  left -= h;
  return this->finite() && left > 0;
}

template <class Engine, class Rules, class S, class Dynamics>
void TaylorMotion<Engine, Rules, S, Dynamics>::choose_guards(const Observer* observer) {
  guards_.clear();
  for (int k = 0; k < guard_count(); ++k) {
    if (dynamics_.watched(k, mode_)) guards_.push_back(k);
  }
  watched_ = guards_.size();
  if constexpr (has_meters) {
    for (int k = 0; observer != nullptr && k < dynamics_.meter_count(); ++k) {
      if (dynamics_.metered(k, mode_)) guards_.push_back(dynamics_.first_meter() + k);
    }
  }
}

template <class Engine, class Rules, class S, class Dynamics>
Crossing TaylorMotion<Engine, Rules, S, Dynamics>::search(double horizon, const Section& section,
                                                          Observer* observer) {
  choose_guards(observer);
  // A clock that starts from rest may not move time by as much as its rounding at first.
  constexpr int patience = Flow::has_clock ? 100 : 0;
  int standing = 0;
  double left = horizon;
  for (bool begins = true;; begins = false) {
    if constexpr (requires(Engine & engine) { engine.before_step(observer); }) {
      const std::int64_t mode = mode_;
      static_cast<Engine*>(this)->before_step(observer);
      if (mode != mode_) choose_guards(observer);
    }
    Crossing c;
    c.kind = Crossing::Kind::floor;
    if (!expand() && (!leave_singular_point(left) || !expand())) return c;
    c.fraction = until(left);
    const double passed = value_of(flow_.passed(c.fraction));
    const bool last = c.fraction < 1 || passed >= left;
    standing = value_of(time) + passed > value_of(time) ? 0 : standing + 1;
    if (!last && standing > patience) return c;
    c.kind = Crossing::Kind::none;
    search_step(section, begins, c);
    if (observer != nullptr) watch(*observer, c);
    if (c.kind != Crossing::Kind::none || last) return c;
    x = flow_.state(1);
    time += flow_.passed(1);
    left -= passed;
    std::fill(touches_.begin(), touches_.end(), typename Rules::ExactTouch{});
    on_level_ = false;
    if constexpr (requires { Dynamics::after_step(mode_); }) {
      mode_ = Dynamics::after_step(mode_);
      choose_guards(observer);
    }
  }
}

template <class Engine, class Rules, class S, class Dynamics>
bool TaylorMotion<Engine, Rules, S, Dynamics>::flow_for(const S& duration) {
  static_assert(!Flow::has_clock, "steps must be lengths of time");
  guards_.clear();
  watched_ = 0;
  double left = value_of(duration);
  constexpr int most_steps = 100000;
  for (int k = 0; left != 0 && k < most_steps; ++k) {
    if (!expand()) return false;
    const double share = left / flow_.length();
    if (share < -1) return false;
    const double fraction = std::min(1.0, share);
    x = flow_.state(fraction);
    time += flow_.passed(fraction);
    left = share <= 1 ? 0 : left - flow_.length();
  }
  drift_time(duration - S(value_of(duration)));
  return left == 0 && this->finite();
}

template <class Engine, class Rules, class S, class Dynamics>
void TaylorMotion<Engine, Rules, S, Dynamics>::search_step(const Section& section, bool begins,
                                                           Crossing& first) {
  for (std::size_t k = 0; k < watched_; ++k) {
    const auto guard = static_cast<std::size_t>(guards_[k]);
    const bool touched = begins && guard < touches_.size();
    auto touch = touched ? touches_[guard] : typename Rules::ExactTouch{};
    if constexpr (Flow::has_clock) touch.speed *= clock();
    auto c = flow_.guard(k);
    this->search_guard(guards_[k], c, touch, flow_.length(), first);
  }
  if (section.kind != Section::Kind::level) return;
  auto level = flow_.coordinate(section.coordinate);
  for (double& a : level) a *= -section.direction;
  level[0] += section.direction * section.level;
  this->search_level(level, begins, flow_.length(), first);
}

template <class Engine, class Rules, class S, class Dynamics>
void TaylorMotion<Engine, Rules, S, Dynamics>::watch(Observer& observer, const Crossing& c) const {
  const double end = c.fraction;
  const auto clock = clock_of_step();
  for (std::size_t k = 0; observer.follows_gaps() && k < watched_; ++k) {
    if (dynamics_.is_gap(guards_[k], mode_)) this->watch_gap(observer, guards_[k], flow_.guard(k), clock, c);
  }
  if constexpr (has_meters) {
    if (guards_.size() > watched_) static_cast<const Engine*>(this)->measure(observer, end);
  }
  if (observer.follows_pieces()) tell_piece(observer, end);
}

/// The step up to the fraction `end`.
template <class Engine, class Rules, class S, class Dynamics>
void TaylorMotion<Engine, Rules, S, Dynamics>::tell_piece(Observer& observer, double end) const {
  MotionPiece piece;
  piece.mode = mode_;
  const Coefficients clock = flow_.clock();
  piece.terms = clock.size();
  piece.end = end;
  piece.coefficients.assign(clock.begin(), clock.end());
  piece.coefficients[0] = this->absolute(value_of(time));
  for (int i = 0; i < static_cast<int>(x.size()); ++i) {
    const Coefficients c = flow_.coordinate(i);
    piece.coefficients.insert(piece.coefficients.end(), c.begin(), c.end());
  }
  observer.piece(piece);
}

template <class Engine, class Rules, class S, class Dynamics>
void TaylorMotion<Engine, Rules, S, Dynamics>::move(const Crossing& c) {
  if (c.fraction > 0) std::fill(touches_.begin(), touches_.end(), typename Rules::ExactTouch{});
  on_level_ = false;
  x = flow_.state(c.fraction);
  time += flow_.passed(c.fraction);
}

template <class Engine, class Rules, class S, class Dynamics>
void TaylorMotion<Engine, Rules, S, Dynamics>::drift(const S& shift) {
  const S tick = clock();
  x += rates(mode_) * shift;
  time += tick * shift;
}

template <class Engine, class Rules, class S, class Dynamics>
void TaylorMotion<Engine, Rules, S, Dynamics>::drift_time(const S& shift) {
  drift(shift / clock());
}

}  // namespace graze
