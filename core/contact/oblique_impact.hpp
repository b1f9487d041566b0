/// Oblique impact of two bodies with Coulomb friction and Poisson's restitution: the velocities after it, in
/// closed form, from event to event, and step by step in the impulse.
///
/// A bob on an arm of length 1 hits a block that moves along x only, at the arm's angle θ0. With u = θ', x'
/// the velocity of the block, c = cos θ0 > 0, f = μ|sin θ0|, m the mass of the bob over that of the block and
/// p the normal impulse (in units of bob mass times arm length),
///
///     du/dp = −(c + f sgn u),   dx'/dp = m,   w = u c − x' (speed of approach)
///
/// Slip has three modes: forward (u > 0), backward (u < 0) and stopped (u = 0 stays; only where c ≤ f, that
/// is μ|tan θ0| ≥ 1: the bob is jammed). Compression ends at w = 0 with impulse P; the impact at (1 + r) P.
/// Backward slip with m + c (c − f) ≤ 0 (Painlevé) cannot end compression; it stops first.
///
/// The velocities after the impact are continuous, with corners where slip stops just as compression or the
/// impact ends, at u0 = 0, at θ0 = 0 and at the limit of locking c = f. There dual numbers carry the
/// derivative to one side: that of slip which stops after the end (in restitution; not at all), of forward
/// slip, of θ0 > 0, of the locked bob.
///
/// Any two bodies at a contact come to this: with A the change of the opening speed per normal impulse, B
/// that of the slip s by it, C that of the slip by an impulse along it, u = −sgn(B) s/√C, c = |B|/√C, f = μ√C
/// and m = A − B²/C (oblique_contact).
///
/// After Han Wei, Hu Haiyan, Jin Dongping: Analysis of oblique impact of a vibrating system of two degrees of
/// freedom (2003), corrected, with the jammed states that it leaves out.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "core/math/dual.hpp"

namespace graze {

/// Where and between what an impact takes place.
template <class S>
struct ObliqueContact {
  S cosine;       ///< c, > 0
  S friction;     ///< f = μ|sin θ0|, >= 0
  S mass_ratio;   ///< m, > 0
  S restitution;  ///< r, 0 ... 1
};

/// What becomes of slip in an impact.
enum class SlipCourse : signed char {
  keeps,     ///< goes on in its direction
  reverses,  ///< forward, then backward
  locks      ///< stops for good
};

template <class S>
struct ObliqueImpact {
  S slip;   ///< u after
  S block;  ///< x' after
  SlipCourse course = SlipCourse::keeps;
  S impulse{0};  ///< p of the whole impact; told by event_to_event and incremental_impulse
};

/// What two bodies with friction at a contact are to each other, at a slip s.
template <class S>
struct RoughContact {
  S normal, cross, tangential;  ///< A > 0, B, C > 0
  S friction, restitution;      ///< μ, r

