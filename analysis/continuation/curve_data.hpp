/// Curves over two parameters as they are written to result files (data/FORMAT.md, Curves).
#pragma once

#include "analysis/continuation/curve_set.hpp"
#include "core/results/dataset.hpp"

namespace graze {

class Observables;

/// Table of the curves, their points as flat arrays, with observables where there are some, a group curve/<k>
/// of each, group codim2.
Dataset curves_data(const Plane& plane, const CurveSet& set, const Observables* observables = nullptr);

}  // namespace graze
