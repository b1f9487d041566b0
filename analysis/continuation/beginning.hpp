/// Where orbits begin. Nothing happens to an orbit whose event passes phase zero of the forcing; so equations
/// begin between events, at any phase, and elsewhere as soon as an event comes near.
#pragma once

#include <Eigen/Core>
#include <optional>

#include "analysis/continuation/solution.hpp"

namespace graze {

/// The same orbit begun in the middle of its longest way between events. Nothing: the motion breaks off.
std::optional<NearOrbit> between_events(const Family& family, const NearOrbit& near);

/// The same solution of a forced system begun in the middle of its longest leg, if an event has come near to
/// where it begins now; else, or where it cannot be followed, nothing.
std::optional<Solution> begun_elsewhere(const Solution& solution, const Metric& metric);

/// The state of a solution of a forced system at its first phase zero. No entries: it cannot be
/// followed.
Eigen::VectorXd state_at_phase_zero(const Solution& solution);

}  // namespace graze
