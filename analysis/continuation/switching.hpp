/// From one branch to another that meets it.
#pragma once

#include <vector>

#include "analysis/continuation/continuation.hpp"

namespace graze {

/// First points of the branches that cross at a branch point (kind branch_point: both directions of the
/// other branch) or leave at a period doubling (kind period_doubling: the orbit of twice the period).
std::vector<Solution> switched(const Family& family, const Bifurcation& at,
                               const ContinuationOptions& options);

}  // namespace graze
