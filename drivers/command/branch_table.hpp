/// Branches and bifurcation points of a continuation as text.
#pragma once

#include <string>

#include "core/results/dataset.hpp"

namespace graze {

/// Whether this is the result of a continuation.
bool has_branches(const Dataset& data);

/// For readers: branches with their ends, then located points, then what became of the sweep's attractors.
std::string branch_text(const Dataset& data);

/// Located points with a header line: kind, parameter, contact, branch, forcing_periods, states; 17 digits.
std::string bifurcation_csv(const Dataset& data);

}  // namespace graze
