/// Which model a case names.
#pragma once

#include <memory>

#include "core/system/model.hpp"
#include "data/case_file.hpp"

namespace graze {

/// The model that the table [model] of `root` names, from `name`, or from `file`, a path relative to the
/// folder of the case; in the table, `name` takes the place of `file`. nullptr where it names none.
/// Throws InputError for a file that cannot be read, or is wrong.
std::shared_ptr<const ModelInfo> chosen_model(Value& root, const CaseFile& file);

}  // namespace graze
