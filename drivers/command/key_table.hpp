/// Tables for readers: keys with their meanings, and choices by name.
#pragma once

#include <string>
#include <vector>

#include "core/settings/parameter.hpp"

namespace graze {

using Row = std::vector<std::string>;

/// Prints rows as columns of equal width, two blanks apart.
void print_table(const std::vector<Row>& rows);
/// Prints name, unit, default, range and meaning of keys and of those below them.
void print_keys(const std::vector<Key>& keys);
/// A unit, "-" for a number without one.
std::string unit_text(const std::string& unit);
/// What a key may be, in words.
std::string type_text(const Key& key);

}  // namespace graze
