/// Chatter, completed: where an infinite sequence of ever smaller impacts ends, in closed form.
#pragma once

#include <cmath>

namespace graze {

/// A contact right after an impact of a possible chatter sequence.
template <class S>
struct Rebound {
  S speed;        ///< v > 0, away from the contact
  S restitution;  ///< r, 0 <= r < 1
  S pressing;     ///< a, acceleration towards the contact of the body at rest on it
  S rate;         ///< ȧ, along the motion with the contact closed
  S damping;      ///< γ, damping per mass along the normal, 1/time
};

/// Whether the sequence certainly accumulates and is short enough to be put in one instant:
/// a > 0, |ȧ| V/a² ≤ `turn` (the force cannot turn before) and ω V/a ≤ `brief`, with V = v/(1 − r) and ω
/// the fastest rate of the system. Scale-free: no speed or length of the system enters.
template <class S>
bool chatter_completes(const Rebound<S>& b, double omega, double brief, double turn) {
  if (!(b.pressing > S(0)) || !(b.restitution < S(1))) return false;
  const S V = b.speed / (S(1) - b.restitution);
  return S(omega) * V <= S(brief) * b.pressing &&
         V * (b.rate < S(0) ? -b.rate : b.rate) <= S(turn) * b.pressing * b.pressing;
}

/// Time from the rebound to the accumulation: 2V/a − (2/3)(2ȧ + γ a) V²/a³ + O(V³).
template <class S>
S chatter_duration(const Rebound<S>& b) {
  const S V = b.speed / (S(1) - b.restitution);
  const S brief = V / b.pressing;
  return S(2) * brief - S(2.0 / 3) * (S(2) * b.rate / b.pressing + b.damping) * brief * brief;
}

/// ∫ gap dt over the sequence: (2/3) v³ / (a² (1 − r³)); what the rest of the system has felt of it.
template <class S>
S chatter_gap_integral(const Rebound<S>& b) {
  const S r3 = b.restitution * b.restitution * b.restitution;
  return S(2.0 / 3) * b.speed * b.speed * b.speed / (b.pressing * b.pressing * (S(1) - r3));
}

}  // namespace graze
