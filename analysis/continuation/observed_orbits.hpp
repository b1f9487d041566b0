/// Observables on the orbits of branches and curves, as they are written to result files.
#pragma once

#include <utility>
#include <vector>

#include "analysis/continuation/solution.hpp"
#include "core/results/dataset.hpp"

namespace graze {

class Observables;

/// Adds what observables are on orbits, over the dimension `point`: of each its family and the orbit. NaN
/// where that is no motion of the system.
void add_observables(Dataset& data, const Observables& observables,
                     const std::vector<std::pair<const Family*, const BranchPoint*>>& points);

}  // namespace graze
