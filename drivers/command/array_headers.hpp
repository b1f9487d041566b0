/// What arrays a result file has, without their values.
#pragma once

#include <string>
#include <vector>

#include "core/results/dataset.hpp"

namespace graze {

/// All arrays of the root without their values, which may be too many to read: name, dimensions, unit,
/// meaning, flags. Empty for a file that can't be opened: read_result() says why.
std::vector<Array> array_headers(const std::string& path);

}  // namespace graze
