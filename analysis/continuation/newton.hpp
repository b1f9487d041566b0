/// Newton's method with step halving for square systems of equations.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/math/power_of_two.hpp"

namespace graze {

/// Where the method has come to.
template <class Values>
struct NewtonResult {
  bool ok = false;  ///< the greatest defect is at most 1e-11, relative to the greatest unknown above 1
  int iterations = 0;
  Eigen::VectorXd x;
  std::optional<Values> values;  ///< there; nothing: there are none even at the guess
};

/// How much of each unknown counts as 1: of parameters, some of them from `first` on, a large
/// one's size.
inline Eigen::VectorXd with_parameters(const Eigen::VectorXd& guess, Eigen::Index first, int count = 1) {
  Eigen::VectorXd units = Eigen::VectorXd::Ones(guess.size());
  for (Eigen::Index i = first; i < first + count; ++i)
    units(i) = std::max(1.0, unit_near(std::abs(guess(i))));
  return units;
}

/// Solves r(x) = 0. `evaluate(x)` gives what r and its Jacobian follow from, or nothing where they do not
/// exist; `defect(x, values)` is r; `step(x, values, −r)` solves for Newton's step. `scale`: the greatest
/// unknown that is no parameter. `units`: how much of an unknown counts as 1.
template <class Evaluate, class Defect, class Solve>
auto newton(const Eigen::VectorXd& guess, double scale, const Eigen::VectorXd& units,
            const Evaluate& evaluate, const Defect& defect, const Solve& solve) {
  constexpr int most_iterations = 12;
  constexpr double furthest = 1e2;  // a step, of the scale: to follow a motion beyond it would take for ever
  using Values = typename std::invoke_result_t<Evaluate, const Eigen::VectorXd&>::value_type;
  NewtonResult<Values> n;
  n.x = guess;
  n.values = evaluate(n.x);
  if (!n.values) return n;
  Eigen::VectorXd r = defect(n.x, *n.values);
  const auto is_solved = [&] { return r.cwiseAbs().maxCoeff() <= 1e-11 * std::max(1.0, scale); };
  double last_step = std::numeric_limits<double>::infinity();
  for (; n.iterations < most_iterations; ++n.iterations) {
    const Eigen::VectorXd step = solve(n.x, *n.values, -r);
    if (!step.allFinite()) return n;
    const double length = step.cwiseQuotient(units).cwiseAbs().maxCoeff();
    // At the end of quadratic convergence the step is rounding; over stiff contacts one that is still counts
    // in the defects.
    const bool is_rounding = length <= 1e-12 * scale || (length <= 1e-9 * scale && length >= 0.1 * last_step);
    if (is_rounding && is_solved()) break;
    bool better = false;
    for (double share = 1; share > 0.05 && !better; share /= 2) {
      if (share * length > furthest * scale) continue;
      const Eigen::VectorXd candidate = n.x + share * step;
      auto next = evaluate(candidate);
      if (!next) continue;
      const Eigen::VectorXd s = defect(candidate, *next);
      if (!(s.norm() < r.norm()) && length > 1e-9 * scale) continue;
      better = true;
      n.x = candidate;
      n.values = std::move(next);
      r = s;
    }
    if (!better) return n;
    if (is_rounding) break;
    last_step = length;
  }
  n.ok = is_solved();
  return n;
}

}  // namespace graze
