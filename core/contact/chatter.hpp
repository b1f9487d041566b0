/// Chatter, completed: where an infinite sequence of ever smaller impacts ends, in closed form.
#pragma once

#include <cmath>

#include "core/math/dual.hpp"

namespace graze {

/// A contact right after an impact of a possible chatter sequence.
template <class S>
struct Rebound {
  S speed;        ///< v > 0, away from the contact
  S restitution;  ///< r, 0 <= r < 1
  S pressing;     ///< a, acceleration towards the contact of the body at rest on it
  S rate;         ///< ȧ, along the motion with the contact closed
  S damping;      ///< γ, damping per mass along the normal, 1/time
  S friction{0};  ///< φ ≥ 0, deceleration by dry friction on the body: it is pressed by a + φ on its way off
                  ///< the contact and by a − φ on its way back; of value 0 it may have derivatives
  bool steady = true;  ///< false: other frictions may turn on the way
};

/// Without its derivatives.
template <class S>
Rebound<double> values_of(const Rebound<S>& b) {
  return {value_of(b.speed), value_of(b.restitution), value_of(b.pressing),
          value_of(b.rate),  value_of(b.damping),     value_of(b.friction),
          b.steady};
}

/// Speed of a rebound over that of the one before: r √((a − φ)/(a + φ)).
template <class S>
S rebound_ratio(const Rebound<S>& b) {
  using std::sqrt;
  if (identical(b.friction, S(0))) return b.restitution;
  return b.restitution * sqrt((b.pressing - b.friction) / (b.pressing + b.friction));
}

/// Whether the sequence certainly accumulates and is short enough to be put in one instant:
/// a > 0, |ȧ| V/a² ≤ `turn` (the force cannot turn before) and ω V/a ≤ `brief`, with V = v/(1 − r) and ω
/// the fastest rate of the system, or γ where that is faster. Scale-free: no speed or length of the system
/// enters. With friction on the body a − φ stands for a and the rebound ratio for r. Where other frictions
/// may turn on the way the impacts are followed until they are over within rounding: too brief, or no higher
/// than the last `digit` of the gap, where rounding alone would bounce on for ever.
template <class S>
bool chatter_completes(const Rebound<S>& b, double omega, double brief, double turn, double digit = 0) {
  constexpr double within_rounding = 1e-13;
  const S pressing = b.pressing - b.friction;
  if (!(pressing > S(0))) return false;
  const S ratio = rebound_ratio(b);
  if (!(ratio < S(1))) return false;
  if (!b.steady && b.speed * b.speed <= S(2 * digit) * (b.pressing + b.friction)) return true;
  const S V = b.speed / (S(1) - ratio);
  const S fastest = b.damping > S(omega) ? b.damping : S(omega);
  return fastest * V <= S(b.steady ? brief : within_rounding) * pressing &&
         V * (b.rate < S(0) ? -b.rate : b.rate) <= S(turn) * pressing * pressing;
}

/// The two ways between impacts under friction: up under a + φ, down under a − φ.
template <class S>
struct FrictionBounce {
  S up, down;  ///< a ± φ
  S root;      ///< √(up down)
  S period;    ///< α: a bounce that begins with speed v takes α v + O(v²)

  explicit FrictionBounce(const Rebound<S>& b) {
    using std::sqrt;
    up = b.pressing + b.friction;
    down = b.pressing - b.friction;
    root = sqrt(up * down);
    period = S(1) / up + S(1) / root;
  }
};

/// chatter_duration with friction: T₁ v + T₂ v² + O(v³), from a bounce of duration α v + β v² that ends with
/// speed ρ/r v + κ v², summed while a grows at the rate ȧ.
template <class S>
S chatter_duration_with_friction(const Rebound<S>& b) {
  const FrictionBounce<S> bounce(b);
  const S &up = bounce.up, &down = bounce.down, &root = bounce.root;
  const S ratio = rebound_ratio(b);
  const S product = up * down;
  const S late = b.rate / (S(3) * up * up) + S(2) * b.damping / (S(3) * up) + b.rate / product;
  const S beta = -(b.rate + b.damping * up) / (S(2) * up * up * up) - late / (S(2) * root) -
                 (b.rate - b.damping * down) / (S(6) * down * product);
  const S kappa = -late * down / (S(2) * root) + b.rate / (up * root) -
                  (b.rate - b.damping * down) / (S(6) * product) + b.rate / (S(2) * product) -
                  b.damping / (S(2) * up);
  const S first = bounce.period / (S(1) - ratio);
  const S ratio_slope = b.restitution * b.friction / (root * up);  // by a, as those below
  const S period_slope = -S(1) / (up * up) - b.pressing / (root * product);
  const S first_slope = (period_slope + first * ratio_slope) / (S(1) - ratio);
  const S second = (beta + ratio * bounce.period * b.rate * first_slope + first * b.restitution * kappa) /
                   (S(1) - ratio * ratio);
  return first * b.speed + second * b.speed * b.speed;
}

/// Time from the rebound to the accumulation: 2V/a − (2/3)(2ȧ + γ a) V²/a³ + O(V³).
template <class S>
S chatter_duration(const Rebound<S>& b) {
  if (!identical(b.friction, S(0))) return chatter_duration_with_friction(b);
  const S V = b.speed / (S(1) - b.restitution);
  const S brief = V / b.pressing;
  return S(2) * brief - S(2.0 / 3) * (S(2) * b.rate / b.pressing + b.damping) * brief * brief;
}

/// ∫ gap dt over the sequence: (2/3) v³ / (a² (1 − r³)); what the rest of the system has felt of it. With
/// friction (1/3) α v³ / ((a + φ)(1 − ρ³)), ρ the rebound ratio.
template <class S>
S chatter_gap_integral(const Rebound<S>& b) {
  if (!identical(b.friction, S(0))) {
    const FrictionBounce<S> bounce(b);
    const S ratio = rebound_ratio(b);
    return bounce.period * b.speed * b.speed * b.speed / (S(3) * bounce.up * (S(1) - ratio * ratio * ratio));
  }
  const S r3 = b.restitution * b.restitution * b.restitution;
  return S(2.0 / 3) * b.speed * b.speed * b.speed / (b.pressing * b.pressing * (S(1) - r3));
}

}  // namespace graze
