/// The points of a branch where something changes, each kind with its name.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <string>
#include <utility>
#include <vector>

#include "analysis/maps/itinerary.hpp"

namespace graze {

enum class BifurcationKind : signed char {
  fold = 0,         ///< the branch turns round in the parameter
  period_doubling,  ///< a multiplier passes −1
  neimark_sacker,   ///< a complex pair of multipliers passes the unit circle
  branch_point,     ///< a multiplier passes 1 where the branch does not turn
  grazing,          ///< an impact loses its speed, or a gap that stayed open touches zero
  stick_border,     ///< sticking that no chatter precedes begins or ends
  chatter_border,   ///< chatter becomes complete or incomplete; the sticking after it begins or ends
  rising_border,    ///< rising begins or ends: the force of a closed contact touches zero
  release_moves,    ///< a release passes an event of another contact
  simultaneous,     ///< two events pass each other: impacts, or an impact and what a friction does
  edge,             ///< an impact with speed comes or goes: it misses the end of the other body
  hopf,             ///< without forcing: the orbit shrinks to rest
  slip_border,      ///< a friction begins or ceases to stick
  reversal_border,  ///< a reversal of slip appears or vanishes, in motion or within an impact
  jump_border       ///< a jump map begins or ceases to be met
};

/// Names in the order of the enumeration, as written to result files.
const std::vector<std::string>& bifurcation_names();

/// How far a multiplier is from the border that such a point is named after: 1, −1, the unit circle.
double away_from_border(BifurcationKind kind, const std::complex<double>& multiplier);
/// Whether one of these is on that border. A parameter also turns, and a multiplier passes from +∞ to −∞,
/// where an impact loses its speed.
bool is_on_border(BifurcationKind kind, const std::vector<std::complex<double>>& multipliers);

/// A located point.
struct Bifurcation {
  BifurcationKind kind = BifurcationKind::fold;
  int contact = -1;  ///< whose event changes; -1: none
  double parameter = 0;
  double error = 0;                    ///< estimate of the parameter's error; 0: rounding
  Eigen::VectorXd state;               ///< where the orbit begins
  double phase = 0;                    ///< … in forcing periods from the first phase zero (Anchor)
  std::vector<Eigen::VectorXd> orbit;  ///< states on the section, in order from where the motion closes best
  int periods = 1;                     ///< of the forcing, in one turn of the orbit
  double turn = 0;                     ///< its time
  Itinerary itinerary;
  Eigen::VectorXd unknowns;  ///< of Shooting with that itinerary
  Eigen::VectorXd tangent;   ///< of the branch, likewise
  double size = 1;           ///< of the orbit's states
};

/// Whether an orbit passes another state within a distance, on the section.
bool passes_by(const std::vector<Eigen::VectorXd>& orbit, const Eigen::VectorXd& state, double within);

/// Whether two located points are one: the same change at the same parameter (of a range) and orbit, wherever
/// that begins and however often it is passed through.
bool is_same_point(const Bifurcation& a, const Bifurcation& b, double range);

/// What kind of change leads from one signature to another, and at which contact.
std::pair<BifurcationKind, int> change_between(const Signature& before, const Signature& after, int contacts);

}  // namespace graze
