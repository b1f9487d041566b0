/// JSON Schema (draft 2020-12) of a table of settings, for editors that validate and complete TOML.
#pragma once

#include <string>
#include <vector>

#include "core/settings/parameter.hpp"

namespace graze {

/// The schema as JSON text. `title` names the format. A variant without a name stands for tables that have no
/// key `name`, but these keys and any others.
std::string json_schema(const std::vector<Key>& keys, const std::string& title);

}  // namespace graze
