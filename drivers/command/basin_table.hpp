/// The attractors of a result of the analysis basins, in words.
#pragma once

#include <string>
#include <vector>

#include "core/results/dataset.hpp"

namespace graze {

/// Arrays that basin_names() needs.
const std::vector<std::string>& basin_arrays();

/// "period 3: 43.1 ± 0.5 %" for each attractor, by its number; empty for a result without basins.
std::vector<std::string> basin_names(const Dataset& data);

/// "1.05 ± 0.02", "" where a result has no uncertainty exponent.
std::string uncertainty_text(const Dataset& data);

}  // namespace graze
