/// Parameters that a case file names itself.
#pragma once

#include <string>
#include <vector>

#include "core/settings/parameter.hpp"

namespace graze {

/// The key `parameters` of a model that takes them.
Key parameters_key();

/// From a table such as { mu = 0.5, gap = { value = 0.8, unit = "mm", meaning = "clearance", min = 0 } }, in
/// its order. Throws InputError.
std::vector<Parameter> named_parameters(const Value& table, const std::string& path);

}  // namespace graze
