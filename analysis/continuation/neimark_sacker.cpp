#include "analysis/continuation/neimark_sacker.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>

#include "analysis/maps/multipliers.hpp"
#include "core/math/dense.hpp"

namespace graze {
namespace {

/// log |μ| of the pair that turns by a quarter within `quarter`; what is told becomes that of the
/// equilibrium.
std::optional<double> growth(const Family& family, Equilibrium& at, std::int64_t mode, double quarter) {
  const auto system = family.system(at.parameter);
  if (!system) return std::nullopt;
  const Eigen::Index n = at.state.size();
  Leg leg;
  leg.duration = quarter;
  leg.mode = mode;
  Eigen::MatrixXd flow;
  constexpr int most_iterations = 20;
  double step = std::numeric_limits<double>::infinity();
  for (int k = 0; k < most_iterations && step > 1e-14 * at.state.cwiseAbs().maxCoeff(); ++k) {
    leg.state = at.state;
    const auto course = system->follow({&leg, 1}, {family.parameter});
    if (!course) return std::nullopt;
    const Reached& reached = course->legs.front();
    flow = reached.state_slope.leftCols(n);
    const Eigen::VectorXd change =
        linear_solve(Eigen::MatrixXd::Identity(n, n) - flow, Eigen::VectorXd(reached.state - at.state));
    if (!change.allFinite() || change.cwiseAbs().maxCoeff() >= step) break;
    step = change.cwiseAbs().maxCoeff();
    at.state += change;
  }
  if (!(step <= 1e-9 * (1 + at.state.cwiseAbs().maxCoeff()))) return std::nullopt;
  std::complex<double> pair = 0;
  for (const std::complex<double>& m : eigenvalues(flow)) {
    if (m.imag() > 0 &&
        (pair == 0.0 || std::abs(std::arg(m) - M_PI / 2) < std::abs(std::arg(pair) - M_PI / 2)))
      pair = m;
  }
  if (pair == 0.0) return std::nullopt;
  at.turn = 2 * M_PI * quarter / std::arg(pair);
  return std::log(std::abs(pair));
}

}  // namespace

std::optional<Equilibrium> hopf_near(const Family& family, const Equilibrium& near, std::int64_t mode,
                                     double range) {
  const double quarter = near.turn / 4;
  Equilibrium at = near;
  auto here = growth(family, at, mode, quarter);
  Equilibrium other = at;
  other.parameter += 1e-5 * range;
  auto there = growth(family, other, mode, quarter);
  constexpr int most_iterations = 30;
  for (int k = 0; k < most_iterations; ++k) {  // secant
    if (!here || !there || *here == *there) return std::nullopt;
    const double step = -*here * (other.parameter - at.parameter) / (*there - *here);
    other = std::exchange(at, {at.parameter + step, at.state, at.turn});
    there = std::exchange(here, growth(family, at, mode, quarter));
    if (std::abs(step) <= 1e-13 * std::max(range, std::abs(at.parameter)))
      return here ? std::optional(at) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace graze
