/// Which attractor each point of a sweep with many initial states leads to.
#pragma once

#include <cstddef>
#include <vector>

#include "core/results/dataset.hpp"
#include "drivers/plot/points.hpp"

namespace graze {

/// A number for each point (all starts): points of one parameter value have the same number when they lead to
/// the same attractor, and an attractor keeps its number along the parameter as far as it changes little from
/// one value to the next. The smallest number that is free goes to a new one, so that 0 is everywhere that
/// there is but one.
std::vector<std::size_t> attractor_sets(const Dataset& data, const Points& points);

}  // namespace graze
