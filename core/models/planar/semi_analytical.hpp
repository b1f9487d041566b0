/// The semi-analytical engine of core/planar_friction: steps on which the resultant is constant.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/models/planar/motion.hpp"
#include "core/smooth/flow.hpp"

namespace graze {

/// After Wang & Wu: the resultant is frozen at the beginning of a step, or at the state that this predicts
/// for a later share of it, and the mass slides by the closed forms of core/friction_slide; wall impacts and
/// stops are located within the step by these. A step also ends at every event. What does not depend on the
/// slide is exact: the end of sticking, the release from a wall. Error O(step), O(step²) with the resultant
/// of the middle.
///
/// A section at a level of a state is looked for by the sign at the ends of a step.
template <class S>
class SemiAnalyticalPlanar final : public PlanarRules<SemiAnalyticalPlanar<S>, S> {
 public:
  using Rules = PlanarRules<SemiAnalyticalPlanar, S>;
  using Plane = PlanarFriction<S>;
  using State = typename Rules::State;
  using Slide = FrictionSlide<S>;
  using Rules::time;
  using Rules::x;

  SemiAnalyticalPlanar(const Plane& plane, const Tolerance& tolerance)
      : Rules(tolerance), plane_(plane), forces_(tolerance) {}

  const Plane& planar() const { return plane_; }
  void place(const HybridState& from, std::size_t guards) {
    Rules::place(from, guards);
    begin_ = end_ = {x, time};
  }
  Outcome start(Observer* observer) { return anew(Rules::start(observer)); }
  Outcome meet(const Crossing& c, Observer* observer) { return anew(Rules::meet(c, observer)); }

  Crossing search(double horizon, const Section& section, Observer* observer);
  void move(const Crossing& c);
  /// Events are located with their derivatives: nothing is left to be done.
  S guard(int) const { return S(0); }
  void drift(const S&) {}
  typename Rules::OuterState outer_state() const { return values_of(x); }
  /// By making the last step longer.
  void drift_time(const S& shift) {
    const S length = end_.time - begin_.time + shift;
    const Instant longer =
        slides() ? after(slide_for(length), length) : Instant{begin_.x, begin_.time + length};
    x = longer.x;
    time = longer.time;
  }

 private:
  using Rules::at_rest;
  using Rules::holds;
  using Rules::mode_;
  using Rules::on_level_;
  using Rules::touches_;
  using Two = typename Slide::Vector;
  struct Instant {
    State x;
    S time;
  };

  /// A step of no length begins here.
  Outcome anew(Outcome outcome) {
    begin_ = end_ = {x, time};
    return outcome;
  }
  bool slides() const { return (mode_ & Plane::stick) == 0; }
  bool at_wall() const { return (mode_ & Plane::walls) != 0; }
  Two resultant(const Instant& at) const;
  Slide slide_for(const S& length) const;
  Instant after(const Slide& slide, const S& duration) const;
  Instant at(const typename Slide::Point& point) const;
  void meet_at(const Instant& instant, int guard, Crossing& c);
  double search_forces(double longest, Crossing& c);
  void search_slide(const Slide& slide, double length, Crossing& c);
  void search_level(const Slide& slide, const Section& section, Crossing& c);
  void watch(const Slide& slide, Observer& observer) const;
  void tell_piece(Observer& observer) const;

