/// Model files: systems typed as equations under a name of their own.
#pragma once

#include <string>

#include "core/system/model.hpp"

namespace graze {

/// The model of a text in memory; `place` stands for the file in messages. Throws InputError.
ModelInfo parse_model_file(const std::string& name, std::string text, const std::string& place);

/// The model of a file, under the file's name. Throws InputError for one that cannot be read, or is wrong.
ModelInfo read_model_file(const std::string& path);

}  // namespace graze