  double turn() const { return value_of(cross) > 0 ? -1 : 1; }
  S root() const {
    using std::sqrt;
    return sqrt(tangential);
  }
  /// u of a slip.
  S slip_of(const S& s) const { return s * turn() / root(); }
  ObliqueContact<S> oblique() const {
    const S c = value_of(cross) < 0 ? S(-cross) : cross;
    return {c / root(), friction * root(), normal - cross * cross / tangential, restitution};
  }
};

/// Closed form, for an approach u0 c − x0 > 0.
template <class S>
ObliqueImpact<S> closed_form(const ObliqueContact<S>& k, const S& u0, const S& x0) {
  const S one(1);
  const S friction = u0 < S(0) ? S(-k.friction) : k.friction;
  const S ahead = k.cosine + friction;
  const S behind = k.cosine - friction;
  const S sink = k.mass_ratio + k.cosine * ahead;  // −dw/dp
  const S approach = u0 * k.cosine - x0;
  const bool locks = k.cosine <= k.friction;
  const SlipCourse stopped = locks ? SlipCourse::locks : SlipCourse::reverses;
  const bool stops = u0 >= S(0) || ahead < S(0);
  const S stop = stops ? S(u0 / ahead) : S(0);
  if (stops && (!(sink > S(0)) || stop * sink < approach)) {
    if (locks) return {S(0), S(-k.restitution * x0), stopped};
    const S block = x0 + k.mass_ratio * stop;
    const S rest = -block / (k.mass_ratio + k.cosine * behind);
    const S slip = -behind * rest;
    const S restitution = k.restitution * (stop + rest);
    return {S(slip - restitution * behind), S(slip * k.cosine + k.mass_ratio * restitution), stopped};
  }
  const S whole = (one + k.restitution) * approach / sink;
  const S block = x0 + k.mass_ratio * whole;
  if (!stops || !(stop < whole)) return {S(u0 - whole * ahead), block, SlipCourse::keeps};
  return {locks ? S(0) : S(-behind * (whole - stop)), block, stopped};
}

template <class S>
RoughContact<double> values_of(const RoughContact<S>& c) {
  return {value_of(c.normal), value_of(c.cross), value_of(c.tangential), value_of(c.friction),
          value_of(c.restitution)};
}

/// An impact under way, as a function of the impulse.
template <class S>
class ImpulsePath {
 public:
  ImpulsePath(const ObliqueContact<S>& contact, const S& u0, const S& x0)
      : contact_(contact), u_(u0), x_(x0), slip_(u0 < S(0) ? -1 : 1) {}

  /// −du/dp and −dw/dp in the present slip mode.
  S brake() const {
    return slip_ == 0 ? S(0) : S(contact_.cosine + contact_.friction * static_cast<double>(slip_));
  }
  S sink() const { return contact_.mass_ratio + contact_.cosine * brake(); }
  S slip() const { return u_; }
  S approach() const { return u_ * contact_.cosine - x_; }
  int direction() const { return slip_; }  ///< 1 forward, −1 backward, 0 stopped
  bool restitution() const { return restitution_; }
  S left() const { return whole_ - impulse_; }  ///< of the impulse, in restitution
  ObliqueImpact<S> result() const { return {u_, x_, course_, impulse_}; }

  void add(const S& impulse) {
    u_ -= brake() * impulse;
    x_ += contact_.mass_ratio * impulse;
    impulse_ += impulse;
  }
  /// Slip has come to a stop.
  void stop() {
    u_ = S(0);
    slip_ = contact_.cosine <= contact_.friction ? 0 : -1;
    course_ = slip_ == 0 ? SlipCourse::locks : SlipCourse::reverses;
  }
  /// Compression has come to its end.
  void turn() {
    x_ = u_ * contact_.cosine;
    whole_ = (S(1) + contact_.restitution) * impulse_;
    restitution_ = true;
  }

