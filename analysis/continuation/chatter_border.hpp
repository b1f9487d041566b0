/// Where on a branch a chatter sequence and the stick behind it come or go: defining equation and solution.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <optional>
#include <vector>

#include "analysis/continuation/shooting.hpp"
#include "analysis/continuation/solution.hpp"

namespace graze {

/// A stick behind a chatter sequence: places of its steps in an itinerary.
struct ChatterStick {
  std::size_t impact = 0;    ///< the last one that is followed
  std::size_t complete = 0;  ///< the contact is closed there
  std::size_t release = 0;   ///< by a vanishing contact force
};

/// How the equations of a border have a flight of that duration from an impact of a contact to its next one,
/// at a system's rate; other steps stay as they are.
void tell_rebound(const Step& before, Step& step, double duration, double rate);

/// Sticks of an itinerary that end by themselves, within the turn.
std::vector<ChatterStick> chatter_sticks(const Itinerary& itinerary);

/// Equation of the border, a τ z*(r)/v − 1 = 0, after impact N: rebound speed v, closing acceleration a of
/// the mass put at rest there, time τ from there to the release, z* of ChatterBorderline. Positive where the
/// contact sticks. Near the border it is close to linear in the parameter. Its error in the parameter is
/// Σ C_k (s^k/λ)^N. Only for contacts without friction on the mass.
///
/// `impact`: any leg that ends with an impact of the contact at a speed other than zero; it tells r and
/// dr/dp.
Condition chatter_border_condition(const Shooting& shooting, const ChatterStick& stick, const Leg& impact);

struct ChatterBorder {
  int contact = -1;
  double parameter = 0;    ///< extrapolated to infinitely many impacts
  double error = 0;        ///< estimate of its error
  int sticks_towards = 1;  ///< +1: the contact sticks at greater parameters, −1: at smaller ones
  /// λ^n, n the number of ever slower impacts of the orbit that it was looked for from: so much smaller than
  /// those of the first of them are the distances from the border of what happens to the last.
  double magnification = 1;
  /// The orbit there, its contact closed after the last impact that is followed; the tangent is that of the
  /// branch through the border, where the motion is continuous: what the impacts not followed change vanishes
  /// faster than the distance from it.
  Solution solution;
};

/// The border at which a stick of this orbit ends. Nothing: Newton's method does not get there.
std::optional<ChatterBorder> border_of_stick(const Solution& orbit, const ChatterStick& stick,
                                             const Metric& metric);
/// Borders near an orbit with contacts that are hit ever more slowly but do not come to stick.
std::vector<ChatterBorder> borders_of_sequences(const Solution& orbit, const Metric& metric);

}  // namespace graze
