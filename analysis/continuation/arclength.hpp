/// Lengths and directions along a branch.
#pragma once

#include <Eigen/Core>
#include <cmath>

#include "analysis/continuation/shooting.hpp"

namespace graze {

/// Added to sizes that may be zero: an orbit at rest.
inline constexpr double tiny = 1e-12;

/// Lengths along a branch: states count by their size, durations by the turn, the parameter by its range.
struct Metric {
  double size = 1;
  double time = 1;
  double range = 1;

  /// One weight per unknown.
  Eigen::VectorXd weights(const Shooting& shooting) const {
    const Eigen::Index m = shooting.size();
    const Eigen::Index places = m - shooting.steps();
    Eigen::VectorXd w(m + 1);
    w.head(places).setConstant(1 / (size * std::sqrt(static_cast<double>(places))));
    w.segment(places, shooting.steps())
        .setConstant(1 / (time * std::sqrt(static_cast<double>(shooting.steps()))));
    w(m) = 1 / range;
    return w;
  }
  double norm(const Shooting& shooting, const Eigen::VectorXd& v) const {
    return weights(shooting).cwiseProduct(v).norm();
  }
  double dot(const Shooting& shooting, const Eigen::VectorXd& a, const Eigen::VectorXd& b) const {
    const Eigen::VectorXd w = weights(shooting);
    return w.cwiseProduct(a).dot(w.cwiseProduct(b));
  }
  /// Normal of the plane through a point across a direction.
  Eigen::VectorXd plane(const Shooting& shooting, const Eigen::VectorXd& direction) const {
    return weights(shooting).cwiseAbs2().cwiseProduct(direction);
  }
  /// The same where only states and parameter count, for itineraries that differ in their number of events.
  Eigen::VectorXd state_plane(const Shooting& shooting, const Eigen::VectorXd& state_direction,
                              double parameter) const {
    Eigen::VectorXd normal = Eigen::VectorXd::Zero(shooting.size() + 1);
    normal.head(state_direction.size()) = state_direction / (size * size * 4);
    normal(shooting.size()) = parameter / (range * range);
    return normal;
  }
};

/// A direction of the branch, turned to that of another one: its change of the state, where this begins, and
/// of the parameter. Where the flow is crossed elsewhere the beginning moves along it: that tells nothing.
inline Eigen::VectorXd in_sense_of(Eigen::VectorXd state_direction, double parameter,
                                   const Shooting& shooting, const Metric& metric,
                                   const Eigen::VectorXd& tangent) {
  const Eigen::VectorXd& flow = shooting.anchor().normal;
  if (flow.size() > 0) state_direction -= flow.dot(state_direction) * flow;
  const bool along = metric.state_plane(shooting, state_direction, parameter).dot(tangent) >= 0;
  return along ? tangent : -tangent;
}

/// The direction of the branch that has a positive product with `normal`, of length one.
inline Eigen::VectorXd tangent_of(const Shooting& shooting, const Equations& e, const Eigen::VectorXd& normal,
                                  const Metric& metric) {
  const Eigen::Index m = shooting.size();
  const Eigen::VectorXd t = shooting.solve(e.slope, normal.transpose(), Eigen::VectorXd::Unit(m + 1, m));
  return t / metric.norm(shooting, t);
}

}  // namespace graze
