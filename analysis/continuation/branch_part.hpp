/// A branch or a curve kept on the way, to the last bit.
#pragma once

#include "analysis/continuation/branch.hpp"
#include "analysis/continuation/curve_set.hpp"
#include "core/results/dataset.hpp"

namespace graze {

Dataset packed(const Branch& branch);
/// Throws std::runtime_error for what packed() has not made.
Branch unpacked(const Dataset& part);
Dataset packed(const Curve& curve);
/// Likewise.
Curve unpacked_curve(const Dataset& part);

}  // namespace graze
