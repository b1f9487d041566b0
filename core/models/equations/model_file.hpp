/// Models of the library, and of users, that are files of equations.
#pragma once

#include <string>

#include "core/system/model.hpp"

namespace graze {

/// The model of a file with these settings: `meaning`, `citations` and a table [model] with the keys of the
/// model `equations`. Its parameters become keys of their own. `text`: the file, verbatim. Throws InputError.
ModelInfo model_of_file(const std::string& name, const Value& settings, std::string text);

/// The equations of a table [model], for people, one a line.
std::string equations_text(const Value& table);

}  // namespace graze
