/// Branches as they are written to result files (data/FORMAT.md, Groups).
#pragma once

#include <string>
#include <vector>

#include "analysis/continuation/branch.hpp"
#include "core/results/dataset.hpp"

namespace graze {

/// Table of the branches, their points as flat arrays, group bifurcation.
Dataset branches_data(const Family& family, const std::vector<Branch>& branches);

/// Adds dimensions and arrays of what is told of orbits, over the dimension `point`.
void add_orbits(Dataset& data, const Family& family, const std::vector<const BranchPoint*>& points);

/// Adds an array.
void add_array(Dataset& data, const std::string& name, std::vector<std::string> dimensions,
               Array::Values values, const std::string& meaning, std::vector<std::string> flags = {},
               const std::string& unit = "1");

}  // namespace graze
