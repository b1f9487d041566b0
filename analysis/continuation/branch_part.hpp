/// A branch kept on the way, to the last bit.
#pragma once

#include "analysis/continuation/branch.hpp"
#include "core/results/dataset.hpp"

namespace graze {

Dataset packed(const Branch& branch);
/// Throws std::runtime_error for what packed() has not made.
Branch unpacked(const Dataset& part);

}  // namespace graze
