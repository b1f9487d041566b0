#include "analysis/maps/orbit.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/maps/multipliers.hpp"
#include "core/math/dense.hpp"

namespace graze {
namespace {

Turn turn(const PoincareMap& map, const HybridState& start, int n) {
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

/// A Jacobian between coordinates of one unit: what is small in it, is small.
Eigen::MatrixXd without_units(const Eigen::MatrixXd& jacobian, const Eigen::VectorXd& scales) {
  return scales.asDiagonal() * jacobian * scales.cwiseInverse().asDiagonal();
}

}  // namespace

void Turn::close(const PoincareMap& map, const HybridState& start) {
  defect = map.difference(end, start);
  residual = map.share(defect, end, size);
  if (!defect.allFinite()) outcome = Outcome::non_finite;
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

Orbit Turn::orbit(const PoincareMap& map, const HybridState& start, int n, double closure) const {
  Orbit orbit;
  orbit.period = n;
  orbit.start = start;
  orbit.residual = residual;
  orbit.size = size;
  orbit.jacobian = jacobian;
  orbit.closed = residual <= closure;
  if (orbit.closed) {
    orbit.multipliers = eigenvalues(without_units(jacobian, map.scales(end, size)));
    // The end is the start, and knows how its contacts stand.
    orbit.start = end;
    orbit.start.turns = start.turns;
  }
  return orbit;
}

Orbit refine_orbit(const PoincareMap& map, const HybridState& guess, int n, const RefineOptions& options) {
  HybridState start = guess;
  Turn now = turn(map, guess, n);
  if (now.outcome != Outcome::ok) {
    Orbit none;
    none.period = n;
    none.start = guess;
    return none;
  }
  for (int k = 0; k < options.iterations && !now.has_closed(); ++k) {
    const Eigen::VectorXd step = now.step(map);
    if (!now.can_gain(map, step)) break;
    const Eigen::VectorXd from = map.coordinates(start);
    bool better = false;
    for (double share = 1; share > 0.05 && !better; share /= 2) {
      const HybridState candidate = map.at(from + share * step, start);
      Turn next = turn(map, candidate, n);
      if (next.outcome != Outcome::ok || !(next.residual < now.residual)) continue;
      better = true;
      start = candidate;
      now = std::move(next);
    }
    if (!better) break;
  }
  return now.orbit(map, start, n, options.closure);
}

double spectral_radius(const Orbit& orbit) {
  return orbit.multipliers.empty() ? 0.0 : std::abs(orbit.multipliers.front());
}

}  // namespace graze
