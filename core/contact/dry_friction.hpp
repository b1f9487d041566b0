/// Bodies at rest on stops, on the ground and on each other: which of these hold, and with what force.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

namespace graze {

/// Contacts with zero gap and zero normal speed and frictions with zero sliding speed, each acting along its
/// direction d_k with a force −d_k λ_k on the coordinates: w = opening + response λ, w_k being the
/// acceleration against d_k.
struct RestProblem {
  Eigen::MatrixXd response;  ///< Dᵀ M⁻¹ D, contacts first
  Eigen::VectorXd opening;   ///< w without these λ; frictions that slide included
  Eigen::VectorXd size;      ///< size of its terms
  /// Bounds of λ_k: 0 … inf for a contact, ∓F for a friction, ∓inf for one that sticks by what it may be.
  Eigen::VectorXd least, most;
  /// Rates of w and of the bounds while these λ stay as they are.
  struct Rates {
    Eigen::VectorXd opening, least, most;
  };
  std::function<Rates(const Eigen::VectorXd& force)> rates;

  /// Of so many directions, nothing known yet; bounds 0.
  explicit RestProblem(Eigen::Index count) : response(count, count), opening(count), size(count) {
    least.setZero(count);
    most = least;
  }
};

/// How one of them comes out of it.
struct RestForce {
  enum class Place {
    free,   ///< it holds: the force is what keeps its body from accelerating
    least,  ///< the force is at its lower bound
    most    ///< at its upper bound
  } place = Place::free;
  bool held = false;               ///< at a bound, but others that hold keep its body at rest
  double force = 0;                ///< λ
  double force_rate = 0;           ///< λ' right after
  double most = 0, most_rate = 0;  ///< upper bound, its rate
  double acceleration = 0;         ///< along −d, opening; 0 when free or held
  double acceleration_rate = 0;    ///< its rate right after
  double force_rounding = 0, acceleration_rounding = 0;  ///< below these the two are zero

  /// A contact without a force that nothing accelerates off it either.
  bool undecided() const {
    return place == Place::least && !held && std::abs(acceleration) <= acceleration_rounding;
  }
  /// At a bound: whether the acceleration is zero now and grows.
  bool moves_by_rate() const {
    return std::abs(acceleration) <= acceleration_rounding &&
           (place == Place::least ? acceleration_rate > 0 : acceleration_rate < 0);
  }
  /// Free: whether what is left to a bound is zero now and grows.
  bool leaves_bound(double left, double rate) const { return left <= force_rounding && rate > 0; }
};

/// Solves  w = opening + response λ,  least ≤ λ ≤ most,  w ≥ 0 at the lower bound, w ≤ 0 at the upper, w = 0
/// between, for the time right after now: where a value is zero its rate decides.
///
/// Accelerations are unique; forces are not where bodies are held more than once. Then those that hold
/// freely are chosen with directions that do not depend on each other, the rest at a bound, and a stop
/// carries as much as frictions let it: so a body leaves its stop when all friction on it is used up.
/// Principal pivoting of one index after the other (Dantzig; Baraff 1994).
///
/// @param rate  fastest rate of the system, 1/time
/// @return one per direction; nothing when no solution is found
std::optional<std::vector<RestForce>> rest_forces(const RestProblem& problem, double rate);

}  // namespace graze
