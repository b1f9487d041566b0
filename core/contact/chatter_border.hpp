/// Where a chatter sequence just accumulates although the force on the contact is about to vanish.
#pragma once

#include <cmath>

namespace graze {

/// The borderline sequence of a contact without friction whose closing acceleration falls as a = α(t_r − t).
///
/// A bounce that begins with speed v at the remaining time τ = t_r − t takes the share y of τ and leads from
/// z = v/(aτ) to z' at the remaining time sτ, s = 1 − y:
///
///     z = y/2 − y²/6,   z' = r (y/2 − y²/3)/s²;   z = z' = z*:   s³ + 2s² = r (1 + 2s),   z* = (1 − s)(2 +
///     s)/6
///
/// z* repels with λ = dz'/dz = r²/s⁵: a sequence with z < z* accumulates before t_r and the contact stays
/// closed; one with z > z* slows down less and less, and is left.
///
/// Source: worked out for this program; s ≈ r^(3/5) and λ ≈ 1/r as r → 0.
struct ChatterBorderline {
  double ratio = 0;        ///< z*, 0 < z* < 1/3
  double ratio_slope = 0;  ///< dz*/dr
  double remaining = 0;    ///< s: of the remaining time, left after each bounce
  double multiplier = 0;   ///< λ > 1

  /// For a coefficient of restitution 0 < r < 1.
  explicit ChatterBorderline(double r) {
    double s = 1;  // the cubic is convex and rises from its only positive zero on
    for (int k = 0; k < 60; ++k) {
      const double step = (s * s * (s + 2) - r * (1 + 2 * s)) / (3 * s * s + 4 * s - 2 * r);
      s -= step;
      if (!(std::abs(step) > 1e-16 * s)) break;
    }
    remaining = s;
    ratio = (1 - s) * (2 + s) / 6;
    ratio_slope = -(1 + 2 * s) / 6 * (1 + 2 * s) / (3 * s * s + 4 * s - 2 * r);
    multiplier = r * r / (s * s * s * s * s);
  }
};

}  // namespace graze
