/// Motion of a smooth system between instants: arcs of core/taylor_flow, searched step by step.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/motion_loop.hpp"
#include "core/taylor_flow.hpp"

namespace graze {

/// What a loop needs to move `Dynamics`; `Rules<Engine>` (core/newton_contacts or a model's own) says what
/// happens at the instants. Beyond what TaylorFlow asks for, Dynamics provides
///
///     S period() const, double rate() const
///     bool watched(int guard, std::int64_t mode) const   whether this guard means anything in the mode
///     bool is_gap(int guard, std::int64_t mode) const    whether it is an open gap, to be reported
template <class Engine, class Rules, class S, class Dynamics>
class TaylorMotion : public Rules {
 public:
  using Flow = TaylorFlow<S, Dynamics>;
  using State = typename Flow::State;
  using Rules::time;
  using Rules::x;

  TaylorMotion(const Dynamics& dynamics, const Tolerance& tolerance)
      : Rules(tolerance), dynamics_(dynamics), flow_(tolerance.integration) {}

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

 protected:
  using Rules::mode_;
  using Rules::on_level_;
  using Rules::touches_;

  const Dynamics& dynamics() const { return dynamics_; }
  Flow& flow() { return flow_; }
  /// Rates of the state in this mode.
  State rates(std::int64_t mode) const {
    State r;
    dynamics_.rates(mode, time, x, r);
    return r;
  }

 private:
  S clock() const {
    if constexpr (Flow::has_clock) {
      return dynamics_.clock(mode_, x);
    } else {
      return S(1);
    }
  }
  bool expand() {
    flow_.expand(dynamics_, mode_, time, x, guards_);
    return flow_.choose(dynamics_.rate()) > 0;
  }
  bool leave_singular_point(double& left);
  /// Fraction of the step at which the time passed is `left`; 1 where it is not.
  double until(double left) const;
  void search_step(const Section& section, bool begins, Crossing& first);
  void watch(Observer& observer, double end) const;

  const Dynamics& dynamics_;
  Flow flow_;
  std::vector<int> guards_;
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
Crossing TaylorMotion<Engine, Rules, S, Dynamics>::search(double horizon, const Section& section,
                                                          Observer* observer) {
  guards_.clear();
  for (int k = 0; k < Dynamics::guards; ++k) {
    if (dynamics_.watched(k, mode_)) guards_.push_back(k);
  }
  double left = horizon;
  for (bool begins = true;; begins = false) {
    Crossing c;
    c.kind = Crossing::Kind::floor;
    if (!expand() && (!leave_singular_point(left) || !expand())) return c;
    c.fraction = until(left);
    const double passed = value_of(flow_.passed(c.fraction));
    const bool last = c.fraction < 1 || passed >= left;
    if (!last && !Flow::has_clock && !(value_of(time) + passed > value_of(time))) return c;
    c.kind = Crossing::Kind::none;
    search_step(section, begins, c);
    if (observer != nullptr) watch(*observer, c.fraction);
    if (c.kind != Crossing::Kind::none || last) return c;
    x = flow_.state(1);
    time += flow_.passed(1);
    left -= passed;
    std::fill(touches_.begin(), touches_.end(), typename Rules::ExactTouch{});
    on_level_ = false;
  }
}

template <class Engine, class Rules, class S, class Dynamics>
void TaylorMotion<Engine, Rules, S, Dynamics>::search_step(const Section& section, bool begins,
                                                           Crossing& first) {
  for (std::size_t k = 0; k < guards_.size(); ++k) {
    const auto guard = static_cast<std::size_t>(guards_[k]);
    const bool touched = begins && guard < touches_.size();
    auto c = flow_.guard(k);
    this->search_guard(guards_[k], c, touched ? touches_[guard] : typename Rules::ExactTouch{},
                       flow_.length(), first);
  }
  if (section.kind != Section::Kind::level) return;
  auto level = flow_.coordinate(section.coordinate);
  for (double& a : level) a *= -section.direction;
  level[0] += section.direction * section.level;
  this->search_level(level, begins, flow_.length(), first);
}

template <class Engine, class Rules, class S, class Dynamics>
void TaylorMotion<Engine, Rules, S, Dynamics>::watch(Observer& observer, double end) const {
  for (std::size_t k = 0; k < guards_.size(); ++k) {
    if (!dynamics_.is_gap(guards_[k], mode_)) continue;
    this->watch_gap(observer, guards_[k], flow_.guard(k), value_of(time), flow_.length(), end);
  }
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
