/// Where orbits shrink to rest: the Hopf point of the equilibrium that they shrink to.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>

#include "analysis/continuation/shooting.hpp"

namespace graze {

struct Equilibrium {
  double parameter = 0;
  Eigen::VectorXd state;
  double turn = 0;  ///< 2π/ω
};

/// The equilibrium with a pair of eigenvalues ±iω, for a system without forcing: f(x, p) = 0 and |μ| = 1 for
/// the multiplier μ = e^{λT/4} of the linear flow over a quarter of the turn T, 2π/ω about. Begins near one,
/// with the contacts of `mode` closed; `range`: of the parameter. Nothing: no such point is found there.
std::optional<Equilibrium> hopf_near(const Family& family, const Equilibrium& near, std::int64_t mode,
                                     double range);

}  // namespace graze