  const Plane& plane_;
  TaylorFlow<S, Plane> forces_;
  std::vector<int> guards_;
  Instant begin_, end_;  ///< of the step
};

/// Without what a wall takes.
template <class S>
auto SemiAnalyticalPlanar<S>::resultant(const Instant& at) const -> Two {
  const auto q = plane_.resultant(at.time, at.x);
  return {at_wall() ? S(0) : q[0], q[1]};
}

template <class S>
auto SemiAnalyticalPlanar<S>::slide_for(const S& length) const -> Slide {
  const Two velocity(begin_.x(2), begin_.x(3));
  const Slide first(plane_.mass, plane_.friction, resultant(begin_), velocity);
  if (plane_.look_ahead == 0) return first;
  const Instant ahead = after(first, S(length * S(plane_.look_ahead)));
  return Slide(plane_.mass, plane_.friction, resultant(ahead), velocity);
}

template <class S>
auto SemiAnalyticalPlanar<S>::at(const typename Slide::Point& point) const -> Instant {
  Instant there = begin_;
  there.time += point.time;
  for (int i = 0; i < 2; ++i) {
    there.x(i) += point.displacement(i);
    there.x(2 + i) = point.velocity(i);
  }
  return there;
}

template <class S>
auto SemiAnalyticalPlanar<S>::after(const Slide& slide, const S& duration) const -> Instant {
  return at(slide.at(duration));
}

template <class S>
void SemiAnalyticalPlanar<S>::meet_at(const Instant& instant, int guard, Crossing& c) {
  c.kind = Crossing::Kind::guard;
  c.guard = guard;
  c.fraction = 1;
  c.slope = -1;  // all guards fall
  end_ = instant;
}

/// Forces that do not hang on the slide: onto a closed wall, and what is left of the friction while sticking.
/// Their zeros up to `longest`; returns how far the series reach.
template <class S>
double SemiAnalyticalPlanar<S>::search_forces(double longest, Crossing& c) {
  guards_.clear();
  for (int k = 0; k < Plane::guards; ++k) {
    const bool is_ground = k == Plane::ground;
    if (is_ground ? !slides() : plane_.watched(k, mode_) && is_closed(mode_, k)) guards_.push_back(k);
  }
  forces_.expand(plane_, mode_, begin_.time, begin_.x, guards_);
  const double reach = std::min(longest, forces_.choose(plane_.rate()));
  if (!(reach > 0)) return 0;
  Crossing first;
  first.fraction = reach / forces_.length();
  for (std::size_t k = 0; k < guards_.size(); ++k) {
    auto guard = forces_.guard(k);
    this->search_guard(guards_[k], guard, touches_[static_cast<std::size_t>(guards_[k])], forces_.length(),
                       first);
  }
  if (first.kind == Crossing::Kind::none) return reach;
  // Where the guard is zero, derivatives included; the slide along a wall has no part in it.
  Instant there{begin_.x, begin_.time + forces_.passed(first.fraction)};
  const S guard = plane_.guard(first.guard, mode_, there.time, there.x);
  if (first.slope != 0) there.time += (S(value_of(guard)) - guard) / S(first.slope);
  meet_at(there, first.guard, c);
  c.slope = first.slope;
  return first.fraction * forces_.length();
}

/// The first wall or stop of a slide.
template <class S>
void SemiAnalyticalPlanar<S>::search_slide(const Slide& slide, double length, Crossing& c) {
  double within = length;
  const bool has_speed = !at_rest();
  if (has_speed && slide.stops() && plane_.rubs()) {
    const auto stop = slide.stop();
    if (value_of(stop.time) <= within) {
      within = value_of(stop.time);
      meet_at(at(stop), Plane::ground, c);
    }
  }
  if (at_wall()) return;
  for (int i = 0; i < 2; ++i) {
    constexpr int just_left = 2;  // the frozen resultant may pull either way by rounding
    if (!plane_.exists(i) || touches_[static_cast<std::size_t>(i)].order >= just_left) continue;
    const auto wall = slide.meets(Two(S(Plane::side(i)), S(0)), this->gap(i), within);
    if (!wall) continue;
    within = value_of(wall->time);
    meet_at(at(*wall), i, c);
  }
}

template <class S>
void SemiAnalyticalPlanar<S>::search_level(const Slide& slide, const Section& section, Crossing& c) {
  const int i = section.coordinate;
  const auto height = [&](const S& value) { return section.direction * (value_of(value) - section.level); };
  if (!(height(begin_.x(i)) < 0 && height(end_.x(i)) >= 0)) return;
  double low = 0;
  double high = value_of(end_.time - begin_.time);
  for (int k = 0; k < 100 && high - low > std::numeric_limits<double>::epsilon() * high; ++k) {
    const double middle = 0.5 * (low + high);
    (height(after(slide, S(middle)).x(i)) < 0 ? low : high) = middle;
  }
  const Instant there = after(slide, S(high));
  const Two velocity(there.x(2), there.x(3));
  const S rate = i < 2 ? velocity(i) : slide.acceleration(velocity)(i - 2);
  const S shift = (S(value_of(there.x(i))) - there.x(i)) / S(value_of(rate));
  end_ = after(slide, S(high) + shift);
  c.kind = Crossing::Kind::level;
  c.guard = -1;
  c.slope = 0;
}

template <class S>
void SemiAnalyticalPlanar<S>::watch(const Slide& slide, Observer& observer) const {
  if (at_wall() || !observer.follows_gaps()) return;
  const double length = value_of(end_.time - begin_.time);
  for (int i = 0; i < 2; ++i) {
    if (!plane_.exists(i)) continue;
    const auto turn = slide.turns(Two(S(Plane::side(i)), S(0)), length);
    if (!turn) continue;
    const double height = value_of(this->gap(i)) + Plane::side(i) * value_of(turn->displacement(0));
    const double when = this->absolute(value_of(begin_.time) + value_of(turn->time));
    const double rise = Plane::side(i) * value_of(slide.acceleration(turn->velocity)(0));
    if (rise < 0) {
      observer.excursion(i, when, height);
    } else if (height > 0) {
      observer.near_miss(i, when, std::sqrt(2 * height * rise));
    }
  }
}

/// The step as the cubic through its ends: its error is of the fourth order in the step, that of the
/// algorithm of the second at best.
template <class S>
void SemiAnalyticalPlanar<S>::tell_piece(Observer& observer) const {
  const double h = value_of(end_.time - begin_.time);
  if (!(h > 0)) return;
  MotionPiece piece;
  piece.terms = 4;
  piece.coefficients = {this->absolute(value_of(begin_.time)), h, 0, 0};
  std::vector<double> rates;
  for (int i = 0; i < 2; ++i) {
    const double from = value_of(begin_.x(i)), to = value_of(end_.x(i));
    const double leaving = h * value_of(begin_.x(2 + i)), arriving = h * value_of(end_.x(2 + i));
    const std::array<double, 4> c = {from, leaving, 3 * (to - from) - 2 * leaving - arriving,
                                     2 * (from - to) + leaving + arriving};
    piece.coefficients.insert(piece.coefficients.end(), c.begin(), c.end());
    rates.insert(rates.end(), {c[1] / h, 2 * c[2] / h, 3 * c[3] / h, 0});
  }
  piece.coefficients.insert(piece.coefficients.end(), rates.begin(), rates.end());
  observer.piece(piece);
}

template <class S>
Crossing SemiAnalyticalPlanar<S>::search(double horizon, const Section& section, Observer* observer) {
  double left = horizon;
  while (true) {
    begin_ = end_ = {x, time};
    Crossing c;
    c.fraction = 1;
    double length = slides() ? std::min(left, plane_.step) : left;
    // What has just set off did so by its force, which may be short of the friction by rounding.
    const bool sets_off = touches_[Plane::ground].order > 0 || (mode_ & Plane::starting) != 0;
    if (slides() && plane_.rubs() && at_rest() && !sets_off && holds(mode_)) {
      meet_at(begin_, Plane::ground, c);
      c.fraction = 0;
      return c;
    }
    if (at_wall() || !slides()) length = search_forces(length, c);
    if (!(length > 0) && c.kind == Crossing::Kind::none) {
      c.kind = Crossing::Kind::floor;
      return c;
    }
    if (slides()) {
      const S duration = c.kind == Crossing::Kind::none ? S(length) : S(end_.time - begin_.time);
      const Slide slide = slide_for(duration);
      end_ = after(slide, duration);
      search_slide(slide, length, c);
      if (section.kind == Section::Kind::level) search_level(slide, section, c);
      if (observer != nullptr) watch(slide, *observer);
    } else if (c.kind == Crossing::Kind::none) {
      end_.time = begin_.time + S(length);
    }
    if (observer != nullptr && observer->follows_pieces()) tell_piece(*observer);
    const bool last = length >= left;
    if (c.kind != Crossing::Kind::none || last) return c;
    if (!(end_.time > begin_.time)) {
      c.kind = Crossing::Kind::floor;
      return c;
    }
    move(c);
    left -= length;
  }
}

template <class S>
void SemiAnalyticalPlanar<S>::move(const Crossing& c) {
  if (c.fraction > 0) {
    std::fill(touches_.begin(), touches_.end(), typename Rules::ExactTouch{});
    mode_ = Plane::after_step(mode_);
  }
  on_level_ = false;
  x = end_.x;
  time = end_.time;
  if (at_wall()) return;
  for (int i = 0; i < 2; ++i) {
    if (!plane_.exists(i) || !(this->gap(i) < S(0))) continue;
    this->put_on(i);  // by rounding, from a wall just left
  }
}

}  // namespace graze
