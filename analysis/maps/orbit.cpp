#include "analysis/maps/orbit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/maps/multipliers.hpp"
#include "core/math/dense.hpp"

namespace graze {
namespace {

/// A Jacobian between coordinates of one unit: what is small in it, is small.
Eigen::MatrixXd without_units(const Eigen::MatrixXd& jacobian, const Eigen::VectorXd& scales) {
  return scales.asDiagonal() * jacobian * scales.cwiseInverse().asDiagonal();
}

}  // namespace

Turn turn_from(const PoincareMap& map, const HybridState& start, int n) {
  Turn t;
  t.end = start;
  t.size = map.size(start);
  t.jacobian = Eigen::MatrixXd::Identity(map.dimension(), map.dimension());
  for (int k = 0; k < n && t.outcome == Outcome::ok; ++k) {
    t.outcome = map.iterate(t.end, t.jacobian);
    t.size = std::max(t.size, map.size(t.end));
  }
  t.close(map, start);
  return t;
}

void Turn::close(const PoincareMap& map, const HybridState& start) {
  defect = map.difference(end, start);
  residual = map.share(defect, end, size);
  if (!defect.allFinite()) outcome = Outcome::non_finite;
  if (!map.takes_time(start, end)) residual = std::numeric_limits<double>::infinity();
}

Eigen::VectorXd Turn::step(const PoincareMap& map) const {
  const Eigen::Index d = defect.size();
  const Eigen::VectorXd scales = map.scales(end, size);
  const Eigen::MatrixXd slope = Eigen::MatrixXd::Identity(d, d) - without_units(jacobian, scales);
  return solve_any(slope, scales.cwiseProduct(defect)).cwiseQuotient(scales);
}

bool Turn::has_closed() const {
  constexpr double rounding = 1e-15;
  return residual <= rounding;
}

bool Turn::can_gain(const PoincareMap& map, const Eigen::VectorXd& step) const {
  constexpr double indifferent = 2e-14;
  return step.allFinite() && map.share(step, end, size) > indifferent;
}

std::vector<std::complex<double>> Turn::multipliers(const PoincareMap& map) const {
  return eigenvalues(without_units(jacobian, map.scales(end, size)));
}

Orbit Turn::orbit(const PoincareMap& map, const HybridState& start, int n, double closure) const {
  Orbit orbit;
  orbit.period = n;
  orbit.start = start;
  orbit.residual = residual;
  orbit.size = size;
  orbit.jacobian = jacobian;
  orbit.closed = residual <= closure;
  if (orbit.closed) {
    orbit.multipliers = multipliers(map);
    // The end is the start, and knows how its contacts stand.
    orbit.start = end;
    orbit.start.turns = start.turns;
  }
  return orbit;
}

void Refinement::add(Turn turn) {
  const bool ok = turn.outcome == Outcome::ok;
  if (!begun_) {
    over_ = !ok;
    if (over_) return;
  } else if (!ok || !(turn.residual < best_.residual)) {
    share_ /= 2;
    over_ = !(share_ > 0.05);
    if (!over_) propose();
    return;
  }
  begun_ = true;
  start_ = candidate_;
  best_ = std::move(turn);
  correct();
}

void Refinement::correct() {
  over_ = corrections_++ == options_.iterations || best_.has_closed();
  if (over_) return;
  step_ = best_.step(map_);
  over_ = !best_.can_gain(map_, step_);
  if (over_) return;
  from_ = map_.coordinates(start_);
  share_ = 1;
  propose();
}

Orbit Refinement::orbit() const {
  if (begun_) return best_.orbit(map_, start_, n_, options_.closure);
  Orbit none;
  none.period = n_;
  none.start = start_;
  return none;
}

Orbit refine_orbit(const PoincareMap& map, const HybridState& guess, int n, const RefineOptions& options) {
  Refinement refinement(map, guess, n, options);
  while (!refinement.over()) refinement.add(turn_from(map, refinement.start(), n));
  return refinement.orbit();
}

double spectral_radius(const Orbit& orbit) {
  return orbit.multipliers.empty() ? 0.0 : std::abs(orbit.multipliers.front());
}

}  // namespace graze
