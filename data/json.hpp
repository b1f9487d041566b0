/// JSON (RFC 8259) of a tree of values.
#pragma once

#include <string>

#include "core/settings/value.hpp"

namespace graze {

/// JSON text, indented by two blanks a level. Infinities, not-a-number and empty values are null.
std::string json_text(const Value& value);

}  // namespace graze