 private:
  ObliqueContact<S> contact_;
  S u_, x_, impulse_{0}, whole_{0};
  int slip_;
  bool restitution_ = false;
  SlipCourse course_ = SlipCourse::keeps;
};

/// What happens next on such a path: slip stops, or else compression or the impact ends.
template <class S>
struct NextEvent {
  S impulse;  ///< until then
  bool stops;
};

/// An impact from event to event; `next(path)` finds them.
template <class S, class Next>
ObliqueImpact<S> follow_events(const ObliqueContact<S>& contact, const S& u0, const S& x0, const Next& next) {
  ImpulsePath<S> path(contact, u0, x0);
  while (true) {
    const NextEvent<S> event = next(path);
    path.add(event.impulse);
    if (event.stops) {
      path.stop();
    } else if (path.restitution()) {
      return path.result();
    } else {
      path.turn();
    }
  }
}

/// From one event to the next, each in closed form.
template <class S>
ObliqueImpact<S> event_to_event(const ObliqueContact<S>& contact, const S& u0, const S& x0) {
  return follow_events(contact, u0, x0, [](const ImpulsePath<S>& path) -> NextEvent<S> {
    const S brake = path.brake();
    const S sink = path.sink();
    const bool stops = path.direction() * brake > S(0);
    const bool ends = path.restitution() || sink > S(0);
    const S stop = stops ? S(path.slip() / brake) : S(0);
    const S end = path.restitution() ? path.left() : ends ? S(path.approach() / sink) : S(0);
    if (stops && (!ends || stop < end)) return {stop, true};
    return {end, false};
  });
}

/// Marches from an event on until after a step slip has stopped, or compression or the impact has ended, and
/// goes back, linearly, to what comes first. Steps are counted from the event, so that their rounding does
/// not add up.
template <class S>
NextEvent<S> march(const ImpulsePath<S>& event, const S& step) {
  // Share of a step at which a quantity that falls is zero.
  const auto share = [](const S& before, const S& after) {
    return before == after ? S(0) : S(before / (before - after));
  };
  ImpulsePath<S> before = event;
  for (double count = 0;; ++count) {
    ImpulsePath<S> after = event;
    after.add(step * (count + 1));
    const bool stops = event.direction() != 0 && event.direction() * after.slip() <= S(0);
    const bool ends = event.restitution() ? after.left() <= S(0) : after.approach() <= S(0);
    if (!stops && !ends) {
      before = after;
      continue;
    }
    const S stop = stops ? share(before.slip(), after.slip()) : S(2);
    const S end = !ends                 ? S(2)
                  : event.restitution() ? share(before.left(), after.left())
                                        : share(before.approach(), after.approach());
    const bool first = stop < end;
    return {step * ((first ? stop : end) + S(count)), first};
  }
}

/// Incremental impulse method: steps of 1/steps of the impulse at which compression (slip, where it cannot
/// end) would end in the present slip mode.
template <class S>
ObliqueImpact<S> incremental_impulse(const ObliqueContact<S>& contact, const S& u0, const S& x0,
                                     std::int64_t steps) {
  return follow_events(contact, u0, x0, [steps](const ImpulsePath<S>& path) {
    const S whole = path.restitution()   ? path.left()
                    : path.sink() > S(0) ? S(path.approach() / path.sink())
                                         : S(path.slip() / path.brake());
    return march(path, S(whole / static_cast<double>(steps)));
  });
}

/// Which form of the law is used.
struct ObliqueLaw {
  enum class Form : signed char { event_to_event, closed_form, incremental };
  Form form = Form::event_to_event;
  std::int64_t steps = 40;  ///< incremental only

  template <class S>
  ObliqueImpact<S> operator()(const ObliqueContact<S>& contact, const S& u0, const S& x0) const {
    switch (form) {
      case Form::closed_form:
        return graze::closed_form(contact, u0, x0);
      case Form::incremental:
        return incremental_impulse(contact, u0, x0, steps);
      default:
        return graze::event_to_event(contact, u0, x0);
    }
  }
};

/// Where a chatter sequence accumulates.
template <class S>
struct ObliqueChatter {
  S slip, way, duration;  ///< u there; ∫u dt and time until then
};

/// The impacts of a sequence so short that on its way no acceleration changes: u' = drive and a normal one of
/// `pressing` in flight. @return nothing where it takes `longest`
template <class S, class Law>
std::optional<ObliqueChatter<S>> follow_chatter(const ObliqueContact<S>& contact, const Law& law,
                                                const S& slip, const S& rebound, const S& drive,
                                                const S& pressing, double longest) {
  constexpr double over = 1e-16;
  constexpr double rounding = 1e-15;  // of the slip, from which the block's speed is taken off
  ObliqueChatter<S> end{slip, S(0), S(0)};
  const double scale = std::abs(value_of(slip)) + value_of(rebound);
  S speed = rebound;
  while (value_of(speed) > std::max(over * value_of(rebound), rounding * std::abs(value_of(end.slip)))) {
    const S flight = S(2) * speed / pressing;
    end.duration += flight;
    if (!(value_of(end.duration) < longest)) return std::nullopt;
    const S gained = drive * flight;
    end.way += (end.slip + S(0.5) * gained) * flight;
    end.slip += gained;
    const S block = end.slip * contact.cosine - speed;
    const ObliqueImpact<S> after = law(contact, end.slip, block);
    end.slip = after.slip;
    speed = after.block - after.slip * contact.cosine;
  }
  if (std::abs(value_of(end.slip)) <= 1e-12 * scale) end.slip = S(0);
  return end;
}

}  // namespace graze
